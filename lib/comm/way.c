/* comm/way.c - the ways by which data comes from one rank to another. */
#include "comm/way.h"

#include "comm/mpi.h"
#include "core/setting.h"

spmd_status spmd__way_compare(MPI_Comm comm, enum way way)
{
    int most[] = {(int)way, -(int)way}; /* the last one, and the first */
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT, MPI_MAX, comm));
    if (most[0] == -most[1])
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_ARGUMENT,
                     "SPMD_MOVE is %s on some ranks and %s on others: set it on all, as by "
                     "mpirun -x SPMD_MOVE",
                     spmd__setting_word(SPMD_SETTING_MOVE, -most[1]).text,
                     spmd__setting_word(SPMD_SETTING_MOVE, most[0]).text);
}
