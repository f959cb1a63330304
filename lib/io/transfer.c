/* io/transfer.c - a block from or to its place in a dataset. */
#include "io/transfer.h"

#include <string.h>

#include "core/block.h"
#include "io/cause.h"
#include "io/convert.h"
#include "io/direct.h"
#include "io/hyperslab.h"

int64_t spmd__io_piece_bytes = (int64_t)1 << 30;

struct transfer {
    const spmd_file *file;
    const char *name;
    hid_t dataset;
    hid_t type; /* of the elements in memory */
    enum direction direction;
    const spmd_hyperslab *slab;
};

/* A block moves in pieces: whole in the dimensions after `cut`, at most `step` indices of
 * dimension `cut`, one index of each dimension before. They follow one another in memory. */
struct pieces {
    int cut;
    int64_t step;
    int64_t row_bytes; /* one index of `cut` */
};

static struct pieces cut_block(const spmd_block *block)
{
    int64_t bytes = (int64_t)spmd_dtype_size(block->dtype);
    int cut = block->ndim - 1;
    while (cut > 0 && block->shape[cut] <= spmd__io_piece_bytes / bytes)
        bytes *= block->shape[cut--];
    return (struct pieces){cut, spmd__io_piece_bytes / bytes, bytes};
}

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The piece that starts at index `at` of the block: its extents. */
static void piece_extents(const spmd_block *block, const struct pieces *pieces, const int64_t at[],
                          hsize_t extent[])
{
    for (int d = 0; d < block->ndim; d++)
        extent[d] = d < pieces->cut ? 1 : (hsize_t)block->shape[d];
    extent[pieces->cut] = (hsize_t)min(pieces->step, block->shape[pieces->cut] - at[pieces->cut]);
}

static bool next_piece(const spmd_block *block, const struct pieces *pieces, int64_t at[])
{
    at[pieces->cut] += pieces->step;
    if (at[pieces->cut] < block->shape[pieces->cut])
        return true;
    at[pieces->cut] = 0;
    for (int d = pieces->cut - 1; d >= 0; d--) {
        if (++at[d] < block->shape[d])
            return true;
        at[d] = 0;
    }
    return false;
}

static spmd_status move(const struct transfer *how, hid_t memory, hid_t place, void *data)
{
    if (how->direction == TO_FILE) {
        if (H5Dwrite(how->dataset, how->type, memory, place, H5P_DEFAULT, data) < 0)
            return spmd_fail(SPMD_ERR_FILE, "%s: dataset \"%s\" cannot be written: %s",
                             how->file->path, how->name, spmd__io_cause().text);
    } else if (H5Dread(how->dataset, how->type, memory, place, H5P_DEFAULT, data) < 0) {
        return spmd_fail(SPMD_ERR_FILE, "%s: dataset \"%s\" cannot be read: %s", how->file->path,
                         how->name, spmd__io_cause().text);
    }
    return SPMD_OK;
}

static spmd_status move_piece(const struct transfer *how, int ndim, const int64_t lo[],
                              const hsize_t extent[], void *data)
{
    hid_t memory = H5Screate_simple(ndim, extent, NULL);
    hid_t place = spmd__hyperslab_select(how->dataset, how->slab, lo, extent);
    spmd_status status = move(how, memory, place, data);
    H5Sclose(place);
    H5Sclose(memory);
    return status;
}

static spmd_status move_block(const struct transfer *how, const spmd_block *block)
{
    if (block->ndim == 0)
        return move(how, H5S_ALL, H5S_ALL, block->data);
    struct pieces pieces = cut_block(block);
    int64_t at[SPMD_MAX_DIMS] = {0};
    char *data = block->data;
    do {
        int64_t lo[SPMD_MAX_DIMS];
        hsize_t extent[SPMD_MAX_DIMS];
        for (int d = 0; d < block->ndim; d++)
            lo[d] = block->offset[d] + at[d];
        piece_extents(block, &pieces, at, extent);
        TRY(move_piece(how, block->ndim, lo, extent, data));
        data += (int64_t)extent[pieces.cut] * pieces.row_bytes;
    } while (next_piece(block, &pieces, at));
    return SPMD_OK;
}

/* What nobody has written may stay as it is in memory: not even HDF5 sets what has no value. */
static void clear_unwritten(hid_t dataset, const spmd_block *block)
{
    H5D_space_status_t status;
    if (H5Dget_space_status(dataset, &status) < 0 || status != H5D_SPACE_STATUS_ALLOCATED)
        memset(block->data, 0, spmd__block_bytes(block));
}

spmd_status spmd__transfer(const spmd_file *file, const char *name, hid_t dataset,
                           enum direction direction, const spmd_hyperslab *slab,
                           const spmd_block *block)
{
    if (spmd_block_size(block) == 0)
        return SPMD_OK;
    bool to_bool;
    hid_t stored = H5Dget_type(dataset), type = spmd__convert_type(stored, block->dtype, &to_bool);
    H5Tclose(stored);
    struct transfer how = {file, name, dataset, type, direction, slab};
    bool done = false;
    spmd_status status = SPMD_OK;
    if (spmd__hyperslab_is_box(slab)) {
        spmd_block shifted = spmd__hyperslab_shift(slab, block);
        status = spmd__direct_move(file, name, dataset, type, direction, &shifted, &done);
    }
    if (status == SPMD_OK && !done && direction == FROM_FILE)
        clear_unwritten(dataset, block);
    if (status == SPMD_OK && !done)
        status = move_block(&how, block);
    H5Tclose(type);
    if (to_bool && status == SPMD_OK)
        spmd__convert_to_bools(spmd_block_size(block), block->data);
    return status;
}
