/* map/shard_map.h - a planned shard_map, and the two ends of its run: inputs and outputs. */
#ifndef MAP_SHARD_MAP_H
#define MAP_SHARD_MAP_H

#include "array/array.h"
#include "map/ctx.h"

/* In a shard_map over some axes only, arrays lie along the other axes as they do: an input's specs
 * name the manual axes of each dimension, and what the array has of the others follows. */
struct input {
    spmd_sharding *named;  /* by its in_spec */
    spmd_sharding *wanted; /* how the body gets it: the same, and what follows */
    spmd_sharding *seen;   /* held: the sharding that was last found to be the wanted one */
    spmd_array *moved;     /* held during a run: the array that was resharded for it */
    spmd_array *array;     /* during a run: what the body sees; NULL: none */
    spmd_array *inner;     /* held during a run: the same on the view, if the body asked for it */
};

struct result {
    spmd_sharding *named;    /* by its out_spec */
    spmd_sharding *sharding; /* of the output: the same, and what follows */
    spmd_sharding *seen;     /* held: of the array on the view that this was made from; or NULL */
    spmd_shape shape;        /* fixed by the first run: global, and this rank's block of it */
    spmd_block placed;
    spmd_array *given; /* during a run: an array whose memory the output may use; not held */
    bool in_place;     /* during a run: it does */
    spmd_array *array; /* during a run: what the caller will get */
};

struct spmd_shard_map_call {
    spmd_mesh *mesh; /* held */
    spmd_body *body;
    uint32_t manual;         /* the axes that the body runs over, as bits */
    struct axis_list others; /* the other ones, in their order */
    spmd_mesh *inner;        /* the view along these; the mesh where there are none */
    struct names names;
    int nin, nout;
    struct input *input;               /* [nin] */
    struct result *result;             /* [nout] */
    const spmd_block **in;             /* [nin] during a run, for the ctx */
    const spmd_sharding **in_sharding; /* [nin] the wanted ones, for the ctx */
    struct output *out;                /* [nout] during a run, for the ctx */
    uint64_t *sums;                    /* [nout * SPMD_MAX_DIMS + 1] what ranks add up */
    struct arena arena;                /* the body's scratch memory, kept from run to run */
    spmd_request *spare;               /* the body's requests, kept as well */
    spmd_replication replication;
    bool agree;
    bool strict;
    bool settled; /* a first run has fixed the output types */
    bool running; /* its body must not run it again */
    bool freed;   /* by its body: it goes at the end of the run */
};

/* Local. A plan that has not been agreed on; what must be alike of it; its end. */
spmd_status spmd__shard_map_draft(spmd_mesh *mesh, spmd_body *body, int nin,
                                  const char *const in_specs[], int nout,
                                  const char *const out_specs[],
                                  const spmd_shard_map_options *options, const struct names *names,
                                  spmd_shard_map_call **call);
uint64_t spmd__shard_map_digest(const spmd_shard_map_call *call);

/* Collective over the mesh: spmd_shard_map_plan of a call whose messages name arguments so. The
 * trees stay as long as the plan; NULL: they have numbers. */
spmd_status spmd__shard_map_plan_named(spmd_mesh *mesh, spmd_body *body, int nin,
                                       const char *const in_specs[], int nout,
                                       const char *const out_specs[],
                                       const spmd_shard_map_options *options,
                                       const struct names *names, spmd_shard_map_call **call);

/* Collective over the mesh, where the body runs over some axes: makes the view of the others. */
spmd_status spmd__shard_map_open(spmd_shard_map_call *call);

/* Local. What can be said of the inputs before anything moves; and what must be alike. */
spmd_status spmd__inputs_check(spmd_shard_map_call *call, spmd_array *const in[]);
uint64_t spmd__inputs_digest(const spmd_shard_map_call *call, spmd_array *const in[]);

/* Collective where something has to move: brings the inputs to where the body wants them. */
spmd_status spmd__inputs_place(spmd_shard_map_call *call, spmd_array *const in[]);

/* Local. Says once, from position 0, where the second input `index` like this one is resharded at
 * the same place of the program. */
void spmd__inputs_note(const spmd_shard_map_call *call, const spmd_array *array, int index);

/* Local. Input `index` on the view. */
spmd_status spmd__inputs_inner(spmd_ctx *ctx, int index, spmd_array **array);

/* Local. Lets go of what was moved, and of what was made for the body. */
void spmd__inputs_drop(spmd_shard_map_call *call);

/* Local. Before the body: which of the arrays given in `out` lend their memory. */
void spmd__outputs_begin(spmd_shard_map_call *call, spmd_array *const in[], spmd_array *out[]);

/* Local. In the body: finds memory for an output, the given array's if it fits, else fresh; or
 * takes an array on the view for it. */
spmd_status spmd__outputs_declare(spmd_ctx *ctx, int index);
spmd_status spmd__outputs_take(spmd_ctx *ctx, int index, spmd_array *array);

/* Local. In the body, before output `index` is declared for the first time: another spec for it. */
spmd_status spmd__outputs_name(spmd_shard_map_call *call, int index, const char *spec);

/* Local. Of the declared outputs, what must be alike on all ranks. */
uint64_t spmd__outputs_digest(const spmd_shard_map_call *call);

/* Collective. One reduction: fixes global types, if none are yet, and if `compare` tells whether
 * blocks differ that are promised equal. */
spmd_status spmd__outputs_sum(spmd_shard_map_call *call, bool compare, bool *differ);

/* Collective. Fails where blocks differ that are promised equal. */
spmd_status spmd__outputs_explain(const spmd_shard_map_call *call);

/* Local. Whether the blocks fit the types that are fixed; then finds the arrays that will own
 * them. */
spmd_status spmd__outputs_prepare(spmd_shard_map_call *call);

/* Local; cannot fail. Hands the outputs to the caller; or drops what a failed run leaves. */
void spmd__outputs_commit(spmd_shard_map_call *call, spmd_array *out[]);
void spmd__outputs_drop(spmd_shard_map_call *call);

#endif
