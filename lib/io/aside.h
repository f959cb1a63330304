/* io/aside.h - files are written aside, then put in place. */
#ifndef IO_ASIDE_H
#define IO_ASIDE_H

#include "io/file.h"

/* How a file aside begins. */
typedef spmd_status aside_step(spmd_file *file);
struct aside_call {
    const char *name;       /* of the call */
    aside_step *look;       /* local: at the file that there is; may be NULL */
    aside_step *open_aside; /* collective: opens file->aside, which is empty */
    int64_t seal, step;     /* of a checkpoint; 0 and -1: it is none */
};
spmd_status spmd__aside_begin(spmd_mesh *mesh, const char *path, const struct aside_call *how,
                              spmd_file **file);

/* Collective. spmd_file_create; with `seal` bytes in front for a seal, the file will be the
 * checkpoint of `step`, and its datasets get checksums. */
spmd_status spmd__aside_create(spmd_mesh *mesh, const char *path, int64_t seal, int64_t step,
                               spmd_file **file);

/* How HDF5 shall open such a file: to be closed. */
hid_t spmd__aside_access(const spmd_file *file);

/* Collective. Ends a new file: puts it in place; or removes it, without touching the message. To
 * abandon it begins with an agreement; where that fails, for want of a rank, the file stays open.
 */
spmd_status spmd__aside_finish(spmd_file *file);
spmd_status spmd__aside_abandon(spmd_file *file);

#endif
