/* io/checksum.c - checksums of datasets. */
#include "io/checksum.h"

#include "comm/mpi.h"
#include "core/checksum.h"
#include "io/cause.h"

spmd_status spmd__checksum_get(const char *name, hid_t dataset, uint64_t *checksum, bool *stored)
{
    *stored = H5Aexists(dataset, CHECKSUM_ATTRIBUTE) > 0;
    if (!*stored)
        return SPMD_OK;
    hid_t attribute = H5Aopen(dataset, CHECKSUM_ATTRIBUTE, H5P_DEFAULT);
    hid_t space = H5Aget_space(attribute);
    spmd_status status = SPMD_OK;
    if (H5Sget_simple_extent_npoints(space) != 1 ||
        H5Aread(attribute, H5T_NATIVE_UINT64, checksum) < 0)
        status = spmd_fail(SPMD_ERR_FILE,
                           "attribute \"" CHECKSUM_ATTRIBUTE "\" of \"%s\" is no checksum", name);
    H5Sclose(space);
    H5Aclose(attribute);
    return status;
}

spmd_status spmd__checksum_set(const spmd_file *file, const char *name, hid_t dataset,
                               uint64_t checksum)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t made =
        H5Acreate2(dataset, CHECKSUM_ATTRIBUTE, H5T_NATIVE_UINT64, space, H5P_DEFAULT, H5P_DEFAULT);
    spmd_status status = SPMD_OK;
    if (made < 0 || H5Awrite(made, H5T_NATIVE_UINT64, &checksum) < 0)
        status = spmd_fail(SPMD_ERR_FILE, "%s: the checksum of \"%s\" cannot be written: %s",
                           file->path, name, spmd__io_cause().text);
    if (made >= 0)
        H5Aclose(made);
    H5Sclose(space);
    return status;
}

spmd_status spmd__checksum_drop(const spmd_file *file, const char *name, hid_t dataset)
{
    if (H5Aexists(dataset, CHECKSUM_ATTRIBUTE) > 0 && H5Adelete(dataset, CHECKSUM_ATTRIBUTE) < 0)
        return spmd_fail(SPMD_ERR_FILE, "%s: the checksum of \"%s\" cannot be removed: %s",
                         file->path, name, spmd__io_cause().text);
    return SPMD_OK;
}

spmd_status spmd__checksum_sum(const spmd_mesh *mesh, const spmd_block *block, uint64_t *checksum)
{
    *checksum = block->replica == 0 ? spmd__checksum_block(block) : 0;
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, checksum, 1, MPI_UINT64_T, MPI_SUM, mesh->control));
    return SPMD_OK;
}

spmd_status spmd__checksum_compare(const char *path, const char *name, uint64_t found,
                                   uint64_t wanted)
{
    if (found == wanted)
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_FILE,
                     "%s: dataset \"%s\" is damaged: its checksum is %016llx, and was %016llx when "
                     "it was written",
                     path, name, (unsigned long long)found, (unsigned long long)wanted);
}

spmd_status spmd__checksum_verify(const spmd_file *file, const char *name, uint64_t wanted,
                                  const spmd_block *block)
{
    uint64_t found = 0;
    spmd_status status = spmd__checksum_sum(file->mesh, block, &found);
    if (status == SPMD_OK)
        status = spmd__checksum_compare(file->path, name, found, wanted);
    return spmd__mesh_agree(file->mesh, status, found);
}
