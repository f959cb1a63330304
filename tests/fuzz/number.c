/* number.c - fuzzes numbers in texts. */
#include <math.h>

#include "fuzz.h"
#include "number.h"

/* Written exactly, it reads back as the same number. */
static void check_print(double number)
{
    char printed[64];
    double again;
    int length = snprintf(printed, sizeof printed, " %.17g\t", number);
    HOLDS(number_parse(printed, (size_t)length, &again));
    HOLDS(isnan(number) ? isnan(again) : memcmp(&number, &again, sizeof number) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* No zero stands behind the text. */
    char *text = calloc(size + 1, 1);
    HOLDS(text);
    text[0] = '1';
    if (size > 0)
        memcpy(text + 1, data, size);
    double number = 42;
    if (number_parse(text + 1, size, &number)) {
        HOLDS(!memchr(text + 1, '\0', size));
        HOLDS(number != 0 || !signbit(number));
        check_print(number);
    } else {
        HOLDS(number == 42);
    }
    free(text);
    return 0;
}
