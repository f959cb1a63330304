/* comm/deadlock.c - the proof that no rank can go on.
 *
 * Rank 0 asks all ranks where they are, in waves. Who waits answers, with its pulse: the number of
 * its wait, and how many letters it has sent and received; who does not wait does not answer
 * before it does. When a wave is complete, the next one begins. If all pulses of two waves in a row
 * are alike, then at the moment between them each rank was in the same wait, before and after,
 * and had handled no letter meanwhile. If also as many letters were received as sent, none was
 * on its way. A rank that waits acts on letters alone: so nobody will ever act again.
 *
 * That is Mattern's four-counter method for the end of a distributed computation (Algorithms for
 * distributed termination detection, 1987). Time plays no part in it but to choose when to ask. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/detector.h"
#include "core/clock.h"
#include "core/mem.h"
#include "core/whereabouts.h"

/* Rank 0 asks when it has waited so long, and again after such a time. */
static const int64_t first_look = CLOCK_SECOND / 5, next_look = CLOCK_SECOND / 4;

struct waves {
    uint64_t number;      /* of the last one */
    int missing;          /* answers to it */
    int64_t next;         /* when the next one is due */
    struct pulse *before; /* [size] of the wave before the last one */
    struct pulse *now;    /* [size] of the last one */
    char **texts;         /* [size] where the ranks are, in words */
};

spmd_status spmd__deadlock_open(int size, struct waves **out)
{
    struct waves *waves;
    TRY(spmd__alloc(1, sizeof *waves, &waves));
    spmd_status status = spmd__alloc((size_t)size, sizeof *waves->before, &waves->before);
    if (status == SPMD_OK)
        status = spmd__alloc((size_t)size, sizeof *waves->now, &waves->now);
    if (status == SPMD_OK)
        status = spmd__alloc((size_t)size, sizeof *waves->texts, &waves->texts);
    if (status == SPMD_OK)
        *out = waves;
    else
        spmd__deadlock_close(&waves, 0);
    return status;
}

void spmd__deadlock_close(struct waves **handle, int size)
{
    struct waves *waves = *handle;
    *handle = NULL;
    if (!waves)
        return;
    for (int r = 0; r < size; r++)
        free(waves->texts[r]);
    free(waves->texts);
    free(waves->before);
    free(waves->now);
    free(waves);
}

static spmd_status keep_text(char **kept, const char *text)
{
    size_t bytes = strlen(text) + 1;
    free(*kept);
    *kept = NULL;
    TRY(spmd__alloc(bytes, 1, kept));
    memcpy(*kept, text, bytes);
    return SPMD_OK;
}

static spmd_status ask(struct detector *detector)
{
    struct waves *waves = detector->waves;
    struct letter question = {.number = ++waves->number};
    struct pulse *answered = waves->before;
    waves->before = waves->now;
    waves->now = answered;
    waves->now[0] = detector->pulse;
    waves->missing = detector->size - 1;
    for (int to = 1; to < detector->size; to++)
        TRY(spmd__mailbox_send(detector->mailbox, to, LETTER_QUESTION, &question));
    return keep_text(&waves->texts[0], detector->text);
}

spmd_status spmd__deadlock_look(struct detector *detector)
{
    const struct waves *waves = detector->waves;
    int64_t now = spmd__clock();
    bool due = waves->missing == 0 && now >= waves->next && now - detector->since >= first_look;
    return due ? ask(detector) : SPMD_OK;
}

static bool is_alike(const struct pulse *a, const struct pulse *b)
{
    return a->wait == b->wait && a->sent == b->sent && a->received == b->received;
}

/* Whether the last two waves are the proof. */
static bool is_proof(const struct waves *waves, int size)
{
    uint64_t on_their_way = 0;
    if (waves->number < 2)
        return false;
    for (int r = 0; r < size; r++) {
        if (!is_alike(&waves->before[r], &waves->now[r]))
            return false;
        on_their_way += waves->now[r].sent - waves->now[r].received;
    }
    return on_their_way == 0;
}

static spmd_status describe(const struct detector *detector, struct text *text)
{
    int *names;
    TRY(spmd__alloc((size_t)detector->size, sizeof *names, &names));
    for (int r = 0; r < detector->size; r++)
        names[r] = detector->names ? detector->names[r] : r;
    spmd__text_add(text, "no rank can go on: ");
    spmd__whereabouts_print(text, detector->size, names,
                            (const char *const *)detector->waves->texts);
    free(names);
    return SPMD_OK;
}

static spmd_status tell_all(struct detector *detector)
{
    struct letter letter = {0};
    struct text text = spmd__text_begin(letter.text, sizeof letter.text);
    TRY(describe(detector, &text));
    for (int to = 1; to < detector->size; to++)
        TRY(spmd__detector_send(detector, to, LETTER_DEADLOCK, &letter));
    snprintf(detector->message, sizeof detector->message, "%s", letter.text);
    detector->outcome = NEVER_GOES_ON;
    return SPMD_OK;
}

/* The second wave follows the first one at once, further ones after a while. */
spmd_status spmd__deadlock_take(struct detector *detector, int from, const struct letter *letter)
{
    struct waves *waves = detector->waves;
    waves->now[from] = letter->pulse;
    TRY(keep_text(&waves->texts[from], letter->text));
    if (--waves->missing > 0)
        return SPMD_OK;
    if (is_proof(waves, detector->size))
        return tell_all(detector);
    waves->next = waves->number == 1 ? 0 : spmd__clock() + next_look;
    return SPMD_OK;
}
