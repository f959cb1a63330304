/* array/layout.h - what the forms of a layout have in common. See spmd/layout.h. */
#ifndef ARRAY_LAYOUT_H
#define ARRAY_LAYOUT_H

#include <spmd/layout.h>

#include "array/array.h"
#include "core/blocks.h"
#include "core/error.h"
#include "core/move.h"
#include "core/traffic.h"

/* One sharding of the array, in numbers; of ranks, in the layout's unit. */
struct side {
    const struct spec *spec;
    char text[1024]; /* of the spec */
    struct blocks blocks;
    int64_t replicas;      /* of each block */
    int64_t contributions; /* to each replica, along unreduced axes; else 1 */
    int64_t idle;          /* ranks that hold nothing */
    double largest, smallest, total;
    double balance; /* largest / mean; 0 for an array without elements */
};

/* A layout that has been checked. */
struct sheet {
    const struct axes *axes;
    bool permuted; /* ranks are not in order: what is told are positions */
    spmd_shape shape;
    spmd_dtype dtype;
    double unit; /* bytes of an element, or 1 */
    int64_t most_ranks;
    int nsides; /* 1, or 2 with a reshard between them */
    struct side side[2];
    struct route route;
    struct move move;
    bool added_up; /* the two below are known */
    struct traffic traffic;
    double most_received;
};

/* Writes the array's type under a side's spec, or if that is NULL without one; of no element type
 * its extents alone. */
void spmd__sheet_print_type(struct text *text, const struct sheet *sheet, const struct side *side);

/* Writes what is laid out: "f32[8@x,8@y] as P(x, y) on mesh x=2,y=4"; of two sides without their
 * specs, "f32[8,8] on mesh x=2,y=4". */
void spmd__sheet_print_title(struct text *text, const struct sheet *sheet);

/* Writes an amount: "96 B", "1.5 KiB"; where no element type is known, "24 elements". */
void spmd__sheet_print_amount(struct text *text, const struct sheet *sheet, double amount);

/* Prints the table of the ranks: what each holds, or what a reshard moves there. */
spmd_status spmd__sheet_print_table(const struct sheet *sheet, FILE *stream);

/* The forms. Whether the stream took it is checked afterwards. */
typedef spmd_status sheet_form(const struct sheet *sheet, FILE *stream);
sheet_form spmd__sheet_print;
sheet_form spmd__sheet_print_json;
sheet_form spmd__sheet_print_svg;

#endif
