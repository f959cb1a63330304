/* io/convert.c - elements as a file has them, made elements of ours. */
#include "io/convert.h"

#include <stdlib.h>

#include "core/mem.h"
#include "io/cause.h"
#include "io/types.h"

void spmd__convert_to_bools(int64_t count, void *data)
{
    int8_t *bools = data;
    for (int64_t i = 0; i < count; i++)
        bools[i] = bools[i] != 0;
}

hid_t spmd__convert_type(hid_t stored, spmd_dtype dtype, bool *to_bool)
{
    *to_bool = dtype == SPMD_BOOL && spmd__type_dtype(stored) != SPMD_BOOL;
    return spmd__type_create(*to_bool ? SPMD_I8 : dtype);
}

/* HDF5 puts pairs together in memory of their own. */
static spmd_status alloc_background(hid_t stored, hid_t type, int64_t count, void **background)
{
    *background = NULL;
    if (H5Tget_class(stored) != H5T_COMPOUND)
        return SPMD_OK;
    return spmd__alloc((size_t)count, H5Tget_size(type), background);
}

spmd_status spmd__convert(hid_t stored, spmd_dtype dtype, int64_t count, void *data)
{
    bool to_bool;
    hid_t type = spmd__convert_type(stored, dtype, &to_bool);
    void *background;
    spmd_status status = alloc_background(stored, type, count, &background);
    if (status == SPMD_OK &&
        H5Tconvert(stored, type, (size_t)count, data, background, H5P_DEFAULT) < 0)
        status = spmd_fail(SPMD_ERR_DTYPE, "elements cannot be converted to %s: %s",
                           spmd_dtype_name(dtype), spmd__io_cause().text);
    free(background);
    H5Tclose(type);
    if (to_bool && status == SPMD_OK)
        spmd__convert_to_bools(count, data);
    return status;
}
