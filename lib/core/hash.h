/* core/hash.h - 64-bit digests of data and of arguments (not cryptographic). */
#ifndef CORE_HASH_H
#define CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The digest of `bytes` bytes, going on from `seed` (0, or an earlier digest). The same on every
 * rank for the same bytes. */
uint64_t spmd__hash(uint64_t seed, const void *data, size_t bytes);

/* That of a text, with its end; NULL is a text of its own. */
uint64_t spmd__hash_text(uint64_t seed, const char *text);

#endif
