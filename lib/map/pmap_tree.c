/* map/pmap_tree.c - pmap over trees: a pmap over their leaves. */
#include "array/array.h"
#include "core/hash.h"
#include "map/pmap.h"
#include "map/tree_axes.h"
#include "map/tree_lists.h"

/* A call, and what it was given. */
struct pmap {
    const spmd_tree *in;
    struct tree_axes axes;
    struct tree_lists lists;
};

/* Local. *digest is of what must be the same on all ranks. */
static spmd_status take(struct pmap *pmap, const char *in_axes, spmd_tree *const *out,
                        const char *out_axes, uint64_t *digest)
{
    if (!pmap->in || !out)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a pmap needs a tree, and a place for one, not NULL");
    TRY(spmd__tree_axes_read(in_axes, pmap->in, out_axes, *out, &pmap->axes));
    TRY(spmd__tree_lists_make(pmap->in, pmap->axes.structure, &pmap->lists));
    uint64_t structures[] = {spmd__tree_digest(pmap->in), spmd__tree_digest(pmap->axes.structure)};
    *digest = spmd__hash(0, structures, sizeof structures);
    TRY(spmd__tree_lists_take(&pmap->lists, pmap->in, digest));
    for (int k = 0; k < pmap->lists.nin; k++)
        if (!pmap->lists.arrays[k] && pmap->axes.in[k] != SPMD_NOT_MAPPED)
            return spmd__tree_lists_fail_split(&pmap->lists, pmap->in, k, "its axis is None");
    return spmd__tree_lists_take_out(&pmap->lists, out);
}

/* Collective, after an agreement. */
static spmd_status run(struct pmap *pmap, spmd_mesh *mesh, const char *axes, spmd_body *body,
                       void *user, spmd_tree **out, const spmd_shard_map_options *options)
{
    struct tree_lists *lists = &pmap->lists;
    struct tree_call call = {.body = body,
                             .user = user,
                             .in = pmap->in,
                             .out = pmap->axes.structure,
                             .statics = lists->statics,
                             .seen = lists->seen};
    struct names names = {pmap->in, pmap->axes.structure};
    spmd_status status = spmd__pmap_call(mesh, axes, body ? spmd__tree_body : NULL, &call,
                                         lists->nin, lists->arrays, pmap->axes.in, lists->nout,
                                         lists->results, pmap->axes.out, options, &names);
    return spmd__tree_lists_give(lists, status, pmap->axes.structure, out);
}

spmd_status spmd_pmap_tree(spmd_mesh *mesh, const char *axes, spmd_body *body, void *user,
                           const spmd_tree *in, const char *in_axes, spmd_tree **out,
                           const char *out_axes, const spmd_shard_map_options *options)
{
    struct pmap pmap = {.in = in};
    uint64_t digest = 0;
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a pmap needs a mesh, this is NULL");
    spmd_status status = take(&pmap, in_axes, out, out_axes, &digest);
    status = spmd__tree_agree(mesh, status, digest);
    if (status == SPMD_OK)
        status = run(&pmap, mesh, axes, body, user, out, options);
    spmd__tree_axes_free(&pmap.axes);
    spmd__tree_lists_free(&pmap.lists);
    return status;
}
