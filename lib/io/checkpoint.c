/* io/checkpoint.c - how calls on checkpoints begin, and which there are. */
#include "io/checkpoint.h"

#include <stdlib.h>

#include "comm/mesh.h"
#include "comm/mpi.h"
#include "core/hash.h"
#include "core/mem.h"
#include "io/cause.h"
#include "io/checkpoint_directory.h"
#include "io/file.h"

spmd_status spmd__checkpoint_enter(spmd_mesh *mesh, const char *call, spmd_status status,
                                   const char *directory, uint64_t digest)
{
    if (status == SPMD_OK && (!directory || *directory == '\0'))
        status = spmd__io_refuse(call, NULL,
                                 directory ? "the directory of checkpoints is empty"
                                           : "the directory of checkpoints is NULL");
    else if (status != SPMD_OK && directory)
        status = spmd__io_refine(status, "%s", directory);
    digest = spmd__hash_text(spmd__hash_text(digest, call), directory);
    return spmd__mesh_agree(mesh, status, digest);
}

/* Collective. The list of position 0, on members; on idle ranks it is empty. */
static spmd_status share_steps(spmd_mesh *mesh, const char *call, spmd_status status,
                               const char *directory, uint64_t digest, struct step_list *steps)
{
    *steps = (struct step_list){0};
    if (!spmd__mesh_is_member(mesh))
        return status;
    TRY(spmd__checkpoint_enter(mesh, call, status, directory, digest));
    if (mesh->position == 0)
        status = spmd__checkpoint_list(directory, steps);
    TRY(spmd__mesh_agree(mesh, status, 0));
    TRY_MPI(MPI_Bcast(&steps->count, 1, MPI_INT, 0, mesh->control));
    if (mesh->position != 0)
        status = spmd__alloc((size_t)steps->count, sizeof *steps->step, &steps->step);
    TRY(spmd__mesh_agree(mesh, status, 0));
    TRY_MPI(MPI_Bcast(steps->step, steps->count, MPI_INT64_T, 0, mesh->control));
    return SPMD_OK;
}

spmd_status spmd_checkpoint_latest(spmd_mesh *mesh, const char *directory, int64_t *step)
{
    TRY(spmd__file_check_mesh(mesh, __func__, directory));
    struct step_list steps = {0};
    spmd_status status = SPMD_OK;
    if (!step)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "the pointer for the step is NULL");
    status = share_steps(mesh, __func__, status, directory, 0, &steps);
    if (status == SPMD_OK)
        *step = steps.count > 0 ? steps.step[steps.count - 1] : -1;
    free(steps.step);
    return status;
}

spmd_status spmd_checkpoint_steps(spmd_mesh *mesh, const char *directory, int capacity,
                                  int64_t step[], int *count)
{
    TRY(spmd__file_check_mesh(mesh, __func__, directory));
    struct step_list steps = {0};
    spmd_status status = SPMD_OK;
    if (capacity < 0 || (capacity > 0 && !step) || !count)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "there is no room for the steps, or their number");
    status = share_steps(mesh, __func__, status, directory, (uint64_t)capacity, &steps);
    if (status == SPMD_OK) {
        *count = steps.count;
        for (int i = 0; i < capacity && i < steps.count; i++)
            step[i] = steps.step[i];
    }
    free(steps.step);
    return status;
}
