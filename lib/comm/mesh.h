/* comm/mesh.h - the insides of a mesh. See spmd/mesh.h. */
#ifndef COMM_MESH_H
#define COMM_MESH_H

#include <spmd/mesh.h>

#include "comm/node.h"
#include "comm/watch.h"
#include "comm/way.h"
#include "core/axes.h"
#include "core/cost.h"
#include "core/error.h"
#include "core/partition.h"
#include "core/repeats.h"

/* Who takes part in a collective, this rank among them: the ranks that differ along some axes only;
 * or, where a partition divides these, those in one part of it. */
struct group {
    spmd_mesh *mesh; /* in whose terms it is */
    struct axis_list axes;
    struct partition partition; /* count 0: none */
    int64_t part;               /* the one that this rank is in */
    bool even;                  /* all parts are as large as this one */
    int64_t size;
    int64_t index;          /* this rank in it */
    struct group *real;     /* the group of the root that has the communicator; often itself */
    MPI_Comm comm;          /* ranks in the order of the members; MPI_COMM_NULL: not open yet */
    struct meeting meeting; /* made when it is watched; and that of what is begun in two phases */
    struct meeting starts;
    struct node *node; /* of comm; NULL: none, or not asked for yet */
    bool node_opened;
    struct group *next;
};

/* What a text of axes was found to mean. */
struct group_name {
    struct group *group;
    struct group_name *next;
    char text[]; /* with its NUL */
};

/* Values go over `comm`, and so does what bodies call. `control` is for what calls agree on around
 * that: a rank that has left a body early, with a failure, agrees with the others there and
 * meets nothing that was meant for those who are still in the body. */
struct spmd_mesh {
    int holds; /* not of a view */
    struct axes axes;
    bool abstract;
    bool strict;
    bool quiet;               /* of a root: no notes on how arrays lie */
    bool noted_empty;         /* "n of m ranks hold nothing" has been said */
    bool noted_usual_way;     /* that collectives are forced, and a move is none, has been said */
    struct costs costs;       /* the same on all ranks */
    enum way way;             /* that SPMD_MOVE forces; not of a view */
    struct repeats resharded; /* of a root: inputs of bodies that did not lie as they should */
    int64_t position;         /* -1 on idle ranks and abstract meshes */
    int rank;             /* this process in base, of a view in its root's: so messages call it */
    int *ranks;           /* [positions] in base; NULL: position p is rank p */
    MPI_Comm base;        /* all ranks of the caller's communicator, in its order */
    MPI_Comm comm;        /* the members by position; MPI_COMM_NULL on idle ranks */
    MPI_Comm control;     /* the same, for agreements */
    struct group *groups; /* made on first use, freed with the mesh */
    struct group_name *names;
    /* Operations of ours (comm/reduce.c); MPI_OP_NULL: not used yet; a view has none. */
    MPI_Op sum, max, min;
    struct node *node; /* NULL: none, or not asked for yet */
    bool node_opened;
    struct watch *watch;      /* NULL: none; a view has its root's */
    struct meeting agreement; /* the one of agreements */
    /* A view is the mesh of some axes of another one, its root, around this rank. It lives as long
     * as the root, and a hold on it is a hold on the root. */
    spmd_mesh *root;          /* NULL: this is none */
    struct axis_list of_root; /* its axes there */
    spmd_mesh *views;         /* those of this root */
    spmd_mesh *next_view;
};

spmd_mesh *spmd__mesh_hold(spmd_mesh *mesh);

/* Making a mesh of ranks, collective over `comm`: the first call gives a communicator for it, which
 * the second one takes over, with the `status` of what lies between. `members` [positions] are the
 * ranks in order, copied; NULL: the first ones. */
spmd_status spmd__mesh_begin(MPI_Comm comm, MPI_Comm *base, int *ranks);
spmd_status spmd__mesh_end(MPI_Comm base, spmd_status status, const struct axes *axes,
                           const int members[], spmd_mesh **mesh);

/* The same for a mesh without ranks. Local. */
spmd_status spmd__mesh_end_abstract(const struct axes *axes, spmd_mesh **mesh);

/* A mesh of nothing but its axes, held once. */
spmd_status spmd__mesh_alloc(const struct axes *axes, spmd_mesh **mesh);

