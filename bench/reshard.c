/* reshard.c - moves of a square matrix of doubles from one sharding to another, against memcpy of
 * what each rank gets; packing by hand around MPI_Alltoallv; MPI_Alltoallw with subarray types;
 * and, where configure has found them, ScaLAPACK's pdgemr2d and FFTW's transpose, for the moves
 * that these have. Each rival's result is compared with ours before it is timed.
 *
 *     mpirun -n N bench/reshard [--quick | --once]
 *
 * The rivals' memory is warm. What they allocate inside is not, unless large pages make that cheap:
 * GLIBC_TUNABLES=glibc.malloc.hugetlb=1 gives them these, and the output says whether it was set.
 */
#include <string.h>

#include "move.h"

static const struct rival *const rivals[] = {
    &bench_alltoallv, &bench_alltoallw, &bench_scalapack, &bench_fftw, &bench_fftw_transposed,
};
enum { RIVALS = sizeof rivals / sizeof *rivals };

static void run_ours(void *state)
{
    struct move *move = state;
    bench_check(spmd_reshard_run(move->plan, 1, &move->source, &move->target));
}

/* The result is a new array each time. */
static void run_fresh(void *state)
{
    struct move *move = state;
    spmd_array_free(&move->target);
    run_ours(state);
}

static void compare_rival(const char *measure, struct move *move, const struct rival *rival)
{
    void *state = rival->missing ? NULL : rival->begin(move);
    if (!state)
        return;
    bench_move_spoil(move);
    rival->run(state);
    bench_move_check(move, rival->name, rival->transposed);
    bench_compare(measure, bench_move_bytes(&move->to_box) * move->ranks,
                  (struct contender){"ours", run_ours, move},
                  (struct contender){rival->name, rival->run, state});
    rival->end(state);
}

static void compare_memcpy(const char *measure, struct move *move, void (*ours)(void *state))
{
    bench_compare(measure, bench_move_bytes(&move->to_box) * move->ranks,
                  (struct contender){"ours", ours, move},
                  (struct contender){"memcpy", bench_move_memcpy, move});
}

/* A measure is one field of a line, which a comma would end. */
static void avoid_commas(char *text)
{
    for (; *text; text++)
        if (*text == ',')
            *text = ';';
}

static void compare(const char *mesh, const char *from, const char *to, int64_t n)
{
    struct move move;
    char measure[128], fresh[160];
    snprintf(measure, sizeof measure, "reshard %lldx%lld %s: %s to %s", (long long)n, (long long)n,
             mesh, from, to);
    avoid_commas(measure);
    snprintf(fresh, sizeof fresh, "%s; new array", measure);
    bench_move_begin(&move, mesh, from, to, n);
    bench_print_memory();
    compare_memcpy(measure, &move, run_ours);
    compare_memcpy(fresh, &move, run_fresh);
    bool moves = strcmp(from, to) != 0;
    for (int r = 0; r < RIVALS && moves; r++)
        compare_rival(measure, &move, rivals[r]);
    bench_move_end(&move);
}

/* Of all ranks in a line; and of an even number in two columns. */
static const struct pair {
    const char *from, *to;
} line_pairs[] = {{"P(x,-)", "P(-,x)"}, {"P(x,-)", "P(-,-)"}, {"P(x,-)", "P(x,-)"}},
  grid_pairs[] = {{"P((x,y),-)", "P(x,y)"},
                  {"P(-,(x,y))", "P(x,y)"},
                  {"P(x,y)", "P((x,y),-)"},
                  {"P(x,y)", "P(-,(x,y))"},
                  {"P(x,y)", "P(x,-)"}};

static void compare_all(const char *mesh, const struct pair pairs[], int count, int64_t n)
{
    for (int i = 0; i < count; i++)
        compare(mesh, pairs[i].from, pairs[i].to, n);
}

static void tell_missing(void)
{
    for (int r = 0; r < RIVALS; r++)
        if (rivals[r]->missing)
            bench_complain("no %s when this was built: without %s", rivals[r]->missing,
                           rivals[r]->name);
}

int main(int argc, char **argv)
{
    int ranks;
    MPI_Init(&argc, &argv);
    bench_begin(argc, argv);
    bench_print_malloc();
    tell_missing();
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t sizes[] = {256, bench_is_short() ? 2048 : 8192};
    for (int i = 0; i < 2; i++) {
        compare_all("x=*", line_pairs, sizeof line_pairs / sizeof *line_pairs, sizes[i]);
        if (ranks > 2 && ranks % 2 == 0)
            compare_all("x=*,y=2", grid_pairs, sizeof grid_pairs / sizeof *grid_pairs, sizes[i]);
    }
    MPI_Finalize();
    return 0;
}
