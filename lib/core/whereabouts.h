/* core/whereabouts.h - who is where, in few words: "ranks 0, 2 in psum over x; rank 1 in ...". */
#ifndef CORE_WHEREABOUTS_H
#define CORE_WHEREABOUTS_H

#include <stdint.h>

#include "core/text.h"

/* Prints names [n] of ranks with what is said of each, phrases [n]; those with the same phrase
 * stand together, in order of the first one. NULL leaves a rank out. Long lists are cut, and say by
 * how many. */
void spmd__whereabouts_print(struct text *text, int64_t n, const int names[],
                             const char *const phrases[]);

#endif
