/* array/donate.c - arrays that are given up for a reshard: what stays on a rank stays in its
 * memory.
 *
 * A rank that gets nothing from the others keeps a part of its block. The part's rows move towards
 * the beginning, as soon as the others have read what they want of the block. */
#include "array/donate.h"

#include "core/block.h"
#include "core/pool.h"

/* This rank's block of the array as it will be, in the memory that it has now. */
static spmd_block block_after(const spmd_reshard_call *plan, const spmd_array *array)
{
    const spmd_sharding *to = plan->to;
    spmd_box box = spmd__sharding_box_of(to, plan->shape, to->mesh->position);
    spmd_block block = spmd_block_borrow(array->block.data, plan->dtype, spmd_box_shape(&box));
    spmd__array_place(to, plan->shape, &block);
    return block;
}

bool spmd__donate_fits(const spmd_reshard_call *plan, const spmd_array *array)
{
    if (array->holds > 1 || array->lender || plan->steps.reduce != MOVE_NOTHING ||
        plan->collective.group || !spmd__mesh_is_member(plan->from->mesh) ||
        !spmd__mesh_is_member(plan->to->mesh) || !spmd__exchange_is_own(&plan->exchange))
        return false;
    spmd_block block = block_after(plan, array);
    return spmd__block_bytes(&block) <= spmd__block_bytes(&array->block);
}

spmd_status spmd__donate_move(spmd_reshard_call *plan, spmd_array *array)
{
    spmd_block block = block_after(plan, array);
    TRY(spmd__reshard_move(plan, &array->block, &block));
    spmd__pool_shrink(block.data, spmd__block_bytes(&block));
    spmd__array_become(array, plan->to, plan->shape, &block);
    return SPMD_OK;
}

/* To memory of its own, then: the array's is free when the move has ended. */
static spmd_status move_away(spmd_reshard_call *plan, spmd_array **array, spmd_array *made)
{
    TRY(spmd__reshard_move(plan, &(*array)->block, &made->block));
    spmd_array_free(array);
    *array = spmd_array_hold(made);
    return SPMD_OK;
}

/* The move of a plan that has begun. */
static spmd_status move(spmd_reshard_call *plan, spmd_array **array)
{
    spmd_array *made = NULL;
    spmd_status status = spmd__reshard_draft(plan);
    bool fits = status == SPMD_OK && spmd__donate_fits(plan, *array);
    if (status == SPMD_OK && !fits)
        status = spmd__array_alloc_unset(plan->to, plan->dtype, plan->shape, &made);
    status = spmd__reshard_agree(plan, status);
    if (status == SPMD_OK)
        status = fits ? spmd__donate_move(plan, *array) : move_away(plan, array, made);
    if (status == SPMD_OK)
        spmd__array_note_empty(*array);
    spmd_array_free(&made);
    return status;
}

spmd_status spmd_reshard_donate(spmd_array **array, const spmd_sharding *sharding)
{
    spmd_reshard_call plan;
    if (!array || !*array)
        return spmd_fail(SPMD_ERR_ARGUMENT, "reshard: there is no array to give up, it is NULL");
    TRY(spmd__reshard_agree_on_call(*array, sharding, SPMD_OK));
    spmd_status status =
        spmd__reshard_begin((*array)->sharding, sharding, (*array)->dtype, (*array)->shape, &plan);
    if (status == SPMD_OK && !plan.nothing)
        status = move(&plan, array);
    spmd__reshard_end(&plan);
    return status;
}
