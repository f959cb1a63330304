/* map/input_parts.c - how long the members' parts of a body's input are. */
#include "map/input_parts.h"

/* Whether the members of a group are all on a mesh: the group's own, or a view of it. */
static bool holds_group(const spmd_mesh *mesh, const struct group *group)
{
    if (mesh->root != group->mesh)
        return mesh == group->mesh;
    return (spmd__axis_list_mask(&group->axes) & ~spmd__axis_list_mask(&mesh->of_root)) == 0;
}

const spmd_sharding *spmd__input_sharding(const spmd_ctx *ctx, const spmd_block *block,
                                          const struct group *group)
{
    for (int k = 0; ctx->in_sharding && k < ctx->nin; k++)
        if (ctx->in[k] == block)
            return holds_group(ctx->in_sharding[k]->mesh, group) ? ctx->in_sharding[k] : NULL;
    return NULL;
}

bool spmd__input_parts_differ(const spmd_sharding *sharding, const struct group *group, int dim,
                              int64_t n)
{
    const spmd_mesh *mesh = sharding->mesh;
    struct axis_list entry = spmd__spec_entry(&sharding->spec, dim);
    struct axis_list of_root = spmd__mesh_axes_in_root(mesh, &entry);
    return n % spmd__axis_list_size(&mesh->axes, &entry) != 0 &&
           spmd__axis_lists_meet(&of_root, &group->axes);
}

int64_t spmd__input_part(const spmd_sharding *sharding, const struct group *group, int dim,
                         int64_t n, int64_t member)
{
    const spmd_mesh *mesh = sharding->mesh;
    int64_t position = spmd__mesh_view_position(mesh, spmd__group_member(group, member)), lo, hi;
    spmd__layout_range(&mesh->axes, &sharding->spec, dim, n, position, &lo, &hi);
    return hi - lo;
}
