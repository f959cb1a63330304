/* io/damage.c - whether a dataset's elements can be, and have been, what a read takes them for. */
#include "io/damage.h"

#include "io/cause.h"

/* Texts of varying length stand elsewhere in the file. */
static bool is_fixed(hid_t dataset)
{
    hid_t type = H5Dget_type(dataset);
    bool fixed = H5Tis_variable_str(type) <= 0;
    H5Tclose(type);
    return fixed;
}

/* What type and shape need; -1 where that is more than any file has. */
static int64_t needed_bytes(hid_t dataset)
{
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    int64_t size = (int64_t)H5Tget_size(type), bytes = -1;
    hssize_t count = H5Sget_simple_extent_npoints(space);
    if (size > 0 && count >= 0 && count <= INT64_MAX / size)
        bytes = count * size;
    H5Sclose(space);
    H5Tclose(type);
    return bytes;
}

/* Whether a dataset that takes `stored` bytes takes those that it needs. A contiguous one without
 * storage is all fill value; of other layouts nothing follows. */
static bool is_possible(hid_t dataset, hid_t creation, int64_t stored)
{
    switch (H5Pget_layout(creation)) {
    case H5D_COMPACT:
        return stored == needed_bytes(dataset);
    case H5D_CONTIGUOUS:
        return stored == 0 || H5Pget_external_count(creation) > 0 ||
               stored == needed_bytes(dataset);
    default:
        return true;
    }
}

spmd_status spmd__damage_check(const spmd_file *file, const char *name, hid_t dataset)
{
    hid_t creation = H5Dget_create_plist(dataset);
    if (creation < 0)
        return spmd_fail(SPMD_ERR_FILE, "%s: dataset \"%s\" is damaged: %s", file->path, name,
                         spmd__io_cause().text);
    int64_t stored = (int64_t)H5Dget_storage_size(dataset);
    bool possible = !is_fixed(dataset) || is_possible(dataset, creation, stored);
    H5Pclose(creation);
    if (possible)
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_FILE,
                     "%s: dataset \"%s\" is damaged: its type and shape do not make the %lld "
                     "bytes that it has",
                     file->path, name, (long long)stored);
}

spmd_status spmd__damage_confirm(const spmd_file *file, const char *name, spmd_status status)
{
    int64_t bytes = file->aside || file->bytes == 0 ? file->bytes : spmd__file_bytes(file);
    if (bytes >= file->bytes)
        return status;
    return spmd_fail(SPMD_ERR_FILE,
                     "%s: dataset \"%s\" cannot be read: the file was cut from %lld to %lld bytes "
                     "while it was open",
                     file->path, name, (long long)file->bytes, (long long)bytes);
}
