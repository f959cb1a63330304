/* core/clones.h - loops compiled for more than one generation of processors. */
#ifndef CORE_CLONES_H
#define CORE_CLONES_H

/* CLONES("avx2") before a function compiles it a second time for processors with AVX2; the loader
 * picks the one to use. CLONES("fma") spares a call of the C library for each fma(). Results are
 * the same. What such a function calls takes part only if it is INLINED. CLONES_WIDE is for loops
 * of 64-bit products: AVX-512 has them, and AVX2 makes them of 32-bit ones. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) /* its run-time is not up when the loader picks */
#define CLONES(feature) __attribute__((target_clones(feature, "default")))
#if __GNUC__ >= 12
#define CLONES_WIDE __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define CLONES_WIDE CLONES("avx2")
#endif
#else
#define CLONES(feature)
#define CLONES_WIDE
#endif

#ifdef __GNUC__
#define INLINED static inline __attribute__((always_inline))
#else
#define INLINED static inline
#endif

#endif
