/* io/cause.c - why a call of HDF5 or of the system failed. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/io.h"

static herr_t take_first(unsigned depth, const H5E_error2_t *record, void *user)
{
    struct cause *cause = user;
    if (depth > 0)
        return 0;
    cause->minor = record->min_num;
    snprintf(cause->text, sizeof cause->text, "%s", record->desc);
    return 0;
}

struct cause spmd__io_cause(void)
{
    struct cause cause = {H5I_INVALID_HID, "HDF5 gives no reason"};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &cause);
    return cause;
}

struct cause spmd__io_errno(int code)
{
    struct cause cause = {H5I_INVALID_HID, ""};
    snprintf(cause.text, sizeof cause.text, "%s", strerror(code));
    cause.text[0] = (char)tolower((unsigned char)cause.text[0]);
    return cause;
}

spmd_status spmd__io_refine(spmd_status status, const char *format, ...)
{
    char where[ERROR_MESSAGE_BYTES / 2], reason[ERROR_MESSAGE_BYTES];
    snprintf(reason, sizeof reason, "%s", spmd_error_message());
    va_list args;
    va_start(args, format);
    vsnprintf(where, sizeof where, format, args);
    va_end(args);
    return spmd_fail(status, "%s: %s", where, reason);
}
