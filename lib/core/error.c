/* core/error.c - the status list's names, and each thread's last message. */
#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct failure last;

const char *spmd_status_name(spmd_status status)
{
    switch (status) {
#define NAME(name, meaning) \
    case SPMD_##name:       \
        return "SPMD_" #name;
        SPMD_STATUS_MAP(NAME)
#undef NAME
    }
    return "unknown status";
}

const char *spmd_status_meaning(spmd_status status)
{
    switch (status) {
#define MEANING(name, meaning) \
    case SPMD_##name:          \
        return meaning;
        SPMD_STATUS_MAP(MEANING)
#undef MEANING
    }
    return "unknown status";
}

const char *spmd_error_message(void)
{
    return last.message;
}

const char *spmd_error_place(void)
{
    return last.place;
}

spmd_status spmd_passed(spmd_status status, const char *file, int line, const char *call)
{
    size_t length = strcspn(call, "( ");
    if (last.place[0] == '\0')
        snprintf(last.place, sizeof last.place, "%s:%d: %.*s%s", file, line, (int)length, call,
                 call[length] == '(' ? "(...)" : "");
    return status;
}

/* Takes a message over, about a failure that has not been anywhere yet. */
static void record(const char *message, bool agreed, bool speaker)
{
    snprintf(last.message, sizeof last.message, "%s", message);
    last.place[0] = '\0';
    last.agreed = agreed;
    last.speaker = speaker;
}

void spmd__error_clear(void)
{
    record("", false, false);
}

void spmd__error_swap(struct failure *failure)
{
    struct failure mine = last;
    last = *failure;
    *failure = mine;
}

spmd_status spmd_fail(spmd_status status, const char *format, ...)
{
    /* By way of a copy: the arguments may contain the last message itself. */
    char message[ERROR_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    record(message, false, false);
    return status;
}

spmd_status spmd__error_agreed(spmd_status status, const char *message, const char *place,
                               bool speaker)
{
    char kept[ERROR_PLACE_BYTES]; /* `place` may be that of the last failure itself */
    snprintf(kept, sizeof kept, "%s", place);
    record(message, true, speaker);
    memcpy(last.place, kept, sizeof kept);
    return status;
}

bool spmd__error_is_agreed(void)
{
    return last.agreed;
}

bool spmd__error_is_speaker(void)
{
    return last.speaker;
}

void spmd__error_keep(struct kept_failure *kept, spmd_status status)
{
    if (status == SPMD_OK || kept->status != SPMD_OK)
        return;
    kept->status = status;
    snprintf(kept->message, sizeof kept->message, "%s", last.message);
}

spmd_status spmd__error_again(const struct kept_failure *kept)
{
    return kept->status == SPMD_OK ? SPMD_OK : spmd_fail(kept->status, "%s", kept->message);
}
