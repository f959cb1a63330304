/* map/joint.c - a collective whose members are instances of vmaps, and maybe ranks as well.
 *
 * Over instances alone it is local. With ranks, a kind may have a way of its own: reductions reduce
 * here, then over the ranks. Others gather what all members bring, then are local as well. */
#include "map/joint.h"

#include <string.h>

#include "core/block.h"
#include "map/vmap.h"

/* The members in order: where each is; and the operations here: whose each is. */
struct roster {
    struct operation *const *ops; /* [sets * here] */
    struct arena *arena;
    struct group *group; /* NULL: all members are here */
    int64_t sets;        /* collectives that are done at once */
    int64_t size;        /* members of each */
    int64_t here;        /* of these, instances in each rank */
    int64_t *rank;       /* [size] the rank's place in the group */
    int64_t *place;      /* [size] among the instances of its rank */
    int64_t *step;       /* [here] from the set's first operation to the one at a place */
    int64_t *first;      /* [sets] the set's first operation */
};

/* Some dimensions, of which each has a step. */
struct steps {
    int count;
    int64_t size[SPMD_MAX_AXES];
    int64_t step[SPMD_MAX_AXES];
};

static void add_dim(struct steps *steps, int64_t size, int64_t step)
{
    steps->size[steps->count] = size;
    steps->step[steps->count++] = step;
}

static int64_t product(const struct steps *steps)
{
    int64_t total = 1;
    for (int d = 0; d < steps->count; d++)
        total *= steps->size[d];
    return total;
}

/* Where one gets by the steps to each index, in row-major order. */
static spmd_status list_places(struct arena *arena, const struct steps *steps, int64_t **out)
{
    int64_t total = product(steps);
    TRY(spmd__arena_take(arena, (size_t)total, sizeof **out, out));
    for (int64_t i = 0; i < total; i++) {
        int64_t rest = i, at = 0;
        for (int d = steps->count - 1; d >= 0; d--) {
            at += rest % steps->size[d] * steps->step[d];
            rest /= steps->size[d];
        }
        (*out)[i] = at;
    }
    return SPMD_OK;
}

/* How far operations are apart along each vmap's axis; gives the outermost one that is listed. */
static int find_op_steps(const struct vmap_axes *axes, int64_t step[])
{
    int outermost = axes->in_mesh;
    int64_t total = 1;
    for (int i = 0; i < axes->list.count; i++)
        if (axes->list.axis[i] > outermost)
            outermost = axes->list.axis[i];
    for (int a = axes->in_mesh; a <= outermost; a++) {
        step[a] = total;
        total *= axes->all.size[a];
    }
    return outermost;
}

static spmd_status make_roster(const struct vmap_axes *axes, struct roster *roster)
{
    struct steps to_rank = {0}, to_place = {0}, to_op = {0}, to_set = {0};
    int64_t op_step[SPMD_MAX_AXES], ranks = 1, here = 1;
    int outermost = find_op_steps(axes, op_step);
    for (int i = axes->list.count - 1; i >= 0; i--) { /* the text's last is the minor one */
        int a = axes->list.axis[i];
        bool in_mesh = a < axes->in_mesh;
        to_rank.size[i] = to_place.size[i] = axes->all.size[a];
        to_rank.step[i] = in_mesh ? ranks : 0;
        to_place.step[i] = in_mesh ? 0 : here;
        *(in_mesh ? &ranks : &here) *= axes->all.size[a];
    }
    to_rank.count = to_place.count = axes->list.count;
    for (int i = 0; i < axes->list.count; i++)
        if (axes->list.axis[i] >= axes->in_mesh)
            add_dim(&to_op, axes->all.size[axes->list.axis[i]], op_step[axes->list.axis[i]]);
    for (int a = outermost; a >= axes->in_mesh; a--)
        if (!spmd__axis_list_has(&axes->list, a))
            add_dim(&to_set, axes->all.size[a], op_step[a]);
    roster->size = product(&to_rank);
    roster->here = here;
    roster->sets = product(&to_set);
    TRY(list_places(roster->arena, &to_rank, &roster->rank));
    TRY(list_places(roster->arena, &to_place, &roster->place));
    TRY(list_places(roster->arena, &to_op, &roster->step));
    return list_places(roster->arena, &to_set, &roster->first);
}

static struct operation *op_at(const struct roster *roster, int64_t set, int64_t place)
{
    return roster->ops[roster->first[set] + roster->step[place]];
}

/* Local. */
static spmd_status run_here(const struct roster *roster, int64_t set)
{
    struct operation **members;
    TRY(spmd__arena_take(roster->arena, (size_t)roster->size, sizeof *members, &members));
    for (int64_t m = 0; m < roster->size; m++)
        members[m] = op_at(roster, set, roster->place[m]);
    return members[0]->kind->local(members, roster->size);
}

/* Collective. By the kind's own way. */
static spmd_status run_joint(const struct roster *roster, int64_t set)
{
    struct operation **members;
    TRY(spmd__arena_take(roster->arena, (size_t)roster->here, sizeof *members, &members));
    for (int64_t p = 0; p < roster->here; p++)
        members[p] = op_at(roster, set, p);
    return members[0]->kind->joint(members, roster->here, roster->group);
}

