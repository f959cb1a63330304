/* comm/way.c - the ways by which data comes from one rank to another. */
#include "comm/way.h"

#include <stdlib.h>
#include <string.h>

#include "comm/mpi.h"
#include "core/text.h"

static const char *const names[] = {
#define WAY_NAME(name, text) text,
    WAY_MAP(WAY_NAME)
#undef WAY_NAME
};
enum { WAYS = sizeof names / sizeof *names };

spmd_status spmd__way_read(enum way *way)
{
    const char *value = getenv("SPMD_MOVE");
    char list[128];
    struct text text = spmd__text_begin(list, sizeof list);
    *way = WAY_AUTO;
    if (!value || *value == '\0')
        return SPMD_OK;
    for (int i = 0; i < WAYS; i++) {
        if (strcmp(value, names[i]) == 0) {
            *way = (enum way)i;
            return SPMD_OK;
        }
        spmd__text_add(&text, "%s%s", i == 0 ? "" : i == WAYS - 1 ? " or " : ", ", names[i]);
    }
    return spmd_fail(SPMD_ERR_ARGUMENT, "SPMD_MOVE=%s in the environment: it is %s", value, list);
}

spmd_status spmd__way_compare(MPI_Comm comm, enum way way)
{
    int most[] = {(int)way, -(int)way}; /* the last one, and the first */
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT, MPI_MAX, comm));
    if (most[0] == -most[1])
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_ARGUMENT,
                     "SPMD_MOVE is %s on some ranks and %s on others: set it on all, as by "
                     "mpirun -x SPMD_MOVE",
                     names[-most[1]], names[most[0]]);
}
