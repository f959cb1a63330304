/* progress.h - one line on a terminal that says how far a sweep is. */
#ifndef APPS_PROGRESS_H
#define APPS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether there is a terminal: this process's, or that of the launcher that is its parent. */
bool progress_is_seen(void);

/* Draws "12 of 48 done, 0:21 left, best BEST" over the line before; `seconds` is what the `ran`
 * first ones of `done` to come to an end in this run have taken so far. */
void progress_draw(int64_t done, int64_t total, int64_t ran, double seconds, const char *best);

/* Takes the line away. */
void progress_clear(void);

#endif
