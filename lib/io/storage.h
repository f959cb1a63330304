/* io/storage.h - how the elements of a dataset are stored, for print-outs. */
#ifndef IO_STORAGE_H
#define IO_STORAGE_H

#include "core/text.h"
#include "io/h5.h"

/* Local. "contiguous", "compact", "virtual", "external", "chunks 64x64, shuffle, deflate 4". */
void spmd__storage_print(struct text *text, hid_t dataset);

#endif
