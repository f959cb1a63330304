/* core/slice.c - the part of a mesh where some coordinates are fixed. */
#include "core/slice.h"

#include <string.h>

#include "core/absent.h"
#include "core/cursor.h"
#include "core/error.h"

/* What a text fixes. */
struct fixture {
    const struct axes *axes;
    struct axis_list fixed; /* in the order of the text */
    int64_t coordinates[SPMD_MAX_AXES];
};

static spmd_status fix(struct fixture *fixture, const char *what, int axis, int64_t coordinate)
{
    const char *name = fixture->axes->name[axis];
    if (spmd__axis_list_has(&fixture->fixed, axis))
        return spmd_fail(SPMD_ERR_MESH, "coordinates \"%s\": axis %s is given twice", what, name);
    if (coordinate < 0 || coordinate >= fixture->axes->size[axis])
        return spmd_fail(SPMD_ERR_MESH, "coordinates \"%s\": along axis %s %s", what, name,
                         spmd__absent("coordinate", coordinate, 0, fixture->axes->size[axis]).text);
    fixture->fixed.axis[fixture->fixed.count++] = axis;
    fixture->coordinates[axis] = coordinate;
    return SPMD_OK;
}

static spmd_status parse_coordinate(struct cursor *cursor, struct fixture *fixture)
{
    const char *name;
    int64_t coordinate;
    size_t length = spmd__cursor_name(cursor, &name);
    if (length == 0 || !spmd__cursor_take(cursor, "=") || !spmd__cursor_number(cursor, &coordinate))
        return spmd_fail(
            SPMD_ERR_SYNTAX, "coordinates \"%s\": expected %s at column %d, as in x=1,y=0",
            cursor->start, length == 0 ? "an axis name" : "=NUMBER", spmd__cursor_column(cursor));
    int axis = spmd__axes_find(fixture->axes, name, length);
    if (axis >= 0)
        return fix(fixture, cursor->start, axis, coordinate);
    return spmd_fail(SPMD_ERR_MESH, "coordinates \"%s\" on %s", cursor->start,
                     spmd__axes_lack(fixture->axes, name, length).text);
}

static void add_axis(struct axes *axes, const char name[SPMD_MAX_NAME], int64_t size)
{
    memcpy(axes->name[axes->count], name, SPMD_MAX_NAME);
    axes->size[axes->count++] = size;
}

static struct slice cut(const struct fixture *fixture)
{
    const struct axes *axes = fixture->axes;
    const struct axis_list *fixed = &fixture->fixed;
    struct slice slice = {.origin = spmd__axes_position(axes, fixture->coordinates)};
    slice.left = spmd__axis_list_of_mask(spmd__axes_mask(axes) & ~spmd__axis_list_mask(fixed));
    for (int i = 0; i < slice.left.count; i++)
        add_axis(&slice.axes, axes->name[slice.left.axis[i]], axes->size[slice.left.axis[i]]);
    if (slice.left.count == 0)
        add_axis(&slice.axes, axes->name[fixed->axis[fixed->count - 1]], 1);
    return slice;
}

spmd_status spmd__slice_parse(const char *text, const struct axes *axes, struct slice *slice)
{
    if (!text)
        return spmd_fail(SPMD_ERR_ARGUMENT, "no text to read coordinates from, it is NULL");
    struct cursor cursor = {text, text};
    struct fixture fixture = {.axes = axes};
    if (!spmd__cursor_at_end(&cursor))
        do
            TRY(parse_coordinate(&cursor, &fixture));
        while (spmd__cursor_take(&cursor, ","));
    if (!spmd__cursor_at_end(&cursor))
        return spmd_fail(SPMD_ERR_SYNTAX, "coordinates \"%s\": expected a comma at column %d", text,
                         spmd__cursor_column(&cursor));
    *slice = cut(&fixture);
    return SPMD_OK;
}

int64_t spmd__slice_position(const struct slice *slice, const struct axes *axes, int64_t position)
{
    return spmd__axis_list_member(axes, &slice->left, slice->origin, position);
}
