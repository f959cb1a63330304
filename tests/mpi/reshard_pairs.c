/* reshard_pairs.c - any sharding to any other one: 2,000 random pairs over 1, 2, 3, 4, 6 and 8
 * ranks. Every element arrives, and no rank gets a byte that it had, or gets one twice. */
#include "trip.h"

enum { MOST_ARRAYS = 3, RUNS = 2 };

/* Whether all goes by messages; and the bytes that this rank has sent by such. */
static bool by_messages;
static int64_t bytes_sent;

int MPI_Isend(const void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int size;
    PMPI_Type_size(type, &size);
    bytes_sent += (int64_t)count * size;
    return PMPI_Isend(data, count, type, peer, tag, comm, request);
}

static bool goes_at_once(const struct trip *trip)
{
    spmd_array *a = make_array(trip, 0), *there = NULL;
    bool well = trip->pair->from.mesh == trip->pair->to.mesh
                    ? EXPECT_OK(spmd_reshard(a, trip->pair->to.spec, &there))
                    : EXPECT_OK(spmd_reshard_to(a, trip->to, &there));
    well &= EXPECT(has_arrived(trip, 0, there));
    spmd_array_free(&a);
    spmd_array_free(&there);
    return well;
}

/* And comes back, given up each time. */
static bool goes_and_comes_back(const struct trip *trip)
{
    const struct pair *pair = trip->pair;
    spmd_array *a = make_array(trip, 0);
    bool well = EXPECT_OK(spmd_reshard_donate(&a, trip->to));
    well &= EXPECT(has_arrived(trip, 0, a));
    well &= EXPECT_OK(spmd_reshard_donate(&a, trip->from));
    well &= EXPECT(pattern_is_on(a, pair->shape, pair->dtype, trip->from));
    spmd_array_free(&a);
    return well;
}

/* What `count` arrays have sent is what the plan says, or less where some of it was read. Checks
 * of SPMD_CHECK=1 are messages, too. */
static bool has_sent(const struct trip *trip, int count)
{
    spmd_reshard_bytes bytes = {0};
    bool well = EXPECT_OK(spmd_reshard_count(trip->plan, SPMD_SELF, &bytes));
    if (trip->adds_up || test_checks)
        return well;
    return by_messages ? EXPECT(bytes_sent == count * bytes.sent)
                       : EXPECT(bytes_sent <= count * bytes.sent);
}

/* One to three arrays together, whose targets are used again. */
static bool goes_by_a_plan(const struct trip *trip)
{
    int count = 1 + trip->pair->shape.ndim % MOST_ARRAYS;
    spmd_array *in[MOST_ARRAYS], *out[MOST_ARRAYS] = {NULL};
    bool well = true;
    for (int run = 0; run < RUNS; run++) {
        for (int i = 0; i < count; i++)
            in[i] = make_array(trip, run * count + i);
        bytes_sent = 0;
        well &= EXPECT_OK(spmd_reshard_run(trip->plan, count, in, out)) & has_sent(trip, count);
        for (int i = 0; i < count; i++) {
            well &= EXPECT(has_arrived(trip, run * count + i, out[i]));
            spmd_array_free(&in[i]);
        }
    }
    for (int i = 0; i < count; i++)
        spmd_array_free(&out[i]);
    return well;
}

/* The ranks [number of them] that a plan counts: those of the mesh that it leads from, then those
 * that the other one has alone. */
static int list_ranks(const struct trip *trip, int ranks[])
{
    const spmd_mesh *from = trip->pair->from.mesh, *to = trip->pair->to.mesh;
    int count = 0;
    for (; count < spmd_mesh_size(from); count++)
        ranks[count] = spmd_mesh_rank(from, count);
    int members = count;
    for (int64_t p = 0; p < spmd_mesh_size(to); p++) {
        int known = 0;
        while (known < members && ranks[known] != spmd_mesh_rank(to, p))
            known++;
        if (known == members)
            ranks[count++] = spmd_mesh_rank(to, p);
    }
    return count;
}

/* What one rank says of another is what that one says of itself; of its memory, where messages go,
 * as it supposes. */
static bool is_told_alike(const spmd_reshard_bytes *told, const spmd_reshard_bytes *own)
{
    return told->kept == own->kept && told->received == own->received && told->sent == own->sent &&
           (told->peak == own->peak || !by_messages);
}

/* A rank receives what it lacks, and no more; what all send is what all receive; and each rank can
 * tell of any other one what that one says of itself. */
static bool counts_the_least(const struct trip *trip)
{
    enum { MOST = 64 };
    spmd_reshard_bytes own = {0}, all[MOST], theirs;
    int ranks[MOST], count = list_ranks(trip, ranks);
    int64_t balance = 0;
    bool well = EXPECT_OK(spmd_reshard_count(trip->plan, SPMD_SELF, &own));
    if (!trip->adds_up) {
        int64_t kept = common_bytes(trip);
        well &=
            EXPECT(own.kept == kept) & EXPECT(own.received == held_bytes(trip, trip->to) - kept);
    }
    MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < test_size; r++)
        balance += all[r].sent - all[r].received;
    well &= EXPECT(balance == 0);
    for (int k = 0; k < count; k++)
        well &= EXPECT_OK(spmd_reshard_count(trip->plan, k, &theirs)) &&
                EXPECT(is_told_alike(&theirs, &all[ranks[k]]));
    return well & EXPECT_FAILS(spmd_reshard_count(trip->plan, count, &theirs), SPMD_ERR_ARGUMENT,
                               "no position");
}

static bool arrives(const struct pair *pair)
{
    struct trip trip;
    open_trip(pair, false, &trip);
    bool well = goes_at_once(&trip) & plan_trip(&trip) & goes_by_a_plan(&trip) &
                counts_the_least(&trip) & goes_and_comes_back(&trip);
    close_trip(&trip);
    return well;
}

static bool adds_up(const struct pair *pair)
{
    struct trip trip;
    open_trip(pair, true, &trip);
    bool well =
        goes_at_once(&trip) & plan_trip(&trip) & goes_by_a_plan(&trip) & counts_the_least(&trip);
    close_trip(&trip);
    return well;
}

/* So that there are 2,000 in all; more of them where ranks do not wait for cores. */
static int pairs_of_this_run(void)
{
    static const int counts[] = {200, 500, 400, 400, 300, 300, 200, 200};
    return counts[test_size <= 8 ? test_size - 1 : 7];
}

static void values_arrive(void)
{
    try_pairs(arrives, pairs_of_this_run());
}

static void contributions_add_up(void)
{
    try_pairs_of(true, adds_up, pairs_of_this_run() / 2);
}

/* Some of the pairs again, by one way alone. */
static void try_by(const char *move)
{
    setenv("SPMD_MOVE", move, 1);
    try_pairs(arrives, pairs_of_this_run() / 4);
    unsetenv("SPMD_MOVE");
}

static void values_arrive_by_messages(void)
{
    by_messages = true;
    try_by("messages");
    by_messages = false;
}

static void values_arrive_from_private_memory(void)
{
    try_by("readv");
}

static void values_arrive_by_collectives(void)
{
    try_by("collective");
}

HARNESS_MAIN("reshard_pairs", CASE(values_arrive), CASE(values_arrive_by_messages),
             CASE(values_arrive_from_private_memory), CASE(values_arrive_by_collectives),
             CASE(contributions_add_up))
