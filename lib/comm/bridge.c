/* comm/bridge.c - the way between two meshes.
 *
 * Where one mesh has all ranks of the other one, its communicator is the bridge; else one is
 * made for the ranks of both. */
#include "comm/bridge.h"

#include <stdlib.h>

#include "comm/mpi.h"
#include "core/mem.h"

/* The members of a mesh, by position, on idle ranks too; and all ranks that know it. */
struct circle {
    MPI_Group members;
    MPI_Group knowing;
};

static struct circle circle_of(const spmd_mesh *mesh)
{
    struct circle circle = {.members = spmd__mesh_members(mesh)};
    MPI_Comm_group(mesh->base, &circle.knowing);
    return circle;
}

static void free_circle(struct circle *circle)
{
    MPI_Group_free(&circle->members);
    MPI_Group_free(&circle->knowing);
}

static bool contains(MPI_Group outer, MPI_Group inner)
{
    MPI_Group common;
    int wanted, found;
    MPI_Group_intersection(inner, outer, &common);
    MPI_Group_size(inner, &wanted);
    MPI_Group_size(common, &found);
    if (common != MPI_GROUP_EMPTY)
        MPI_Group_free(&common);
    return found == wanted;
}

static spmd_status fail_unknown(const spmd_mesh *mesh, const spmd_mesh *other)
{
    char text[256], other_text[256];
    spmd_mesh_format(text, sizeof text, mesh);
    spmd_mesh_format(other_text, sizeof other_text, other);
    return spmd_fail(SPMD_ERR_MESH,
                     "mesh %s was made from a communicator that lacks ranks of mesh %s: make both "
                     "from one communicator that has all ranks",
                     text, other_text);
}

/* Ranks may be members of one mesh only, and know of its checks alone. */
static spmd_status join_checks(struct bridge *bridge)
{
    int checks = spmd__watch_checks(bridge->from->watch) || spmd__watch_checks(bridge->to->watch);
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &checks, 1, MPI_INT, MPI_MAX, bridge->comm));
    bridge->checks = checks;
    return SPMD_OK;
}

/* A communicator of the ranks of both meshes, none of which contains the other one. */
static spmd_status join(struct bridge *bridge, MPI_Group from, MPI_Group to)
{
    MPI_Group both;
    int rank, code = MPI_SUCCESS;
    MPI_Group_union(from, to, &both);
    MPI_Group_rank(both, &rank);
    if (rank != MPI_UNDEFINED)
        code = MPI_Comm_create_group(bridge->from->base, both, 0, &bridge->comm);
    MPI_Group_free(&both);
    TRY(spmd__mpi_status(code, "MPI_Comm_create_group"));
    bridge->control = bridge->comm;
    bridge->owned = bridge->comm != MPI_COMM_NULL;
    return bridge->owned ? join_checks(bridge) : SPMD_OK;
}

static void borrow(struct bridge *bridge, spmd_mesh *mesh)
{
    bridge->lender = mesh;
    bridge->comm = mesh->comm;
    bridge->control = mesh->control;
}

static spmd_status connect(struct bridge *bridge, const struct circle *from,
                           const struct circle *to)
{
    if (!contains(from->knowing, to->members))
        return fail_unknown(bridge->from, bridge->to);
    if (!contains(to->knowing, from->members))
        return fail_unknown(bridge->to, bridge->from);
    bridge->newcomers = !contains(from->members, to->members);
    if (contains(to->members, from->members))
        borrow(bridge, bridge->to);
    else if (!bridge->newcomers)
        borrow(bridge, bridge->from);
    else
        return join(bridge, from->members, to->members);
    return SPMD_OK;
}

