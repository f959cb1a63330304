/* reshard_memory.c - a reshard takes the memory that its plan says, and gives it back. */
#include "library_heap.h"
#include "trip.h"

/* Beside what a plan counts there are its lists of who gets what, which grow with the peers; and
 * where contributions are added up, or a collective of MPI moves the parts, a piece of scratch
 * memory each. */
enum { LISTS_BYTES = 24 << 10, PEER_BYTES = 1 << 10, SCRATCH_BYTES = 64 << 10 };

static bool by_collective;

/* What there was most, beyond `before`, is what the plan promises, without the source, which was
 * there already. */
static bool is_promised(const struct trip *trip, int64_t most, int64_t before)
{
    spmd_reshard_bytes bytes = {0};
    bool well = EXPECT_OK(spmd_reshard_count(trip->plan, SPMD_SELF, &bytes));
    int64_t promised = before + bytes.peak - held_bytes(trip, trip->from);
    int64_t beside = LISTS_BYTES + test_size * PEER_BYTES;
    beside += ((trip->adds_up ? 1 : 0) + (by_collective ? 1 : 0)) * SCRATCH_BYTES;
    return well & EXPECT(most >= promised) & EXPECT(most <= promised + beside);
}

/* At once; gives the most that there was. */
static int64_t go_at_once(const struct trip *trip, spmd_array *array)
{
    spmd_array *out = NULL;
    heap_begin();
    EXPECT_OK(spmd_reshard_to(array, trip->to, &out));
    int64_t most = heap_most;
    spmd_array_free(&out);
    return most;
}

static bool takes_what_is_promised(struct trip *trip)
{
    spmd_array *a = make_array(trip, 0), *b = NULL;
    go_at_once(trip, a); /* meshes keep their communicators */
    int64_t before = heap_begin();
    int64_t at_once = go_at_once(trip, a);
    bool well = EXPECT(heap_now == before);
    heap_begin();
    well &= plan_trip(trip) & EXPECT_OK(spmd_reshard_run(trip->plan, 1, &a, &b));
    well &= is_promised(trip, heap_most, before) & is_promised(trip, at_once, before);
    int64_t planned = heap_begin();
    well &= EXPECT_OK(spmd_reshard_run(trip->plan, 1, &a, &b)); /* into the same memory */
    well &= EXPECT(heap_most == planned && heap_now == planned);
    spmd_array_free(&b);
    spmd_reshard_free(&trip->plan);
    well &= EXPECT(heap_now == before);
    spmd_array_free(&a);
    return well;
}

static bool try_pair(const struct pair *pair, bool adds_up)
{
    struct trip trip;
    open_trip(pair, adds_up, &trip);
    bool well = takes_what_is_promised(&trip);
    close_trip(&trip);
    return well;
}

static bool try_values(const struct pair *pair)
{
    return try_pair(pair, false);
}

static bool try_contributions(const struct pair *pair)
{
    return try_pair(pair, true);
}

/* Whether what a reshard takes can be told here. */
static bool is_counted(void)
{
    if (!heap_is_counted())
        harness_skip("the heap is not counted here");
    else if (test_checks)
        harness_skip("meshes keep letters of the checks");
    else
        return true;
    return false;
}

/* Random pairs, and large blocks, where messages are short, however large what they carry. */
static void try_all(const char *move)
{
    static const char *const specs[][2] = {
        {"P(x)", "P(-,x)"}, {"P(-,x)", "P()"}, {"P(unreduced={x})", "P(-,x)"}};
    struct pair pair = {.shape = SPMD_SHAPE(517, 1031), .dtype = SPMD_F64};
    if (!is_counted())
        return;
    setenv("SPMD_MOVE", move, 1);
    try_pairs(try_values, 100);
    try_pairs_of(true, try_contributions, 100);
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &pair.from.mesh));
    pair.to.mesh = pair.from.mesh;
    for (int i = 0; i < 3; i++) {
        strcpy(pair.from.spec, specs[i][0]);
        strcpy(pair.to.spec, specs[i][1]);
        if (!try_pair(&pair, i == 2))
            pair_print(&pair, i);
    }
    spmd_mesh_free(&pair.from.mesh);
    unsetenv("SPMD_MOVE");
}

static void messages_take_what_is_promised(void)
{
    try_all("messages");
}

static void collectives_take_what_is_promised(void)
{
    by_collective = true;
    try_all("collective");
    by_collective = false;
}

HARNESS_MAIN("reshard_memory", CASE(messages_take_what_is_promised),
             CASE(collectives_take_what_is_promised))
