/* interrupt.c - signals that end a run, but let it have its last words. */
#include "interrupt.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a signal handler finds is global. */
static char *last_words;
static size_t length;
static volatile sig_atomic_t told;

static const int caught[] = {SIGINT, SIGTERM};
enum { NCAUGHT = sizeof caught / sizeof caught[0] };
static struct sigaction before[NCAUGHT];

/* Its own handler is gone by then (SA_RESETHAND), so that the signal raised ends the process. */
static void speak_and_end(int number)
{
    if (!told) {
        ssize_t written = write(STDERR_FILENO, last_words, length);
        (void)written; /* nobody is left to tell of a failure */
        told = 1;
    }
    raise(number);
}

spmd_status interrupt_begin(const char *words)
{
    struct sigaction action = {.sa_handler = speak_and_end, .sa_flags = SA_RESETHAND};
    last_words = strdup(words);
    if (!last_words)
        return spmd_fail(SPMD_ERR_MEMORY, "out of memory");
    length = strlen(last_words);
    told = 0;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < NCAUGHT; i++)
        sigaddset(&action.sa_mask, caught[i]);
    for (int i = 0; i < NCAUGHT; i++) {
        sigaction(caught[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(caught[i], &action, NULL);
    }
    return SPMD_OK;
}

void interrupt_end(void)
{
    if (!last_words)
        return;
    for (int i = 0; i < NCAUGHT; i++)
        sigaction(caught[i], &before[i], NULL);
    free(last_words);
    last_words = NULL;
}
