/* pool.c - unit tests of the memory of blocks. */
#include "core/pool.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/peer_map.h"
#include "unit.h"

enum { LARGE = 3 * POOL_LEAST_BYTES };

static char *take(size_t bytes, bool zeroed)
{
    void *memory = NULL;
    ASSERT_OK(spmd__pool_take(bytes, zeroed, &memory));
    ck_assert_int_eq((int)((uintptr_t)memory % BLOCK_ALIGNMENT), 0);
    return memory;
}

static bool is_zero(const char *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (memory[i] != 0)
            return false;
    return true;
}

START_TEST(large_blocks_have_a_place_in_the_file)
{
    char *large = take(LARGE, true), *small = take(100, true), *none = take(0, true);
    ck_assert(spmd__pool_offset(large) > 0);
    ck_assert_int_eq(spmd__pool_offset(small), -1);
    ck_assert_int_eq(spmd__pool_offset(none), -1);
    ck_assert_int_eq(spmd__pool_offset(NULL), -1);
    ck_assert(is_zero(large, LARGE) && is_zero(small, 100));
    spmd__pool_give(large);
    spmd__pool_give(small);
    spmd__pool_give(none);
    spmd__pool_give(NULL);
}
END_TEST

START_TEST(memory_is_used_again_and_zeroed_where_asked)
{
    char *first = take(LARGE, true);
    memset(first, 7, LARGE);
    spmd__pool_give(first);
    char *again = take(LARGE, false);
    ck_assert_ptr_eq(again, first);
    spmd__pool_give(again);
    again = take(LARGE, true);
    ck_assert_ptr_eq(again, first);
    ck_assert(is_zero(again, LARGE));
    spmd__pool_give(again);
}
END_TEST

START_TEST(neighbours_that_are_free_become_one)
{
    char *blocks[8];
    for (int i = 0; i < 8; i++)
        blocks[i] = take(LARGE, false);
    static const int order[] = {1, 3, 2, 6, 5, 0, 4};
    for (int i = 0; i < 7; i++)
        spmd__pool_give(blocks[order[i]]);
    char *joined = take((size_t)6 * LARGE, false);
    ck_assert(joined >= blocks[0] && joined < blocks[7]);
    spmd__pool_give(joined);
    spmd__pool_give(blocks[7]);
}
END_TEST

START_TEST(what_a_block_has_too_much_is_used_again)
{
    char *block = take((size_t)4 * LARGE, true), *behind = take(LARGE, false);
    memset(block, 7, (size_t)4 * LARGE);
    spmd__pool_shrink(block, LARGE);
    char *rest = take((size_t)2 * LARGE, true);
    ck_assert(rest >= block + LARGE && rest < behind);
    ck_assert(is_zero(rest, (size_t)2 * LARGE));
    ck_assert_int_eq(block[LARGE - 1], 7);
    spmd__pool_shrink(block, 0);
    spmd__pool_give(rest);
    spmd__pool_give(block);
    char *again = take((size_t)4 * LARGE, false);
    ck_assert_ptr_eq(again, block);
    spmd__pool_give(again);
    spmd__pool_give(behind);
    char *small = take(100, false);
    spmd__pool_shrink(small, 10); /* it is from the heap */
    spmd__pool_give(small);
}
END_TEST

/* It begins at a multiple of 2 MiB. */
START_TEST(what_lies_before_a_large_block_is_used)
{
    const size_t large = (size_t)2 * PEER_FILE_LARGE_PAGE;
    char *first = take(large, false), *second = take(LARGE, false), *third = take(large, false);
    ck_assert_int_eq(spmd__pool_offset(third) % PEER_FILE_LARGE_PAGE, 0);
    char *between = take(LARGE, true);
    ck_assert(between > second && between < third);
    ck_assert(is_zero(between, LARGE));
    spmd__pool_give(first);
    spmd__pool_give(second);
    spmd__pool_give(between);
    spmd__pool_give(third);
}
END_TEST

START_TEST(random_blocks_do_not_overlap)
{
    enum { BLOCKS = 24, STEPS = 4000 };
    struct {
        unsigned char *memory;
        size_t bytes;
        unsigned char mark;
    } block[BLOCKS] = {{0}};
    uint32_t state = 12345;
    for (int step = 0; step < STEPS; step++) {
        state = state * 1664525 + 1013904223;
        int k = (int)(state >> 16) % BLOCKS;
        if (block[k].memory) {
            ck_assert_int_eq(block[k].memory[0], block[k].mark);
            ck_assert_int_eq(block[k].memory[block[k].bytes - 1], block[k].mark);
            spmd__pool_give(block[k].memory);
            block[k].memory = NULL;
            continue;
        }
        block[k].bytes = 1 + (state >> 8) % (40 * (size_t)POOL_LEAST_BYTES);
        block[k].mark = (unsigned char)step;
        block[k].memory = (unsigned char *)take(block[k].bytes, step % 2);
        block[k].memory[0] = block[k].memory[block[k].bytes - 1] = block[k].mark;
    }
    for (int k = 0; k < BLOCKS; k++)
        spmd__pool_give(block[k].memory);
}
END_TEST

