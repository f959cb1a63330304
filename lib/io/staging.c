/* io/staging.c - how an array lies while it moves between memory and a file. */
#include "io/staging.h"

#include "array/array.h"
#include "io/chunks.h"

/* Below this many bytes in a row, and above this many rows, a rank's part of a file is so torn that
 * moving rows, and resharding between them and where they belong, is faster than one call for each
 * piece. Pieces are dearer to write than to read: a file is written by one rank at a time. */
enum { FEW_RUNS = 64 };
static const int64_t long_run_bytes[] = {[FROM_FILE] = 1 << 13, [TO_FILE] = 1 << 18};

/* Of the first position, whose part is the largest. */
static spmd_shape part_of(const spmd_sharding *sharding, spmd_shape shape)
{
    spmd_box box = spmd__sharding_box_of(sharding, shape, 0);
    return spmd_box_shape(&box);
}

/* Bytes that lie one after the other in the file. */
static int64_t run_bytes(spmd_shape part, spmd_dtype dtype, spmd_shape shape)
{
    int64_t run = (int64_t)spmd_dtype_size(dtype);
    int d = part.ndim - 1;
    while (d > 0 && part.dim[d] == shape.dim[d])
        run *= part.dim[d--];
    return d >= 0 ? run * part.dim[d] : run;
}

static bool is_torn(spmd_shape part, enum direction direction, spmd_dtype dtype, int64_t run)
{
    int64_t bytes = spmd_shape_size(part) * (int64_t)spmd_dtype_size(dtype);
    return run > 0 && run < long_run_bytes[direction] && bytes / run > FEW_RUNS;
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
    int64_t run = run_bytes(part, dtype, shape);
    return is_torn(part, direction, dtype, run) && run_bytes(rows, dtype, shape) > run;
}

/* The sharding by rows over the axes that `sharding` uses: along the first dimension that has as
 * many indices as there are parts. *rows is NULL if none has, or if a strict mesh does not allow
 * that. */
static spmd_status create_rows(const spmd_sharding *sharding, spmd_shape shape,
                               spmd_sharding **rows)
{
    spmd_mesh *mesh = sharding->mesh;
    struct axis_list used = spmd__axis_list_of_mask(spmd__spec_used(&sharding->spec));
    int64_t parts = spmd__axis_list_size(&mesh->axes, &used);
    int dim = 0;
    while (dim < shape.ndim && shape.dim[dim] < parts)
        dim++;
    *rows = NULL;
    if (used.count == 0 || dim == shape.ndim)
        return SPMD_OK;
    spmd_sharding *made = NULL;
    struct spec spec = spmd__spec_along(dim, &used);
    TRY(spmd__sharding_make(mesh, &spec, &made));
    if (mesh->strict && spmd_sharding_check(made, shape) != SPMD_OK)
        spmd_sharding_free(&made);
    *rows = made;
    return SPMD_OK;
}

spmd_status spmd__staging_choose(hid_t dataset, enum direction direction,
                                 const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape,
                                 spmd_sharding **staging)
{
    spmd_sharding *rows = NULL;
    TRY(create_rows(sharding, shape, &rows));
    if (rows && wants_rows(dataset, direction, part_of(sharding, shape), part_of(rows, shape),
                           dtype, shape)) {
        *staging = rows;
        return SPMD_OK;
    }
    spmd_sharding_free(&rows);
    return spmd__sharding_of_values(sharding, staging);
}
