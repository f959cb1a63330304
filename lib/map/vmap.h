/* map/vmap.h - the insides of a vmap, and its axis as collectives see it. See spmd/map.h.
 *
 * Unnamed, a vmap is a loop: one instance after the other, in one and the same struct instance.
 * Named, each instance has a fibre, which runs until it waits in a collective over the name
 * (vmap_named.c). Once all wait, the vmap has all their operations, in the order of the instances.
 * If the text names a vmap further out, it passes them on, as what its own instance there waits in;
 * else it runs them (joint.c). */
#ifndef MAP_VMAP_H
#define MAP_VMAP_H

#include "core/fibre.h"
#include "core/place.h"
#include "map/collective.h"
#include "map/ctx.h"

/* An input or output. */
struct mapped {
    spmd_block *whole; /* with the batch dimension; an output's is NULL until it is declared */
    int axis;          /* where that is; -1: not mapped */
    int64_t first;     /* the instance that declared the output; -1: the block was given */
    bool made;         /* the output's block was made by this call, without a ctx to own it */
};

struct instance {
    struct vmap *vmap;
    spmd_ctx ctx;
    spmd_block *slice;       /* [nin] */
    const spmd_block **seen; /* [nin] for the ctx */
    void **copy;             /* [nin + nout] dense copies of slices that are not dense in place */
    struct output *output;   /* [nout] for the ctx */

    /* Of a named vmap. */
    struct fibre *fibre;
    struct arena arena;     /* of its body, which others interrupt */
    struct operation **ops; /* [nops] what it waits in; NULL: nothing */
    int64_t nops;
    struct place place; /* of what it waits in, in the program */
};

struct vmap {
    spmd_ctx *outer;     /* may be NULL */
    const char *name;    /* of its axis; NULL: none */
    size_t stack_bytes;  /* of an instance's fibre */
    struct arena *arena; /* of all that lasts as long as the call */
    struct arena own;    /* which is this one without a ctx */
    int64_t size;        /* number of instances */
    struct names names;
    int nin, nout;
    struct mapped *in;       /* [nin] */
    struct mapped *out;      /* [nout] */
    const int *out_axes;     /* [nout] as the caller gave them */
    struct counted *counted; /* groups of ranks that have as many instances each */

    /* Of a named vmap. */
    spmd_body *fn;
    void *user;
    struct instance *instances;  /* [size] */
    struct kept_failure verdict; /* on the last collective */
    struct kept_failure failure; /* the first one: from then on all collectives fail by it */
};

extern const struct call_kind spmd__vmap_kind;

/* The instance that a body is; NULL in a shard_map. */
static inline struct instance *spmd__instance_of(const spmd_ctx *ctx)
{
    return ctx && ctx->kind == &spmd__vmap_kind ? ctx->call : NULL;
}

/* Zeroed memory from the call's arena. */
spmd_status spmd__vmap_take(struct vmap *vmap, size_t count, size_t size, void *out);

/* Makes the instance at `index`, whose body's scratch memory is in `arena`; and runs it. */
spmd_status spmd__instance_make(struct vmap *vmap, int64_t index, struct arena *arena,
                                struct instance *instance);
spmd_status spmd__instance_run(struct instance *instance, spmd_body *fn, void *user);

/* spmd_vmap of a call whose messages name arguments so; NULL: they have numbers. */
spmd_status spmd__vmap_call(spmd_ctx *ctx, spmd_body *fn, void *user, int nin,
                            const spmd_block *const in[], const int in_axes[], int nout,
                            spmd_block *out[], const int out_axes[],
                            const spmd_vmap_options *options, const struct names *names);

/* Runs all instances of a named vmap. */
spmd_status spmd__vmap_run_named(struct vmap *vmap);

/* Whether a text of axes names the axis of a vmap around this body. */
bool spmd__vmap_binds(const spmd_ctx *ctx, const char *axes);

/* The collective of one instance, whose text names the axis of a vmap around it: waits for the
 * others'. */
spmd_status spmd__vmap_join(struct operation *op);

/* Local. The shape that it would give. */
spmd_status spmd__vmap_shape(struct operation *op, spmd_shape *shape);

/* What a text of axes means in a body: axes of its mesh, and of the named vmaps around it. */
struct vmap_axes {
    struct axes all;       /* those of the mesh first, then the vmaps', from the innermost out */
    int in_mesh;           /* how many are the mesh's */
    struct axis_list list; /* what the text lists */
    const spmd_ctx *instance[SPMD_MAX_AXES]; /* of an axis that is a vmap's: the body around or at
                                              * this one that is its instance */
};
spmd_status spmd__vmap_axes_read(const spmd_ctx *ctx, const char *text, struct vmap_axes *axes);

/* A text has failed with `status` to name axes of the mesh: fails so again, and shows the axes of
 * the vmaps around this body beside the mesh's, if there are any. */
spmd_status spmd__vmap_axes_refuse(const spmd_ctx *ctx, const char *text, spmd_status status);

/* The group of ranks along those that are the mesh's, which there must be. */
spmd_status spmd__vmap_axes_group(const spmd_ctx *ctx, const struct vmap_axes *axes,
                                  struct group **group);

/* Whether a name may be a vmap's in this body. */
spmd_status spmd__vmap_check_name(const spmd_ctx *outer, const char *name);

/* The place in a group whose text names the axis of a vmap; -1 for an axis that is not there. */
int64_t spmd__vmap_axis_index(const spmd_ctx *ctx, const char *text);
int64_t spmd__vmap_axis_size(const spmd_ctx *ctx, const char *text);

/* Collective over the group, at its first call in a vmap. Whether each vmap around the body has as
 * many instances on every rank of the group, so that each finds its partners. */
spmd_status spmd__vmap_check_counts(const spmd_ctx *ctx, struct group *group);

#endif
