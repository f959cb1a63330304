/* core/random_integer.c - random bits and integers. See spmd/random.h. */
#include <string.h>

#include "core/draw.h"
#include "core/error.h"
#include "core/threefry.h"

/* The low bytes of `words`. */
static void narrow(const uint32_t *words, size_t count, size_t element, void *out)
{
    if (element == sizeof(uint8_t))
        for (size_t i = 0; i < count; i++)
            ((uint8_t *)out)[i] = (uint8_t)words[i];
    else if (element == sizeof(uint16_t))
        for (size_t i = 0; i < count; i++)
            ((uint16_t *)out)[i] = (uint16_t)words[i];
    else
        memcpy(out, words, count * sizeof *words);
}

struct bits {
    spmd_key key;
    size_t element;
};

static void run_bits(const void *how, uint64_t first, size_t count, void *out)
{
    const struct bits *bits = how;
    if (bits->element == sizeof(uint64_t)) {
        spmd__threefry_bits64(bits->key, first, count, out);
        return;
    }
    uint32_t words[DRAW_RUN];
    spmd__threefry_bits32(bits->key, first, count, words);
    narrow(words, count, bits->element, out);
}

spmd_status spmd_random_bits(spmd_key key, spmd_dtype dtype, spmd_shape shape, const spmd_box *box,
                             void *out)
{
    if (dtype != SPMD_U8 && dtype != SPMD_U16 && dtype != SPMD_U32 && dtype != SPMD_U64)
        return spmd_fail(SPMD_ERR_DTYPE, "random bits are u8, u16, u32 or u64, not %s",
                         spmd_dtype_name(dtype));
    const struct bits bits = {key, spmd_dtype_size(dtype)};
    return spmd__draw(run_bits, &bits, bits.element, shape, box, out);
}

/* The element types, and the least and the most that bounds can ask of each. */
static const struct limits {
    spmd_dtype dtype;
    int64_t least;
    int64_t most;
} limits[] = {
    {SPMD_I8, INT8_MIN, INT8_MAX},    {SPMD_U8, 0, UINT8_MAX},
    {SPMD_I16, INT16_MIN, INT16_MAX}, {SPMD_U16, 0, UINT16_MAX},
    {SPMD_I32, INT32_MIN, INT32_MAX}, {SPMD_U32, 0, UINT32_MAX},
    {SPMD_I64, INT64_MIN, INT64_MAX}, {SPMD_U64, 0, INT64_MAX},
};

static const struct limits *limits_of(spmd_dtype dtype)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].dtype == dtype)
            return &limits[i];
    return NULL;
}

/* Two words an element, `high` and `low`, of 32 bits or 64, are one number that is reduced modulo
 * `span`. All arithmetic is modulo 2^width, so that the span of all values is 0. */
struct integers {
    spmd_key high;
    spmd_key low;
    size_t element;
    uint64_t mask; /* of the word's bits */
    uint64_t minval;
    uint64_t span;
    uint64_t multiplier; /* 2^width modulo span; as in JAX 0 if span > 2^(width/2) */
};

static int64_t clip(int64_t value, int64_t lo, int64_t hi)
{
    return value < lo ? lo : value > hi ? hi : value;
}

static inline uint64_t modulo(uint64_t value, uint64_t span)
{
    return span ? value % span : value;
}

static inline uint64_t reduce(const struct integers *integers, uint64_t high, uint64_t low)
{
    uint64_t sum =
        modulo(high, integers->span) * integers->multiplier + modulo(low, integers->span);
    return integers->minval + modulo(sum & integers->mask, integers->span);
}

static void run_integers32(const void *how, uint64_t first, size_t count, void *out)
{
    const struct integers *integers = how;
    uint32_t high[DRAW_RUN], low[DRAW_RUN];
    spmd__threefry_bits32(integers->high, first, count, high);
    spmd__threefry_bits32(integers->low, first, count, low);
    for (size_t i = 0; i < count; i++)
        low[i] = (uint32_t)reduce(integers, high[i], low[i]);
    narrow(low, count, integers->element, out);
}

static void run_integers64(const void *how, uint64_t first, size_t count, void *out)
{
    const struct integers *integers = how;
    uint64_t high[DRAW_RUN], *low = out;
    spmd__threefry_bits64(integers->high, first, count, high);
    spmd__threefry_bits64(integers->low, first, count, low);
    for (size_t i = 0; i < count; i++)
        low[i] = reduce(integers, high[i], low[i]);
}

static struct integers integers_of(spmd_key key, const struct limits *limit, int64_t minval,
                                   int64_t maxval)
{
    const size_t element = spmd_dtype_size(limit->dtype);
    const bool wide = element == sizeof(uint64_t);
    const uint64_t mask = wide ? UINT64_MAX : UINT32_MAX;
    const int64_t end = limit->most < INT64_MAX ? limit->most + 1 : INT64_MAX;
    minval = clip(minval, limit->least, limit->most);
    maxval = clip(maxval, limit->least, end);

    /* An empty range counts as one of minval alone. */
    const uint64_t span = maxval > minval ? ((uint64_t)maxval - (uint64_t)minval) & mask : 1;
    const uint64_t root = modulo(UINT64_C(1) << (wide ? 32 : 16), span);
    spmd_key keys[2];
    spmd_key_split(key, 2, keys);
    return (struct integers){.high = keys[0],
                             .low = keys[1],
                             .element = element,
                             .mask = mask,
                             .minval = (uint64_t)minval,
                             .span = span,
                             .multiplier = modulo(root * root & mask, span)};
}

spmd_status spmd_random_randint(spmd_key key, spmd_dtype dtype, spmd_shape shape,
                                const spmd_box *box, int64_t minval, int64_t maxval, void *out)
{
    const struct limits *limit = limits_of(dtype);
    if (!limit)
        return spmd_fail(SPMD_ERR_DTYPE, "random integers are of an i or u type, not %s",
                         spmd_dtype_name(dtype));
    const struct integers integers = integers_of(key, limit, minval, maxval);
    draw_run *run = integers.element == sizeof(uint64_t) ? run_integers64 : run_integers32;
    return spmd__draw(run, &integers, integers.element, shape, box, out);
}
