/* info_environment.c - the variables that the library reads, and what is wrong with them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <spmd.h>
#include "cmd.h"
#include "info.h"
#include "spelling.h"

#define PREFIX "SPMD_"

/* Behind the prefix. */
static const char *const names[] = {
#define NAME(name, values, meaning) #name,
    SPMD_SETTING_MAP(NAME)
#undef NAME
};
enum { SETTINGS = sizeof names / sizeof *names };

static void print_variable(const char *name, const char *meaning)
{
    const char *value = getenv(name);
    printf("  %-21s  %-7s  %s\n", name, value ? value : "not set", meaning);
}

static const char *name_of(const void *table, int index)
{
    (void)table;
    return names[index];
}

static bool is_setting(const char *name)
{
    for (int i = 0; i < SETTINGS; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* It may be misspelt, or belong to another program: no error. */
static void warn_of_name(const char *name)
{
    const char *nearest = spelling_nearest(name, SETTINGS, name_of, NULL);
    if (nearest)
        cmd_warning(
            PREFIX "%s in the environment is no setting of the library; did you mean " PREFIX "%s?",
            name, nearest);
    else
        cmd_warning(PREFIX "%s in the environment is no setting of the library", name);
}

static void warn_of_names(void)
{
    for (char **entry = environ; *entry; entry++) {
        char name[64];
        if (strncmp(*entry, PREFIX, strlen(PREFIX)) != 0)
            continue;
        const char *rest = *entry + strlen(PREFIX);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(rest, "="), rest);
        if (!is_setting(name))
            warn_of_name(name);
    }
}

int info_environment(void)
{
    int worst = CMD_DONE;
    puts("\nEnvironment:");
#define PRINT(name, values, meaning) print_variable(PREFIX #name, values ": " meaning);
    SPMD_SETTING_MAP(PRINT)
#undef PRINT
    print_variable("HDF5_USE_FILE_LOCKING", "FALSE: read files that are locked");
    for (int i = 0; i < SETTINGS; i++) {
        int code = cmd_conclude(spmd_setting_check((spmd_setting)i));
        worst = code > worst ? code : worst;
    }
    warn_of_names();
    return worst;
}
