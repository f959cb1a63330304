/* io/way.c - by which calls elements move from and to files. */
#include "io/way.h"

#include <stdlib.h>
#include <string.h>

spmd_status spmd__io_way_read(enum io_way *way)
{
    static const char *const names[] = {"auto", "direct", "hdf5"};
    const char *value = getenv("SPMD_IO");
    *way = IO_AUTO;
    if (!value || *value == '\0')
        return SPMD_OK;
    for (int i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0) {
            *way = (enum io_way)i;
            return SPMD_OK;
        }
    return spmd_fail(SPMD_ERR_ARGUMENT, "SPMD_IO=%s in the environment: it is auto, direct or hdf5",
                     value);
}
