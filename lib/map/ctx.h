/* map/ctx.h - the insides of what a body sees of its call. See spmd/map.h. */
#ifndef MAP_CTX_H
#define MAP_CTX_H

#include <spmd/collective.h>

#include "core/arena.h"
#include "core/axes.h"
#include "core/error.h"
#include "map/argument.h"

/* An output: not there until the body declares it. */
struct output {
    spmd_block block;  /* what the body writes */
    spmd_array *array; /* held: the one that spmd_out_array gave, whose block it is */
    bool declared;
    bool unset; /* the body writes all of it: its memory need not be zero */
};

/* A temporary of a body; it stands in the arena, before its data. */
struct temp {
    struct temp *next;
    spmd_block block;
};

/* The kind of call that a body runs in: shard_map, or vmap. */
struct call_kind {
    const char *name;
    /* Finds memory for output `index`, whose block has type and shape already: zero, unless the
     * output is `unset`. */
    spmd_status (*declare)(spmd_ctx *ctx, int index);
    /* Input `index` as an array on ctx->mesh, borrowed; takes an array there as output `index`.
     * Both NULL where bodies have blocks alone. */
    spmd_status (*in_array)(spmd_ctx *ctx, int index, spmd_array **array);
    spmd_status (*out_array)(spmd_ctx *ctx, int index, spmd_array *array);
};

struct spmd_ctx {
    const struct call_kind *kind;
    void *call;       /* the kind's own state */
    spmd_mesh *mesh;  /* what spmd_ctx_mesh gives */
    spmd_mesh *scope; /* whose axes collectives name: the mesh, or the root that it is a view of */
    uint32_t bound;   /* those of scope that they may name, as bits */
    spmd_ctx *outer;  /* the body around a vmap; NULL: there is none */
    int64_t instance; /* of a vmap; -1 in a shard_map */
    int nin;
    const spmd_block *const *in;             /* [nin] */
    const spmd_sharding *const *in_sharding; /* [nin] of a shard_map's inputs; NULL in a vmap */
    const struct names *names;               /* what messages call these; or NULL */
    int nout;
    struct output *out;  /* [nout] */
    struct arena *arena; /* of temporaries, and of the scratch memory of collectives */
    struct temp *temps;
    struct tree_view *tree;      /* of a call over trees; else NULL */
    spmd_request *open;          /* begun and not waited for, in the order of their starts */
    spmd_request **spare;        /* of a shard_map: ended ones, to use again; NULL in a vmap */
    struct kept_failure failure; /* the first one of spmd_in, spmd_out or spmd_temp */
};

/* Runs a body, and gives its failure or that of the ctx's own calls; frees the temporaries. */
spmd_status spmd__ctx_run(spmd_ctx *ctx, spmd_body *body, void *user);

/* Keeps the first failure for the end of the call, and tells it at once: the NULL that the body
 * gets, and that this gives, may crash it before. */
void *spmd__ctx_report(spmd_ctx *ctx, spmd_status status);

/* Local. The group along `axes` of a body's mesh; the same from axes of its scope. */
struct group;
spmd_status spmd__ctx_group(const spmd_ctx *ctx, const char *axes, struct group **group);
spmd_status spmd__ctx_group_along(const spmd_ctx *ctx, const struct axis_list *axes,
                                  struct group **group);

#endif
