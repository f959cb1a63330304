/* ids.h - rows by what identifies them. */
#ifndef APPS_IDS_H
#define APPS_IDS_H

#include <spmd.h>

struct id_row {
    uint64_t id;
    int64_t row;
};

/* Sorts the rows by id, equal ones by row. free() them. */
spmd_status ids_sort(int64_t nrows, const uint64_t ids[], struct id_row **sorted);

/* The row of an id, of several one; -1 if there is none. */
int64_t ids_find(int64_t nrows, const struct id_row sorted[], uint64_t id);

#endif
