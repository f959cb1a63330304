/* core/error.h - recording and passing on failures. See spmd/error.h. */
#ifndef CORE_ERROR_H
#define CORE_ERROR_H

#include <stdbool.h>

#include <spmd/error.h>

/* Passes a failure on to the caller. Where something must be undone first: goto a label. */
#define TRY(call)                  \
    do {                           \
        spmd_status try_ = (call); \
        if (try_ != SPMD_OK)       \
            return try_;           \
    } while (0)

enum { ERROR_MESSAGE_BYTES = 1024, ERROR_PLACE_BYTES = 256 };

/* What is remembered of a failure. */
struct failure {
    char message[ERROR_MESSAGE_BYTES];
    char place[ERROR_PLACE_BYTES];
    bool agreed;
    bool speaker;
};

/* Exchanges what this thread remembers of its last failure for *failure. */
void spmd__error_swap(struct failure *failure);

/* A failure that is to be told later, when others may have come after it. */
struct kept_failure {
    spmd_status status; /* SPMD_OK: none is kept */
    char message[ERROR_MESSAGE_BYTES];
};

/* Keeps the last failure, which has this status: the first one that is to be kept stays. */
void spmd__error_keep(struct kept_failure *kept, spmd_status status);

/* Fails by it again, if one is kept. */
spmd_status spmd__error_again(const struct kept_failure *kept);

/* Forgets the last failure: a message that is there afterwards is a new one. */
void spmd__error_clear(void);

/* Replaces this thread's message by one that all ranks of a call have agreed on; one of them,
 * the speaker, tells it to the user. */
spmd_status spmd__error_agreed(spmd_status status, const char *message, const char *place,
                               bool speaker);

/* Whether the last failure was agreed, and whether this rank is the one to tell it. */
bool spmd__error_is_agreed(void);
bool spmd__error_is_speaker(void);

#endif
