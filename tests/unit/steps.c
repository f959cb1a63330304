/* steps.c - unit tests of the way from one layout to another: each way is walked with numbers. */
#include "core/route.h"
#include "core/steps.h"
#include "unit.h"

static const char *const specs[] = {"P()",
                                    "P(x)",
                                    "P(-,y)",
                                    "P((x,y),z)",
                                    "P((z,x))",
                                    "P(unreduced={y})",
                                    "P(x,unreduced={y})",
                                    "P(y,z,unreduced={x})",
                                    "P(-,x,unreduced={y,z})",
                                    "P(unreduced={x,y,z})",
                                    "P((z,y),unreduced={x})"};
enum { NSPECS = sizeof specs / sizeof specs[0], RANKS = 12, ROWS = 7, COLUMNS = 5 };

/* What each position has of each element; -1: nothing. */
struct state {
    double at[RANKS][ROWS][COLUMNS];
};

struct fixture {
    struct axes axes;
    struct spec from, to;
    spmd_shape shape;
    struct steps steps;
};

static void make(struct fixture *f, const char *mesh, const char *from, const char *to)
{
    ASSERT_OK(spmd__axes_parse(mesh, 0, &f->axes));
    ASSERT_OK(spmd__spec_parse(from, &f->axes, &f->from));
    ASSERT_OK(spmd__spec_parse(to, &f->axes, &f->to));
    f->shape = SPMD_SHAPE(ROWS, COLUMNS);
    f->steps = spmd__steps_find(&f->axes, &f->from, &f->axes, &f->to, true, f->shape);
}

static bool has(const struct fixture *f, const struct spec *spec, int position, int row, int column)
{
    spmd_box box = spmd__layout_box(&f->axes, spec, f->shape, position);
    return box.lo[0] <= row && row < box.hi[0] && box.lo[1] <= column && column < box.hi[1];
}

/* The k-th position of those that differ from `position` along the axes of a mask; and their
 * number. */
static int member(const struct fixture *f, uint32_t mask, int position, int64_t k)
{
    struct axis_list list = spmd__axis_list_of_mask(mask);
    return (int)spmd__axis_list_member(&f->axes, &list, position, k);
}

static int64_t members(const struct fixture *f, uint32_t mask)
{
    struct axis_list list = spmd__axis_list_of_mask(mask);
    return spmd__axis_list_size(&f->axes, &list);
}

/* Contributions differ along the unreduced axes, and are alike along those of replicas. */
static void begin(const struct fixture *f, struct state *state)
{
    for (int p = 0; p < RANKS; p++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++) {
                struct axis_list unreduced = spmd__axis_list_of_mask(f->from.unreduced);
                int64_t which = spmd__axis_list_index(&f->axes, &unreduced, p);
                bool here = has(f, &f->from, p, i, j);
                state->at[p][i][j] = here ? (double)((which + 1) * (i * COLUMNS + j + 1)) : -1;
            }
}

static double whole_of(const struct fixture *f, int row, int column)
{
    double n = (double)members(f, f->from.unreduced);
    return n * (n + 1) / 2 * (row * COLUMNS + column + 1);
}

static double sum_over(const struct fixture *f, const struct state *state, uint32_t mask,
                       int position, int row, int column)
{
    double sum = 0;
    for (int64_t k = 0; k < members(f, mask); k++) {
        double one = state->at[member(f, mask, position, k)][row][column];
        ck_assert(one >= 0);
        sum += one;
    }
    return sum;
}

