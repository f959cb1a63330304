/* map/shard_map.h - a planned shard_map, and the two ends of its run: inputs and outputs. */
#ifndef MAP_SHARD_MAP_H
#define MAP_SHARD_MAP_H

#include "array/array.h"
#include "map/ctx.h"

struct input {
    spmd_sharding *wanted; /* by its in_spec */
    spmd_sharding *seen;   /* held: the sharding that was last found to be the wanted one */
    spmd_array *moved;     /* held during a run: the array that was resharded for it */
};

struct result {
    spmd_sharding *sharding; /* by its out_spec */
    spmd_dtype dtype;        /* fixed by the first run */
    spmd_shape shape;
    spmd_array *given; /* during a run: an array whose memory the output may use; not held */
    bool in_place;     /* during a run: it does */
    spmd_array *array; /* during a run: what the caller will get */
};

struct spmd_shard_map_call {
    spmd_mesh *mesh; /* held */
    spmd_body *body;
    int nin, nout;
    struct input *input;               /* [nin] */
    struct result *result;             /* [nout] */
    const spmd_block **in;             /* [nin] during a run, for the ctx */
    const spmd_sharding **in_sharding; /* [nin] the wanted ones, for the ctx */
    struct output *out;                /* [nout] during a run, for the ctx */
    struct arena arena;                /* the body's scratch memory, kept from run to run */
    spmd_request *spare;               /* the body's requests, kept as well */
    spmd_replication replication;
    bool agree;
    bool settled; /* a first run has fixed the output types */
    bool running; /* its body must not run it again */
};

/* Local. What can be said of the inputs before anything moves; and what must be alike. */
spmd_status spmd__inputs_check(const spmd_shard_map_call *plan, spmd_array *const in[]);
uint64_t spmd__inputs_digest(const spmd_shard_map_call *plan, spmd_array *const in[]);

/* Collective where something has to move: brings the inputs to where their in_specs say. */
spmd_status spmd__inputs_place(spmd_shard_map_call *plan, spmd_array *const in[]);

/* Local. Lets go of what was moved. */
void spmd__inputs_drop(spmd_shard_map_call *plan);

/* Local. Before the body: which of the arrays given in `out` lend their memory. */
void spmd__outputs_begin(spmd_shard_map_call *plan, spmd_array *const in[], spmd_array *out[]);

/* The kind's way to find memory for an output: the given array's if it fits, else fresh. */
spmd_status spmd__outputs_declare(spmd_ctx *ctx, int index);

/* Local. Of the declared outputs, what must be alike on all ranks. */
uint64_t spmd__outputs_digest(const spmd_shard_map_call *plan);

/* Collective. The global type of each output, from the blocks of all ranks. */
spmd_status spmd__outputs_fix(spmd_shard_map_call *plan);

/* Local. Whether the blocks of a later run are as the first run's. */
spmd_status spmd__outputs_check(const spmd_shard_map_call *plan);

/* Collective. Whether blocks that are promised equal are. */
spmd_status spmd__outputs_compare(const spmd_shard_map_call *plan);

/* Local. Tells each block its place in the global array, and finds the array that will own it. Then
 * hands them to the caller, which cannot fail; or drops what a failed run leaves. */
spmd_status spmd__outputs_prepare(spmd_shard_map_call *plan);
void spmd__outputs_commit(spmd_shard_map_call *plan, spmd_array *out[]);
void spmd__outputs_drop(spmd_shard_map_call *plan);

#endif