spmd_status spmd__bridge_open(spmd_mesh *from, spmd_mesh *to, struct bridge *bridge)
{
    *bridge = (struct bridge){from, to, .comm = MPI_COMM_NULL, .control = MPI_COMM_NULL};
    if (from->abstract || to->abstract)
        return spmd_fail(SPMD_ERR_MESH, "an abstract mesh has no ranks that could hold an array");
    if (from == to || spmd__mesh_same_ranks(from, to)) {
        borrow(bridge, to);
        return SPMD_OK;
    }
    struct circle from_circle = circle_of(from), to_circle = circle_of(to);
    spmd_status status = connect(bridge, &from_circle, &to_circle);
    if (status == SPMD_OK && bridge->comm != MPI_COMM_NULL) {
        MPI_Group all;
        MPI_Comm_group(bridge->comm, &all);
        MPI_Group_translate_ranks(from_circle.members, 1, &(int){0}, all, &bridge->origin);
        MPI_Group_free(&all);
    }
    free_circle(&from_circle);
    free_circle(&to_circle);
    return status;
}

/* The ranks in `to` of the members 0 ... size - 1 of `group`. */
static spmd_status translate(MPI_Group group, int size, MPI_Group to, int **ranks)
{
    int *translated;
    TRY(spmd__alloc((size_t)size * 2, sizeof *translated, &translated));
    int *members = translated + size;
    for (int i = 0; i < size; i++)
        members[i] = i;
    MPI_Group_translate_ranks(group, size, members, to, translated);
    *ranks = translated;
    return SPMD_OK;
}

spmd_status spmd__bridge_homes(const spmd_mesh *from, const spmd_mesh *to, int **homes)
{
    int size = (int)spmd_mesh_size(to);
    MPI_Group there = spmd__mesh_members(from), here = spmd__mesh_members(to);
    spmd_status status = translate(here, size, there, homes);
    MPI_Group_free(&there);
    MPI_Group_free(&here);
    for (int i = 0; status == SPMD_OK && i < size; i++)
        if ((*homes)[i] == MPI_UNDEFINED)
            (*homes)[i] = -1;
    return status;
}

int64_t spmd__bridge_stand_in(int64_t size, int64_t position)
{
    return position % size;
}

static spmd_status map_circles(struct bridge *bridge, MPI_Group from, MPI_Group to, MPI_Group all)
{
    int from_size = (int)spmd_mesh_size(bridge->from), to_size = (int)spmd_mesh_size(bridge->to);
    TRY(translate(from, from_size, all, &bridge->from_ranks));
    TRY(translate(to, to_size, all, &bridge->to_ranks));
    TRY(spmd__bridge_homes(bridge->from, bridge->to, &bridge->homes));
    for (int i = 0; i < to_size; i++)
        if (bridge->homes[i] < 0)
            bridge->homes[i] = (int)spmd__bridge_stand_in(from_size, i);
    return SPMD_OK;
}

spmd_status spmd__bridge_map(struct bridge *bridge)
{
    if (bridge->comm == MPI_COMM_NULL || bridge->from == bridge->to ||
        spmd__mesh_same_ranks(bridge->from, bridge->to))
        return SPMD_OK;
    MPI_Group all;
    struct circle from = circle_of(bridge->from), to = circle_of(bridge->to);
    MPI_Comm_group(bridge->comm, &all);
    spmd_status status = map_circles(bridge, from.members, to.members, all);
    MPI_Group_free(&all);
    free_circle(&from);
    free_circle(&to);
    return status;
}

void spmd__bridge_close(struct bridge *bridge)
{
    free(bridge->from_ranks);
    free(bridge->to_ranks);
    free(bridge->homes);
    if (bridge->owned)
        MPI_Comm_free(&bridge->comm);
}

int spmd__bridge_from_rank(const struct bridge *bridge, int64_t position)
{
    return bridge->from_ranks ? bridge->from_ranks[position] : (int)position;
}

int spmd__bridge_to_rank(const struct bridge *bridge, int64_t position)
{
    return bridge->to_ranks ? bridge->to_ranks[position] : (int)position;
}

int64_t spmd__bridge_home(const struct bridge *bridge, int64_t position)
{
    return bridge->homes ? bridge->homes[position] : position;
}
