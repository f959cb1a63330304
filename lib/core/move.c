/* core/move.c - a move told by its specs: what each dimension's list of axes gains and loses. */
#include "core/move.h"

#include <string.h>

/* The axes of entry `dim` that have more than one rank. */
static struct axis_list entry_of(const struct axes *axes, const struct spec *spec, int dim)
{
    struct axis_list entry = spmd__spec_entry(spec, dim), list = {0};
    for (int i = 0; i < entry.count; i++)
        if (axes->size[entry.axis[i]] > 1)
            list.axis[list.count++] = entry.axis[i];
    return list;
}

/* What `longer` has behind `shorter`, if it begins with it. */
static bool find_rest(const struct axis_list *longer, const struct axis_list *shorter,
                      struct axis_list *rest)
{
    if (shorter->count > longer->count ||
        memcmp(longer->axis, shorter->axis, (size_t)shorter->count * sizeof *shorter->axis) != 0)
        return false;
    *rest = (struct axis_list){.count = longer->count - shorter->count};
    memcpy(rest->axis, longer->axis + shorter->count, (size_t)rest->count * sizeof *rest->axis);
    return true;
}

static void append(struct axis_list *list, const struct axis_list *more)
{
    for (int i = 0; i < more->count; i++)
        list->axis[list->count++] = more->axis[i];
}

/* How two specs differ, if in each dimension one list of axes begins with the other. */
struct difference {
    struct axis_list gained, lost;
    int gains, losses;           /* how many dimensions gain, lose */
    int gaining_dim, losing_dim; /* the last ones */
};

static bool find_difference(const struct axes *axes, const struct spec *from, const struct spec *to,
                            struct difference *difference)
{
    *difference = (struct difference){0};
    for (int d = 0; d < from->ndim || d < to->ndim; d++) {
        struct axis_list before = entry_of(axes, from, d), after = entry_of(axes, to, d), rest;
        if (find_rest(&after, &before, &rest)) {
            append(&difference->gained, &rest);
            difference->gains += rest.count > 0;
            difference->gaining_dim = rest.count > 0 ? d : difference->gaining_dim;
        } else if (find_rest(&before, &after, &rest)) {
            append(&difference->lost, &rest);
            difference->losses++;
            difference->losing_dim = d;
        } else {
            return false;
        }
    }
    return true;
}

static uint32_t used_of(const struct axes *axes, const struct spec *spec)
{
    uint32_t used = 0;
    for (int d = 0; d < spec->ndim; d++) {
        struct axis_list entry = entry_of(axes, spec, d);
        used |= spmd__axis_list_mask(&entry);
    }
    return used;
}

/* Whether two layouts cut every dimension alike: then blocks stay what they are. */
static bool cut_alike(const struct axes *from_axes, const struct spec *from,
                      const struct axes *to_axes, const struct spec *to)
{
    for (int d = 0; d < from->ndim || d < to->ndim; d++) {
        struct axis_list before = entry_of(from_axes, from, d), after = entry_of(to_axes, to, d);
        if (before.count != after.count)
            return false;
        for (int i = 0; i < before.count; i++)
            if (from_axes->size[before.axis[i]] != to_axes->size[after.axis[i]])
                return false;
    }
    return true;
}

/* Whether the same axes split in another order, and only the blocks' ranks change. */
static bool is_permutation(const struct axes *axes, const struct spec *from, const struct spec *to)
{
    return used_of(axes, from) == used_of(axes, to) && cut_alike(axes, from, axes, to);
}

struct move spmd__move_between(const struct axes *from_axes, const struct spec *from,
                               const struct axes *to_axes, const struct spec *to)
{
    bool whole = cut_alike(from_axes, from, to_axes, to);
    return (struct move){.kind = whole ? MOVE_PERMUTE : MOVE_EXCHANGE};
}

struct move spmd__move_find(const struct axes *axes, const struct spec *from, const struct spec *to)
{
    struct difference found;
    if (!find_difference(axes, from, to, &found))
        return (struct move){.kind = is_permutation(axes, from, to) ? MOVE_PERMUTE : MOVE_EXCHANGE};
    if (found.gains == 0 && found.losses == 0)
        return (struct move){.kind = MOVE_NOTHING};
    if (found.losses == 0)
        return (struct move){.kind = MOVE_SLICE, .axes = found.gained};
    if (found.gains == 0)
        return (struct move){.kind = MOVE_ALL_GATHER, .axes = found.lost};
    if (found.gains == 1 && found.losses == 1 && spmd__axis_list_equal(&found.gained, &found.lost))
        return (struct move){MOVE_ALL_TO_ALL, found.lost, found.losing_dim, found.gaining_dim};
    return (struct move){.kind = is_permutation(axes, from, to) ? MOVE_PERMUTE : MOVE_EXCHANGE};
}

const char *spmd__move_name(enum move_kind kind)
{
    static const char *const names[] = {
#define MOVE_NAME(name, text) text,
        MOVE_MAP(MOVE_NAME)
#undef MOVE_NAME
    };
    return names[kind];
}

void spmd__move_print(struct text *text, const struct axes *axes, const struct move *move)
{
    spmd__text_add(text, "%s", spmd__move_name(move->kind));
    if (move->kind == MOVE_NOTHING)
        spmd__text_add(text, " moves, both specs lay the array alike");
    if (move->kind == MOVE_PERMUTE)
        spmd__text_add(text, ": whole blocks change ranks");
    if (move->axes.count > 0) {
        spmd__text_add(text, " along ");
        spmd__axis_list_print(text, axes, &move->axes);
    }
    if (move->kind == MOVE_SLICE)
        spmd__text_add(text, ": every rank has its part already");
    if (move->kind == MOVE_FILL)
        spmd__text_add(text, ": zeros beside the first");
    if (move->kind == MOVE_ALL_TO_ALL)
        spmd__text_add(text, ", from dim %d to dim %d", move->from_dim, move->to_dim);
}
