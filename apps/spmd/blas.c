/* blas.c - one thread for BLAS, and kernels that fit the processor. */
#include "blas.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cblas.h>

#ifdef OPENBLAS_VERSION
/* OpenBLAS knows processors by number, and gives one that is younger than itself its oldest
 * kernels. Which to use it reads while it is loaded: hence the second start. */
static const char *better_kernels(void)
{
#if defined(__x86_64__)
    if (getenv("OPENBLAS_CORETYPE") || strcmp(openblas_get_corename(), "Prescott") != 0)
        return NULL;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "Haswell";
#endif
    return NULL;
}

static void start_again(const char *kernels, char **argv)
{
    size_t count = 0;
    while (argv[count])
        count++;
    char **again = calloc(count + 2, sizeof(char *));
    if (!again || setenv("OPENBLAS_CORETYPE", kernels, 1) != 0)
        return;
    again[0] = "spmd";
    memcpy(again + 1, argv, count * sizeof(char *));
    execv("/proc/self/exe", again); /* where that fails, the old kernels do */
    free(again);
}

void blas_begin(char **argv)
{
    const char *kernels = better_kernels();
    if (kernels)
        start_again(kernels, argv);
    openblas_set_num_threads(1);
}
#else
void blas_begin(char **argv)
{
    (void)argv;
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
}
#endif
