/* spmd/map.h - run a C function on every rank's block, or over a batch dimension. */
#ifndef SPMD_MAP_H
#define SPMD_MAP_H

#include <stdio.h>

#include <spmd/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Strings, dimensions and arrays in a call: SPMD_SPECS("P(x)", "P()"). */
#define SPMD_SPECS(...)  ((const char *const[]){__VA_ARGS__})
#define SPMD_ARRAYS(...) ((spmd_array *const[]){__VA_ARGS__})
#define SPMD_BLOCKS(...) ((const spmd_block *const[]){__VA_ARGS__})
#define SPMD_AXES(...)   ((const int[]){__VA_ARGS__})

/* What a body sees of its call: its inputs, its outputs, the mesh. Valid during the body. */
typedef struct spmd_ctx spmd_ctx;

/* The code of a rank: reads spmd_in blocks, writes spmd_out blocks, talks by the collectives of
 * spmd/collective.h, loops and branches as it likes. A failure that it returns is the call's. */
typedef spmd_status spmd_body(spmd_ctx *ctx, void *user);

/* Local. Input `index`; NULL where the call passed none. Read only. An index out of range is
 * reported at once, fails the call, and gives NULL. */
const spmd_block *spmd_in(spmd_ctx *ctx, int index);

/* Local. Declares output `index` of the call and gives its block to write: dense, and zeroed, also
 * where it is the memory of an output that was given back. Asked again with the same type and
 * shape, the same block as the body left it. An index out of range, a second, other type, or no
 * memory is reported at once, fails the call, and gives NULL. */
spmd_block *spmd_out(spmd_ctx *ctx, int index, spmd_dtype dtype, spmd_shape shape);

/* Local. The same with what happens to stand in the memory, for bodies that write all of a large
 * output and have no time to have it zeroed first. */
spmd_block *spmd_out_unset(spmd_ctx *ctx, int index, spmd_dtype dtype, spmd_shape shape);

/* Local. A block of scratch memory (zeroed, dense), freed when the body returns; NULL without
 * memory, which fails the call. */
spmd_block *spmd_temp(spmd_ctx *ctx, spmd_dtype dtype, spmd_shape shape);

/* Local. The mesh that the body runs on; NULL in a vmap outside of shard_map. In a shard_map over
 * some axes only (the option `axes`) it is the mesh of the remaining axes around this rank: a
 * shard_map on it may stand in the body. */
spmd_mesh *spmd_ctx_mesh(const spmd_ctx *ctx);

/* Local. In a shard_map over some axes only: input `index` as an array on spmd_ctx_mesh: what is
 * this rank's along the axes of the shard_map, as it lies along the remaining ones. Its block is
 * the input's, not a copy, and read only. Borrowed (spmd_array_hold keeps it for longer); NULL
 * where the call passed none. In other bodies no axes remain: NULL, which fails the call, and
 * spmd_in is all there is. */
spmd_array *spmd_in_array(spmd_ctx *ctx, int index);

/* Local. In a shard_map over some axes only: makes `array`, which lies on spmd_ctx_mesh, output
 * `index`: its block, which is held and not copied, under a spec that names the out_spec's axes of
 * each dimension, followed by those along which the array lies. An output that is declared by
 * spmd_out instead has equal blocks along the remaining axes (checked). Fails with SPMD_ERR_MESH
 * for an array of another mesh, SPMD_ERR_SPEC if it lies otherwise than at the plan's first run,
 * and SPMD_ERR_ARGUMENT. */
spmd_status spmd_out_array(spmd_ctx *ctx, int index, spmd_array *array);

/* Collective over the mesh of the body: a look at every rank's `block` (an input, an output, a
 * temporary; NULL is told as such). Position 0 prints them to its `stream`, in order of position:
 *
 *     weights on (x=0, y=1) of x=2,y=2: f32[2,3] at 0:2, 3:6 of [4,6]
 *     [[ 3  4  5]
 *      [ 9 10 11]]
 *
 * with values as spmd_array_print has them; where a block's place in a global array is not known,
 * without one. `label` is each rank's own, and cut after 255 bytes. In a vmap it prints once for
 * each instance, whose number follows the mesh; ranks need equal numbers of instances. Local
 * without a mesh, or with ctx NULL. Fails with SPMD_ERR_ARGUMENT, SPMD_ERR_SHAPE, SPMD_ERR_DTYPE,
 * SPMD_ERR_MEMORY, SPMD_ERR_FILE; all ranks alike. */
