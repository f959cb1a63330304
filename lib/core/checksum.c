/* core/checksum.c - checksums of arrays, of which each rank can compute its part. */
#include "core/checksum.h"

#include "core/block.h"
#include "core/clones.h"
#include "core/mix.h"
#include "core/rows.h"

#define STEP_OF_INDEX 0x9e3779b97f4a7c15u

/* Words are done in steps of a constant length, which compilers turn into vectors. */
enum { STEP = 32 };

#define WORDS(name, type)                                                                 \
    CLONES_WIDE                                                                           \
    static uint64_t name(uint64_t state, int64_t count, const type *word)                 \
    {                                                                                     \
        uint64_t sum[STEP] = {0}, total = 0;                                              \
        for (; count >= STEP; count -= STEP, word += STEP, state += STEP_OF_INDEX * STEP) \
            for (uint64_t k = 0; k < STEP; k++)                                           \
                sum[k] += spmd__mix(word[k] + state + STEP_OF_INDEX * k);                 \
        for (int64_t k = 0; k < count; k++)                                               \
            total += spmd__mix(word[k] + state + STEP_OF_INDEX * (uint64_t)k);            \
        for (int k = 0; k < STEP; k++)                                                    \
            total += sum[k];                                                              \
        return total;                                                                     \
    }
WORDS(words_8, uint8_t)
WORDS(words_16, uint16_t)
WORDS(words_32, uint32_t)
WORDS(words_64, uint64_t)

uint64_t spmd__checksum_run(spmd_dtype dtype, int64_t first, int64_t count, const void *elements)
{
    uint64_t words = dtype == SPMD_C128 ? 2 : 1;
    uint64_t state = ((uint64_t)first * words + 1) * STEP_OF_INDEX;
    switch (spmd_dtype_size(dtype)) {
    case 1:
        return words_8(state, count, elements);
    case 2:
        return words_16(state, count, elements);
    case 4:
        return words_32(state, count, elements);
    default:
        return words_64(state, count * (int64_t)words, elements);
    }
}

/* Joins the last two dimensions, in which the box is whole in the last one, as often as it is: then
 * the box is the same elements in fewer, longer rows. */
static void join_whole_dimensions(spmd_shape *shape, spmd_box *box)
{
    int last = shape->ndim - 1;
    while (last > 0 && box->lo[last] == 0 && box->hi[last] == shape->dim[last]) {
        int64_t extent = shape->dim[last--];
        shape->dim[last] *= extent;
        box->lo[last] *= extent;
        box->hi[last] *= extent;
    }
    if (shape->ndim > 0)
        shape->ndim = box->ndim = last + 1;
}

uint64_t spmd__checksum_block(const spmd_block *block)
{
    spmd_shape shape = spmd_shape_make(block->ndim, block->global);
    spmd_box box = spmd__block_box(block);
    join_whole_dimensions(&shape, &box);
    const char *data = block->data;
    const int64_t size = (int64_t)spmd_dtype_size(block->dtype);
    uint64_t sum = 0;
    struct rows rows = spmd__rows_begin(shape, &box);
    while (spmd__rows_next(&rows))
        sum += spmd__checksum_run(block->dtype, rows.first, rows.count, data + rows.at * size);
    return sum;
}
