/* map/tree_lists.c - the leaves of trees, as lists for the calls that take arrays. */
#include "map/tree_lists.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/mem.h"

spmd_status spmd__tree_lists_make(const spmd_tree *in, const spmd_tree *out,
                                  struct tree_lists *lists)
{
    lists->nin = spmd__tree_nleaves(in);
    lists->nout = spmd__tree_nleaves(out);
    size_t nin = (size_t)lists->nin, nout = (size_t)lists->nout;
    TRY(spmd__alloc(nin, sizeof *lists->leaves, &lists->leaves));
    TRY(spmd__alloc(nin, sizeof *lists->arrays, &lists->arrays));
    TRY(spmd__alloc(nin, sizeof *lists->keys, &lists->keys));
    TRY(spmd__alloc(nin, sizeof *lists->statics, &lists->statics));
    TRY(spmd__alloc(nin, sizeof *lists->seen, &lists->seen));
    TRY(spmd__alloc(nout, sizeof *lists->places, &lists->places));
    return spmd__alloc(nout, sizeof *lists->results, &lists->results);
}

void spmd__tree_lists_free(struct tree_lists *lists)
{
    free(lists->leaves);
    free(lists->arrays);
    free(lists->keys);
    free(lists->statics);
    free(lists->seen);
    free(lists->places);
    free(lists->results);
}

/* A digest that goes on over the value of a leaf. */
static uint64_t add_static(uint64_t digest, const spmd_tree *leaf)
{
    char text[1024];
    int length = spmd_tree_format(text, sizeof text, leaf);
    return spmd__hash(digest, text, length < (int)sizeof text ? (size_t)length : sizeof text);
}

/* Takes in what is no array. */
static spmd_status take_static(struct tree_lists *lists, int index, uint64_t *digest)
{
    const spmd_tree *leaf = lists->leaves[index];
    if (spmd__tree_block(leaf))
        return spmd_fail(SPMD_ERR_ARGUMENT, "it is a block, and this call runs over arrays: "
                                            "spmd_tree_device_put makes them");
    if (digest)
        *digest = add_static(*digest, leaf);
    if (leaf->leaf == &spmd__leaf_key)
        lists->statics[index] = spmd__key_block(&lists->keys[index], leaf->value.key);
    return SPMD_OK;
}

spmd_status spmd__tree_lists_take(struct tree_lists *lists, const spmd_tree *in, uint64_t *digest)
{
    spmd__tree_flatten(in, lists->nin, lists->leaves);
    for (int k = 0; k < lists->nin; k++) {
        lists->statics[k] = NULL;
        lists->arrays[k] = spmd__tree_array(lists->leaves[k]);
        spmd_status status = lists->arrays[k] ? SPMD_OK : take_static(lists, k, digest);
        if (status != SPMD_OK)
            return spmd__tree_fail_leaf(status, "in", in, k);
    }
    return SPMD_OK;
}

spmd_status spmd__tree_lists_fail_split(const struct tree_lists *lists, const spmd_tree *in,
                                        int index, const char *remedy)
{
    spmd_fail(SPMD_ERR_SPEC, "it is %s, which cannot be split: %s",
              lists->leaves[index]->leaf->what, remedy);
    return spmd__tree_fail_leaf(SPMD_ERR_SPEC, "in", in, index);
}

spmd_status spmd__tree_lists_take_out(struct tree_lists *lists, spmd_tree *const *out)
{
    memset(lists->results, 0, (size_t)lists->nout * sizeof(spmd_array *));
    if (!*out)
        return SPMD_OK;
    spmd__tree_flatten(*out, lists->nout, (const spmd_tree **)lists->places);
    for (int k = 0; k < lists->nout; k++) {
        lists->results[k] = spmd__tree_array(lists->places[k]);
        if (lists->results[k])
            continue;
        spmd_fail(SPMD_ERR_ARGUMENT, "it is %s, and only arrays are replaced",
                  lists->places[k]->leaf->what);
        return spmd__tree_fail_leaf(SPMD_ERR_ARGUMENT, "out", *out, k);
    }
    return SPMD_OK;
}

/* The results, as a new tree, which takes over their holds. */
static spmd_status give_tree(struct tree_lists *lists, const spmd_tree *structure, spmd_tree **out)
{
    spmd_status status = spmd_tree_unflatten_arrays(structure, lists->nout, lists->results, out);
    for (int k = 0; k < lists->nout; k++)
        spmd_array_free(&lists->results[k]);
    return status;
}

spmd_status spmd__tree_lists_give(struct tree_lists *lists, spmd_status status,
                                  const spmd_tree *structure, spmd_tree **out)
{
    for (int k = 0; *out && k < lists->nout; k++)
        lists->places[k]->value.pointer = lists->results[k];
    return status == SPMD_OK && !*out ? give_tree(lists, structure, out) : status;
}
