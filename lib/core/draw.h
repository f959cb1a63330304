/* core/draw.h - any box of an array whose elements are functions of their row-major index. */
#ifndef CORE_DRAW_H
#define CORE_DRAW_H

#include <spmd/types.h>

enum { DRAW_RUN = 256 }; /* elements at most in one call of a draw_run */

/* Makes the `count` elements of the whole array from row-major index `first` on. */
typedef void draw_run(const void *how, uint64_t first, size_t count, void *out);

/* Fills `out` with the elements of `box` (NULL: all of them), `element` bytes each, by calls of
 * `run`. Fails with SPMD_ERR_ARGUMENT if there is no such box or no `out`. */
spmd_status spmd__draw(draw_run *run, const void *how, size_t element, spmd_shape shape,
                       const spmd_box *box, void *out);

#endif
