/* spmd/setting.h - what a user sets in the environment, for any program of the library. */
#ifndef SPMD_SETTING_H
#define SPMD_SETTING_H

#include <spmd/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The one list of settings: X(NAME, its values, what it says). The variable is SPMD_NAME. Of words
 * to choose from, the first counts where nothing is set. */
#define SPMD_SETTING_MAP(X)                                                                \
    X(STRICT, "0 or 1", "whether split dimensions must divide, as in JAX")                 \
    X(REPLICATION, "first, always or never", "when replicas are compared")                 \
    X(CHECK, "0 or 1", "whether ranks compare their calls before data moves")              \
    X(WATCHDOG, "a number of seconds, like 30 or 0.5", "ranks that wait longer say where") \
    X(COSTS, "a file", "what moving data costs")                                           \
    X(MOVE, "auto, pool, readv, messages or collective", "how data moves")                 \
    X(IO, "auto, direct or hdf5", "how elements move from and to files")

typedef enum spmd_setting {
#define SPMD_SETTING_ENUM(name, values, meaning) SPMD_SETTING_##name,
    SPMD_SETTING_MAP(SPMD_SETTING_ENUM)
#undef SPMD_SETTING_ENUM
} spmd_setting;

/* Local. Checks what the environment of this process says, as the calls do that follow it: a mesh
 * when it is made, SPMD_REPLICATION when a map is planned, SPMD_IO when elements move. Fails with
 * SPMD_ERR_ARGUMENT for a value that is none of those listed, SPMD_ERR_FILE or SPMD_ERR_SYNTAX for
 * a file of costs. */
spmd_status spmd_setting_check(spmd_setting setting);

#ifdef __cplusplus
}
#endif

#endif
