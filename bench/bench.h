/* bench.h - how a benchmark runs us and a rival side by side, and prints the ratio. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>

#include <mpi.h>
#include <spmd.h>
#include "contest.h"

/* Reads the arguments (--quick: fewer repetitions; --once: to see that it works), prints the header
 * line on rank 0. */
void bench_begin(int argc, char **argv);

/* Whether one of them was given: large problems are smaller then. */
bool bench_is_short(void);

/* Collective. Times both, and prints the line of it (contest.h). */
void bench_compare(const char *measure, int64_t bytes, struct contender ours,
                   struct contender rival);

/* Ends the program, with its message, if a call of ours failed. */
void bench_check(spmd_status status);

#endif
