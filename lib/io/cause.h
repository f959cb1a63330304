/* io/cause.h - why a call failed: HDF5 or the system tells, or its arguments cannot be right. */
#ifndef IO_CAUSE_H
#define IO_CAUSE_H

#include "core/error.h"
#include "io/h5.h"

/* What lies behind the HDF5 call that just failed: its innermost record. To be asked for before
 * any other HDF5 call. */
struct cause {
    hid_t minor;
    char text[200];
};
struct cause spmd__io_cause(void);

/* What stands for an errno where a file ends before what is to be read of it. */
enum { IO_ENDED = -1 };

/* Fails with SPMD_ERR_FILE: what the arguments print, then the text of an errno, as in
 * "x.h5: no such file or directory". */
spmd_status spmd__io_fail_errno(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Fails with SPMD_ERR_ARGUMENT, before there is a file to name: "spmd_write of x.h5: the array is
 * NULL". `of` is the path or the name that the call was given; NULL: none. */
spmd_status spmd__io_refuse(const char *call, const char *of, const char *why);

/* Sets what the arguments print before the message of the last failure. */
spmd_status spmd__io_refine(spmd_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
