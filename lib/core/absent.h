/* core/absent.h - what messages say of a number that names nothing, and of what there is. */
#ifndef CORE_ABSENT_H
#define CORE_ABSENT_H

#include <stdint.h>

struct absent {
    char text[128];
};

/* "there is no dim 2, only -2 to 1", of those from `lo` up to before `hi`; "only 0" of one, "there
 * are none" of none. `what` is one of them: "dim". */
struct absent spmd__absent(const char *what, int64_t number, int64_t lo, int64_t hi);

#endif
