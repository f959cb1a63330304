/* core/hash.c - 64-bit digests: multiply-and-fold over words, after wyhash's idea (Wang Yi). */
#include "core/hash.h"

#include <string.h>

static const uint64_t odd[2] = {0x9e3779b97f4a7c15u, 0xd1b54a32d192ed03u};

static uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t word(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

uint64_t spmd__hash(uint64_t seed, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t hash = fold(seed ^ odd[0], bytes ^ odd[1]);
    size_t left = bytes;
    for (; left >= 16; left -= 16, at += 16)
        hash = fold(word(at) ^ hash ^ odd[0], word(at + 8) ^ odd[1]) ^ (hash >> 29);
    unsigned char tail[16] = {0};
    if (left > 0)
        memcpy(tail, at, left);
    return fold(word(tail) ^ hash ^ odd[0], word(tail + 8) ^ odd[1]) ^ (hash >> 29);
}

uint64_t spmd__hash_text(uint64_t seed, const char *text)
{
    return text ? spmd__hash(seed, text, strlen(text) + 1) : spmd__hash(seed, "", 0);
}
