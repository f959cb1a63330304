/* map/tree_body.h - what a body sees of a call over trees. See spmd/tree_map.h. */
#ifndef MAP_TREE_BODY_H
#define MAP_TREE_BODY_H

#include <spmd/tree_map.h>

#include "array/tree.h"
#include "map/ctx.h"

/* A key, as a block. */
struct key_block {
    spmd_key key;
    spmd_block block; /* u32[2] over it */
};

/* A call over trees: what its bodies need to know. */
struct tree_call {
    spmd_body *body;
    void *user;
    const spmd_tree *in;              /* the arguments */
    const spmd_tree *out;             /* the structure of the results */
    const spmd_block *const *statics; /* [leaves of in] blocks of keys, which the flat call has not
                                        passed on; NULL: it has */
    const spmd_block **seen;          /* [leaves of in] with statics: for the ctx */
};

/* The body of the flat call; its `user` is a struct tree_call. */
spmd_body spmd__tree_body;

/* The block of a key. */
const spmd_block *spmd__key_block(struct key_block *place, spmd_key key);

#endif
