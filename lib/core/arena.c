/* core/arena.c - scratch memory that is taken piece by piece and given back at once. */
#include "core/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "core/poison.h"
#include "core/pool.h"

struct arena_chunk {
    struct arena_chunk *next;
    size_t size;
    size_t used;
    char *memory; /* [size], aligned to BLOCK_ALIGNMENT */
};

enum { LEAST_CHUNK = 1 << 16 };

/* Pieces are a multiple of the alignment, with a fence behind them where somebody looks. */
static size_t room_of(size_t bytes)
{
#ifdef HAVE_POISON
    bytes += 1;
#endif
    return (bytes + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
}

static spmd_status add_chunk(struct arena *arena, size_t room)
{
    struct arena_chunk *chunk = malloc(sizeof *chunk);
    size_t size = room > LEAST_CHUNK ? room : LEAST_CHUNK;
    void *memory;
    if (!chunk)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for %zu bytes of scratch", room);
    spmd_status status = spmd__pool_take(size, false, &memory);
    if (status != SPMD_OK) {
        free(chunk);
        return status;
    }
    POISON(memory, size);
    *chunk = (struct arena_chunk){.size = size, .memory = memory};
    struct arena_chunk **link = arena->at ? &arena->at->next : &arena->first;
    chunk->next = *link;
    *link = chunk;
    arena->at = chunk;
    return SPMD_OK;
}

/* Goes on to a chunk with room: an unused one that is there already, or a new one. */
static spmd_status find_chunk(struct arena *arena, size_t room)
{
    struct arena_chunk *next = arena->at ? arena->at->next : arena->first;
    if (!next || next->size < room)
        return add_chunk(arena, room);
    arena->at = next;
    return SPMD_OK;
}

spmd_status spmd__arena_take(struct arena *arena, size_t count, size_t size, void *out)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return spmd_fail(SPMD_ERR_MEMORY, "no scratch memory for %zu objects of %zu bytes", count,
                         size);
    size_t room = room_of(bytes);
    if (!arena->at || arena->at->size - arena->at->used < room)
        TRY(find_chunk(arena, room));
    char *memory = arena->at->memory + arena->at->used;
    arena->at->used += room;
    UNPOISON(memory, bytes);
    memcpy(out, &memory, sizeof memory);
    return SPMD_OK;
}

struct arena_mark spmd__arena_mark(const struct arena *arena)
{
    return (struct arena_mark){arena->at, arena->at ? arena->at->used : 0};
}

static void empty_chunk(struct arena_chunk *chunk, size_t used)
{
    chunk->used = used;
    POISON(chunk->memory + used, chunk->size - used);
}

void spmd__arena_reset(struct arena *arena, struct arena_mark mark)
{
    for (struct arena_chunk *chunk = mark.chunk ? mark.chunk->next : arena->first; chunk;
         chunk = chunk->next)
        empty_chunk(chunk, 0);
    if (mark.chunk)
        empty_chunk(mark.chunk, mark.used);
    arena->at = mark.chunk;
}

spmd_status spmd__arena_inner(struct arena *arena, struct arena **inner)
{
    if (!arena->inner)
        TRY(spmd__alloc(1, sizeof *arena->inner, &arena->inner));
    *inner = arena->inner;
    return SPMD_OK;
}

void spmd__arena_free(struct arena *arena)
{
    if (arena->inner)
        spmd__arena_free(arena->inner);
    free(arena->inner);
    arena->inner = NULL;
    while (arena->first) {
        struct arena_chunk *chunk = arena->first;
        arena->first = chunk->next;
        UNPOISON(chunk->memory, chunk->size);
        spmd__pool_give(chunk->memory);
        free(chunk);
    }
    arena->at = NULL;
}
