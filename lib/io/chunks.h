/* io/chunks.h - the chunks of a dataset: how large, and how many. */
#ifndef IO_CHUNKS_H
#define IO_CHUNKS_H

#include <spmd/io.h>

#include "io/h5.h"

/* Local. Whether a dataset of this type and shape can be stored as `options` say. */
spmd_status spmd__chunks_check(const spmd_dataset_options *options, spmd_dtype dtype,
                               spmd_shape shape);

/* What the extent of dimension `d` is then at most; SPMD_UNLIMITED: there is no limit. */
int64_t spmd__chunks_most(const spmd_dataset_options *options, spmd_shape shape, int d);

/* Whether it has chunks then, and which: those asked for, or some that divide `part`, which one
 * rank will write. */
bool spmd__chunks_wanted(const spmd_dataset_options *options, spmd_shape shape);
void spmd__chunks_choose(const spmd_dataset_options *options, spmd_dtype dtype, spmd_shape part,
                         int64_t chunk[]);

/* The chunks [ndim] of a dataset that is open; false if it has none. */
bool spmd__chunks_of(hid_t dataset, int64_t chunk[]);

/* Whether each of them that `shape` has has its place in the file. */
bool spmd__chunks_are_there(hid_t dataset, const int64_t chunk[], spmd_shape shape);

/* How many of them `shape` has, and how many bytes they are; at most a quarter of INT64_MAX. */
int64_t spmd__chunks_count(const int64_t chunk[], spmd_shape shape);
int64_t spmd__chunks_bytes(const int64_t chunk[], int ndim, size_t element, int64_t count);

#endif
