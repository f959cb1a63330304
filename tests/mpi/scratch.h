/* scratch.h - a directory for the files of a run, and what cases do with them. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness.h"

/* Made by rank 0 and removed at its end. */
static char scratch_directory[256];

static inline int scratch_remove_entry(const char *path, const struct stat *about, int kind,
                                       struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    return remove(path);
}

static inline void scratch_remove(void)
{
    nftw(scratch_directory, scratch_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* Collective. The path of a file of this run; valid for the next seven calls. */
static inline const char *scratch(const char *name)
{
    static char paths[8][512];
    static int next;
    if (scratch_directory[0] == '\0') {
        if (test_rank == 0) {
            const char *parent = getenv("TMPDIR");
            snprintf(scratch_directory, sizeof scratch_directory, "%s/spmd-io-XXXXXX",
                     parent ? parent : "/tmp");
            if (mkdtemp(scratch_directory))
                atexit(scratch_remove);
        }
        MPI_Bcast(scratch_directory, sizeof scratch_directory, MPI_CHAR, 0, MPI_COMM_WORLD);
    }
    char *path = paths[next];
    next = (next + 1) % 8;
    snprintf(path, sizeof paths[0], "%s/%s", scratch_directory, name);
    return path;
}

/* Collective. Waits until rank 0 has done what it alone does. */
static inline void after_rank_0(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Whether the blocks of both arrays are the same, bit by bit. */
static inline bool same_blocks(const spmd_array *a, const spmd_array *b)
{
    const spmd_block *p = spmd_array_block(a), *q = spmd_array_block(b);
    if (!p || !q)
        return p == q;
    if (!spmd_shape_equal(spmd_array_shape(a), spmd_array_shape(b)) ||
        spmd_array_dtype(a) != spmd_array_dtype(b))
        return false;
    for (int d = 0; d < p->ndim; d++)
        if (p->shape[d] != q->shape[d] || p->offset[d] != q->offset[d])
            return false;
    return memcmp(p->data, q->data, (size_t)spmd_block_size(p) * spmd_dtype_size(p->dtype)) == 0;
}

#endif
