/* comm/announcement.c - what ranks begin without waiting for each other.
 *
 * Who begins something tells all other members, so that each of them can find out by itself, when
 * it waits, whether all have begun the same. Nobody has to be in a call of ours for that: a check
 * by a leader would make a rank wait for another one's wait, and the program may not allow that. */
#include <stdio.h>
#include <stdlib.h>

#include "comm/detector.h"
#include "core/mem.h"

/* How much a rank has announced to the members of one key. */
struct tally {
    struct tally *next;
    uint64_t key;
    uint64_t count;
};

void spmd__announcement_forget(struct detector *detector)
{
    spmd__detector_drop(&detector->announced);
    while (detector->tallies) {
        struct tally *tally = detector->tallies;
        detector->tallies = tally->next;
        free(tally);
    }
}

static spmd_status next_number(struct detector *detector, uint64_t key, uint64_t *number)
{
    struct tally *tally = detector->tallies;
    while (tally && tally->key != key)
        tally = tally->next;
    if (!tally) {
        TRY(spmd__alloc(1, sizeof *tally, &tally));
        *tally = (struct tally){detector->tallies, key, 0};
        detector->tallies = tally;
    }
    *number = ++tally->count;
    return SPMD_OK;
}

spmd_status spmd__detector_announce(struct detector *detector, const struct meeting *meeting,
                                    uint64_t what, const char *text, uint64_t *number)
{
    struct letter letter = {.key = meeting->key, .what = what};
    snprintf(letter.text, sizeof letter.text, "%s", text);
    TRY(spmd__detector_check(detector));
    TRY(next_number(detector, meeting->key, &letter.number));
    TRY(spmd__detector_keep(&detector->announced, detector->rank, &letter));
    for (int64_t i = 0; i < meeting->size; i++)
        if (meeting->members[i] != detector->rank)
            TRY(spmd__detector_send(detector, meeting->members[i], LETTER_ANNOUNCEMENT, &letter));
    *number = letter.number;
    return SPMD_OK;
}

static bool is_awaited(const struct detector *detector, const struct arrival *one)
{
    return one->key == detector->meeting->key && one->number == detector->number;
}

static int64_t count_awaited(const struct detector *detector)
{
    int64_t count = 0;
    for (const struct arrival *one = detector->announced; one; one = one->next)
        count += is_awaited(detector, one);
    return count;
}

/* Takes those that this rank waits for out of all. */
static struct arrival *take_awaited(struct detector *detector)
{
    struct arrival *awaited = NULL, **link = &detector->announced;
    while (*link) {
        struct arrival *one = *link;
        if (!is_awaited(detector, one)) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        one->next = awaited;
        awaited = one;
    }
    return awaited;
}

spmd_status spmd__announcement_enter(struct detector *detector)
{
    if (count_awaited(detector) < detector->meeting->size)
        return SPMD_OK;
    struct arrival *awaited = take_awaited(detector);
    struct text text = spmd__text_begin(detector->message, sizeof detector->message);
    spmd_status status = SPMD_OK;
    detector->outcome = MAY_GO_ON;
    for (const struct arrival *one = awaited; one; one = one->next)
        if (one->what != awaited->what)
            detector->outcome = CAME_FOR_OTHER_THINGS;
    if (detector->outcome != MAY_GO_ON)
        status = spmd__meeting_describe(detector, awaited, NULL, &text);
    spmd__detector_drop(&awaited);
    return status;
}

spmd_status spmd__announcement_take(struct detector *detector, int from,
                                    const struct letter *letter)
{
    TRY(spmd__detector_keep(&detector->announced, from, letter));
    bool waiting = detector->pulse.wait != 0 && detector->number != 0;
    return waiting ? spmd__announcement_enter(detector) : SPMD_OK;
}
