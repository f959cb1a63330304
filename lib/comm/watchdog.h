/* comm/watchdog.h - warnings of long waits: what SPMD_WATCHDOG=s does.
 *
 * The ranks of a node share a page in which each keeps a note of where it is. A thread in each
 * process, which makes no MPI call, looks at how long its rank has been waiting; one of those that
 * have waited too long says so, with the notes of all. */
#ifndef COMM_WATCHDOG_H
#define COMM_WATCHDOG_H

#include <mpi.h>

#include "core/error.h"

struct watchdog;

/* Collective over `comm`. Warns of waits longer than that; `names` is kept, not copied. */
spmd_status spmd__watchdog_open(MPI_Comm comm, const int *names, double seconds,
                                struct watchdog **watchdog);
void spmd__watchdog_close(struct watchdog **watchdog);

/* Local. This rank waits, here in words, from now until it leaves. */
void spmd__watchdog_wait(struct watchdog *watchdog, const char *where);
void spmd__watchdog_leave(struct watchdog *watchdog);

#endif
