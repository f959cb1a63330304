/* rival_scalapack.c - the move by ScaLAPACK's pdgemr2d, which takes any block-cyclic distribution
 * to any other one.
 *
 * ScaLAPACK counts by columns: what we call a matrix by rows is its transpose there, so the columns
 * of blocks of a sharding are the rows of its process grid. With blocks as long as parts of the
 * sharding there is one block a process, and the local memory is the same. */
#include "move.h"

#define NAME "ScaLAPACK pdgemr2d"

#ifndef HAVE_SCALAPACK

const struct rival bench_scalapack = {.name = NAME,
                                      .missing = "ScaLAPACK (Debian: libscalapack-openmpi-dev)"};

#else

#include <stdlib.h>

/* Not declared by any header of it. */
int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridmap(int *context, const int *ranks, int leading, int rows, int columns);
void Cblacs_gridexit(int context);
void Cpdgemr2d(int rows, int columns, const double *from, int from_row, int from_column,
               const int *from_layout, double *to, int to_row, int to_column, const int *to_layout,
               int context);

/* A distributed matrix: type, context, extents, extents of a block, where the first block lies,
 * distance of columns in memory. */
enum { LAYOUT = 9, DENSE = 1 };

struct redistribution {
    const struct move *move;
    int system; /* handle of the communicator */
    int from[LAYOUT], to[LAYOUT];
};

/* Boxes of the same extents, which cut the matrix into a grid, each on one rank. */
static bool is_grid(const struct move *move, spmd_box (*box_of)(const struct move *, int))
{
    int64_t n = move->shape.dim[0], elements = 0;
    spmd_box first = box_of(move, 0);
    for (int r = 0; r < move->ranks; r++) {
        spmd_box box = box_of(move, r);
        elements += spmd_box_size(&box);
        for (int d = 0; d < 2; d++)
            if (box.hi[d] - box.lo[d] != first.hi[d] - first.lo[d])
                return false;
    }
    return elements == n * n;
}

static void begin_layout(const struct redistribution *state,
                         spmd_box (*box_of)(const struct move *, int), int layout[LAYOUT])
{
    const struct move *move = state->move;
    int n = (int)move->shape.dim[0], *grid = bench_allocate(move->ranks, sizeof *grid);
    spmd_box first = box_of(move, 0);
    int height = (int)(first.hi[0] - first.lo[0]), width = (int)(first.hi[1] - first.lo[1]);
    for (int r = 0; r < move->ranks; r++) {
        spmd_box box = box_of(move, r);
        grid[box.lo[1] / width + box.lo[0] / height * (n / width)] = r;
    }
    int context = state->system;
    Cblacs_gridmap(&context, grid, n / width, n / width, n / height);
    free(grid);
    const int described[LAYOUT] = {DENSE, context, n, n, width, height, 0, 0, width};
    for (int i = 0; i < LAYOUT; i++)
        layout[i] = described[i];
}

static void *begin(const struct move *move)
{
    if (!is_grid(move, bench_move_from) || !is_grid(move, bench_move_to))
        return NULL;
    struct redistribution *state = bench_allocate(1, sizeof *state);
    *state = (struct redistribution){.move = move, .system = Csys2blacs_handle(MPI_COMM_WORLD)};
    begin_layout(state, bench_move_from, state->from);
    begin_layout(state, bench_move_to, state->to);
    return state;
}

static void end(void *state)
{
    struct redistribution *redistribution = state;
    Cblacs_gridexit(redistribution->from[1]);
    Cblacs_gridexit(redistribution->to[1]);
    Cfree_blacs_system_handle(redistribution->system);
    free(redistribution);
}

static void run(void *state)
{
    const struct redistribution *redistribution = state;
    const struct move *move = redistribution->move;
    int n = (int)move->shape.dim[0];
    Cpdgemr2d(n, n, move->source_block, 1, 1, redistribution->from, move->target_block, 1, 1,
              redistribution->to, redistribution->from[1]);
}

const struct rival bench_scalapack = {.name = NAME, .begin = begin, .run = run, .end = end};

#endif
