/* spmd/main.h - a main function's usual frame. */
#ifndef SPMD_MAIN_H
#define SPMD_MAIN_H

#include <spmd/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls MPI_Init, `program`, MPI_Finalize, and returns the exit code: 0, or 1 if the program
 * failed. (Where MPI is up already, it is left so.) A failure is told once, by one rank:
 * "spmd: error: ...", with the place of the first SPMD_TRY that saw it. One that the ranks have not
 * agreed on ends the run by MPI_Abort, if there are others: they may be waiting. */
int spmd_main(int argc, char **argv, spmd_status (*program)(int argc, char **argv));

#ifdef __cplusplus
}
#endif

#endif
