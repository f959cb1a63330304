/* dying.h - calls that change files, counted, and the one at which a process dies. */
#ifndef DYING_H
#define DYING_H

/* How many such calls this process has made: each pwrite, pwritev, ftruncate, fallocate, fsync and
 * rename of a file, whoever makes it: the library, HDF5 or MPI. */
int dying_count(void);

/* After so many more of them the next one is the last: a write is done in part, which may be
 * nothing or all, as the seed has it; the others are not done. Then `die`, which does not return,
 * is told of it. */
void dying_after(int calls, unsigned seed, void (*die)(const char *last));

#endif