START_TEST(another_mapping_shows_the_same)
{
    struct peer_file file = spmd__pool_file();
    char *block = take(LARGE, true);
    const char *mapped = spmd__peer_file_map(&file, false);
    ck_assert_ptr_nonnull(mapped);
    const char *seen = mapped + spmd__pool_offset(block);
    block[LARGE - 1] = 42;
    ck_assert_int_eq(seen[LARGE - 1], 42);
    munmap((void *)mapped, file.size);
    file.mark++; /* of a process with the same number, on another system */
    errno = 0;
    ck_assert_ptr_null(spmd__peer_file_map(&file, false));
    ck_assert_int_eq(errno, ESRCH);
    file.descriptor = -1;
    ck_assert_ptr_null(spmd__peer_file_map(&file, false));
    spmd__pool_give(block);
}
END_TEST

START_TEST(a_file_is_mapped_once)
{
    struct peer_file file = spmd__pool_file(), none = file;
    char *memory = spmd__peer_map_take(&file);
    ck_assert_ptr_nonnull(memory);
    ck_assert_ptr_eq(spmd__peer_map_take(&file), memory);
    none.mark++;
    ck_assert_ptr_null(spmd__peer_map_take(&none));
    spmd__peer_map_give(NULL);
    spmd__peer_map_give(memory);
    ck_assert_int_eq(memcmp(memory, &file.mark, sizeof file.mark), 0);
    spmd__peer_map_give(memory);
    ck_assert_int_eq(madvise(memory, PEER_FILE_LARGE_PAGE, MADV_NORMAL), -1);
    ck_assert_int_eq(errno, ENOMEM); /* nothing is mapped there */
}
END_TEST

/* Of all processes of a full node, in each of them. */
START_TEST(all_pools_fit_in_the_address_space)
{
    const uint64_t gib = (uint64_t)1 << 30, half = (uint64_t)1 << 46;
    ck_assert_uint_eq(spmd__pool_addresses(24 * gib, 2), 24 * gib);
    ck_assert_uint_eq(spmd__pool_addresses(1024 * gib, 128), half / 128);
    ck_assert_uint_eq(spmd__pool_addresses(0, 256), half / 256);
    ck_assert_uint_eq(spmd__pool_addresses(4096 * gib, -1), 4096 * gib);
    ck_assert_uint_le(spmd__pool_file().size,
                      (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
}
END_TEST

START_TEST(more_than_there_is_is_an_error)
{
    void *memory = NULL;
    ASSERT_FAILS(spmd__pool_take(SIZE_MAX / 4, true, &memory), SPMD_ERR_MEMORY, "no memory");
    ASSERT_FAILS(spmd__pool_take(SIZE_MAX, false, &memory), SPMD_ERR_MEMORY, "no memory");
    ck_assert_ptr_null(memory);
}
END_TEST

/* A file of this size at most; each test is a process of its own. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit = {bytes, bytes};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

START_TEST(a_small_file_has_room_for_some_blocks)
{
    limit_files((rlim_t)5 * POOL_LEAST_BYTES);
    char *some = take((size_t)2 * POOL_LEAST_BYTES, true), *more = take(LARGE, true);
    ck_assert(spmd__pool_offset(some) > 0);
    ck_assert_int_eq(spmd__pool_offset(more), -1);
    ck_assert_int_eq(spmd__pool_refusal(), EFBIG);
    char *front = spmd__pool_front();
    ck_assert(front && is_zero(front, POOL_FRONT_BYTES));
    memset(front, 1, POOL_FRONT_BYTES);
    ck_assert(is_zero(some, (size_t)2 * POOL_LEAST_BYTES));
    spmd__pool_give(some);
    spmd__pool_give(more);
}
END_TEST

START_TEST(without_a_file_blocks_are_from_the_heap)
{
    limit_files(POOL_LEAST_BYTES); /* and the front needs more */
    char *block = take(LARGE, true);
    ck_assert_int_eq(spmd__pool_offset(block), -1);
    ck_assert_int_eq(spmd__pool_refusal(), EFBIG);
    ck_assert_ptr_null(spmd__pool_front());
    ck_assert_int_eq((int)spmd__pool_file().descriptor, -1);
    spmd__pool_give(block);
}
END_TEST

UNIT_MAIN("pool", large_blocks_have_a_place_in_the_file,
          memory_is_used_again_and_zeroed_where_asked, neighbours_that_are_free_become_one,
          what_a_block_has_too_much_is_used_again, random_blocks_do_not_overlap,
          what_lies_before_a_large_block_is_used, another_mapping_shows_the_same,
          a_file_is_mapped_once, all_pools_fit_in_the_address_space, more_than_there_is_is_an_error,
          a_small_file_has_room_for_some_blocks, without_a_file_blocks_are_from_the_heap)
