/* io/staging.c - how an array lies while it moves between memory and a file. */
#include "io/staging.h"

#include "array/array.h"
#include "io/chunks.h"

/* Below this many bytes in a row, and above this many rows, a rank's part of a file is so torn that
 * moving rows, and resharding between them and where they belong, is faster than one call for each
 * piece. Pieces are dearer to write than to read: a file is written by one rank at a time. */
enum { FEW_RUNS = 64 };
static const int64_t long_run_bytes[] = {[FROM_FILE] = 1 << 12, [TO_FILE] = 1 << 20};

/* Of the first position, whose part is the largest. */
static spmd_shape part_of(const spmd_sharding *sharding, spmd_shape shape)
{
    spmd_box box = spmd__sharding_box_of(sharding, shape, 0);
    return spmd_box_shape(&box);
}

static bool is_torn(spmd_shape part, enum direction direction, spmd_dtype dtype, spmd_shape shape)
{
    int64_t size = spmd_shape_size(part);
    int64_t run = (int64_t)spmd_dtype_size(dtype);
    int d = part.ndim - 1;
    while (d > 0 && part.dim[d] == shape.dim[d])
        run *= part.dim[d--];
    if (d >= 0)
        run *= part.dim[d];
    return size > 0 && run < long_run_bytes[direction] &&
           size * (int64_t)spmd_dtype_size(dtype) / run > FEW_RUNS;
}

/* How many ranks have something of each chunk, about. */
static double sharers(const int64_t chunk[], spmd_shape part)
{
    double ranks = 1;
    for (int d = 0; d < part.ndim; d++)
        if (part.dim[d] > 0 && part.dim[d] < chunk[d])
            ranks *= (double)chunk[d] / (double)part.dim[d];
    return ranks;
}

/* Whether rows are the better parts. Chunks are read, and unpacked, by each rank that wants
 * something of them. */
static bool wants_rows(hid_t dataset, enum direction direction, spmd_shape part, spmd_shape rows,
                       spmd_dtype dtype, spmd_shape shape)
{
    int64_t chunk[SPMD_MAX_DIMS];
    if (spmd__chunks_of(dataset, chunk))
        return sharers(chunk, rows) < sharers(chunk, part);
    return is_torn(part, direction, dtype, shape);
}

/* The sharding by rows over the axes that `sharding` uses. */
static spmd_status create_rows(const spmd_sharding *sharding, spmd_sharding **rows)
{
    char spec[SPMD_MAX_AXES * (SPMD_MAX_NAME + 1) + sizeof "P(())"];
    struct text text = spmd__text_begin(spec, sizeof spec);
    struct axis_list used = spmd__axis_list_of_mask(spmd__spec_used(&sharding->spec));
    const char *before = "P((";
    for (int i = 0; i < used.count; i++, before = ",")
        spmd__text_add(&text, "%s%s", before, sharding->mesh->axes.name[used.axis[i]]);
    spmd__text_add(&text, "))");
    return spmd_sharding_create(sharding->mesh, spec, rows);
}

spmd_status spmd__staging_choose(hid_t dataset, enum direction direction,
                                 const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape,
                                 spmd_sharding **staging)
{
    spmd_sharding *rows = NULL;
    if (shape.ndim > 1 && spmd__spec_used(&sharding->spec)) {
        TRY(create_rows(sharding, &rows));
        /* A strict mesh may not allow rows. */
        bool fits = !sharding->mesh->strict || spmd_sharding_check(rows, shape) == SPMD_OK;
        if (fits && wants_rows(dataset, direction, part_of(sharding, shape), part_of(rows, shape),
                               dtype, shape)) {
            *staging = rows;
            return SPMD_OK;
        }
        spmd_sharding_free(&rows);
    }
    return spmd__sharding_of_values(sharding, staging);
}
