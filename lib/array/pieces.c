/* array/pieces.c - arrays from pieces that ranks happen to hold.
 *
 * Only its holder knows a piece. So all tell all where their pieces lie; then each rank computes
 * what it gets from whom, and checks that this covers its block once. */
#include <stdlib.h>

#include "array/array.h"
#include "array/exchange.h"
#include "comm/mpi.h"
#include "core/block.h"
#include "core/cover.h"
#include "core/mem.h"
#include "core/overlap.h"

spmd_piece spmd_piece_make(spmd_box box, const void *data)
{
    spmd_piece piece = {.box = box, .data = data};
    for (int d = 0; d < box.ndim && d < SPMD_MAX_DIMS; d++)
        piece.step[d] = 1;
    return piece;
}

/* Number of indices of a piece in dimension `dim` that are below `end`. */
static int64_t count_below(const spmd_piece *piece, int dim, int64_t end)
{
    int64_t lo = piece->box.lo[dim], hi = piece->box.hi[dim] < end ? piece->box.hi[dim] : end;
    return hi > lo ? (hi - lo - 1) / piece->step[dim] + 1 : 0;
}

static spmd_shape extents_of(const spmd_piece *piece)
{
    spmd_shape shape = {.ndim = piece->box.ndim};
    for (int d = 0; d < shape.ndim; d++)
        shape.dim[d] = count_below(piece, d, piece->box.hi[d]);
    return shape;
}

static bool holds(const spmd_piece *piece, const int64_t index[])
{
    for (int d = 0; d < piece->box.ndim; d++)
        if (index[d] < piece->box.lo[d] || index[d] >= piece->box.hi[d] ||
            (index[d] - piece->box.lo[d]) % piece->step[d] != 0)
            return false;
    return true;
}

/* The indices that a piece and a box have in common: in each dimension, `skip` elements of the
 * piece stand before them. False if there are none. */
static bool cut_piece(const spmd_piece *piece, const spmd_box *box, spmd_piece *common,
                      int64_t skip[])
{
    *common = *piece;
    for (int d = 0; d < box->ndim; d++) {
        skip[d] = count_below(piece, d, box->lo[d]);
        if (skip[d] >= count_below(piece, d, box->hi[d]))
            return false;
        common->box.lo[d] += skip[d] * piece->step[d];
        if (common->box.hi[d] > box->hi[d])
            common->box.hi[d] = box->hi[d];
    }
    return true;
}

/* What `common`, which was cut from `piece`, has of the piece's own memory. */
static struct view view_in_piece(const spmd_piece *piece, const spmd_piece *common,
                                 const int64_t skip[], size_t element)
{
    struct view view = spmd__view_dense((void *)piece->data, element, extents_of(piece));
    spmd_shape extents = extents_of(common);
    for (int d = 0; d < view.ndim; d++) {
        view.extent[d] = extents.dim[d];
        view.data += skip[d] * view.stride[d];
    }
    return view;
}

/* Where the indices of `common` lie in a block that holds them all. */
static struct view view_in_block(const spmd_block *block, const spmd_piece *common)
{
    struct view view = spmd__view_block(block);
    spmd_shape extents = extents_of(common);
    for (int d = 0; d < view.ndim; d++) {
        view.data += (common->box.lo[d] - block->offset[d]) * view.stride[d];
        view.extent[d] = extents.dim[d];
        if (view.extent[d] > 1) /* else the step may be of any size */
            view.stride[d] *= common->step[d];
    }
    return view;
}

static spmd_status check_piece(const spmd_piece *piece, int number, spmd_shape shape)
{
    if (piece->box.ndim != shape.ndim)
        return spmd_fail(SPMD_ERR_SHAPE, "piece %d has %d dimensions, the array has %d", number,
                         piece->box.ndim, shape.ndim);
    for (int d = 0; d < shape.ndim; d++) {
        int64_t lo = piece->box.lo[d], hi = piece->box.hi[d];
        if (piece->step[d] < 1)
            return spmd_fail(SPMD_ERR_ARGUMENT, "piece %d has step %lld in dim %d of %d", number,
                             (long long)piece->step[d], d, shape.ndim);
        if (lo < 0 || hi < lo || hi > shape.dim[d])
            return spmd_fail(SPMD_ERR_SHAPE,
                             "piece %d reaches outside of dim %d of %d: %lld:%lld of %lld", number,
                             d, shape.ndim, (long long)lo, (long long)hi, (long long)shape.dim[d]);
    }
    if (!piece->data && spmd_shape_size(extents_of(piece)) > 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "piece %d has no data, it is NULL", number);
    return SPMD_OK;
}

