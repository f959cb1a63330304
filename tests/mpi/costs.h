/* costs.h - a table of costs for the meshes that a test makes. */
#ifndef COSTS_H
#define COSTS_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

static char costs_path[32];

static void costs_begin(void)
{
    strcpy(costs_path, "/tmp/spmd-costs.XXXXXX");
    int file = test_rank == 0 ? mkstemp(costs_path) : -1;
    EXPECT(test_rank > 0 || file >= 0);
    if (file >= 0)
        close(file);
}

/* Rank 0 writes a table and names it; the others have another one, which does not count. NULL: the
 * usual one. */
static void costs_set(const char *text)
{
    unsetenv("SPMD_COSTS");
    if (!text)
        return;
    setenv("SPMD_COSTS", "/nonexistent/costs", 1);
    if (test_rank > 0)
        return;
    FILE *file = fopen(costs_path, "w");
    if (EXPECT(file))
        EXPECT(fputs(text, file) >= 0 && fclose(file) == 0);
    setenv("SPMD_COSTS", costs_path, 1);
}

static void costs_end(void)
{
    costs_set(NULL);
    if (test_rank == 0)
        unlink(costs_path);
}

#endif
