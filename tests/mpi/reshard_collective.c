/* reshard_collective.c - reshards by collectives of MPI: which ones are, that they are exact, and
 * what is chosen by cost among ranks of several nodes.
 *
 * This test is linked with the library's layers, whose limit of an MPI call it can see. */
#include "caught.h"
#include "comms.h"
#include "meshes.h"
#include "planned.h"
#include "sight.h"

extern int64_t spmd__mpi_piece_bytes;

/* Calls of this rank: they come by here (PMPI). */
static int gathers, swaps;

int MPI_Allgather(const void *in, int nin, MPI_Datatype tin, void *out, int nout, MPI_Datatype tout,
                  MPI_Comm comm)
{
    gathers++;
    return PMPI_Allgather(in, nin, tin, out, nout, tout, comm);
}

int MPI_Allgatherv(const void *in, int nin, MPI_Datatype tin, void *out, const int nout[],
                   const int places[], MPI_Datatype tout, MPI_Comm comm)
{
    gathers++;
    return PMPI_Allgatherv(in, nin, tin, out, nout, places, tout, comm);
}

int MPI_Alltoall(const void *in, int nin, MPI_Datatype tin, void *out, int nout, MPI_Datatype tout,
                 MPI_Comm comm)
{
    swaps++;
    return PMPI_Alltoall(in, nin, tin, out, nout, tout, comm);
}

int MPI_Alltoallv(const void *in, const int nin[], const int from[], MPI_Datatype tin, void *out,
                  const int nout[], const int to[], MPI_Datatype tout, MPI_Comm comm)
{
    swaps++;
    return PMPI_Alltoallv(in, nin, from, tin, out, nout, to, tout, comm);
}

/* Calls that runs of a plan made. */
struct calls {
    int gathers, swaps;
};

enum { RUNS = 3 };

/* Runs a plan, checks what it gives, and tells how often each call was made in a run. */
static struct calls move(spmd_mesh *mesh, const char *from_text, const char *to_text,
                         spmd_dtype dtype, spmd_shape shape)
{
    struct planned planned = plan_between(mesh, from_text, to_text, dtype, shape);
    spmd_array *a = source_of(&planned), *b = NULL;
    gathers = swaps = 0;
    for (int run = 0; run < RUNS; run++)
        EXPECT_OK(spmd_reshard_run(planned.plan, 1, &a, &b));
    struct calls calls = {gathers / RUNS, swaps / RUNS};
    if (!EXPECT(is_moved(&planned, b)))
        fprintf(stderr, "# %s to %s\n", from_text, to_text);
    spmd_array_free(&a);
    spmd_array_free(&b);
    free_plan(&planned);
    return calls;
}

static void begin_forced(void)
{
    setenv("SPMD_MOVE", "collective", 1);
}

static void end_forced(void)
{
    unsetenv("SPMD_MOVE");
}

/* A number that all counts of ranks here divide, and one that most do not. */
enum { EVEN = 48, ODD = 13 };

static void gathers_and_swaps_are_collectives(void)
{
    static const struct {
        const char *from, *to;
        bool gathers, swaps;
    } cases[] = {
        {"P(x)", "P()", true, false},         {"P(-,x)", "P()", true, false},
        {"P(x,-)", "P(-,x)", false, true},    {"P(-,x)", "P(x)", false, true},
        {"P(-,-,x)", "P(-,x)", false, true},  {"P()", "P(x)", false, false},
        {"P(-,x,-)", "P(-,x)", false, false},
    };
    begin_forced();
    spmd_mesh *mesh = make_line();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int odd = 0; odd < 2; odd++) {
            int64_t n = odd ? ODD : EVEN;
            struct calls calls =
                move(mesh, cases[i].from, cases[i].to, SPMD_F64, SPMD_SHAPE(n, n + odd, n));
            EXPECT(calls.gathers == (cases[i].gathers && test_size > 1));
            EXPECT(calls.swaps == (cases[i].swaps && test_size > 1));
        }
    spmd_mesh_free(&mesh);
    end_forced();
}

/* All pairs of some specs on a mesh. */
static void move_all(spmd_mesh *mesh, int count, const char *const specs[], spmd_dtype dtype,
                     spmd_shape shape)
{
    for (int i = 0; i < count * count; i++)
        move(mesh, specs[i / count], specs[i % count], dtype, shape);
}

