/* range.h - the values that one hyperparameter takes, as the command line gives them. */
#ifndef APPS_RANGE_H
#define APPS_RANGE_H

#include <spmd.h>

/* More points than this are taken for a slip of the pen. */
enum { RANGE_MAX_POINTS = 10000000 };

/* A list, or a range with or without a count. */
struct range {
    char *name;
    enum { RANGE_LIST, RANGE_LINEAR, RANGE_LOG } kind;
    double lo, hi;  /* of a range, both taken */
    int64_t count;  /* points; 0 for a range without a count */
    double *values; /* [count] of a list */
    bool whole;     /* points of a range are rounded; set by who knows the hyperparameter */
};

/* Reads "lr=0.001..1:log:8", "width=16..64:4", "lr=0.1..1" or "width=16,32,64". Fails with
 * SPMD_ERR_SYNTAX, or SPMD_ERR_ARGUMENT for a number that is not finite. */
spmd_status range_parse(const char *text, struct range *range);
void range_free(struct range *range);

/* Point `i` of `count`. */
double range_point(const struct range *range, int64_t i);

/* A point for `part` in [0, 1): one of `count`, or, without a count, one of all between the ends;
 * uniformly (in the logarithm for log) if the part is. */
double range_draw(const struct range *range, double part);

#endif
