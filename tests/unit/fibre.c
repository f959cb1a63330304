/* fibre.c - unit tests of code that runs on stacks of its own. */
#include "core/fibre.h"

#include <stdint.h>
#include <stdio.h>

#include "core/error.h"
#include "core/place.h"
#include "unit.h"

/* Counts to `last`, one step each time it is resumed. */
struct counter {
    int at, last;
};

static void count(void *argument)
{
    struct counter *counter = argument;
    while (counter->at < counter->last) {
        counter->at++;
        spmd__fibre_suspend();
    }
}

START_TEST(goes_on_where_it_left)
{
    struct counter counter = {0, 3};
    struct fibre *fibre;
    ASSERT_OK(spmd__fibre_make(0, count, &counter, &fibre));
    for (int i = 1; i <= 3; i++) {
        spmd__fibre_resume(fibre);
        ck_assert_int_eq(counter.at, i);
        ck_assert(!spmd__fibre_has_returned(fibre));
    }
    spmd__fibre_resume(fibre);
    ck_assert(spmd__fibre_has_returned(fibre));
    spmd__fibre_free(&fibre);
    ck_assert_ptr_null(fibre);
    spmd__fibre_free(&fibre);
}
END_TEST

START_TEST(many_take_turns)
{
    enum { MANY = 1000 };
    static struct counter counters[MANY];
    static struct fibre *fibres[MANY];
    for (int k = 0; k < MANY; k++) {
        counters[k] = (struct counter){0, 2};
        ASSERT_OK(spmd__fibre_make(1 << 20, count, &counters[k], &fibres[k]));
    }
    for (int round = 0; round < 3; round++)
        for (int k = 0; k < MANY; k++)
            spmd__fibre_resume(fibres[k]);
    for (int k = 0; k < MANY; k++) {
        ck_assert(spmd__fibre_has_returned(fibres[k]));
        ck_assert_int_eq(counters[k].at, 2);
        spmd__fibre_free(&fibres[k]);
    }
}
END_TEST

/* Runs another one in its turn. */
static void count_inside(void *argument)
{
    struct counter *counter = argument;
    struct fibre *own = spmd__fibre_running(), *inner;
    ASSERT_OK(spmd__fibre_make(0, count, counter, &inner));
    while (!spmd__fibre_has_returned(inner)) {
        spmd__fibre_resume(inner);
        ck_assert_ptr_eq(spmd__fibre_running(), own);
        spmd__fibre_suspend();
    }
    spmd__fibre_free(&inner);
}

START_TEST(they_nest)
{
    struct counter counter = {0, 2};
    struct fibre *outer;
    ck_assert_ptr_null(spmd__fibre_running());
    ASSERT_OK(spmd__fibre_make(0, count_inside, &counter, &outer));
    for (int turns = 1; !spmd__fibre_has_returned(outer); turns++) {
        spmd__fibre_resume(outer);
        ck_assert_ptr_null(spmd__fibre_running());
        ck_assert_int_eq(counter.at, turns < 2 ? turns : 2);
    }
    spmd__fibre_free(&outer);
}
END_TEST

static void fail_and_suspend(void *argument)
{
    ck_assert_str_eq(spmd_error_message(), "");
    ck_assert_ptr_null(spmd__place().file);
    spmd_fail(SPMD_ERR_BODY, "%s", (const char *)argument);
    spmd__place_restore((struct place){.file = argument});
    spmd__fibre_suspend();
    ck_assert_str_eq(spmd_error_message(), argument);
    ck_assert_ptr_eq((const void *)spmd__place().file, argument);
}

START_TEST(each_remembers_its_own_failure_and_place)
{
    char *names[] = {"one", "two"};
    struct fibre *fibres[2];
    spmd_fail(SPMD_ERR_BODY, "mine");
    spmd__place_restore((struct place){.file = "here"});
    for (int k = 0; k < 2; k++)
        ASSERT_OK(spmd__fibre_make(0, fail_and_suspend, names[k], &fibres[k]));
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < 2; k++) {
            spmd__fibre_resume(fibres[k]);
            ck_assert_str_eq(spmd_error_message(), "mine");
            ck_assert_str_eq(spmd__place().file, "here");
        }
    spmd__fibre_free(&fibres[0]);
    spmd__fibre_free(&fibres[1]);
}
END_TEST

