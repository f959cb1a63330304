/* io/seal_write.c - sealing a file: which datasets have checksums of their own, and where. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "io/bytes.h"
#include "io/cause.h"
#include "io/checksum.h"
#include "io/seal.h"
#include "io/seal_text.h"
#include "io/types.h"

/* What a walk through a file has found so far. */
struct findings {
    struct seal *seal;
    int capacity;
    spmd_status status;
};

static spmd_status make_room(struct findings *findings)
{
    if (findings->seal->count < findings->capacity)
        return SPMD_OK;
    int capacity = 2 * findings->capacity + 8;
    struct sealed_data *data =
        realloc(findings->seal->data, (size_t)capacity * sizeof *findings->seal->data);
    if (!data)
        return spmd_fail(SPMD_ERR_MEMORY, "out of memory");
    findings->seal->data = data;
    findings->capacity = capacity;
    return SPMD_OK;
}

/* Datasets without a checksum, without elements, or whose elements stand in several places, belong
 * to the rest. */
static spmd_status add_dataset(struct findings *findings, hid_t dataset, const char *name)
{
    struct sealed_data data = {.bytes = (int64_t)H5Dget_storage_size(dataset)};
    haddr_t offset = H5Dget_offset(dataset);
    bool stored = false;
    TRY(spmd__checksum_get(name, dataset, &data.checksum, &stored));
    if (!stored || data.bytes == 0 || offset == HADDR_UNDEF)
        return SPMD_OK;
    hid_t type = H5Dget_type(dataset);
    data.dtype = spmd__type_dtype(type);
    H5Tclose(type);
    data.offset = (int64_t)offset;
    TRY(make_room(findings));
    data.name = strdup(name);
    if (!data.name)
        return spmd_fail(SPMD_ERR_MEMORY, "out of memory");
    findings->seal->data[findings->seal->count++] = data;
    return SPMD_OK;
}

static herr_t visit(hid_t file, const char *name, const H5O_info_t *info, void *user)
{
    struct findings *findings = user;
    if (info->type != H5O_TYPE_DATASET)
        return 0;
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    findings->status = dataset >= 0
                           ? add_dataset(findings, dataset, name)
                           : spmd_fail(SPMD_ERR_FILE, "dataset \"%s\" cannot be opened: %s", name,
                                       spmd__io_cause().text);
    if (dataset >= 0)
        H5Dclose(dataset);
    return findings->status == SPMD_OK ? 0 : 1;
}

static int compare_offsets(const void *a, const void *b)
{
    int64_t x = ((const struct sealed_data *)a)->offset,
            y = ((const struct sealed_data *)b)->offset;
    return (x > y) - (x < y);
}

static spmd_status find_datasets(const char *path, struct seal *seal)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return spmd_fail(SPMD_ERR_FILE, "cannot be opened again: %s", spmd__io_cause().text);
    struct findings findings = {.seal = seal};
    if (H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, visit, &findings) < 0)
        findings.status = spmd_fail(SPMD_ERR_FILE, "cannot be listed: %s", spmd__io_cause().text);
    H5Fclose(file);
    if (seal->count > 0)
        qsort(seal->data, (size_t)seal->count, sizeof *seal->data, compare_offsets);
    return findings.status;
}

static spmd_status write_seal(int fd, struct seal *seal)
{
    struct stat about;
    int code = fstat(fd, &about) == 0 ? 0 : errno;
    seal->file_bytes = about.st_size;
    if (code == 0)
        code = spmd__seal_add_rest(fd, seal, &seal->rest);
    char *block = NULL;
    TRY(spmd__alloc((size_t)seal->block_bytes, 1, &block));
    spmd_status status = code == 0 ? spmd__seal_format(seal, block) : SPMD_OK;
    if (code == 0 && status == SPMD_OK)
        code = spmd__bytes_write(fd, 0, seal->block_bytes, block);
    if (code == 0 && status == SPMD_OK && fsync(fd) != 0)
        code = errno;
    free(block);
    return code == 0 ? status : spmd__io_fail_errno(code, "cannot be sealed");
}

static spmd_status seal_file(const char *path, struct seal *seal)
{
    TRY(find_datasets(path, seal));
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return spmd__io_fail_errno(errno, "cannot be sealed");
    spmd_status status = write_seal(fd, seal);
    close(fd);
    return status;
}

spmd_status spmd__seal_write(const char *path, const char *name, int64_t block_bytes, int64_t step)
{
    struct seal seal = {.step = step, .block_bytes = block_bytes};
    spmd_status status = seal_file(path, &seal);
    if (status != SPMD_OK)
        status = spmd__io_refine(status, "%s", name);
    for (int i = 0; i < seal.count; i++)
        free(seal.data[i].name);
    spmd__seal_free(&seal);
    return status;
}
