/* core/slice.c - the part of a mesh where some coordinates are fixed. */
#include "core/slice.h"

#include <string.h>

#include "core/cursor.h"
#include "core/error.h"

/* What a text fixes. */
struct fixture {
    const struct axes *axes;
    struct axis_list fixed; /* in the order of the text */
    int64_t coordinates[SPMD_MAX_AXES];
};

static bool is_fixed(const struct fixture *fixture, int axis)
{
    for (int i = 0; i < fixture->fixed.count; i++)
        if (fixture->fixed.axis[i] == axis)
            return true;
    return false;
}

static spmd_status fix(struct fixture *fixture, const char *what, int axis, int64_t coordinate)
{
    const char *name = fixture->axes->name[axis];
    if (is_fixed(fixture, axis))
        return spmd_fail(SPMD_ERR_MESH, "coordinates \"%s\": axis %s is given twice", what, name);
    if (coordinate < 0 || coordinate >= fixture->axes->size[axis])
        return spmd_fail(SPMD_ERR_MESH,
                         "coordinates \"%s\": axis %s has size %lld, there is no coordinate %lld",
                         what, name, (long long)fixture->axes->size[axis], (long long)coordinate);
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
    char mesh[256];
    struct text text = spmd__text_begin(mesh, sizeof mesh);
    spmd__axes_print(&text, fixture->axes);
    return spmd_fail(SPMD_ERR_MESH, "coordinates \"%s\": mesh %s has no axis %.*s", cursor->start,
                     mesh, (int)length, name);
}

static struct slice cut(const struct fixture *fixture)
{
    const struct axes *axes = fixture->axes;
    struct slice slice = {.origin = spmd__axes_position(axes, fixture->coordinates)};
    int64_t strides[SPMD_MAX_AXES], stride = 1;
    for (int a = axes->count - 1; a >= 0; stride *= axes->size[a], a--)
        strides[a] = stride;
    bool none_left = fixture->fixed.count == axes->count;
    for (int a = 0; a < axes->count; a++) {
        bool stays = none_left && a == fixture->fixed.axis[fixture->fixed.count - 1];
        if (is_fixed(fixture, a) && !stays)
            continue;
        int left = slice.axes.count++;
        memcpy(slice.axes.name[left], axes->name[a], sizeof axes->name[a]);
        slice.axes.size[left] = stays ? 1 : axes->size[a];
        slice.stride[left] = strides[a];
    }
    return slice;
}

spmd_status spmd__slice_parse(const char *text, const struct axes *axes, struct slice *slice)
{
    if (!text)
        return spmd_fail(SPMD_ERR_ARGUMENT, "no text to read coordinates from");
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

int64_t spmd__slice_position(const struct slice *slice, int64_t position)
{
    int64_t coordinates[SPMD_MAX_AXES], found = slice->origin;
    spmd__axes_coordinates(&slice->axes, position, coordinates);
    for (int a = 0; a < slice->axes.count; a++)
        found += coordinates[a] * slice->stride[a];
    return found;
}
