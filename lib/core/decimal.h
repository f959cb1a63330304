/* core/decimal.h - numbers are written and read with a point, whatever the program's language is.
 */
#ifndef CORE_DECIMAL_H
#define CORE_DECIMAL_H

#include <locale.h>

/* From the first call to the second one, in this thread. If there is no memory, the language stays
 * as it is, and the second call does nothing. */
locale_t spmd__decimal_begin(void);
void spmd__decimal_end(locale_t before);

#endif
