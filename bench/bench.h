/* bench.h - how a benchmark runs us and a rival side by side, and prints the ratio. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>

#include <mpi.h>
#include <spmd.h>
#include "contest.h"

/* Reads the arguments (--quick: fewer repetitions; --once: to see that it works), prints the header
 * line on rank 0. Of what comes after it, lines that begin with # are remarks. */
void bench_begin(int argc, char **argv);

/* Whether one of them was given: large problems are smaller then. */
bool bench_is_short(void);

/* At most so many repetitions from now on: for runs that take long. */
void bench_limit(int repetitions);

/* Collective. Times both, and prints the line of it (contest.h). */
void bench_compare(const char *measure, int64_t bytes, struct contender ours,
                   struct contender rival);

/* Prints a remark; a line on standard error. Both on rank 0. */
void bench_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void bench_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Collective. Remarks how fast the memory is written by all ranks at once and by one alone: far
 * where that is more than half as fast again, else near (bench/memory.c). */
void bench_print_memory(void);

/* Remarks whether malloc, from which the rivals have their memory, takes large pages; the user
 * sets it, by GLIBC_TUNABLES=glibc.malloc.hugetlb=1. */
void bench_print_malloc(void);

/* Memory that has been written to; without it the program ends. */
void *bench_allocate(int64_t count, size_t size);

/* Ends the program, with its message, if a call of ours failed. */
void bench_check(spmd_status status);

#endif
