/* map/halo.h - the exchange of borders, planned and done. See spmd/halo.h. */
#ifndef MAP_HALO_H
#define MAP_HALO_H

#include <spmd/halo.h>

#include "core/halo.h"
#include "map/collective.h"

/* One dimension of the block, and where this rank stands along it. */
struct halo_dim {
    struct halo_line line; /* of one that has a border and elements */
    int64_t index;         /* among the members along its axes */
    int64_t stride;        /* in the group along all axes, from one of them to the next */
};

/* What a rank knows before anything moves; found without asking anybody. */
struct halo_plan {
    char axes[SPMD_MAX_AXES * (SPMD_MAX_NAME + 1)]; /* all of them: "x,y" */
    int ndim;
    uint32_t bordered; /* dimensions that have a border, as bits */
    bool empty;        /* this block is, so nothing moves here */
    int64_t member;    /* this rank in the group along all axes */
    spmd_box interior; /* both in indices of the padded block */
    spmd_box filled;   /* what is there at all: see spmd__halo_filled */
    struct halo_dim dim[SPMD_MAX_DIMS];
};

/* Local. Whether a halo for `block` is possible, and whether `padded` has room for it. */
spmd_status spmd__halo_check(const spmd_block *block, const spmd_halo halo[]);
spmd_status spmd__halo_check_padded(const spmd_block *padded, const spmd_halo halo[]);

/* Local. Checks the arguments of an exchange, and plans it. */
spmd_status spmd__halo_plan(const spmd_ctx *ctx, const spmd_block *padded, const spmd_halo halo[],
                            struct halo_plan *plan);

/* Of an operation whose list is the plan, and whose block is the padded one. */
spmd_status spmd__halo_run(struct operation *op, struct group *group);
spmd_status spmd__halo_start(struct operation *op, struct group *group, spmd_request *request);

#endif
