/* core/element.c - single elements of any type: printed, compared. */
#include "core/element.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/half.h"

enum { SHORT_DIGITS = 6 }; /* enough to look at a float */

/* Digits that tell any two floats of a type apart. */
static int float_digits(spmd_dtype dtype)
{
    switch (dtype) {
    case SPMD_F16:
        return 5;
    case SPMD_BF16:
        return 4;
    case SPMD_F32:
    case SPMD_C64:
        return FLT_DECIMAL_DIG;
    default:
        return DBL_DECIMAL_DIG;
    }
}

/* At most `digits` digits: as few as read back as the same value, of a type that has so many. */
static void print_float(struct text *text, double value, int digits)
{
    char buffer[40];
    int precision = digits < SHORT_DIGITS ? digits : SHORT_DIGITS;
    for (; precision <= digits; precision++) {
        snprintf(buffer, sizeof buffer, "%.*g", precision, value);
        double back = strtod(buffer, NULL);
        if (digits == FLT_DECIMAL_DIG ? (float)back == (float)value : back == value)
            break;
    }
    spmd__text_add(text, "%s", isnan(value) ? "nan" : buffer); /* printf may show NaN's sign */
}

static void print_complex(struct text *text, double re, double im, int digits)
{
    print_float(text, re, digits);
    spmd__text_add(text, "%s", signbit(im) && !isnan(im) ? "" : "+");
    print_float(text, im, digits);
    spmd__text_add(text, "i");
}

static uint16_t half_bits(const void *data)
{
    uint16_t bits;
    memcpy(&bits, data, sizeof bits);
    return bits;
}

static void print(struct text *text, spmd_dtype dtype, const void *data, int digits)
{
    switch (dtype) {
    case SPMD_BOOL:
        spmd__text_add(text, "%s", *(const bool *)data ? "true" : "false");
        break;
    case SPMD_I8:
        spmd__text_add(text, "%d", *(const int8_t *)data);
        break;
    case SPMD_I16:
        spmd__text_add(text, "%d", *(const int16_t *)data);
        break;
    case SPMD_I32:
        spmd__text_add(text, "%d", (int)*(const int32_t *)data);
        break;
    case SPMD_I64:
        spmd__text_add(text, "%lld", (long long)*(const int64_t *)data);
        break;
    case SPMD_U8:
        spmd__text_add(text, "%u", *(const uint8_t *)data);
        break;
    case SPMD_U16:
        spmd__text_add(text, "%u", *(const uint16_t *)data);
        break;
    case SPMD_U32:
        spmd__text_add(text, "%lu", (unsigned long)*(const uint32_t *)data);
        break;
    case SPMD_U64:
        spmd__text_add(text, "%llu", (unsigned long long)*(const uint64_t *)data);
        break;
    case SPMD_F16:
        print_float(text, spmd__f16_to_f32(half_bits(data)), digits);
        break;
    case SPMD_BF16:
        print_float(text, spmd__bf16_to_f32(half_bits(data)), digits);
        break;
    case SPMD_F32:
        print_float(text, *(const float *)data, digits);
        break;
    case SPMD_F64:
        print_float(text, *(const double *)data, digits);
        break;
    case SPMD_C64: {
        const float *pair = data;
        print_complex(text, pair[0], pair[1], digits);
        break;
    }
    case SPMD_C128: {
        const double *pair = data;
        print_complex(text, pair[0], pair[1], digits);
        break;
    }
    case SPMD_DTYPE_NONE:
        break;
    }
}

void spmd__element_print(struct text *text, spmd_dtype dtype, const void *data)
{
    print(text, dtype, data, float_digits(dtype));
}

void spmd__element_print_short(struct text *text, spmd_dtype dtype, const void *data)
{
    int digits = float_digits(dtype);
    print(text, dtype, data, digits < SHORT_DIGITS ? digits : SHORT_DIGITS);
}

void spmd__element_print_place(struct text *text, const spmd_box *box, int64_t at)
{
    int64_t index[SPMD_MAX_DIMS];
    for (int d = box->ndim - 1; d >= 0; d--) {
        int64_t extent = box->hi[d] - box->lo[d];
        index[d] = box->lo[d] + at % extent;
        at /= extent;
    }
    spmd__text_add(text, box->ndim == 0 ? "its value" : "element (");
    for (int d = 0; d < box->ndim; d++)
        spmd__text_add(text, "%s%lld", d ? ", " : "", (long long)index[d]);
    spmd__text_add(text, box->ndim == 0 ? "" : ")");
}

static bool is_close(double _Complex a, double _Complex b, double epsilon)
{
    double distance = cabs(a - b);
    return isfinite(distance) && distance <= 8 * epsilon * fmax(cabs(a), cabs(b));
}

bool spmd__element_is_close(spmd_dtype dtype, const void *a, const void *b)
{
    switch (dtype) {
    case SPMD_F16:
        return is_close(spmd__f16_to_f32(half_bits(a)), spmd__f16_to_f32(half_bits(b)), 0x1p-10);
    case SPMD_BF16:
        return is_close(spmd__bf16_to_f32(half_bits(a)), spmd__bf16_to_f32(half_bits(b)), 0x1p-7);
    case SPMD_F32:
        return is_close(*(const float *)a, *(const float *)b, FLT_EPSILON);
    case SPMD_F64:
        return is_close(*(const double *)a, *(const double *)b, DBL_EPSILON);
    case SPMD_C64:
        return is_close(*(const float _Complex *)a, *(const float _Complex *)b, FLT_EPSILON);
    case SPMD_C128:
        return is_close(*(const double _Complex *)a, *(const double _Complex *)b, DBL_EPSILON);
    default:
        return memcmp(a, b, spmd_dtype_size(dtype)) == 0;
    }
}
