/* map/replication.c - the check that blocks promised equal are equal.
 *
 * A hash of each block tells, with one reduction over all outputs and ranks, whether all is well.
 * Only where it is not, the blocks themselves are compared, for the message. */
#include "map/replication.h"

#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "comm/agree.h"
#include "comm/mpi.h"
#include "core/block.h"
#include "core/element.h"
#include "core/hash.h"
#include "core/mem.h"

/* Whether all ranks of a group have the same hash: MAX over h and ~h, as in comm/agree.c. */
static spmd_status compare_hashes(const struct group *group, uint64_t hash, bool *equal)
{
    uint64_t mine[2] = {hash, ~hash}, most[2];
    TRY_MPI(MPI_Allreduce(mine, most, 2, MPI_UINT64_T, MPI_MAX, group->comm));
    *equal = most[0] == ~most[1];
    return SPMD_OK;
}

/* Brings replica 0's block to `copy` on all ranks of the group. */
static spmd_status fetch_owner(const spmd_mesh *mesh, const struct group *group,
                               const spmd_block *block, size_t bytes, void **copy)
{
    TRY(spmd__agree(group->comm, mesh->rank, spmd__alloc(bytes, 1, copy), 0));
    if (group->index == 0)
        memcpy(*copy, block->data, bytes);
    return spmd__broadcast(group->comm, 0, *copy, (int64_t)bytes);
}

/* The first element that differs, dense and row-major; -1 if none does. */
static int64_t first_difference(const char *a, const char *b, int64_t count, size_t element)
{
    for (int64_t i = 0; i < count; i++)
        if (memcmp(a + i * (int64_t)element, b + i * (int64_t)element, element) != 0)
            return i;
    return -1;
}

/* Whether the elements that differ are close. */
static bool all_close(const spmd_block *block, const char *owner)
{
    int64_t count = spmd_block_size(block);
    size_t element = spmd_dtype_size(block->dtype);
    const char *mine = block->data;
    for (int64_t i = 0; i < count; i++, owner += element, mine += element)
        if (memcmp(owner, mine, element) != 0 && !spmd__element_is_close(block->dtype, owner, mine))
            return false;
    return true;
}

/* What is wrong, on a rank whose element `at` differs from the owner's. */
static spmd_status fail_difference(const spmd_sharding *sharding, const spmd_block *block,
                                   const char *name, const struct axis_list *axes,
                                   int64_t owner_position, const char *owner, int64_t at)
{
    const struct axes *mesh = &sharding->mesh->axes;
    int64_t offset = at * (int64_t)spmd_dtype_size(block->dtype);
    spmd_box box = spmd__block_box(block);
    char buffers[5][160];
    struct text spec = spmd__text_begin(buffers[0], sizeof buffers[0]);
    struct text along = spmd__text_begin(buffers[1], sizeof buffers[1]);
    struct text place = spmd__text_begin(buffers[2], sizeof buffers[2]);
    struct text theirs = spmd__text_begin(buffers[3], sizeof buffers[3]);
    struct text ours = spmd__text_begin(buffers[4], sizeof buffers[4]);
    spmd__spec_print(&spec, mesh, &sharding->spec);
    spmd__axis_list_print(&along, mesh, axes);
    spmd__element_print_place(&place, &box, at);
    spmd__element_print(&theirs, block->dtype, owner + offset);
    spmd__element_print(&ours, block->dtype, (const char *)block->data + offset);
    bool rounding = all_close(block, owner);
    return spmd_fail(SPMD_ERR_REPLICATION,
                     "%s: its out_spec %s promises equal blocks along %s, but %s is %s at "
                     "position %lld and %s at position %lld; %s%s%s",
                     name, spec.buffer, along.buffer, place.buffer, ours.buffer,
                     (long long)sharding->mesh->position, theirs.buffer, (long long)owner_position,
                     rounding ? "they differ by rounding only: a pbroadcast over "
                              : "is a psum, pmean or all_gather over ",
                     along.buffer,
                     rounding ? " makes them equal" : " missing, or the axis in the out_spec?");
}

/* The axes of `list` along which the blocks around this rank differ, one group at a time; every
 * rank of the whole group learns the same. */
static spmd_status differing_axes(spmd_mesh *mesh, const struct group *whole, uint64_t hash,
                                  struct axis_list *differing)
{
    uint32_t mask = 0;
    for (int i = 0; i < whole->axes.count; i++) {
        struct axis_list one = {1, {whole->axes.axis[i]}};
        struct group *group;
        bool equal;
        TRY(spmd__mesh_group(mesh, &one, &group));
        TRY(compare_hashes(group, hash, &equal));
        if (!equal)
            mask |= UINT32_C(1) << one.axis[0];
    }
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &mask, 1, MPI_UINT32_T, MPI_BOR, whole->comm));
    *differing = spmd__axis_list_of_mask(mask);
    return SPMD_OK;
}

/* Collective over the group, whose hashes differ. */
static spmd_status explain(const spmd_sharding *sharding, const spmd_block *block, const char *name,
                           const struct group *group, uint64_t hash)
{
    spmd_mesh *mesh = sharding->mesh;
    size_t element = spmd_dtype_size(block->dtype);
    int64_t count = spmd_block_size(block);
    struct axis_list axes;
    void *owner;
    TRY(differing_axes(mesh, group, hash, &axes));
    TRY(fetch_owner(mesh, group, block, (size_t)count * element, &owner));
    int64_t at = first_difference(owner, block->data, count, element);
    int64_t owner_position = spmd__axis_list_member(&mesh->axes, &group->axes, mesh->position, 0);
    spmd_status status =
        at < 0 ? SPMD_OK : fail_difference(sharding, block, name, &axes, owner_position, owner, at);
    free(owner);
    return status;
}

static struct axis_list replicated_axes(const spmd_sharding *sharding)
{
    return spmd__axis_list_of_mask(spmd__layout_replicated(&sharding->mesh->axes, &sharding->spec));
}

/* Of a part with n replicas, replica 0 brings n - 1 times the hash of its block, and the others
 * take theirs away. A hash is of output and part too: what differs in one place does not make up
 * for what differs in another. */
uint64_t spmd__replication_share(const spmd_sharding *sharding, const spmd_block *block, int index)
{
    const spmd_mesh *mesh = sharding->mesh;
    struct axis_list axes = replicated_axes(sharding);
    uint64_t replicas = (uint64_t)spmd__axis_list_size(&mesh->axes, &axes);
    if (replicas == 1)
        return 0;
    int64_t part[] = {index, spmd__axis_list_member(&mesh->axes, &axes, mesh->position, 0)};
    uint64_t hash =
        spmd__hash(spmd__hash(0, part, sizeof part), block->data, spmd__block_bytes(block));
    return part[1] == mesh->position ? (replicas - 1) * hash : -hash;
}

spmd_status spmd__replication_explain(const spmd_sharding *sharding, const spmd_block *block,
                                      const char *name)
{
    struct axis_list axes = replicated_axes(sharding);
    if (spmd__axis_list_size(&sharding->mesh->axes, &axes) == 1)
        return SPMD_OK;
    struct group *group;
    bool equal;
    uint64_t hash = spmd__hash(0, block->data, spmd__block_bytes(block));
    TRY(spmd__mesh_group(sharding->mesh, &axes, &group));
    TRY(compare_hashes(group, hash, &equal));
    return equal ? SPMD_OK : explain(sharding, block, name, group, hash);
}
