/* core/census.c - what all positions keep and receive, counted in classes of positions. */
#include "core/census.h"

enum { MOST_VISITS = 1 << 20 };

struct walk {
    const struct route *route;
    int count;                 /* of axes that matter */
    int order[SPMD_MAX_AXES];  /* these: each is next in the list of some dimension */
    uint32_t chosen;           /* those that have a coordinate, as bits */
    int64_t at[SPMD_MAX_AXES]; /* the coordinates */
    struct census *census;
};

/* What the coordinates chosen so far leave of a dimension, in one of the two layouts. */
struct reach {
    int64_t lo, hi;
    int64_t most;     /* its longest part in the end */
    bool whole;       /* no further axis splits it */
    uint32_t pending; /* axes that are chosen, and will split it when those before them are */
};

static void find_reach(const struct walk *walk, const struct spec *spec, int dim,
                       struct reach *reach)
{
    int64_t longest = walk->route->shape.dim[dim];
    bool split = dim < spec->ndim;
    *reach = (struct reach){.hi = longest, .whole = true};
    int begin = split ? spec->first[dim] : 0, end = split ? spec->first[dim + 1] : 0;
    for (int i = begin; i < end; i++) {
        int axis = spec->axis[i];
        int64_t lo = 0, parts = walk->route->from_axes->size[axis];
        bool chosen = walk->chosen >> axis & 1;
        reach->whole = reach->whole && chosen;
        if (reach->whole)
            spmd__layout_split(parts, walk->at[axis], &reach->lo, &reach->hi);
        else if (chosen)
            reach->pending |= UINT32_C(1) << axis;
        spmd__layout_split(parts, chosen ? walk->at[axis] : 0, &lo, &longest);
        longest -= lo;
    }
    reach->most = longest;
}

/* How the two ranges of a dimension stand to each other. */
enum relation {
    EMPTY, /* one of them is */
    BELOW, /* the source's ends before the target's begins */
    ABOVE,
    SOURCE_INSIDE, /* of a target that is not split further: where, does not matter */
    TARGET_INSIDE,
    LINKED,
};

struct pair {
    struct reach from, to;
    enum relation relation;
    int64_t shift; /* from the source's range to the target's, where it matters */
};

static enum relation relate(const struct reach *from, const struct reach *to)
{
    if (from->lo == from->hi || to->lo == to->hi)
        return EMPTY;
    if (from->hi <= to->lo)
        return BELOW;
    if (to->hi <= from->lo)
        return ABOVE;
    if (to->whole && to->lo <= from->lo && from->hi <= to->hi)
        return SOURCE_INSIDE;
    if (from->whole && from->lo <= to->lo && to->hi <= from->hi)
        return TARGET_INSIDE;
    return LINKED;
}

static void find_pair(const struct walk *walk, int dim, struct pair *pair)
{
    find_reach(walk, walk->route->from, dim, &pair->from);
    find_reach(walk, walk->route->to, dim, &pair->to);
    pair->relation = relate(&pair->from, &pair->to);
    pair->shift = pair->relation == LINKED ? pair->to.lo - pair->from.lo : 0;
}

static bool is_apart(const struct pair *pair)
{
    return pair->relation == EMPTY || pair->relation == BELOW || pair->relation == ABOVE;
}

/* What is known of all positions that have the chosen coordinates. */
struct state {
    struct pair pair[SPMD_MAX_DIMS];
    int apart; /* the first dimension whose ranges do not meet; ndim: all do */
};

static void look(struct walk *walk, struct state *state)
{
    state->apart = walk->route->shape.ndim;
    walk->census->visits++;
    for (int d = state->apart - 1; d >= 0; d--) {
        find_pair(walk, d, &state->pair[d]);
        if (is_apart(&state->pair[d]))
            state->apart = d;
    }
}

static void look_at(struct walk *walk, int axis, int64_t coordinate, struct state *state)
{
    walk->at[axis] = coordinate;
    look(walk, state);
}

static int64_t length(const struct reach *reach)
{
    return reach->hi - reach->lo;
}

/* Whether all that counts is alike, whatever is chosen next. */
static bool are_alike(const struct pair *a, const struct pair *b, int axis)
{
    uint32_t pending = a->from.pending | a->to.pending;
    return !(pending >> axis & 1) && length(&a->from) == length(&b->from) &&
           length(&a->to) == length(&b->to) && a->relation == b->relation && a->shift == b->shift;
}

/* The same of coordinates `begin` and `end - 1` along `axis`, and so of those in between: there all
 * lengths and shifts are linear. Where nothing is kept, how much can be received counts alone. */
static bool are_one_class(struct walk *walk, int axis, int64_t begin, int64_t end)
{
    int ndim = walk->route->shape.ndim;
    struct state first, last;
    look_at(walk, axis, begin, &first);
    look_at(walk, axis, end - 1, &last);
    if (first.apart != last.apart)
        return false;
    if (first.apart < ndim && first.pair[first.apart].relation != last.pair[first.apart].relation)
        return false;
    for (int d = 0; d < ndim; d++) {
        const struct pair *a = &first.pair[d], *b = &last.pair[d];
        if (first.apart < ndim ? a->to.most != b->to.most : !are_alike(a, b, axis))
            return false;
    }
    return true;
}

