/* bench.h - how a benchmark runs us and a rival side by side, and prints the ratio. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>

#include <mpi.h>
#include <spmd.h>

/* Something to time: `run` does it once, collectively. */
struct contender {
    const char *name;
    void (*run)(void *state);
    void *state;
};

/* Reads the arguments (--quick: fewer repetitions; --once: to see that it works), prints the header
 * line on rank 0. */
void bench_begin(int argc, char **argv);

/* Whether one of them was given: large problems are smaller then. */
bool bench_is_short(void);

/* Collective. Runs both in turn, many times, and prints the line
 * measure,ranks,bytes,ours_s,rival,rival_s,ratio
 * on rank 0. The times are medians over the repetitions, each the mean of a batch of runs between
 * two barriers; the ratio is rival_s / ours_s, above 1 if ours is faster. */
void bench_compare(const char *measure, int64_t bytes, struct contender ours,
                   struct contender rival);

/* Ends the program, with its message, if a call of ours failed. */
void bench_check(spmd_status status);

#endif
