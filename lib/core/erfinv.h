/* core/erfinv.h - the inverse of the error function. */
#ifndef CORE_ERFINV_H
#define CORE_ERFINV_H

#include <stddef.h>

/* Replaces each x, -1 < x < 1, by erfinv(x). The f32 one asks nothing of the C library that is
 * not exact; the f64 one asks log(). */
void spmd__erfinv32(size_t count, float *x /* [count] */);
void spmd__erfinv64(size_t count, double *x /* [count] */);

#endif
