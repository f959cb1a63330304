/* digest.h - 64-bit digests that tell data and configurations apart (not cryptographic). */
#ifndef APPS_DIGEST_H
#define APPS_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* The FNV-1a digest of nothing. */
#define DIGEST_EMPTY 0xcbf29ce484222325u

/* The digest of `bytes` bytes behind what `digest` is the digest of. */
uint64_t digest_add(uint64_t digest, const void *data, size_t bytes);

#endif
