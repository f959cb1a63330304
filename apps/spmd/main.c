/* main.c - the command spmd: finds the sub-command and runs it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <spmd.h>
#include "cmd.h"
#include "spelling.h"

static int run_help(int argc, char **argv);

struct command {
    const char *name;
    const char *help; /* one line */
    int (*run)(int argc, char **argv);
};

/* A sub-command is a row here, its declaration in cmd.h, and a section in docs/spmd.1. */
static const struct command commands[] = {
    {"layout", "show who holds what of an array under a sharding", cmd_layout},
    {"reshard", "explain what it takes to lay an array otherwise", cmd_reshard},
#ifdef HAVE_CBLAS
    {"sweep", "run one function for many configurations, sharded over the ranks", cmd_sweep},
#endif
    {"bench", "measure how fast data moves on the ranks, and what it costs", cmd_bench},
    {"info", "show what files have, or the versions and ranks that are found", cmd_info},
    {"convert", "store the arrays of an HDF5 file in another way", cmd_convert},
    {"help", "show the help of a command", run_help},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int print_help(void)
{
    if (!cmd_is_speaker())
        return CMD_DONE;
    puts("usage: spmd COMMAND [ARGUMENT...]\n"
         "       spmd --help | --version\n"
         "\n"
         "Sharded arrays over MPI.\n"
         "\n"
         "Commands:");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-9s%s\n", commands[i].name, commands[i].help);
    puts("\n"
         "spmd COMMAND --help tells more, the manual page spmd(1) everything. A command that\n"
         "computes on several ranks is started by mpirun or srun: mpirun -n 4 spmd sweep ...");
    return CMD_DONE;
}

static int print_version(void)
{
    if (cmd_is_speaker())
        puts("spmd " SPMD_VERSION);
    return CMD_DONE;
}

static const char *command_name(const void *table, int index)
{
    const struct command *row = table;
    return row[index].name;
}

static const struct command *find_command(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
#ifndef HAVE_CBLAS
    if (strcmp(name, "sweep") == 0) {
        cmd_error("sweep needs BLAS, and this build of spmd has none");
        return NULL;
    }
#endif
    const char *nearest = spelling_nearest(name, COMMANDS, command_name, commands);
    if (nearest)
        cmd_error("there is no command %s; did you mean %s?", name, nearest);
    else
        cmd_error("there is no command %s; see spmd --help", name);
    return NULL;
}

static int run_help(int argc, char **argv)
{
    if (argc < 2 || argv[1][0] == '-')
        return print_help();
    const struct command *command = find_command(argv[1]);
    if (!command)
        return CMD_MISUSED;
    if (command->run == run_help)
        return print_help();
    char name[32], option[] = "--help";
    snprintf(name, sizeof name, "%s", command->name);
    return command->run(2, (char *[]){name, option, NULL});
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        cmd_error("a command is missing; see spmd --help");
        return CMD_MISUSED;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help();
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return print_version();
    const struct command *command = find_command(argv[1]);
    return command ? command->run(argc - 1, argv + 1) : CMD_MISUSED;
}

int main(int argc, char **argv)
{
    int code = run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        cmd_error("cannot write to standard output: %s", strerror(errno));
        return CMD_FAILED;
    }
    /* A launcher ends all processes when one ends badly: the silent ones end well, so that they do
     * not cut off the one that speaks. */
    return cmd_is_speaker() ? code : CMD_DONE;
}
