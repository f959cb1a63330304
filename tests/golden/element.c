/* element.c - array elements of any type: from JSON, as numbers, as text, compared. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"

/* The 16-bit types by the bits of their mantissa and the bias of their exponent. */
static void half_format(spmd_dtype dtype, int *mantissa, int *bias)
{
    *mantissa = dtype == SPMD_F16 ? 10 : 7;
    *bias = dtype == SPMD_F16 ? 15 : 127;
}

static double half_number(spmd_dtype dtype, uint16_t bits)
{
    int mantissa, bias;
    half_format(dtype, &mantissa, &bias);
    int exponent = (bits & 0x7fff) >> mantissa, fraction = bits & ((1 << mantissa) - 1);
    double magnitude = exponent == 2 * bias + 1 ? (fraction ? NAN : INFINITY)
                       : exponent == 0
                           ? ldexp(fraction, 1 - bias - mantissa)
                           : ldexp(fraction + (1 << mantissa), exponent - bias - mantissa);
    return bits & 0x8000 ? -magnitude : magnitude;
}

/* Of a number that the type holds, as those in golden files are. */
static uint16_t half_bits(spmd_dtype dtype, double number)
{
    int mantissa, bias, exponent;
    half_format(dtype, &mantissa, &bias);
    uint16_t sign = signbit(number) ? 0x8000 : 0, top = (uint16_t)((2 * bias + 1) << mantissa);
    if (isnan(number) || isinf(number))
        return (uint16_t)(sign | top | (isnan(number) ? 1 << (mantissa - 1) : 0));
    frexp(number, &exponent);
    int field = exponent - 1 + bias;
    if (number == 0 || field < 1)
        return (uint16_t)(sign | (int)ldexp(fabs(number), mantissa + bias - 1));
    int whole = (int)ldexp(fabs(number), mantissa - exponent + 1);
    return (uint16_t)(sign | (field << mantissa) | (whole - (1 << mantissa)));
}

static bool is_floating(spmd_dtype dtype)
{
    return dtype == SPMD_F16 || dtype == SPMD_BF16 || dtype == SPMD_F32 || dtype == SPMD_F64;
}

static bool is_complex(spmd_dtype dtype)
{
    return dtype == SPMD_C64 || dtype == SPMD_C128;
}

/* The type of the real and of the imaginary part. */
static spmd_dtype part_of(spmd_dtype dtype)
{
    return dtype == SPMD_C64 ? SPMD_F32 : SPMD_F64;
}

double element_number(spmd_dtype dtype, const void *element)
{
    switch (dtype) {
    case SPMD_BOOL:
        return *(const bool *)element;
    case SPMD_I8:
        return *(const int8_t *)element;
    case SPMD_I16:
        return *(const int16_t *)element;
    case SPMD_I32:
        return *(const int32_t *)element;
    case SPMD_I64:
        return (double)*(const int64_t *)element;
    case SPMD_U8:
        return *(const uint8_t *)element;
    case SPMD_U16:
        return *(const uint16_t *)element;
    case SPMD_U32:
        return *(const uint32_t *)element;
    case SPMD_U64:
        return (double)*(const uint64_t *)element;
    case SPMD_F16:
    case SPMD_BF16:
        return half_number(dtype, *(const uint16_t *)element);
    case SPMD_F32:
        return *(const float *)element;
    case SPMD_F64:
        return *(const double *)element;
    default:
        return NAN;
    }
}

/* Low bits of a whole number, as an element of a whole type. */
static void set_whole(spmd_dtype dtype, void *element, uint64_t bits)
{
    uint8_t byte = (uint8_t)bits;
    uint16_t two = (uint16_t)bits;
    uint32_t four = (uint32_t)bits;
    switch (spmd_dtype_size(dtype)) {
    case 1:
        memcpy(element, &byte, 1);
        break;
    case 2:
        memcpy(element, &two, 2);
        break;
    case 4:
        memcpy(element, &four, 4);
        break;
    default:
        memcpy(element, &bits, 8);
    }
}

void element_set(spmd_dtype dtype, void *element, double number)
{
    if (dtype == SPMD_F64)
        *(double *)element = number;
    else if (dtype == SPMD_F32)
        *(float *)element = (float)number;
    else if (is_floating(dtype))
        *(uint16_t *)element = half_bits(dtype, number);
    else if (dtype == SPMD_BOOL)
        *(bool *)element = number != 0;
    else
        set_whole(dtype, element, (uint64_t)(int64_t)number);
}

static bool floating_read(const cJSON *json, spmd_dtype dtype, void *element)
{
    double number = json->valuedouble;
    if (cJSON_IsString(json)) {
        char *end = json->valuestring;
        number = strtod(json->valuestring, &end);
        if (end == json->valuestring || *end != '\0')
            return false;
    } else if (!cJSON_IsNumber(json)) {
        return false;
    }
    element_set(dtype, element, number);
    return true;
}

