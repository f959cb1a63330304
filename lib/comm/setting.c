/* comm/setting.c - settings that are made in the environment. */
#include "comm/setting.h"

#include <stdlib.h>
#include <string.h>

spmd_status spmd__setting_read(const char *name, bool *made)
{
    const char *value = getenv(name);
    *made = value && strcmp(value, "1") == 0;
    if (!value || *made || strcmp(value, "0") == 0 || *value == '\0')
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_ARGUMENT, "%s=%s in the environment: it is 0 or 1", name, value);
}
