/* core/setting.c - what the environment says of each setting. */
#include "core/setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/absent.h"
#include "core/decimal.h"

static const struct row {
    const char *name;
    const char *values;
} rows[] = {
#define SETTING_ROW(name, values, meaning) {"SPMD_" #name, values},
    SPMD_SETTING_MAP(SETTING_ROW)
#undef SETTING_ROW
};
enum { SETTINGS = sizeof rows / sizeof *rows };

/* "" where nothing is set. */
static const char *value_of(spmd_setting setting)
{
    const char *value = getenv(rows[setting].name);
    return value ? value : "";
}

static spmd_status refuse(spmd_setting setting)
{
    return spmd_fail(SPMD_ERR_ARGUMENT, "%s=%s in the environment: it is %s", rows[setting].name,
                     value_of(setting), rows[setting].values);
}

/* Words stand in a list like "auto, direct or hdf5". */
struct setting_word spmd__setting_word(spmd_setting setting, int choice)
{
    struct setting_word word;
    const char *at = rows[setting].values;
    for (int i = 0; i < choice && *at != '\0'; i++) {
        at += strcspn(at, ", ");
        at += strspn(at, ", ");
        at += strncmp(at, "or ", 3) == 0 ? 3 : 0;
    }
    snprintf(word.text, sizeof word.text, "%.*s", (int)strcspn(at, ", "), at);
    return word;
}

spmd_status spmd__setting_choose(spmd_setting setting, int *choice)
{
    const char *value = value_of(setting);
    int number = 0;
    while (*value != '\0' && strcmp(value, spmd__setting_word(setting, number).text) != 0)
        if (spmd__setting_word(setting, ++number).text[0] == '\0')
            return refuse(setting);
    *choice = number;
    return SPMD_OK;
}

spmd_status spmd__setting_read_watchdog(double *seconds)
{
    const char *value = value_of(SPMD_SETTING_WATCHDOG);
    const double most = 1e9; /* nanoseconds of it fit in 64 bits */
    char *end;
    locale_t before = spmd__decimal_begin();
    double read = strtod(value, &end);
    spmd__decimal_end(before);
    if (*end != '\0' || !(read >= 0 && read <= most))
        return refuse(SPMD_SETTING_WATCHDOG);
    *seconds = read;
    return SPMD_OK;
}

spmd_status spmd__setting_read_costs(struct costs *costs)
{
    const char *path = value_of(SPMD_SETTING_COSTS);
    spmd_status status = *path != '\0' ? spmd__costs_read(path, costs) : SPMD_OK;
    if (status == SPMD_OK)
        return SPMD_OK;
    return spmd_fail(status, "SPMD_COSTS=%s in the environment: %s", path, spmd_error_message());
}

spmd_status spmd_setting_check(spmd_setting setting)
{
    int choice;
    double seconds;
    struct costs costs;
    if ((unsigned)setting >= SETTINGS)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s",
                         spmd__absent("setting", (int)setting, 0, SETTINGS).text);
    if (setting == SPMD_SETTING_WATCHDOG)
        return spmd__setting_read_watchdog(&seconds);
    if (setting == SPMD_SETTING_COSTS)
        return spmd__setting_read_costs(&costs);
    return spmd__setting_choose(setting, &choice);
}
