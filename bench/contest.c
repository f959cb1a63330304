/* contest.c - timing us and a rival side by side, and the line that tells of it. */
#include "contest.h"

#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

static int rank_of_world(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static double paused_at, paused; /* seconds: when, and how long in this batch */

void contest_pause(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    paused_at = MPI_Wtime();
}

void contest_resume(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    paused += MPI_Wtime() - paused_at;
}

/* Seconds of one run, from `calls` runs between two barriers; the same on all ranks. */
static double time_batch(const struct contender *contender, int calls)
{
    MPI_Barrier(MPI_COMM_WORLD);
    paused = 0;
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        contender->run(contender->state);
    MPI_Barrier(MPI_COMM_WORLD);
    double each = (MPI_Wtime() - start - paused) / calls;
    MPI_Bcast(&each, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return each;
}

/* How many runs fill a batch. */
static int calls_for(const struct contender *contender, double seconds)
{
    int calls = 1;
    while (calls < 1 << 20 && time_batch(contender, calls) * calls < seconds)
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

struct contest_times contest_time(struct contest_effort effort, struct contender ours,
                                  struct contender rival)
{
    double our_times[CONTEST_MOST], rival_times[CONTEST_MOST];
    int our_calls = calls_for(&ours, effort.seconds);
    int rival_calls = calls_for(&rival, effort.seconds);
    for (int i = 0; i < effort.repetitions; i++) {
        our_times[i] = time_batch(&ours, our_calls);
        rival_times[i] = time_batch(&rival, rival_calls);
    }
    return (struct contest_times){median(our_times, effort.repetitions),
                                  median(rival_times, effort.repetitions)};
}

void contest_print_header(void)
{
    if (rank_of_world() == 0)
        printf("measure,ranks,bytes,ours_s,rival,rival_s,ratio\n");
}

void contest_print(const char *measure, int64_t bytes, const char *rival,
                   struct contest_times times)
{
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank_of_world() == 0)
        printf("%s,%d,%lld,%.3e,%s,%.3e,%.3g\n", measure, ranks, (long long)bytes, times.ours,
               rival, times.rival, times.rival / times.ours);
    fflush(stdout);
}
