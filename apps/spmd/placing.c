/* placing.c - operands that say how an array lies. */
#include "placing.h"

/* On a mesh of its own if it has a text, else on `mesh`. */
static spmd_status read_target(const struct placing_texts *texts, spmd_mesh *mesh,
                               spmd_sharding **to)
{
    spmd_mesh *other = NULL;
    if (!texts->to_mesh)
        return spmd_sharding_create(mesh, texts->to, to);
    SPMD_TRY(spmd_mesh_create_abstract(texts->to_mesh, &other));
    spmd_status status = spmd_sharding_create(other, texts->to, to);
    spmd_mesh_free(&other); /* the sharding holds it */
    return status;
}

spmd_status placing_read(const struct placing_texts *texts, struct placing *placing)
{
    spmd_mesh *mesh = NULL;
    *placing = (struct placing){.dtype = SPMD_F32};
    SPMD_TRY(spmd_mesh_create_abstract(texts->mesh, &mesh));
    spmd_status status = spmd_sharding_create(mesh, texts->spec, &placing->sharding);
    if (status == SPMD_OK)
        status = spmd_shape_parse(texts->shape, &placing->shape);
    if (status == SPMD_OK && texts->to)
        status = read_target(texts, mesh, &placing->to);
    if (status == SPMD_OK && texts->dtype)
        status = spmd_dtype_parse(texts->dtype, &placing->dtype);
    spmd_mesh_free(&mesh);
    return status;
}

void placing_free(struct placing *placing)
{
    spmd_sharding_free(&placing->to);
    spmd_sharding_free(&placing->sharding);
}
