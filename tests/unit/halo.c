/* halo.c - unit tests of who holds the border of a block, against a look at each element. */
#include "core/halo.h"
#include "unit.h"

enum { MOST_ELEMENTS = 6, MOST_WIDTH = 9 };

static struct halo_line line_of(int64_t extent, int64_t major, int64_t minor, int64_t lo,
                                int64_t hi, bool periodic)
{
    return (struct halo_line){.nparts = 2,
                              .parts = {major, minor},
                              .extent = extent,
                              .periodic = periodic,
                              .lo = lo,
                              .hi = hi};
}

static bool place(struct halo_line *line, int64_t member)
{
    spmd__halo_range(line, member, &line->begin, &line->end);
    return line->begin < line->end;
}

static int64_t wrap(const struct halo_line *line, int64_t at)
{
    return (at % line->extent + line->extent) % line->extent;
}

/* What a border receives is there, once, and where the piece says. */
static void check_received(struct halo_line line)
{
    bool seen[MOST_ELEMENTS + 2 * MOST_WIDTH] = {false};
    int64_t first = line.begin - line.lo, last = line.end + line.hi;
    for (int side = HALO_LO; side <= HALO_HI; side++) {
        struct halo_walk walk = spmd__halo_walk(&line, HALO_RECEIVE, side);
        struct halo_piece piece;
        while (spmd__halo_next(&walk, &piece)) {
            struct halo_line there = line;
            ck_assert(place(&there, piece.member));
            ck_assert_int_lt(piece.lo, piece.hi);
            for (int64_t i = piece.lo; i < piece.hi; i++) {
                ck_assert(!seen[i]);
                seen[i] = true;
                int64_t at_peer = there.begin - there.lo + piece.there + i - piece.lo;
                ck_assert(at_peer >= there.begin && at_peer < there.end);
                ck_assert_int_eq(wrap(&line, first + i), at_peer);
            }
        }
    }
    int64_t lo, hi;
    spmd__halo_filled(&line, &lo, &hi);
    for (int64_t i = 0; i < last - first; i++) {
        int64_t at = first + i;
        bool own = at >= line.begin && at < line.end;
        bool exists = line.periodic || (at >= 0 && at < line.extent);
        ck_assert_int_eq(exists, i >= lo && i < hi);
        ck_assert_int_eq(seen[i], exists && !own);
    }
}

/* The next piece that is from, or for, `member`. */
static bool next_with(struct halo_walk *walk, int64_t member, struct halo_piece *piece)
{
    while (spmd__halo_next(walk, piece))
        if (piece->member == member)
            return true;
    return false;
}

/* What one sends another is what that one receives of it, piece for piece. */
static void check_pair(struct halo_line from, int64_t sender, struct halo_line to, int64_t receiver)
{
    for (int side = HALO_LO; side <= HALO_HI; side++) {
        struct halo_walk sends = spmd__halo_walk(&from, HALO_SEND, side);
        struct halo_walk receives = spmd__halo_walk(&to, HALO_RECEIVE, side);
        struct halo_piece sent, received;
        while (next_with(&receives, sender, &received)) {
            ck_assert(next_with(&sends, receiver, &sent));
            ck_assert_int_eq(sent.lo, received.there);
            ck_assert_int_eq(sent.hi - sent.lo, received.hi - received.lo);
        }
        ck_assert(!next_with(&sends, receiver, &sent));
    }
}

static void check_line(struct halo_line line)
{
    int64_t members = line.parts[0] * line.parts[1];
    for (int64_t member = 0; member < members; member++) {
        struct halo_line mine = line, peer = line;
        if (!place(&mine, member))
            continue;
        check_received(mine);
        for (int64_t other = 0; other < members; other++)
            if (place(&peer, other))
                check_pair(mine, member, peer, other);
    }
}

START_TEST(borders_come_from_their_holders)
{
    for (int64_t extent = 0; extent <= MOST_ELEMENTS; extent++)
        for (int64_t major = 1; major <= 4; major++)
            for (int64_t minor = 1; minor <= 3; minor++)
                for (int64_t width = 0; width <= MOST_WIDTH; width++)
                    for (int periodic = 0; periodic < 2; periodic++) {
                        check_line(line_of(extent, major, minor, width, 1, periodic));
                        check_line(line_of(extent, major, minor, width / 2, width, periodic));
                    }
}
END_TEST

START_TEST(far_members_cost_nothing)
{
    /* The neighbour of the first element on a million of members, most of which are empty. */
    struct halo_line line = line_of(2, 1000, 1000, 1, 1, true);
    struct halo_piece piece;
    ck_assert(place(&line, 0));
    struct halo_walk walk = spmd__halo_walk(&line, HALO_RECEIVE, HALO_HI);
    ck_assert(spmd__halo_next(&walk, &piece));
    ck_assert_int_eq(piece.member, 1000);
    ck_assert(!spmd__halo_next(&walk, &piece));
}
END_TEST

UNIT_MAIN("halo", borders_come_from_their_holders, far_members_cost_nothing)
