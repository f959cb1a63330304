/* core/axes.c - a mesh without ranks: names and sizes, positions and coordinates. */
#include "core/axes.h"

#include <errno.h>
#include <string.h>

#include "core/cursor.h"
#include "core/error.h"
#include "core/hash.h"

/* Adds an axis; `what` is how messages name the mesh. */
static spmd_status add_axis(struct axes *axes, const char *what, const char *name, size_t length,
                            int64_t size)
{
    if (axes->count == SPMD_MAX_AXES)
        return spmd_fail(SPMD_ERR_MESH, "mesh %s has more than %d axes", what, SPMD_MAX_AXES);
    if (length >= SPMD_MAX_NAME)
        return spmd_fail(SPMD_ERR_SYNTAX, "mesh %s: axis name %.*s is longer than %d bytes", what,
                         (int)length, name, SPMD_MAX_NAME - 1);
    if (length == strlen("None") && memcmp(name, "None", length) == 0)
        return spmd_fail(SPMD_ERR_SYNTAX,
                         "mesh %s: None is no name for an axis, in a spec it means not split",
                         what);
    if (spmd__axes_find(axes, name, length) >= 0)
        return spmd_fail(SPMD_ERR_MESH, "mesh %s has two axes named %.*s", what, (int)length, name);
    if (size < 1 && size != SPMD_INFER)
        return spmd_fail(SPMD_ERR_MESH, "mesh %s: axis %.*s has size %lld, at least 1 is needed",
                         what, (int)length, name, (long long)size);
    memcpy(axes->name[axes->count], name, length);
    axes->name[axes->count][length] = '\0';
    axes->size[axes->count++] = size;
    return SPMD_OK;
}

/* Finds the one open size, if there is one, and the product of the others. */
static spmd_status find_open_size(const struct axes *axes, const char *what, int *open,
                                  int64_t *product)
{
    *open = -1;
    *product = 1;
    for (int a = 0; a < axes->count; a++)
        if (axes->size[a] == SPMD_INFER) {
            if (*open >= 0)
                return spmd_fail(SPMD_ERR_MESH, "mesh %s leaves two sizes open, one may be", what);
            *open = a;
        } else if (__builtin_mul_overflow(*product, axes->size[a], product)) {
            return spmd_fail(SPMD_ERR_MESH, "mesh %s has more than 2^63 positions", what);
        }
    return SPMD_OK;
}

static const char *program_name(void)
{
#ifdef __GLIBC__
    return program_invocation_name;
#else
    return "PROGRAM";
#endif
}

spmd_status spmd__axes_refuse_ranks(const char *what, const char *amount, int64_t count,
                                    int64_t ranks)
{
    return spmd_fail(SPMD_ERR_MESH,
                     "mesh %s needs %s%lld ranks, this job has %lld: mpirun -n %lld %s", what,
                     amount, (long long)count, (long long)ranks,
                     (long long)((ranks / count + 1) * count), program_name());
}

/* Fills the one open size so that the axes take all `ranks`. */
static spmd_status infer_size(struct axes *axes, const char *what, int64_t ranks)
{
    int inferred;
    int64_t product;
    TRY(find_open_size(axes, what, &inferred, &product));
    if (inferred < 0)
        return SPMD_OK;
    if (ranks == 0)
        return spmd_fail(SPMD_ERR_MESH,
                         "mesh %s has no ranks to infer the size of %s from: give it a number",
                         what, axes->name[inferred]);
    if (ranks % product != 0)
        return spmd__axes_refuse_ranks(what, "a multiple of ", product, ranks);
    axes->size[inferred] = ranks / product;
    return SPMD_OK;
}

static spmd_status parse_axis(struct cursor *cursor, struct axes *axes)
{
    const char *name;
    size_t length = spmd__cursor_name(cursor, &name);
    if (length == 0)
        return spmd_fail(SPMD_ERR_SYNTAX,
                         "mesh \"%s\": expected an axis name at column %d, as in "
                         "x=4,y=2",
                         cursor->start, spmd__cursor_column(cursor));
    int64_t size = SPMD_INFER;
    if (!spmd__cursor_take(cursor, "=") ||
        (!spmd__cursor_take(cursor, "*") && !spmd__cursor_number(cursor, &size)))
        return spmd_fail(SPMD_ERR_SYNTAX, "mesh \"%s\": expected %s at column %d, as in x=4,y=2",
                         cursor->start,
                         spmd__cursor_too_large(cursor) ? "a size below 2^63" : "=SIZE or =*",
                         spmd__cursor_column(cursor));
    return add_axis(axes, cursor->start, name, length, size);
}

spmd_status spmd__axes_parse_open(const char *text, struct axes *axes)
{
    int open;
    int64_t product;
    if (!text)
        return spmd_fail(SPMD_ERR_ARGUMENT, "no text to read a mesh from, it is NULL");
    struct cursor cursor = {text, text};
    struct axes read = {.count = 0};
    do
        TRY(parse_axis(&cursor, &read));
    while (spmd__cursor_take(&cursor, ","));
    if (!spmd__cursor_at_end(&cursor))
        return spmd_fail(SPMD_ERR_SYNTAX, "mesh \"%s\": expected a comma at column %d", text,
                         spmd__cursor_column(&cursor));
    TRY(find_open_size(&read, text, &open, &product));
    *axes = read;
    return SPMD_OK;
}

