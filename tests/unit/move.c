/* move.c - unit tests of the kinds of moves, against what really moves. */
#include "core/box.h"
#include "core/move.h"
#include "core/route.h"
#include "unit.h"

struct fixture {
    struct axes axes;
    struct spec from, to;
    struct move move;
};

static void make(struct fixture *f, const char *mesh, const char *from, const char *to)
{
    ASSERT_OK(spmd__axes_parse(mesh, 0, &f->axes));
    ASSERT_OK(spmd__spec_parse(from, &f->axes, &f->from));
    ASSERT_OK(spmd__spec_parse(to, &f->axes, &f->to));
    f->move = spmd__move_find(&f->axes, &f->from, &f->to);
}

START_TEST(in_words)
{
    static const struct {
        const char *mesh, *from, *to, *text;
    } cases[] = {
        {"x=2,y=4", "P(x)", "P(x,-)", "nothing moves, both specs lay the array alike"},
        {"x=1,y=4", "P(x)", "P()", "nothing moves, both specs lay the array alike"},
        {"x=2,y=4", "P(x)", "P((x,y))", "local slice along y: every rank has its part already"},
        {"x=2,y=4", "P()", "P(y,x)", "local slice along (y,x): every rank has its part already"},
        {"x=2,y=4", "P(x,y)", "P(x)", "all-gather along y"},
        {"x=2,y=4", "P(x,y)", "P()", "all-gather along (x,y)"},
        {"x=2,y=4", "P((x,y))", "P(x)", "all-gather along y"},
        {"x=2,y=4", "P((x,y))", "P(y)", "exchange"},
        {"x=2,y=4", "P(x)", "P(-,x)", "all-to-all along x, from dim 0 to dim 1"},
        {"x=2,y=4", "P(-,(x,y))", "P(y,x)", "all-to-all along y, from dim 1 to dim 0"},
        {"x=2,y=4", "P(-,(x,y))", "P((x,y))", "all-to-all along (x,y), from dim 1 to dim 0"},
        {"x=2,y=4", "P(-,(x,y))", "P((y,x))", "exchange"},
        {"x=2,y=4", "P(x,y)", "P(y,x)", "exchange"},
        {"x=2,y=2", "P(x,y)", "P(y,x)", "permute: whole blocks change ranks"},
        {"x=2,y=2", "P((x,y))", "P((y,x))", "permute: whole blocks change ranks"},
        {"x=2,y=4", "P((x,y))", "P((y,x))", "exchange"},
        {"x=2,y=2", "P(x)", "P(y)", "exchange"},
        {"x=2,y=2,z=2", "P(x,y)", "P(z)", "exchange"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        char buffer[128];
        struct text text = spmd__text_begin(buffer, sizeof buffer);
        make(&f, cases[i].mesh, cases[i].from, cases[i].to);
        spmd__move_print(&text, &f.axes, &f.move);
        ck_assert_str_eq(buffer, cases[i].text);
    }
}
END_TEST

/* Between meshes, whole blocks change ranks where both layouts cut alike. */
START_TEST(between_meshes)
{
    static const struct {
        const char *from_mesh, *from, *to_mesh, *to;
        enum move_kind kind;
    } cases[] = {{"x=4", "P(x)", "a=4", "P(a,-)", MOVE_PERMUTE},
                 {"x=4,y=2", "P((y,x))", "a=2,b=4,one=1", "P((a,one,b))", MOVE_PERMUTE},
                 {"x=4", "P()", "a=3", "P()", MOVE_PERMUTE},
                 {"x=4", "P(x)", "a=2,b=2", "P((a,b))", MOVE_EXCHANGE},
                 {"x=4", "P(x)", "a=4", "P(-,a)", MOVE_EXCHANGE},
                 {"x=4", "P(x)", "a=4", "P()", MOVE_EXCHANGE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct axes from_axes, to_axes;
        struct spec from, to;
        ASSERT_OK(spmd__axes_parse(cases[i].from_mesh, 0, &from_axes));
        ASSERT_OK(spmd__axes_parse(cases[i].to_mesh, 0, &to_axes));
        ASSERT_OK(spmd__spec_parse(cases[i].from, &from_axes, &from));
        ASSERT_OK(spmd__spec_parse(cases[i].to, &to_axes, &to));
        ck_assert_int_eq(spmd__move_between(&from_axes, &from, &to_axes, &to).kind, cases[i].kind);
    }
}
END_TEST

/* What the parts that a position receives may be. */
struct claim {
    const struct fixture *fixture;
    spmd_shape shape;
    int64_t position;
};

static uint32_t mask_of(const struct axis_list *list)
{
    uint32_t mask = 0;
    for (int i = 0; i < list->count; i++)
        mask |= UINT32_C(1) << list->axis[i];
    return mask;
}

/* Gathers and all-to-alls stay among the ranks along their axes; a permutation moves whole blocks.
 */
static spmd_status check_part(int64_t position, const spmd_box *common, void *user)
{
    const struct claim *claim = user;
    const struct fixture *f = claim->fixture;
    int64_t mine[SPMD_MAX_AXES], its[SPMD_MAX_AXES];
    spmd__axes_coordinates(&f->axes, claim->position, mine);
    spmd__axes_coordinates(&f->axes, position, its);
    spmd_box block = spmd__layout_box(&f->axes, &f->from, claim->shape, position);
    switch (f->move.kind) {
    case MOVE_NOTHING:
    case MOVE_SLICE:
        ck_assert_int_eq(position, claim->position);
        break;
    case MOVE_ALL_GATHER:
        ck_assert_int_eq(spmd_box_size(common), spmd_box_size(&block));
        /* fall through */
    case MOVE_ALL_TO_ALL:
        for (int a = 0; a < f->axes.count; a++)
            ck_assert(mine[a] == its[a] || (mask_of(&f->move.axes) >> a & 1));
        break;
    case MOVE_PERMUTE: {
        spmd_box wanted = spmd__layout_box(&f->axes, &f->to, claim->shape, claim->position);
        ck_assert(spmd__box_is_inside(&wanted, &block) && spmd__box_is_inside(&block, &wanted));
        break;
    }
    case MOVE_EXCHANGE:
        break;
    default:
        ck_abort_msg("%s moves no values", spmd__move_name(f->move.kind));
    }
    return SPMD_OK;
}

START_TEST(what_is_said_is_what_moves)
{
    static const char *const specs[] = {"P()",      "P(x)",       "P(-,y)",       "P(z,x)",
                                        "P((x,z))", "P((z,x),y)", "P(-,(y,z,x))", "P((z,x))",
                                        "P(x,z)",   "P((x,z),y)", "P(-,(y,z))",   "P(x,(y,z))"};
    enum { NSPECS = sizeof specs / sizeof specs[0] };
    for (int i = 0; i < NSPECS; i++)
        for (int j = 0; j < NSPECS; j++) {
            struct fixture f;
            make(&f, "x=2,y=3,z=2", specs[i], specs[j]);
            struct claim claim = {.fixture = &f, .shape = SPMD_SHAPE(7, 11)};
            struct route route = spmd__route_within(&f.axes, &f.from, &f.to, claim.shape);
            for (claim.position = 0; claim.position < 12; claim.position++)
                ASSERT_OK(spmd__route_receives(&route, claim.position, check_part, &claim));
        }
}
END_TEST

UNIT_MAIN("move", in_words, between_meshes, what_is_said_is_what_moves)
