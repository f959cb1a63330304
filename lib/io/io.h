/* io/io.h - the insides of files, and HDF5 in our terms.
 *
 * Each rank reads by itself; new files are written by all with MPI-IO. A public call begins with
 * spmd__file_enter, which agrees on the arguments; after it the ranks make the same HDF5 calls in
 * the same order. Elements move by independent transfers, so a rank that has nothing, or has
 * failed, may leave them out. A last agreement makes one rank's failure everybody's. */
#ifndef IO_IO_H
#define IO_IO_H

#define H5_USE_110_API
#include <hdf5.h>

#include <spmd/io.h>

#include "comm/mesh.h"

struct spmd_file {
    spmd_mesh *mesh;  /* held */
    char *path;       /* its name in messages; where a new file goes */
    char *aside;      /* where a new file is written; NULL for one that is read */
    hid_t id;         /* negative on idle ranks, and once it is closed */
    int keyval;       /* of the attribute of MPI_COMM_SELF that closes a forgotten file */
    int64_t data_end; /* of a new file: where its last dataset ends, */
    int64_t reserved; /* and how many leading bytes surely fit on the disk */
    bool broken;      /* a write failed half-way: the new file must not take its place */
};

/* Makes HDF5 calls without HDF5's own print-outs; its handler is put back. Not to be nested. */
#define QUIETLY(statement) \
    do {                   \
        H5E_BEGIN_TRY      \
        {                  \
            statement;     \
        }                  \
        H5E_END_TRY        \
    } while (0)

/* What lies behind the HDF5 call that just failed: its innermost record. To be asked for before
 * any other HDF5 call. */
struct cause {
    hid_t minor;
    char text[200];
};
struct cause spmd__io_cause(void);

/* The text of an errno, as it stands in our messages: "no such file or directory". */
struct cause spmd__io_errno(int code);

/* Sets what the arguments print before the message of the last failure. */
spmd_status spmd__io_refine(spmd_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Local. Checks the arguments of an opening and makes the handle, without an HDF5 file. */
spmd_status spmd__file_begin(spmd_mesh *mesh, const char *path, spmd_file **out, spmd_file **made);

/* Collective. Ends an opening with an agreement on arguments, of which `digest` tells, and on
 * success: `made` (may be NULL) goes to *out; or away, on all ranks. */
spmd_status spmd__file_settle(spmd_mesh *mesh, spmd_status status, uint64_t digest, spmd_file *made,
                              spmd_file **out);

/* Local. That there is a file, and a mesh that can do I/O; no agreement can follow without. */
spmd_status spmd__file_check(const spmd_file *file);
spmd_status spmd__file_check_mesh(const spmd_mesh *mesh);

/* Local. That the file is being written, or is not. */
spmd_status spmd__file_check_new(const spmd_file *file);
spmd_status spmd__file_check_old(const spmd_file *file);

/* Collective. Begins a call: agrees on each rank's `status` so far, and that all ranks make the
 * same `call` on the same file with the same arguments, of which `digest` tells. */
spmd_status spmd__file_enter(const spmd_file *file, const char *call, spmd_status status,
                             uint64_t digest);
uint64_t spmd__io_digest(uint64_t seed, const char *text); /* NULL is a text of its own */

/* Collective. Makes sure that the data of `dataset` (or of none, if negative) and all metadata of a
 * new file fit on the disk. No agreement: position 0 has the verdict. */
spmd_status spmd__aside_reserve(spmd_file *file, hid_t dataset);

/* Collective. Ends a new file: puts it in place; or removes it, without touching the message. */
spmd_status spmd__aside_finish(spmd_file *file);
void spmd__aside_abandon(spmd_file *file);

/* Local. Whether `name` can be the name of a dataset. */
spmd_status spmd__name_check(const char *name);

/* Collective, no agreement. The object at `name`; negative if there is none. */
spmd_status spmd__object_open(const spmd_file *file, const char *name, hid_t *object);

/* Collective, no agreement. The dataset at `name`. Its absence is a failure that lists what the
 * file has instead. */
spmd_status spmd__dataset_open(const spmd_file *file, const char *name, hid_t *dataset);

/* Collective, no agreement. That a dataset can be made at `name`. */
spmd_status spmd__dataset_check_free(const spmd_file *file, const char *name);

/* The HDF5 type, to be closed, of our element type in memory and in new files. Complex numbers,
 * bools and half floats are stored as h5py does. */
hid_t spmd__type_create(spmd_dtype dtype);

/* Our element type for one found in a file; SPMD_DTYPE_NONE if it is none of ours. And what such a
 * type is called. */
spmd_dtype spmd__type_dtype(hid_t type);
const char *spmd__type_noun(hid_t type);

/* Whether elements can be converted while they are read. */
bool spmd__type_converts(spmd_dtype from, spmd_dtype to);

/* Local. Moves this rank's block from or to its place in the dataset. */
enum direction { FROM_FILE, TO_FILE };
spmd_status spmd__transfer(const spmd_file *file, const char *name, hid_t dataset,
                           enum direction direction, const spmd_block *block);

/* Collective, no agreement. Sets a text attribute, in place of an old one. */
spmd_status spmd__attribute_write(const spmd_file *file, const char *name, hid_t object,
                                  const char *attribute, const char *text);

#endif
