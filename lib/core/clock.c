/* core/clock.c - time that passes. */
#include "core/clock.h"

#include <time.h>

int64_t spmd__clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * CLOCK_SECOND + now.tv_nsec;
}
