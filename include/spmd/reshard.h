/* spmd/reshard.h - the same array under another sharding, planned once and run many times.
 *
 *     spmd_reshard_call *plan;
 *     SPMD_TRY(spmd_reshard_plan(rows, columns, SPMD_F64, SPMD_SHAPE(8192, 8192), &plan));
 *     for (...)
 *         SPMD_TRY(spmd_reshard_run(plan, 1, &a, &b));
 *     spmd_reshard_free(&plan);
 *
 * A single reshard is spmd_reshard (spmd/array.h): a plan and one run. Who sends what to whom is
 * arithmetic; no element is received twice, nor by a rank that has it. A rank reads what it needs
 * from the blocks of its node where they lie, and gets the rest by messages; or by a collective of
 * MPI, among ranks of several nodes that have many small parts for each other. */
#ifndef SPMD_RESHARD_H
#define SPMD_RESHARD_H

#include <stdio.h>

#include <spmd/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct spmd_reshard_call spmd_reshard_call;

/* Collective over both meshes; local if both are abstract: such a plan tells what a run would do,
 * and cannot run. Plans the way of arrays of this type and shape from one sharding to another, of
 * the same mesh or of any other one (see spmd_reshard_to). Memory that a run needs besides source
 * and target: at most two short messages' worth for each peer on other nodes; for a collective of
 * MPI, once more what moves; where contributions are added up, the source once more unless its
 * parts lie in order, and the sums if they move on. */
spmd_status spmd_reshard_plan(const spmd_sharding *from, const spmd_sharding *to, spmd_dtype dtype,
                              spmd_shape shape, spmd_reshard_call **plan);

/* Collective over both meshes; hot: it agrees on nothing, and trusts that all ranks pass arrays of
 * the plan's type that lie as its `from` says. With SPMD_CHECK=1 it agrees first: a wrong array on
 * one rank is an error on all.
 *
 *   in   [count] arrays
 *   out  [count] each NULL, or an array that is replaced: its memory is used again if its type fits
 *        and nobody else holds it. It may be its own input (`in` and `out` may be one list), which
 *        is given up as in spmd_reshard_donate, but no other input or output.
 *
 * Where nothing has to move, out is the array itself, held once more. Fails with SPMD_ERR_SHAPE,
 * SPMD_ERR_DTYPE, SPMD_ERR_SPEC for an array that is not as planned, with SPMD_ERR_ARGUMENT, and
 * where it agrees with SPMD_ERR_DISAGREE. A rank without memory for its block ends the program, by
 * MPI_Abort. */
spmd_status spmd_reshard_run(spmd_reshard_call *plan, int count, spmd_array *const in[],
                             spmd_array *out[]);

/* What one rank has to do with a run. */
typedef struct spmd_reshard_bytes {
    int64_t kept;     /* bytes of the target that were there */
    int64_t received; /* from other ranks */
    int64_t sent;
    int64_t peak; /* of memory: source, target, and what lies between */
} spmd_reshard_bytes;

/* The rank that asks. Its numbers come from the plan's own lists of what is moved, those of others
 * from arithmetic. */
#define SPMD_SELF (-1)

/* Local. Counts what the rank at a position has to do: of the mesh that the plan leads from; behind
 * the last of these stand the ranks that only the other mesh has, in its order. (A position of two
 * abstract meshes is the same rank on both.) Where contributions are added up, an all-reduce counts
 * as a reduce-scatter and an all-gather. The memory of others is told as if messages went. Cost:
 * O(peers). Fails with SPMD_ERR_ARGUMENT for a position that there is not, SPMD_SELF of an abstract
 * mesh among them, or SPMD_ERR_SHAPE for more than 2^63 - 1 bytes. */
spmd_status spmd_reshard_count(const spmd_reshard_call *plan, int64_t position,
                               spmd_reshard_bytes *bytes);

/* Local. Prints the plan in 80 columns: its steps, what the rank at `position` and what all ranks
 * keep, receive and send in each, from and to how many others, the memory that it takes, and for
 * SPMD_SELF by which way values came in the last run (of what is added up this is not kept). Fails
 * as spmd_reshard_count, or with SPMD_ERR_FILE if the stream does. */
spmd_status spmd_reshard_explain(const spmd_reshard_call *plan, int64_t position, FILE *stream);

/* Local. The same as one JSON object; spmd(1) describes it. */
spmd_status spmd_reshard_explain_json(const spmd_reshard_call *plan, int64_t position,
                                      FILE *stream);

/* Local. Frees the plan and sets it NULL; NULL is accepted. */
void spmd_reshard_free(spmd_reshard_call **plan);

#ifdef __cplusplus
}
#endif

#endif
