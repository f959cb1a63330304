/* core/arena.h - scratch memory that is taken piece by piece and given back at once.
 *
 *     struct arena_mark mark = spmd__arena_mark(&arena);
 *     TRY(spmd__arena_take(&arena, count, sizeof *numbers, &numbers));
 *     ...
 *     spmd__arena_reset(&arena, mark);       all that was taken since
 *
 * Memory stays with the arena until it is freed, so that the second round allocates nothing. */
#ifndef CORE_ARENA_H
#define CORE_ARENA_H

#include <stddef.h>

#include <spmd/error.h>

struct arena {
    struct arena_chunk *first; /* in the order of their use */
    struct arena_chunk *at;    /* the one that is taken from; NULL: none has been used */
    struct arena *inner;       /* NULL: not asked for yet */
};

struct arena_mark {
    struct arena_chunk *chunk;
    size_t used;
};

/* Memory for `count` objects of `size` bytes, aligned to BLOCK_ALIGNMENT, with what happens to
 * stand in it. Under the address sanitizer it is fenced. Fails with SPMD_ERR_MEMORY, also when the
 * product overflows. */
spmd_status spmd__arena_take(struct arena *arena, size_t count, size_t size,
                             void *out /* a pointer to a pointer */);

struct arena_mark spmd__arena_mark(const struct arena *arena);
void spmd__arena_reset(struct arena *arena, struct arena_mark mark);

/* Another arena, which is this one's and freed with it: for what is called in between, so that this
 * one can be taken from meanwhile. The caller gives back what it takes there. Fails with
 * SPMD_ERR_MEMORY. */
spmd_status spmd__arena_inner(struct arena *arena, struct arena **inner);

void spmd__arena_free(struct arena *arena);

#endif