static spmd_status check_pieces(int npieces, const spmd_piece pieces[], spmd_shape shape)
{
    if (npieces < 0 || (npieces > 0 && !pieces))
        return spmd_fail(SPMD_ERR_ARGUMENT, "from_pieces: %d pieces%s", npieces,
                         pieces ? "" : ", and the list of them is NULL");
    for (int i = 0; i < npieces; i++)
        TRY(check_piece(&pieces[i], i, shape));
    return SPMD_OK;
}

/* Where the pieces of all ranks lie: lo, hi and step of each dimension, in rank order. */
struct catalogue {
    int nranks;
    int ndim;
    int64_t *counts; /* [nranks] pieces of each rank */
    int64_t *bytes;  /* [nranks] of their descriptions */
    int64_t *words;  /* [pieces of all, ndim, 3] */
};

/* A piece of the catalogue; its data is elsewhere. */
static spmd_piece listed_piece(const struct catalogue *catalogue, int64_t number)
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

/* Collective over the members, all of which come here with a catalogue that has room for counts. */
static spmd_status share_pieces(spmd_mesh *mesh, int npieces, const spmd_piece pieces[],
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
        status =
            spmd__all_gather(mesh->control, mine, catalogue->bytes, catalogue->words, &arena, NULL);
    }
    spmd__arena_free(&arena);
    free(mine);
    return status;
}

static spmd_status begin_catalogue(const spmd_mesh *mesh, int ndim, struct catalogue *catalogue)
{
    catalogue->nranks = (int)spmd_mesh_size(mesh);
    catalogue->ndim = ndim;
    TRY(spmd__alloc((size_t)catalogue->nranks, sizeof(int64_t), &catalogue->counts));
    return spmd__alloc((size_t)catalogue->nranks, sizeof(int64_t), &catalogue->bytes);
}

static void free_catalogue(struct catalogue *catalogue)
{
    free(catalogue->counts);
    free(catalogue->bytes);
    free(catalogue->words);
}

