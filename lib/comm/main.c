/* comm/main.c - a main function's usual frame: MPI around it, one message for a failure. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <spmd/main.h>

#include "comm/agree.h"
#include "core/tell.h"

/* Tells an agreed failure once. One that is not agreed may have come to all ranks or to this one
 * alone: rank 0 goes first and ends the run, the others speak only if it does not, and say who. */
static void tell_failure(int rank, int ranks, spmd_status status)
{
    bool agreed = spmd__error_is_agreed();
    const char *message = spmd_error_message(), *place = spmd_error_place();
    char who[32] = "", text[ERROR_MESSAGE_BYTES + 512];
    if (agreed && !spmd__error_is_speaker())
        return;
    if (!agreed && rank > 0) {
        spmd__await_abort();
        snprintf(who, sizeof who, "rank %d: ", rank);
    }
    snprintf(text, sizeof text, "%s%s%s%s", who, message[0] ? message : spmd_status_meaning(status),
             place[0] ? "\nspmd: note: at " : "", place);
    if (!agreed && ranks > 1)
        spmd__abort(text);
    spmd__tell_error("%s", text);
}

int spmd_main(int argc, char **argv, spmd_status (*program)(int argc, char **argv))
{
    int begun = 0, rank, ranks;
    MPI_Initialized(&begun);
    if (!begun)
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    spmd_status status = program(argc, argv);
    if (status != SPMD_OK)
        tell_failure(rank, ranks, status);
    if (!begun)
        MPI_Finalize();
    return status == SPMD_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