spmd_status spmd__axes_parse(const char *text, int64_t ranks, struct axes *axes)
{
    struct axes read;
    TRY(spmd__axes_parse_open(text, &read));
    TRY(infer_size(&read, text, ranks));
    *axes = read;
    return SPMD_OK;
}

/* Whether `name` reads as an axis name from its first to its last byte. */
static bool is_name(const char *name)
{
    struct cursor cursor = {name, name};
    const char *start;
    size_t length = spmd__cursor_name(&cursor, &start);
    return length > 0 && start == name && name[length] == '\0';
}

spmd_status spmd__axes_make(int count, const char *const names[], const int64_t sizes[],
                            int64_t ranks, struct axes *axes)
{
    if (count < 1 || count > SPMD_MAX_AXES || !names || !sizes)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a mesh has 1 to %d axes, not %d", SPMD_MAX_AXES,
                         count);
    struct axes made = {.count = 0};
    for (int a = 0; a < count; a++) {
        if (!names[a] || !is_name(names[a]))
            return spmd_fail(SPMD_ERR_SYNTAX, "\"%s\" is no name for a mesh axis",
                             names[a] ? names[a] : "(null)");
        TRY(add_axis(&made, "of names and sizes", names[a], strlen(names[a]), sizes[a]));
    }
    TRY(infer_size(&made, "of names and sizes", ranks));
    *axes = made;
    return SPMD_OK;
}

int64_t spmd__axes_total(const struct axes *axes)
{
    int64_t total = 1;
    for (int a = 0; a < axes->count; a++)
        total *= axes->size[a];
    return total;
}

uint32_t spmd__axes_mask(const struct axes *axes)
{
    return (UINT32_C(1) << axes->count) - 1;
}

uint64_t spmd__axes_digest(const struct axes *axes)
{
    uint64_t hash = spmd__hash(0, axes->size, sizeof *axes->size * (size_t)axes->count);
    for (int a = 0; a < axes->count; a++)
        hash = spmd__hash(hash, axes->name[a], strlen(axes->name[a]));
    return hash;
}

bool spmd__axes_equal(const struct axes *a, const struct axes *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->size[i] != b->size[i] || strcmp(a->name[i], b->name[i]) != 0)
            return false;
    return true;
}

int spmd__axes_find(const struct axes *axes, const char *name, size_t length)
{
    for (int a = 0; a < axes->count; a++)
        if (strncmp(axes->name[a], name, length) == 0 && axes->name[a][length] == '\0')
            return a;
    return -1;
}

void spmd__axes_coordinates(const struct axes *axes, int64_t position, int64_t coordinates[])
{
    for (int a = axes->count - 1; a >= 0; a--) {
        coordinates[a] = position % axes->size[a];
        position /= axes->size[a];
    }
}

void spmd__axes_coordinates_along(const struct axes *axes, uint32_t mask, int64_t position,
                                  int64_t coordinates[])
{
    int64_t passed = 1; /* sizes of the axes behind that were left out */
    for (int a = axes->count - 1; a >= 0 && mask != 0; a--) {
        int64_t size = axes->size[a];
        if (!(mask >> a & 1)) {
            passed *= size;
            continue;
        }
        position = passed > 1 ? position / passed : position;
        passed = 1;
        coordinates[a] = position % size;
        position /= size;
        mask ^= UINT32_C(1) << a;
    }
}

int64_t spmd__axes_position(const struct axes *axes, const int64_t coordinates[])
{
    int64_t position = 0;
    for (int a = 0; a < axes->count; a++)
        position = position * axes->size[a] + coordinates[a];
    return position;
}

int64_t spmd__axes_first_along(const struct axes *axes, uint32_t mask, int64_t position)
{
    int64_t coordinates[SPMD_MAX_AXES], stride = 1;
    spmd__axes_coordinates_along(axes, mask, position, coordinates);
    for (int a = axes->count - 1; mask != 0 && a >= 0; a--) {
        if (mask >> a & 1)
            position -= coordinates[a] * stride;
        stride *= axes->size[a];
    }
    return position;
}

bool spmd__axes_is_first_along(const struct axes *axes, uint32_t mask, int64_t position)
{
    return spmd__axes_first_along(axes, mask, position) == position;
}

void spmd__axes_print(struct text *text, const struct axes *axes)
{
    for (int a = 0; a < axes->count; a++) {
        spmd__text_add(text, "%s%s=", a ? "," : "", axes->name[a]);
        if (axes->size[a] == SPMD_INFER)
            spmd__text_add(text, "*");
        else
            spmd__text_add(text, "%lld", (long long)axes->size[a]);
    }
}

struct axes_text spmd__axes_text(const struct axes *axes)
{
    struct axes_text buffer;
    struct text text = spmd__text_begin(buffer.text, sizeof buffer.text);
    spmd__axes_print(&text, axes);
    return buffer;
}

