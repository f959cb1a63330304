/* shuffle.c - unit tests of permutations that need no memory. */
#include "core/shuffle.h"
#include "unit.h"

static spmd_key key_of(uint64_t seed)
{
    return spmd_key_fold_in(spmd_key_create(7), (uint32_t)seed);
}

static void expect_each_once(spmd_key key, int64_t n)
{
    bool *seen = calloc((size_t)n, sizeof *seen);
    const struct shuffle shuffle = spmd__shuffle_make(key, n);
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = spmd__shuffle_at(&shuffle, i);
        ck_assert(at >= 0 && at < n && !seen[at]);
        ck_assert_int_eq(spmd__shuffle_find(&shuffle, at), i);
        seen[at] = true;
    }
    free(seen);
}

START_TEST(each_number_stands_once)
{
    for (int64_t n = 1; n < 600; n++)
        expect_each_once(key_of((uint64_t)n), n);
    expect_each_once(key_of(1), ((int64_t)1 << 18) - 1);
    expect_each_once(key_of(2), ((int64_t)1 << 18) + 1);
}
END_TEST

START_TEST(huge_ones_stay_inside)
{
    const int64_t n = INT64_MAX;
    const struct shuffle shuffle = spmd__shuffle_make(key_of(3), n);
    for (int64_t i = n - 1000; i < n; i++) {
        const int64_t at = spmd__shuffle_at(&shuffle, i);
        ck_assert(at >= 0 && at < n);
    }
}
END_TEST

/* Files of positions, kept for years, rely on it. */
START_TEST(the_order_is_the_same_for_ever)
{
    const int64_t expected[10] = {9, 2, 6, 1, 5, 8, 4, 7, 0, 3};
    const struct shuffle shuffle = spmd__shuffle_make(spmd_key_create(42), 10);
    for (int64_t i = 0; i < 10; i++)
        ck_assert_int_eq(spmd__shuffle_at(&shuffle, i), expected[i]);
    const struct shuffle large = spmd__shuffle_make(spmd_key_create(42), 60000);
    ck_assert_int_eq(spmd__shuffle_at(&large, 0), 21290);
    ck_assert_int_eq(spmd__shuffle_at(&large, 59999), 44726);
}
END_TEST

/* The number of a permutation of n among the n! of them, in lexical order. */
static int rank_of(const struct shuffle *shuffle, int n)
{
    int rank = 0;
    for (int i = 0; i < n; i++) {
        int less = 0;
        for (int j = i + 1; j < n; j++)
            less += spmd__shuffle_at(shuffle, j) < spmd__shuffle_at(shuffle, i);
        rank = rank * (n - i) + less;
    }
    return rank;
}

/* The sum of squared deviations of counts [ncounts] from their mean, in means: of ncounts - 1
 * degrees of freedom where all are equally likely. */
static double chi_squared(const int *counts, int ncounts, double mean)
{
    double sum = 0;
    for (int i = 0; i < ncounts; i++)
        sum += (counts[i] - mean) * (counts[i] - mean) / mean;
    return sum;
}

START_TEST(all_orders_of_a_few_are_equally_likely)
{
    enum { N = 5, ORDERS = 120, EACH = 100 };
    int counts[ORDERS] = {0};
    for (uint64_t seed = 0; seed < ORDERS * EACH; seed++) {
        const struct shuffle shuffle = spmd__shuffle_make(key_of(seed), N);
        counts[rank_of(&shuffle, N)]++;
    }
    ck_assert(chi_squared(counts, ORDERS, EACH) < ORDERS + 4 * 15.4);
}
END_TEST

START_TEST(all_places_of_a_number_are_equally_likely)
{
    enum { N = 37, KEYS = 1500 };
    int counts[N * N] = {0};
    for (uint64_t seed = 0; seed < KEYS; seed++) {
        const struct shuffle shuffle = spmd__shuffle_make(key_of(seed), N);
        for (int i = 0; i < N; i++)
            counts[i * N + spmd__shuffle_at(&shuffle, i)]++;
    }
    ck_assert(chi_squared(counts, N * N, (double)KEYS / N) < (N - 1) * (N - 1) + 4 * 51);
}
END_TEST

/* In a random order one number on average is followed by its successor, whatever n is. */
START_TEST(neighbours_are_torn_apart)
{
    enum { N = 1000, KEYS = 200 };
    int followed = 0;
    for (uint64_t seed = 0; seed < KEYS; seed++) {
        const struct shuffle shuffle = spmd__shuffle_make(key_of(seed), N);
        for (int i = 1; i < N; i++)
            followed += spmd__shuffle_at(&shuffle, i) == spmd__shuffle_at(&shuffle, i - 1) + 1;
    }
    ck_assert(followed > KEYS / 2 && followed < 2 * KEYS);
}
END_TEST

UNIT_MAIN("shuffle", each_number_stands_once, huge_ones_stay_inside, the_order_is_the_same_for_ever,
          all_orders_of_a_few_are_equally_likely, all_places_of_a_number_are_equally_likely,
          neighbours_are_torn_apart)
