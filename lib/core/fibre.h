/* core/fibre.h - code on a stack of its own, which may be left in the midst and gone on with.
 *
 *     TRY(spmd__fibre_make(stack_bytes, run, argument, &fibre));
 *     spmd__fibre_resume(fibre);      run(argument), until it suspends itself or returns
 *         spmd__fibre_suspend();      in it: back to who resumed it
 *     spmd__fibre_free(&fibre);       once it has returned, or before it began
 *
 * A fibre may resume others. Each has its own last failure, its own place in the program, and its
 * own exceptions in C++, as a thread has. */
#ifndef CORE_FIBRE_H
#define CORE_FIBRE_H

#include <stdbool.h>
#include <stddef.h>

#include <spmd/error.h>

enum { FIBRE_LEAST_STACK = 64 << 10 };

struct fibre;

/* Fails with SPMD_ERR_MEMORY, and with SPMD_ERR_ARGUMENT on systems that have no such thing. */
spmd_status spmd__fibre_make(size_t stack_bytes, void (*run)(void *), void *argument,
                             struct fibre **fibre);

void spmd__fibre_resume(struct fibre *fibre);
void spmd__fibre_suspend(void);

/* The one that runs on this thread; NULL: none. */
struct fibre *spmd__fibre_running(void);

bool spmd__fibre_has_returned(const struct fibre *fibre);

void spmd__fibre_free(struct fibre **fibre);

#endif
