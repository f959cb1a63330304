/* sweep_files.c - what a sweep finds in its journal, and what it leaves behind. */
#include "sweep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "file.h"
#include "plural.h"

static spmd_status name_files(struct sweep *sweep)
{
    const char *out = sweep->options->out;
    if (asprintf(&sweep->hdf5, "%s.h5", out) < 0)
        sweep->hdf5 = NULL;
    if (asprintf(&sweep->csv, "%s.csv", out) < 0)
        sweep->csv = NULL;
    if (asprintf(&sweep->journal_path, "%s.journal", out) < 0)
        sweep->journal_path = NULL;
    if (!sweep->hdf5 || !sweep->csv || !sweep->journal_path)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for the names of files");
    return SPMD_OK;
}

static bool exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

/* The first of the sweep's files that exists; NULL if there is none. */
static const char *earlier_output(const struct sweep *sweep)
{
    if (exists(sweep->hdf5))
        return sweep->hdf5;
    return exists(sweep->csv) ? sweep->csv : NULL;
}

static spmd_status check_replaceable(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return spmd_fail(SPMD_ERR_FILE, "%s is no regular file: give another --out", path);
    return SPMD_OK;
}

static spmd_status remove_output(const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT)
        return file_fail("remove", path);
    return SPMD_OK;
}

static spmd_status remove_earlier(const struct sweep *sweep)
{
    SPMD_TRY(journal_clear(sweep->journal_path));
    SPMD_TRY(remove_output(sweep->hdf5));
    return remove_output(sweep->csv);
}

/* At position 0. Leaves a journal of this sweep behind, new or `found`. */
static spmd_status settle_journal(struct sweep *sweep, bool *found)
{
    const struct sweep_options *options = sweep->options;
    const char *path = sweep->journal_path, *output = earlier_output(sweep);
    *found = false;
    SPMD_TRY(check_replaceable(sweep->hdf5));
    SPMD_TRY(check_replaceable(sweep->csv));
    SPMD_TRY(journal_lock(path, false, &sweep->lock));
    if (options->force)
        SPMD_TRY(remove_earlier(sweep));
    else if (options->resume)
        SPMD_TRY(journal_check(path, SWEEP_NJOURNAL_FIELDS, sweep->fields, found));
    else if (output || exists(path))
        return spmd_fail(SPMD_ERR_FILE,
                         "%s exists: --resume completes the sweep, --force begins anew, or give "
                         "another --out",
                         output ? output : path);
    if (options->resume && !*found && output)
        return spmd_fail(SPMD_ERR_FILE, "%s exists, but not %s to go on from: --force begins anew",
                         output, path);
    return *found ? journal_lock(path, true, &sweep->lock)
                  : journal_create(path, SWEEP_NJOURNAL_FIELDS, sweep->fields, &sweep->lock);
}

/* At position 0. */
static spmd_status read_journal(struct sweep *sweep, struct table *table, int64_t *damaged)
{
    struct journal_rows rows;
    SPMD_TRY(journal_read(sweep->journal_path, MLP_NMETRICS, &rows));
    *damaged = rows.damaged;
    spmd_status status = table_create(&sweep->form, sweep->ids, &rows, table);
    journal_rows_free(&rows);
    return status;
}

static void tell_strangers(const struct sweep *sweep, int64_t strangers)
{
    bool one = strangers == 1;
    cmd_note("%lld row%s of %s %s not asked for now: %s there, but %s and %s are without %s",
             (long long)strangers, plural(strangers), sweep->journal_path, one ? "is" : "are",
             one ? "it stays" : "they stay", sweep->csv, sweep->hdf5, one ? "it" : "them");
}

static void tell_found(const struct sweep *sweep, const struct table *table, int64_t damaged)
{
    cmd_note("%s has %lld done, %lld failed, %lld diverged; %lld not run", sweep->journal_path,
             (long long)table_count(table, SPMD_SWEEP_DONE),
             (long long)table_count(table, SPMD_SWEEP_FAILED),
             (long long)table_count(table, SPMD_SWEEP_DIVERGED),
             (long long)table_count(table, SPMD_SWEEP_NOT_RUN));
    if (damaged > 0)
        cmd_note("%lld damaged line%s of %s left out", (long long)damaged, plural(damaged),
                 sweep->journal_path);
    if (table->strangers > 0)
        tell_strangers(sweep, table->strangers);
}

