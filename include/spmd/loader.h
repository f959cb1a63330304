/* spmd/loader.h - mini-batches of datasets in an HDF5 file, for training.
 *
 *     const char *names[] = {"images", "labels"}, *specs[] = {"P(data)", "P(data)"};
 *     spmd_loader_options options = {.batch = 256, .shuffle = true, .key = key};
 *     SPMD_TRY(spmd_loader_create(mesh, "train.h5", 2, names, specs, &options, &loader));
 *     while (spmd_loader_epoch(loader) < epochs) {
 *         spmd_array *batch[2];
 *         SPMD_TRY(spmd_loader_next(loader, batch));
 *         ... batch[0] is f32[256@data,28,28], batch[1] is u8[256@data] ...
 *         spmd_array_free(&batch[0]);
 *         spmd_array_free(&batch[1]);
 *     }
 *
 * An epoch takes each row once, in an order that depends on the key, the epoch and the number of
 * rows alone: the batches are the same on any mesh and any number of ranks, and the position is two
 * numbers, which go into a checkpoint and come back on other ranks.
 *
 * While one batch is used, a thread reads the next one, straight into the memory of its arrays. It
 * reads the parts of contiguous and chunked datasets by itself, also chunks under the filters
 * deflate (where the library was built with zlib), shuffle and fletcher32. HDF5 cannot work in a
 * thread: what is stored in other ways (compact, virtual, external, under other filters, in more
 * than 4096 chunks, in a file with a user block), and conversions to other element types, are left
 * to spmd_loader_next. No other rank, and no signal handler, has to do with the thread.
 *
 * Rows that are chosen at random from chunks with a filter cost a whole chunk each: with chunks of
 * many rows, say `window`. */
#ifndef SPMD_LOADER_H
#define SPMD_LOADER_H

#include <spmd/array.h>
#include <spmd/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct spmd_loader spmd_loader;

/* How batches are made. All but `batch` may be 0, false or NULL, which is what is told first. */
typedef struct spmd_loader_options {
    int64_t batch;  /* rows of a batch, all ranks together: at least 1 */
    bool shuffle;   /* rows come as in the file; or each epoch in a random order */
    spmd_key key;   /* of that order */
    int64_t window; /* with shuffle: any row may come at any time; or the chunks (of the first
                     * dataset) come in a random order, and rows only among those of so many */
    bool keep_rest; /* rows at the end of an epoch that fill no batch are left out; or are a batch
                     * of fewer rows */
    const spmd_dtype *dtypes; /* [ndatasets] of the batches, converted as spmd_dataset_read does;
                               * NULL, or SPMD_DTYPE_NONE of one: as in the file */
    bool wait; /* a thread reads ahead; or batches are read when they are asked for */
} spmd_loader_options;

/* Collective. Opens the datasets `names` [ndatasets] of a file, which have the same extent of
 * dimension 0, the rows; `specs` [ndatasets] say how batches lie: dimension 0 is the batch. A
 * part may be uneven, or empty, as in all arrays. The file stays open, and must not be changed.
 * Fails as spmd_file_open and spmd_dataset_read; with SPMD_ERR_SHAPE if a dataset is a scalar, the
 * numbers of rows differ, or there is not one batch; with SPMD_ERR_SPEC if a batch, or the one of
 * the rest, cannot lie so, or a spec has unreduced axes; with SPMD_ERR_ARGUMENT for options that
 * cannot be. */
spmd_status spmd_loader_create(spmd_mesh *mesh, const char *path, int ndatasets,
                               const char *const names[], const char *const specs[],
                               const spmd_loader_options *options, spmd_loader **loader);

/* Collective. The next batch, as new arrays [ndatasets] of the caller's; after the last one of an
 * epoch the first one of the next. What cannot be read fails with SPMD_ERR_FILE and a message with
 * file, dataset and row, here, whenever the thread met it; then no batch was taken, and the next
 * call tries again. On idle ranks a batch's extents are -1, and each batch is an epoch: nothing is
 * known of the rows there. Behind the last of 2^32 epochs it fails with SPMD_ERR_ARGUMENT. */
spmd_status spmd_loader_next(spmd_loader *loader, spmd_array *batch[]);

/* Local. The epoch of the next batch, and its number in the epoch, both from 0; batches of an
 * epoch; rows of the datasets (-1 on idle ranks). */
int64_t spmd_loader_epoch(const spmd_loader *loader);
int64_t spmd_loader_step(const spmd_loader *loader);
int64_t spmd_loader_batches(const spmd_loader *loader);
int64_t spmd_loader_rows(const spmd_loader *loader);

/* Collective. Goes to a batch of an epoch. Fails with SPMD_ERR_ARGUMENT if there is no such one;
 * there are 2^32 epochs. */
spmd_status spmd_loader_seek(spmd_loader *loader, int64_t epoch, int64_t step);

/* Local. The position, as a tree for a checkpoint: a dict of integers, the key, the names of the
 * datasets; the caller's to free. It is behind the last batch that spmd_loader_next gave, whatever
 * the thread has read.
 */
spmd_status spmd_loader_state(const spmd_loader *loader, spmd_tree **state);

/* Collective. Goes to such a position, of a loader on any mesh. Fails with SPMD_ERR_ARGUMENT if it
 * is of other datasets, another number of rows, or options that give other batches. */
spmd_status spmd_loader_resume(spmd_loader *loader, const spmd_tree *state);

/* Local. Waits for the thread, frees the loader, sets it NULL; NULL is accepted. */
void spmd_loader_free(spmd_loader **loader);

#ifdef __cplusplus
}
#endif

#endif
