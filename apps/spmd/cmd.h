/* cmd.h - what the sub-commands of spmd share: exit codes, the launcher, messages.
 *
 * A sub-command is a function cmd_NAME(argc, argv) with argv[0] = NAME that returns the exit code,
 * and a row of the table in main.c. */
#ifndef APPS_CMD_H
#define APPS_CMD_H

#include <stdbool.h>

#include <spmd/mesh.h>

/* Exit codes: done, failed run, wrong use. */
enum { CMD_DONE = 0, CMD_FAILED = 1, CMD_MISUSED = 2 };

int cmd_bench(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_layout(int argc, char **argv);
int cmd_reshard(int argc, char **argv);
int cmd_sweep(int argc, char **argv); /* in builds with BLAS */

/* How many processes the launcher says it started, which of them this one is, and the
 * environment variable that says so (NULL without a launcher: then 1 and 0). */
struct cmd_launch {
    const char *variable;
    long long size;
    long long rank;
};
struct cmd_launch cmd_launch(void);

/* Whether this is the process of the run that speaks: rank 0, before, between and after
 * MPI_Init and MPI_Finalize. */
bool cmd_is_speaker(void);

/* Collective over all ranks. They as a mesh of one axis, "ranks", for arrays that the command
 * itself chooses to split: evenly or not, and without notes. */
spmd_status cmd_make_mesh(spmd_mesh **mesh);

/* Messages (as printf, without a newline) to standard error, from the speaker only, behind
 * "spmd: error: ", "spmd: warning: " or "spmd: note: ". */
void cmd_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cmd_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cmd_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The error of a wrong use of sub-command `name`, with a pointer to its help. Returns
 * CMD_MISUSED. */
int cmd_misuse(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The exit code of a sub-command of which the library has said `status`, after telling the error. A
 * standard output that fails is told by main. */
int cmd_conclude(spmd_status status);

#endif
