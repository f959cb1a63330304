/* core/dtype.c - element types: sizes and names. */
#include <string.h>

#include <spmd/types.h>

#include "core/error.h"

size_t spmd_dtype_size(spmd_dtype dtype)
{
    switch (dtype) {
    case SPMD_DTYPE_NONE:
        return 0;
#define SIZE(name, text, bytes) \
    case SPMD_##name:           \
        return bytes;
        SPMD_DTYPE_MAP(SIZE)
#undef SIZE
    }
    return 0;
}

const char *spmd_dtype_name(spmd_dtype dtype)
{
    switch (dtype) {
    case SPMD_DTYPE_NONE:
        return "none";
#define NAME(name, text, bytes) \
    case SPMD_##name:           \
        return text;
        SPMD_DTYPE_MAP(NAME)
#undef NAME
    }
    return "unknown type";
}

/* NumPy's names of the same types. */
static const struct {
    const char *text;
    spmd_dtype dtype;
} numpy[] = {
    {"int8", SPMD_I8},       {"int16", SPMD_I16},       {"int32", SPMD_I32},
    {"int64", SPMD_I64},     {"uint8", SPMD_U8},        {"uint16", SPMD_U16},
    {"uint32", SPMD_U32},    {"uint64", SPMD_U64},      {"float16", SPMD_F16},
    {"bfloat16", SPMD_BF16}, {"float32", SPMD_F32},     {"float64", SPMD_F64},
    {"complex64", SPMD_C64}, {"complex128", SPMD_C128},
};

spmd_status spmd_dtype_parse(const char *text, spmd_dtype *dtype)
{
    if (!text)
        return spmd_fail(SPMD_ERR_ARGUMENT, "no text to read an element type from, it is NULL");
#define MATCH(name, short_name, bytes)   \
    if (strcmp(text, short_name) == 0) { \
        *dtype = SPMD_##name;            \
        return SPMD_OK;                  \
    }
    SPMD_DTYPE_MAP(MATCH)
#undef MATCH
    for (size_t i = 0; i < sizeof numpy / sizeof *numpy; i++)
        if (strcmp(text, numpy[i].text) == 0) {
            *dtype = numpy[i].dtype;
            return SPMD_OK;
        }
    return spmd_fail(SPMD_ERR_DTYPE,
                     "\"%s\" is no element type: bool, i8 ... i64, u8 ... u64, f16, bf16, f32, "
                     "f64, c64 or c128",
                     text);
}
