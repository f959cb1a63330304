/* core/clock.h - time that passes, for waits that tell how long they take. */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <stdint.h>

/* Nanoseconds since some moment; the same moment for all processes of a machine. */
int64_t spmd__clock(void);

#define CLOCK_SECOND INT64_C(1000000000)

#endif
