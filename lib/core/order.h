/* core/order.h - the order of elements as that of whole numbers. */
#ifndef CORE_ORDER_H
#define CORE_ORDER_H

#include <stdint.h>

#include <spmd/types.h>

/* Keys [count] that are ordered as the elements are; `reversed`: the other way round. In both ways
 * NaN is the greatest, and 0 and -0 are the same. Elements of at most 4 bytes leave the lower half
 * of their keys zero. Not of complex numbers. */
void spmd__order(spmd_dtype dtype, bool reversed, int64_t count, const void *elements,
                 uint64_t *keys);

#endif
