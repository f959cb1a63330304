/* core/pool.c - memory of array blocks: used again and again, and open to the node's processes.
 *
 * The file is a row of regions of whole pages, used ones and free ones, of which no two are
 * neighbours. A block takes the smallest free region that has room. At the end is what was never
 * used: there the file grows, by fallocate, so that memory that the system does not have is an
 * error here and no signal later.
 *
 * Where Linux can (6.1 and later), the file grows by large pages: they come five times as fast, and
 * the ranks that map the file find their way in it with fewer look-ups. MADV_COLLAPSE asks for
 * them whatever the setting for shared memory is; it wants one small page in each. */
#include "core/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef HAVE_VALGRIND_VALGRIND_H
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#include "core/mem.h"
#include "core/poison.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum { PAGE = 4096, LEAST_GROWTH = 1 << 18, MOST_GROWTH = 1 << 26 };
enum { LARGE_PAGE = PEER_FILE_LARGE_PAGE };
enum { FRONT = PAGE + POOL_FRONT_BYTES };

struct region {
    size_t offset;
    size_t size;
    bool used;
    bool dirty;                    /* has been used: it is not zero any more */
    struct region *before, *after; /* in the file */
};

static struct {
    bool tried; /* to make it */
    int descriptor;
    char *memory; /* NULL: there is none */
    size_t size;  /* of the mapping */
    size_t grown; /* of the file: up to here it has memory */
    bool small;   /* the system has no large pages for it */
    uint64_t mark;
    struct region *last;
    int failure; /* why the system gave less than was asked for, last */
    int refusal; /* why a block had no room */
} pool = {.descriptor = -1, .failure = ENOMEM};

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

uint64_t spmd__pool_addresses(uint64_t memory, int64_t processors)
{
    const uint64_t half = sizeof(void *) > 4 ? (uint64_t)1 << 46 : (uint64_t)1 << 30;
    uint64_t most = half / (uint64_t)(processors > 0 ? processors : 1);
    return memory > 0 && memory < most ? memory : most;
}

/* Of this system. Valgrind reads all of it at the end, in search of pointers, and what it reads of
 * the file comes to be. */
static uint64_t roomy_size(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    if (RUNNING_ON_VALGRIND)
        return (uint64_t)1 << 28;
    return spmd__pool_addresses(memory, sysconf(_SC_NPROCESSORS_CONF));
}

/* The size to ask for; some do not give as much. */
static size_t wanted_size(void)
{
    uint64_t bytes = roomy_size(), most = spmd__peer_file_limit();
    if (most < bytes) {
        pool.failure = EFBIG;
        bytes = most;
    }
    return (size_t)(bytes / PAGE * PAGE);
}

static void map_file(void)
{
    for (size_t size = wanted_size(); size >= FRONT; size = size / 2 / PAGE * PAGE) {
        void *memory = NULL;
        if (ftruncate(pool.descriptor, (off_t)size) == 0)
            memory = spmd__peer_file_map_own(pool.descriptor, size);
        if (!memory) {
            pool.failure = errno;
            continue;
        }
        madvise(memory, size, MADV_DONTFORK);
        madvise(memory, size, MADV_HUGEPAGE);
        pool.memory = memory;
        pool.size = size;
        return;
    }
}

static bool take_pages(size_t from, size_t to)
{
    if (from >= to || fallocate(pool.descriptor, 0, (off_t)from, (off_t)(to - from)) == 0)
        return true;
    pool.failure = errno;
    return false;
}

/* Whether the large pages from `from` to `to` have come; if the system has none, nobody asks for
 * such again, since it may take long to find that. */
static bool take_large_pages(size_t from, size_t to)
{
    for (size_t at = from; at < to; at += LARGE_PAGE)
        if (!take_pages(at, at + PAGE))
            return false;
    pool.small = madvise(pool.memory + from, to - from, MADV_COLLAPSE) != 0;
    return !pool.small;
}

/* Memory for this part of the file: large pages where there is room for whole ones. */
static bool take(size_t from, size_t to)
{
    size_t first = round_up(from, LARGE_PAGE), last = to / LARGE_PAGE * LARGE_PAGE;
    if (first >= last || pool.small || !take_large_pages(first, last))
        return take_pages(from, to);
    return take_pages(from, first) && take_pages(last, to);
}

/* A quarter of what there is at a time, so that large programs grow seldom, and small ones little.
 */
static bool grow(size_t end)
{
    if (end <= pool.grown)
        return true;
    size_t step = pool.grown / 4;
    step = step < LEAST_GROWTH ? LEAST_GROWTH : step > MOST_GROWTH ? MOST_GROWTH : step;
    size_t least = end > pool.grown + step ? end : pool.grown + step;
    size_t target = round_up(least, least - pool.grown >= LARGE_PAGE ? LARGE_PAGE : PAGE);
    target = target < pool.size ? target : pool.size;
    if (end > target || !take(pool.grown, target))
        return false;
    POISON(pool.memory + pool.grown, target - pool.grown);
    pool.grown = target;
    return true;
}

static size_t end_of_regions(void)
{
    return pool.last ? pool.last->offset + pool.last->size : 0;
}

/* Adds a region behind the last one; NULL without memory for it. */
static struct region *append(size_t size, bool used)
{
    struct region *region = malloc(sizeof *region);
    if (!region)
        return NULL;
    *region = (struct region){
        .offset = end_of_regions(), .size = size, .used = used, .before = pool.last};
    if (pool.last)
        pool.last->after = region;
    pool.last = region;
    return region;
}

