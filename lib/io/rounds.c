/* io/rounds.c - collective writes into chunks.
 *
 * HDF5 packs a chunk only where all ranks take part, even those that have nothing. Each rank's box
 * is cut into tiles; in each round every rank writes its next tile or none, with the room for all
 * of them taken before, and all agree on how it went. */
#include "io/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "comm/mpi.h"
#include "core/block.h"
#include "core/mem.h"
#include "io/cause.h"
#include "io/chunks.h"
#include "io/description.h"
#include "io/filters.h"
#include "io/hyperslab.h"
#include "io/room.h"
#include "io/tiles.h"
#include "io/transfer.h"
#include "io/types.h"
#include "io/unfilter.h"

/* What is packed or converted is held once more in memory; and what is verified. */
enum { PACKED_BYTES = 1 << 26, VERIFIED_BYTES = 1 << 22 };

struct target {
    spmd_file *file;
    const char *name;
    hid_t dataset;
    const spmd_hyperslab *slab;
    const spmd_block *block;
    hid_t memory, stored; /* types */
    bool converts, packs;
    int64_t chunk[SPMD_MAX_DIMS];
    int64_t chunk_bytes;
    bool takes_room; /* some chunks get their place as they are written */
    bool unsure;     /* there may be no room after all */
};

/* A tile as HDF5 takes it. */
struct portion {
    hid_t type;
    hid_t memory, place; /* spaces */
    const void *data;
    void *converted; /* owned; NULL if nothing is converted */
};

static void extents_of(const spmd_box *tile, hsize_t extent[])
{
    for (int d = 0; d < tile->ndim; d++)
        extent[d] = (hsize_t)(tile->hi[d] - tile->lo[d]);
}

/* The tile in the block's memory. */
static hid_t select_in_block(const spmd_block *block, const spmd_box *tile)
{
    hsize_t whole[SPMD_MAX_DIMS], start[SPMD_MAX_DIMS], extent[SPMD_MAX_DIMS];
    hsize_t once[SPMD_MAX_DIMS];
    extents_of(tile, extent);
    for (int d = 0; d < block->ndim; d++) {
        whole[d] = (hsize_t)block->shape[d];
        start[d] = (hsize_t)(tile->lo[d] - block->offset[d]);
        once[d] = 1;
    }
    hid_t space = H5Screate_simple(block->ndim, whole, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, once, extent);
    return space;
}

static spmd_status fail_to_write(const struct target *target, const char *why)
{
    return spmd_fail(SPMD_ERR_FILE, "%s: dataset \"%s\" cannot be written: %s", target->file->path,
                     target->name, why);
}

/* A conversion inside of a collective write would quietly make it independent. The elements of
 * `tile`, as the file stores them, for the caller to free(). */
static spmd_status convert(const struct target *target, const spmd_box *tile, void **converted)
{
    size_t count = (size_t)spmd_box_size(tile);
    size_t from = H5Tget_size(target->memory), to = H5Tget_size(target->stored);
    void *made = NULL;
    TRY(spmd__alloc_block(count * (from > to ? from : to), &made));
    hid_t space = select_in_block(target->block, tile);
    herr_t failed =
        H5Dgather(space, target->block->data, target->memory, count * from, made, NULL, NULL);
    if (failed >= 0)
        failed = H5Tconvert(target->memory, target->stored, count, made, NULL, H5P_DEFAULT);
    spmd_status status = SPMD_OK;
    if (failed < 0)
        status = fail_to_write(target, spmd__io_cause().text);
    H5Sclose(space);
    if (status == SPMD_OK)
        *converted = made;
    else
        free(made);
    return status;
}

static struct portion nothing_of(const struct target *target)
{
    struct portion portion = {.type = target->stored, .data = ""};
    portion.memory = H5Screate_simple(1, &(hsize_t){1}, NULL);
    portion.place = H5Dget_space(target->dataset);
    H5Sselect_none(portion.memory);
    H5Sselect_none(portion.place);
    return portion;
}

