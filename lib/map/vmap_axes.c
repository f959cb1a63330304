/* map/vmap_axes.c - axes of named vmaps beside those of the mesh, and counts of instances. */
#include <string.h>

#include "comm/reduce.h"
#include "core/cursor.h"
#include "map/input_parts.h"
#include "map/vmap.h"

/* Whether `name` is one of the names in a text of axes. */
static bool mentions(const char *text, const char *name)
{
    struct cursor cursor = {text, text};
    size_t size = strlen(name);
    while (*cursor.at != '\0') {
        const char *found;
        size_t length = spmd__cursor_name(&cursor, &found);
        if (length == size && memcmp(found, name, size) == 0)
            return true;
        if (length == 0 && *cursor.at != '\0')
            cursor.at++;
    }
    return false;
}

bool spmd__vmap_binds(const spmd_ctx *ctx, const char *axes)
{
    const struct instance *instance;
    for (; axes && (instance = spmd__instance_of(ctx)); ctx = ctx->outer)
        if (instance->vmap->name && mentions(axes, instance->vmap->name))
            return true;
    return false;
}

static spmd_status add_axis(struct vmap_axes *axes, const spmd_ctx *ctx, const struct vmap *vmap)
{
    int at = axes->all.count;
    if (at == SPMD_MAX_AXES)
        return spmd_fail(SPMD_ERR_MESH,
                         "the mesh and the named vmaps around this body have more than %d axes",
                         SPMD_MAX_AXES);
    strcpy(axes->all.name[at], vmap->name); /* spmd__vmap_check_name has seen it */
    axes->all.size[at] = vmap->size;
    axes->instance[at] = ctx;
    axes->all.count++;
    return SPMD_OK;
}

spmd_status spmd__vmap_axes_read(const spmd_ctx *ctx, const char *text, struct vmap_axes *axes)
{
    const struct instance *instance;
    axes->all = ctx->scope ? ctx->scope->axes : (struct axes){.count = 0};
    axes->in_mesh = axes->all.count;
    for (; (instance = spmd__instance_of(ctx)); ctx = ctx->outer)
        if (instance->vmap->name)
            TRY(add_axis(axes, ctx, instance->vmap));
    if (strchr(text, '['))
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "axes \"%s\": groups are of ranks, and among these axes is a vmap's",
                         text);
    return spmd__axis_list_parse(text, &axes->all, &axes->list);
}

static bool has_named_around(const spmd_ctx *ctx)
{
    const struct instance *instance;
    for (; (instance = spmd__instance_of(ctx)); ctx = ctx->outer)
        if (instance->vmap->name)
            return true;
    return false;
}

spmd_status spmd__vmap_axes_refuse(const spmd_ctx *ctx, const char *text, spmd_status status)
{
    struct vmap_axes axes;
    if (status == SPMD_ERR_MESH && text && !strchr(text, '[') && has_named_around(ctx))
        TRY(spmd__vmap_axes_read(ctx, text, &axes));
    return status;
}

spmd_status spmd__vmap_axes_group(const spmd_ctx *ctx, const struct vmap_axes *axes,
                                  struct group **group)
{
    struct axis_list list = {.count = 0};
    for (int i = 0; i < axes->list.count; i++)
        if (axes->list.axis[i] < axes->in_mesh)
            list.axis[list.count++] = axes->list.axis[i];
    return spmd__ctx_group_along(ctx, &list, group);
}

spmd_status spmd__vmap_check_name(const spmd_ctx *outer, const char *name)
{
    struct axes alone;
    if (spmd__axes_make(1, &name, (const int64_t[]){1}, 0, &alone) != SPMD_OK)
        return spmd_fail(SPMD_ERR_SYNTAX, "axis_name \"%s\": %s", name, spmd_error_message());
    if (outer && outer->scope && spmd__axes_find(&outer->scope->axes, name, strlen(name)) >= 0)
        return spmd_fail(SPMD_ERR_MESH,
                         "axis_name %s: mesh %s has an axis of this name, the vmap needs another",
                         name, spmd__axes_text(&outer->scope->axes).text);
    if (spmd__vmap_binds(outer, name))
        return spmd_fail(SPMD_ERR_MESH,
                         "axis_name %s: a vmap around this one has the same, it needs another",
                         name);
    return SPMD_OK;
}

int64_t spmd__vmap_axis_size(const spmd_ctx *ctx, const char *text)
{
    struct vmap_axes axes;
    if (spmd__vmap_axes_read(ctx, text, &axes) != SPMD_OK)
        return -1;
    return spmd__axis_list_size(&axes.all, &axes.list);
}

