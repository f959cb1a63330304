/* io/landing.c - where the elements of an array land as they are read. */
#include "io/landing.h"

#include "array/reshard.h"
#include "io/staging.h"

/* Smaller blocks are read by all who hold them: that costs less than meeting. */
enum { LEAST_SHARED_BYTES = 1 << 18 };

/* The first dimension with more than one index: parts of a block along it lie in one piece. */
static int first_dim(spmd_shape shape)
{
    int d = 0;
    while (d < shape.ndim && shape.dim[d] <= 1)
        d++;
    return d;
}

/* Whether blocks are shared out among those who hold them: *finer is NULL if not. */
static spmd_status share_out(const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape,
                             spmd_sharding **finer)
{
    const struct axes *axes = &sharding->mesh->axes;
    struct axis_list replicated =
        spmd__axis_list_of_mask(spmd__layout_replicated(axes, &sharding->spec));
    spmd_box box = spmd__sharding_box_of(sharding, shape, 0);
    int64_t bytes = spmd_box_size(&box) * (int64_t)spmd_dtype_size(dtype);
    int64_t sharers = spmd__axis_list_size(axes, &replicated);
    int dim = first_dim(shape);
    *finer = NULL;
    if (sharding->spec.unreduced || sharers < 2 || bytes < LEAST_SHARED_BYTES ||
        box.hi[dim] - box.lo[dim] < sharers)
        return SPMD_OK;
    spmd_sharding *made = NULL;
    struct spec along = spmd__spec_along(dim, &replicated);
    struct spec spec = spmd__spec_join(&sharding->spec, &along);
    TRY(spmd__sharding_make(sharding->mesh, &spec, &made));
    if (sharding->mesh->strict && spmd_sharding_check(made, shape) != SPMD_OK)
        spmd_sharding_free(&made);
    *finer = made;
    return SPMD_OK;
}

/* The part of `whole` that this rank has under `finer`, where it lies. */
static spmd_status lend_part(spmd_array *whole, const spmd_sharding *finer, spmd_array **part)
{
    spmd_box box = spmd__sharding_box_of(finer, whole->shape, finer->mesh->position);
    spmd_box own = spmd__sharding_box_of(whole->sharding, whole->shape, finer->mesh->position);
    struct view view = spmd__view_box(whole->block.data, spmd_dtype_size(whole->dtype), &own, &box);
    spmd_block block = spmd_block_borrow(view.data, whole->dtype, spmd_box_shape(&box));
    spmd__array_place(finer, whole->shape, &block);
    spmd_array *made;
    TRY(spmd__array_blank(&made));
    spmd__array_become(made, finer, whole->shape, &block);
    made->lender = spmd_array_hold(whole);
    *part = made;
    return SPMD_OK;
}

static spmd_status make_shared(const spmd_sharding *finer, spmd_dtype dtype, spmd_shape shape,
                               struct landing *landing)
{
    TRY(spmd__array_alloc_unset(landing->sharding, dtype, shape, &landing->whole));
    return lend_part(landing->whole, finer, &landing->part);
}

spmd_status spmd__landing_make(hid_t dataset, const spmd_sharding *sharding, spmd_dtype dtype,
                               spmd_shape shape, struct landing *landing)
{
    spmd_sharding *finer = NULL, *lay = NULL;
    *landing = (struct landing){.sharding = sharding};
    TRY(spmd__array_check_type(sharding, dtype, shape));
    TRY(share_out(sharding, dtype, shape, &finer));
    spmd_status status =
        spmd__staging_choose(dataset, FROM_FILE, finer ? finer : sharding, dtype, shape, &lay);
    if (status == SPMD_OK)
        status = finer && spmd_sharding_is_equivalent(lay, finer, shape.ndim)
                     ? make_shared(finer, dtype, shape, landing)
                     : spmd__array_alloc_unset(lay, dtype, shape, &landing->part);
    spmd_sharding_free(&lay);
    spmd_sharding_free(&finer);
    return status;
}

void spmd__landing_free(struct landing *landing)
{
    spmd_array_free(&landing->part);
    spmd_array_free(&landing->whole);
}

spmd_status spmd__landing_agree(struct landing *landing, spmd_status status, uint64_t digest)
{
    const spmd_array *part = landing->part;
    if (status == SPMD_OK)
        digest ^= spmd__array_digest(part->sharding, part->dtype, part->shape);
    status = spmd__mesh_agree(landing->sharding->mesh, status, digest);
    if (status != SPMD_OK)
        spmd__landing_free(landing);
    return status;
}

static spmd_status deliver(struct landing *landing, spmd_array **out)
{
    if (!landing->whole)
        return spmd__reshard(landing->part, landing->sharding, out);
    TRY(spmd__reshard_into(landing->part, landing->whole));
    *out = spmd_array_hold(landing->whole);
    return SPMD_OK;
}

spmd_status spmd__landing_deliver(struct landing *landing, spmd_array **out)
{
    spmd_array *made = NULL;
    spmd_status status = deliver(landing, &made);
    spmd__landing_free(landing);
    if (status == SPMD_OK) {
        spmd__array_note_empty(made);
        *out = made;
    }
    return status;
}
