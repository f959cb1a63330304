/* cmd.h - what the sub-commands of spmd share.
 *
 * A sub-command is a function cmd_NAME(argc, argv) with argv[0] = NAME that returns the exit code,
 * and a row of the table in main.c. */
#ifndef APPS_CMD_H
#define APPS_CMD_H

#include <stdbool.h>
#include <stddef.h>

/* Exit codes: done, failed run, wrong use. */
enum cmd_exit { CMD_DONE = 0, CMD_FAILED = 1, CMD_MISUSED = 2 };

int cmd_info(int argc, char **argv);
int cmd_layout(int argc, char **argv);
int cmd_sweep(int argc, char **argv);

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

/* Messages (as printf, without a newline) to standard error, from the speaker only, behind
 * "spmd: error: ", "spmd: warning: " or "spmd: note: ". */
void cmd_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cmd_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cmd_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The error of a wrong use of sub-command `name`, with a pointer to its help. Returns
 * CMD_MISUSED. */
int cmd_misuse(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An option: "--name", or "--name VALUE" (also "--name=VALUE"). A table of them ends in a row
 * whose name is NULL, and has a row {"help", NULL, "print this help"}. */
struct cmd_option {
    const char *name;  /* without its dashes */
    const char *value; /* what the help calls its value; NULL for an option without one */
    const char *help;
};

/* Walks over the arguments of a sub-command; options and operands may be mixed, "--" ends the
 * options. Only what begins with "--" is an option, and "-h" for "--help": "-" and "-1" are
 * operands.
 *
 *     struct cmd_args args = cmd_args_begin(argc, argv, options);
 *     int index;
 *     while ((index = cmd_args_next(&args)) != CMD_ARGS_END) {
 *         if (index == CMD_ARGS_BAD)
 *             return CMD_MISUSED;
 *         if (index == CMD_ARGS_OPERAND)
 *             ... args.value
 *         else
 *             ... options[index], args.value
 *     }
 */
struct cmd_args {
    int argc;
    char **argv;
    const struct cmd_option *options;
    int next;
    bool operands_only;
    const char *value; /* of the option, or the operand; NULL for an option without one */
};
enum { CMD_ARGS_END = -1, CMD_ARGS_OPERAND = -2, CMD_ARGS_BAD = -3 /* has been told */ };

struct cmd_args cmd_args_begin(int argc, char **argv, const struct cmd_option *options);

/* The index of the next option in the table, or one of the codes above. */
int cmd_args_next(struct cmd_args *args);

/* What `spmd NAME --help` prints. */
struct cmd_help {
    const char *usage; /* "spmd layout MESH SPEC SHAPE" */
    const char *about; /* paragraphs */
    const struct cmd_option *options;
    const char *examples; /* lines */
};

/* Prints it to standard output, from the speaker only. Returns CMD_DONE. */
int cmd_help(const struct cmd_help *help);

/* Which name may have been meant by `word`: the nearest one, or NULL if none is near. Each of the
 * `count` rows of `size` bytes begins with a pointer to its name. */
const char *cmd_nearest(const char *word, const void *rows, size_t count, size_t size);

#endif