int64_t spmd__vmap_axis_index(const spmd_ctx *ctx, const char *text)
{
    struct vmap_axes axes;
    int64_t at[SPMD_MAX_AXES], index = 0;
    if (spmd__vmap_axes_read(ctx, text, &axes) != SPMD_OK)
        return -1;
    if (ctx->scope)
        spmd__axes_coordinates(&ctx->scope->axes, ctx->scope->position, at);
    for (int a = axes.in_mesh; a < axes.all.count; a++)
        at[a] = axes.instance[a]->instance;
    for (int i = 0; i < axes.list.count; i++)
        index = index * axes.all.size[axes.list.axis[i]] + at[axes.list.axis[i]];
    return index;
}

/* A group of ranks of which each has as many instances. */
struct counted {
    const struct group *group;
    struct counted *next;
};

static bool is_counted(const struct vmap *vmap, const struct group *group)
{
    for (const struct counted *counted = vmap->counted; counted; counted = counted->next)
        if (counted->group == group)
            return true;
    return false;
}

static spmd_status keep_counted(struct vmap *vmap, const struct group *group)
{
    struct counted *counted;
    TRY(spmd__vmap_take(vmap, 1, sizeof *counted, &counted));
    *counted = (struct counted){group, vmap->counted};
    vmap->counted = counted;
    return SPMD_OK;
}

/* The least and the greatest extent along `dim` in a group, of an array that lies so. */
static void find_extents(const spmd_sharding *sharding, int dim, int64_t n,
                         const struct group *group, int64_t *least, int64_t *most)
{
    bool differ = spmd__input_parts_differ(sharding, group, dim, n);
    *least = INT64_MAX;
    *most = 0;
    for (int64_t m = 0; m < (differ ? group->size : 1); m++) {
        int64_t extent = spmd__input_part(sharding, group, dim, n, m);
        *least = extent < *least ? extent : *least;
        *most = extent > *most ? extent : *most;
    }
}

/* By arithmetic, where a mapped input is one of the body around. */
static bool compute_counts(const struct vmap *vmap, const struct group *group, int64_t *least,
                           int64_t *most)
{
    for (int k = 0; k < vmap->nin; k++) {
        const struct mapped *in = &vmap->in[k];
        const spmd_sharding *sharding =
            in->axis >= 0 ? spmd__input_sharding(vmap->outer, in->whole, group) : NULL;
        if (!sharding)
            continue;
        find_extents(sharding, in->axis, in->whole->global[in->axis], group, least, most);
        return true;
    }
    return false;
}

static spmd_status reduce_counts(const struct vmap *vmap, struct group *group, int64_t counts[2])
{
    TRY(spmd__group_open(group));
    return spmd__all_reduce(group, SPMD_MAX, SPMD_I64, counts, counts, 2, vmap->arena);
}

/* Collective over the group. */
static spmd_status ask_counts(const struct vmap *vmap, struct group *group, int64_t *least,
                              int64_t *most)
{
    int64_t counts[] = {vmap->size, -vmap->size};
    TRY(spmd__group_meet(group, "a collective in a vmap, whose instances are counted first"));
    spmd_status status = reduce_counts(vmap, group, counts);
    spmd__group_leave(group);
    *most = counts[0];
    *least = -counts[1];
    return status;
}

static spmd_status check_count(struct vmap *vmap, struct group *group)
{
    char buffer[256];
    int64_t least = 0, most = 0;
    if (!compute_counts(vmap, group, &least, &most))
        TRY(ask_counts(vmap, group, &least, &most));
    if (least == most)
        return keep_counted(vmap, group);
    struct text text = spmd__text_begin(buffer, sizeof buffer);
    spmd__axis_list_print(&text, &group->mesh->axes, &group->axes);
    return spmd_fail(SPMD_ERR_SHAPE,
                     "the vmap has %lld instances on some ranks and %lld on others: a collective "
                     "over %s in it needs equal numbers",
                     (long long)most, (long long)least, buffer);
}

spmd_status spmd__vmap_check_counts(const spmd_ctx *ctx, struct group *group)
{
    const struct instance *instance;
    for (; group->size > 1 && (instance = spmd__instance_of(ctx)); ctx = ctx->outer)
        if (!is_counted(instance->vmap, group))
            TRY(check_count(instance->vmap, group));
    return SPMD_OK;
}
