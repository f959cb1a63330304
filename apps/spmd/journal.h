/* journal.h - rows of a sweep that survive whatever ends the run.
 *
 * A journal is a directory: a text `header` that says which sweep it is of, and a file `rows.N`
 * for each rank that took part. A row is one line, appended by one write, with a checksum in
 * front; a line that a crash has torn is noticed and left out. */
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
    struct journal_row *rows; /* [count] in no order; an id may stand more than once */
    int64_t damaged;          /* lines that were left out */
};

/* For one rank. Makes the directory and its header. */
spmd_status journal_create(const char *path, int nfields, const struct journal_field fields[]);

/* For one rank. Whether there is a journal at `path` (false for an empty directory, or one whose
 * header was never finished); fails if it is of another sweep, and says in what. */
spmd_status journal_check(const char *path, int nfields, const struct journal_field fields[],
                          bool *found);

/* For one rank. Removes a journal; leaves a directory that holds other files alone and fails. */
spmd_status journal_remove(const char *path);

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
