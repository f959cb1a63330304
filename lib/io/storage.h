/* io/storage.h - how the elements of a dataset are stored, for print-outs, and to be stored so
 * again. */
#ifndef IO_STORAGE_H
#define IO_STORAGE_H

#include <spmd/io.h>

#include "core/text.h"
#include "io/h5.h"

/* Local. "contiguous", "compact", "virtual", "external", "chunks 64x64, shuffle, deflate 4". */
void spmd__storage_print(struct text *text, hid_t dataset);

/* The options that make a dataset of `dtype` like this one, zeroed before. Their fill, if there is
 * one, is to be freed; it is left out where there is no memory. */
void spmd__storage_options(hid_t dataset, spmd_dtype dtype, spmd_dataset_options *options);

#endif