/* The C++ library's, of this program. */
static struct {
    void *caught;
    unsigned uncaught;
} exceptions;

void *__cxa_get_globals(void);

void *__cxa_get_globals(void)
{
    return &exceptions;
}

static void handle_and_suspend(void *argument)
{
    ck_assert_ptr_null(exceptions.caught);
    exceptions.caught = argument;
    exceptions.uncaught = 1;
    spmd__fibre_suspend();
    ck_assert_ptr_eq(exceptions.caught, argument);
    exceptions.caught = NULL;
}

START_TEST(each_handles_its_own_exceptions)
{
    int mine, theirs[2];
    struct fibre *fibres[2];
    exceptions.caught = &mine;
    exceptions.uncaught = 0;
    for (int k = 0; k < 2; k++)
        ASSERT_OK(spmd__fibre_make(0, handle_and_suspend, &theirs[k], &fibres[k]));
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < 2; k++) {
            spmd__fibre_resume(fibres[k]);
            ck_assert_ptr_eq(exceptions.caught, &mine);
            ck_assert_int_eq(exceptions.uncaught, 0);
        }
    spmd__fibre_free(&fibres[0]);
    spmd__fibre_free(&fibres[1]);
}
END_TEST

/* Touches most of a stack. */
static void use_stack(void *argument)
{
    volatile char room[3 << 20];
    for (size_t i = 0; i < sizeof room; i += 1 << 10)
        room[i] = 1;
    *(int *)argument += room[1 << 20];
}

START_TEST(stacks_are_as_large_as_asked)
{
    int done = 0;
    struct fibre *fibre;
    ASSERT_OK(spmd__fibre_make(4 << 20, use_stack, &done, &fibre));
    spmd__fibre_resume(fibre);
    ck_assert_int_eq(done, 1);
    spmd__fibre_free(&fibre);
    ASSERT_FAILS(spmd__fibre_make(SIZE_MAX, use_stack, &done, &fibre), SPMD_ERR_MEMORY, "stack");
    ASSERT_FAILS(spmd__fibre_make(SIZE_MAX / 2, use_stack, &done, &fibre), SPMD_ERR_MEMORY,
                 "stack");
}
END_TEST

/* Whether a part of this process's memory, or some of it, can be written. */
static bool can_write(uintptr_t lo, uintptr_t hi)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long first, last;
    char line[512], access[8];
    bool found = false;
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %7s", &first, &last, access) == 3 && first < hi && last > lo)
            found = found || access[1] == 'w';
    if (maps)
        fclose(maps);
    return found;
}

/* Looks whether a large array that does not fit could be written, far below the stack. */
static void look_below(void *argument)
{
    enum { NEAR = FIBRE_LEAST_STACK + (8 << 10), FAR = FIBRE_LEAST_STACK + (512 << 10) };
    uintptr_t here = (uintptr_t)&argument;
    *(bool *)argument = can_write(here - FAR, here - NEAR);
}

/* Below them may lie others. */
START_TEST(stacks_are_guarded_by_more_than_a_page)
{
    enum { N = 8 };
    struct fibre *fibres[N];
    bool found[N];
    for (int k = 0; k < N; k++)
        ASSERT_OK(spmd__fibre_make(0, look_below, &found[k], &fibres[k]));
    for (int k = 0; k < N; k++)
        spmd__fibre_resume(fibres[k]);
    for (int k = 0; k < N; k++) {
        ck_assert(!found[k]);
        spmd__fibre_free(&fibres[k]);
    }
}
END_TEST

/* One that never began leaves nothing behind. */
START_TEST(unused_ones_are_freed)
{
    struct counter counter = {0, 1};
    struct fibre *fibre;
    ASSERT_OK(spmd__fibre_make(0, count, &counter, &fibre));
    spmd__fibre_free(&fibre);
    ck_assert_int_eq(counter.at, 0);
}
END_TEST

UNIT_MAIN("fibre", goes_on_where_it_left, many_take_turns, they_nest,
          each_remembers_its_own_failure_and_place, each_handles_its_own_exceptions,
          stacks_are_as_large_as_asked, stacks_are_guarded_by_more_than_a_page,
          unused_ones_are_freed)