static const char *const on_two[] = {"P()",    "P(x)",       "P(-,y)",       "P((x,y))",
                                     "P(x,y)", "P(-,(y,x))", "P(y,x)",       "P(-,x)",
                                     "P(y)",   "P((y,x),-)", "P(-,-,(x,y))", "P(-,y,x)"};
static const char *const on_three[] = {"P()",        "P((x,y,z))", "P(x,y,z)", "P((x,z),-,y)",
                                       "P(-,(x,z))", "P(z,(x,y))", "P(-,-,z)", "P((x,y),z)"};
enum { ON_TWO = sizeof on_two / sizeof *on_two, ON_THREE = sizeof on_three / sizeof *on_three };

static const char *grid(void)
{
    return test_size % 2 == 0 ? "x=2,y=*" : "x=*,y=1";
}

static void all_pairs_are_exact(void)
{
    begin_forced();
    spmd_mesh *two = make_mesh(grid());
    spmd_mesh *three = make_mesh(test_size % 4 == 0 ? "x=2,y=2,z=*" : "x=1,y=*,z=1");
    spmd_mesh *reversed = make_reversed(grid());
    move_all(two, ON_TWO, on_two, SPMD_F64, SPMD_SHAPE(13, 7, 9));
    move_all(two, ON_TWO, on_two, SPMD_U8, SPMD_SHAPE(48, 16, 24));
    move_all(two, ON_TWO, on_two, SPMD_C128, SPMD_SHAPE(3, 2, 1)); /* empty blocks */
    move_all(two, ON_TWO, on_two, SPMD_F32, SPMD_SHAPE(5, 0, 3));
    move_all(three, ON_THREE, on_three, SPMD_I16, SPMD_SHAPE(11, 8, 5));
    move_all(three, ON_THREE, on_three, SPMD_F64, SPMD_SHAPE(16, 16, 16));
    move_all(reversed, ON_TWO, on_two, SPMD_F64, SPMD_SHAPE(13, 7, 9));
    spmd_mesh_free(&two);
    spmd_mesh_free(&three);
    spmd_mesh_free(&reversed);
    end_forced();
}

static void a_smaller_mesh_and_one_shots_are_exact(void)
{
    begin_forced();
    spmd_mesh *mesh = make_shorter_line();
    spmd_sharding *to = NULL;
    spmd_shape shape = SPMD_SHAPE(17, 5);
    EXPECT_OK(spmd_sharding_create(mesh, "P(-,x)", &to));
    spmd_array *a = pattern_array(mesh, "P(x)", SPMD_F32, shape), *b = NULL;
    EXPECT_OK(spmd_reshard(a, "P(-,x)", &b));
    EXPECT(pattern_is_on(b, shape, SPMD_F32, to));
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_sharding_free(&to);
    spmd_mesh_free(&mesh);
    end_forced();
}

/* What a move says on standard error. */
static void catch_note(const char *from, const char *to, spmd_mesh *mesh, char *text, size_t size)
{
    struct caught caught = catch_stderr();
    move(mesh, from, to, SPMD_F64, SPMD_SHAPE(EVEN, EVEN));
    release_stderr(&caught, text, size);
}

static void what_is_no_collective_is_noted_once(void)
{
    char text[500];
    if (test_size % 2 != 0 || test_size == 2)
        return;
    begin_forced();
    spmd_mesh *mesh = make_mesh("x=2,y=*");
    catch_note("P()", "P(x)", mesh, text, sizeof text); /* nothing moves */
    EXPECT(strcmp(text, "") == 0);
    catch_note("P(x)", "P(y)", mesh, text, sizeof text);
    EXPECT(strcmp(text, test_rank > 0 ? ""
                                      : "spmd: note: SPMD_MOVE=collective: P(x) to P(y) is neither "
                                        "an all-gather nor an all-to-all; it goes the usual "
                                        "way\n") == 0);
    catch_note("P(-,x)", "P(-,y)", mesh, text, sizeof text);
    EXPECT(strcmp(text, "") == 0);
    spmd_mesh_free(&mesh);
    end_forced();
}

