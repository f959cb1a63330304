/* bench.c - the command `spmd bench`: how fast data moves here, by each way; and the table of costs
 * by which the library chooses among them. */
#include <stdio.h>

#include <spmd.h>
#include "args.h"
#include "calibrate.h"
#include "cmd.h"
#include "measure.h"

enum { OPTION_CALIBRATE, OPTION_QUICK };

static const struct args_option options[] = {
    [OPTION_CALIBRATE] = {"calibrate", "FILE",
                          "measure what moving data costs, and write it to FILE,\n"
                          "which SPMD_COSTS=FILE makes the library use"},
    [OPTION_QUICK] = {"quick", NULL, "fewer repetitions, and smaller arrays"},
};

static const struct args_usage usage = {
    .synopsis = "spmd bench [OPTION...]",
    .about = "Measures on all ranks, 2 or more, how long data takes: messages and sums beside\n"
             "MPI's own, and rows that become columns beside a memcpy of as much, by each way\n"
             "of moving them. Prints lines of comma-separated values: what, ranks, bytes,\n"
             "seconds of ours, the rival and its seconds, and their ratio, which is above 1\n"
             "where ours is faster.",
    .noptions = sizeof options / sizeof options[0],
    .options = options,
    .examples = "mpirun -n 4 spmd bench\n"
                "mpirun -n 4 spmd bench --calibrate costs.txt",
};

/* What the command line asks for. */
struct request {
    const char *calibrate; /* a file; NULL: not asked for */
    bool quick;
};

static struct contest_effort effort_of(const struct request *request)
{
    return request->quick ? (struct contest_effort){3, 1e-3} : (struct contest_effort){7, 3e-3};
}

/* The line of a measure that began with this status; ends it, and its mesh. */
static spmd_status finish(const struct request *request, const char *what, spmd_status status,
                          struct measure *measure, spmd_mesh *mesh)
{
    if (status == SPMD_OK)
        contest_print(what, measure->bytes, measure->rival.name,
                      contest_time(effort_of(request), measure->ours, measure->rival));
    measure_end(measure);
    spmd_mesh_free(&mesh);
    return status;
}

/* A square that is turned from rows to columns in one way. */
static spmd_status run_reshard(const struct request *request, const char *way, int64_t side)
{
    char what[64];
    spmd_mesh *mesh = NULL;
    struct measure measure = {.bytes = 0};
    snprintf(what, sizeof what, "rows to columns by %s", way);
    spmd_status status = measure_mesh(way, NULL, &mesh);
    if (status == SPMD_OK)
        status = measure_reshard(mesh, "P(x,-)", "P(-,x)", SPMD_SHAPE(side, side), &measure);
    return finish(request, what, status, &measure, mesh);
}

enum { SIZES = 3 }; /* of each measure */

static spmd_status run_reshards(const struct request *request)
{
    static const char *const ways[] = {"pool", "readv", "messages", "collective"};
    enum { WAYS = sizeof ways / sizeof *ways };
    const int64_t sides[SIZES] = {64, 512, request->quick ? 1024 : 4096};
    for (int i = 0; i < SIZES; i++)
        for (int way = 0; way < WAYS; way++)
            SPMD_TRY(run_reshard(request, ways[way], sides[i]));
    return SPMD_OK;
}

typedef spmd_status begin_measure(spmd_mesh *mesh, int64_t bytes, struct measure *measure);

/* A collective of a body, for a few sizes of its block. */
static spmd_status run_bodies(const struct request *request, const char *what, begin_measure *begin)
{
    const int64_t sizes[SIZES] = {8, 1 << 16, request->quick ? 1 << 20 : 1 << 23};
    for (int i = 0; i < SIZES; i++) {
        spmd_mesh *mesh = NULL;
        struct measure measure = {.bytes = 0};
        spmd_status status = measure_mesh(NULL, NULL, &mesh);
        if (status == SPMD_OK)
            status = begin(mesh, sizes[i], &measure);
        SPMD_TRY(finish(request, what, status, &measure, mesh));
    }
    return SPMD_OK;
}

static spmd_status run(const struct request *request)
{
    if (request->calibrate) {
        SPMD_TRY(calibrate(effort_of(request), request->calibrate));
        cmd_note("%s has what moving data costs here: SPMD_COSTS=%s makes the library use it",
                 request->calibrate, request->calibrate);
        return SPMD_OK;
    }
    contest_print_header();
    SPMD_TRY(run_bodies(request, "message to the next rank", measure_message));
    SPMD_TRY(run_bodies(request, "sum over all ranks", measure_sum));
    return run_reshards(request);
}

static int run_on_ranks(const struct request *request)
{
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2)
        return cmd_misuse(
            "bench", "bench needs 2 ranks or more, this job has %d: mpirun -n 2 spmd bench", ranks);
    if (run(request) == SPMD_OK)
        return CMD_DONE;
    cmd_error("%s", spmd_error_message());
    return CMD_FAILED;
}

int cmd_bench(int argc, char **argv)
{
    struct request request = {NULL, false};
    struct args args = args_begin(argc, argv, &usage);
    for (int option; (option = args_next(&args)) != ARGS_END;) {
        if (option == ARGS_STOP)
            return args.code;
        if (option == ARGS_OPERAND)
            return cmd_misuse("bench", "bench takes no argument %s", args.value);
        if (option == OPTION_CALIBRATE)
            request.calibrate = args.value;
        request.quick = request.quick || option == OPTION_QUICK;
    }
    MPI_Init(NULL, NULL);
    int code = run_on_ranks(&request);
    MPI_Finalize();
    return code;
}
