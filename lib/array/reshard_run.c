/* array/reshard_run.c - a reshard that is planned once and run many times. */
#include <stdlib.h>

#include "array/donate.h"
#include "array/reshard_check.h"
#include "comm/agree.h"
#include "core/hash.h"
#include "core/mem.h"

/* What can be said of the arguments by this rank alone. */
static spmd_status check_arguments(const spmd_sharding *from, const spmd_sharding *to,
                                   spmd_dtype dtype, spmd_shape shape)
{
    if (!to)
        return spmd_fail(SPMD_ERR_ARGUMENT, "reshard: the sharding to reach is NULL");
    if (from->mesh->abstract != to->mesh->abstract)
        return spmd_fail(SPMD_ERR_MESH,
                         "reshard: the mesh %s is abstract, the other one is not; "
                         "a plan is between two meshes with ranks, or two without",
                         from->mesh->abstract ? "to come from" : "to reach");
    TRY(spmd__array_check_layout(from, dtype, shape));
    return spmd__array_check_layout(to, dtype, shape);
}

/* Collective over the source mesh, before ranks go their ways. */
static spmd_status agree_on_call(const spmd_sharding *from, const spmd_sharding *to,
                                 spmd_dtype dtype, spmd_shape shape, spmd_status status)
{
    if (status == SPMD_OK)
        status = check_arguments(from, to, dtype, shape);
    uint64_t digest = status == SPMD_OK ? spmd__reshard_digest(from, to, dtype, shape) : 0;
    return spmd__mesh_agree(from->mesh, status, spmd__hash_text(digest, "spmd_reshard_plan"));
}

static spmd_status make_place(spmd_reshard_call **out, spmd_reshard_call **plan)
{
    if (!out)
        return spmd_fail(SPMD_ERR_ARGUMENT, "reshard: there is no place for the plan, it is NULL");
    return spmd__alloc(1, sizeof **plan, plan);
}

spmd_status spmd_reshard_plan(const spmd_sharding *from, const spmd_sharding *to, spmd_dtype dtype,
                              spmd_shape shape, spmd_reshard_call **out)
{
    spmd_reshard_call *plan = NULL;
    if (!from)
        return spmd_fail(SPMD_ERR_ARGUMENT, "reshard: the sharding to come from is NULL");
    spmd_status status = agree_on_call(from, to, dtype, shape, make_place(out, &plan));
    if (status == SPMD_OK)
        status = spmd__reshard_begin(from, to, dtype, shape, plan);
    if (status == SPMD_OK)
        status = spmd__reshard_agree(plan, spmd__reshard_draft(plan));
    if (status == SPMD_OK)
        *out = plan;
    else
        spmd_reshard_free(&plan);
    return status;
}

void spmd_reshard_free(spmd_reshard_call **handle)
{
    spmd_reshard_call *plan = *handle;
    *handle = NULL;
    if (plan)
        spmd__reshard_end(plan);
    free(plan);
}

/* Whether the memory of an array that was given for an output fits, and is nobody else's. */
static bool may_reuse(const spmd_reshard_call *plan, const spmd_array *in, const spmd_array *given)
{
    return given && given != in && given->holds == 1 && !given->lender &&
           given->dtype == plan->dtype && spmd_shape_equal(given->shape, plan->shape) &&
           (given->sharding == plan->to ||
            (given->sharding->mesh == plan->to->mesh &&
             spmd__spec_equal(&given->sharding->spec, &plan->to->spec)));
}

/* The array to move to. Without memory the ranks would go their ways: that ends the run. */
static spmd_array *target_of(const spmd_reshard_call *plan, const spmd_array *in, spmd_array *given)
{
    spmd_array *made = NULL;
    if (may_reuse(plan, in, given))
        return given;
    if (spmd__array_alloc_unset(plan->to, plan->dtype, plan->shape, &made) != SPMD_OK)
        spmd__abort(spmd_error_message());
    return made;
}

static void replace(spmd_array **out, spmd_array *array)
{
    if (*out != array)
        spmd_array_free(out);
    *out = array;
}

static spmd_status run_one(spmd_reshard_call *plan, spmd_array *in, spmd_array **out)
{
    if (*out == in && spmd__donate_fits(plan, in))
        return spmd__donate_move(plan, in);
    spmd_array *target = target_of(plan, in, *out);
    TRY(spmd__reshard_move(plan, &in->block, &target->block));
    replace(out, target);
    return SPMD_OK;
}

/* What outputs held may be inputs, too, held by nobody else: all are held before any is let go. */
static void pass_on(int count, spmd_array *const in[], spmd_array *out[])
{
    for (int k = 0; k < count; k++)
        spmd_array_hold(in[k]);
    for (int k = 0; k < count; k++) {
        spmd_array *array = in[k]; /* in may be out */
        spmd_array_free(&out[k]);
        out[k] = array;
    }
}

static spmd_status run(spmd_reshard_call *plan, int count, spmd_array *const in[],
                       spmd_array *out[])
{
    if (plan->nothing) {
        pass_on(count, in, out);
        return SPMD_OK;
    }
    for (int k = 0; k < count; k++)
        TRY(run_one(plan, in[k], &out[k]));
    return SPMD_OK;
}

spmd_status spmd_reshard_run(spmd_reshard_call *plan, int count, spmd_array *const in[],
                             spmd_array *out[])
{
    if (!plan)
        return spmd_fail(SPMD_ERR_ARGUMENT, "reshard: a run needs its plan, this is NULL");
    if (plan->from->mesh->abstract)
        return spmd_fail(SPMD_ERR_MESH, "reshard: a plan of abstract meshes, which have no ranks, "
                                        "can be counted and explained, not run");
    spmd_status status = spmd__reshard_check(plan, count, in, out);
    if (!spmd__reshard_is_watched(plan))
        return status == SPMD_OK ? run(plan, count, in, out) : status;
    TRY(spmd__reshard_meet(plan, count, status));
    status = run(plan, count, in, out);
    spmd__reshard_leave(plan);
    return status;
}
