/* calibrate.c - the costs of moving data on this machine, measured.
 *
 * The same reshard, or sum, is timed in two manners side by side. Two of its sizes give latency and
 * rate; several give the size from which one manner is faster than the other one. */
#include "calibrate.h"

#include <math.h>
#include <stdio.h>

#include "file.h"
#include "measure.h"

/* What is found; its names are those that the library knows. */
struct table {
    double message_latency, message_rate;
    double collective_latency, collective_rate;
    double pool_from, readv_from, readv_run, stream_from, stream_all_from;
};

struct calibration {
    struct contest_effort effort;
    int ranks, near; /* all of them, and those on this node */
    struct table table;
};

/* How it is done: SPMD_MOVE, and a table of costs. */
struct manner {
    const char *way, *costs;
};

static const struct manner by_messages = {"messages", NULL};

/* What is done: a reshard of doubles; or, from NULL, a sum of so many. */
struct task {
    const char *from, *to;
    spmd_shape shape;
};

static spmd_status begin(const struct task *task, struct manner manner, spmd_mesh **mesh,
                         struct measure *measure)
{
    SPMD_TRY(measure_mesh(manner.way, manner.costs, mesh));
    if (task->from)
        return measure_reshard(*mesh, task->from, task->to, task->shape, measure);
    return measure_sum(*mesh, spmd_shape_size(task->shape) * (int64_t)sizeof(double), measure);
}

/* Seconds of a task in two manners. */
static spmd_status compare(const struct calibration *calibration, struct task task,
                           struct manner ours, struct manner rival, struct contest_times *times)
{
    spmd_mesh *meshes[2] = {NULL};
    struct measure measures[2] = {{.bytes = 0}};
    spmd_status status = begin(&task, ours, &meshes[0], &measures[0]);
    if (status == SPMD_OK)
        status = begin(&task, rival, &meshes[1], &measures[1]);
    if (status == SPMD_OK)
        *times = contest_time(calibration->effort, measures[0].ours, measures[1].ours);
    for (int i = 0; i < 2; i++) {
        measure_end(&measures[i]);
        spmd_mesh_free(&meshes[i]);
    }
    return status;
}

/* Bytes per second beyond what has taken `latency`. */
static double rate(double bytes, double seconds, double latency)
{
    return bytes / (seconds > 2 * latency ? seconds - latency : seconds);
}

/* Messages and collectives: a gather of one element from each rank, and a square that is turned. */
static spmd_status measure_messages(struct calibration *calibration)
{
    enum { SIDE = 1024 };
    const struct manner by_collective = {"collective", NULL};
    const struct task gather = {"P(x)", "P()", SPMD_SHAPE(calibration->ranks)};
    const struct task turn = {"P(x,-)", "P(-,x)", SPMD_SHAPE(SIDE, SIDE)};
    struct table *table = &calibration->table;
    struct contest_times small, large;
    double ranks = calibration->ranks, peers = ranks - 1;
    double bytes = SIDE * SIDE * sizeof(double) * peers / (ranks * ranks);
    SPMD_TRY(compare(calibration, gather, by_messages, by_collective, &small));
    SPMD_TRY(compare(calibration, turn, by_messages, by_collective, &large));
    table->message_latency = small.ours / peers;
    table->collective_latency = small.rival / ceil(log2(ranks));
    table->message_rate = rate(bytes, large.ours, small.ours);
    table->collective_rate = rate(bytes, large.rival, table->collective_latency * peers);
    return SPMD_OK;
}

/* A row of tasks, each twice as large as the one before. */
enum { SIZES = 7 };
struct sizes {
    double size[SIZES];
    struct contest_times times[SIZES];
};

/* The size from which `ours` is to be taken, and below the rival, so that the product of all times
 * is least: no size counts more than another one. Where ours is never to be taken, it is the first
 * size that was not looked at. */
static double threshold(const struct sizes *sizes)
{
    double best = INFINITY, from = 2 * sizes->size[SIZES - 1];
    for (int cut = SIZES; cut >= 0; cut--) {
        double sum = 0;
        for (int i = 0; i < SIZES; i++)
            sum += log(i < cut ? sizes->times[i].rival : sizes->times[i].ours);
        if (sum >= best)
            continue;
        best = sum;
        from = cut < SIZES ? sizes->size[cut] : from;
    }
    return from;
}

/* A task, and its size in what the table counts. */
struct sample {
    double size;
    struct task task;
};

/* Sample number `index` of a row, from 0. */
typedef struct sample take_sample(const struct calibration *calibration, int index);

static spmd_status find_threshold(const struct calibration *calibration, take_sample *take,
                                  struct manner ours, struct manner rival, double *from)
{
    struct sizes sizes;
    for (int i = 0; i < SIZES; i++) {
        struct sample sample = take(calibration, i);
        sizes.size[i] = sample.size;
        SPMD_TRY(compare(calibration, sample.task, ours, rival, &sizes.times[i]));
    }
    *from = threshold(&sizes);
    return SPMD_OK;
}

