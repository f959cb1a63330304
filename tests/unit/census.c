/* census.c - unit tests of sums over all positions: what they are, and that few are looked at. */
#include "core/box.h"
#include "core/census.h"
#include "core/traffic.h"
#include "routes.h"

/* All positions are asked one by one. */
static void check(const struct fixture *f, const char *from, const char *to)
{
    struct census census;
    double kept = 0, most = 0;
    for (int64_t p = 0; p < spmd__axes_total(&f->axes); p++) {
        struct traffic one = spmd__traffic_of(&f->route, p);
        kept += one.kept;
        most = one.received > most ? one.received : most;
    }
    ck_assert(spmd__census_take(&f->route, &census));
    ck_assert_msg(census.kept == kept && census.most_received == most,
                  "%s to %s: %g and %g, not %g and %g", from, to, census.kept, census.most_received,
                  kept, most);
}

START_TEST(as_if_all_were_asked)
{
    static const char *const specs[] = {"P()",          "P(x)",       "P(-,y)",     "P(z,x)",
                                        "P((x,y))",     "P((y,x))",   "P((z,x),y)", "P(y,(x,z))",
                                        "P(-,(y,z,x))", "P((y,x),z)", "P(x,y)",     "P(y,x)",
                                        "P((x,y,z))",   "P((z,y,x))", "P((y,z),x)"};
    static const spmd_shape shapes[] = {{2, {7, 5}}, {2, {24, 48}}, {2, {59, 61}}, {2, {0, 4}}};
    enum { NSPECS = sizeof specs / sizeof specs[0], NSHAPES = sizeof shapes / sizeof shapes[0] };
    for (int i = 0; i < NSPECS; i++)
        for (int j = 0; j < NSPECS; j++)
            for (int k = 0; k < NSHAPES; k++)
                for (uint32_t filled = 0; filled < 8; filled++) {
                    struct fixture f;
                    make(&f, "x=3,y=5,z=2", specs[i], specs[j], shapes[k]);
                    f.route.filled = filled;
                    if (!(filled & spmd__spec_used(&f.to)))
                        check(&f, specs[i], specs[j]);
                }
}
END_TEST

/* Of 65,536 positions, and of 10^12, a few are looked at. */
START_TEST(few_visits)
{
    static const struct {
        const char *mesh, *from, *to;
        spmd_shape shape;
        int64_t most;
    } cases[] = {
        {"x=256,y=256", "P(x,-)", "P(-,x)", {2, {65536, 65536}}, 100},
        {"x=256,y=256", "P(x,-)", "P(-,x)", {2, {65535, 65537}}, 100},
        {"x=256,y=256", "P((x,y),-)", "P(-,(x,y))", {2, {65535, 65537}}, 200},
        {"x=256,y=256", "P(x,y)", "P((x,y),-)", {2, {65535, 65537}}, 200},
        {"x=256,y=256", "P(x,y)", "P()", {2, {65535, 65537}}, 200},
        {"x=256,y=256", "P(x,y)", "P(y,x)", {2, {65536, 65536}}, 20000},
        {"x=256,y=256", "P(x,y)", "P(y,x)", {2, {65535, 65537}}, 20000},
        {"x=256,y=256", "P((x,y),-)", "P((y,x),-)", {2, {65536, 65536}}, 20000},
        {"x=1000000,y=1000000", "P(x,y)", "P(x,-)", {2, {7654321, 1234567}}, 200},
        {"x=1000000,y=1000000", "P((x,y),-)", "P(-,(x,y))", {2, {7654321, 1234567}}, 400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        struct census census;
        make(&f, cases[i].mesh, cases[i].from, cases[i].to, cases[i].shape);
        ck_assert(spmd__census_take(&f.route, &census));
        ck_assert_msg(census.visits <= cases[i].most, "%s to %s: %d visits", cases[i].from,
                      cases[i].to, (int)census.visits);
    }
}
END_TEST

/* Where a transposition has too many ranges, it says so. */
START_TEST(too_many)
{
    struct fixture f;
    struct census census;
    make(&f, "x=1000000,y=1000000", "P(x,y)", "P(y,x)", SPMD_SHAPE(1000000, 1000000));
    ck_assert(!spmd__census_take(&f.route, &census));
}
END_TEST

UNIT_MAIN("census", as_if_all_were_asked, few_visits, too_many)
