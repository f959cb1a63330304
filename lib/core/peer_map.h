/* core/peer_map.h - files of other processes, mapped once in a process however many use them.
 *
 * A pool is as large as the memory, and address space has an end: a mapping for each mesh and each
 * group of its axes would find it on a large node. */
#ifndef CORE_PEER_MAP_H
#define CORE_PEER_MAP_H

#include "core/peer_file.h"

/* The file, to read and write; NULL where that cannot be, and errno tells why. Children that are
 * forked do not have it. */
char *spmd__peer_map_take(const struct peer_file *file);

/* Gives it back, once for each time that it was taken. NULL is accepted. */
void spmd__peer_map_give(const char *memory);

#endif
