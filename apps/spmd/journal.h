/* journal.h - rows of a sweep that survive whatever ends the run.
 *
 * A journal is a directory: a text `header` that says which sweep it is of, and a file `rows.N`
 * for each rank that took part. A row is one line, appended by one write, with a checksum in
 * front; a line that a crash has torn is noticed and left out. The sweep that writes it holds a
 * lock on its file `lock`. */
#ifndef APPS_JOURNAL_H
#define APPS_JOURNAL_H

#include <spmd.h>

enum { JOURNAL_MAX_METRICS = 16 };

/* A line "key value" of the header. */
struct journal_field {
    const char *key;
    char value[128];
};

/* A configuration that has ended. */
struct journal_row {
    uint64_t id; /* digest of its values */
    spmd_sweep_state state;
    double seconds;
    int rank;
    double metrics[JOURNAL_MAX_METRICS]; /* [nmetrics] */
    char *message;                       /* why it failed; NULL or "" else */
};

struct journal_rows {
    int64_t count;
    struct journal_row
        *rows;       /* [count] by rank, each rank's as they ended; an id may stand again */
    int64_t damaged; /* lines that were left out */
};

/* For one rank. Makes the directory, the lock if it is not held, and the header. */
spmd_status journal_create(const char *path, int nfields, const struct journal_field fields[],
                           int *lock);

/* For one rank. Whether there is a journal at `path` (false for an empty directory, or one whose
 * header was never finished); fails if it is of another sweep, and says in what. */
spmd_status journal_check(const char *path, int nfields, const struct journal_field fields[],
                          bool *found);

/* For one rank. Empties a journal but for its lock; leaves a directory that holds other files alone
 * and fails. */
spmd_status journal_clear(const char *path);

/* journal_lock.c. For one rank. Takes the lock of a journal, unless `*lock` (-1: none) holds it;
 * without `create` only if its file is there. Fails if another process has it. */
spmd_status journal_lock(const char *path, bool create, int *lock);
void journal_unlock(int *lock); /* again is harmless */

/* journal_read.c. For one rank. All whole rows of all ranks. */
spmd_status journal_read(const char *path, int nmetrics, struct journal_rows *rows);
void journal_rows_free(struct journal_rows *rows);

/* journal_append.c. For each rank. Opens its own file to append to. */
struct journal {
    char *path;
    int file;
    int nmetrics;
};
spmd_status journal_open(const char *path, int64_t position, int nmetrics, struct journal *journal);
spmd_status journal_append(struct journal *journal, const struct journal_row *row);
spmd_status journal_close(struct journal *journal); /* to the disk; again is harmless */

#endif