struct axes_lack spmd__axes_lack(const struct axes *axes, const char *name, size_t length)
{
    struct axes_lack lack;
    struct text text = spmd__text_begin(lack.text, sizeof lack.text);
    spmd__text_add(&text, "mesh %s: the mesh has no axis %.*s; name one of its own",
                   spmd__axes_text(axes).text, (int)length, name);
    return lack;
}

bool spmd__axis_list_has(const struct axis_list *list, int axis)
{
    for (int i = 0; i < list->count; i++)
        if (list->axis[i] == axis)
            return true;
    return false;
}

static spmd_status parse_member(struct cursor *cursor, const struct axes *axes,
                                struct axis_list *list)
{
    const char *name;
    size_t length = spmd__cursor_name(cursor, &name);
    if (length == 0)
        return spmd_fail(SPMD_ERR_SYNTAX, "axes \"%s\": expected an axis name at column %d",
                         cursor->start, spmd__cursor_column(cursor));
    int axis = spmd__axes_find(axes, name, length);
    if (axis < 0)
        return spmd_fail(SPMD_ERR_MESH, "axes \"%s\" on %s", cursor->start,
                         spmd__axes_lack(axes, name, length).text);
    if (spmd__axis_list_has(list, axis))
        return spmd_fail(SPMD_ERR_MESH, "axes \"%s\": axis %s is given twice", cursor->start,
                         axes->name[axis]);
    list->axis[list->count++] = axis;
    return SPMD_OK;
}

spmd_status spmd__axis_list_parse(const char *text, const struct axes *axes, struct axis_list *list)
{
    if (!text)
        return spmd_fail(SPMD_ERR_ARGUMENT, "no text to read axes from, it is NULL");
    struct cursor cursor = {text, text};
    struct axis_list read = {.count = 0};
    bool in_parentheses = spmd__cursor_take(&cursor, "(");
    if (!spmd__cursor_at_end(&cursor) && *cursor.at != ')')
        do
            TRY(parse_member(&cursor, axes, &read));
        while (spmd__cursor_take(&cursor, ","));
    if ((in_parentheses && !spmd__cursor_take(&cursor, ")")) || !spmd__cursor_at_end(&cursor))
        return spmd_fail(SPMD_ERR_SYNTAX, "axes \"%s\": expected %s at column %d", text,
                         in_parentheses ? "a comma or )" : "a comma", spmd__cursor_column(&cursor));
    *list = read;
    return SPMD_OK;
}

bool spmd__axis_list_equal(const struct axis_list *a, const struct axis_list *b)
{
    return a->count == b->count &&
           memcmp(a->axis, b->axis, sizeof a->axis[0] * (size_t)a->count) == 0;
}

bool spmd__axis_lists_meet(const struct axis_list *a, const struct axis_list *b)
{
    for (int i = 0; i < a->count; i++)
        if (spmd__axis_list_has(b, a->axis[i]))
            return true;
    return false;
}

uint32_t spmd__axis_list_mask(const struct axis_list *list)
{
    uint32_t mask = 0;
    for (int i = 0; i < list->count; i++)
        mask |= UINT32_C(1) << list->axis[i];
    return mask;
}

struct axis_list spmd__axis_list_of_mask(uint32_t mask)
{
    struct axis_list list = {.count = 0};
    for (int a = 0; mask >> a != 0; a++)
        if (mask >> a & 1)
            list.axis[list.count++] = a;
    return list;
}

int64_t spmd__axis_list_size(const struct axes *axes, const struct axis_list *list)
{
    int64_t size = 1;
    for (int i = 0; i < list->count; i++)
        size *= axes->size[list->axis[i]];
    return size;
}

int64_t spmd__axis_list_index(const struct axes *axes, const struct axis_list *list,
                              int64_t position)
{
    int64_t coordinates[SPMD_MAX_AXES], index = 0;
    spmd__axes_coordinates_along(axes, spmd__axis_list_mask(list), position, coordinates);
    for (int i = 0; i < list->count; i++)
        index = index * axes->size[list->axis[i]] + coordinates[list->axis[i]];
    return index;
}

int64_t spmd__axis_list_member(const struct axes *axes, const struct axis_list *list,
                               int64_t position, int64_t index)
{
    int64_t coordinates[SPMD_MAX_AXES];
    spmd__axes_coordinates(axes, position, coordinates);
    for (int i = list->count - 1; i >= 0; i--) {
        coordinates[list->axis[i]] = index % axes->size[list->axis[i]];
        index /= axes->size[list->axis[i]];
    }
    return spmd__axes_position(axes, coordinates);
}

void spmd__axis_list_print(struct text *text, const struct axes *axes, const struct axis_list *list)
{
    const char *open = list->count == 1 ? "" : "(", *close = list->count == 1 ? "" : ")";
    spmd__text_add(text, "%s", open);
    for (int i = 0; i < list->count; i++)
        spmd__text_add(text, "%s%s", i ? "," : "", axes->name[list->axis[i]]);
    spmd__text_add(text, "%s", close);
}
