/* map/ctx.h - the insides of what a body sees of its call. See spmd/map.h. */
#ifndef MAP_CTX_H
#define MAP_CTX_H

#include <spmd/map.h>

#include "core/axes.h"
#include "core/error.h"

/* An output: not there until the body declares it. */
struct output {
    spmd_block block; /* what the body writes */
    bool declared;
};

/* Scratch memory of a body. */
struct temp {
    struct temp *next;
    spmd_block block;
};

/* The kind of call that a body runs in: shard_map, or vmap. */
struct call_kind {
    const char *name;
    /* Finds memory for output `index`, whose block has type and shape already. */
    spmd_status (*declare)(spmd_ctx *ctx, int index);
};

struct spmd_ctx {
    const struct call_kind *kind;
    void *call; /* the kind's own state */
    spmd_mesh *mesh;
    int64_t instance; /* of a vmap; -1 in a shard_map */
    int nin;
    const spmd_block *const *in;             /* [nin] */
    const spmd_sharding *const *in_sharding; /* [nin] of a shard_map's inputs; NULL in a vmap */
    int nout;
    struct output *out; /* [nout] */
    struct temp *temps;
    spmd_status status; /* the first failure of spmd_in, spmd_out or spmd_temp */
    char message[ERROR_MESSAGE_BYTES];
};

/* Runs a body, and gives its failure or that of the ctx's own calls; frees the temporaries. */
spmd_status spmd__ctx_run(spmd_ctx *ctx, spmd_body *body, void *user);

/* The group along `axes` of a body's mesh. */
struct group;
spmd_status spmd__ctx_group(spmd_ctx *ctx, const char *axes, struct group **group);

#endif
