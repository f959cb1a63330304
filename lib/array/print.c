/* array/print.c - type and values as text, in NumPy's manner. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array/gather.h"
#include "core/element.h"
#include "core/mem.h"

/* Arrays of more elements than this are shown by the first and last EDGE indices of each
 * dimension, and nothing else is gathered. */
enum { MOST_ELEMENTS = 1000, EDGE = 3, LINE_COLUMNS = 79, CELL_BYTES = 64 };

/* What is shown of an array: all indices of a dimension, or its two ends. */
struct excerpt {
    spmd_shape shape; /* of the array */
    spmd_shape shown; /* of the excerpt */
    bool elided[SPMD_MAX_DIMS];
    spmd_dtype dtype;
    void *data; /* [shown], dense; at position 0 */
    int width;  /* of the widest element as text */
};

static struct excerpt excerpt_of(const spmd_array *array)
{
    struct excerpt excerpt = {.shape = array->shape, .shown = array->shape, .dtype = array->dtype};
    for (int d = 0; d < array->shape.ndim; d++)
        if (spmd_shape_size(array->shape) > MOST_ELEMENTS && array->shape.dim[d] > 2 * EDGE) {
            excerpt.elided[d] = true;
            excerpt.shown.dim[d] = 2 * EDGE;
        }
    return excerpt;
}

/* Corner `number` of the excerpt: of each elided dimension one end, the bits from the last one. */
static struct wanted corner(const struct excerpt *excerpt, uint32_t number)
{
    spmd_box whole = spmd_box_whole(excerpt->shape), place = spmd_box_whole(excerpt->shown);
    spmd_box shown = place;
    for (int d = excerpt->shape.ndim - 1; d >= 0; d--) {
        if (!excerpt->elided[d])
            continue;
        bool last = number & 1;
        number >>= 1;
        whole.lo[d] = last ? excerpt->shape.dim[d] - EDGE : 0;
        whole.hi[d] = whole.lo[d] + EDGE;
        place.lo[d] = last ? EDGE : 0;
        place.hi[d] = place.lo[d] + EDGE;
    }
    return (struct wanted){
        whole, spmd__view_box(excerpt->data, spmd_dtype_size(excerpt->dtype), &shown, &place)};
}

static spmd_status prepare(const spmd_array *array, struct excerpt *excerpt,
                           struct exchange *exchange)
{
    uint32_t corners = 1;
    for (int d = 0; d < excerpt->shape.ndim; d++)
        corners <<= excerpt->elided[d];
    if (array->sharding->mesh->position == 0)
        TRY(spmd__alloc((size_t)spmd_shape_size(excerpt->shown), spmd_dtype_size(excerpt->dtype),
                        &excerpt->data));
    struct wanted *wanted;
    TRY(spmd__alloc(corners, sizeof *wanted, &wanted));
    for (uint32_t i = 0; i < corners; i++)
        wanted[i] = corner(excerpt, i);
    spmd_status status = spmd__gather_prepare(array, 0, (int)corners, wanted, exchange);
    free(wanted);
    return status;
}

/* Writes element `index` of the excerpt; gives its length. */
static int format_element(char cell[CELL_BYTES], const struct excerpt *excerpt, int64_t index)
{
    struct text text = spmd__text_begin(cell, CELL_BYTES);
    int64_t offset = index * (int64_t)spmd_dtype_size(excerpt->dtype);
    spmd__element_print_short(&text, excerpt->dtype, (const char *)excerpt->data + offset);
    return (int)text.length;
}

static int widest_element(const struct excerpt *excerpt)
{
    char cell[CELL_BYTES];
    int width = 0;
    for (int64_t i = 0; i < spmd_shape_size(excerpt->shown); i++) {
        int length = format_element(cell, excerpt, i);
        width = length > width ? length : width;
    }
    return width;
}

/* One word of a row, after a blank or on a new line that is indented by `depth`. */
static void print_word(FILE *stream, const char *word, int width, int depth, bool first,
                       int *column)
{
    if (!first && *column + 1 + width > LINE_COLUMNS) {
        fprintf(stream, "\n%*s", depth, "");
        *column = depth;
    } else if (!first) {
        *column += fprintf(stream, " ");
    }
    *column += fprintf(stream, "%*s", width, word);
}

