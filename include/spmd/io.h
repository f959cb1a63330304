/* spmd/io.h - sharded arrays to and from HDF5 files.
 *
 * One array in a file of its own, or several in one file:
 *
 *     SPMD_TRY(spmd_read(mesh, "in.h5", "x", "P(rows, -)", SPMD_F32, &x));
 *     SPMD_TRY(spmd_write(x, "out.h5", "x"));
 *
 *     spmd_file *file;
 *     SPMD_TRY(spmd_file_create(mesh, "out.h5", &file));
 *     SPMD_TRY(spmd_dataset_write(file, "x", x));
 *     SPMD_TRY(spmd_dataset_write(file, "group/y", y));
 *     SPMD_TRY(spmd_file_close(&file));
 *
 * All calls are collective over the file's mesh, take the same arguments on all ranks and end
 * in an agreement; ranks that hold nothing take part, idle ranks succeed at once, if only their
 * pointers for results are not NULL. They fail with SPMD_ERR_FILE and a message that names file,
 * dataset and reason; with SPMD_ERR_ARGUMENT for a name or a pointer that cannot be; with
 * SPMD_ERR_MESH for an array on another mesh than the file's; as spmd_sharding_create and
 * spmd_sharding_check where an array cannot lie as `spec` says. New arrays are the caller's, for
 * spmd_array_free.
 *
 * A file that is cut short, or whose structure is damaged, is told. A flipped bit among the
 * elements of a plain file is not: checkpoints (spmd/checkpoint.h) and the option fletcher32 are
 * for that. */
#ifndef SPMD_IO_H
#define SPMD_IO_H

#include <spmd/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Collective. Reads one dataset, as spmd_dataset_read; writes a file that has this dataset only, in
 * place of an earlier one, as spmd_file_create. */
spmd_status spmd_read(spmd_mesh *mesh, const char *path, const char *name, const char *spec,
                      spmd_dtype dtype, spmd_array **array);
spmd_status spmd_write(spmd_array *array, const char *path, const char *name);

typedef struct spmd_file spmd_file;

/* Collective. Opens a file for reading; or one that lies in memory (the bytes are copied, each
 * rank passes them; `name` stands for the path in messages). */
spmd_status spmd_file_open(spmd_mesh *mesh, const char *path, spmd_file **file);
spmd_status spmd_file_open_image(spmd_mesh *mesh, const void *bytes, size_t size, const char *name,
                                 spmd_file **file);

/* Collective. Begins a new file. It is written aside, and takes the place of `path` only when
 * spmd_file_close has succeeded: until then an old file stays whole. Of several handles or jobs
 * that write one path, the last to close wins, with its whole file. Where `path` is a link, the
 * file that it leads to is replaced, and the link stays.
 *
 * The file aside is "PATH.tmp-LETTERS" (six, a to z, that no other file has) in the directory of
 * the file to be replaced. It is gone after a close, a discard or a failure, and after MPI_Finalize
 * with the handle still open; a run that is killed leaves it, to be removed by hand. */
spmd_status spmd_file_create(spmd_mesh *mesh, const char *path, spmd_file **file);

/* Collective. Opens an old file to change it: to write new datasets, or parts of those it has, and
 * to append. A copy aside is what changes; closing puts it in place, as of spmd_file_create, and
 * discarding leaves the old file. It takes the room and the time of that copy. What the file has is
 * told by spmd_dataset_info; elements are read once it is closed. A checkpoint is not changed
 * (SPMD_ERR_FILE). */
spmd_status spmd_file_modify(spmd_mesh *mesh, const char *path, spmd_file **file);

/* Collective. Closes a file, and one that was written puts in place. Fails, and removes what was
 * written, if a write to it had failed. The handle is gone in any case but one: where ranks are in
 * different calls (SPMD_ERR_DISAGREE), the file stays open on all of them, and *file as it was. */
spmd_status spmd_file_close(spmd_file **file);

/* Collective. Closes without putting in place: removes what was written aside. Sets *file to NULL;
 * where ranks are in different calls, it leaves the file open as spmd_file_close does, and *file
 * and the message of spmd_error_message tell. */
void spmd_file_discard(spmd_file **file);

/* Collective. Type and shape of a dataset ("x", "group/x"); whether there is one at all. Idle ranks
 * are told nothing: no type, a scalar, false. */
spmd_status spmd_dataset_info(spmd_file *file, const char *name, spmd_dtype *dtype,
                              spmd_shape *shape);
spmd_status spmd_dataset_exists(spmd_file *file, const char *name, bool *exists);

/* Collective. Reads a dataset into a new array; each rank reads its own part. `dtype` converts as
 * HDF5 does (what is out of range is clipped; any integer but 0 is true), or is SPMD_DTYPE_NONE to
 * keep the file's own. Fails with SPMD_ERR_DTYPE between complex and real, and from floats to bool.
 * On idle ranks the array's shape is not known: -1 in each dimension of the spec. */
