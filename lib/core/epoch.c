/* core/epoch.c - in which order an epoch takes the rows of datasets. */
#include "core/epoch.h"

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

struct epoch spmd__epoch_make(const struct ordering *ordering, int64_t index)
{
    struct epoch epoch = {.ordering = *ordering, .window = -1};
    const spmd_key key = spmd_key_fold_in(ordering->key, (uint32_t)index);
    if (!ordering->shuffled)
        return epoch;
    if (ordering->window == 0) {
        epoch.inner = spmd__shuffle_make(key, ordering->rows);
        return epoch;
    }
    spmd_key keys[2];
    spmd_key_split(key, 2, keys);
    const int64_t nruns = (ordering->rows - 1) / ordering->run + 1;
    epoch.windows = keys[1];
    epoch.runs = spmd__shuffle_make(keys[0], nruns);
    epoch.last_run = spmd__shuffle_find(&epoch.runs, nruns - 1);
    return epoch;
}

/* The row that comes as number `at` where runs are shuffled, and no rows: the last run may have
 * fewer than the others. */
static int64_t row_of_runs(const struct epoch *epoch, int64_t at)
{
    const int64_t run = epoch->ordering.run;
    const int64_t missing = (run - epoch->ordering.rows % run) % run;
    const int64_t behind_last = (epoch->last_run + 1) * run - missing;
    if (at >= behind_last)
        at += missing;
    return spmd__shuffle_at(&epoch->runs, at / run) * run + at % run;
}

int64_t spmd__epoch_row(struct epoch *epoch, int64_t at)
{
    const struct ordering *ordering = &epoch->ordering;
    if (!ordering->shuffled)
        return at;
    if (ordering->window == 0)
        return spmd__shuffle_at(&epoch->inner, at);
    const int64_t window = at / ordering->window, lo = window * ordering->window;
    if (window != epoch->window) {
        const spmd_key key = spmd_key_fold_in(epoch->windows, (uint32_t)window);
        epoch->inner = spmd__shuffle_make(key, min(ordering->window, ordering->rows - lo));
        epoch->window = window;
    }
    return row_of_runs(epoch, lo + spmd__shuffle_at(&epoch->inner, at - lo));
}
