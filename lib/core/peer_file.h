/* core/peer_file.h - files in memory that processes of one node share, without a name anywhere.
 *
 * One process makes the file (memfd_create), writes a mark into its first 8 bytes, and tells the
 * others where it is. These map it by way of /proc, as long as the maker has it open; it goes with
 * the last mapping, however the processes end. */
#ifndef CORE_PEER_FILE_H
#define CORE_PEER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Mappings begin at a multiple of this, where the file may have pages of this size. */
enum { PEER_FILE_LARGE_PAGE = 1 << 21 };

struct peer_file {
    int64_t process;    /* the file is /proc/PROCESS/fd/DESCRIPTOR ... */
    int64_t descriptor; /* ... -1: there is none */
    uint64_t size;
    uint64_t mark; /* tells it from one of a process with the same number on another system */
};

/* A mark for a new file. */
uint64_t spmd__peer_file_mark(void);

/* How large a file may become: beyond that the system ends the program by a signal. */
uint64_t spmd__peer_file_limit(void);

/* Maps one's own file of `size` bytes, to read and write; NULL where that cannot be, and errno
 * tells why. */
void *spmd__peer_file_map_own(int descriptor, size_t size);

/* Maps the file of another process, or one's own, to read, or to write as well; NULL where that
 * cannot be, and errno tells why: ESRCH where it is not the one that was meant. munmap it. */
void *spmd__peer_file_map(const struct peer_file *file, bool writable);

#endif
