/* memory.c - how the cores reach the memory at this moment.
 *
 * Virtual cores are moved about. Now they share one way to the memory, and together write hardly
 * faster than one alone ("near": a cache line also goes quickly between them); now each has a way
 * of its own ("far"). Ratios differ between the two, so measures of large memory say which it was.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "bench.h"

enum { FILL_BYTES = 64 << 20, ATTEMPTS = 5 };

/* Writes past the caches where that is known how. */
static void fill(char *memory)
{
#ifdef __SSE2__
    __m128i value = _mm_set1_epi8(1);
    for (size_t at = 0; at < FILL_BYTES; at += sizeof value)
        _mm_stream_si128((__m128i *)(void *)(memory + at), value);
    _mm_sfence();
#else
    memset(memory, 1, FILL_BYTES);
#endif
}

/* A barrier that leaves the cores to those who are still at work. */
static void rest(void)
{
    static const struct timespec nap = {.tv_nsec = 200000};
    MPI_Request request;
    int over = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &over, MPI_STATUS_IGNORE), !over)
        nanosleep(&nap, NULL);
}

/* Seconds until all ranks have filled their memory. */
static double time_all(char *memory)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    fill(memory);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - start;
}

/* Seconds of rank 0 while the others rest; elsewhere 0. */
static double time_one(char *memory, int rank)
{
    double seconds = 0;
    if (rank == 0) {
        double start = MPI_Wtime();
        fill(memory);
        seconds = MPI_Wtime() - start;
    }
    rest();
    return seconds;
}

void bench_print_memory(void)
{
    int rank, ranks;
    double all = 1e9, one = 1e9;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *memory = bench_allocate(FILL_BYTES, 1);
    for (int i = 0; i < ATTEMPTS; i++) {
        double seconds = time_all(memory);
        all = seconds < all ? seconds : all;
        seconds = time_one(memory, rank);
        one = seconds < one ? seconds : one;
    }
    free(memory);
    double speedup = ranks * one / all;
    bench_note("memory: %d ranks write %.1f GB/s, one %.1f (%s)", ranks,
               ranks * FILL_BYTES / all / 1e9, FILL_BYTES / one / 1e9,
               ranks == 1      ? "alone"
               : speedup < 0.8 ? "others are at work"
               : speedup < 1.5 ? "near"
                               : "far");
}
