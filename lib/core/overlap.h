/* core/overlap.h - whose boxes meet a box: found by arithmetic, at a cost of the hits. */
#ifndef CORE_OVERLAP_H
#define CORE_OVERLAP_H

#include "core/layout.h"

/* Called with a position and what its box has in common with the one asked for. */
typedef spmd_status overlap_visit(int64_t position, const spmd_box *common, void *user);

/* Visits each position of a layout of `shape` whose box meets `box`, also those along unreduced
 * axes; those whose coordinates along the axes of the mask `fixed` differ from those of `home` are
 * left out. Ends early, and fails, as `visit` does. */
spmd_status spmd__overlap_each(const struct axes *axes, const struct spec *spec, spmd_shape shape,
                               const spmd_box *box, int64_t home, uint32_t fixed,
                               overlap_visit *visit, void *user);

#endif
