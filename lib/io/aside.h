/* io/aside.h - new files: written aside, then put in place. */
#ifndef IO_ASIDE_H
#define IO_ASIDE_H

#include "io/file.h"

/* Collective. spmd_file_create; with `seal` bytes in front for a seal, the file will be the
 * checkpoint of `step`, and its datasets get checksums. */
spmd_status spmd__aside_create(spmd_mesh *mesh, const char *path, int64_t seal, int64_t step,
                               spmd_file **file);

/* Collective. Makes sure that the data of `dataset` (or of none, if negative) and all metadata of a
 * new file fit on the disk. No agreement: position 0 has the verdict. */
spmd_status spmd__aside_reserve(spmd_file *file, hid_t dataset);

/* Collective. Ends a new file: puts it in place; or removes it, without touching the message. To
 * abandon it begins with an agreement; where that fails, for want of a rank, the file stays open.
 */
spmd_status spmd__aside_finish(spmd_file *file);
spmd_status spmd__aside_abandon(spmd_file *file);

#endif
