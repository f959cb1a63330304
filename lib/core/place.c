/* core/place.c - where in the program the last collective call of this thread stands. */
#include "core/place.h"

#include <spmd/place.h>

#include <string.h>

static _Thread_local struct place last;

void spmd_place_set(const char *file, int line, const char *call)
{
    last = (struct place){file, line, call};
}

struct place spmd__place(void)
{
    return last;
}

void spmd__place_restore(struct place place)
{
    last = place;
}

/* Without the folders, which are the compiler's way there. */
void spmd__place_print(struct text *text, struct place place)
{
    if (!place.file)
        return;
    const char *slash = strrchr(place.file, '/');
    spmd__text_add(text, " (%s:%d)", slash ? slash + 1 : place.file, place.line);
}

bool spmd__place_print_call(struct text *text, struct place place)
{
    if (!place.call)
        return false;
    spmd__text_add(text, "%.*s", (int)strcspn(place.call, "( "), place.call);
    spmd__place_print(text, place);
    return true;
}