static spmd_status portion_of(const struct target *target, const spmd_box *tile,
                              struct portion *portion)
{
    struct portion made = {.type = target->stored, .data = target->block->data};
    if (target->converts)
        TRY(convert(target, tile, &made.converted));
    hsize_t extent[SPMD_MAX_DIMS];
    extents_of(tile, extent);
    made.place = spmd__hyperslab_select(target->dataset, target->slab, tile->lo, extent);
    if (made.converted) {
        made.data = made.converted;
        made.memory = H5Screate_simple(tile->ndim, extent, NULL);
    } else {
        made.memory = select_in_block(target->block, tile);
    }
    *portion = made;
    return SPMD_OK;
}

/* Collective. Writes `tile`, or takes part without one (NULL). */
static spmd_status write_tile(const struct target *target, const spmd_box *tile)
{
    struct portion portion;
    spmd_status status = tile ? portion_of(target, tile, &portion) : SPMD_OK;
    if (!tile || status != SPMD_OK)
        portion = nothing_of(target);
    hid_t access = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(access, H5FD_MPIO_COLLECTIVE);
    herr_t failed = H5Dwrite(target->dataset, portion.type, portion.memory, portion.place, access,
                             portion.data);
    if (status == SPMD_OK && failed < 0)
        status = fail_to_write(target, spmd__io_cause().text);
    H5Pclose(access);
    H5Sclose(portion.place);
    H5Sclose(portion.memory);
    free(portion.converted);
    return status;
}

/* How many bytes all chunks that `tile` has a part of are at most. A filter that fails to make a
 * chunk smaller is left out; a checksum adds to it. */
static int64_t room_of(const struct target *target, const spmd_box *tile)
{
    int64_t count = 1;
    for (int d = 0; d < tile->ndim; d++) {
        int64_t start = target->slab->start[d], stride = target->slab->stride[d];
        int64_t first = (start + tile->lo[d] * stride) / target->chunk[d];
        int64_t last = (start + (tile->hi[d] - 1) * stride) / target->chunk[d];
        count *= last - first + 1;
    }
    return count * (target->chunk_bytes + CHECKSUM_BYTES);
}

/* Collective. Takes room for the tiles of this round. */
static spmd_status make_room(const struct target *target, const spmd_box *tile)
{
    if (!target->takes_room)
        return SPMD_OK;
    spmd_mesh *mesh = target->file->mesh;
    int64_t bytes = tile ? room_of(target, tile) : 0;
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, mesh->control));
    return spmd__mesh_agree(mesh, spmd__room_reserve(target->file, bytes), 0);
}

/* Reads `tile` as the file has it. */
static spmd_status read_back(const struct target *target, const spmd_box *tile, void *found)
{
    hsize_t extent[SPMD_MAX_DIMS];
    extents_of(tile, extent);
    hid_t memory = H5Screate_simple(tile->ndim, extent, NULL);
    hid_t place = spmd__hyperslab_select(target->dataset, target->slab, tile->lo, extent);
    herr_t failed = H5Dread(target->dataset, target->stored, memory, place, H5P_DEFAULT, found);
    spmd_status status = SPMD_OK;
    if (failed < 0)
        status = spmd_fail(SPMD_ERR_FILE,
                           "%s: dataset \"%s\" was written, but cannot be read to verify it: %s",
                           target->file->path, target->name, spmd__io_cause().text);
    H5Sclose(place);
    H5Sclose(memory);
    return status;
}

static spmd_status verify_tile(const struct target *target, const spmd_box *tile)
{
    size_t bytes = (size_t)spmd_box_size(tile) * H5Tget_size(target->stored);
    void *wanted = NULL, *found = NULL;
    spmd_status status = convert(target, tile, &wanted);
    if (status == SPMD_OK)
        status = spmd__alloc_block(bytes, &found);
    if (status == SPMD_OK)
        status = read_back(target, tile, found);
    if (status == SPMD_OK && memcmp(wanted, found, bytes) != 0)
        status = fail_to_write(target, "some of it is lost, as on a full disk");
    free(found);
    free(wanted);
    return status;
}

