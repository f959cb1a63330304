/* core/halo.c - who holds the border of a block, along one dimension. */
#include "core/halo.h"

#include "core/layout.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t greatest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void spmd__halo_range(const struct halo_line *line, int64_t index, int64_t *begin, int64_t *end)
{
    int64_t members = 1; /* within what has been split off so far */
    for (int i = 0; i < line->nparts; i++)
        members *= line->parts[i];
    *begin = 0;
    *end = line->extent;
    for (int i = 0; i < line->nparts; i++) {
        members /= line->parts[i];
        spmd__layout_split(line->parts[i], index / members % line->parts[i], begin, end);
    }
}

/* The first and the last index, or as far as a border of that width reaches. */
static int64_t lower_limit(const struct halo_line *line, int64_t width)
{
    return line->periodic ? line->begin - width : greatest(line->begin - width, 0);
}

static int64_t upper_limit(const struct halo_line *line, int64_t width)
{
    return line->periodic ? line->end + width : least(line->end + width, line->extent);
}

void spmd__halo_filled(const struct halo_line *line, int64_t *lo, int64_t *hi)
{
    int64_t first = line->begin - line->lo;
    *lo = lower_limit(line, line->lo) - first;
    *hi = upper_limit(line, line->hi) - first;
}

/* Who holds the element at `at`, and which range around it; on a line that repeats. */
struct holder {
    int64_t member;
    int64_t begin, end;
};

static struct holder find_holder(const struct halo_line *line, int64_t at)
{
    int64_t index = at % line->extent;
    if (index < 0)
        index += line->extent;
    struct holder holder = {.begin = 0, .end = line->extent};
    for (int i = 0; i < line->nparts; i++) {
        int64_t part = spmd__layout_part(line->parts[i], holder.begin, holder.end, index);
        spmd__layout_split(line->parts[i], part, &holder.begin, &holder.end);
        holder.member = holder.member * line->parts[i] + part;
    }
    holder.begin += at - index;
    holder.end += at - index;
    return holder;
}

/* A border on the low side is received from below; those who have me in theirs are above. They
 * are as far away as the border is wide. */
struct halo_walk spmd__halo_walk(const struct halo_line *line, enum halo_way way,
                                 enum halo_side side)
{
    int64_t width = side == HALO_LO ? line->lo : line->hi;
    bool up = (side == HALO_HI) == (way == HALO_RECEIVE);
    return (struct halo_walk){.line = line,
                              .way = way,
                              .up = up,
                              .at = up ? line->end : line->begin,
                              .until = up ? upper_limit(line, width) : lower_limit(line, width)};
}

bool spmd__halo_next(struct halo_walk *walk, struct halo_piece *piece)
{
    const struct halo_line *line = walk->line;
    if (walk->up ? walk->at >= walk->until : walk->at <= walk->until)
        return false;
    struct holder holder = find_holder(line, walk->up ? walk->at : walk->at - 1);
    int64_t lo, hi; /* on the line */
    if (walk->way == HALO_RECEIVE) {
        lo = walk->up ? holder.begin : greatest(holder.begin, walk->until);
        hi = walk->up ? least(holder.end, walk->until) : holder.end;
    } else { /* of my range, what lies in the holder's border */
        lo = walk->up ? greatest(line->begin, holder.begin - line->lo) : line->begin;
        hi = walk->up ? line->end : least(line->end, holder.end + line->hi);
    }
    int64_t first = line->begin - line->lo;
    *piece = (struct halo_piece){.member = holder.member,
                                 .lo = lo - first,
                                 .hi = hi - first,
                                 .there = lo - (holder.begin - line->lo)};
    walk->at = walk->up ? holder.end : holder.begin;
    return true;
}
