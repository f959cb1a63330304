/* core/element.h - single elements of any type: printed, compared. */
#ifndef CORE_ELEMENT_H
#define CORE_ELEMENT_H

#include <stdbool.h>

#include <spmd/types.h>

#include "core/text.h"

/* Writes the element at `data`: "true", "-3", "0.1", "1+2i"; floats as short as tells them apart.
 */
void spmd__element_print(struct text *text, spmd_dtype dtype, const void *data);

/* The same with at most six digits of floats, to look at. */
void spmd__element_print_short(struct text *text, spmd_dtype dtype, const void *data);

/* "element (2, 0)": the index of the dense element `at` of a box; "its value" of a scalar. */
void spmd__element_print_place(struct text *text, const spmd_box *box, int64_t at);

/* Whether two elements are equal but for rounding: floats within a few units in the last place. */
bool spmd__element_is_close(spmd_dtype dtype, const void *a, const void *b);

#endif
