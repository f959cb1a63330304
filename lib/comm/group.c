/* comm/group.c - the communicators of a mesh: one for each list of axes in use. */
#include <stdlib.h>

#include "comm/mesh.h"
#include "comm/mpi.h"
#include "core/mem.h"

/* The communicator of the ranks that differ along `axes` only, ordered by them. */
static spmd_status make_group_comm(const spmd_mesh *mesh, const struct axis_list *axes,
                                   int64_t size, MPI_Comm *comm)
{
    int *ranks;
    MPI_Group all, members;
    TRY(spmd__alloc((size_t)size, sizeof *ranks, &ranks));
    for (int64_t i = 0; i < size; i++)
        ranks[i] = (int)spmd__axis_list_member(&mesh->axes, axes, mesh->position, i);
    MPI_Comm_group(mesh->comm, &all);
    MPI_Group_incl(all, (int)size, ranks, &members);
    int code = MPI_Comm_create_group(mesh->comm, members, 0, comm);
    MPI_Group_free(&members);
    MPI_Group_free(&all);
    free(ranks);
    return spmd__mpi_status(code, "MPI_Comm_create_group");
}

spmd_status spmd__mesh_group(spmd_mesh *mesh, const struct axis_list *axes, struct group **out)
{
    for (struct group *group = mesh->groups; group; group = group->next)
        if (spmd__axis_list_equal(&group->axes, axes)) {
            *out = group;
            return SPMD_OK;
        }
    struct group *group;
    TRY(spmd__alloc(1, sizeof *group, &group));
    group->axes = *axes;
    group->size = spmd__axis_list_size(&mesh->axes, axes);
    group->index = spmd__axis_list_index(&mesh->axes, axes, mesh->position);
    spmd_status status = make_group_comm(mesh, axes, group->size, &group->comm);
    if (status == SPMD_OK)
        status = spmd__mpi_adopt_comm(group->comm);
    if (status != SPMD_OK) {
        free(group);
        return status;
    }
    group->next = mesh->groups;
    mesh->groups = group;
    *out = group;
    return SPMD_OK;
}

MPI_Comm spmd_mesh_comm(spmd_mesh *mesh, const char *axes)
{
    struct axis_list list;
    struct group *group;
    if (spmd__axis_list_parse(axes, &mesh->axes, &list) != SPMD_OK || !spmd__mesh_is_member(mesh) ||
        spmd__mesh_group(mesh, &list, &group) != SPMD_OK)
        return MPI_COMM_NULL;
    return group->comm;
}

int spmd_mesh_comms(const spmd_mesh *mesh)
{
    int count = (mesh->base != MPI_COMM_NULL) + (mesh->control != MPI_COMM_NULL) +
                (mesh->comm != MPI_COMM_NULL && mesh->comm != mesh->base);
    for (const struct group *group = mesh->groups; group; group = group->next)
        count++;
    return count;
}
