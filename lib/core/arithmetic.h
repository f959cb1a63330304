/* core/arithmetic.h - what reductions do to rows of elements. */
#ifndef CORE_ARITHMETIC_H
#define CORE_ARITHMETIC_H

#include <stdint.h>

#include <spmd/types.h>

/* The type that carries a reduction of elements of `dtype`: f32 for f16 and bf16, i32 for sums of
 * bool, else the same. */
spmd_dtype spmd__carrier(spmd_reduction reduction, spmd_dtype dtype);

/* `count` elements in that type: where they lie if it is theirs, else in `room`. */
const void *spmd__carry(spmd_reduction reduction, spmd_dtype dtype, int64_t count,
                        const void *elements, void *room);

/* inout[i] = inout[i] + in[i], or the greater of the two, or the smaller; NaN wins. Sums of whole
 * numbers wrap. `dtype` is one that carries; complex numbers are summed only. The rows do not
 * overlap. */
void spmd__accumulate(spmd_reduction reduction, spmd_dtype dtype, int64_t count, const void *in,
                      void *inout);

/* mean[i] = sum[i] / size, from sums as psum gives them for `dtype` to elements of pmean's type; of
 * f16 and bf16 the sums are in f32. `mean` may be `sum`. */
void spmd__divide(spmd_dtype dtype, int64_t count, const void *sum, int64_t size, void *mean);

#endif
