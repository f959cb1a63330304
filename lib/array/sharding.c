/* array/sharding.c - a mesh and a spec, checked together: who holds what. */
#include <stdlib.h>

#include "array/array.h"
#include "core/hash.h"
#include "core/mem.h"

static spmd_status check_mesh(const spmd_mesh *mesh)
{
    return mesh ? SPMD_OK : spmd_fail(SPMD_ERR_ARGUMENT, "a sharding needs a mesh, this is NULL");
}

spmd_status spmd__sharding_check_place(spmd_sharding *const *sharding)
{
    if (!sharding)
        return spmd_fail(SPMD_ERR_ARGUMENT, "there is no place for the new sharding, it is NULL");
    return SPMD_OK;
}

spmd_status spmd__sharding_make(spmd_mesh *mesh, const struct spec *spec, spmd_sharding **sharding)
{
    spmd_sharding *made;
    TRY(spmd__sharding_check_place(sharding));
    TRY(spmd__alloc(1, sizeof *made, &made));
    made->holds = 1;
    made->mesh = spmd__mesh_hold(mesh);
    made->spec = *spec;
    *sharding = made;
    return SPMD_OK;
}

spmd_status spmd__sharding_of_values(const spmd_sharding *sharding, spmd_sharding **values)
{
    struct spec spec = spmd__spec_with_unreduced(&sharding->spec, 0);
    if (sharding->spec.unreduced != 0)
        return spmd__sharding_make(sharding->mesh, &spec, values);
    *values = spmd__sharding_hold(sharding);
    return SPMD_OK;
}

spmd_status spmd_sharding_create(spmd_mesh *mesh, const char *text, spmd_sharding **sharding)
{
    struct spec spec;
    TRY(check_mesh(mesh));
    TRY(spmd__spec_parse(text, &mesh->axes, &spec));
    return spmd__sharding_make(mesh, &spec, sharding);
}

spmd_status spmd_sharding_create_entries(spmd_mesh *mesh, int ndim, const char *const entries[],
                                         const char *unreduced, spmd_reduction kind,
                                         spmd_sharding **sharding)
{
    struct spec spec;
    TRY(check_mesh(mesh));
    TRY(spmd__spec_make(ndim, entries, unreduced, kind, &mesh->axes, &spec));
    return spmd__sharding_make(mesh, &spec, sharding);
}

spmd_status spmd__sharding_settle(spmd_mesh *mesh, const struct spec *spec,
                                  spmd_sharding **sharding)
{
    spmd_sharding *made = NULL;
    spmd_status status = spmd__sharding_make(mesh, spec, &made);
    status = spmd__mesh_agree(mesh, status, spmd__hash(0, spec, sizeof *spec));
    spmd_mesh_free(&mesh);
    if (status != SPMD_OK)
        spmd_sharding_free(&made);
    else
        *sharding = made;
    return status;
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

int spmd_sharding_nentries(const spmd_sharding *sharding)
{
    return sharding->spec.ndim;
}

static int copy_axes(struct axis_list list, int axes[])
{
    for (int i = 0; i < list.count; i++)
        axes[i] = list.axis[i];
    return list.count;
}

int spmd_sharding_axes(const spmd_sharding *sharding, int dim, int axes[SPMD_MAX_AXES])
{
    return dim < 0 ? 0 : copy_axes(spmd__spec_entry(&sharding->spec, dim), axes);
}

int spmd_sharding_unreduced(const spmd_sharding *sharding, int axes[SPMD_MAX_AXES])
{
    return copy_axes(spmd__axis_list_of_mask(sharding->spec.unreduced), axes);
}

spmd_reduction spmd_sharding_reduction(const spmd_sharding *sharding)
{
    return sharding->spec.kind;
}

spmd_status spmd_sharding_check(const spmd_sharding *sharding, spmd_shape shape)
{
    if (!sharding)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the sharding is NULL");
    return spmd__layout_check(&sharding->mesh->axes, &sharding->spec, shape,
                              sharding->mesh->strict);
}

spmd_box spmd__sharding_box_of(const spmd_sharding *sharding, spmd_shape shape, int64_t position)
{
    return spmd__layout_box(&sharding->mesh->axes, &sharding->spec, shape, position);
}

static spmd_status check_question(const spmd_sharding *sharding, spmd_shape global,
                                  int64_t position, const void *answer)
{
    if (!sharding || !answer)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the %s is NULL",
                         sharding ? "place for the answer" : "sharding");
    TRY(spmd__mesh_check_position(sharding->mesh, position));
    return spmd_sharding_check(sharding, global);
}

/* These two write what there are dimensions for, and no more: clearing the rest would cost most of
 * their time. */
spmd_status spmd_sharding_box(const spmd_sharding *sharding, spmd_shape global, int64_t position,
                              spmd_box *box)
{
    TRY(check_question(sharding, global, position, box));
    box->ndim = global.ndim;
    spmd__layout_ranges(&sharding->mesh->axes, &sharding->spec, &global, position, box->lo,
                        box->hi);
    return SPMD_OK;
}

spmd_status spmd_sharding_shard_shape(const spmd_sharding *sharding, spmd_shape global,
                                      int64_t position, spmd_shape *shape)
{
    int64_t lo[SPMD_MAX_DIMS], hi[SPMD_MAX_DIMS];
    TRY(check_question(sharding, global, position, shape));
    spmd__layout_ranges(&sharding->mesh->axes, &sharding->spec, &global, position, lo, hi);
    shape->ndim = global.ndim;
    for (int d = 0; d < global.ndim; d++)
        shape->dim[d] = hi[d] - lo[d];
    return SPMD_OK;
}

spmd_status spmd_sharding_indices_map(const spmd_sharding *sharding, spmd_shape global,
                                      spmd_box boxes[])
{
    TRY(check_question(sharding, global, 0, boxes));
    for (int64_t p = 0; p < spmd_mesh_size(sharding->mesh); p++)
        boxes[p] = spmd__sharding_box_of(sharding, global, p);
    return SPMD_OK;
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

bool spmd_sharding_equal(const spmd_sharding *a, const spmd_sharding *b)
{
    return a == b || (spmd__spec_equal(&a->spec, &b->spec) && spmd_mesh_equal(a->mesh, b->mesh));
}

bool spmd_sharding_is_equivalent(const spmd_sharding *a, const spmd_sharding *b, int ndim)
{
    bool even = a->mesh->strict && b->mesh->strict;
    return spmd__layout_equivalent(&a->mesh->axes, &a->spec, &b->mesh->axes, &b->spec, ndim,
                                   even) &&
           (a->mesh == b->mesh || spmd__mesh_same_ranks(a->mesh, b->mesh));
}
