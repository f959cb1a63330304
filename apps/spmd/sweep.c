/* sweep.c - the command `spmd sweep`: read, run what is missing, write, tell. */
#include "sweep.h"

#include <stdio.h>
#include <stdlib.h>

#include "blas.h"
#include "cmd.h"
#include "plural.h"

spmd_status sweep_follow_root(spmd_status status)
{
    int code = (int)status;
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return (spmd_status)code;
}

static spmd_status prepare(struct sweep *sweep)
{
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "devices=*", &sweep->mesh));
    sweep->root = spmd_mesh_position(sweep->mesh) == 0;
    SPMD_TRY(sweep_read_input(sweep));
    return sweep_open_files(sweep);
}

static spmd_status run(struct sweep *sweep)
{
    SPMD_TRY(sweep_run(sweep));
    return sweep_write_files(sweep);
}

static void release(struct sweep *sweep)
{
    journal_close(&sweep->journal);
    journal_unlock(&sweep->lock);
    table_free(&sweep->table);
    for (int i = 0; i < MLP_NDATA; i++)
        spmd_array_free(&sweep->data[i]);
    space_free(&sweep->space);
    free(sweep->ids);
    free(sweep->pending);
    free(sweep->hdf5);
    free(sweep->csv);
    free(sweep->journal_path);
    spmd_mesh_free(&sweep->mesh);
}

/* The first failed row's message stands for all; the others are in the CSV file. */
static void tell_failed(const struct table *table, int64_t failed)
{
    int64_t row = 0;
    while (table->rows[row].state != SPMD_SWEEP_FAILED)
        row++;
    int64_t nrows = table->form->space->nrows;
    cmd_warning("%lld of %lld configuration%s failed; the first one is configuration %lld: %s",
                (long long)failed, (long long)nrows, plural(nrows), (long long)row,
                table->rows[row].message);
}

/* At position 0. Returns the exit code. */
static int tell_result(const struct sweep *sweep)
{
    const struct table *table = &sweep->table;
    int64_t nrows = sweep->space.nrows, done = table_count(table, SPMD_SWEEP_DONE),
            failed = table_count(table, SPMD_SWEEP_FAILED),
            diverged = table_count(table, SPMD_SWEEP_DIVERGED),
            not_run = nrows - done - failed - diverged;
    printf("%lld configuration%s: %lld done, %lld failed, %lld diverged, %lld not run\n",
           (long long)nrows, plural(nrows), (long long)done, (long long)failed, (long long)diverged,
           (long long)not_run);
    spmd_status status = table_print(table, sweep->options->top);
    printf("written: %s and %s\n", sweep->hdf5, sweep->csv);
    if (status != SPMD_OK)
        cmd_warning("%s", spmd_error_message());
    if (failed > 0)
        tell_failed(table, failed);
    if (not_run > 0)
        cmd_note("%lld configuration%s left: --resume goes on", (long long)not_run,
                 not_run == 1 ? " is" : "s are");
    bool ended = not_run <= nrows - sweep->nended - sweep->npending;
    return ended && !(sweep->options->strict && failed > 0) ? CMD_DONE : CMD_FAILED;
}

/* Before the first configuration runs, what goes wrong is what was asked for, or a lack. */
static int misuse_or_failure(spmd_status status)
{
    return status == SPMD_ERR_MEMORY || status == SPMD_ERR_MPI ? CMD_FAILED : CMD_MISUSED;
}

static int sweep_all(const struct sweep_options *options)
{
    struct sweep sweep = {.options = options, .lock = -1};
    int code = CMD_DONE;
    spmd_status status = prepare(&sweep);
    if (status != SPMD_OK) {
        cmd_error("%s", spmd_error_message());
        code = misuse_or_failure(status);
    } else if (run(&sweep) != SPMD_OK) {
        cmd_error("%s", spmd_error_message());
        cmd_note("what has ended is kept in %s: --resume goes on", sweep.journal_path);
        code = CMD_FAILED;
    } else if (sweep.root) {
        code = tell_result(&sweep);
    }
    release(&sweep);
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return code;
}

int cmd_sweep(int argc, char **argv)
{
    struct sweep_options options;
    int code;
    blas_begin(argv);
    if (!sweep_options_parse(argc, argv, &options, &code))
        return code;
    MPI_Init(NULL, NULL);
    code = sweep_all(&options);
    sweep_options_free(&options);
    MPI_Finalize();
    return code;
}
