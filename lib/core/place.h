/* core/place.h - where in the program the last collective call of this thread stands. See
 * spmd/place.h. */
#ifndef CORE_PLACE_H
#define CORE_PLACE_H

#include <stdbool.h>

#include "core/text.h"

struct place {
    const char *file; /* NULL: not known */
    int line;
    const char *call; /* its source text, "spmd_psum(ctx, x, ...)" */
};

struct place spmd__place(void);

/* For calls that run the program's own code in between: back to where they stand themselves. */
void spmd__place_restore(struct place place);

/* " (solver.c:42)"; nothing if it is not known. */
void spmd__place_print(struct text *text, struct place place);

/* "spmd_psum (solver.c:42)"; false, and nothing, if it is not known. */
bool spmd__place_print_call(struct text *text, struct place place);

#endif
