/* spmd/error.h - what a call returns, and the message behind it.
 *
 * Every fallible function returns an spmd_status and sets its outputs only on success. The
 * message of the last failure, with the objects in it, is kept for each thread. */
#ifndef SPMD_ERROR_H
#define SPMD_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* The one list of results: X(NAME, what it means). */
#define SPMD_STATUS_MAP(X)                                                     \
    X(OK, "success")                                                           \
    X(ERR_ARGUMENT, "an argument is out of its range")                         \
    X(ERR_SYNTAX, "a text does not parse")                                     \
    X(ERR_MESH, "the mesh does not fit the ranks, or has no such axis")        \
    X(ERR_SPEC, "the spec does not fit the mesh or the array")                 \
    X(ERR_SHAPE, "shapes do not fit each other")                               \
    X(ERR_DTYPE, "element types do not fit each other")                        \
    X(ERR_MEMORY, "out of memory")                                             \
    X(ERR_MPI, "an MPI call failed")                                           \
    X(ERR_FILE, "a file cannot be read or written")                            \
    X(ERR_REPLICATION, "blocks that were promised equal differ")               \
    X(ERR_DISAGREE, "ranks passed different arguments to one collective call") \
    X(ERR_BODY, "a body or a callback failed")

typedef enum spmd_status {
#define SPMD_STATUS_ENUM(name, meaning) SPMD_##name,
    SPMD_STATUS_MAP(SPMD_STATUS_ENUM)
#undef SPMD_STATUS_ENUM
} spmd_status;

/* Local. The name ("SPMD_ERR_SPEC") and the general meaning of a status; never NULL. */
const char *spmd_status_name(spmd_status status);
const char *spmd_status_meaning(spmd_status status);

/* Local. The message of this thread's last failure, "" before the first one. After a collective
 * call it is the same on all ranks, that of the lowest failing rank, and unless all failed alike
 * it begins with that rank: "rank 3: ...". Valid until the next failure in this thread. */
const char *spmd_error_message(void);

/* Local. Records a message (as printf) and returns `status`: what a body or a callback of yours
 * returns when it cannot go on.
 *
 *     if (n == 0)
 *         return spmd_fail(SPMD_ERR_BODY, "no rows in the data set"); */
spmd_status spmd_fail(spmd_status status, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Local. Where in your program the last failure of this thread first came by an SPMD_TRY:
 * "means.c:24: spmd_array_arange(...)"; "" if it has not. */
const char *spmd_error_place(void);

/* Passes a failure on to the caller, and remembers the place. */
#define SPMD_TRY(call)                                                \
    do {                                                              \
        spmd_status spmd_try_ = (call);                               \
        if (spmd_try_ != SPMD_OK)                                     \
            return spmd_passed(spmd_try_, __FILE__, __LINE__, #call); \
    } while (0)

/* Local. What SPMD_TRY does with a failure: keeps the first place since it was recorded. */
spmd_status spmd_passed(spmd_status status, const char *file, int line, const char *call);

#ifdef __cplusplus
}
#endif

#endif
