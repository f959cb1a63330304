/* plural.h - the end of a noun behind a number. */
#ifndef APPS_PLURAL_H
#define APPS_PLURAL_H

#include <stdint.h>

/* "" for 1, and "s". */
static inline const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
