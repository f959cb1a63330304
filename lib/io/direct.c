/* io/direct.c - blocks of contiguous datasets by pread and pwrite, past HDF5.
 *
 * HDF5 tells where the dataset lies. What is said of a block is a view of memory and a view of the
 * file; the runs that they have in common are one call each. */
#include "io/direct.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "core/block.h"
#include "core/runs.h"
#include "core/setting.h"
#include "io/bytes.h"
#include "io/cause.h"
#include "io/description.h"
#include "io/descriptor.h"
#include "io/direct_chunks.h"
#include "io/placement.h"
#include "io/way.h"

/* Shorter runs are read by HDF5, which reads several at once. */
enum { LEAST_RUN_BYTES = 1 << 12 };

struct channel {
    const spmd_file *file;
    const char *name;
    enum direction direction;
    int descriptor;
};

static spmd_status fail_to_move(const struct channel *channel, int code)
{
    return spmd__io_fail_errno(code, "%s: dataset \"%s\" cannot be %s", channel->file->path,
                               channel->name, channel->direction == TO_FILE ? "written" : "read");
}

static spmd_status move_run(const struct channel *channel, char *data, size_t bytes, int64_t offset)
{
    int code = channel->direction == TO_FILE
                   ? spmd__bytes_write(channel->descriptor, offset, (int64_t)bytes, data)
                   : spmd__bytes_read(channel->descriptor, offset, (int64_t)bytes, data);
    return code == 0 ? SPMD_OK : fail_to_move(channel, code);
}

static spmd_status move_runs(const struct channel *channel, const struct runs *runs, char *data,
                             int64_t offset)
{
    int64_t count = spmd__runs_count(runs);
    for (int64_t i = 0; i < count; i++) {
        int64_t memory, place;
        spmd__runs_find(runs, i, &memory, &place);
        TRY(move_run(channel, data + memory, runs->bytes, offset + place));
    }
    return SPMD_OK;
}

/* The block's place in a dataset that is `whole`; data is an offset from the dataset's first byte.
 */
static struct view view_of_file(const spmd_box *whole, const spmd_block *block)
{
    spmd_box part = spmd__block_box(block);
    return spmd__view_offset(spmd_dtype_size(block->dtype), whole, &part);
}

static bool holds(hid_t dataset, hid_t type)
{
    hid_t stored = H5Dget_type(dataset);
    bool same = H5Tequal(stored, type) > 0;
    H5Tclose(stored);
    return same;
}

/* Where the dataset, of this many bytes, lies, if it does so in one piece, as a whole; else -1. One
 * that has no place yet has no offset, but where a file begins with a user's block HDF5 adds its
 * size to that; so the size of what is stored tells. */
static int64_t place_of(hid_t dataset, int64_t bytes)
{
    hid_t creation = H5Dget_create_plist(dataset);
    bool contiguous = H5Pget_layout(creation) == H5D_CONTIGUOUS;
    H5Pclose(creation);
    if (!contiguous || H5Dget_storage_size(dataset) != (hsize_t)bytes)
        return -1;
    haddr_t offset = H5Dget_offset(dataset);
    return offset == HADDR_UNDEF ? -1 : (int64_t)offset;
}

/* A file that is written has a name that nobody else uses; -1 if the dataset lies in another one.
 */
static int open_aside(const spmd_file *file, hid_t dataset)
{
    char name[PATH_MAX];
    ssize_t length = H5Fget_name(dataset, name, sizeof name);
    if (length < 0 || length >= PATH_MAX || strcmp(name, file->alias) != 0)
        return -1;
    return open(name, O_WRONLY | O_CLOEXEC);
}

static spmd_status refuse(const spmd_file *file, const char *name)
{
    return spmd_fail(
        SPMD_ERR_FILE,
        "%s: dataset \"%s\" does not lie in one piece (nor, to be read, in up to %d chunks "
        "without filters, in a file without a user block), or is of another type than "
        "the array, so SPMD_IO=direct cannot move it; SPMD_IO=auto can",
        file->path, name, PLACEMENT_MOST_CHUNKS);
}

/* Of a dataset that lies in one piece. */
static spmd_status move_of_piece(const spmd_file *file, const char *name, hid_t dataset,
                                 enum direction direction, bool forced, const spmd_block *block,
                                 bool *done)
{
    size_t element = spmd_dtype_size(block->dtype);
    spmd_box whole = spmd_box_whole(spmd__dataset_shape(dataset));
    int64_t offset = place_of(dataset, spmd_box_size(&whole) * (int64_t)element);
    struct view memory = spmd__view_block(block), place = view_of_file(&whole, block);
    struct runs runs = spmd__runs_of(&memory, &place, element);
    bool pays = forced || direction == TO_FILE || runs.bytes >= LEAST_RUN_BYTES ||
                spmd__runs_count(&runs) == 1;
    struct channel channel = {file, name, direction, -1};
    if (offset >= 0 && pays)
        channel.descriptor =
            direction == TO_FILE ? open_aside(file, dataset) : spmd__io_descriptor(dataset);
    if (channel.descriptor < 0)
        return SPMD_OK;
    *done = true;
    spmd_status status = move_runs(&channel, &runs, block->data, offset + (intptr_t)place.data);
    if (direction == TO_FILE && close(channel.descriptor) != 0 && status == SPMD_OK)
        status = fail_to_move(&channel, errno);
    return status;
}

spmd_status spmd__direct_move(const spmd_file *file, const char *name, hid_t dataset, hid_t type,
                              enum direction direction, const spmd_block *block, bool *done)
{
    int way;
    *done = false;
    TRY(spmd__setting_choose(SPMD_SETTING_IO, &way));
    if (way == IO_HDF5)
        return SPMD_OK;
    bool forced = way == IO_DIRECT;
    if (holds(dataset, type)) {
        TRY(move_of_piece(file, name, dataset, direction, forced, block, done));
        if (!*done && direction == FROM_FILE)
            TRY(spmd__direct_read_chunks(file, name, dataset, forced, block, done));
    }
    return forced && !*done ? refuse(file, name) : SPMD_OK;
}

spmd_status spmd__direct_check_chunks(const spmd_file *file, const char *name)
{
    int way;
    TRY(spmd__setting_choose(SPMD_SETTING_IO, &way));
    if (way != IO_DIRECT)
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_FILE,
                     "%s: dataset \"%s\" has chunks, which HDF5 writes, so SPMD_IO=direct cannot; "
                     "SPMD_IO=auto can",
                     file->path, name);
}
