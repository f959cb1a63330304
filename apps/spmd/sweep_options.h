/* sweep_options.h - the command line of `spmd sweep`. */
#ifndef APPS_SWEEP_OPTIONS_H
#define APPS_SWEEP_OPTIONS_H

#include "range.h"

struct sweep_options {
    const char *data; /* NULL: the data set built in */
    const char *x, *y;
    const char *table; /* NULL: none */
    const char *out;
    int nranges;
    struct range *ranges; /* [nranges] */
    int64_t sample;       /* 0: a grid */
    uint64_t seed;
    int objective;
    int64_t top;
    int64_t limit; /* configurations of this run; -1: all */
    bool grid;     /* there was one */
    bool resume, force, retry_failed, strict, progress;
};

/* Reads the arguments (argv[0] is "sweep"). True: go on, and free the options afterwards. False:
 * the help or an error has been told, and `code` is what to exit with. */
bool sweep_options_parse(int argc, char **argv, struct sweep_options *options, int *code);
void sweep_options_free(struct sweep_options *options);

#endif
