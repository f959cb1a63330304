/* comm/mesh_sub.c - a part of a mesh, as a mesh of its own. */
#include <stdlib.h>

#include "comm/mesh.h"
#include "core/mem.h"
#include "core/slice.h"

/* The ranks [positions of the slice] of a mesh, in its base. */
static spmd_status list_members(const spmd_mesh *mesh, const struct slice *slice, int **members)
{
    int64_t size = spmd__axes_total(&slice->axes);
    TRY(spmd__alloc((size_t)size, sizeof **members, members));
    for (int64_t p = 0; p < size; p++)
        (*members)[p] = spmd__mesh_base_rank(mesh, spmd__slice_position(slice, &mesh->axes, p));
    return SPMD_OK;
}

/* Collective over the communicator that `mesh` was made from. */
static spmd_status sub_of_ranks(const spmd_mesh *mesh, const char *coordinates, spmd_mesh **sub)
{
    struct slice slice;
    MPI_Comm base;
    int ranks, *members = NULL;
    TRY(spmd__mesh_begin(mesh->base, &base, &ranks));
    spmd_status status = spmd__slice_parse(coordinates, &mesh->axes, &slice);
    if (status == SPMD_OK)
        status = list_members(mesh, &slice, &members);
    status = spmd__mesh_end(base, status, &slice.axes, members, sub);
    free(members);
    return status;
}

static spmd_status sub_of_abstract(const spmd_mesh *mesh, const char *coordinates, spmd_mesh **sub)
{
    struct slice slice;
    TRY(spmd__slice_parse(coordinates, &mesh->axes, &slice));
    return spmd__mesh_end_abstract(&slice.axes, sub);
}

spmd_status spmd_mesh_sub(spmd_mesh *mesh, const char *coordinates, spmd_mesh **sub)
{
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a part of a mesh needs the mesh, this is NULL");
    if (mesh->abstract)
        TRY(sub_of_abstract(mesh, coordinates, sub));
    else
        TRY(sub_of_ranks(mesh, coordinates, sub));
    (*sub)->strict = mesh->strict;
    return SPMD_OK;
}
