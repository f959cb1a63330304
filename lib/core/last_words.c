/* core/last_words.c - a message that is told if the process crashes, and only then. */
#include "core/last_words.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CRASHES = 2 };
static const int crashes[CRASHES] = {SIGSEGV, SIGBUS};

static const void *kept_by; /* the owner of the words; NULL: there are none */
static char line[1 << 11];
static struct sigaction before[CRASHES];

static void restore(void)
{
    for (int i = 0; i < CRASHES; i++)
        sigaction(crashes[i], &before[i], NULL);
}

/* Tells the words. What crashed does so again when this returns, and what was to handle that does:
 * the system, MPI or the program. */
static void tell(int number, siginfo_t *about, void *context)
{
    (void)context;
    ssize_t written = write(STDERR_FILENO, line, strlen(line));
    (void)written;
    restore();
    if (about->si_code <= 0) /* sent by a process */
        raise(number);
}

void spmd__last_words_keep(const void *owner, const char *message)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (kept_by)
        return;
    kept_by = owner;
    snprintf(line, sizeof line, "spmd: error: %s\n", message);
    action.sa_sigaction = tell;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CRASHES; i++)
        sigaction(crashes[i], &action, &before[i]);
}

void spmd__last_words_drop(const void *owner)
{
    if (kept_by != owner)
        return;
    restore();
    kept_by = NULL;
}
