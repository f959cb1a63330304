/* array/catalogue.c - where the pieces of all ranks lie, and whether they cover each block once. */
#include "array/catalogue.h"

#include <stdlib.h>

#include "array/piece.h"
#include "comm/agree.h"
#include "comm/collective.h"
#include "comm/mpi.h"
#include "core/block.h"
#include "core/cover.h"
#include "core/mem.h"

spmd_status spmd__catalogue_begin(const spmd_mesh *mesh, int ndim, struct catalogue *catalogue)
{
    catalogue->nranks = (int)spmd_mesh_size(mesh);
    catalogue->ndim = ndim;
    TRY(spmd__alloc((size_t)catalogue->nranks, sizeof(int64_t), &catalogue->counts));
    return spmd__alloc((size_t)catalogue->nranks, sizeof(int64_t), &catalogue->bytes);
}

void spmd__catalogue_free(struct catalogue *catalogue)
{
    free(catalogue->counts);
    free(catalogue->bytes);
    free(catalogue->words);
}

spmd_piece spmd__catalogue_piece(const struct catalogue *catalogue, int64_t number)
{
    spmd_piece piece = {.box.ndim = catalogue->ndim};
    const int64_t *word = catalogue->words + number * catalogue->ndim * 3;
    for (int d = 0; d < catalogue->ndim; d++) {
        piece.box.lo[d] = *word++;
        piece.box.hi[d] = *word++;
        piece.step[d] = *word++;
    }
    return piece;
}

static int64_t total_pieces(const struct catalogue *catalogue)
{
    int64_t total = 0;
    for (int r = 0; r < catalogue->nranks; r++)
        total += catalogue->counts[r];
    return total;
}

static void describe(int ndim, int npieces, const spmd_piece pieces[], int64_t *word)
{
    for (int i = 0; i < npieces; i++)
        for (int d = 0; d < ndim; d++) {
            *word++ = pieces[i].box.lo[d];
            *word++ = pieces[i].box.hi[d];
            *word++ = pieces[i].step[d];
        }
}

static spmd_status alloc_words(struct catalogue *catalogue, int npieces, int64_t **mine)
{
    size_t words = (size_t)catalogue->ndim * 3;
    TRY(spmd__alloc((size_t)npieces * words, sizeof **mine, mine));
    return spmd__alloc((size_t)total_pieces(catalogue) * words, sizeof *catalogue->words,
                       &catalogue->words);
}

spmd_status spmd__catalogue_share(spmd_mesh *mesh, int npieces, const spmd_piece pieces[],
                                  struct catalogue *catalogue)
{
    int64_t count = npieces, *mine = NULL;
    struct arena arena = {0};
    TRY_MPI(
        MPI_Allgather(&count, 1, MPI_INT64_T, catalogue->counts, 1, MPI_INT64_T, mesh->control));
    spmd_status status = alloc_words(catalogue, npieces, &mine);
    status = spmd__mesh_agree(mesh, status, 0);
    if (status == SPMD_OK) {
        for (int r = 0; r < catalogue->nranks; r++)
            catalogue->bytes[r] =
                catalogue->counts[r] * catalogue->ndim * 3 * (int64_t)sizeof *mine;
        describe(catalogue->ndim, npieces, pieces, mine);
        /* A rank that leaves here alone would be waited for. */
        if (spmd__all_gather(mesh->control, mine, catalogue->bytes, catalogue->words, &arena,
                             NULL) != SPMD_OK)
            spmd__abort_as(mesh->rank);
    }
    spmd__arena_free(&arena);
    free(mine);
    return status;
}

/* Marks what a piece has of a block. */
static void mark_piece(struct cover *cover, const spmd_piece *piece, const spmd_block *block)
{
    spmd_block elements = *block;
    elements.dtype = SPMD_U8; /* so that bytes are elements */
    struct view part;
    if (spmd__piece_find_in_block(piece, &elements, &part))
        spmd__cover_mark(cover, part.data - (char *)block->data, &part);
}

/* The row-major number, in the whole array, of an element of this rank's block. */
static int64_t number_in_array(const spmd_array *array, int64_t element)
{
    const spmd_block *block = &array->block;
    int64_t number = 0;
    for (int d = 0; d < block->ndim; d++)
        number = number * array->shape.dim[d] + block->offset[d] +
                 element / block->stride[d] % block->shape[d];
    return number;
}

/* Finds the least index of this rank's block that is not held exactly once, by its number in the
 * array; INT64_MAX if all is well. */
static spmd_status check_block(const struct catalogue *catalogue, const spmd_array *array,
                               int64_t *wrong)
{
    struct cover cover;
    TRY(spmd__cover_begin(spmd_block_size(&array->block), &cover));
    for (int64_t i = 0, total = total_pieces(catalogue); i < total; i++) {
        spmd_piece piece = spmd__catalogue_piece(catalogue, i);
        mark_piece(&cover, &piece, &array->block);
    }
    int64_t element = spmd__cover_first_wrong(&cover);
    *wrong = element < cover.size ? number_in_array(array, element) : INT64_MAX;
    spmd__cover_end(&cover);
    return SPMD_OK;
}

/* A rank that holds an index, and the number of its piece. */
struct holder {
    int rank;
    int64_t piece;
};

/* The first two holders of an index; how many there are of these. */
static int find_holders(const struct catalogue *catalogue, const int64_t index[],
                        struct holder holders[2])
{
    int64_t number = 0;
    int found = 0;
    for (int r = 0; r < catalogue->nranks; r++)
        for (int64_t i = 0; i < catalogue->counts[r] && found < 2; i++) {
            spmd_piece piece = spmd__catalogue_piece(catalogue, number++);
            if (spmd__piece_has(&piece, index))
                holders[found++] = (struct holder){r, i};
        }
    return found;
}

/* Says who holds the element `number` of the array, when that is not one rank once. */
static spmd_status fail_cover(const struct catalogue *catalogue, const spmd_mesh *mesh,
                              spmd_shape shape, int64_t number)
{
    int64_t index[SPMD_MAX_DIMS];
    for (int d = shape.ndim - 1; d >= 0; number /= shape.dim[d], d--)
        index[d] = number % shape.dim[d];
    char place[512];
    struct text text = spmd__text_begin(place, sizeof place);
    for (int d = 0; d < shape.ndim; d++)
        spmd__text_add(&text, "%s%lld", d ? ", " : "", (long long)index[d]);

    struct holder holders[2];
    if (find_holders(catalogue, index, holders) < 2)
        return spmd_fail(SPMD_ERR_SHAPE, "index (%s) is held by nobody", place);
    int first = spmd_mesh_rank(mesh, holders[0].rank);
    if (holders[0].rank == holders[1].rank)
        return spmd_fail(SPMD_ERR_SHAPE,
                         "index (%s) is held twice, by pieces %lld and %lld of rank %d", place,
                         (long long)holders[0].piece, (long long)holders[1].piece, first);
    return spmd_fail(SPMD_ERR_SHAPE, "index (%s) is held twice, by ranks %d and %d", place, first,
                     spmd_mesh_rank(mesh, holders[1].rank));
}

spmd_status spmd__catalogue_check(const struct catalogue *catalogue, const spmd_array *array)
{
    const spmd_mesh *mesh = array->sharding->mesh;
    int64_t wrong = INT64_MAX;
    spmd_status status = check_block(catalogue, array, &wrong);
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_MIN, mesh->control));
    if (status == SPMD_OK && wrong < INT64_MAX)
        status = fail_cover(catalogue, mesh, array->shape, wrong);
    return status;
}
