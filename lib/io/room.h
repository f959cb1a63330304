/* io/room.h - room on the disk for a file that is written aside: taken before it is needed. */
#ifndef IO_ROOM_H
#define IO_ROOM_H

#include "io/file.h"

/* Local, on position 0. Makes sure that the metadata of an empty file fits, of which HDF5 does not
 * know yet. */
spmd_status spmd__room_begin(spmd_file *file);

/* Collective. Makes sure that `bytes` more than what has its place in the file by now, and all
 * metadata, fit on the disk. No agreement: position 0 has the verdict. */
spmd_status spmd__room_reserve(spmd_file *file, int64_t bytes);

/* Local. Gives back the room that was reserved in vain, all after the end of the open file. Gives
 * 0; or -1, with errno. */
int spmd__room_trim(int fd);

/* Local. Closing a file makes HDF5 write its metadata. Where the disk may be full, the file's own
 * data makes room for it: the data is lost. */
void spmd__room_free(const spmd_file *file);

#endif
