/* dtype.c - fuzzes the names of element types. */
#include <spmd/types.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    spmd_dtype dtype, again;
    spmd_status status = FUZZ_PARSE(&dtype, spmd_dtype_parse(text, &dtype));
    HOLDS(status == SPMD_OK || status == SPMD_ERR_DTYPE);
    if (status == SPMD_OK) {
        HOLDS(spmd_dtype_size(dtype) > 0);
        HOLDS(spmd_dtype_parse(spmd_dtype_name(dtype), &again) == SPMD_OK && again == dtype);
    }
    free(text);
    return 0;
}
