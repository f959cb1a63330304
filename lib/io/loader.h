/* io/loader.h - the insides of a loader. See spmd/loader.h.
 *
 *     (key, epoch, step) --core/epoch--> rows of this rank's part, sorted by place
 *         --io/placement, in the thread--> memory of the batch's arrays
 *         --io/convert, or HDF5 for what the thread cannot read--> the batch's arrays */
#ifndef IO_LOADER_H
#define IO_LOADER_H

#include <pthread.h>

#include <spmd/loader.h>

#include "core/epoch.h"
#include "core/error.h"
#include "io/loader_source.h"

/* A batch that is read, or being read. */
struct batch {
    const spmd_loader *loader;
    struct epoch epoch;
    int64_t first;       /* of its rows, in the epoch's order */
    spmd_array **arrays; /* [ndatasets]; NULL: given away */
    struct kept_failure failure;
    bool in_thread;
    pthread_t thread;
};

struct spmd_loader {
    spmd_file *file;
    int ndatasets;
    struct source *sources; /* [ndatasets] */
    struct ordering ordering;
    int64_t batch, batches; /* rows of one; how many an epoch has */
    bool keep_rest;
    bool waits;
    int64_t epoch, step; /* of the batch that comes next */
    struct batch *ahead; /* it, on its way; NULL: not begun */
};

/* The last epoch: an order is drawn with its number, in 32 bits. */
#define LAST_EPOCH INT64_C(4294967295)

/* Local. That there is a loader. */
spmd_status spmd__loader_check(const spmd_loader *loader, const char *call);

/* Collective, on members. Goes to a batch, after an agreement on it and on each rank's `status`. */
spmd_status spmd__loader_go(spmd_loader *loader, const char *call, spmd_status status,
                            int64_t epoch, int64_t step);

/* Local. Begins to read a batch: in a thread, if the system gives one, and the loader does not
 * wait; else it is read before this returns. Failures to read are told when it is finished. */
spmd_status spmd__batch_begin(const spmd_loader *loader, int64_t epoch, int64_t step,
                              struct batch **batch);

/* Local. Waits for a batch, and makes of it what arrays hold. */
spmd_status spmd__batch_finish(struct batch *batch);

/* Local. Waits for the thread, and frees what is left; sets it NULL; NULL is accepted. */
void spmd__batch_free(struct batch **batch);

#endif
