/* array/reshard_collective.c - the move of a reshard as one of MPI's collectives. */
#include "array/reshard_collective.h"

#include <stdlib.h>

#include "comm/collective.h"
#include "comm/mpi.h"
#include "core/box.h"
#include "core/layout.h"
#include "core/mem.h"
#include "core/tell.h"

/* Whether every split dimension divides, and so all blocks are of one shape. */
static bool divides(const struct axes *axes, const struct spec *spec, spmd_shape shape)
{
    for (int d = 0; d < spec->ndim && d < shape.ndim; d++) {
        struct axis_list entry = spmd__spec_entry(spec, d);
        if (shape.dim[d] % spmd__axis_list_size(axes, &entry) != 0)
            return false;
    }
    return true;
}

/* The move of the first position, whose blocks are the largest of all. Where a dimension is shorter
 * than its axes it may have what others get: then a collective is thought cheaper than it is. */
static struct cost_move measure(const struct reshard_move *move, int64_t *most)
{
    const struct axes *axes = &move->mesh->axes;
    spmd_box from = spmd__layout_box(axes, move->from, move->shape, 0);
    spmd_box to = spmd__layout_box(axes, move->to, move->shape, 0), kept;
    int64_t element = (int64_t)move->element, got = spmd_box_size(&to) * element;
    if (spmd__box_intersect(&from, &to, &kept))
        got -= spmd_box_size(&kept) * element;
    int64_t source = spmd_box_size(&from) * element, target = spmd_box_size(&to) * element;
    *most = source > target ? source : target;
    return (struct cost_move){.kind = move->what->kind,
                              .ranks = spmd__axis_list_size(axes, &move->what->axes),
                              .even = divides(axes, move->from, move->shape) &&
                                      divides(axes, move->to, move->shape),
                              .bytes = (double)got};
}

/* Whether the members of the group can all read each other: then all of them find it so. */
static bool are_near(const struct node *node, const struct group *group)
{
    if (spmd__node_size(node) < group->size)
        return false;
    for (int64_t m = 0; m < group->size; m++)
        if (m != group->index && !spmd__node_has(node, (int)spmd__group_member(group, m)))
            return false;
    return true;
}

/* Once for each mesh: a way that is forced, and is none for this move. */
static void note_usual_way(const struct reshard_move *move, const char *why)
{
    spmd_mesh *root = spmd__mesh_root(move->mesh);
    char note[1024];
    if (root->position != 0 || !spmd__tell_first(&root->noted_usual_way))
        return;
    struct text text = spmd__text_begin(note, sizeof note);
    spmd__spec_print(&text, &move->mesh->axes, move->from);
    spmd__text_add(&text, " to ");
    spmd__spec_print(&text, &move->mesh->axes, move->to);
    spmd__tell_note("SPMD_MOVE=collective: %s %s; it goes the usual way", note, why);
}

/* Whether the group's ranks cannot all read each other, and a collective is cheaper than messages
 * then. */
static bool pays(const struct reshard_move *move, const struct group *group,
                 const struct cost_move *cost)
{
    const struct costs *costs = &move->mesh->costs;
    return spmd__mesh_root(move->mesh)->way == WAY_AUTO && !are_near(move->node, group) &&
           spmd__cost_collective(costs, cost) < spmd__cost_messages(costs, cost);
}

/* Why the move cannot be a collective at all; NULL: it can. */
static const char *find_obstacle(const struct reshard_move *move, int64_t members, int64_t most)
{
    enum move_kind kind = move->what->kind;
    if (kind != MOVE_ALL_GATHER && kind != MOVE_ALL_TO_ALL)
        return "is neither an all-gather nor an all-to-all";
    return most > spmd__mpi_piece_bytes / members ? "is too large for one call of MPI" : NULL;
}

spmd_status spmd__reshard_collective_open(const struct reshard_move *move,
                                          struct reshard_collective *collective)
{
    struct group *group;
    int64_t most;
    bool forced = spmd__mesh_root(move->mesh)->way == WAY_COLLECTIVE;
    if (move->what->kind == MOVE_NOTHING || move->what->kind == MOVE_SLICE)
        return SPMD_OK;
    struct cost_move cost = measure(move, &most);
    const char *obstacle = find_obstacle(move, cost.ranks, most);
    if (obstacle) {
        if (forced)
            note_usual_way(move, obstacle);
        return SPMD_OK;
    }
    TRY(spmd__mesh_group_find(move->mesh, &move->what->axes, &group));
    if (!forced && !pays(move, group, &cost))
        return SPMD_OK;
    TRY(spmd__group_open(group));
    collective->group = group;
    collective->kind = cost.kind;
    collective->even = cost.even;
    collective->total = most * cost.ranks;
    return SPMD_OK;
}

/* Lists the parts by member. */
static spmd_status list_parts(const struct group *group, const struct transfers *transfers,
                              size_t element, struct reshard_parts *parts)
{
    TRY(spmd__alloc((size_t)group->size, sizeof *parts->part, &parts->part));
    TRY(spmd__alloc((size_t)group->size, sizeof *parts->bytes, &parts->bytes));
    for (int i = 0; i < transfers->count; i++) {
        const struct transfer *transfer = &transfers->list[i];
        int64_t member = spmd__axis_list_index(&group->mesh->axes, &group->axes, transfer->peer);
        parts->part[member] = transfer;
        parts->bytes[member] = spmd__view_size(&transfer->part) * (int64_t)element;
    }
    return SPMD_OK;
}

