/* comm/slot.h - what a rank shows the others of its node: at the front of its pool, where only it
 * writes, and each of its nodes has a slot of its own. */
#ifndef COMM_SLOT_H
#define COMM_SLOT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

/* A line of the cache, so that who looks at one slot does not wait for who writes the next. */
struct slot {
    alignas(64) _Atomic uint64_t offered; /* the last round that the rank has come to */
    _Atomic uint64_t finished;            /* the last one in which it has read and written all */
    _Atomic uintptr_t address;            /* of its block in this round; 0: it is not to be read */
    _Atomic uintptr_t room;               /* where it may be written; 0: nowhere */
    _Atomic int refusal;                  /* why the pool had no room for a block, as errno */
};

/* A slot that is not in use. One that was given back may still be looked at by a slow rank, and be
 * taken again before: so its counters never go back, and who takes it begins its rounds above them.
 * NULL, and errno tells why: there is no pool, or EUSERS, all slots are in use. */
struct slot *spmd__slot_take(void);

/* NULL is accepted. */
void spmd__slot_give(struct slot *slot);

#endif
