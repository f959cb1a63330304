/* comm/slot.c - what a rank shows the others of its node. */
#include "comm/slot.h"

#include <errno.h>
#include <stdbool.h>

#include "core/pool.h"

/* Other processes look at slots: a lock would be in the wrong one. */
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_POINTER_LOCK_FREE == 2 &&
                   ATOMIC_INT_LOCK_FREE == 2,
               "slots need atomics without locks");

enum { SLOTS = POOL_FRONT_BYTES / sizeof(struct slot) };
static bool is_used[SLOTS];

struct slot *spmd__slot_take(void)
{
    struct slot *slots = spmd__pool_front();
    for (int i = 0; slots && i < (int)SLOTS; i++)
        if (!is_used[i]) {
            is_used[i] = true;
            return &slots[i];
        }
    errno = slots ? EUSERS : spmd__pool_refusal();
    return NULL;
}

void spmd__slot_give(struct slot *slot)
{
    if (slot)
        is_used[slot - (struct slot *)spmd__pool_front()] = false;
}
