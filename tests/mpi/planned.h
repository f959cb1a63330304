/* planned.h - a planned reshard from one spec to another, and patterns that go by it. */
#ifndef PLANNED_H
#define PLANNED_H

#include "pattern.h"

struct planned {
    spmd_sharding *from, *to;
    const char *from_spec;
    spmd_dtype dtype;
    spmd_shape shape;
    spmd_reshard_call *plan;
};

static inline struct planned plan_between(spmd_mesh *mesh, const char *from, const char *to,
                                          spmd_dtype dtype, spmd_shape shape)
{
    struct planned planned = {.from_spec = from, .dtype = dtype, .shape = shape};
    EXPECT_OK(spmd_sharding_create(mesh, from, &planned.from));
    EXPECT_OK(spmd_sharding_create(mesh, to, &planned.to));
    EXPECT_OK(spmd_reshard_plan(planned.from, planned.to, dtype, shape, &planned.plan));
    return planned;
}

static inline spmd_array *source_of(const struct planned *planned)
{
    return pattern_array(spmd_sharding_mesh(planned->from), planned->from_spec, planned->dtype,
                         planned->shape);
}

static inline bool is_moved(const struct planned *planned, const spmd_array *array)
{
    return pattern_is_on(array, planned->shape, planned->dtype, planned->to);
}

static inline void free_plan(struct planned *planned)
{
    spmd_reshard_free(&planned->plan);
    spmd_sharding_free(&planned->from);
    spmd_sharding_free(&planned->to);
}

#endif
