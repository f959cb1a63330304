/* args.h - the arguments of a sub-command, and its help. */
#ifndef APPS_ARGS_H
#define APPS_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include <spmd/error.h>

/* An option: "--name", or "--name VALUE" (also "--name=VALUE"). */
struct args_option {
    const char *name;  /* without its dashes */
    const char *value; /* what the help calls its value; NULL for an option without one */
    const char *help;
};

/* What a sub-command takes, and what its --help prints. */
struct args_usage {
    const char *synopsis;  /* lines: "spmd layout MESH SPEC SHAPE" */
    const char *about;     /* paragraphs */
    void (*details)(void); /* prints more paragraphs; NULL: there are none */
    int noptions;
    const struct args_option *options; /* [noptions], without --help */
    const char *examples;              /* lines */
};

/* Walks over the arguments of a sub-command; options and operands may be mixed, "--" ends the
 * options. Only what begins with "--" is an option, and "-h" for "--help": "-" and "-1" are
 * operands.
 *
 *     struct args args = args_begin(argc, argv, &usage);
 *     int option;
 *     while ((option = args_next(&args)) != ARGS_END) {
 *         if (option == ARGS_STOP)
 *             return args.code;
 *         if (option == ARGS_OPERAND)
 *             ... args.value
 *         else
 *             ... usage.options[option], args.value
 *     }
 */
struct args {
    int argc;
    char **argv;
    const struct args_usage *usage;
    int next;
    bool operands_only;
    const char *value; /* of the option, or the operand; NULL for an option without one */
    int code;          /* of ARGS_STOP: what to exit with */
};

enum {
    ARGS_END = -1,
    ARGS_OPERAND = -2,
    ARGS_STOP = -3, /* the help, or what is wrong, has been printed */
};

struct args args_begin(int argc, char **argv, const struct args_usage *usage);

/* The index of the next option in the table, or one of the codes above. */
int args_next(struct args *args);

/* Takes all that is left: of each option of the table its last value, "" of one that has none;
 * those that are not given stay as they are. And of the operands the first `noperands`. Gives how
 * many of these there were; or ARGS_STOP. */
int args_take(struct args *args, const char *options[], int noperands, const char *operands[]);

/* Reads the value of option `name`, a whole number from `least`, which is not below 0, to `most`.
 * Fails with SPMD_ERR_SYNTAX. */
spmd_status args_read_whole(const char *name, const char *text, int64_t least, int64_t most,
                            int64_t *number);

#endif