static bool is_pending(const struct sweep *sweep, spmd_sweep_state state)
{
    if (state == SPMD_SWEEP_NOT_RUN)
        return true;
    return sweep->options->retry_failed && state != SPMD_SWEEP_DONE;
}

/* At position 0. Which rows have to run, by what the journal has. */
static spmd_status read_states(struct sweep *sweep, unsigned char states[])
{
    struct table table;
    int64_t damaged;
    SPMD_TRY(read_journal(sweep, &table, &damaged));
    tell_found(sweep, &table, damaged);
    for (int64_t i = 0; i < sweep->space.nrows; i++)
        states[i] = (unsigned char)table.rows[i].state;
    sweep->best = table_best(&table, NULL);
    if (sweep->best >= 0)
        memcpy(sweep->best_metrics, table.rows[sweep->best].metrics, sizeof sweep->best_metrics);
    table_free(&table);
    return SPMD_OK;
}

static void list_pending(struct sweep *sweep, const unsigned char states[])
{
    int64_t limit = sweep->options->limit, count = 0;
    for (int64_t i = 0; i < sweep->space.nrows; i++) {
        bool pending = is_pending(sweep, (spmd_sweep_state)states[i]);
        if (pending && (limit < 0 || count < limit))
            sweep->pending[count++] = i;
        sweep->nended += !pending;
    }
    sweep->npending = count;
}

/* Neighbours in a grid cost alike, and a grid has periods: so the order is drawn by lot. */
static spmd_status shuffle_pending(struct sweep *sweep)
{
    size_t bytes = (size_t)sweep->npending * sizeof *sweep->pending;
    int64_t *order = malloc(bytes + 1), *shuffled = malloc(bytes + 1);
    spmd_status status = SPMD_OK;
    if (!order || !shuffled)
        status = spmd_fail(SPMD_ERR_MEMORY, "no memory for %lld rows", (long long)sweep->npending);
    else
        status = spmd_random_permutation(sweep->keys[SWEEP_KEY_DEAL], sweep->npending, 0,
                                         sweep->npending, order);
    for (int64_t i = 0; i < sweep->npending && status == SPMD_OK; i++)
        shuffled[i] = sweep->pending[order[i]];
    if (status == SPMD_OK)
        memcpy(sweep->pending, shuffled, bytes);
    free(order);
    free(shuffled);
    return status;
}

static spmd_status find_pending(struct sweep *sweep, bool found)
{
    int64_t nrows = sweep->space.nrows;
    unsigned char *states = calloc((size_t)nrows + 1, 1);
    sweep->pending = malloc(((size_t)nrows + 1) * sizeof *sweep->pending);
    sweep->best = -1;
    spmd_status status = SPMD_OK;
    if (!states || !sweep->pending)
        status = spmd_fail(SPMD_ERR_MEMORY, "no memory for %lld rows", (long long)nrows);
    else if (found)
        status = read_states(sweep, states);
    status = spmd_agree(sweep->mesh, status);
    if (status == SPMD_OK) {
        MPI_Bcast(states, (int)nrows, MPI_UNSIGNED_CHAR, 0, MPI_COMM_WORLD);
        list_pending(sweep, states);
        status = spmd_agree(sweep->mesh, shuffle_pending(sweep));
    }
    free(states);
    return status;
}

spmd_status sweep_open_files(struct sweep *sweep)
{
    bool found = false;
    SPMD_TRY(spmd_agree(sweep->mesh, name_files(sweep)));
    SPMD_TRY(sweep_follow_root(sweep->root ? settle_journal(sweep, &found) : SPMD_OK));
    SPMD_TRY(find_pending(sweep, found));
    return spmd_agree(sweep->mesh,
                      journal_open(sweep->journal_path, spmd_mesh_position(sweep->mesh),
                                   MLP_NMETRICS, &sweep->journal));
}

spmd_status sweep_write_files(struct sweep *sweep)
{
    int64_t damaged;
    SPMD_TRY(spmd_agree(sweep->mesh, journal_close(&sweep->journal)));
    sweep->table.form = &sweep->form;
    SPMD_TRY(
        sweep_follow_root(sweep->root ? read_journal(sweep, &sweep->table, &damaged) : SPMD_OK));
    SPMD_TRY(
        table_write_hdf5(&sweep->table, sweep->mesh, sweep->hdf5, SWEEP_NFIELDS, sweep->fields));
    return sweep_follow_root(sweep->root ? table_write_csv(&sweep->table, sweep->csv) : SPMD_OK);
}
