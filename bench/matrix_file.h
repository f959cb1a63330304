/* matrix_file.h - a matrix of doubles that goes to a file and comes back, by us and by rivals.
 *
 * An element's value is its row-major index. Rivals have memory of malloc that has been written to,
 * so nothing of theirs waits for fresh pages. */
#ifndef MATRIX_FILE_H
#define MATRIX_FILE_H

#include "bench.h"

struct matrix_file {
    spmd_mesh *mesh; /* of all ranks */
    const char *spec;
    spmd_shape shape;
    char path[4096];
    spmd_box box;      /* of this rank: rows and columns that it writes or reads */
    spmd_array *array; /* ours: to be written, or what was read last */
    double *block;     /* a rival's: the box */
    spmd_file *file;   /* open to be read by us */
    int64_t hdf5;      /* and by rivals: HDF5's identifier, */
    int descriptor;    /* and a descriptor of the same file, */
    int64_t offset;    /* in which the matrix begins here */
    int64_t chunk;     /* extents of a chunk; 0: contiguous */
    int deflate;       /* level of gzip; 0: none */
    bool synced;       /* writing ends when the data is on the disk, under its name */
};

/* Collective. A matrix under `spec`, in a file at `path`. */
void matrix_begin(struct matrix_file *matrix, spmd_mesh *mesh, const char *spec, spmd_shape shape,
                  const char *path);
void matrix_end(struct matrix_file *matrix);

/* Collective. Writes the file, by HDF5, and opens it for those who read; closes and removes it. */
void matrix_open(struct matrix_file *matrix);
void matrix_close(struct matrix_file *matrix);

/* The name that a file has until it is whole. */
void matrix_aside_path(const struct matrix_file *matrix, size_t size, char path[]);

/* Collective. Rank 0 removes what is at the path, and aside. */
void matrix_remove(const struct matrix_file *matrix);

/* Ends the program if `block` is not the box of the matrix. */
void matrix_check(const spmd_box *box, spmd_shape shape, const double *block, const char *who);

int64_t matrix_bytes(const spmd_box *box);

/* Rivals: the state is a matrix_file. pwrite and pread, each run of neighbours in calls of 8 MiB.
 */
void raw_write(void *state);
void raw_write_reserved(void *state);
void raw_read(void *state);
void raw_read_and_broadcast(void *state); /* replicated: rank 0 reads all of it; */
void raw_read_and_gather(void *state);    /* each rank reads rows */

/* HDF5's own calls; open and close of a file to be read. The best
 * sequence that we know: no filling, one transfer. */
int64_t hdf5_open(const char *path);
void hdf5_close(int64_t file);
void hdf5_write_independently(void *state);
void hdf5_write_collectively(void *state);
void hdf5_read_independently(void *state);
void hdf5_read_collectively(void *state);

#endif
