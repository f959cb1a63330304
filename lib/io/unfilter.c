/* io/unfilter.c - what HDF5's filters have made of a chunk, undone. */
#include "io/unfilter.h"

#include <stdint.h>
#include <string.h>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

static void swap(struct chunk_data *chunk, size_t bytes)
{
    unsigned char *data = chunk->data;
    chunk->data = chunk->spare;
    chunk->spare = data;
    chunk->bytes = bytes;
}

static const char *inflate_chunk(struct chunk_data *chunk)
{
#ifdef HAVE_ZLIB
    uLongf bytes = chunk->room;
    if (uncompress(chunk->spare, &bytes, chunk->data, chunk->bytes) != Z_OK)
        return "its compressed bytes (deflate) are damaged";
    swap(chunk, bytes);
    return NULL;
#else
    (void)chunk;
    return "there is no zlib to inflate it";
#endif
}

/* All first bytes of the elements stand together, then all second ones, ...; what is no whole
 * element stands at the end as it is. */
static const char *unshuffle(struct chunk_data *chunk, size_t element)
{
    const size_t count = chunk->bytes / element;
    const unsigned char *from = chunk->data;
    for (size_t b = 0; b < element; b++)
        for (size_t i = 0; i < count; i++)
            chunk->spare[i * element + b] = *from++;
    memcpy(chunk->spare + count * element, from, chunk->bytes % element);
    swap(chunk, chunk->bytes);
    return NULL;
}

static uint32_t fold(uint32_t sum)
{
    return (sum & 0xffff) + (sum >> 16);
}

/* Fletcher's checksum of big-endian words of 16 bits; a last byte is the first one of a word. */
static uint32_t fletcher32(const unsigned char *data, size_t bytes)
{
    enum { WORDS_WITHOUT_CARRY = 360 };
    uint32_t sum = 0, sums = 0;
    for (size_t at = 0, words = 0; at < bytes; at += 2) {
        sum += (uint32_t)data[at] << 8 | (at + 1 < bytes ? data[at + 1] : 0);
        sums += sum;
        if (++words % WORDS_WITHOUT_CARRY == 0 || at + 2 >= bytes) {
            sum = fold(sum);
            sums = fold(sums);
        }
    }
    return fold(sums) << 16 | fold(sum);
}

/* The checksum stands behind the data; old versions of HDF5 swapped the bytes of its words. */
static const char *check_fletcher32(struct chunk_data *chunk)
{
    if (chunk->bytes < CHECKSUM_BYTES)
        return "it is shorter than its checksum";
    const unsigned char *at = chunk->data + (chunk->bytes -= CHECKSUM_BYTES);
    const uint32_t stored = (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | at[1] << 8 | at[0];
    const uint32_t swapped = (stored & 0x00ff00ff) << 8 | (stored & 0xff00ff00) >> 8;
    const uint32_t found = fletcher32(chunk->data, chunk->bytes);
    return found == stored || found == swapped ? NULL : "its checksum (fletcher32) is wrong";
}

static const char *undo(enum filter filter, size_t element, struct chunk_data *chunk)
{
    switch (filter) {
    case FILTER_DEFLATE:
        return inflate_chunk(chunk);
    case FILTER_SHUFFLE:
        return unshuffle(chunk, element);
    case FILTER_FLETCHER32:
        return check_fletcher32(chunk);
    }
    return NULL;
}

const char *spmd__unfilter(const struct filters *filters, unsigned skipped,
                           struct chunk_data *chunk)
{
    for (int i = filters->count - 1; i >= 0; i--) {
        if (skipped >> i & 1)
            continue;
        const char *wrong = undo(filters->filter[i], filters->element, chunk);
        if (wrong)
            return wrong;
    }
    return NULL;
}
