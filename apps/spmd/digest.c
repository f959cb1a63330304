/* digest.c - FNV-1a. */
#include "digest.h"

uint64_t digest_add(uint64_t digest, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        digest = (digest ^ at[i]) * 0x100000001b3u;
    return digest;
}
