/* placing.h - operands that say how an array lies: mesh, specs, shape, type. */
#ifndef APPS_PLACING_H
#define APPS_PLACING_H

#include <spmd.h>

struct placing_texts {
    const char *mesh, *spec, *shape;
    const char *to_mesh; /* NULL: the same mesh */
    const char *to;      /* a second spec; NULL: there is none */
    const char *dtype;   /* NULL: f32 */
};

struct placing {
    spmd_sharding *sharding;
    spmd_sharding *to; /* NULL: there is none */
    spmd_shape shape;
    spmd_dtype dtype;
};

/* Reads them; meshes are abstract. What is wrong is told by the library. The placing is to be
 * freed, whatever is returned. */
spmd_status placing_read(const struct placing_texts *texts, struct placing *placing);
void placing_free(struct placing *placing);

#endif
