/* move.h - a move of a square matrix of doubles from one sharding to another, and the libraries and
 * calls that can do it as well as we. */
#ifndef MOVE_H
#define MOVE_H

#include "bench.h"

struct move {
    spmd_mesh *mesh;
    spmd_sharding *from, *to;
    spmd_shape shape;
    int ranks;
    spmd_box from_box, to_box; /* of this rank */
    /* What we move. */
    spmd_reshard_call *plan;
    spmd_array *source, *target;
    /* What the rivals move: the same blocks in memory of malloc, which has been written to. */
    double *source_block, *target_block;
};

/* Collective; the mesh has all ranks. */
void bench_move_begin(struct move *move, const char *mesh, const char *from, const char *to,
                      int64_t n);
void bench_move_end(struct move *move);

/* Writes the source's elements into the rivals' source block. */
void bench_move_fill(const struct move *move);

/* Writes what no move brings into the rivals' target block. */
void bench_move_spoil(const struct move *move);

/* Collective. Ends the program if the rivals' target block differs from what we moved;
 * `transposed`: it lies column by column. */
void bench_move_check(const struct move *move, const char *rival, bool transposed);

/* Boxes of another rank before and after the move. */
spmd_box bench_move_from(const struct move *move, int rank);
spmd_box bench_move_to(const struct move *move, int rank);

int64_t bench_move_bytes(const spmd_box *box);

/* Local. The yardstick: copies as many bytes as this rank gets, from the source block to the target
 * block. The state is a move. */
void bench_move_memcpy(void *state);

/* A way to move source_block to target_block. */
struct rival {
    const char *name;
    const char *missing;                     /* the library that is not there, else NULL */
    void *(*begin)(const struct move *move); /* NULL: it has no such move */
    void (*run)(void *state);
    void (*end)(void *state);
    bool transposed; /* it leaves the target column by column */
};

extern const struct rival bench_alltoallv, bench_alltoallw;
extern const struct rival bench_scalapack;
extern const struct rival bench_fftw, bench_fftw_transposed;

#endif