/* What is left out so that the next region begins with a large page is free. */
static bool append_gap(size_t size)
{
    if (size > 0 && !pool.last->used)
        pool.last->size += size;
    else if (size > 0)
        return append(size, false) != NULL;
    return true;
}

static struct region *add_region(size_t size)
{
    size_t offset = end_of_regions();
    size_t aligned = size >= LARGE_PAGE ? round_up(offset, LARGE_PAGE) : offset;
    if (aligned + size > pool.size || !grow(aligned + size) || !append_gap(aligned - offset))
        return NULL;
    return append(size, true);
}

/* Never given back. */
static void make_front(void)
{
    if (!add_region(FRONT)) {
        munmap(pool.memory, pool.size);
        pool.memory = NULL;
        return;
    }
    pool.mark = spmd__peer_file_mark();
    UNPOISON(pool.memory, FRONT);
    memcpy(pool.memory, &pool.mark, sizeof pool.mark);
}

static bool is_there(void)
{
    if (!pool.tried) {
        pool.tried = true;
        pool.descriptor = memfd_create("spmd", MFD_CLOEXEC);
        if (pool.descriptor >= 0)
            map_file();
        else
            pool.failure = errno;
        if (pool.memory)
            make_front();
        if (!pool.memory)
            pool.refusal = pool.failure;
    }
    return pool.memory != NULL;
}

/* The smallest free region with room. */
static struct region *find_free(size_t size)
{
    struct region *best = NULL;
    for (struct region *region = pool.last; region; region = region->before)
        if (!region->used && region->size >= size && (!best || region->size < best->size))
            best = region;
    return best;
}

/* Leaves what a region has too much as a free one behind it. Without memory for that it stays. */
static void split(struct region *region, size_t size)
{
    struct region *rest = region->size > size ? malloc(sizeof *rest) : NULL;
    if (!rest)
        return;
    *rest = (struct region){.offset = region->offset + size,
                            .size = region->size - size,
                            .dirty = region->dirty,
                            .before = region,
                            .after = region->after};
    if (region->after)
        region->after->before = rest;
    else
        pool.last = rest;
    region->after = rest;
    region->size = size;
}

static void merge_with_next(struct region *region)
{
    struct region *next = region->after;
    if (!next || next->used)
        return;
    region->size = next->offset + next->size - region->offset;
    region->dirty = region->dirty || next->dirty;
    region->after = next->after;
    if (next->after)
        next->after->before = region;
    else
        pool.last = region;
    free(next);
}

/* A used region of at least `size`; NULL: the pool has none. */
static struct region *find_region(size_t size)
{
    if (!is_there())
        return NULL;
    struct region *region = find_free(size);
    if (!region)
        return add_region(size);
    region->used = true;
    split(region, size);
    return region;
}

/* With a fence behind the block, where somebody looks. */
static size_t room_of(size_t bytes)
{
#ifdef HAVE_POISON
    bytes += 1;
#endif
    return round_up(bytes, PAGE);
}

spmd_status spmd__pool_take(size_t bytes, bool zeroed, void **memory)
{
    struct region *region = NULL;
    if (bytes >= POOL_LEAST_BYTES && bytes < SIZE_MAX / 2)
        region = find_region(room_of(bytes));
    if (!region) {
        spmd_status status = spmd__alloc_block(bytes, memory);
        if (status == SPMD_OK && bytes >= POOL_LEAST_BYTES)
            pool.refusal = pool.failure;
        return status;
    }
    char *block = pool.memory + region->offset;
    UNPOISON(block, bytes);
    if (zeroed && region->dirty)
        memset(block, 0, bytes);
    region->dirty = true;
    *memory = block;
    return SPMD_OK;
}

int64_t spmd__pool_offset(const void *memory)
{
    const char *at = memory;
    bool inside = pool.memory && at >= pool.memory && at < pool.memory + pool.grown;
    return inside ? at - pool.memory : -1;
}

static void give_region(struct region *region)
{
    region->used = false;
    POISON(pool.memory + region->offset, region->size);
    merge_with_next(region);
    if (region->before && !region->before->used)
        merge_with_next(region->before);
}

/* The region of a block; NULL: it is from the heap. */
static struct region *region_of(const void *memory)
{
    int64_t offset = spmd__pool_offset(memory);
    struct region *region = offset < 0 ? NULL : pool.last;
    while (region && region->offset != (size_t)offset)
        region = region->before;
    return region;
}

void spmd__pool_give(void *memory)
{
    struct region *region = region_of(memory);
    if (region)
        give_region(region);
    else
        free(memory);
}

void spmd__pool_shrink(void *memory, size_t bytes)
{
    struct region *region = region_of(memory);
    size_t size = region ? region->size : 0;
    if (!region)
        return;
    split(region, room_of(bytes > 0 ? bytes : 1));
    POISON((char *)memory + bytes, region->size - bytes);
    if (region->size < size)
        give_region(region->after);
}

void *spmd__pool_front(void)
{
    return is_there() ? pool.memory + PAGE : NULL;
}

int spmd__pool_refusal(void)
{
    return pool.refusal;
}

struct peer_file spmd__pool_file(void)
{
    bool there = is_there();
    return (struct peer_file){.process = getpid(),
                              .descriptor = there ? pool.descriptor : -1,
                              .size = pool.size,
                              .mark = pool.mark};
}
