/* calibrate.h - the costs of moving data on this machine, measured: what SPMD_COSTS reads. */
#ifndef APPS_CALIBRATE_H
#define APPS_CALIBRATE_H

#include <spmd.h>
#include "contest.h"

/* Collective over all ranks, of which there are several. Measures, and writes the table to `path`
 * from rank 0, which alone returns a failure of that. */
spmd_status calibrate(struct contest_effort effort, const char *path);

#endif
