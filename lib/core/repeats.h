/* core/repeats.h - what happens a second time. */
#ifndef CORE_REPEATS_H
#define CORE_REPEATS_H

#include <stdbool.h>
#include <stdint.h>

enum { REPEATS_MOST = 128 };

/* Zeroed before its first use. */
struct repeats {
    int count;
    uint64_t key[REPEATS_MOST]; /* [count] what has happened */
    bool again[REPEATS_MOST];   /* [count] and has done so more than once */
};

/* Whether this is the second time of what has this key: not the first, nor a later one. When
 * REPEATS_MOST different things have happened, others are not looked at. */
bool spmd__repeats_second(struct repeats *repeats, uint64_t key);

#endif
