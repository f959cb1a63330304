/* table_print.c - the best rows of a sweep, for people. */
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* At least as wide as the numbers below. */
static int width_of(const char *name)
{
    int length = (int)strlen(name);
    return length > 10 ? length : 10;
}

static void print_names(const struct table_form *form)
{
    const struct space *space = form->space;
    printf("%4s", "#");
    for (int c = 0; c < space->ncolumns; c++)
        if (!space->fixed[c])
            printf(" %*s", width_of(space->names[c]), space->names[c]);
    for (int m = 0; m < form->nmetrics; m++)
        printf(" %*s", width_of(form->metrics[m]), form->metrics[m]);
    printf(" %*s\n", width_of("seconds"), "seconds");
}

static void print_row(const struct table *table, int64_t place, int64_t row)
{
    const struct table_form *form = table->form;
    const struct space *space = form->space;
    printf("%4lld", (long long)place);
    for (int c = 0; c < space->ncolumns; c++) {
        double value = space_row(space, row)[c];
        if (!space->fixed[c])
            printf(" %*.*g", width_of(space->names[c]), value == floor(value) ? 10 : 4, value);
    }
    for (int m = 0; m < form->nmetrics; m++)
        printf(" %*.4g", width_of(form->metrics[m]), table->rows[row].metrics[m]);
    printf(" %*.3f\n", width_of("seconds"), table->rows[row].seconds);
}

static void print_fixed(const struct space *space)
{
    const char *before = "all with";
    for (int c = 0; c < space->ncolumns; c++)
        if (space->fixed[c]) {
            printf("%s %s=%.10g", before, space->names[c], space->values[c]);
            before = ",";
        }
    if (before[0] == ',')
        putchar('\n');
}

spmd_status table_print(const struct table *table, int64_t top)
{
    int64_t nrows = table->form->space->nrows, done = table_count(table, SPMD_SWEEP_DONE);
    if (top > done)
        top = done;
    if (top == 0)
        return SPMD_OK;
    bool *taken = calloc((size_t)nrows, sizeof *taken);
    if (!taken)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory to rank %lld rows", (long long)nrows);
    print_names(table->form);
    for (int64_t place = 1; place <= top; place++) {
        int64_t row = table_best(table, taken);
        print_row(table, place, row);
        taken[row] = true;
    }
    free(taken);
    print_fixed(table->form->space);
    return SPMD_OK;
}
