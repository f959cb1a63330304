/* core/axes.h - a mesh without ranks: names and sizes, positions and coordinates. */
#ifndef CORE_AXES_H
#define CORE_AXES_H

#include <stdbool.h>

#include <spmd/types.h>

#include "core/text.h"

/* The axes of a mesh, major first. Positions are row-major over them. */
struct axes {
    int count;
    int64_t size[SPMD_MAX_AXES];
    char name[SPMD_MAX_AXES][SPMD_MAX_NAME];
};

/* Some axes of a mesh, in an order: first is major. */
struct axis_list {
    int count;
    int axis[SPMD_MAX_AXES];
};

/* Reads "x=4,y=2". `ranks` is what "*" fills; with ranks 0 it is refused. Fails with
 * SPMD_ERR_SYNTAX, or SPMD_ERR_MESH for a name twice, a size below 1, too many axes. */
spmd_status spmd__axes_parse(const char *text, int64_t ranks, struct axes *axes);

/* The same, but leaves the size that is "*" as SPMD_INFER. */
spmd_status spmd__axes_parse_open(const char *text, struct axes *axes);

/* The same from names and sizes; one size may be SPMD_INFER. */
spmd_status spmd__axes_make(int count, const char *const names[], const int64_t sizes[],
                            int64_t ranks, struct axes *axes);

/* Fails with SPMD_ERR_MESH: mesh `what` needs `count` ranks, and `ranks` are not as many. `amount`
 * stands before the number: "" or "a multiple of ". Tells how to start the next larger number that
 * will do. */
spmd_status spmd__axes_refuse_ranks(const char *what, const char *amount, int64_t count,
                                    int64_t ranks);

int64_t spmd__axes_total(const struct axes *axes);
uint32_t spmd__axes_mask(const struct axes *axes); /* all of them, as bits */
uint64_t spmd__axes_digest(const struct axes *axes);
bool spmd__axes_equal(const struct axes *a, const struct axes *b);
int spmd__axes_find(const struct axes *axes, const char *name, size_t length); /* -1: none */
void spmd__axes_coordinates(const struct axes *axes, int64_t position, int64_t coordinates[]);

/* The coordinates along the axes of `mask` alone; the others are not written. Costs a division for
 * each of these axes, and nothing for the others. */
void spmd__axes_coordinates_along(const struct axes *axes, uint32_t mask, int64_t position,
                                  int64_t coordinates[]);
int64_t spmd__axes_position(const struct axes *axes, const int64_t coordinates[]);

/* The position that stands first along the axes of `mask`, and where `position` does along the
 * others. */
int64_t spmd__axes_first_along(const struct axes *axes, uint32_t mask, int64_t position);

/* Whether that is `position` itself. */
bool spmd__axes_is_first_along(const struct axes *axes, uint32_t mask, int64_t position);

/* Writes "x=4,y=2", an open size as "*"; the same as a value, for a message. */
void spmd__axes_print(struct text *text, const struct axes *axes);
struct axes_text {
    char text[256];
};
struct axes_text spmd__axes_text(const struct axes *axes);

/* Why a text cannot name an axis: "mesh x=4,y=2: the mesh has no axis q; name one of its own". */
struct axes_lack {
    char text[sizeof(struct axes_text) + SPMD_MAX_NAME + 64];
};
struct axes_lack spmd__axes_lack(const struct axes *axes, const char *name, size_t length);

/* Reads a list of axes of `axes`: "x", "x,y", "(x,y)", "" for none. Fails with SPMD_ERR_SYNTAX,
 * or SPMD_ERR_MESH for an unknown axis or one given twice. */
spmd_status spmd__axis_list_parse(const char *text, const struct axes *axes,
                                  struct axis_list *list);

bool spmd__axis_list_equal(const struct axis_list *a, const struct axis_list *b);
bool spmd__axis_list_has(const struct axis_list *list, int axis);

/* Whether they have an axis in common. */
bool spmd__axis_lists_meet(const struct axis_list *a, const struct axis_list *b);

/* The axes of a list, as bits; and the axes, in mesh order, whose bits are set. */
uint32_t spmd__axis_list_mask(const struct axis_list *list);
struct axis_list spmd__axis_list_of_mask(uint32_t mask);

/* Number of members of a group along `list`, and the place of `position` in its group. */
int64_t spmd__axis_list_size(const struct axes *axes, const struct axis_list *list);
int64_t spmd__axis_list_index(const struct axes *axes, const struct axis_list *list,
                              int64_t position);

/* The position of member `index` of the group along `list` that `position` is in. */
int64_t spmd__axis_list_member(const struct axes *axes, const struct axis_list *list,
                               int64_t position, int64_t index);
void spmd__axis_list_print(struct text *text, const struct axes *axes,
                           const struct axis_list *list);

#endif
