/* rival_fftw.c - the move from rows to columns by the transpose of FFTW's MPI interface.
 *
 * FFTW goes from blocks of rows to blocks of columns, and leaves each column contiguous: the bytes
 * that go between ranks are ours, the order within a block is not. With FFTW_MPI_TRANSPOSED_OUT the
 * blocks stay in the order of rows, which is the very move. Both are measured: the first is less
 * work for the ranks' memory, as FFTW does it. */
#include "move.h"

#define NAME            "FFTW MPI transpose"
#define NAME_TRANSPOSED "FFTW MPI transpose; TRANSPOSED_OUT"

#ifndef HAVE_FFTW_MPI

#define MISSING "FFTW for MPI (Debian: libfftw3-mpi-dev and libfftw3-dev)"
const struct rival bench_fftw = {.name = NAME, .missing = MISSING};
const struct rival bench_fftw_transposed = {.name = NAME_TRANSPOSED, .missing = MISSING};

#else

#include <fftw3-mpi.h>

/* Whether rank r has the r-th of even ranges of dimension `dim`, and all of the other one. */
static bool is_cut_along(int dim, const struct move *move,
                         spmd_box (*box_of)(const struct move *, int))
{
    int64_t n = move->shape.dim[0], each = n / move->ranks;
    for (int r = 0; r < move->ranks; r++) {
        spmd_box box = box_of(move, r);
        if (n % move->ranks != 0 || box.lo[dim] != r * each || box.hi[dim] != (r + 1) * each ||
            spmd_box_size(&box) != n * each)
            return false;
    }
    return true;
}

/* Plans by trying where the measures are to count. That writes to both blocks. */
static void *plan(const struct move *move, unsigned flags)
{
    if (!is_cut_along(0, move, bench_move_from) || !is_cut_along(1, move, bench_move_to))
        return NULL;
    fftw_mpi_init();
    flags |= bench_is_short() ? FFTW_ESTIMATE : FFTW_MEASURE;
    fftw_plan made =
        fftw_mpi_plan_transpose(move->shape.dim[0], move->shape.dim[1], move->source_block,
                                move->target_block, MPI_COMM_WORLD, flags);
    if (!made)
        bench_check(spmd_fail(SPMD_ERR_BODY, "FFTW has no plan for a transpose"));
    bench_move_fill(move);
    return made;
}

static void *begin(const struct move *move)
{
    return plan(move, 0);
}

static void *begin_transposed(const struct move *move)
{
    return plan(move, FFTW_MPI_TRANSPOSED_OUT);
}

static void run(void *state)
{
    fftw_execute(state);
}

static void end(void *state)
{
    fftw_destroy_plan(state);
    fftw_mpi_cleanup();
}

const struct rival bench_fftw = {
    .name = NAME, .begin = begin, .run = run, .end = end, .transposed = true};
const struct rival bench_fftw_transposed = {
    .name = NAME_TRANSPOSED, .begin = begin_transposed, .run = run, .end = end};

#endif