/* Marks what a piece has of a block. */
static void mark_piece(struct cover *cover, const spmd_piece *piece, const spmd_block *block)
{
    spmd_box box = spmd__block_box(block);
    spmd_piece common;
    int64_t skip[SPMD_MAX_DIMS];
    if (!cut_piece(piece, &box, &common, skip))
        return;
    spmd_block elements = *block;
    elements.dtype = SPMD_U8; /* so that bytes are elements */
    struct view part = view_in_block(&elements, &common);
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
static spmd_status check_cover(const struct catalogue *catalogue, const spmd_array *array,
                               int64_t *wrong)
{
    struct cover cover;
    TRY(spmd__cover_begin(spmd_block_size(&array->block), &cover));
    for (int64_t i = 0, total = total_pieces(catalogue); i < total; i++) {
        spmd_piece piece = listed_piece(catalogue, i);
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
            spmd_piece piece = listed_piece(catalogue, number++);
            if (holds(&piece, index))
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

/* Collective over the members, with each one's own finding. All fail with the same message. */
static spmd_status conclude_cover(const struct catalogue *catalogue, const spmd_array *array,
                                  int64_t wrong)
{
    const spmd_mesh *mesh = array->sharding->mesh;
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_MIN, mesh->control));
    return wrong == INT64_MAX ? SPMD_OK : fail_cover(catalogue, mesh, array->shape, wrong);
}

/* What the visits of send_piece need to know. */
struct sending {
    struct exchange *exchange;
    const spmd_piece *piece;
};

static spmd_status send_piece(int64_t position, const spmd_box *common, void *user)
{
    const struct sending *sending = user;
    int64_t skip[SPMD_MAX_DIMS];
    spmd_piece cut;
    if (!cut_piece(sending->piece, common, &cut, skip))
        return SPMD_OK;
    return spmd__exchange_send(
        sending->exchange, (int)position,
        view_in_piece(sending->piece, &cut, skip, sending->exchange->element));
}

static spmd_status plan_sends(const spmd_array *array, int npieces, const spmd_piece pieces[],
                              struct exchange *exchange)
{
    const spmd_sharding *sharding = array->sharding;
    for (int i = 0; i < npieces; i++) {
        struct sending sending = {exchange, &pieces[i]};
        TRY(spmd__overlap_each(&sharding->mesh->axes, &sharding->spec, array->shape, &pieces[i].box,
                               0, 0, send_piece, &sending));
    }
    return SPMD_OK;
}

static spmd_status plan_receives(const spmd_array *array, const struct catalogue *catalogue,
                                 struct exchange *exchange)
{
    spmd_box box = spmd__block_box(&array->block);
    int64_t number = 0;
    for (int r = 0; r < catalogue->nranks; r++)
        for (int64_t i = 0; i < catalogue->counts[r]; i++) {
            int64_t skip[SPMD_MAX_DIMS];
            spmd_piece piece = listed_piece(catalogue, number++), common;
            if (cut_piece(&piece, &box, &common, skip))
                TRY(spmd__exchange_receive(exchange, r, view_in_block(&array->block, &common)));
        }
    return SPMD_OK;
}

static spmd_status prepare(const spmd_array *array, const struct catalogue *catalogue, int npieces,
                           const spmd_piece pieces[], struct exchange *exchange)
{
    TRY(spmd__array_check_values(array->sharding));
    TRY(plan_sends(array, npieces, pieces, exchange));
    TRY(plan_receives(array, catalogue, exchange));
    return spmd__exchange_prepare(exchange);
}

/* Collective over the members. Everything up to the move; `array` may be NULL where `status` is a
 * failure. */
static spmd_status plan(spmd_mesh *mesh, spmd_status status, const spmd_array *array, int npieces,
                        const spmd_piece pieces[], struct catalogue *catalogue,
                        struct exchange *exchange)
{
    int64_t wrong = INT64_MAX;
    if (status == SPMD_OK)
        status = check_pieces(npieces, pieces, array->shape);
    if (status == SPMD_OK)
        status = begin_catalogue(mesh, array->shape.ndim, catalogue);
    uint64_t digest = array ? spmd__array_digest(array->sharding, array->dtype, array->shape) : 0;
    TRY(spmd__mesh_agree(mesh, status, digest));
    TRY(share_pieces(mesh, npieces, pieces, catalogue));
    status = check_cover(catalogue, array, &wrong);
    spmd_status verdict = conclude_cover(catalogue, array, wrong);
    if (status == SPMD_OK)
        status = verdict;
    if (status == SPMD_OK)
        status = prepare(array, catalogue, npieces, pieces, exchange);
    return status;
}

/* The same call with a sharding. */
static spmd_status create(const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape,
                          int npieces, const spmd_piece pieces[], spmd_array **out)
{
    spmd_mesh *mesh = sharding->mesh;
    struct exchange exchange = {
        .comm = mesh->comm, .costs = &mesh->costs, .element = spmd_dtype_size(dtype)};
    struct catalogue catalogue = {0};
    spmd_array *made = NULL;
    bool member = spmd__mesh_is_member(mesh);
    spmd_status status = spmd__array_check_place(out);
    if (status == SPMD_OK)
        status = spmd__array_alloc(sharding, dtype, shape, &made);
    if (member)
        status = plan(mesh, status, made, npieces, pieces, &catalogue, &exchange);
    status = spmd__array_settle(sharding, status, 0, made, &made);
    if (status == SPMD_OK && member) {
        status = spmd__exchange_run(&exchange);
        if (status == SPMD_OK)
            spmd__array_count_once(made);
        else
            spmd_array_free(&made);
    }
    spmd__exchange_free(&exchange);
    free_catalogue(&catalogue);
    if (status == SPMD_OK)
        *out = made;
    return status;
}

spmd_status spmd_array_from_pieces(spmd_mesh *mesh, const char *spec, spmd_dtype dtype,
                                   spmd_shape shape, int npieces, const spmd_piece pieces[],
                                   spmd_array **array)
{
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "an array needs a mesh, this is NULL");
    spmd_sharding *sharding;
    spmd_status status = spmd_sharding_create(mesh, spec, &sharding);
    if (status != SPMD_OK)
        return spmd__mesh_agree(mesh, status, 0);
    status = create(sharding, dtype, shape, npieces, pieces, array);
    spmd_sharding_free(&sharding);
    return status;
}
