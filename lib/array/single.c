/* array/single.c - a sharding on one rank alone. */
#include "array/array.h"
#include "comm/agree.h"
#include "comm/mpi.h"
#include "core/hash.h"

/* A mesh of the rank at `position` alone, which all others know as idle ranks. */
static spmd_status make_mesh_of_one(const spmd_mesh *mesh, int64_t position, spmd_mesh **alone)
{
    static const char text[] = "device=1";
    if (mesh->abstract)
        return spmd_mesh_create_abstract(text, alone);
    MPI_Comm comm; /* of the same ranks, this one first */
    TRY_MPI(MPI_Comm_split(mesh->base, 0, mesh->position == position ? 0 : 1, &comm));
    spmd_status status = spmd_mesh_create(comm, text, alone);
    MPI_Comm_free(&comm);
    return status;
}

spmd_status spmd_sharding_create_single(spmd_mesh *mesh, int64_t position, spmd_sharding **sharding)
{
    const struct spec whole = {.ndim = 0};
    spmd_mesh *alone;
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a sharding needs a mesh, this is NULL");
    spmd_status status = spmd__sharding_check_place(sharding);
    if (status == SPMD_OK)
        status = spmd__mesh_check_position(mesh, position);
    if (!mesh->abstract) /* idle ranks take part: they know the new mesh too */
        status =
            spmd__agree(mesh->base, mesh->rank, status, spmd__hash(0, &position, sizeof position));
    if (status != SPMD_OK)
        return status;
    TRY(make_mesh_of_one(mesh, position, &alone));
    return spmd__sharding_settle(alone, &whole, sharding);
}
