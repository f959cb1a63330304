/* array/print.c - type and values of an array, from one rank. */
#include <errno.h>
#include <stdlib.h>

#include "array/gather.h"
#include "core/excerpt.h"
#include "core/hash.h"
#include "core/mem.h"
#include "core/stream.h"

static spmd_status prepare(const spmd_array *array, struct excerpt *excerpt,
                           struct exchange *exchange)
{
    if (array->sharding->mesh->position == 0)
        TRY(spmd__alloc((size_t)spmd_shape_size(excerpt->shown), spmd_dtype_size(excerpt->dtype),
                        &excerpt->data));
    struct wanted *wanted;
    TRY(spmd__alloc((size_t)excerpt->corners, sizeof *wanted, &wanted));
    for (int i = 0; i < excerpt->corners; i++)
        wanted[i].to = spmd__excerpt_corner(excerpt, i, &wanted[i].box);
    spmd_status status = spmd__gather_prepare(array, 0, excerpt->corners, wanted, exchange);
    free(wanted);
    return status;
}

/* At position 0. */
static spmd_status print(FILE *stream, const char *type, const struct excerpt *excerpt)
{
    errno = 0;
    fprintf(stream, "%s\n", type);
    spmd__excerpt_print(stream, excerpt);
    return spmd__stream_finish(stream, type);
}

/* On members: the values of an array whose type is to be told as `type`. */
static spmd_status print_values(const spmd_array *array, const char *type, FILE *stream)
{
    spmd_mesh *mesh = array->sharding->mesh;
    struct excerpt excerpt = spmd__excerpt_of(array->dtype, array->shape);
    struct exchange exchange = {.comm = MPI_COMM_NULL};
    spmd_status status = SPMD_OK;
    if (mesh->position == 0 && !stream)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "print: the stream is NULL");
    if (status == SPMD_OK)
        status = prepare(array, &excerpt, &exchange);
    uint64_t digest = spmd__array_digest(array->sharding, array->dtype, array->shape);
    status = spmd__mesh_agree(mesh, status, spmd__hash_text(digest, __func__));
    if (status == SPMD_OK) {
        status = spmd__exchange_run(&exchange);
        if (status == SPMD_OK && mesh->position == 0)
            status = print(stream, type, &excerpt);
        status = spmd__mesh_agree(mesh, status, 0);
    }
    spmd__exchange_free(&exchange);
    free(excerpt.data);
    return status;
}

spmd_status spmd_array_print(spmd_array *array, FILE *stream)
{
    char type[512];
    spmd_array *values = NULL;
    if (!array)
        return spmd_fail(SPMD_ERR_ARGUMENT, "print: the array is NULL");
    if (!spmd__mesh_is_member(array->sharding->mesh))
        return SPMD_OK;
    TRY(spmd__array_values(array, &values));
    spmd_array_format(type, sizeof type, array);
    spmd_status status = print_values(values, type, stream);
    spmd_array_free(&values);
    return status;
}