spmd_status spmd_block_print(spmd_ctx *ctx, const char *label, const spmd_block *block,
                             FILE *stream);

/* Whether an axis that an out_spec does not name really holds equal blocks. JAX proves it from
 * the trace or refuses; here the data is compared: a hash of the block and one small reduction,
 * whatever the control flow. */
typedef enum spmd_replication {
    SPMD_REPLICATION_DEFAULT, /* SPMD_REPLICATION=always|first|never, else first */
    SPMD_REPLICATION_ALWAYS,  /* at every run */
    SPMD_REPLICATION_FIRST,   /* at the first run of a plan; a one-shot call has one run */
    SPMD_REPLICATION_NEVER    /* each rank's block is taken as it is */
} spmd_replication;

typedef struct spmd_shard_map_options {
    spmd_replication replication; /* JAX's check_rep, check_vma */
    bool agree; /* planned runs, too, end in an agreement: a failing body fails the call */
    /* The axes that the body is run over, "x" or "x,y"; NULL or "" for all of the mesh. The specs
     * name these alone, and so do the body's collectives. Along the remaining axes arrays lie as
     * they do, and nothing moves (JAX's axis_names): see spmd_in_array. In the body of another
     * shard_map, on its spmd_ctx_mesh, collectives may name the axes of both. */
    const char *axes;
    bool strict; /* inputs that do not lie as their in_spec says are refused, not resharded */
} spmd_shard_map_options;

/* Collective over the mesh. Runs `body` on every rank over its blocks.
 *
 *   in       [nin] arrays of this mesh, or NULL for "none". Those that do not lie as their
 *            in_spec says are resharded first. Where that happens to the same input again, at the
 *            same place of the program, position 0 says so once, with the bytes that move.
 *   in_specs [nin], out_specs [nout] texts of specs
 *   out      [nout] each NULL (so initialise it), or an array that is replaced: its memory is
 *            used again if its type fits and nobody else holds it. Unchanged if the call fails
 *            early; undefined content if the body fails.
 *   options  NULL for the defaults
 *
 * The global shape of an output follows from the blocks: each dimension is the sum over the
 * parts that its out_spec splits it into. Fails as the body does (one rank's failure is
 * everybody's), with SPMD_ERR_SHAPE if the blocks are not laid as the layout's rule says,
 * SPMD_ERR_REPLICATION if replicas differ, SPMD_ERR_BODY for an output never declared. Where a
 * body fails on one rank while others wait for it in a collective, it prints its message and
 * after 5 s ends the run by MPI_Abort. */
spmd_status spmd_shard_map(spmd_mesh *mesh, spmd_body *body, void *user, int nin,
                           spmd_array *const in[], const char *const in_specs[], int nout,
                           spmd_array *out[], const char *const out_specs[],
                           const spmd_shard_map_options *options);

/* Collective over the mesh. The same in two steps: plan once (cold), run many times (hot: no text,
 * no allocation when inputs lie right and outputs are given back). Planning ends in an agreement;
 * so does the first run, which also fixes the output types. Later runs trust that all ranks act
 * alike: there, unless the option `agree` is set, a body that fails ends the program by MPI_Abort.
 * Both fail as spmd_shard_map does. */
typedef struct spmd_shard_map_call spmd_shard_map_call;
spmd_status spmd_shard_map_plan(spmd_mesh *mesh, spmd_body *body, int nin,
                                const char *const in_specs[], int nout,
                                const char *const out_specs[],
                                const spmd_shard_map_options *options, spmd_shard_map_call **plan);
spmd_status spmd_shard_map_run(spmd_shard_map_call *plan, void *user, spmd_array *const in[],
                               spmd_array *out[]);

/* Local. Frees the plan and sets it NULL; NULL is accepted. Arrays that it gave stay. A plan that
 * runs, which its body may free, goes when the run ends. */
