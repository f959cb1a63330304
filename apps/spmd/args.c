/* args.c - options and operands, and the help that lists them. */
#include "args.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "spelling.h"

/* The last option of every sub-command. */
static const struct args_option help_option = {"help", NULL, "print this help"};

static const struct args_option *option_at(const struct args_usage *usage, int index)
{
    return index < usage->noptions ? &usage->options[index] : &help_option;
}

static const char *option_name(const void *usage, int index)
{
    return option_at(usage, index)->name;
}

/* Prints the lines of `text`, the first one at the cursor and the others indented. */
static void print_lines(const char *text, int indent)
{
    for (const char *end; (end = strchr(text, '\n')); text = end + 1)
        printf("%.*s\n%*s", (int)(end - text), text, indent, "");
    printf("%s\n", text);
}

/* "NAME" or "NAME VALUE"; returns the length. */
static int format_option(const struct args_option *option, char *text, size_t size)
{
    const char *value = option->value;
    return snprintf(text, size, "%s%s%s", option->name, value ? " " : "", value ? value : "");
}

static void print_options(const struct args_usage *usage)
{
    char text[64];
    int width = 0;
    for (int i = 0; i <= usage->noptions; i++) {
        int length = format_option(option_at(usage, i), text, sizeof text);
        width = length > width ? length : width;
    }
    for (int i = 0; i <= usage->noptions; i++) {
        format_option(option_at(usage, i), text, sizeof text);
        printf("  --%-*s  ", width, text);
        print_lines(option_at(usage, i)->help, width + 6);
    }
}

static void print_help(const struct args_usage *usage)
{
    printf("usage: ");
    print_lines(usage->synopsis, 7);
    printf("\n%s\n", usage->about);
    if (usage->details)
        usage->details();
    printf("\nOptions:\n");
    print_options(usage);
    printf("\nExamples:\n  ");
    print_lines(usage->examples, 2);
}

struct args args_begin(int argc, char **argv, const struct args_usage *usage)
{
    return (struct args){.argc = argc, .argv = argv, .usage = usage, .next = 1};
}

static int stop(struct args *args, int code)
{
    args->code = code;
    return ARGS_STOP;
}

/* The index of the option "name" of `length` bytes; -1 if there is none. */
static int find_option(const struct args_usage *usage, const char *name, size_t length)
{
    for (int i = 0; i <= usage->noptions; i++)
        if (strlen(option_name(usage, i)) == length &&
            strncmp(option_name(usage, i), name, length) == 0)
            return i;
    return -1;
}

static int unknown_option(struct args *args, const char *name, size_t length)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *command = args->argv[0];
    const char *nearest =
        spelling_nearest(word, args->usage->noptions + 1, option_name, args->usage);
    if (nearest)
        cmd_misuse(command, "%s has no option --%s; did you mean --%s?", command, word, nearest);
    else
        cmd_misuse(command, "%s has no option --%s", command, word);
    return stop(args, CMD_MISUSED);
}

static int take_help(struct args *args)
{
    if (cmd_is_speaker())
        print_help(args->usage);
    return stop(args, CMD_DONE);
}

/* Reads "name", "name=VALUE" or "name" and the argument after it. */
static int take_option(struct args *args, const char *text)
{
    size_t length = strcspn(text, "=");
    int index = find_option(args->usage, text, length);
    if (index < 0)
        return unknown_option(args, text, length);
    const struct args_option *option = option_at(args->usage, index);
    bool attached = text[length] == '=';
    if (!option->value && attached)
        return stop(args, cmd_misuse(args->argv[0], "--%s takes no value", option->name));
    if (option == &help_option)
        return take_help(args);
    if (!option->value)
        return index;
    if (!attached && args->next == args->argc)
        return stop(args, cmd_misuse(args->argv[0], "--%s needs a value: --%s %s", option->name,
                                     option->name, option->value));
    args->value = attached ? text + length + 1 : args->argv[args->next++];
    return index;
}

int args_next(struct args *args)
{
    args->value = NULL;
    if (args->next >= args->argc)
        return ARGS_END;
    const char *argument = args->argv[args->next++];
    if (!args->operands_only) {
        if (strcmp(argument, "--") == 0) {
            args->operands_only = true;
            return args_next(args);
        }
        if (strcmp(argument, "-h") == 0)
            return take_help(args);
        if (strncmp(argument, "--", 2) == 0)
            return take_option(args, argument + 2);
    }
    args->value = argument;
    return ARGS_OPERAND;
}

int args_take(struct args *args, const char *options[], int noperands, const char *operands[])
{
    int count = 0;
    for (int option; (option = args_next(args)) != ARGS_END;) {
        if (option == ARGS_STOP)
            return ARGS_STOP;
        if (option != ARGS_OPERAND)
            options[option] = args->value ? args->value : "";
        else if (count++ < noperands)
            operands[count - 1] = args->value;
    }
    return count;
}

spmd_status args_read_whole(const char *name, const char *text, int64_t least, int64_t most,
                            int64_t *number)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || value < least ||
        value > most)
        return spmd_fail(SPMD_ERR_SYNTAX, "--%s needs a number from %lld to %lld, not \"%s\"", name,
                         (long long)least, (long long)most, text);
    *number = value;
    return SPMD_OK;
}
