/* cmd.c - who speaks, and how messages look. */
#include "cmd.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

struct cmd_launch cmd_launch(void)
{
    static const char *const variables[][2] = {
        {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
        {"PMI_SIZE", "PMI_RANK"},
        {"SLURM_NTASKS", "SLURM_PROCID"},
    };
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *size = getenv(variables[i][0]), *rank = getenv(variables[i][1]);
        if (size)
            return (struct cmd_launch){variables[i][0], atoll(size), rank ? atoll(rank) : 0};
    }
    return (struct cmd_launch){NULL, 1, 0};
}

bool cmd_is_speaker(void)
{
    int initialized = 0, finalized = 0, rank = 0, size = 1;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (initialized && !finalized) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    }
    /* A world of one may be one of many, when launcher and library do not know each other. */
    return size > 1 ? rank == 0 : cmd_launch().rank == 0;
}

spmd_status cmd_make_mesh(spmd_mesh **mesh)
{
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "ranks=*", mesh));
    spmd_mesh_set_strict(*mesh, false);
    spmd_mesh_set_quiet(*mesh, true);
    return SPMD_OK;
}

static void speak(const char *kind, const char *format, va_list args)
{
    if (!cmd_is_speaker())
        return;
    char message[2048];
    vsnprintf(message, sizeof message, format, args);
    fflush(stdout);
    fprintf(stderr, "spmd: %s: %s\n", kind, message); /* in one piece, whoever else writes */
}

void cmd_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    speak("error", format, args);
    va_end(args);
}

void cmd_warning(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    speak("warning", format, args);
    va_end(args);
}

void cmd_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    speak("note", format, args);
    va_end(args);
}

int cmd_misuse(const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    speak("error", format, args);
    va_end(args);
    cmd_note("see spmd %s --help", name);
    return CMD_MISUSED;
}

int cmd_conclude(spmd_status status)
{
    if (status == SPMD_OK)
        return CMD_DONE;
    if (!ferror(stdout))
        cmd_error("%s", spmd_error_message());
    return status == SPMD_ERR_FILE || status == SPMD_ERR_MEMORY ? CMD_FAILED : CMD_MISUSED;
}
