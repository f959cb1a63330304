/* core/epoch.h - in which order an epoch takes the rows of datasets.
 *
 * Any row at any time; or, where rows of a file are stored in runs that are dear to read, in two
 * steps: the runs are shuffled, and then the rows of each window, which are so many of this order
 * one after the other. The order depends on these numbers and the key alone. */
#ifndef CORE_EPOCH_H
#define CORE_EPOCH_H

#include "core/shuffle.h"

/* How rows are ordered in every epoch. */
struct ordering {
    int64_t rows;
    bool shuffled; /* if not, as they stand */
    spmd_key key;
    int64_t window; /* rows; 0: all of them, in one step */
    int64_t run;    /* rows that stand together, the last ones may be fewer */
};

struct epoch {
    struct ordering ordering;
    spmd_key windows;     /* the key of their orders */
    struct shuffle runs;  /* their order */
    int64_t last_run;     /* where in it the last one stands */
    int64_t window;       /* the one that was asked for last; -1: none */
    struct shuffle inner; /* its order */
};

/* The epoch number `index`. */
struct epoch spmd__epoch_make(const struct ordering *ordering, int64_t index);

/* The row that comes as number `at` of it. */
int64_t spmd__epoch_row(struct epoch *epoch, int64_t at);

#endif
