/* bench.c - what the measures share: their arguments, and how they end. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* How much of it. */
static const struct {
    const char *option;
    struct contest_effort effort;
} efforts[] = {{NULL, {CONTEST_MOST, 20e-3}}, {"--quick", {11, 5e-3}}, {"--once", {1, 0}}};
enum { EFFORTS = sizeof efforts / sizeof *efforts };

static int chosen; /* of the efforts */
static int most = CONTEST_MOST;

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
    for (int e = 1; argc == 2 && e < EFFORTS; e++)
        if (strcmp(argv[1], efforts[e].option) == 0)
            chosen = e;
    if (argc > 1 && chosen == 0) {
        bench_complain("use: %s [--quick | --once]", argv[0]);
        MPI_Finalize();
        exit(2);
    }
    contest_print_header();
}

bool bench_is_short(void)
{
    return chosen > 0;
}

/* A line on rank 0. */
static void print_line(FILE *out, const char *before, const char *format, va_list arguments)
{
    if (rank_of_world() != 0)
        return;
    fputs(before, out);
    vfprintf(out, format, arguments);
    fputc('\n', out);
    fflush(out);
}

void bench_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line(stdout, "# ", format, arguments);
    va_end(arguments);
}

void bench_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line(stderr, "bench: ", format, arguments);
    va_end(arguments);
}

void bench_print_malloc(void)
{
    const char *tunables = getenv("GLIBC_TUNABLES");
    bool large = tunables && strstr(tunables, "glibc.malloc.hugetlb=") &&
                 !strstr(tunables, "glibc.malloc.hugetlb=0");
    bench_note("malloc: %s pages", large ? "large" : "small");
}

void *bench_allocate(int64_t count, size_t size)
{
    size_t bytes = (size_t)(count > 0 ? count : 1) * size;
    void *memory = malloc(bytes);
    if (!memory)
        bench_check(spmd_fail(SPMD_ERR_MEMORY, "no memory for the measures: %zu bytes", bytes));
    return memset(memory, 1, bytes);
}

void bench_limit(int repetitions)
{
    most = repetitions;
}

void bench_compare(const char *measure, int64_t bytes, struct contender ours,
                   struct contender rival)
{
    struct contest_effort effort = efforts[chosen].effort;
    if (effort.repetitions > most)
        effort.repetitions = most;
    contest_print(measure, bytes, rival.name, contest_time(effort, ours, rival));
}
