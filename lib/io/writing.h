/* io/writing.h - an array on its way into a dataset.
 *
 *     check and agree -> values -> prepare -> staging -> move -> close
 *
 * `prepare` makes the dataset, or opens or extends it. Contiguous datasets take independent
 * transfers (io/transfer.h); chunked ones collective rounds (io/rounds.h). */
#ifndef IO_WRITING_H
#define IO_WRITING_H

#include "array/array.h"
#include "io/description.h"
#include "io/file.h"

struct writing {
    spmd_file *file;
    const char *name;
    spmd_array *array;                   /* the values, once the call has begun */
    const spmd_dataset_options *options; /* of a new dataset */
    const spmd_hyperslab *asked;         /* of one that is there; NULL: all of it */
    hid_t dataset;                       /* from here on `prepare` fills in */
    spmd_hyperslab slab;                 /* where in it the array goes */
    bool begun;                          /* the file is no longer as it was */
};

/* Collective. A call that writes an array, `digest` of its other arguments. What `prepare` does is
 * collective, with an agreement wherever ranks may go different ways, but none at its end. */
typedef spmd_status prepare_writing(struct writing *writing);
spmd_status spmd__writing_run(struct writing *writing, const char *call, spmd_status status,
                              uint64_t digest, prepare_writing *prepare);

/* Collective, for a `prepare`; no agreement. Opens the dataset, which must take the array's type
 * and be stored so that it can be written. */
spmd_status spmd__writing_open(struct writing *writing, struct description *about);

/* Local. That the array has as many dimensions as `shape`, of what is called `place`, and from
 * dimension `first` on the same extents. */
spmd_status spmd__writing_check_shape(const struct writing *writing, int first, const char *place,
                                      spmd_shape shape);

/* Collective, no agreement. That the dataset, with as many rows as `shape`, has no packed chunks
 * without a place, which HDF5 1.10 cannot write in parallel: it takes those that ranks share for
 * one and the same, waits for ever, or does not find what it is to complete. */
spmd_status spmd__writing_check_packed(const struct writing *writing, spmd_shape shape);

/* Collective, no agreement. Sets SHARDING_ATTRIBUTE to the type of the whole dataset, of `shape`,
 * lying as the array does. */
spmd_status spmd__writing_label(const struct writing *writing, spmd_dtype dtype, spmd_shape shape);

#endif