/* A sum over all ranks, of 32 KiB and more. */
static struct sample take_sum(const struct calibration *calibration, int index)
{
    int64_t bytes = (int64_t)1 << (15 + index);
    (void)calibration;
    return (struct sample){(double)bytes, {NULL, NULL, SPMD_SHAPE(bytes / 8)}};
}

/* Blocks of 8 KiB and more that are gathered, one run each. */
static struct sample take_gather(const struct calibration *calibration, int index)
{
    int64_t bytes = (int64_t)1 << (13 + index);
    return (struct sample){(double)bytes,
                           {"P(x)", "P()", SPMD_SHAPE(bytes / 8 * calibration->ranks)}};
}

/* Rows that become columns, as many runs as rows: runs of 256 bytes and more. */
static struct sample take_runs(const struct calibration *calibration, int index)
{
    enum { BYTES = 1 << 19 }; /* from each to each */
    int64_t run = (int64_t)1 << (8 + index), ranks = calibration->ranks;
    spmd_shape shape = SPMD_SHAPE(BYTES / run * ranks, run / 8 * ranks);
    return (struct sample){(double)run, {"P(x,-)", "P(-,x)", shape}};
}

/* The same of 1 MiB and more, by what the ranks of a node write. */
static struct sample take_turn(const struct calibration *calibration, int index)
{
    int64_t rows = (int64_t)1 << (7 + index), columns = 1024, bytes = rows * columns * 8;
    return (struct sample){(double)(bytes * calibration->near / calibration->ranks),
                           {"P(x,-)", "P(-,x)", SPMD_SHAPE(rows, columns)}};
}

/* Whether so many ranks of a node already use the memory's bandwidth up. Of more or fewer than
 * there are nothing is known. */
static spmd_status measure_stores(struct calibration *calibration)
{
    const struct manner all = {"auto", "stream_from = 0\nstream_all_from = 0\n"};
    const struct manner half = {"auto", "stream_from = 0\nstream_all_from = inf\n"};
    struct contest_times times;
    SPMD_TRY(compare(calibration, take_turn(calibration, SIZES - 1).task, all, half, &times));
    calibration->table.stream_all_from = calibration->near + (times.rival < times.ours);
    return SPMD_OK;
}

static spmd_status find_thresholds(struct calibration *calibration)
{
    const struct manner pool = {"auto", "pool_from = 0\n"}, no_pool = {"auto", "pool_from = inf\n"};
    const struct manner readv = {"readv", "readv_from = 0\nreadv_run = 0\n"};
    const struct manner past_cache = {"auto", "stream_from = 0\n"};
    const struct manner through_cache = {"auto", "stream_from = inf\n"};
    struct table *table = &calibration->table;
    SPMD_TRY(find_threshold(calibration, take_sum, pool, no_pool, &table->pool_from));
    SPMD_TRY(find_threshold(calibration, take_gather, readv, by_messages, &table->readv_from));
    SPMD_TRY(find_threshold(calibration, take_runs, readv, by_messages, &table->readv_run));
    return find_threshold(calibration, take_turn, past_cache, through_cache, &table->stream_from);
}

static void write_table(FILE *stream, const void *user)
{
    const struct calibration *calibration = user;
    const struct table *table = &calibration->table;
    fprintf(stream,
            "# What moving data costs, by spmd bench --calibrate on %d ranks: see spmd(7).\n",
            calibration->ranks);
    fprintf(stream, "message_latency = %.4g\nmessage_rate = %.4g\n", table->message_latency,
            table->message_rate);
    fprintf(stream, "collective_latency = %.4g\ncollective_rate = %.4g\n",
            table->collective_latency, table->collective_rate);
    fprintf(stream, "pool_from = %.0f\nreadv_from = %.0f\nreadv_run = %.0f\n", table->pool_from,
            table->readv_from, table->readv_run);
    fprintf(stream, "stream_from = %.0f\nstream_all_from = %.0f\n", table->stream_from,
            table->stream_all_from);
}

static int count_near(void)
{
    MPI_Comm node;
    int near;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &near);
    MPI_Comm_free(&node);
    return near;
}

spmd_status calibrate(struct contest_effort effort, const char *path)
{
    struct calibration calibration = {.effort = effort, .near = count_near()};
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &calibration.ranks);
    SPMD_TRY(measure_messages(&calibration));
    SPMD_TRY(find_thresholds(&calibration));
    SPMD_TRY(measure_stores(&calibration));
    if (rank == 0 && !file_replace(path, write_table, &calibration))
        return file_fail("write", path);
    return SPMD_OK;
}
