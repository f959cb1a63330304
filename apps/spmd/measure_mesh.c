/* measure_mesh.c - meshes under settings that are not those of the environment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"

/* A variable of the environment that has another value for a while; NULL: its own. */
struct setting {
    const char *name;
    char *before; /* NULL: it was not set */
};

static struct setting set(const char *name, const char *value)
{
    const char *before = getenv(name);
    struct setting setting = {name, before ? strdup(before) : NULL};
    if (value)
        setenv(name, value, 1);
    return setting;
}

static void restore(struct setting *setting)
{
    if (setting->before)
        setenv(setting->name, setting->before, 1);
    else
        unsetenv(setting->name);
    free(setting->before);
}

/* Writes a text to a new file. What may go wrong, the mesh that reads it will tell. */
static void write_aside(const char *text, char *path, size_t size)
{
    const char *directory = getenv("TMPDIR");
    snprintf(path, size, "%s/spmd-costs.XXXXXX", directory ? directory : "/tmp");
    int file = mkstemp(path);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
    if (stream) {
        fputs(text, stream);
        fclose(stream);
    }
}

spmd_status measure_mesh(const char *way, const char *costs, spmd_mesh **mesh)
{
    char path[512];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bool writes = costs && rank == 0; /* rank 0's table counts for all */
    if (writes)
        write_aside(costs, path, sizeof path);
    struct setting move = set("SPMD_MOVE", way), table = set("SPMD_COSTS", writes ? path : NULL);
    spmd_status status = spmd_mesh_create(MPI_COMM_WORLD, "x=*", mesh);
    restore(&move);
    restore(&table);
    if (writes)
        unlink(path);
    return status;
}
