/* sweep.h - what the parts of `spmd sweep` share: its inputs, its files, its run. */
#ifndef APPS_SWEEP_H
#define APPS_SWEEP_H

#include "journal.h"
#include "mlp.h"
#include "space.h"
#include "sweep_options.h"
#include "table.h"

/* Where each key of the sweep goes. */
enum { SWEEP_KEY_TRAIN, SWEEP_KEY_SPLIT, SWEEP_KEY_SAMPLE, SWEEP_KEY_DEAL, SWEEP_NKEYS };

/* The first ones tell one sweep from another and stand in the journal's header; all stand in the
 * HDF5 file. */
enum {
    SWEEP_FIELD_TRAINER,
    SWEEP_FIELD_SEED,
    SWEEP_FIELD_DATA,
    SWEEP_NJOURNAL_FIELDS,
    SWEEP_FIELD_SOURCE = SWEEP_NJOURNAL_FIELDS,
    SWEEP_FIELD_DEFAULTS,
    SWEEP_FIELD_PROGRAM,
    SWEEP_NFIELDS
};

struct sweep {
    const struct sweep_options *options;
    spmd_mesh *mesh; /* devices=*: all ranks */
    bool root;       /* this rank is at position 0 */
    spmd_key keys[SWEEP_NKEYS];
    struct journal_field fields[SWEEP_NFIELDS];

    spmd_array *data[MLP_NDATA];
    struct space space;
    struct mlp_columns columns; /* of the space */
    uint64_t *ids;              /* [nrows] */
    struct table_form form;

    char *hdf5, *csv, *journal_path;
    int lock; /* of the journal, at position 0 while the sweep writes it; -1 */
    struct journal journal;
    int64_t npending;
    int64_t *pending; /* [npending] rows of the space to run, in the order they are dealt out */
    int64_t nended;   /* rows that had ended before */
    int64_t best;     /* the best of them; -1 if there is none. At position 0 */
    double best_metrics[JOURNAL_MAX_METRICS];
    struct table table; /* at the end, at position 0 */
};

/* All collective over the mesh. */

/* The status of position 0, which did something for all, on all ranks. The message stays with
 * position 0, which is the one that tells it. */
spmd_status sweep_follow_root(spmd_status status);

/* sweep_input.c. What is asked for: data, configurations, and what tells this sweep from others. */
spmd_status sweep_read_input(struct sweep *sweep);

/* sweep_data.c. The data set, split for training and testing, and its digest. */
extern const char sweep_builtin_data[]; /* its name */
spmd_status sweep_read_data(struct sweep *sweep);

/* sweep_table.c. The configurations of --table. */
spmd_status sweep_read_table(struct sweep *sweep, struct space *space);

/* sweep_space.c. All configurations, each one once, and their ids. */
spmd_status sweep_make_space(struct sweep *sweep);

/* sweep_files.c. The journal, what it has, what is pending; and the files at the end. */
spmd_status sweep_open_files(struct sweep *sweep);
spmd_status sweep_write_files(struct sweep *sweep);

/* sweep_run.c. The pending rows. */
spmd_status sweep_run(struct sweep *sweep);

#endif
