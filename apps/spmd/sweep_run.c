/* sweep_run.c - running the pending configurations on all ranks, a journal row each. */
#include "sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "interrupt.h"
#include "progress.h"

/* Configurations are dealt out in turn, f64[devices, batches, hyperparams], so that the ranks'
 * numbers differ by at most one. */
static int64_t devices(const struct sweep *sweep)
{
    return spmd_mesh_size(sweep->mesh);
}

static int64_t batches(const struct sweep *sweep)
{
    return (sweep->npending + devices(sweep) - 1) / devices(sweep);
}

/* The row of the space at a place of that array; -1 for padding. */
static int64_t dealt_row(const struct sweep *sweep, int64_t device, int64_t batch)
{
    int64_t turn = batch * devices(sweep) + device;
    return turn < sweep->npending ? sweep->pending[turn] : -1;
}

static int64_t row_of_index(const struct sweep *sweep, int64_t index)
{
    return dealt_row(sweep, index / batches(sweep), index % batches(sweep));
}

static spmd_status fill_configs(const spmd_box *box, void *data, void *user)
{
    const struct sweep *sweep = user;
    double *out = data;
    for (int64_t d = box->lo[0]; d < box->hi[0]; d++)
        for (int64_t b = box->lo[1]; b < box->hi[1]; b++) {
            int64_t row = dealt_row(sweep, d, b);
            for (int64_t c = box->lo[2]; c < box->hi[2]; c++)
                *out++ = row >= 0 ? space_row(&sweep->space, row)[c] : NAN;
        }
    return SPMD_OK;
}

static spmd_status on_row(const spmd_sweep_row *ended, void *user)
{
    struct sweep *sweep = user;
    struct journal_row row = {.id = sweep->ids[row_of_index(sweep, ended->index)],
                              .state = ended->state,
                              .seconds = ended->seconds,
                              .rank = ended->rank,
                              .message = (char *)ended->message};
    for (int m = 0; m < MLP_NMETRICS; m++)
        row.metrics[m] = ended->metrics[m];
    return journal_append(&sweep->journal, &row);
}

/* "0.9861 with lr=0.1 width=64", of this run or, if it was better, of an earlier one;
 * "" while there is none. */
static void format_best(const struct sweep *sweep, const spmd_sweep_progress *progress, char *text,
                        size_t size)
{
    const struct table_form *form = &sweep->form;
    double best[JOURNAL_MAX_METRICS];
    best[form->objective] = progress->best;
    int64_t row = progress->best_index >= 0 ? row_of_index(sweep, progress->best_index) : -1;
    if (sweep->best >= 0 && (row < 0 || !table_better(form, best, sweep->best_metrics))) {
        best[form->objective] = sweep->best_metrics[form->objective];
        row = sweep->best;
    }
    text[0] = '\0';
    if (row < 0)
        return;
    size_t used = (size_t)snprintf(text, size, "%.4g with", best[form->objective]);
    for (int c = 0; c < sweep->space.ncolumns && used < size; c++)
        if (!sweep->space.fixed[c])
            used += (size_t)snprintf(text + used, size - used, " %s=%.4g", sweep->space.names[c],
                                     space_row(&sweep->space, row)[c]);
}

static void on_progress(const spmd_sweep_progress *progress, void *user)
{
    const struct sweep *sweep = user;
    char best[128];
    format_best(sweep, progress, best, sizeof best);
    progress_draw(sweep->nended + progress->done, sweep->nended + progress->total, progress->done,
                  progress->seconds, best);
}

/* Position 0 says what is kept if a signal ends the run; the progress on the screen goes. */
static spmd_status prepare_last_words(const struct sweep *sweep, bool seen)
{
    char *words;
    if (asprintf(&words, "%sspmd: note: stopped; what has ended is in %s: --resume goes on\n",
                 seen ? "\r\033[K" : "", sweep->journal_path) < 0)
        return spmd_fail(SPMD_ERR_MEMORY, "out of memory");
    spmd_status status = interrupt_begin(words);
    free(words);
    return status;
}

spmd_status sweep_run(struct sweep *sweep)
{
    if (sweep->npending == 0)
        return SPMD_OK;
    bool seen = sweep->root && (sweep->options->progress || progress_is_seen());
    SPMD_TRY(spmd_agree(sweep->mesh, sweep->root ? prepare_last_words(sweep, seen) : SPMD_OK));
    spmd_array *configs = NULL;
    spmd_shape shape = SPMD_SHAPE(devices(sweep), batches(sweep), sweep->space.ncolumns);
    spmd_status status = spmd_array_from_callback(sweep->mesh, "P(devices)", SPMD_F64, shape,
                                                  fill_configs, sweep, &configs);
    spmd_sweep_options options = {.objective = sweep->form.objective,
                                  .minimize = sweep->form.minimize,
                                  .on_row = on_row,
                                  .on_progress = seen ? on_progress : NULL,
                                  .user = sweep};
    spmd_sweep_result result = {0};
    if (status == SPMD_OK)
        status = spmd_sweep(sweep->mesh, mlp_train, &sweep->columns, configs,
                            sweep->keys[SWEEP_KEY_TRAIN], MLP_NDATA, sweep->data, 0, NULL,
                            MLP_NMETRICS, &options, &result);
    interrupt_end();
    if (seen)
        progress_clear();
    spmd_sweep_result_free(&result);
    spmd_array_free(&configs);
    return status;
}
