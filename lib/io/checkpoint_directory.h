/* io/checkpoint_directory.h - the directory of checkpoints: names, what is there, what goes. */
#ifndef IO_CHECKPOINT_DIRECTORY_H
#define IO_CHECKPOINT_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

/* Steps have at most 18 digits. */
#define MOST_STEP INT64_C(999999999999999999)

/* All are local, and are called on one rank. */

/* The path of the checkpoint of a step, for the caller to free(); NULL without memory. */
char *spmd__checkpoint_path(const char *directory, int64_t step);

/* The steps of which there is a file, in order; `step` is for the caller to free(). Without the
 * directory there are none. */
struct step_list {
    int64_t *step; /* [count] */
    int count;
};
spmd_status spmd__checkpoint_list(const char *directory, struct step_list *steps);

/* Makes the directory, and those that it is in, unless it is there. */
spmd_status spmd__checkpoint_make_directory(const char *directory);

/* That nothing, or a checkpoint, has the name of the one to be saved. */
spmd_status spmd__checkpoint_check_free(const char *directory, int64_t step);

/* Removes what killed runs have left aside, if nobody is saving here now. Warns where it cannot. */
void spmd__checkpoint_clear(const char *directory);

/* From here until the lock is given back, what this rank writes aside stays. -1: there are no locks
 * here. */
int spmd__checkpoint_lock(const char *directory);
void spmd__checkpoint_unlock(int lock);

/* Removes all checkpoints that are whole but that of `step` and the keep - 1 highest of the others.
 * Warns where it cannot. */
void spmd__checkpoint_prune(const char *directory, int64_t step, int keep);

#endif
