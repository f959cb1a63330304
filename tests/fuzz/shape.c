/* shape.c - fuzzes shapes. */
#include <spmd/types.h>

#include "core/shape.h"
#include "core/text.h"
#include "fuzz.h"

/* The size is the product, or -1 where that is more than 63 bits hold. */
static void check_size(spmd_shape shape)
{
    __int128 product = 1;
    bool empty = false;
    for (int d = 0; d < shape.ndim; d++) {
        HOLDS(shape.dim[d] >= 0);
        empty = empty || shape.dim[d] == 0;
        if (product <= INT64_MAX)
            product *= shape.dim[d];
    }
    int64_t size = spmd_shape_size(shape);
    HOLDS(empty ? size == 0 : product > INT64_MAX ? size == -1 : size == (int64_t)product);
}

static void check_print(spmd_shape shape)
{
    char printed[512];
    struct text text = spmd__text_begin(printed, sizeof printed);
    for (int d = 0; d < shape.ndim; d++)
        spmd__text_add(&text, "%s%lld", d ? "x" : "", (long long)shape.dim[d]);
    spmd_shape again;
    HOLDS(FUZZ_PARSE(&again, spmd_shape_parse(printed, &again)) == SPMD_OK);
    HOLDS(spmd_shape_equal(shape, again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    spmd_shape shape;
    spmd_status status = FUZZ_PARSE(&shape, spmd_shape_parse(text, &shape));
    HOLDS(status == SPMD_OK || status == SPMD_ERR_SYNTAX);
    if (status == SPMD_OK) {
        HOLDS(spmd__shape_check(shape) == SPMD_OK);
        check_size(shape);
        check_print(shape);
    }
    free(text);
    return 0;
}
