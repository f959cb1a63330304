/* io/cast.c - arrays of one element type made arrays of another one. */
#include "io/cast.h"

#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "core/mem.h"
#include "io/convert.h"
#include "io/types.h"

/* Elements are converted in place, so they are where there is room for either type. */
enum { PIECE = 1 << 14, MOST_BYTES = 16 };

static spmd_status cast_elements(const spmd_array *from, hid_t stored, char *room, spmd_array *to)
{
    size_t size = spmd_dtype_size(from->dtype), new_size = spmd_dtype_size(to->dtype);
    const char *in = from->block.data;
    char *out = to->block.data;
    int64_t count = spmd_block_size(&from->block);
    for (int64_t at = 0; at < count; at += PIECE) {
        size_t piece = (size_t)(count - at < PIECE ? count - at : PIECE);
        memcpy(room, in + (size_t)at * size, piece * size);
        TRY(spmd__convert(stored, to->dtype, (int64_t)piece, room));
        memcpy(out + (size_t)at * new_size, room, piece * new_size);
    }
    return SPMD_OK;
}

/* Local. */
static spmd_status cast_block(const spmd_array *from, spmd_array *to)
{
    char *room;
    TRY(spmd__alloc(PIECE, MOST_BYTES, &room));
    hid_t stored = spmd__type_create(from->dtype);
    spmd_status status;
    QUIETLY(status = cast_elements(from, stored, room, to));
    H5Tclose(stored);
    free(room);
    return status;
}

spmd_status spmd__cast(spmd_array *array, spmd_dtype dtype, spmd_array **out)
{
    if (array->dtype == dtype) {
        *out = array;
        return SPMD_OK;
    }
    spmd_array *made = NULL;
    spmd_status status = spmd__array_alloc_unset(array->sharding, dtype, array->shape, &made);
    if (status == SPMD_OK)
        status = cast_block(array, made);
    status = spmd__array_settle(array->sharding, status, 0, made, out);
    spmd_array_free(&array);
    return status;
}