spmd_status spmd_dataset_read(spmd_file *file, const char *name, const char *spec, spmd_dtype dtype,
                              spmd_array **array);

/* An extent without a limit. */
#define SPMD_UNLIMITED INT64_MAX

/* How a dataset is stored. A zeroed one asks for nothing: contiguous, 0 where nothing is written.
 * The others make it chunked. Chunks that are not given are chosen, of at most 1 MiB: of an array,
 * its part on one rank or a piece of that; else rows. Filters act on each chunk: shuffle (bytes of
 * like significance side by side), deflate, fletcher32 (a checksum that readers verify). A dataset
 * without elements that cannot grow has no chunks. */
typedef struct spmd_dataset_options {
    int64_t chunk[SPMD_MAX_DIMS]; /* [ndim] extents; all 0: contiguous, or chosen */
    bool unlimited;               /* dimension 0 can grow: spmd_dataset_append */
    int64_t most[SPMD_MAX_DIMS];  /* [ndim] what extents can grow to: SPMD_UNLIMITED; 0: not */
    int deflate;                  /* 1, fast, to 9, small; 0: not */
    bool shuffle, fletcher32;
    const void *fill; /* an element of the dataset's type: what is never written; NULL: 0 */
} spmd_dataset_options;

/* Collective. Writes an array as a new dataset, stored as `options` say (NULL: a zeroed one, as
 * spmd_dataset_write). Groups in its name are made; a name that is taken is SPMD_ERR_FILE. Each
 * part is written once, by its owner; what contributions add up to is written. The array's type
 * goes along as attribute "spmd_sharding". Fails with SPMD_ERR_SHAPE for chunks that do not fit. */
spmd_status spmd_dataset_write(spmd_file *file, const char *name, spmd_array *array);
spmd_status spmd_dataset_write_as(spmd_file *file, const char *name, spmd_array *array,
                                  const spmd_dataset_options *options);

/* Collective. Makes a new dataset of this shape in the same way, all of whose elements are `fill`,
 * for hyperslabs to be written and rows to be appended. */
spmd_status spmd_dataset_create(spmd_file *file, const char *name, spmd_dtype dtype,
                                spmd_shape shape, const spmd_dataset_options *options);

/* Some elements of a dataset: along each dimension `count` indices, start, start + stride, and so
 * on. They are an array of shape `count`. */
typedef struct spmd_hyperslab {
    int ndim;
    int64_t start[SPMD_MAX_DIMS];  /* [ndim] */
    int64_t count[SPMD_MAX_DIMS];  /* [ndim] SPMD_INFER: as many as there are */
    int64_t stride[SPMD_MAX_DIMS]; /* [ndim] at least 1 */
} spmd_hyperslab;

/* Local. A hyperslab from lists [ndim]; NULL stands for start 0, count SPMD_INFER, stride 1. */
spmd_hyperslab spmd_hyperslab_make(int ndim, const int64_t *start, const int64_t *count,
                                   const int64_t *stride);

/* Collective. Reads a hyperslab of a dataset (NULL: all) as spmd_dataset_read does; writes an array
 * over one, converted to the dataset's type as in reading. Contiguous and chunked datasets are
 * written so, not those that lie in their header or in other files, or that another program packed
 * and has not written whole. Both fail with SPMD_ERR_SHAPE if the hyperslab reaches outside, or has
 * not the array's shape. */
spmd_status spmd_dataset_read_hyperslab(spmd_file *file, const char *name,
                                        const spmd_hyperslab *slab, const char *spec,
                                        spmd_dtype dtype, spmd_array **array);
spmd_status spmd_dataset_write_hyperslab(spmd_file *file, const char *name,
                                         const spmd_hyperslab *slab, spmd_array *array);

/* Collective. Writes an array behind the last index of dimension 0 of a dataset, which grows by the
 * array's dimension 0; the others are equal: a step of a series [steps,n,m] is an array [1,n,m].
 * "spmd_sharding" then tells the array's sharding, and the dataset's shape. Fails with
 * SPMD_ERR_SHAPE if it cannot grow, and with SPMD_ERR_FILE if it is packed and was made by another
 * program (spmd convert writes it anew).
 *
 * With filters the last chunk is read, and filtered as a whole, at each append to it: give
 * chunks as many rows as one append has, or append more rows at a time. */
spmd_status spmd_dataset_append(spmd_file *file, const char *name, spmd_array *array);

/* Collective. A text attribute of a dataset, a group, or the file ("/"). Reading gives a
 * string that the caller frees with free(), or NULL if there is none. */
spmd_status spmd_dataset_set_text(spmd_file *file, const char *name, const char *attribute,
                                  const char *text);
spmd_status spmd_dataset_get_text(spmd_file *file, const char *name, const char *attribute,
                                  char **text);

/* Local. The version of the HDF5 library in use, and whether it can write in parallel. Needs no
 * MPI. */
void spmd_io_version(int *major, int *minor, int *release, bool *parallel);

#ifdef __cplusplus
}
#endif

#endif