/* Rows are packed for each column's rank, but come where they stay. */
static void plans_tell_of_it(void)
{
    begin_forced();
    spmd_mesh *mesh = make_line();
    spmd_reshard_bytes bytes;
    const int64_t block = (int64_t)EVEN * EVEN * 8 / test_size;
    struct planned planned = plan_between(mesh, "P(x)", "P(-,x)", SPMD_F64, SPMD_SHAPE(EVEN, EVEN));
    spmd_array *a = source_of(&planned), *b = NULL;
    EXPECT_OK(spmd_reshard_count(planned.plan, SPMD_SELF, &bytes));
    EXPECT(bytes.received == block - block / test_size);
    EXPECT(test_size == 1 || bytes.peak == 3 * block);
    EXPECT_OK(spmd_reshard_run(planned.plan, 1, &a, &b));
    EXPECT(plan_tells(planned.plan, "by a collective") == (test_size > 1));
    spmd_array_free(&a);
    spmd_array_free(&b);
    free_plan(&planned);
    spmd_mesh_free(&mesh);
    end_forced();
}

/* Beyond what MPI counts, parts go one by one. */
static void large_moves_go_by_messages(void)
{
    int64_t usual = spmd__mpi_piece_bytes;
    begin_forced();
    spmd_mesh *mesh = make_line();
    spmd__mpi_piece_bytes = 13 * 12 * 8 - 8;
    struct calls calls = move(mesh, "P(x)", "P()", SPMD_F64, SPMD_SHAPE(13, 12));
    EXPECT(calls.gathers == 0);
    spmd__mpi_piece_bytes = usual;
    spmd_mesh_free(&mesh);
    end_forced();
}

/* Nodes that there are not. */
static int node_each(int rank)
{
    return rank;
}

static int node_of_two(int rank)
{
    return rank / 2;
}

static char path[] = "/tmp/spmd-costs.XXXXXX";

static void set_costs(const char *text)
{
    int file = test_rank == 0 ? mkstemp(path) : -1;
    if (test_rank > 0)
        return;
    if (EXPECT(file >= 0)) {
        EXPECT(write(file, text, strlen(text)) == (ssize_t)strlen(text));
        close(file);
    }
    setenv("SPMD_COSTS", path, 1);
}

static void unset_costs(void)
{
    if (test_rank == 0)
        unlink(path);
    strcpy(path + strlen(path) - 6, "XXXXXX");
    unsetenv("SPMD_COSTS");
}

/* Whether an all-gather along x, and one along y, is a collective under these costs. */
struct choice {
    bool along_x, along_y;
};

static struct choice choose(const char *costs, int (*node)(int rank))
{
    set_costs(costs);
    comms_node = node;
    spmd_mesh *mesh = make_mesh(test_size % 2 == 0 ? "x=*,y=2" : "x=*,y=1");
    struct choice choice = {move(mesh, "P(x)", "P()", SPMD_F64, SPMD_SHAPE(50000)).gathers > 0,
                            move(mesh, "P(-,y)", "P()", SPMD_F64, SPMD_SHAPE(2, 50000)).gathers >
                                0};
    spmd_mesh_free(&mesh);
    comms_node = NULL;
    unset_costs();
    return choice;
}

static const char slow_messages[] = "message_latency = 1\ncollective_latency = 0\n";
static const char slow_collectives[] = "collective_latency = 1\n";

static void the_cheaper_way_is_chosen_between_nodes(void)
{
    bool x = test_size > 2 || test_size % 2 == 1, y = test_size % 2 == 0;
    x = x && test_size > 1;
    struct choice dear = choose(slow_messages, node_each);
    EXPECT(dear.along_x == x && dear.along_y == y);
    dear = choose(slow_collectives, node_each);
    EXPECT(!dear.along_x && !dear.along_y);
}

/* Groups along y are on one node each, those along x are not. */
static void who_is_near_reads(void)
{
    if (!ranks_see_each_other())
        return;
    struct choice choice = choose(slow_messages, NULL);
    EXPECT(!choice.along_x && !choice.along_y);
    if (test_size % 2 != 0)
        return;
    choice = choose(slow_messages, node_of_two);
    EXPECT(choice.along_x == (test_size > 2) && !choice.along_y);
}

HARNESS_MAIN("reshard_collective", CASE(gathers_and_swaps_are_collectives),
             CASE(what_is_no_collective_is_noted_once), CASE(all_pairs_are_exact),
             CASE(a_smaller_mesh_and_one_shots_are_exact), CASE(plans_tell_of_it),
             CASE(large_moves_go_by_messages), CASE(the_cheaper_way_is_chosen_between_nodes),
             CASE(who_is_near_reads))