/* Finds out whether they lie one after the other in the block; else makes room to pack them. */
static spmd_status lay_out_parts(int64_t members, size_t element, struct reshard_parts *parts)
{
    int64_t total = 0;
    bool packs = false;
    void *packed = NULL;
    for (int64_t m = 0; m < members; m++) {
        if (!parts->part[m])
            continue;
        const struct view *part = &parts->part[m]->part;
        if (total == 0)
            parts->offset = (intptr_t)part->data;
        packs = packs || (intptr_t)part->data != parts->offset + total ||
                !spmd__view_is_dense(part, element);
        total += parts->bytes[m];
    }
    TRY(packs ? spmd__alloc_block((size_t)total, &packed) : SPMD_OK);
    parts->packed = packed;
    return SPMD_OK;
}

/* Takes what the call will take in a run, so that the arena has it. */
static spmd_status reserve(struct reshard_collective *collective)
{
    void *counts;
    struct arena_mark mark = spmd__arena_mark(&collective->arena);
    for (int i = 0; i < 4; i++) /* counts and places, to send and to receive */
        TRY(spmd__arena_take(&collective->arena, (size_t)collective->group->size, sizeof(int),
                             &counts));
    spmd__arena_reset(&collective->arena, mark);
    return SPMD_OK;
}

spmd_status spmd__reshard_collective_prepare(struct reshard_collective *collective,
                                             const struct exchange *exchange)
{
    const struct group *group = collective->group;
    size_t element = exchange->element;
    if (collective->kind == MOVE_ALL_TO_ALL) { /* who gathers gives the block as it is */
        TRY(list_parts(group, &exchange->sends, element, &collective->sends));
        TRY(lay_out_parts(group->size, element, &collective->sends));
    }
    TRY(list_parts(group, &exchange->receives, element, &collective->receives));
    TRY(lay_out_parts(group->size, element, &collective->receives));
    return reserve(collective);
}

static int64_t packed_bytes(const struct reshard_parts *parts, int64_t size)
{
    int64_t total = 0;
    for (int64_t m = 0; parts->packed && m < size; m++)
        total += parts->bytes[m];
    return total;
}

int64_t spmd__reshard_collective_packed(const struct reshard_collective *collective)
{
    int64_t size = collective->group->size;
    return packed_bytes(&collective->sends, size) + packed_bytes(&collective->receives, size);
}

/* Where they do not lie one after the other: copies the parts from the block, or into it. */
static void pack(const struct reshard_parts *parts, int64_t members, const char *block,
                 size_t element)
{
    char *packed = parts->packed;
    for (int64_t m = 0; packed && m < members; m++)
        if (parts->part[m]) {
            struct view part = spmd__view_at(&parts->part[m]->part, block);
            packed = spmd__view_pack(&part, packed, element);
        }
}

static void unpack(const struct reshard_parts *parts, int64_t members, char *block, size_t element)
{
    const char *packed = parts->packed;
    for (int64_t m = 0; packed && m < members; m++)
        if (parts->part[m]) {
            struct view part = spmd__view_at(&parts->part[m]->part, block);
            packed = spmd__view_unpack(&part, packed, element);
        }
}

static char *place_of(const struct reshard_parts *parts, char *block)
{
    return parts->packed ? parts->packed : block + parts->offset;
}

/* The bytes of every part that goes between two members, which are of one size. */
static int64_t size_of_part(const struct reshard_collective *collective)
{
    return collective->even ? collective->receives.bytes[0] : -1;
}

static spmd_status call_mpi(struct reshard_collective *collective, const struct exchange *exchange)
{
    MPI_Comm comm = collective->group->comm;
    const struct reshard_parts *sends = &collective->sends, *receives = &collective->receives;
    char *out = place_of(receives, exchange->to);
    struct volume volume = {size_of_part(collective), collective->total};
    if (collective->kind == MOVE_ALL_GATHER)
        return spmd__all_gather(comm, exchange->from, receives->bytes, out, &collective->arena,
                                NULL);
    return spmd__all_to_all(comm, volume, place_of(sends, exchange->from), sends->bytes, out,
                            receives->bytes, &collective->arena, NULL);
}

spmd_status spmd__reshard_collective_run(struct reshard_collective *collective,
                                         const struct exchange *exchange)
{
    struct arena_mark mark = spmd__arena_mark(&collective->arena);
    if (exchange->node) { /* other groups may read in this round */
        spmd__node_offer(exchange->node, NULL, NULL);
        spmd__node_finish(exchange->node);
    }
    pack(&collective->sends, collective->group->size, exchange->from, exchange->element);
    spmd_status status = call_mpi(collective, exchange);
    spmd__arena_reset(&collective->arena, mark);
    unpack(&collective->receives, collective->group->size, exchange->to, exchange->element);
    return status;
}

static void free_parts(struct reshard_parts *parts)
{
    free(parts->part);
    free(parts->bytes);
    free(parts->packed);
}

void spmd__reshard_collective_free(struct reshard_collective *collective)
{
    free_parts(&collective->sends);
    free_parts(&collective->receives);
    spmd__arena_free(&collective->arena);
    *collective = (struct reshard_collective){.group = NULL};
}
