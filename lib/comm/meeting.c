/* comm/meeting.c - meetings: who is there, and whether all came for the same. */
#include <stdio.h>
#include <stdlib.h>

#include "comm/detector.h"
#include "core/hash.h"
#include "core/mem.h"
#include "core/whereabouts.h"

void spmd__meeting_make(struct meeting *meeting, enum meeting_kind kind, int64_t size, int *members)
{
    uint64_t key = spmd__hash((uint64_t)kind, members, (size_t)size * sizeof *members);
    *meeting = (struct meeting){.size = size, .members = members, .key = key};
}

void spmd__meeting_free(struct meeting *meeting)
{
    free(meeting->members);
    *meeting = (struct meeting){0};
}

void spmd__meeting_forget(struct detector *detector)
{
    spmd__detector_drop(&detector->here);
    spmd__detector_drop(&detector->early);
    detector->nhere = 0;
}

/* The leader's word to the other members. */
static spmd_status tell_members(struct detector *detector, enum letter_kind kind,
                                const struct letter *letter)
{
    const struct meeting *meeting = detector->meeting;
    for (int64_t i = 1; i < meeting->size; i++)
        TRY(spmd__detector_send(detector, meeting->members[i], kind, letter));
    return SPMD_OK;
}

spmd_status spmd__meeting_describe(const struct detector *detector, const struct arrival *list,
                                   const char *mine, struct text *text)
{
    const struct meeting *meeting = detector->meeting;
    const char **phrases;
    int *names;
    TRY(spmd__alloc((size_t)meeting->size, sizeof *phrases, &phrases));
    spmd_status status = spmd__alloc((size_t)meeting->size, sizeof *names, &names);
    if (status != SPMD_OK) {
        free(phrases);
        return status;
    }
    for (int64_t i = 0; i < meeting->size; i++) {
        int member = meeting->members[i];
        names[i] = detector->names ? detector->names[member] : member;
        phrases[i] = mine;
        for (const struct arrival *one = list; one; one = one->next)
            if (one->from == member)
                phrases[i] = one->text;
    }
    spmd__text_add(text, "ranks that belong together are in different calls: ");
    spmd__whereabouts_print(text, meeting->size, names, phrases);
    free(names);
    free(phrases);
    return SPMD_OK;
}

/* All members are here: ends the meeting. */
static spmd_status conclude(struct detector *detector)
{
    struct letter letter = {.key = detector->meeting->key};
    bool alike = true;
    for (const struct arrival *one = detector->here; one; one = one->next)
        alike = alike && one->what == detector->what;
    if (!alike) {
        struct text text = spmd__text_begin(letter.text, sizeof letter.text);
        TRY(spmd__meeting_describe(detector, detector->here, detector->text, &text));
        snprintf(detector->message, sizeof detector->message, "%s", letter.text);
    }
    spmd__detector_drop(&detector->here);
    detector->nhere = 0;
    detector->outcome = alike ? MAY_GO_ON : CAME_FOR_OTHER_THINGS;
    return tell_members(detector, alike ? LETTER_RELEASE : LETTER_MISMATCH, &letter);
}

static bool leads(const struct detector *detector)
{
    return detector->meeting->members[0] == detector->rank;
}

/* Whether this rank is in the meeting now. */
static bool is_at(const struct detector *detector, uint64_t key)
{
    return detector->pulse.wait != 0 && detector->outcome == STILL_WAITING &&
           detector->meeting->key == key;
}

static void add_here(struct detector *detector, struct arrival *arrival)
{
    arrival->next = detector->here;
    detector->here = arrival;
    detector->nhere++;
}

/* Those that were at the meeting before its leader. */
static void take_early(struct detector *detector)
{
    struct arrival **link = &detector->early;
    while (*link) {
        struct arrival *one = *link;
        if (one->key != detector->meeting->key) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        add_here(detector, one);
    }
}

static spmd_status lead(struct detector *detector)
{
    take_early(detector);
    return detector->nhere == detector->meeting->size - 1 ? conclude(detector) : SPMD_OK;
}

spmd_status spmd__meeting_enter(struct detector *detector)
{
    if (leads(detector))
        return lead(detector);
    struct letter letter = {.key = detector->meeting->key, .what = detector->what};
    snprintf(letter.text, sizeof letter.text, "%s", detector->text);
    return spmd__detector_send(detector, detector->meeting->members[0], LETTER_ARRIVAL, &letter);
}

spmd_status spmd__meeting_take(struct detector *detector, int from, const struct letter *letter)
{
    TRY(spmd__detector_keep(&detector->early, from, letter));
    return is_at(detector, letter->key) ? lead(detector) : SPMD_OK;
}