static void print_row(FILE *stream, const struct excerpt *excerpt, int64_t first)
{
    int last_dim = excerpt->shape.ndim - 1, depth = last_dim + 1, column = depth;
    for (int64_t i = 0; i < excerpt->shown.dim[last_dim]; i++) {
        char cell[CELL_BYTES];
        if (excerpt->elided[last_dim] && i == EDGE)
            print_word(stream, "...", 3, depth, false, &column);
        format_element(cell, excerpt, first + i);
        print_word(stream, cell, excerpt->width, depth, i == 0, &column);
    }
}

/* What stands between two entries of dimension `dim`: a line's end, and an empty line for each
 * dimension more that they have. */
static void print_gap(FILE *stream, const struct excerpt *excerpt, int dim)
{
    for (int d = dim + 1; d < excerpt->shape.ndim; d++)
        fputc('\n', stream);
    fprintf(stream, "%*s", dim + 1, "");
}

/* Prints the entries of dimension `dim` that begin at element `first`. */
static void print_entries(FILE *stream, const struct excerpt *excerpt, int dim, int64_t first)
{
    int64_t size = 1; /* of an entry */
    for (int d = dim + 1; d < excerpt->shape.ndim; d++)
        size *= excerpt->shown.dim[d];
    fputc('[', stream);
    if (dim == excerpt->shape.ndim - 1)
        print_row(stream, excerpt, first);
    else
        for (int64_t i = 0; i < excerpt->shown.dim[dim]; i++) {
            if (i > 0)
                print_gap(stream, excerpt, dim);
            if (excerpt->elided[dim] && i == EDGE) {
                fputs("...", stream);
                print_gap(stream, excerpt, dim);
            }
            print_entries(stream, excerpt, dim + 1, first + i * size);
        }
    fputc(']', stream);
}

static void print_values(FILE *stream, struct excerpt *excerpt)
{
    char cell[CELL_BYTES];
    excerpt->width = widest_element(excerpt);
    if (spmd_shape_size(excerpt->shape) == 0) {
        fputs("[]", stream);
    } else if (excerpt->shape.ndim == 0) {
        format_element(cell, excerpt, 0);
        fputs(cell, stream);
    } else {
        print_entries(stream, excerpt, 0, 0);
    }
    fputc('\n', stream);
}

/* At position 0. */
static spmd_status print(FILE *stream, const spmd_array *array, struct excerpt *excerpt)
{
    char type[512];
    spmd_array_format(type, sizeof type, array);
    errno = 0;
    fprintf(stream, "%s\n", type);
    print_values(stream, excerpt);
    if (fflush(stream) != 0 || ferror(stream))
        return spmd_fail(SPMD_ERR_FILE, "cannot print %s: %s", type, strerror(errno));
    return SPMD_OK;
}

spmd_status spmd_array_print(spmd_array *array, FILE *stream)
{
    if (!array)
        return spmd_fail(SPMD_ERR_ARGUMENT, "print: the array is NULL");
    spmd_mesh *mesh = array->sharding->mesh;
    if (!spmd__mesh_is_member(mesh))
        return SPMD_OK;
    struct excerpt excerpt = excerpt_of(array);
    struct exchange exchange = {.comm = MPI_COMM_NULL};
    spmd_status status = SPMD_OK;
    if (mesh->position == 0 && !stream)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "print: the stream is NULL");
    if (status == SPMD_OK)
        status = prepare(array, &excerpt, &exchange);
    status = spmd__mesh_agree(mesh, status,
                              spmd__array_digest(array->sharding, array->dtype, array->shape));
    if (status == SPMD_OK) {
        status = spmd__exchange_run(&exchange);
        if (status == SPMD_OK && mesh->position == 0)
            status = print(stream, array, &excerpt);
        status = spmd__mesh_agree(mesh, status, 0);
    }
    spmd__exchange_free(&exchange);
    free(excerpt.data);
    return status;
}
