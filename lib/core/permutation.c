/* core/permutation.c - random permutations: sorting by random words. See spmd/random.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "core/threefry.h"

enum {
    DIGIT_BITS = 8,
    DIGITS = 1 << DIGIT_BITS,
    WORD_BITS = 32,
};

/* Numbers and the words to sort them by. */
struct deck {
    uint32_t *word;
    int64_t *number;
};

static spmd_status deck_alloc(int64_t n, struct deck *deck)
{
    TRY(spmd__alloc((size_t)n, sizeof *deck->word, &deck->word));
    return spmd__alloc((size_t)n, sizeof *deck->number, &deck->number);
}

static void deck_free(struct deck *deck)
{
    free(deck->word);
    free(deck->number);
}

static size_t digit(uint32_t word, int shift)
{
    return word >> shift & (DIGITS - 1);
}

/* One pass of a radix sort, which is stable: sorts by the digit at `shift`. */
static void sort_digit(const struct deck *from, int64_t n, int shift, struct deck *to)
{
    int64_t place[DIGITS + 1] = {0};
    for (int64_t i = 0; i < n; i++)
        place[digit(from->word[i], shift) + 1]++;
    for (int d = 0; d < DIGITS; d++)
        place[d + 1] += place[d];
    for (int64_t i = 0; i < n; i++) {
        int64_t at = place[digit(from->word[i], shift)]++;
        to->word[at] = from->word[i];
        to->number[at] = from->number[i];
    }
}

/* Leaves the result in `deck`, since the number of digits is even. */
static void sort(struct deck *deck, struct deck *spare, int64_t n)
{
    for (int shift = 0; shift < WORD_BITS; shift += 2 * DIGIT_BITS) {
        sort_digit(deck, n, shift, spare);
        sort_digit(spare, n, shift + DIGIT_BITS, deck);
    }
}

/* So many that n^3 <= 2^(32 rounds): two numbers hardly ever get the same words in all of them,
 * which would leave them in order. */
static int rounds(int64_t n)
{
    return (int)ceil(3 * log((double)n) / log((double)UINT32_MAX));
}

static void shuffle(spmd_key key, int64_t n, struct deck *deck, struct deck *spare)
{
    for (int64_t i = 0; i < n; i++)
        deck->number[i] = i;
    for (int round = rounds(n); round > 0; round--) {
        spmd_key keys[2];
        spmd_key_split(key, 2, keys);
        key = keys[0];
        spmd__threefry_bits32(keys[1], 0, (size_t)n, deck->word);
        sort(deck, spare, n);
    }
}

spmd_status spmd_random_permutation(spmd_key key, int64_t n, int64_t lo, int64_t hi, int64_t *out)
{
    if (n < 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a permutation of %lld numbers", (long long)n);
    if (lo < 0 || lo > hi || hi > n)
        return spmd_fail(SPMD_ERR_ARGUMENT, "elements %lld:%lld of a permutation of %lld",
                         (long long)lo, (long long)hi, (long long)n);
    if (lo == hi)
        return SPMD_OK;
    if (!out)
        return spmd_fail(SPMD_ERR_ARGUMENT, "no memory to write a permutation to");
    struct deck deck = {0}, spare = {0};
    spmd_status status = deck_alloc(n, &deck);
    if (status == SPMD_OK)
        status = deck_alloc(n, &spare);
    if (status == SPMD_OK) {
        shuffle(key, n, &deck, &spare);
        memcpy(out, deck.number + lo, (size_t)(hi - lo) * sizeof *out);
    }
    deck_free(&spare);
    deck_free(&deck);
    return status;
}
