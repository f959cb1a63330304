/* core/place.c - where in the program the last collective call of this thread stands. */
#include "core/place.h"

#include <spmd/place.h>

static _Thread_local struct place last;

void spmd_place_set(const char *file, int line)
{
    last = (struct place){file, line};
}

struct place spmd__place(void)
{
    return last;
}

void spmd__place_restore(struct place place)
{
    last = place;
}
