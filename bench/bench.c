/* bench.c - how a benchmark runs us and a rival side by side, and prints the ratio. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* How much of it. */
static const struct effort {
    const char *option;
    int repetitions;
    double batch_seconds; /* a repetition runs a contender about so long */
} efforts[] = {{NULL, 31, 20e-3}, {"--quick", 11, 5e-3}, {"--once", 1, 0}};
enum { EFFORTS = sizeof efforts / sizeof *efforts, MOST_REPETITIONS = 31 };

static struct effort effort;

void bench_check(spmd_status status)
{
    if (status == SPMD_OK)
        return;
    fprintf(stderr, "bench: %s\n", spmd_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int rank_of_world(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

void bench_begin(int argc, char **argv)
{
    int chosen = 0;
    for (int e = 1; argc == 2 && e < EFFORTS; e++)
        if (strcmp(argv[1], efforts[e].option) == 0)
            chosen = e;
    if (argc > 1 && chosen == 0) {
        if (rank_of_world() == 0)
            fprintf(stderr, "use: %s [--quick | --once]\n", argv[0]);
        MPI_Finalize();
        exit(2);
    }
    effort = efforts[chosen];
    if (rank_of_world() == 0)
        printf("measure,ranks,bytes,ours_s,rival,rival_s,ratio\n");
}

bool bench_is_short(void)
{
    return effort.option != NULL;
}

/* Seconds of one run, from `calls` runs between two barriers; the same on all ranks. */
static double time_batch(const struct contender *contender, int calls)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        contender->run(contender->state);
    MPI_Barrier(MPI_COMM_WORLD);
    double each = (MPI_Wtime() - start) / calls;
    MPI_Bcast(&each, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return each;
}

/* How many runs fill a batch. */
static int calls_for(const struct contender *contender)
{
    int calls = 1;
    while (calls < 1 << 20 && time_batch(contender, calls) * calls < effort.batch_seconds)
        calls *= 2;
    return calls;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double values[], int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

void bench_compare(const char *measure, int64_t bytes, struct contender ours,
                   struct contender rival)
{
    double our_times[MOST_REPETITIONS], rival_times[MOST_REPETITIONS];
    int our_calls = calls_for(&ours), rival_calls = calls_for(&rival), ranks;
    for (int i = 0; i < effort.repetitions; i++) {
        our_times[i] = time_batch(&ours, our_calls);
        rival_times[i] = time_batch(&rival, rival_calls);
    }
    double our_time = median(our_times, effort.repetitions);
    double rival_time = median(rival_times, effort.repetitions);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank_of_world() == 0)
        printf("%s,%d,%lld,%.3e,%s,%.3e,%.3g\n", measure, ranks, (long long)bytes, our_time,
               rival.name, rival_time, rival_time / our_time);
    fflush(stdout);
}
