/* array/reshard_check.c - what is looked at before the run of a plan: its arrays, and whether all
 * ranks come for the same. */
#include "array/reshard_check.h"

#include <string.h>

#include "comm/agree.h"
#include "core/hash.h"

/* Says what an input is, and what the plan begins with. */
static spmd_status refuse(const spmd_reshard_call *plan, const spmd_array *array, int index,
                          spmd_status status)
{
    char is[512], begins[512];
    spmd_array_format(is, sizeof is, array);
    spmd_sharding_format_type(begins, sizeof begins, plan->from, plan->dtype, plan->shape);
    return spmd_fail(status, "reshard: input %d is %s, the plan begins with %s", index, is, begins);
}

/* A sharding that did well is known again by its address. */
static spmd_status check_input(spmd_reshard_call *plan, const spmd_array *array, int index)
{
    if (!array)
        return spmd_fail(SPMD_ERR_ARGUMENT, "reshard: input %d is NULL", index);
    if (!spmd__mesh_is_member(plan->from->mesh))
        return SPMD_OK;
    if (array->dtype != plan->dtype)
        return refuse(plan, array, index, SPMD_ERR_DTYPE);
    if (!spmd_shape_equal(array->shape, plan->shape))
        return refuse(plan, array, index, SPMD_ERR_SHAPE);
    if (array->sharding == plan->from || array->sharding == plan->seen)
        return SPMD_OK;
    if (!spmd_mesh_equal(array->sharding->mesh, plan->from->mesh))
        return spmd_fail(SPMD_ERR_SPEC, "reshard: input %d lies on another mesh than the plan's",
                         index);
    if (!spmd_sharding_is_equivalent(array->sharding, plan->from, plan->shape.ndim))
        return refuse(plan, array, index, SPMD_ERR_SPEC);
    spmd_sharding_free(&plan->seen);
    plan->seen = spmd__sharding_hold(array->sharding);
    return SPMD_OK;
}

/* An output is written while other arrays of the call are still to be read. */
static spmd_status check_output(int index, int count, spmd_array *const in[],
                                spmd_array *const out[])
{
    for (int k = 0; out[index] && k < count; k++)
        if (k != index && (out[index] == in[k] || out[index] == out[k]))
            return spmd_fail(SPMD_ERR_ARGUMENT,
                             "reshard: output %d was given the array of %s %d: it may be its own "
                             "input, and no other array of the call",
                             index, out[index] == in[k] ? "input" : "output", k);
    return SPMD_OK;
}

spmd_status spmd__reshard_check(spmd_reshard_call *plan, int count, spmd_array *const in[],
                                spmd_array *const out[])
{
    if (count < 0 || (count > 0 && (!in || !out)))
        return spmd_fail(SPMD_ERR_ARGUMENT, "reshard: a run needs a place for each of %d arrays",
                         count);
    for (int k = 0; k < count; k++)
        TRY(check_input(plan, in[k], k));
    for (int k = 0; k < count && !plan->nothing; k++)
        TRY(check_output(k, count, in, out));
    return SPMD_OK;
}

/* The mesh that has the ranks of both; NULL: neither has all. */
static spmd_mesh *common_mesh(const spmd_reshard_call *plan)
{
    return plan->nothing ? plan->to->mesh : plan->bridge.lender;
}

bool spmd__reshard_is_watched(const spmd_reshard_call *plan)
{
    const spmd_mesh *mesh = common_mesh(plan);
    return mesh ? mesh->watch != NULL : plan->bridge.checks;
}

static void print_place(struct text *text, const spmd_sharding *sharding, bool with_mesh)
{
    spmd__spec_print(text, &sharding->mesh->axes, &sharding->spec);
    if (with_mesh) {
        spmd__text_add(text, " on ");
        spmd__axes_print(text, &sharding->mesh->axes);
    }
}

/* "reshard f32[8,4] from P(x) to P(-,x)" */
static void describe(struct text *text, const spmd_reshard_call *plan, int count)
{
    bool two = !spmd_mesh_equal(plan->from->mesh, plan->to->mesh);
    spmd__text_add(text, "reshard ");
    if (count != 1)
        spmd__text_add(text, "%d of ", count);
    spmd__type_print(text, plan->dtype, plan->shape);
    spmd__text_add(text, " from ");
    print_place(text, plan->from, two);
    spmd__text_add(text, " to ");
    print_place(text, plan->to, two);
}

/* Where no mesh has all ranks there is nobody to find them elsewhere, but they can agree. */
spmd_status spmd__reshard_meet(const spmd_reshard_call *plan, int count, spmd_status status)
{
    char what[WATCH_NOTE_BYTES];
    struct text text = spmd__text_begin(what, sizeof what);
    const struct bridge *bridge = &plan->bridge;
    describe(&text, plan, count);
    if (common_mesh(plan))
        return spmd__mesh_meet(common_mesh(plan), what, status);
    return spmd__agree(bridge->control, bridge->from->rank, status,
                       spmd__hash(0, what, strlen(what)));
}

void spmd__reshard_leave(const spmd_reshard_call *plan)
{
    if (common_mesh(plan))
        spmd__watch_leave(common_mesh(plan)->watch);
}
