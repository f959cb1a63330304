/* cmd.c - who speaks, how messages look, how arguments are read. */
#include "cmd.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        if (size != NULL)
            return (struct cmd_launch){variables[i][0], atoll(size),
                                       rank != NULL ? atoll(rank) : 0};
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

struct cmd_args cmd_args_begin(int argc, char **argv, const struct cmd_option *options)
{
    return (struct cmd_args){.argc = argc, .argv = argv, .options = options, .next = 1};
}

/* The index of the option "name" of `length` bytes; -1 if there is none. */
static int find_option(const struct cmd_option *options, const char *name, size_t length)
{
    for (int i = 0; options[i].name != NULL; i++)
        if (strlen(options[i].name) == length && strncmp(options[i].name, name, length) == 0)
            return i;
    return -1;
}

static int unknown_option(const struct cmd_args *args, const char *name, size_t length)
{
    size_t count = 0;
    while (args->options[count].name != NULL)
        count++;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *nearest = cmd_nearest(word, args->options, count, sizeof *args->options);
    if (nearest != NULL)
        cmd_misuse(args->argv[0], "%s has no option --%s; did you mean --%s?", args->argv[0], word,
                   nearest);
    else
        cmd_misuse(args->argv[0], "%s has no option --%s", args->argv[0], word);
    return CMD_ARGS_BAD;
}

/* Reads "name", "name=VALUE" or "name" and the argument after it. */
static int take_option(struct cmd_args *args, const char *text)
{
    size_t length = strcspn(text, "=");
    int index = find_option(args->options, text, length);
    if (index < 0)
        return unknown_option(args, text, length);
    const struct cmd_option *option = &args->options[index];
    bool attached = text[length] == '=';
    if (option->value == NULL && attached) {
        cmd_misuse(args->argv[0], "--%s takes no value", option->name);
        return CMD_ARGS_BAD;
    }
    if (option->value == NULL)
        return index;
    if (!attached && args->next == args->argc) {
        cmd_misuse(args->argv[0], "--%s needs a value: --%s %s", option->name, option->name,
                   option->value);
        return CMD_ARGS_BAD;
    }
    args->value = attached ? text + length + 1 : args->argv[args->next++];
    return index;
}

int cmd_args_next(struct cmd_args *args)
{
    args->value = NULL;
    if (args->next >= args->argc)
        return CMD_ARGS_END;
    const char *argument = args->argv[args->next++];
    if (!args->operands_only) {
        if (strcmp(argument, "--") == 0) {
            args->operands_only = true;
            return cmd_args_next(args);
        }
        if (strcmp(argument, "-h") == 0)
            return take_option(args, "help");
        if (strncmp(argument, "--", 2) == 0)
            return take_option(args, argument + 2);
    }
    args->value = argument;
    return CMD_ARGS_OPERAND;
}

/* Prints the lines of `text`, the first one at the cursor and the others indented. */
static void print_lines(const char *text, int indent)
{
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1)
        printf("%.*s\n%*s", (int)(end - text), text, indent, "");
    printf("%s\n", text);
}

static void print_options(const struct cmd_option *options)
{
    int width = 0;
    for (const struct cmd_option *o = options; o->name != NULL; o++) {
        int length = (int)(strlen(o->name) + (o->value != NULL ? strlen(o->value) + 1 : 0));
        width = length > width ? length : width;
    }
    for (const struct cmd_option *o = options; o->name != NULL; o++) {
        const char *value = o->value != NULL ? o->value : "";
        int name_width = (int)strlen(o->name) + (o->value != NULL);
        printf("  --%-*s%-*s  ", name_width, o->name, width - name_width, value);
        print_lines(o->help, width + 6);
    }
}

int cmd_help(const struct cmd_help *help)
{
    if (!cmd_is_speaker())
        return CMD_DONE;
    printf("usage: ");
    print_lines(help->usage, 7);
    printf("\n%s\n\nOptions:\n", help->about);
    print_options(help->options);
    if (help->examples != NULL) {
        printf("\nExamples:\n  ");
        print_lines(help->examples, 2);
    }
    return CMD_DONE;
}

enum { MAX_WORD = 64 };

/* Levenshtein's distance of two words, the second of less than MAX_WORD bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t row[MAX_WORD], length = strlen(b);
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[length];
}

const char *cmd_nearest(const char *word, const void *rows, size_t count, size_t size)
{
    const char *nearest = NULL;
    size_t best = strlen(word) / 2 + 1; /* further away than this is another word */
    for (size_t i = 0; i < count; i++) {
        const char *name = *(const char *const *)((const char *)rows + i * size);
        size_t d = distance(word, name);
        if (d < best) {
            best = d;
            nearest = name;
        }
    }
    return nearest;
}
