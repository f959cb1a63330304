/* core/fibre.c - code on a stack of its own, which may be left in the midst and gone on with. */
#include "core/fibre.h"

#include "core/error.h"

#ifdef HAVE_MAKECONTEXT
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/place.h"
#include "core/poison.h"

#ifdef HAVE_POISON
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef HAVE_VALGRIND_VALGRIND_H
#include <valgrind/valgrind.h>
#endif

/* What C++ remembers of a thread: the exceptions that are being handled, and thrown. So says the
 * Itanium C++ ABI, 2.2.2. NULL in a program without C++. */
struct exceptions {
    void *caught;
    unsigned uncaught;
};
extern struct exceptions *__cxa_get_globals(void) __attribute__((weak));

struct fibre {
    void (*run)(void *);
    void *argument;
    char *memory; /* a guard, which must not be touched, then the stack */
    size_t guard, bytes;
    ucontext_t here; /* where it goes on */
    ucontext_t back; /* where who resumed it goes on */
    bool returned;
    struct failure failure; /* its own while it does not run, of who resumed it while it does */
    struct place place;     /* the same */
    struct exceptions exceptions;
    unsigned stack_id;      /* valgrind's */
    void *fakes;            /* the address sanitizer's: frames of this stack that lie elsewhere, */
    const void *back_stack; /* and the stack of who resumed it */
    size_t back_bytes;
};

static _Thread_local struct fibre *running;

/* Large arrays of a function may lie far below the last thing that it touched: what runs over by
 * less than this ends the run, and never writes to what happens to lie below. As Linux leaves it
 * below the stack of a process. */
enum { GUARD_BYTES = 1 << 20 };

/* The address sanitizer follows stacks: it is told before and after each change. */
static void announce_switch(void **fakes, const void *stack, size_t bytes)
{
#ifdef HAVE_POISON
    __sanitizer_start_switch_fiber(fakes, stack, bytes);
#else
    (void)fakes, (void)stack, (void)bytes;
#endif
}

static void confirm_switch(void *fakes, const void **stack, size_t *bytes)
{
#ifdef HAVE_POISON
    __sanitizer_finish_switch_fiber(fakes, stack, bytes);
#else
    (void)fakes, (void)stack, (void)bytes;
#endif
}

static void register_stack(struct fibre *fibre)
{
#ifdef HAVE_VALGRIND_VALGRIND_H
    char *stack = fibre->memory + fibre->guard;
    fibre->stack_id = VALGRIND_STACK_REGISTER(stack, stack + fibre->bytes - 1);
#else
    (void)fibre;
#endif
}

static void deregister_stack(const struct fibre *fibre)
{
#ifdef HAVE_VALGRIND_VALGRIND_H
    VALGRIND_STACK_DEREGISTER(fibre->stack_id);
#else
    (void)fibre;
#endif
}

/* Where a fibre begins. Its last change of stacks gives up what the sanitizer has of this one. */
static void enter(void)
{
    struct fibre *fibre = running;
    confirm_switch(NULL, &fibre->back_stack, &fibre->back_bytes);
    fibre->run(fibre->argument);
    fibre->returned = true;
    announce_switch(NULL, fibre->back_stack, fibre->back_bytes);
    setcontext(&fibre->back);
}

static spmd_status map_stack(struct fibre *fibre, size_t stack_bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), guard = GUARD_BYTES;
    size_t wanted = stack_bytes < FIBRE_LEAST_STACK ? FIBRE_LEAST_STACK : stack_bytes;
    size_t bytes = wanted / page * page + (wanted % page != 0) * page, all;
    if (bytes < wanted || __builtin_add_overflow(bytes, guard, &all))
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for a stack of %zu bytes", wanted);
    void *memory = mmap(NULL, all, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, guard, PROT_NONE) != 0) {
        if (memory != MAP_FAILED)
            munmap(memory, all);
        return spmd_fail(SPMD_ERR_MEMORY,
                         "no memory for a stack of %zu bytes: the system's limit of mappings of a "
                         "process may be reached",
                         wanted);
    }
    fibre->memory = memory;
    fibre->guard = guard;
    fibre->bytes = bytes;
    return SPMD_OK;
}

spmd_status spmd__fibre_make(size_t stack_bytes, void (*run)(void *), void *argument,
                             struct fibre **out)
{
    struct fibre *fibre;
    TRY(spmd__alloc(1, sizeof *fibre, &fibre));
    spmd_status status = map_stack(fibre, stack_bytes);
    if (status != SPMD_OK) {
        free(fibre);
        return status;
    }
    register_stack(fibre);
    fibre->run = run;
    fibre->argument = argument;
    getcontext(&fibre->here);
    fibre->here.uc_stack.ss_sp = fibre->memory + fibre->guard;
    fibre->here.uc_stack.ss_size = fibre->bytes;
    fibre->here.uc_link = NULL;
    makecontext(&fibre->here, enter, 0);
    *out = fibre;
    return SPMD_OK;
}

static void swap_exceptions(struct fibre *fibre)
{
    if (!__cxa_get_globals)
        return;
    struct exceptions *here = __cxa_get_globals(), kept = *here;
    *here = fibre->exceptions;
    fibre->exceptions = kept;
}

/* What a thread remembers is each fibre's own: it changes with the stack. */
static void swap_memories(struct fibre *fibre)
{
    struct place place = spmd__place();
    spmd__place_restore(fibre->place);
    fibre->place = place;
    spmd__error_swap(&fibre->failure);
    swap_exceptions(fibre);
}

void spmd__fibre_resume(struct fibre *fibre)
{
    struct fibre *resumer = running;
    void *fakes = NULL;
    running = fibre;
    swap_memories(fibre);
    announce_switch(&fakes, fibre->memory + fibre->guard, fibre->bytes);
    swapcontext(&fibre->back, &fibre->here);
    confirm_switch(fakes, NULL, NULL);
    swap_memories(fibre);
    running = resumer;
}

void spmd__fibre_suspend(void)
{
    struct fibre *fibre = running;
    announce_switch(&fibre->fakes, fibre->back_stack, fibre->back_bytes);
    swapcontext(&fibre->here, &fibre->back);
    confirm_switch(fibre->fakes, &fibre->back_stack, &fibre->back_bytes);
}

struct fibre *spmd__fibre_running(void)
{
    return running;
}

bool spmd__fibre_has_returned(const struct fibre *fibre)
{
    return fibre->returned;
}

void spmd__fibre_free(struct fibre **handle)
{
    struct fibre *fibre = *handle;
    *handle = NULL;
    if (!fibre)
        return;
    deregister_stack(fibre);
    UNPOISON(fibre->memory + fibre->guard, fibre->bytes);
    munmap(fibre->memory, fibre->guard + fibre->bytes);
    free(fibre);
}

#else

spmd_status spmd__fibre_make(size_t stack_bytes, void (*run)(void *), void *argument,
                             struct fibre **fibre)
{
    (void)stack_bytes, (void)run, (void)argument, (void)fibre;
    return spmd_fail(SPMD_ERR_ARGUMENT,
                     "this system has no makecontext, which instances that wait for each other "
                     "need: leave the axis_name of the vmap out");
}

void spmd__fibre_resume(struct fibre *fibre)
{
    (void)fibre;
}

void spmd__fibre_suspend(void)
{
}

struct fibre *spmd__fibre_running(void)
{
    return NULL;
}

bool spmd__fibre_has_returned(const struct fibre *fibre)
{
    (void)fibre;
    return true;
}

void spmd__fibre_free(struct fibre **fibre)
{
    (void)fibre;
}

#endif
