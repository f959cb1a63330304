/* core/layout.h - axes + spec + shape -> who holds what. Arithmetic only; nothing is asked. */
#ifndef CORE_LAYOUT_H
#define CORE_LAYOUT_H

#include "core/spec.h"

/* Part `index` of [lo, hi) split into `parts`: sizes differ by at most one, larger ones first. */
void spmd__layout_split(int64_t parts, int64_t index, int64_t *lo, int64_t *hi);

/* The inverse: the part of [lo, hi) split into `parts` that has `at`, lo <= at < hi. */
int64_t spmd__layout_part(int64_t parts, int64_t lo, int64_t hi, int64_t at);

/* Whether an array of `shape` can lie so: the spec is no longer than the rank and, if strict,
 * every split dimension divides. Fails with SPMD_ERR_SPEC. */
spmd_status spmd__layout_check(const struct axes *axes, const struct spec *spec, spmd_shape shape,
                               bool strict);

/* The range of dimension `dim`, of extent `n`, that `position` holds; the ranges [shape->ndim] of
 * all dimensions; the same as a box. */
void spmd__layout_range(const struct axes *axes, const struct spec *spec, int dim, int64_t n,
                        int64_t position, int64_t *lo, int64_t *hi);
void spmd__layout_ranges(const struct axes *axes, const struct spec *spec, const spmd_shape *shape,
                         int64_t position, int64_t lo[], int64_t hi[]);
spmd_box spmd__layout_box(const struct axes *axes, const struct spec *spec, spmd_shape shape,
                          int64_t position);

/* The axes along which every block is replicated, as bits. */
uint32_t spmd__layout_replicated(const struct axes *axes, const struct spec *spec);

/* Number of earlier positions with the same part. */
int64_t spmd__layout_replica(const struct axes *axes, const struct spec *spec, int64_t position);

/* Whether two layouts over the same ranks agree for every array of `ndim` dimensions that both
 * can have: any, or if `even` those whose split dimensions divide. */
bool spmd__layout_equivalent(const struct axes *a_axes, const struct spec *a,
                             const struct axes *b_axes, const struct spec *b, int ndim, bool even);

/* An array's type, "f32[8@x,4@(y,z),3]"; of unreduced axes, as JAX has it, "f32[8@x]{U:y}". */
void spmd__layout_print(struct text *text, const struct axes *axes, const struct spec *spec,
                        spmd_dtype dtype, spmd_shape shape);

/* The type of what lies on no mesh, "f32[8,4,3]". */
void spmd__type_print(struct text *text, spmd_dtype dtype, spmd_shape shape);

#endif
