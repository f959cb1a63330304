/* core/place.h - where in the program the last collective call of this thread stands. See
 * spmd/place.h. */
#ifndef CORE_PLACE_H
#define CORE_PLACE_H

struct place {
    const char *file; /* NULL: not known */
    int line;
};

struct place spmd__place(void);

/* For calls that run the program's own code in between: back to where they stand themselves. */
void spmd__place_restore(struct place place);

#endif
