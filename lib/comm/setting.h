/* comm/setting.h - settings that are made in the environment. */
#ifndef COMM_SETTING_H
#define COMM_SETTING_H

#include <stdbool.h>

#include "core/error.h"

/* Local. Whether a setting that is 0 or 1 is made; without it, it is not. Fails with
 * SPMD_ERR_ARGUMENT for anything else, which else would count as either in silence. */
spmd_status spmd__setting_read(const char *name, bool *made);

#endif