void spmd_shard_map_free(spmd_shard_map_call **plan);

/* An input that vmap hands to every instance whole, or an output that all instances share. */
#define SPMD_NOT_MAPPED (-1000)

typedef struct spmd_vmap_options {
    int64_t axis_size; /* number of instances where no input is mapped; 0: from the inputs */
    /* A name for the batch dimension, which no axis around it has: collectives in fn take it as
     * they take axes of the mesh, and both together ("x,batch"), also those of vmaps further out.
     * Each instance then has a stack of its own and runs until all wait in the same collective;
     * where they do not call the same, all collectives fail with SPMD_ERR_DISAGREE. NULL: they run
     * one after the other. */
    const char *axis_name;
    size_t stack_bytes; /* of each instance of a named vmap, at least 64 KiB; 0: 1 MiB */
} spmd_vmap_options;

/* Local, but for what fn does. Runs `fn` once for each index of a batch dimension; fn sees blocks
 * without it (dense ones), and nobody writes the batch dimension by hand. In fn, spmd_in and
 * spmd_out are those of its own instance. From a body, row by row into the body's output:
 *
 *     spmd_block *y = spmd_out(ctx, 0, SPMD_F64, SPMD_SHAPE(x->shape[0]));
 *     return spmd_vmap(ctx, fn, NULL, 2, SPMD_BLOCKS(x, w), SPMD_AXES(0, SPMD_NOT_MAPPED),
 *                      1, &y, SPMD_AXES(0), NULL);
 *
 *   ctx      the enclosing body's, so that fn may use its mesh; NULL outside of a body
 *   in       [nin] blocks, or NULL for "none"
 *   in_axes  [nin] the dimension of each input that is mapped (negative from the end), or
 *            SPMD_NOT_MAPPED
 *   out      [nout] each a dense block to write, in other memory than the inputs, or NULL to have
 *            one made: a temporary of `ctx`; without a ctx the caller frees it by spmd_block_free
 *   out_axes [nout] where the batch dimension goes in each output, or SPMD_NOT_MAPPED for an
 *            output that must come out the same from every instance (checked)
 *
 * Collectives over axes of the mesh need as many instances on the other ranks of their group; where
 * that is known not to be so, they fail with SPMD_ERR_SHAPE.
 *
 * Fails with SPMD_ERR_ARGUMENT for axes out of range, SPMD_ERR_SHAPE if mapped sizes differ,
 * if instances declare different outputs or a given block does not fit, SPMD_ERR_MESH for a name
 * that is taken, and as fn does ("instance 3: ..."). With no instance at all, outputs must be
 * given. */
spmd_status spmd_vmap(spmd_ctx *ctx, spmd_body *fn, void *user, int nin,
                      const spmd_block *const in[], const int in_axes[], int nout,
                      spmd_block *out[], const int out_axes[], const spmd_vmap_options *options);

/* Local. Frees a block that spmd_vmap made without a ctx; sets it NULL. */
void spmd_block_free(spmd_block **block);

/* Collective over the mesh. A shard_map in the older form: each array has one slice for each rank
 * along `axes` ("x"; of "x,y" the product), along the dimension that in_axes and out_axes say
 * (negative from the end; SPMD_NOT_MAPPED: every rank gets, or gives, the same). The body's
 * blocks are without that dimension. On a mesh with more axes it is a shard_map over some axes
 * only, so another pmap on spmd_ctx_mesh(ctx), of spmd_in_array(ctx, k), may stand in the body.
 * Fails as spmd_shard_map does, with SPMD_ERR_SHAPE where an extent is not the number of ranks,
 * with SPMD_ERR_SPEC where other axes split a mapped dimension, and with SPMD_ERR_ARGUMENT if no
 * input is mapped. The option `axes` is not for it. */
spmd_status spmd_pmap(spmd_mesh *mesh, const char *axes, spmd_body *body, void *user, int nin,
                      spmd_array *const in[], const int in_axes[], int nout, spmd_array *out[],
                      const int out_axes[], const spmd_shard_map_options *options);

#ifdef __cplusplus
}
#endif

#endif
