/* io/staging.c - how an array lies while it moves between memory and a file. */
#include "io/staging.h"

#include "array/array.h"

/* Below this many bytes in a row, and above this many rows, a rank's part of a file is so torn that
 * moving rows, and resharding between them and where they belong, is faster than one call for each
 * piece. */
enum { LONG_RUN_BYTES = 1 << 16, FEW_RUNS = 64 };

static bool is_torn(const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape)
{
    spmd_box box = spmd__sharding_box_of(sharding, shape, 0);
    spmd_shape part = spmd_box_shape(&box);
    int64_t size = spmd_shape_size(part);
    int64_t run = (int64_t)spmd_dtype_size(dtype);
    int d = part.ndim - 1;
    while (d > 0 && part.dim[d] == shape.dim[d])
        run *= part.dim[d--];
    if (d >= 0)
        run *= part.dim[d];
    return size > 0 && run < LONG_RUN_BYTES &&
           size * (int64_t)spmd_dtype_size(dtype) / run > FEW_RUNS;
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

spmd_status spmd__staging_choose(const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape,
                                 spmd_sharding **staging)
{
    if (is_torn(sharding, dtype, shape)) {
        spmd_sharding *rows = NULL;
        TRY(create_rows(sharding, &rows));
        /* A strict mesh may not allow rows. */
        if (!sharding->mesh->strict || spmd_sharding_check(rows, shape) == SPMD_OK) {
            *staging = rows;
            return SPMD_OK;
        }
        spmd_sharding_free(&rows);
    }
    return spmd__sharding_of_values(sharding, staging);
}
