/* io/seal_verify.c - comparing all elements of a checkpoint with its seal, by all ranks together.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "comm/mpi.h"
#include "core/checksum.h"
#include "core/mem.h"
#include "io/bytes.h"
#include "io/cause.h"
#include "io/checksum.h"
#include "io/seal.h"
#include "io/seal_text.h"

/* At a multiple of this any element begins. */
enum { GRAIN = 16, PIECE_BYTES = 1 << 20 };

/* What elements of one dataset, from byte `lo` to `hi` of it, add to its checksum. */
static int add_elements(int fd, const struct sealed_data *data, int64_t lo, int64_t hi,
                        char *buffer, uint64_t *sum)
{
    int64_t size = (int64_t)spmd_dtype_size(data->dtype);
    while (lo < hi) {
        int64_t bytes = hi - lo < PIECE_BYTES ? hi - lo : PIECE_BYTES;
        int code = spmd__bytes_read(fd, data->offset + lo, bytes, buffer);
        if (code != 0)
            return code;
        *sum += spmd__checksum_run(data->dtype, lo / size, bytes / size, buffer);
        lo += bytes;
    }
    return 0;
}

static int64_t clip(int64_t at, int64_t bytes)
{
    if (at <= 0)
        return 0;
    return at < bytes ? at - at % GRAIN : bytes;
}

/* This rank's part of all elements, one dataset after the other: from `lo` to `hi`. */
static int add_share(int fd, const struct seal *seal, int64_t lo, int64_t hi, char *buffer,
                     uint64_t sums[])
{
    int64_t begin = 0;
    for (int i = 0; i < seal->count; i++) {
        const struct sealed_data *data = &seal->data[i];
        int code = add_elements(fd, data, clip(lo - begin, data->bytes),
                                clip(hi - begin, data->bytes), buffer, &sums[i]);
        if (code != 0)
            return code;
        begin += data->bytes;
    }
    return 0;
}

static int64_t total_bytes(const struct seal *seal)
{
    int64_t total = 0;
    for (int i = 0; i < seal->count; i++)
        total += seal->data[i].bytes;
    return total;
}

/* The bytes before a position's share; of the one behind the last position: all. */
static int64_t share_begin(int64_t total, int64_t position, int64_t positions)
{
    return total / positions * position + total % positions * position / positions;
}

static spmd_status sum_share(const spmd_mesh *mesh, const char *path, const char *name,
                             const struct seal *seal, uint64_t sums[])
{
    int64_t total = total_bytes(seal), positions = spmd_mesh_size(mesh);
    char *buffer = NULL;
    TRY(spmd__alloc(PIECE_BYTES, 1, &buffer));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int code = fd < 0 ? errno
                      : add_share(fd, seal, share_begin(total, mesh->position, positions),
                                  share_begin(total, mesh->position + 1, positions), buffer, sums);
    if (fd >= 0)
        close(fd);
    free(buffer);
    return code == 0 ? SPMD_OK : spmd__io_fail_errno(code, "%s", name);
}

static spmd_status compare(const char *name, const struct seal *seal, const uint64_t sums[])
{
    for (int i = 0; i < seal->count; i++)
        TRY(spmd__checksum_compare(name, seal->data[i].name, sums[i], seal->data[i].checksum));
    return SPMD_OK;
}

static spmd_status verify_data(spmd_mesh *mesh, const char *path, const char *name,
                               const struct seal *seal, uint64_t sums[])
{
    TRY(spmd__mesh_agree(mesh, sum_share(mesh, path, name, seal, sums), 0));
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, sums, seal->count, MPI_UINT64_T, MPI_SUM, mesh->control));
    return compare(name, seal, sums);
}

spmd_status spmd__seal_verify(spmd_mesh *mesh, const char *path, const char *name)
{
    struct seal seal = {.step = -1};
    uint64_t *sums = NULL;
    spmd_status status = spmd__seal_check(path, name, &seal);
    if (status == SPMD_OK)
        status = spmd__alloc((size_t)seal.count, sizeof *sums, &sums);
    status = spmd__mesh_agree(mesh, status, (uint64_t)seal.count);
    if (status == SPMD_OK)
        status = verify_data(mesh, path, name, &seal, sums);
    free(sums);
    spmd__seal_free(&seal);
    return status;
}
