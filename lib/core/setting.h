/* core/setting.h - what the environment says of each setting. See spmd/setting.h. */
#ifndef CORE_SETTING_H
#define CORE_SETTING_H

#include <spmd/setting.h>

#include "core/cost.h"

/* Local. Which of its words is set, from 0; without one, the first. Fails with SPMD_ERR_ARGUMENT
 * for anything else, which else would count as one of them in silence. */
spmd_status spmd__setting_choose(spmd_setting setting, int *choice);

/* One of the words that a setting has to choose from; "" behind the last. */
struct setting_word {
    char text[16];
};
struct setting_word spmd__setting_word(spmd_setting setting, int choice);

/* Local. What SPMD_WATCHDOG says, 0 without it; the table that SPMD_COSTS names, without it *costs
 * stays. Fail as spmd_setting_check. */
spmd_status spmd__setting_read_watchdog(double *seconds);
spmd_status spmd__setting_read_costs(struct costs *costs);

#endif
