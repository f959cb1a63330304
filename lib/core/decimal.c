/* core/decimal.c - numbers with a point. */
#include "core/decimal.h"

locale_t spmd__decimal_begin(void)
{
    locale_t own = duplocale(uselocale((locale_t)0)); /* its letters stay */
    if (!own)
        return (locale_t)0;
    locale_t point = newlocale(LC_NUMERIC_MASK, "C", own);
    if (!point) {
        freelocale(own);
        return (locale_t)0;
    }
    return uselocale(point);
}

void spmd__decimal_end(locale_t before)
{
    if (before)
        freelocale(uselocale(before));
}