static void reduce(const struct fixture *f, struct state *state)
{
    struct state before = *state;
    for (int p = 0; p < RANKS; p++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
                state->at[p][i][j] =
                    has(f, &f->steps.mid, p, i, j)
                        ? sum_over(f, &before, spmd__axis_list_mask(&f->steps.reduced), p, i, j)
                        : -1;
}

struct receiving {
    const struct state *before;
    struct state *state;
    int position;
};

static spmd_status receive(int64_t position, const spmd_box *common, void *user)
{
    const struct receiving *receiving = user;
    for (int64_t i = common->lo[0]; i < common->hi[0]; i++)
        for (int64_t j = common->lo[1]; j < common->hi[1]; j++) {
            ck_assert(receiving->before->at[position][i][j] >= 0);
            ck_assert(receiving->state->at[receiving->position][i][j] < 0);
            receiving->state->at[receiving->position][i][j] = receiving->before->at[position][i][j];
        }
    return SPMD_OK;
}

static void move(const struct fixture *f, struct state *state)
{
    struct state before = *state;
    struct route route = spmd__route_within(&f->axes, &f->steps.mid, &f->to, f->shape);
    route.filled = f->steps.filled;
    for (int p = 0; p < RANKS; p++) {
        struct receiving receiving = {&before, state, p};
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
                state->at[p][i][j] = -1;
        ASSERT_OK(spmd__route_receives(&route, p, receive, &receiving));
        bool zeros = spmd__axes_first_along(&f->axes, f->steps.filled, p) != p;
        for (int i = 0; zeros && i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
                if (has(f, &f->to, p, i, j)) {
                    ck_assert(state->at[p][i][j] < 0);
                    state->at[p][i][j] = 0;
                }
    }
}

/* What lies so adds up to the whole, and each position has its box. */
static void check(const struct fixture *f, const struct state *state)
{
    for (int p = 0; p < RANKS; p++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
                if (has(f, &f->to, p, i, j))
                    ck_assert(sum_over(f, state, f->to.unreduced, p, i, j) == whole_of(f, i, j));
                else
                    ck_assert(state->at[p][i][j] < 0);
}

static bool are_none(const struct steps *steps)
{
    return steps->reduce == MOVE_NOTHING && steps->move.kind == MOVE_NOTHING && steps->filled == 0;
}

START_TEST(every_way_keeps_the_value)
{
    for (int a = 0; a < NSPECS; a++)
        for (int b = 0; b < NSPECS; b++) {
            struct fixture f;
            struct state state;
            make(&f, "x=2,y=3,z=2", specs[a], specs[b]);
            begin(&f, &state);
            reduce(&f, &state);
            move(&f, &state);
            check(&f, &state);
            ck_assert_msg((a == b) == are_none(&f.steps), "%s to %s", specs[a], specs[b]);
        }
}
END_TEST

static void expect(const char *from, const char *to, enum move_kind reduce, const char *mid,
                   enum move_kind move, uint32_t filled)
{
    struct fixture f;
    char buffer[256];
    make(&f, "x=2,y=3,z=2,one=1", from, to);
    struct text text = spmd__text_begin(buffer, sizeof buffer);
    spmd__spec_print(&text, &f.axes, &f.steps.mid);
    ck_assert_str_eq(buffer, mid);
    ck_assert_str_eq(spmd__move_name(f.steps.reduce), spmd__move_name(reduce));
    ck_assert_str_eq(spmd__move_name(f.steps.move.kind), spmd__move_name(move));
    ck_assert_uint_eq(f.steps.filled, filled);
}

/* A part of the sum stays where it will be held, if the specs allow it. */
START_TEST(sums_are_made_where_they_are_wanted)
{
    expect("P(x,-,unreduced={y})", "P(x,-)", MOVE_ALL_REDUCE, "P(x, -)", MOVE_NOTHING, 0);
    expect("P(x,-,unreduced={y})", "P(x,y)", MOVE_REDUCE_SCATTER, "P(x, y)", MOVE_NOTHING, 0);
    expect("P(x,-,unreduced={y})", "P((x,y))", MOVE_REDUCE_SCATTER, "P((x,y), -)", MOVE_NOTHING, 0);
    expect("P(-,-,unreduced={x,y})", "P(y,x)", MOVE_REDUCE_SCATTER, "P(y, x)", MOVE_NOTHING, 0);
    expect("P(-,-,unreduced={x,y})", "P(-,x)", MOVE_REDUCE_SCATTER, "P(y, x)", MOVE_ALL_GATHER, 0);
    expect("P(x,-,unreduced={y})", "P(-,(y,x))", MOVE_REDUCE_SCATTER, "P(x, y)", MOVE_ALL_TO_ALL,
           0);
}
END_TEST

START_TEST(contributions_stay_or_begin)
{
    expect("P(x,-,unreduced={y})", "P(-,x,unreduced={y})", MOVE_NOTHING, "P(x, -, unreduced={y})",
           MOVE_ALL_TO_ALL, 0);
    expect("P(x)", "P(x,unreduced={y})", MOVE_NOTHING, "P(x)", MOVE_NOTHING, 2);
    expect("P(unreduced={x})", "P(unreduced={y})", MOVE_ALL_REDUCE, "P()", MOVE_NOTHING, 2);
    expect("P(unreduced={y}:max)", "P(unreduced={y})", MOVE_ALL_REDUCE, "P()", MOVE_NOTHING, 2);
    expect("P(x,unreduced={one})", "P(x)", MOVE_NOTHING, "P(x)", MOVE_NOTHING, 0);
}
END_TEST

START_TEST(what_cannot_be_unreduced)
{
    struct fixture f;
    make(&f, "x=2", "P(unreduced={x})", "P(unreduced={x}:max)");
    ASSERT_OK(spmd__steps_check_unreduced(&f.axes, &f.from, SPMD_C64));
    ASSERT_OK(spmd__steps_check_unreduced(&f.axes, &f.to, SPMD_BOOL));
    ASSERT_FAILS(spmd__steps_check_unreduced(&f.axes, &f.from, SPMD_BOOL), SPMD_ERR_DTYPE, "i32");
    ASSERT_FAILS(spmd__steps_check_unreduced(&f.axes, &f.to, SPMD_C64), SPMD_ERR_DTYPE, "order");
    ASSERT_OK(spmd__steps_check_fill(&f.axes, &f.from, 1));
    ASSERT_FAILS(spmd__steps_check_fill(&f.axes, &f.to, 1), SPMD_ERR_SPEC, "P(unreduced={x}:max)");
}
END_TEST

UNIT_MAIN("steps", every_way_keeps_the_value, sums_are_made_where_they_are_wanted,
          contributions_stay_or_begin, what_cannot_be_unreduced)