/* Collective. The shapes of all members' blocks; they are asked for where they may differ. */
static spmd_status gather_shapes(const struct roster *roster, int64_t set, spmd_block block[])
{
    int64_t here = roster->here, ranks = roster->group->size, *bytes;
    spmd_shape *mine, *all;
    TRY(spmd__arena_take(roster->arena, (size_t)here, sizeof *mine, &mine));
    TRY(spmd__arena_take(roster->arena, (size_t)(here * ranks), sizeof *all, &all));
    TRY(spmd__arena_take(roster->arena, (size_t)ranks, sizeof *bytes, &bytes));
    for (int64_t p = 0; p < here; p++)
        mine[p] = spmd_block_shape(op_at(roster, set, p)->in);
    for (int64_t r = 0; r < ranks; r++) {
        bytes[r] = here * (int64_t)sizeof *mine;
        memcpy(&all[r * here], mine, (size_t)bytes[r]);
    }
    if (op_at(roster, set, 0)->free_dims)
        TRY(spmd__all_gather(roster->group->comm, mine, bytes, all, roster->arena, NULL));
    for (int64_t i = 0; i < here * ranks; i++)
        block[i] = spmd_block_borrow(NULL, op_at(roster, set, 0)->in->dtype, all[i]);
    return SPMD_OK;
}

/* The blocks here, one after the other. */
static spmd_status pack(const struct roster *roster, int64_t set, char **out)
{
    size_t total = 0;
    for (int64_t p = 0; p < roster->here; p++)
        total += spmd__block_bytes(op_at(roster, set, p)->in);
    TRY(spmd__arena_take(roster->arena, total, 1, out));
    char *at = *out;
    for (int64_t p = 0; p < roster->here; p++) {
        const spmd_block *in = op_at(roster, set, p)->in;
        size_t bytes = spmd__block_bytes(in);
        if (bytes > 0)
            memcpy(at, in->data, bytes);
        at += bytes;
    }
    return SPMD_OK;
}

/* Collective. The members' blocks, here in one piece of memory: block [ranks * here]. */
static spmd_status gather_blocks(const struct roster *roster, int64_t set, spmd_block block[])
{
    int64_t ranks = roster->group->size, *bytes, total = 0;
    char *mine, *all;
    TRY(gather_shapes(roster, set, block));
    TRY(spmd__arena_take(roster->arena, (size_t)ranks, sizeof *bytes, &bytes));
    for (int64_t r = 0; r < ranks; r++) {
        bytes[r] = 0;
        for (int64_t p = 0; p < roster->here; p++)
            bytes[r] += (int64_t)spmd__block_bytes(&block[r * roster->here + p]);
        total += bytes[r];
    }
    TRY(pack(roster, set, &mine));
    TRY(spmd__arena_take(roster->arena, (size_t)total, 1, &all));
    TRY(spmd__all_gather(roster->group->comm, mine, bytes, all, roster->arena, NULL));
    for (int64_t i = 0; i < ranks * roster->here; i++) {
        block[i].data = all;
        all += spmd__block_bytes(&block[i]);
    }
    return SPMD_OK;
}

static spmd_status run_gathered(const struct roster *roster, int64_t set)
{
    spmd_block *block;
    struct operation *parts, **members;
    TRY(spmd__arena_take(roster->arena, (size_t)(roster->group->size * roster->here), sizeof *block,
                         &block));
    TRY(spmd__arena_take(roster->arena, (size_t)roster->size, sizeof *parts, &parts));
    TRY(spmd__arena_take(roster->arena, (size_t)roster->size, sizeof *members, &members));
    TRY(gather_blocks(roster, set, block));
    for (int64_t m = 0; m < roster->size; m++) {
        int64_t rank = roster->rank[m], place = roster->place[m];
        parts[m] = *op_at(roster, set, place);
        parts[m].in = &block[rank * roster->here + place];
        if (rank != roster->group->index)
            parts[m].out = NULL;
        members[m] = &parts[m];
    }
    return members[0]->kind->local(members, roster->size);
}

static spmd_status run_set(const struct roster *roster, int64_t set)
{
    if (!roster->group)
        return run_here(roster, set);
    return roster->ops[0]->kind->joint ? run_joint(roster, set) : run_gathered(roster, set);
}

static spmd_status run_sets(const struct roster *roster)
{
    for (int64_t set = 0; set < roster->sets; set++) {
        struct arena_mark mark = spmd__arena_mark(roster->arena);
        spmd_status status = run_set(roster, set);
        spmd__arena_reset(roster->arena, mark);
        TRY(status);
    }
    return SPMD_OK;
}

static spmd_status open_and_run(const struct roster *roster)
{
    TRY(spmd__group_open(roster->group));
    return run_sets(roster);
}

static spmd_status run_over_ranks(const struct roster *roster)
{
    struct operation *first = roster->ops[0];
    TRY(spmd__vmap_check_counts(first->ctx, roster->group));
    TRY(spmd__collective_meet(first, roster->group));
    spmd_status status = open_and_run(roster);
    spmd__group_leave(roster->group);
    return status;
}

spmd_status spmd__joint_run(struct operation *const ops[])
{
    struct operation *first = ops[0];
    struct roster roster = {.ops = ops, .arena = first->ctx->arena};
    struct vmap_axes axes;
    TRY(spmd__vmap_axes_read(first->ctx, first->axes, &axes));
    TRY(make_roster(&axes, &roster));
    if (roster.size == roster.here)
        return run_sets(&roster);
    TRY(spmd__vmap_axes_group(first->ctx, &axes, &roster.group));
    return run_over_ranks(&roster);
}
