/* reshard_big.c - more than 2^31 elements and bytes: in an array, a block, what one rank gets from
 * another, and in front of an element. Rank 0 has it all, then rank 1, then each of them a half:
 *
 *                   0        split       columns
 *                   +----------+----------+
 *                   |  rank 1  |  rank 0  |   two rows of more than 2^30 bytes; those that rank 0
 *                   |          |          |   gets back lie up to the last one
 *                   +----------+----------+
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define COLUMNS (((int64_t)1 << 30) + (1 << 20) + 3)
#define SPLIT   ((COLUMNS + 1) / 2)
#define SHAPE   SPMD_SHAPE(1, 2, COLUMNS)

/* Twice the array, half of it once more, and room for others. */
#define BYTES_NEEDED ((int64_t)8 << 30)

/* Elements are looked at where one of their numbers is near to a multiple of STEP. */
enum { STEP = 1 << 17, NEAR = 8 };

/* How far it is to the next number that is near to a multiple of STEP; 0: this one is. */
static int64_t way_to_sample(int64_t number)
{
    int64_t rest = ((number + NEAR) % STEP + STEP) % STEP;
    return rest < 2 * NEAR ? 0 : STEP - rest;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* From a column to the next one whose element is looked at: by its number in the array, or in the
 * half that it belongs to, and at the ends of rows and halves. */
static int64_t columns_to_sample(int64_t row, int64_t column)
{
    int64_t in_half =
        column < SPLIT ? row * SPLIT + column : row * (COLUMNS - SPLIT) + column - SPLIT;
    int64_t way = least(way_to_sample(row * COLUMNS + column), way_to_sample(in_half));
    way = least(way, least(way_to_sample(column), way_to_sample(column - SPLIT)));
    return least(way, way_to_sample(column - COLUMNS));
}

static unsigned char element(int64_t row, int64_t column, int way)
{
    uint64_t number = (uint64_t)(row * COLUMNS + column);
    return (unsigned char)((number * 0x9e3779b97f4a7c15u >> 56) + (unsigned)way);
}

/* Writes the samples of a box, or counts those that are wrong. */
static int64_t visit_samples(const spmd_box *box, unsigned char *data, int way, bool write)
{
    int64_t wrong = 0, width = box->hi[2] - box->lo[2];
    for (int64_t row = box->lo[1]; row < box->hi[1]; row++) {
        unsigned char *line = data + (row - box->lo[1]) * width - box->lo[2];
        for (int64_t column = box->lo[2], step; column < box->hi[2]; column += step) {
            step = columns_to_sample(row, column);
            if (step > 0)
                continue;
            step = 1;
            if (write)
                line[column] = element(row, column, way);
            else
                wrong += line[column] != element(row, column, way);
        }
    }
    return wrong;
}

/* What is no sample stays as it is: most pages of the memory are touched by the move alone. */
static spmd_status fill_samples(const spmd_box *box, void *data, void *user)
{
    visit_samples(box, data, *(const int *)user, true);
    return SPMD_OK;
}

static void expect_samples(const spmd_array *array, int way)
{
    const spmd_block *block = array ? spmd_array_block(array) : NULL;
    spmd_box box;
    if (!block)
        return;
    int64_t position = spmd_mesh_position(spmd_sharding_mesh(spmd_array_sharding(array)));
    EXPECT_OK(spmd_sharding_box(spmd_array_sharding(array), SHAPE, position, &box));
    if (!EXPECT(spmd_block_size(block) == spmd_box_size(&box)) || spmd_box_size(&box) == 0)
        return;
    int64_t wrong = visit_samples(&box, block->data, way, false);
    if (!EXPECT(wrong == 0))
        fprintf(stderr, "# %" PRId64 " samples are wrong\n", wrong);
}

/* The number that a file gives behind `name`; -1 if it does not. */
static int64_t read_number(const char *path, const char *name)
{
    char line[128];
    int64_t number = -1;
    FILE *file = fopen(path, "r");
    while (file && number < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            sscanf(line + strlen(name), "%" SCNd64, &number);
    if (file)
        fclose(file);
    return number;
}

/* What the system has, and what it leaves to a container, in either version of its groups. */
static int64_t free_memory(void)
{
    static const char *const groups[][2] = {
        {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
         "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
    int64_t bytes = read_number("/proc/meminfo", "MemAvailable:") * 1024;
    for (int i = 0; i < 2; i++) {
        int64_t most = read_number(groups[i][0], "");
        if (most >= 0)
            bytes = least(bytes, most - read_number(groups[i][1], ""));
    }
    return bytes;
}

static const char *reason_to_skip(void)
{
    static char reason[100];
    int64_t bytes = free_memory();
    MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (test_size != 2)
        return "made for 2 ranks";
#ifdef __SANITIZE_ADDRESS__
    return "under a sanitizer";
#endif
    if (getenv("CHECK_WITH"))
        return "under valgrind";
    if (bytes >= BYTES_NEEDED)
        return NULL;
    snprintf(reason, sizeof reason, "needs %" PRId64 " GiB of memory, and %" PRId64 " are free",
             BYTES_NEEDED >> 30, bytes >> 30);
    return reason;
}

/* The next place of an array, which replaces it. */
static void follow(spmd_array **array, spmd_mesh *mesh, const char *spec, int way)
{
    spmd_sharding *to = NULL;
    spmd_array *next = NULL;
    EXPECT_OK(spmd_sharding_create(mesh, spec, &to));
    EXPECT_OK(spmd_reshard_to(*array, to, &next));
    expect_samples(next, way);
    spmd_sharding_free(&to);
    spmd_array_free(array);
    *array = next;
}

/* The one index of the first dimension is position 0's. */
static void go(const char *move, int way)
{
    spmd_mesh *mesh = NULL, *other_order = NULL;
    spmd_array *array = NULL;
    const char *reason = reason_to_skip();
    if (reason) {
        harness_skip(reason);
        return;
    }
    setenv("SPMD_MOVE", move, 1);
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=2", &mesh));
    EXPECT_OK(spmd_mesh_create_ranks(MPI_COMM_WORLD, "x=2", (int[]){1, 0}, &other_order));
    EXPECT_OK(spmd_array_from_callback(mesh, "P(x)", SPMD_U8, SHAPE, fill_samples, &way, &array));
    follow(&array, other_order, "P(x)", way);
    follow(&array, other_order, "P(-,-,x)", way);
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
    spmd_mesh_free(&other_order);
    unsetenv("SPMD_MOVE");
}

static void read_where_it_lies(void)
{
    go("pool", 1);
}

static void by_messages(void)
{
    go("messages", 2);
}

/* The system reads a little less than 2^31 bytes in one call. */
static void read_from_private_memory(void)
{
    go("readv", 3);
}

HARNESS_MAIN("reshard_big", CASE(read_where_it_lies), CASE(by_messages),
             CASE(read_from_private_memory))
