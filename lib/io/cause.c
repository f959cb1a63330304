/* io/cause.c - why a call failed: HDF5 or the system tells, or its arguments cannot be right. */
#include "io/cause.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* "WHERE: REASON", where the arguments print WHERE. */
__attribute__((format(printf, 3, 0))) static spmd_status fail_at(spmd_status status,
                                                                 const char *reason,
                                                                 const char *format, va_list args)
{
    char where[ERROR_MESSAGE_BYTES / 2];
    vsnprintf(where, sizeof where, format, args);
    return spmd_fail(status, "%s: %s", where, reason);
}

spmd_status spmd__io_fail_errno(int code, const char *format, ...)
{
    char reason[ERROR_MESSAGE_BYTES / 2];
    snprintf(reason, sizeof reason, "%s",
             code == IO_ENDED ? "the file ends before it" : strerror(code));
    reason[0] = (char)tolower((unsigned char)reason[0]);
    va_list args;
    va_start(args, format);
    spmd_status status = fail_at(SPMD_ERR_FILE, reason, format, args);
    va_end(args);
    return status;
}

spmd_status spmd__io_refuse(const char *call, const char *of, const char *why)
{
    return spmd_fail(SPMD_ERR_ARGUMENT, "%s%s%s: %s", call, of ? " of " : "", of ? of : "", why);
}

spmd_status spmd__io_refine(spmd_status status, const char *format, ...)
{
    char reason[ERROR_MESSAGE_BYTES];
    snprintf(reason, sizeof reason, "%s", spmd_error_message());
    va_list args;
    va_start(args, format);
    fail_at(status, reason, format, args);
    va_end(args);
    return status;
}
