/* array/sharding.c - a mesh and a spec, checked together: who holds what. */
#include <stdlib.h>

#include "array/array.h"
#include "core/mem.h"

spmd_status spmd_sharding_create(spmd_mesh *mesh, const char *spec, spmd_sharding **sharding)
{
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a sharding needs a mesh, this is NULL");
    struct spec parsed;
    TRY(spmd__spec_parse(spec, &mesh->axes, &parsed));
    spmd_sharding *made;
    TRY(spmd__alloc(1, sizeof *made, &made));
    made->holds = 1;
    made->mesh = spmd__mesh_hold(mesh);
    made->spec = parsed;
    *sharding = made;
    return SPMD_OK;
}

spmd_sharding *spmd__sharding_hold(const spmd_sharding *sharding)
{
    spmd_sharding *held = (spmd_sharding *)sharding; /* the count alone is changed */
    held->holds++;
    return held;
}

void spmd_sharding_free(spmd_sharding **handle)
{
    spmd_sharding *sharding = *handle;
    *handle = NULL;
    if (!sharding || --sharding->holds > 0)
        return;
    spmd_mesh_free(&sharding->mesh);
    free(sharding);
}

spmd_mesh *spmd_sharding_mesh(const spmd_sharding *sharding)
{
    return sharding->mesh;
}

int spmd_sharding_format(char *buffer, size_t size, const spmd_sharding *sharding)
{
    struct text text = spmd__text_begin(buffer, size);
    spmd__spec_print(&text, &sharding->mesh->axes, &sharding->spec);
    return (int)text.length;
}

int spmd_sharding_format_type(char *buffer, size_t size, const spmd_sharding *sharding,
                              spmd_dtype dtype, spmd_shape shape)
{
    struct text text = spmd__text_begin(buffer, size);
    spmd__layout_print(&text, &sharding->mesh->axes, &sharding->spec, dtype, shape);
    return (int)text.length;
}

int spmd_sharding_axes(const spmd_sharding *sharding, int dim, int axes[SPMD_MAX_AXES])
{
    if (dim < 0)
        return 0;
    struct axis_list entry = spmd__spec_entry(&sharding->spec, dim);
    for (int i = 0; i < entry.count; i++)
        axes[i] = entry.axis[i];
    return entry.count;
}

spmd_status spmd_sharding_check(const spmd_sharding *sharding, spmd_shape shape)
{
    return spmd__layout_check(&sharding->mesh->axes, &sharding->spec, shape,
                              sharding->mesh->strict);
}

spmd_box spmd__sharding_box_of(const spmd_sharding *sharding, spmd_shape shape, int64_t position)
{
    return spmd__layout_box(&sharding->mesh->axes, &sharding->spec, shape, position);
}

static spmd_status check_position(const spmd_sharding *sharding, int64_t position)
{
    int64_t size = spmd_mesh_size(sharding->mesh);
    if (position < 0 || position >= size)
        return spmd_fail(SPMD_ERR_ARGUMENT, "position %lld is not one of the mesh's %lld",
                         (long long)position, (long long)size);
    return SPMD_OK;
}

spmd_status spmd_sharding_box(const spmd_sharding *sharding, spmd_shape global, int64_t position,
                              spmd_box *box)
{
    TRY(check_position(sharding, position));
    TRY(spmd_sharding_check(sharding, global));
    *box = spmd__sharding_box_of(sharding, global, position);
    return SPMD_OK;
}

spmd_status spmd_sharding_shard_shape(const spmd_sharding *sharding, spmd_shape global,
                                      int64_t position, spmd_shape *shape)
{
    spmd_box box;
    TRY(spmd_sharding_box(sharding, global, position, &box));
    *shape = spmd_box_shape(&box);
    return SPMD_OK;
}

spmd_status spmd_sharding_indices_map(const spmd_sharding *sharding, spmd_shape global,
                                      spmd_box boxes[])
{
    TRY(spmd_sharding_check(sharding, global));
    for (int64_t p = 0; p < spmd_mesh_size(sharding->mesh); p++)
        boxes[p] = spmd__sharding_box_of(sharding, global, p);
    return SPMD_OK;
}

int64_t spmd_sharding_replica(const spmd_sharding *sharding, int64_t position)
{
    if (position < 0 || position >= spmd_mesh_size(sharding->mesh))
        return -1;
    return spmd__layout_replica(&sharding->mesh->axes, &sharding->spec, position);
}

bool spmd_sharding_is_fully_replicated(const spmd_sharding *sharding)
{
    const struct axes *axes = &sharding->mesh->axes;
    struct axis_list used =
        spmd__axis_list_of_mask(spmd__spec_used(&sharding->spec) | sharding->spec.unreduced);
    if (spmd__axes_total(axes) == 1)
        return true;
    return sharding->spec.unreduced == 0 && spmd__axis_list_size(axes, &used) == 1;
}

bool spmd_sharding_is_equivalent(const spmd_sharding *a, const spmd_sharding *b, int ndim)
{
    return spmd__layout_equivalent(&a->mesh->axes, &a->spec, &b->mesh->axes, &b->spec, ndim) &&
           (a->mesh == b->mesh || spmd__mesh_same_ranks(a->mesh, b->mesh));
}
