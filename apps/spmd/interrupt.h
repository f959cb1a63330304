/* interrupt.h - last words of a run that a signal ends. */
#ifndef APPS_INTERRUPT_H
#define APPS_INTERRUPT_H

#include <spmd.h>

/* From now on SIGINT and SIGTERM, unless they are ignored, write `words` to standard error before
 * they end the process. The words are copied. Fails with SPMD_ERR_MEMORY. */
spmd_status interrupt_begin(const char *words);

/* Both do again what they did before. Harmless without a beginning. */
void interrupt_end(void);

#endif
