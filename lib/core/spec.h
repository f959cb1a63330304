/* core/spec.h - partition specs: which dimension lies along which axes. */
#ifndef CORE_SPEC_H
#define CORE_SPEC_H

#include "core/axes.h"

/* A spec, resolved against the axes of its mesh. Entry d lists axis[first[d]] ...
 * axis[first[d + 1] - 1], major first; an axis stands at most once in the whole. */
struct spec {
    int ndim; /* number of entries; dimensions after them are not split */
    int first[SPMD_MAX_DIMS + 1];
    int axis[SPMD_MAX_AXES];
    uint32_t open;       /* dimensions left to the partitioner: "?" */
    uint32_t unreduced;  /* axes along which blocks are contributions */
    spmd_reduction kind; /* how they add up; SPMD_SUM if there are none */
};

/* Reads every form of docs/design.md, section 3: "P(x, -, (y,z))", "P(x, unreduced={y}:max)", "x,
 * None". Fails with SPMD_ERR_SYNTAX or SPMD_ERR_SPEC; the message has spec and mesh in it. */
spmd_status spmd__spec_parse(const char *text, const struct axes *axes, struct spec *spec);

/* The same from an entry [ndim] for each dimension: "x", "x,y", "(x,y)", "?"; NULL, "" or "-" for
 * none. `unreduced` lists axes, "y" or "y,z"; NULL or "" for none. */
spmd_status spmd__spec_make(int ndim, const char *const entries[], const char *unreduced,
                            spmd_reduction kind, const struct axes *axes, struct spec *spec);

/* Whether they are the same value: P(x) is not P(x, -), but P((x)) is P(x). */
bool spmd__spec_equal(const struct spec *a, const struct spec *b);

/* Writes the canonical text; trailing "-" stay. */
void spmd__spec_print(struct text *text, const struct axes *axes, const struct spec *spec);

/* Writes the unreduced axes, of which there are some, and how they add up: after the opening
 * "unreduced={", "y,z}:max". */
void spmd__spec_print_unreduced(struct text *text, const struct axes *axes, const struct spec *spec,
                                const char *opening);

/* The same partitions with other unreduced axes, as bits; 0 makes it a spec of values. */
struct spec spmd__spec_with_unreduced(const struct spec *spec, uint32_t unreduced);

/* The axes of entry `dim`, in order; none for dimensions past the entries. */
struct axis_list spmd__spec_entry(const struct spec *spec, int dim);

/* The axes that split some dimension, as bits. */
uint32_t spmd__spec_used(const struct spec *spec);

/* The spec whose entries have the axes to[axis] instead, in the same order; those that become -1
 * are left out. Of partitions alone: nothing of it is open or unreduced. */
struct spec spmd__spec_rename(const struct spec *spec, const int to[SPMD_MAX_AXES]);

/* The spec that splits dimension `dim` along `axes`, and no other one. */
struct spec spmd__spec_along(int dim, const struct axis_list *axes);

/* The spec whose entries have the axes of `major`, followed by those of `minor`, which are others.
 * What is open or unreduced is as in `major`. */
struct spec spmd__spec_join(const struct spec *major, const struct spec *minor);

#endif