static int64_t common_length(const struct pair *pair)
{
    int64_t lo = pair->from.lo > pair->to.lo ? pair->from.lo : pair->to.lo;
    int64_t hi = pair->from.hi < pair->to.hi ? pair->from.hi : pair->to.hi;
    return lo < hi ? hi - lo : 0;
}

/* All positions with the chosen coordinates, `weight` times. */
static void count(struct walk *walk, const struct state *state, double weight)
{
    double kept = 1, target = 1;
    for (int d = 0; d < walk->route->shape.ndim; d++) {
        kept *= (double)common_length(&state->pair[d]);
        target *= (double)state->pair[d].to.most;
    }
    walk->census->kept += weight * kept;
    if (target - kept > walk->census->most_received)
        walk->census->most_received = target - kept;
}

static void choose(struct walk *walk, int index, double weight);

/* Coordinates begin ... end - 1 along an axis: as one class, or by halves. */
static void choose_among(struct walk *walk, int index, int64_t begin, int64_t end, double weight)
{
    int axis = walk->order[index];
    if (begin == end || walk->census->visits > MOST_VISITS)
        return;
    if (end - begin == 1 || are_one_class(walk, axis, begin, end)) {
        walk->at[axis] = begin;
        choose(walk, index + 1, weight * (double)(end - begin));
        return;
    }
    int64_t middle = begin + (end - begin) / 2;
    choose_among(walk, index, begin, middle, weight);
    choose_among(walk, index, middle, end, weight);
}

/* The coordinate along `axis` from which on the parts of what `spec` lays along it are shorter; 0
 * where they are not. Between two such, lengths do not change and beginnings are linear. */
static int64_t first_shorter(const struct walk *walk, const struct spec *spec, int axis)
{
    for (int d = 0; d < spec->ndim; d++) {
        struct axis_list entry = spmd__spec_entry(spec, d);
        int64_t lo = 0, hi = walk->route->shape.dim[d];
        for (int i = 0; i < entry.count && (walk->chosen >> entry.axis[i] & 1); i++) {
            int64_t parts = walk->route->from_axes->size[entry.axis[i]];
            if (entry.axis[i] == axis)
                return (hi - lo) % parts;
            spmd__layout_split(parts, walk->at[entry.axis[i]], &lo, &hi);
        }
    }
    return 0;
}

/* The axes of `order` from `index` on. */
static void choose(struct walk *walk, int index, double weight)
{
    struct state state;
    look(walk, &state);
    if (state.apart < walk->route->shape.ndim || index == walk->count) {
        count(walk, &state, weight);
        return;
    }
    int axis = walk->order[index];
    bool first_alone = walk->route->filled >> axis & 1;
    int64_t end = first_alone ? 1 : walk->route->from_axes->size[axis];
    walk->chosen |= UINT32_C(1) << axis;
    int64_t from = first_shorter(walk, walk->route->from, axis);
    int64_t to = first_shorter(walk, walk->route->to, axis);
    int64_t low = from < to ? from : to, high = from < to ? to : from;
    low = low < end ? low : end;
    high = high < end ? high : end;
    choose_among(walk, index, 0, low, weight);
    choose_among(walk, index, low, high, weight);
    choose_among(walk, index, high, end, weight);
    walk->chosen &= ~(UINT32_C(1) << axis);
}

/* Whether all axes before `axis` in the list of its dimension are in `ordered`. */
static bool is_next(const struct spec *spec, int axis, uint32_t ordered)
{
    for (int d = 0; d < spec->ndim; d++)
        for (int i = spec->first[d]; i < spec->first[d + 1]; i++) {
            if (spec->axis[i] == axis)
                return true;
            if (!(ordered >> spec->axis[i] & 1))
                break;
        }
    return false;
}

/* The lowest axis that can be split by at once is next. */
static void put_in_order(struct walk *walk)
{
    const struct spec *from = walk->route->from, *to = walk->route->to;
    uint32_t ordered = 0, used = spmd__spec_used(from) | spmd__spec_used(to);
    while (ordered != used) {
        int axis = 0;
        while (!(used >> axis & 1) || (ordered >> axis & 1) ||
               !(is_next(from, axis, ordered) || is_next(to, axis, ordered)))
            axis++;
        ordered |= UINT32_C(1) << axis;
        walk->order[walk->count++] = axis;
    }
}

bool spmd__census_take(const struct route *route, struct census *census)
{
    struct walk walk = {.route = route, .census = census};
    *census = (struct census){0};
    put_in_order(&walk);
    /* Positions that differ along axes that split nothing are alike. */
    struct axis_list rest = spmd__axis_list_of_mask(
        spmd__axes_mask(route->from_axes) &
        ~(spmd__spec_used(route->from) | spmd__spec_used(route->to) | route->filled));
    choose(&walk, 0, (double)spmd__axis_list_size(route->from_axes, &rest));
    return census->visits <= MOST_VISITS;
}
