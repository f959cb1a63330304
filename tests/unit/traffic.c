/* traffic.c - unit tests of who takes what from whom, and of how much that is. */
#include "core/box.h"
#include "core/traffic.h"
#include "routes.h"

static const char *const specs[] = {"P()",        "P(x)",       "P(-,y)", "P(z,x)",
                                    "P((x,y))",   "P((z,x),y)", "P(y,-)", "P(-,(y,z,x))",
                                    "P((y,x),z)", "P(-,z)",     "P(x,y)", "P(y,x)"};
enum { NSPECS = sizeof specs / sizeof specs[0], RANKS = 12 };

/* What each rank gets from each, by one of the two ways to ask. */
struct ledger {
    int64_t self;
    bool sends;
    int64_t amount[RANKS][RANKS]; /* [from][to] */
};

static spmd_status enter(int64_t position, const spmd_box *common, void *user)
{
    struct ledger *ledger = user;
    int64_t from = ledger->sends ? ledger->self : position;
    int64_t to = ledger->sends ? position : ledger->self;
    ledger->amount[from][to] += spmd_box_size(common);
    return SPMD_OK;
}

static void fill(const struct fixture *f, bool sends, struct ledger *ledger)
{
    *ledger = (struct ledger){.sends = sends};
    for (ledger->self = 0; ledger->self < RANKS; ledger->self++)
        ASSERT_OK(sends ? spmd__route_sends(&f->route, ledger->self, enter, ledger)
                        : spmd__route_receives(&f->route, ledger->self, enter, ledger));
}

/* Senders and receivers say the same, every element arrives once, and the traffic is its sum. */
static void check(const struct fixture *f)
{
    struct ledger sent, received;
    struct traffic total = {0}, all;
    double most = 0, most_received;
    fill(f, true, &sent);
    fill(f, false, &received);
    for (int r = 0; r < RANKS; r++) {
        struct traffic one = spmd__traffic_of(&f->route, r);
        spmd_box box = spmd__layout_box(&f->axes, &f->to, f->route.shape, r);
        int64_t in = 0, out = 0;
        for (int k = 0; k < RANKS; k++) {
            ck_assert_int_eq(sent.amount[r][k], received.amount[r][k]);
            out += k == r ? 0 : sent.amount[r][k];
            in += k == r ? 0 : sent.amount[k][r];
        }
        ck_assert_int_eq(in + sent.amount[r][r], spmd_box_size(&box));
        ck_assert((double)sent.amount[r][r] == one.kept);
        ck_assert((double)in == one.received && (double)out == one.sent);
        total.kept += one.kept;
        total.received += one.received;
        total.sent += one.sent;
        most = one.received > most ? one.received : most;
    }
    ck_assert(spmd__traffic_total(&f->route, &all, &most_received));
    ck_assert(all.kept == total.kept && all.received == total.received && all.sent == total.sent);
    ck_assert(most == most_received);
}

START_TEST(both_ends_agree)
{
    static const spmd_shape shapes[] = {{2, {7, 5}}, {2, {12, 12}}, {2, {1, 3}}, {2, {0, 4}}};
    for (int i = 0; i < NSPECS; i++)
        for (int j = 0; j < NSPECS; j++)
            for (int k = 0; k < 4; k++) {
                struct fixture f;
                make(&f, "x=2,y=3,z=2", specs[i], specs[j], shapes[k]);
                check(&f);
            }
}
END_TEST

/* A receiver takes from itself what it has. */
START_TEST(nothing_moves_where_all_is_there)
{
    struct fixture f;
    struct traffic all;
    double most;
    make(&f, "x=2,y=3,z=2", "P()", "P(x,(z,y))", SPMD_SHAPE(7, 5));
    ck_assert(spmd__traffic_total(&f.route, &all, &most));
    ck_assert(all.kept == 2 * 35 / 2 && all.received == 0 && most == 0);
}
END_TEST

/* Replicas share the sending. */
START_TEST(pulls_spread_over_replicas)
{
    struct fixture f;
    make(&f, "x=2,y=3", "P(x)", "P()", SPMD_SHAPE(6));
    for (int r = 0; r < 6; r++) {
        struct traffic one = spmd__traffic_of(&f.route, r);
        ck_assert(one.kept == 3 && one.received == 3 && one.sent == 3);
    }
}
END_TEST

/* Of any number of ranks, if few of them differ; else it says so. */
START_TEST(large_meshes)
{
    struct fixture f;
    struct traffic all;
    double most;
    make(&f, "x=1000000000,y=1000", "P(y)", "P()", SPMD_SHAPE(1000));
    ck_assert(spmd__traffic_total(&f.route, &all, &most));
    ck_assert(all.kept == 1e12 && all.received == 999e12 && most == 999);
    make(&f, "x=1000000000,y=1000", "P(x)", "P()", SPMD_SHAPE(1000));
    ck_assert(spmd__traffic_total(&f.route, &all, &most));
    ck_assert(all.kept == 1e6 && all.received == 1e15 - 1e6 && most == 1000);
    make(&f, "x=1000000,y=1000000", "P(x,y)", "P(y,x)", SPMD_SHAPE(1000000, 1000000));
    ck_assert(!spmd__traffic_total(&f.route, &all, &most));
}
END_TEST

UNIT_MAIN("traffic", both_ends_agree, nothing_moves_where_all_is_there, pulls_spread_over_replicas,
          large_meshes)
