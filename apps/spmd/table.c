/* table.c - the rows of a sweep: merged from its journal, counted and ranked. */
#include "table.h"

#include <math.h>
#include <stdlib.h>

#include "ids.h"

static void take_row(struct journal_row *mine, struct journal_row *row)
{
    if (mine->state == SPMD_SWEEP_DONE && row->state != SPMD_SWEEP_DONE)
        return;
    char *message = mine->message;
    *mine = *row;
    row->message = message; /* freed with the journal's rows */
}

static void clear_row(struct journal_row *row)
{
    *row = (struct journal_row){.state = SPMD_SWEEP_NOT_RUN, .seconds = NAN, .rank = -1};
    for (int m = 0; m < JOURNAL_MAX_METRICS; m++)
        row->metrics[m] = NAN;
}

spmd_status table_create(const struct table_form *form, const uint64_t ids[],
                         struct journal_rows *journal, struct table *table)
{
    int64_t nrows = form->space->nrows;
    struct table new = {.form = form};
    struct id_row *sorted;
    SPMD_TRY(ids_sort(nrows, ids, &sorted));
    new.rows = malloc(((size_t)nrows + 1) * sizeof *new.rows);
    if (!new.rows) {
        free(sorted);
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for %lld rows", (long long)nrows);
    }
    for (int64_t i = 0; i < nrows; i++)
        clear_row(&new.rows[i]);
    for (int64_t i = 0; i < journal->count; i++) {
        int64_t row = ids_find(nrows, sorted, journal->rows[i].id);
        if (row >= 0)
            take_row(&new.rows[row], &journal->rows[i]);
        else
            new.strangers++;
    }
    free(sorted);
    *table = new;
    return SPMD_OK;
}

void table_free(struct table *table)
{
    for (int64_t i = 0; table->rows && i < table->form->space->nrows; i++)
        free(table->rows[i].message);
    free(table->rows);
    *table = (struct table){0};
}

int64_t table_count(const struct table *table, spmd_sweep_state state)
{
    int64_t count = 0;
    for (int64_t i = 0; i < table->form->space->nrows; i++)
        count += table->rows[i].state == state;
    return count;
}

bool table_better(const struct table_form *form, const double a[], const double b[])
{
    double x = a[form->objective], y = b[form->objective];
    if (isnan(x) || isnan(y))
        return !isnan(x);
    return form->minimize ? x < y : x > y;
}

int64_t table_best(const struct table *table, const bool taken[])
{
    int64_t best = -1;
    for (int64_t i = 0; i < table->form->space->nrows; i++) {
        const struct journal_row *row = &table->rows[i];
        if (row->state != SPMD_SWEEP_DONE || (taken && taken[i]))
            continue;
        if (best < 0 || table_better(table->form, row->metrics, table->rows[best].metrics))
            best = i;
    }
    return best;
}