/* Collective over the ranks that differ along `axes`, at its first call; then local. The view of
 * the mesh, or of the root that it is a view of, along these axes around this rank; not held for
 * the caller. Not on idle ranks. */
spmd_status spmd__mesh_view(spmd_mesh *mesh, const struct axis_list *axes, spmd_mesh **view);

/* Some axes of a mesh, as axes of its root; the same where it is no view. */
struct axis_list spmd__mesh_axes_in_root(const spmd_mesh *mesh, const struct axis_list *axes);

/* The mesh that collectives take their groups from: the root of a view, else the mesh. */
spmd_mesh *spmd__mesh_root(spmd_mesh *mesh);

/* Where a position of a view stands in its root; the same where it is no view. */
int64_t spmd__mesh_root_position(const spmd_mesh *mesh, int64_t position);

/* The reverse, of a position of the root that is in the view. */
int64_t spmd__mesh_view_position(const spmd_mesh *mesh, int64_t position);

/* Frees what a root has of its views; and a mesh of its groups. */
void spmd__mesh_free_views(spmd_mesh *root);
void spmd__mesh_free_groups(spmd_mesh *mesh);

/* Whether the mesh has such a position. Local. Fails with SPMD_ERR_ARGUMENT. */
spmd_status spmd__mesh_check_position(const spmd_mesh *mesh, int64_t position);

/* The rank in mesh->base at a position. */
int spmd__mesh_base_rank(const spmd_mesh *mesh, int64_t position);

/* Whether this rank takes part. */
bool spmd__mesh_is_member(const spmd_mesh *mesh);

/* The members by position, on idle ranks too; the caller frees it. */
MPI_Group spmd__mesh_members(const spmd_mesh *mesh);

/* A digest of its axes and its ranks in their order, for agreements. Local. */
uint64_t spmd__mesh_digest(const spmd_mesh *mesh);

/* Whether position p is the same process on both, for every p. Local. */
bool spmd__mesh_same_ranks(const spmd_mesh *a, const spmd_mesh *b);

/* Local. The group of this rank along `axes`; the same from a text, "x,y" or "x [[0,2],[3,1]]". Not
 * on idle ranks. */
spmd_status spmd__mesh_group_find(spmd_mesh *mesh, const struct axis_list *axes,
                                  struct group **group);
spmd_status spmd__mesh_group_named(spmd_mesh *mesh, const char *text, struct group **group);

/* Collective over the group at its first call. Makes its communicator. */
spmd_status spmd__group_open(struct group *group);

/* Collective over the group at its first call. The ranks of comm that can be read; NULL: none. */
spmd_status spmd__group_node(const struct group *group, struct node **node);

/* Find and open. */
spmd_status spmd__mesh_group(spmd_mesh *mesh, const struct axis_list *axes, struct group **group);

/* Local. The position of a member in the group's mesh. */
int64_t spmd__group_member(const struct group *group, int64_t index);

/* Collective over the group where SPMD_CHECK=1: spmd__watch_meet. */
spmd_status spmd__group_meet(struct group *group, const char *what);

/* In two phases: spmd__watch_announce, spmd__watch_await. */
spmd_status spmd__group_announce(struct group *group, const char *what, uint64_t *number);
spmd_status spmd__group_await(struct group *group, const char *what, uint64_t number);

/* Behind a meeting or an await. */
void spmd__group_leave(struct group *group);

/* Collective over the members at its first call. The ranks of comm that can be read; NULL: none. */
spmd_status spmd__mesh_node(spmd_mesh *mesh, struct node **node);

/* spmd__agree over the members; `status` at once on idle ranks and abstract meshes. */
spmd_status spmd__mesh_agree(spmd_mesh *mesh, spmd_status status, uint64_t digest);

/* Before members do `what` together that no agreement comes before: where SPMD_CHECK=1 it fails on
 * all of them if they say different things, or one of them has failed. From here to
 * spmd__watch_leave this rank counts as waiting. Without a watch it is `status`. */
spmd_status spmd__mesh_meet(spmd_mesh *mesh, const char *what, spmd_status status);

/* spmd__mesh_agree after a body, for members: the others may be in collectives of the body that a
 * rank which failed will never enter. SPMD_CHECK=1 finds that out, else it ends the run after a
 * while: spmd__agree_or_abort. */
spmd_status spmd__mesh_agree_on_body(spmd_mesh *mesh, spmd_status status, uint64_t digest);

#endif
