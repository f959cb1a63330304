/* random.c - golden cases of kind random: keys and values of every generator. */
#include <stdlib.h>
#include <string.h>

#include "golden.h"

/* Compares keys [count] with lists of two words, nested as the shape of the split. */
static void expect_keys(struct verdict *verdict, const cJSON *list, const spmd_key keys[],
                        int64_t count)
{
    if (cJSON_IsNumber(first_of(list)) || cJSON_IsString(first_of(list))) {
        expect_elements(verdict, "key", list, SPMD_U32, keys[0].word, 2, 0);
        return;
    }
    int items = cJSON_GetArraySize(list);
    if (items == 0 || count % items != 0) {
        failed(verdict, "expected %d lists of keys, got %lld keys", items, (long long)count);
        return;
    }
    int64_t each = count / items;
    for (const cJSON *item = first_of(list); item; item = item->next, keys += each)
        expect_keys(verdict, item, keys, each);
}

static void run_key(const cJSON *test, struct verdict *verdict, spmd_key key)
{
    const cJSON *expected = NULL;
    if (read_field(test, "key", verdict, &expected))
        expect_keys(verdict, expected, &key, 1);
}

static void run_fold_in(const cJSON *test, struct verdict *verdict, spmd_key key)
{
    int64_t data = 0;
    if (read_integer(test, "data", verdict, &data))
        run_key(test, verdict, spmd_key_fold_in(key, (uint32_t)data));
}

static void run_split(const cJSON *test, struct verdict *verdict, spmd_key key)
{
    const cJSON *num = NULL, *expected = NULL;
    spmd_shape shape = {0};
    int64_t count = 0;
    if (!read_field(test, "num", verdict, &num) || !read_field(test, "keys", verdict, &expected))
        return;
    if (!cJSON_IsArray(num) && !read_integer(test, "num", verdict, &count))
        return;
    if (cJSON_IsArray(num)) {
        if (!read_shape(test, "num", verdict, &shape))
            return;
        count = spmd_shape_size(shape);
    }
    spmd_key *keys = allocate(verdict, count, sizeof *keys);
    if (keys) {
        spmd_key_split(key, count, keys);
        expect_keys(verdict, expected, keys, count);
    }
    free(keys);
}

static void run_permutation(const cJSON *test, struct verdict *verdict, spmd_key key)
{
    int64_t n = 0;
    if (!read_integer(test, "n", verdict, &n) || n < 0)
        return;
    int64_t *out = allocate(verdict, n, sizeof *out);
    if (out && succeeded(verdict, spmd_random_permutation(key, n, 0, n, out)))
        expect_elements(verdict, "values", cJSON_GetObjectItemCaseSensitive(test, "values"),
                        SPMD_I64, out, n, 0);
    free(out);
}

/* A parameter that may be missing. */
static double number_of(const cJSON *test, const char *name, double otherwise)
{
    const cJSON *field = cJSON_GetObjectItemCaseSensitive(test, name);
    return cJSON_IsNumber(field) ? field->valuedouble : otherwise;
}

/* The generators of arrays: all of an array's values into `out`. */
typedef spmd_status generate(const cJSON *test, spmd_key key, spmd_dtype dtype, spmd_shape shape,
                             void *out);

static spmd_status bits(const cJSON *test, spmd_key key, spmd_dtype dtype, spmd_shape shape,
                        void *out)
{
    (void)test;
    return spmd_random_bits(key, dtype, shape, NULL, out);
}

static spmd_status uniform(const cJSON *test, spmd_key key, spmd_dtype dtype, spmd_shape shape,
                           void *out)
{
    return spmd_random_uniform(key, dtype, shape, NULL, number_of(test, "minval", 0),
                               number_of(test, "maxval", 1), out);
}

static spmd_status normal(const cJSON *test, spmd_key key, spmd_dtype dtype, spmd_shape shape,
                          void *out)
{
    (void)test;
    return spmd_random_normal(key, dtype, shape, NULL, out);
}

static spmd_status randint(const cJSON *test, spmd_key key, spmd_dtype dtype, spmd_shape shape,
                           void *out)
{
    int64_t minval = 0, maxval = 0;
    if (!integer_of(cJSON_GetObjectItemCaseSensitive(test, "minval"), &minval) ||
        !integer_of(cJSON_GetObjectItemCaseSensitive(test, "maxval"), &maxval))
        return spmd_fail(SPMD_ERR_BODY, "minval and maxval are no whole numbers");
    return spmd_random_randint(key, dtype, shape, NULL, minval, maxval, out);
}

static spmd_status bernoulli(const cJSON *test, spmd_key key, spmd_dtype dtype, spmd_shape shape,
                             void *out)
{
    (void)dtype;
    return spmd_random_bernoulli(key, number_of(test, "p", 0.5), shape, NULL, out);
}

static void run_array(const cJSON *test, struct verdict *verdict, spmd_key key, generate *make,
                      spmd_dtype dtype)
{
    spmd_shape shape = {0};
    if (!read_shape(test, "shape", verdict, &shape) ||
        (dtype == SPMD_DTYPE_NONE && !read_dtype(test, "dtype", verdict, &dtype)))
        return;
    int64_t count = spmd_shape_size(shape);
    void *out = allocate(verdict, count, spmd_dtype_size(dtype));
    if (out && succeeded(verdict, make(test, key, dtype, shape, out))) {
        const cJSON *hex = cJSON_GetObjectItemCaseSensitive(test, "hex");
        const cJSON *values = cJSON_GetObjectItemCaseSensitive(test, "values");
        int64_t ulp = (int64_t)number_of(test, "tolerance_ulp", 0);
        expect_elements(verdict, hex ? "hex" : "values", hex ? hex : values, dtype, out, count,
                        ulp);
    }
    free(out);
}

void run_random(const cJSON *test, struct verdict *verdict)
{
    static const struct {
        const char *op;
        void (*run)(const cJSON *test, struct verdict *verdict, spmd_key key);
        generate *make;
        spmd_dtype dtype; /* of what it makes, if not the case's own */
    } ops[] = {
        {"key", run_key, NULL, SPMD_DTYPE_NONE},
        {"fold_in", run_fold_in, NULL, SPMD_DTYPE_NONE},
        {"split", run_split, NULL, SPMD_DTYPE_NONE},
        {"permutation", run_permutation, NULL, SPMD_DTYPE_NONE},
        {"bits", NULL, bits, SPMD_DTYPE_NONE},
        {"uniform", NULL, uniform, SPMD_DTYPE_NONE},
        {"normal", NULL, normal, SPMD_DTYPE_NONE},
        {"randint", NULL, randint, SPMD_DTYPE_NONE},
        {"bernoulli", NULL, bernoulli, SPMD_BOOL},
    };
    const char *op = NULL;
    int64_t seed = 0;
    if (!read_text(test, "op", verdict, &op) || !read_integer(test, "seed", verdict, &seed))
        return;
    spmd_key key = spmd_key_create((uint64_t)seed);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (strcmp(op, ops[i].op) != 0)
            continue;
        if (ops[i].run)
            ops[i].run(test, verdict, key);
        else
            run_array(test, verdict, key, ops[i].make, ops[i].dtype);
        return;
    }
    skipped(verdict, "random operation %s", op);
}
