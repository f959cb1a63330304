/* abstract.h - shardings on abstract meshes, for the tests of what they say. */
#ifndef ABSTRACT_H
#define ABSTRACT_H

#include <spmd.h>

#include "unit.h"

static inline spmd_mesh *abstract_mesh(const char *text)
{
    spmd_mesh *mesh = NULL;
    ASSERT_OK(spmd_mesh_create_abstract(text, &mesh));
    return mesh;
}

/* The sharding holds the mesh. */
static inline spmd_sharding *lay(const char *mesh_text, const char *spec)
{
    spmd_mesh *mesh = abstract_mesh(mesh_text);
    spmd_sharding *sharding = NULL;
    ASSERT_OK(spmd_sharding_create(mesh, spec, &sharding));
    spmd_mesh_free(&mesh);
    return sharding;
}

/* How a mesh, strict or not, takes a spec for an array of a shape. */
static inline spmd_status place(const char *mesh_text, const char *spec, spmd_shape shape,
                                bool strict)
{
    spmd_mesh *mesh = abstract_mesh(mesh_text);
    spmd_sharding *sharding = NULL;
    spmd_mesh_set_strict(mesh, strict);
    spmd_status status = spmd_sharding_create(mesh, spec, &sharding);
    if (status == SPMD_OK)
        status = spmd_sharding_check(sharding, shape);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
    return status;
}

static inline void assert_format(const spmd_sharding *sharding, const char *mesh, const char *spec)
{
    char text[2048];
    spmd_mesh_format(text, sizeof text, spmd_sharding_mesh(sharding));
    ck_assert_str_eq(text, mesh);
    spmd_sharding_format(text, sizeof text, sharding);
    ck_assert_str_eq(text, spec);
}

/* A position holds lo[d]:hi[d] of a matrix. */
static inline void assert_holds(const spmd_sharding *sharding, spmd_shape shape, int64_t position,
                                int64_t lo0, int64_t hi0, int64_t lo1, int64_t hi1)
{
    spmd_box box;
    ASSERT_OK(spmd_sharding_box(sharding, shape, position, &box));
    ck_assert_msg(box.ndim == 2 && box.lo[0] == lo0 && box.hi[0] == hi0 && box.lo[1] == lo1 &&
                      box.hi[1] == hi1,
                  "position %d holds %d:%d by %d:%d", (int)position, (int)box.lo[0], (int)box.hi[0],
                  (int)box.lo[1], (int)box.hi[1]);
}

/* All positions hold blocks of this shape; of a global shape that divides. */
static inline void assert_shards(const spmd_sharding *sharding, spmd_shape global, spmd_shape shard)
{
    for (int64_t p = 0; p < spmd_mesh_size(spmd_sharding_mesh(sharding)); p++) {
        spmd_shape shape;
        ASSERT_OK(spmd_sharding_shard_shape(sharding, global, p, &shape));
        ck_assert(spmd_shape_equal(shape, shard));
    }
}

#endif
