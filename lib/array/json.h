/* array/json.h - what the JSON forms of layouts and of plans have in common. Names and specs need
 * no escapes: they are letters, digits, underscores, brackets and commas. */
#ifndef ARRAY_JSON_H
#define ARRAY_JSON_H

#include <stdio.h>

#include "core/axes.h"

/* [8, 4] */
void spmd__json_shape(FILE *stream, spmd_shape shape);

/* Two lines of the outermost object, `"mesh": "x=2,y=4",` and `"axes": [{"name": "x", "size": 2},
 * ...],`; their names begin with `prefix`. */
void spmd__json_mesh(FILE *stream, const char *prefix, const struct axes *axes);

/* ["x", "y"] */
void spmd__json_axis_names(FILE *stream, const struct axes *axes, const struct axis_list *list);

/* "name": amount. Above 2^53 amounts are rounded, and so not told: null. */
void spmd__json_amount(FILE *stream, const char *name, double amount);

#endif