/* Local. In small parts, since each is in memory twice. */
static spmd_status verify(const struct target *target, const spmd_box *tile)
{
    if (!target->unsure || !tile)
        return SPMD_OK;
    struct tiles parts = spmd__tiles_cut(target->slab, target->chunk, tile,
                                         H5Tget_size(target->stored), VERIFIED_BYTES);
    for (int64_t i = 0; i < parts.total; i++) {
        spmd_box part = spmd__tiles_get(&parts, i);
        TRY(verify_tile(target, &part));
    }
    return SPMD_OK;
}

static spmd_status write_tiles(const struct target *target, const struct tiles *tiles,
                               int64_t rounds)
{
    spmd_mesh *mesh = target->file->mesh;
    for (int64_t round = 0; round < rounds; round++) {
        spmd_box next, *tile = NULL;
        if (round < tiles->total) {
            next = spmd__tiles_get(tiles, round);
            tile = &next;
        }
        TRY(make_room(target, tile));
        TRY(spmd__mesh_agree(mesh, write_tile(target, tile), 0));
        if (target->unsure)
            TRY(spmd__mesh_agree(mesh, verify(target, tile), 0));
    }
    return SPMD_OK;
}

/* What this rank writes of the array: replica 0 does, of each block. */
static spmd_box box_to_write(const spmd_block *block)
{
    spmd_box box = spmd__block_box(block);
    for (int d = 0; block->replica != 0 && d < box.ndim; d++)
        box.hi[d] = box.lo[d];
    return box;
}

/* The types are to be closed. */
static struct target target_of(spmd_file *file, const char *name, hid_t dataset,
                               const spmd_hyperslab *slab, const spmd_block *block)
{
    struct target target = {
        .file = file, .name = name, .dataset = dataset, .slab = slab, .block = block};
    target.memory = spmd__type_create(block->dtype);
    target.stored = H5Dget_type(dataset);
    target.converts = H5Tequal(target.memory, target.stored) <= 0;
    target.packs = spmd__filters_count(dataset) > 0;
    spmd__chunks_of(dataset, target.chunk);
    target.chunk_bytes =
        spmd__chunks_bytes(target.chunk, block->ndim, H5Tget_size(target.stored), 1);
    target.takes_room = target.packs || !spmd__chunks_are_there(dataset, target.chunk,
                                                                spmd__dataset_shape(dataset));
    return target;
}

/* This rank's tiles. */
static struct tiles cut_block(const struct target *target)
{
    bool packed = target->packs || target->converts;
    int64_t limit =
        packed && spmd__io_piece_bytes > PACKED_BYTES ? PACKED_BYTES : spmd__io_piece_bytes;
    spmd_box box = box_to_write(target->block);
    return spmd__tiles_cut(target->slab, target->chunk, &box, spmd_dtype_size(target->block->dtype),
                           limit);
}

/* Collective. *rounds, the most tiles that any rank has; and whether any rank is unsure of the
 * room. */
static spmd_status agree_on_rounds(struct target *target, int64_t tiles, int64_t *rounds)
{
    int64_t most[] = {tiles, target->file->unsure};
    TRY_MPI(
        MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT64_T, MPI_MAX, target->file->mesh->control));
    *rounds = most[0];
    target->unsure = most[1] != 0;
    return SPMD_OK;
}

spmd_status spmd__rounds_write(spmd_file *file, const char *name, hid_t dataset,
                               const spmd_hyperslab *slab, const spmd_block *block)
{
    struct target target = target_of(file, name, dataset, slab, block);
    const struct tiles tiles = cut_block(&target);
    int64_t rounds = 0;
    spmd_status status = agree_on_rounds(&target, tiles.total, &rounds);
    if (status == SPMD_OK)
        status = write_tiles(&target, &tiles, rounds);
    H5Tclose(target.stored);
    H5Tclose(target.memory);
    return status;
}
