/* io/types.c - element types and their HDF5 types. */
#include "io/types.h"

#include <stdlib.h>
#include <string.h>

static hid_t create_bool(void)
{
    hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    H5Tenum_insert(type, "FALSE", &(int8_t){0});
    H5Tenum_insert(type, "TRUE", &(int8_t){1});
    return type;
}

/* A float of two bytes: sign, `exponent` bits, `mantissa` bits. */
static hid_t create_half(size_t exponent, size_t mantissa)
{
    hid_t type = H5Tcopy(H5T_NATIVE_FLOAT);
    H5Tset_fields(type, 15, mantissa, exponent, 0, mantissa);
    H5Tset_size(type, 2);
    H5Tset_ebias(type, ((size_t)1 << (exponent - 1)) - 1);
    return type;
}

static hid_t create_complex(hid_t real)
{
    size_t size = H5Tget_size(real);
    hid_t type = H5Tcreate(H5T_COMPOUND, 2 * size);
    H5Tinsert(type, "r", 0, real);
    H5Tinsert(type, "i", size, real);
    return type;
}

hid_t spmd__type_create(spmd_dtype dtype)
{
    switch (dtype) {
    case SPMD_BOOL:
        return create_bool();
    case SPMD_I8:
        return H5Tcopy(H5T_NATIVE_INT8);
    case SPMD_I16:
        return H5Tcopy(H5T_NATIVE_INT16);
    case SPMD_I32:
        return H5Tcopy(H5T_NATIVE_INT32);
    case SPMD_I64:
        return H5Tcopy(H5T_NATIVE_INT64);
    case SPMD_U8:
        return H5Tcopy(H5T_NATIVE_UINT8);
    case SPMD_U16:
        return H5Tcopy(H5T_NATIVE_UINT16);
    case SPMD_U32:
        return H5Tcopy(H5T_NATIVE_UINT32);
    case SPMD_U64:
        return H5Tcopy(H5T_NATIVE_UINT64);
    case SPMD_F16:
        return create_half(5, 10);
    case SPMD_BF16:
        return create_half(8, 7);
    case SPMD_F32:
        return H5Tcopy(H5T_NATIVE_FLOAT);
    case SPMD_F64:
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    case SPMD_C64:
        return create_complex(H5T_NATIVE_FLOAT);
    case SPMD_C128:
        return create_complex(H5T_NATIVE_DOUBLE);
    case SPMD_DTYPE_NONE:
        break;
    }
    return H5I_INVALID_HID;
}

static spmd_dtype integer_dtype(hid_t type)
{
    bool is_signed = H5Tget_sign(type) != H5T_SGN_NONE;
    switch (H5Tget_size(type)) {
    case 1:
        return is_signed ? SPMD_I8 : SPMD_U8;
    case 2:
        return is_signed ? SPMD_I16 : SPMD_U16;
    case 4:
        return is_signed ? SPMD_I32 : SPMD_U32;
    case 8:
        return is_signed ? SPMD_I64 : SPMD_U64;
    default:
        return SPMD_DTYPE_NONE;
    }
}

static spmd_dtype float_dtype(hid_t type)
{
    size_t sign = 0, exponent_at = 0, exponent = 0, mantissa_at = 0, mantissa = 0;
    if (H5Tget_fields(type, &sign, &exponent_at, &exponent, &mantissa_at, &mantissa) < 0)
        return SPMD_DTYPE_NONE;
    switch (H5Tget_size(type)) {
    case 2:
        return exponent == 5 ? SPMD_F16 : exponent == 8 ? SPMD_BF16 : SPMD_DTYPE_NONE;
    case 4:
        return SPMD_F32;
    case 8:
        return SPMD_F64;
    default:
        return SPMD_DTYPE_NONE;
    }
}

static bool member_is(hid_t type, unsigned index, const char *name)
{
    char *found = H5Tget_member_name(type, index);
    bool is = found && strcmp(found, name) == 0;
    H5free_memory(found);
    return is;
}

/* An enumeration of FALSE and TRUE is bool; any other one counts as its integers. */
static spmd_dtype enum_dtype(hid_t type)
{
    if (H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2 && member_is(type, 0, "FALSE") &&
        member_is(type, 1, "TRUE"))
        return SPMD_BOOL;
    hid_t base = H5Tget_super(type);
    spmd_dtype dtype = integer_dtype(base);
    H5Tclose(base);
    return dtype;
}

/* HDF5 believes a damaged file that puts members outside of their record. */
static bool members_fit(hid_t type, size_t member)
{
    size_t r = H5Tget_member_offset(type, 0), i = H5Tget_member_offset(type, 1);
    size_t size = H5Tget_size(type);
    return size >= member && r <= size - member && i <= size - member;
}

static spmd_dtype compound_dtype(hid_t type)
{
    if (H5Tget_nmembers(type) != 2 || !member_is(type, 0, "r") || !member_is(type, 1, "i"))
        return SPMD_DTYPE_NONE;
    hid_t r = H5Tget_member_type(type, 0), i = H5Tget_member_type(type, 1);
    spmd_dtype part = SPMD_DTYPE_NONE;
    if (H5Tget_class(r) == H5T_FLOAT && H5Tequal(r, i) > 0 && members_fit(type, H5Tget_size(r)))
        part = float_dtype(r);
    H5Tclose(r);
    H5Tclose(i);
    return part == SPMD_F32 ? SPMD_C64 : part == SPMD_F64 ? SPMD_C128 : SPMD_DTYPE_NONE;
}

spmd_dtype spmd__type_dtype(hid_t type)
{
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        return integer_dtype(type);
    case H5T_FLOAT:
        return float_dtype(type);
    case H5T_ENUM:
        return enum_dtype(type);
    case H5T_COMPOUND:
        return compound_dtype(type);
    default:
        return SPMD_DTYPE_NONE;
    }
}

const char *spmd__type_noun(hid_t type)
{
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
    case H5T_ENUM:
        return "integers of an unusual size";
    case H5T_FLOAT:
        return "floats of an unusual size";
    case H5T_STRING:
        return "strings";
    case H5T_COMPOUND:
        return "records";
    case H5T_ARRAY:
        return "small arrays";
    case H5T_VLEN:
        return "lists of varying length";
    case H5T_REFERENCE:
        return "references";
    default:
        return "values of a foreign kind";
    }
}

static bool is_complex(spmd_dtype dtype)
{
    return dtype == SPMD_C64 || dtype == SPMD_C128;
}

static bool is_float(spmd_dtype dtype)
{
    return dtype == SPMD_F16 || dtype == SPMD_BF16 || dtype == SPMD_F32 || dtype == SPMD_F64;
}

bool spmd__type_is_integer(spmd_dtype dtype)
{
    return dtype >= SPMD_I8 && dtype <= SPMD_U64;
}

bool spmd__type_converts(spmd_dtype from, spmd_dtype to)
{
    if (is_complex(from) || is_complex(to))
        return is_complex(from) && is_complex(to);
    return !(is_float(from) && to == SPMD_BOOL);
}
