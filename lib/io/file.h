/* io/file.h - the insides of a file handle, and how calls on it begin and end.
 *
 * Each rank reads by itself; files are written by all with MPI-IO, aside. A public call begins with
 * spmd__file_enter, which agrees on the arguments; after it the ranks make the same HDF5 calls in
 * the same order. Elements are read, and contiguous ones written, by independent transfers, so a
 * rank that has nothing, or has failed, may leave them out. A last agreement makes one rank's
 * failure everybody's. */
#ifndef IO_FILE_H
#define IO_FILE_H

#include <sys/stat.h>

#include <spmd/io.h>

#include "comm/mesh.h"
#include "io/h5.h"

struct spmd_file {
    spmd_mesh *mesh;  /* held */
    char *path;       /* its name in messages */
    char *target;     /* what is replaced: `path`, or what it leads to as a link */
    char *aside;      /* where the file is written; NULL for one that is read */
    char *alias;      /* the name of that file for MPI-IO, to which paths may be too long */
    int directory;    /* a descriptor that `alias` begins with; -1: none */
    hid_t id;         /* negative on idle ranks, and once it is closed */
    int keyval;       /* of the attribute of MPI_COMM_SELF that closes a forgotten file */
    int64_t bytes;    /* the size of a file on disk as it was opened to read; else 0 */
    int64_t reserved; /* of a file that is written: how many leading bytes surely fit on the disk */
    bool unsure;      /* of position 0: that could not be made sure of */
    bool broken;      /* a write failed half-way: the file must not take its place */
    int64_t step;     /* of a checkpoint; -1: it is none */
    int64_t seal;     /* of a new one: bytes for its seal, in front of what is HDF5's */
};

/* Local. Checks the arguments of an opening and makes the handle, without an HDF5 file. */
spmd_status spmd__file_begin(spmd_mesh *mesh, const char *call, const char *path, spmd_file **out,
                             spmd_file **made);

/* Collective. Ends an opening with an agreement on arguments, of which `digest` tells, and on
 * success: `made` (may be NULL) goes to *out; or away, on all ranks. */
spmd_status spmd__file_settle(spmd_mesh *mesh, spmd_status status, uint64_t digest, spmd_file *made,
                              spmd_file **out);

/* Takes back what an opening has made so far (may be NULL), on ranks that have agreed to fail. */
void spmd__file_undo(spmd_file *made);

/* Collective. Ends what a call has done with a file of its own: closes it; or, where `status` is a
 * failure, discards it and gives that back. */
spmd_status spmd__file_end(spmd_file **file, spmd_status status);

/* Closes the HDF5 file, whatever comes of it. Local for a file that is read, else collective. */
spmd_status spmd__file_shut(spmd_file *file);

/* Local. Whether this rank is position 0, which alone makes, puts in place and removes. */
bool spmd__file_is_first(const spmd_file *file);

/* Local. That there is a file, and a mesh that can do I/O; no agreement can follow without.
 * Messages name the call, and what else it was given. */
spmd_status spmd__file_check(const spmd_file *file, const char *call, const char *name);
spmd_status spmd__file_check_mesh(const spmd_mesh *mesh, const char *call, const char *path);

/* Local. That the file is being written, or is not; for spmd__file_enter. */
spmd_status spmd__file_check_new(const spmd_file *file);
spmd_status spmd__file_check_old(const spmd_file *file);

/* Local. That what stat() tells of `path` is a regular file. */
spmd_status spmd__file_check_regular(const char *path, const struct stat *about);

/* Local. Opens the file at `path` to read. */
spmd_status spmd__file_open_old(spmd_file *file);

/* Local. The size that an open file on disk has now; where that is not known, the one it was opened
 * with. */
int64_t spmd__file_bytes(const spmd_file *file);

/* Collective. Begins a call: agrees on each rank's `status` so far, and that all ranks make the
 * same `call` on the same file with the same arguments, of which `digest` tells. What is wrong with
 * arguments is told with the file's path before it. */
spmd_status spmd__file_enter(const spmd_file *file, const char *call, spmd_status status,
                             uint64_t digest);

#endif