bool element_read(const cJSON *json, spmd_dtype dtype, void *element)
{
    if (is_complex(dtype)) {
        spmd_dtype part = part_of(dtype);
        return cJSON_GetArraySize(json) == 2 && floating_read(json->child, part, element) &&
               floating_read(json->child->next, part, (char *)element + spmd_dtype_size(part));
    }
    if (is_floating(dtype))
        return floating_read(json, dtype, element);
    if (cJSON_IsBool(json)) {
        set_whole(dtype, element, cJSON_IsTrue(json));
        return true;
    }
    if (cJSON_IsString(json) && json->valuestring[0] != '-') {
        char *end = json->valuestring;
        set_whole(dtype, element, strtoull(json->valuestring, &end, 10));
        return end != json->valuestring && *end == '\0';
    }
    int64_t whole = 0;
    bool good = integer_of(json, &whole);
    set_whole(dtype, element, (uint64_t)whole);
    return good;
}

void element_print(char *buffer, size_t size, spmd_dtype dtype, const void *element)
{
    if (is_complex(dtype)) {
        spmd_dtype part = part_of(dtype);
        snprintf(buffer, size, "[%.17g, %.17g]", element_number(part, element),
                 element_number(part, (const char *)element + spmd_dtype_size(part)));
    } else if (dtype == SPMD_BOOL) {
        snprintf(buffer, size, "%s", *(const bool *)element ? "true" : "false");
    } else if (dtype == SPMD_U64) {
        snprintf(buffer, size, "%" PRIu64, *(const uint64_t *)element);
    } else if (dtype == SPMD_I64) {
        snprintf(buffer, size, "%" PRId64, *(const int64_t *)element);
    } else if (is_floating(dtype)) {
        double number = element_number(dtype, element);
        snprintf(buffer, size, "%a (%.9g)", number, number);
    } else {
        snprintf(buffer, size, "%.0f", element_number(dtype, element));
    }
}

/* The place of a floating number among all of its type, in order; both zeros are at 0. */
static int64_t ordinal(spmd_dtype dtype, const void *element)
{
    uint64_t bits = 0;
    uint32_t four = 0;
    uint16_t two = 0;
    size_t size = spmd_dtype_size(dtype);
    memcpy(size == 8 ? (void *)&bits : size == 4 ? (void *)&four : (void *)&two, element, size);
    bits |= (uint64_t)four | two;
    uint64_t sign = (uint64_t)1 << (8 * size - 1);
    int64_t magnitude = (int64_t)(bits & (sign - 1));
    return bits & sign ? -magnitude : magnitude;
}

static bool is_close(spmd_dtype dtype, const void *a, const void *b, int64_t ulp)
{
    if (is_complex(dtype)) {
        size_t size = spmd_dtype_size(part_of(dtype));
        return is_close(part_of(dtype), a, b, ulp) &&
               is_close(part_of(dtype), (const char *)a + size, (const char *)b + size, ulp);
    }
    if (!is_floating(dtype))
        return memcmp(a, b, spmd_dtype_size(dtype)) == 0;
    double x = element_number(dtype, a), y = element_number(dtype, b);
    if (isnan(x) || isnan(y) || isinf(x) || isinf(y))
        return x == y || (isnan(x) && isnan(y));
    int64_t from = ordinal(dtype, a), to = ordinal(dtype, b);
    uint64_t steps = from > to ? (uint64_t)from - (uint64_t)to : (uint64_t)to - (uint64_t)from;
    return steps <= (uint64_t)ulp;
}

void expect_elements(struct verdict *verdict, const char *what, const cJSON *list, spmd_dtype dtype,
                     const void *got, int64_t count, int64_t ulp)
{
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != count) {
        failed(verdict, "expected %d elements of %s, got %lld", cJSON_GetArraySize(list), what,
               (long long)count);
        return;
    }
    const char *at = got;
    int64_t index = 0;
    for (const cJSON *json = first_of(list); json; json = json->next) {
        _Alignas(16) char expected[16] = {0};
        char wanted[80], given[80];
        if (!element_read(json, dtype, expected)) {
            failed(verdict, "expected an element of %s as %s[%lld], got another value",
                   spmd_dtype_name(dtype), what, (long long)index);
            return;
        }
        if (!is_close(dtype, expected, at, ulp)) {
            element_print(wanted, sizeof wanted, dtype, expected);
            element_print(given, sizeof given, dtype, at);
            failed(verdict, "expected %s[%lld] = %s, got %s", what, (long long)index, wanted,
                   given);
            return;
        }
        at += spmd_dtype_size(dtype);
        index++;
    }
}
