/* io_direct.c - elements that go past HDF5, by pread and pwrite: the same as by HDF5, and HDF5's
 * own where they cannot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

#include "meshes.h"
#include "scratch.h"

/* Collective. Rank 0 removes a file. */
static void drop(const char *path)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        EXPECT(unlink(path) == 0);
}

/* Collective; the value of SPMD_IO in what follows. */
static void choose(const char *way)
{
    MPI_Barrier(MPI_COMM_WORLD);
    setenv("SPMD_IO", way, 1);
}

static void write_arange(spmd_mesh *mesh, const char *path, const char *spec, spmd_dtype dtype,
                         spmd_shape shape)
{
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_arange(mesh, spec, dtype, shape, &array));
    EXPECT_OK(spmd_write(array, path, "v"));
    spmd_array_free(&array);
}

static void expect_arange(spmd_mesh *mesh, const char *path, const char *name, const char *spec,
                          spmd_dtype dtype, spmd_shape shape)
{
    spmd_array *read = NULL, *wanted = NULL;
    EXPECT_OK(spmd_array_arange(mesh, spec, dtype, shape, &wanted));
    if (EXPECT_OK(spmd_read(mesh, path, name, spec, dtype, &read)) &&
        EXPECT(spmd_shape_equal(spmd_array_shape(read), shape))) {
        const spmd_block *p = spmd_array_block(read), *q = spmd_array_block(wanted);
        size_t bytes = (size_t)spmd_block_size(q) * spmd_dtype_size(dtype);
        EXPECT(spmd_block_size(p) == spmd_block_size(q));
        EXPECT(memcmp(p->data, q->data, bytes) == 0);
    }
    spmd_array_free(&read);
    spmd_array_free(&wanted);
}

/* Short and long runs, parts torn and whole, empty and replicated blocks, odd extents. */
static const spmd_shape shapes[] = {{0, {0}},        {1, {7}},         {2, {0, 5}},   {2, {61, 67}},
                                    {2, {300, 700}}, {3, {5, 3, 401}}, {2, {2, 9001}}};
static const char *const specs[] = {"P()", "P(x)", "P(-,x)", "P(y,x)", "P((y,x),-)", "P(-,(x,y))"};
enum { SHAPES = sizeof shapes / sizeof *shapes, SPECS = sizeof specs / sizeof *specs };

static bool fits(spmd_mesh *mesh, const char *spec, spmd_shape shape)
{
    spmd_sharding *sharding = NULL;
    EXPECT_OK(spmd_sharding_create(mesh, spec, &sharding));
    bool does = spmd_sharding_check(sharding, shape) == SPMD_OK;
    spmd_sharding_free(&sharding);
    return does;
}

/* Each way reads what each way has written. */
static void round_trip(spmd_mesh *mesh, const char *spec, spmd_dtype dtype, spmd_shape shape)
{
    static const char *const ways[] = {"direct", "hdf5", "auto"};
    const char *path = scratch("trip.h5");
    for (int w = 0; w < 3; w++) {
        choose(ways[w]);
        write_arange(mesh, path, spec, dtype, shape);
        for (int r = 0; r < 3; r++) {
            choose(ways[r]);
            expect_arange(mesh, path, "v", spec, dtype, shape);
        }
    }
    choose("auto");
    drop(path);
}

static void every_way_writes_and_reads_the_same(void)
{
    spmd_mesh *mesh = make_mesh(test_size % 2 == 0 ? "x=*,y=2" : "x=*,y=1");
    for (int s = 0; s < SHAPES; s++)
        for (int p = 0; p < SPECS; p++)
            if (fits(mesh, specs[p], shapes[s]))
                round_trip(mesh, specs[p], (s + p) % 3 ? SPMD_F64 : SPMD_BOOL, shapes[s]);
    spmd_mesh_free(&mesh);
}

/* Whether all ranks are on one node. */
static bool share_a_node(void)
{
    MPI_Comm node;
    int size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    MPI_Comm_free(&node);
    return size == test_size;
}

/* Bytes that this process has read from files, and from sockets, so far; -1 where the system does
 * not tell. */
static int64_t bytes_read(void)
{
    long long bytes = -1;
    FILE *file = fopen("/proc/self/io", "r");
    if (!file || fscanf(file, "rchar: %lld", &bytes) != 1)
        bytes = -1;
    if (file)
        fclose(file);
    return bytes;
}

/* Collective. Bytes that all ranks read for an array. */
static int64_t bytes_for(spmd_mesh *mesh, const char *path, const char *spec)
{
    spmd_array *array = NULL;
    int64_t bytes = -bytes_read();
    EXPECT_OK(spmd_read(mesh, path, "v", spec, SPMD_F64, &array));
    bytes += bytes_read();
    spmd_array_free(&array);
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return bytes;
}

/* In their places, and moved by whatever way; the first dimensions are of one index. */
static void equal_blocks_are_read_once(void)
{
    static const char *const ways[] = {"auto", "messages", "collective", "readv"};
    const spmd_shape shape = SPMD_SHAPE(1, 203, 211, 5);
    const int64_t bytes = 203 * 211 * 5 * 8;
    const char *path = scratch("once.h5");
    bool counts = bytes_read() >= 0 && share_a_node();
    for (int w = 0; w < 4; w++) {
        setenv("SPMD_MOVE", ways[w], 1);
        spmd_mesh *mesh = make_mesh(test_size % 2 == 0 ? "x=*,y=2" : "x=1,y=*");
        write_arange(mesh, path, "P()", SPMD_F64, shape);
        expect_arange(mesh, path, "v", "P()", SPMD_F64, shape);
        expect_arange(mesh, path, "v", "P(-,x)", SPMD_F64, shape);
        expect_arange(mesh, path, "v", "P(-,-,x)", SPMD_F64, shape);
        expect_arange(mesh, path, "v", "P(-,-,-,y)", SPMD_F64, shape);
        if (counts) {
            int64_t more = 200000 * test_size; /* what each rank reads of the file's metadata */
            EXPECT(bytes_for(mesh, path, "P()") < bytes + more);
            EXPECT(bytes_for(mesh, path, "P(-,x)") < bytes + more);
        }
        spmd_mesh_free(&mesh);
    }
    setenv("SPMD_MOVE", "", 1);
    drop(path);
}

static void another_value_is_refused(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    spmd_array *array = NULL;
    const char *path = scratch("value.h5");
    write_arange(mesh, path, "P(x)", SPMD_F64, SPMD_SHAPE(9));
    choose("quick");
    EXPECT_FAILS(spmd_read(mesh, path, "v", "P()", SPMD_F64, &array), SPMD_ERR_ARGUMENT,
                 "SPMD_IO=quick in the environment: it is auto, direct or hdf5");
    EXPECT(array == NULL);
    choose("");
    expect_arange(mesh, path, "v", "P()", SPMD_F64, SPMD_SHAPE(9));
    drop(path);
    spmd_mesh_free(&mesh);
}

static void add_dataset(hid_t file, const char *name, hid_t type, hid_t creation,
                        const int32_t values[])
{
    hid_t space = H5Screate_simple(2, (hsize_t[]){40, 50}, NULL);
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (values)
        EXPECT(H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
}

/* As other programs make them: behind a block that is the user's own. */
static void make_foreign(const char *path, const char *raw)
{
    int32_t values[40 * 50];
    for (int i = 0; i < 40 * 50; i++)
        values[i] = i;
    hid_t start = H5Pcreate(H5P_FILE_CREATE), plain = H5P_DEFAULT;
    H5Pset_userblock(start, 512);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, start, H5P_DEFAULT);
    hid_t chunked = H5Pcreate(H5P_DATASET_CREATE), compact = H5Pcreate(H5P_DATASET_CREATE),
          external = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(chunked, 2, (hsize_t[]){7, 50});
    H5Pset_layout(compact, H5D_COMPACT);
    H5Pset_external(external, raw, 0, H5F_UNLIMITED);
    add_dataset(file, "plain", H5T_NATIVE_INT32, plain, values);
    add_dataset(file, "chunked", H5T_NATIVE_INT32, chunked, values);
    add_dataset(file, "compact", H5T_NATIVE_INT32, compact, values);
    add_dataset(file, "external", H5T_NATIVE_INT32, external, values);
    add_dataset(file, "big", H5T_STD_I32BE, plain, values);
    add_dataset(file, "wide", H5T_NATIVE_INT64, plain, values);
    add_dataset(file, "unwritten", H5T_NATIVE_INT32, plain, NULL);
    H5Pclose(external);
    H5Pclose(compact);
    H5Pclose(chunked);
    H5Fclose(file);
    H5Pclose(start);
}

/* A file that leads to another one, in which the dataset lies elsewhere. */
static void make_leading(const char *path, const char *to)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    EXPECT(H5Lcreate_external(to, "plain", file, "led", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(file);
}

static void what_does_not_lie_in_one_piece_goes_by_hdf5(void)
{
    static const char *const others[] = {"chunked", "compact", "external", "big", "wide"};
    spmd_mesh *mesh = make_mesh("x=*");
    spmd_array *array = NULL;
    const char *path = scratch("foreign.h5"), *raw = scratch("raw"), *leading = scratch("lead.h5");
    if (test_rank == 0) {
        make_foreign(path, raw);
        make_leading(leading, path);
    }
    choose("auto");
    for (int i = 0; i < 5; i++)
        expect_arange(mesh, path, others[i], "P(-,x)", SPMD_I32, SPMD_SHAPE(40, 50));
    choose("direct");
    for (int i = 0; i < 5; i++)
        EXPECT_FAILS(spmd_read(mesh, path, others[i], "P(x)", SPMD_I32, &array), SPMD_ERR_FILE,
                     "does not lie in one piece");
    EXPECT_FAILS(spmd_read(mesh, path, "plain", "P(x)", SPMD_F32, &array), SPMD_ERR_FILE,
                 "SPMD_IO=direct cannot move it");
    expect_arange(mesh, path, "plain", "P(-,x)", SPMD_I32, SPMD_SHAPE(40, 50));
    expect_arange(mesh, leading, "led", "P(x)", SPMD_I32, SPMD_SHAPE(40, 50));
    choose("auto");
    if (EXPECT_OK(spmd_read(mesh, path, "unwritten", "P()", SPMD_I32, &array)))
        EXPECT(((const int32_t *)spmd_array_block(array)->data)[1999] == 0);
    spmd_array_free(&array);
    drop(raw);
    drop(leading);
    drop(path);
    spmd_mesh_free(&mesh);
}

/* Chunks that divide nothing, and one of which the file knows only the fill value. */
static const struct {
    const char *name;
    spmd_shape shape;
    hsize_t chunk[3];
} chunked[] = {{"line", {1, {700}}, {64}},
               {"torn", {2, {61, 67}}, {7, 50}},
               {"tiles", {2, {300, 700}}, {64, 128}},
               {"solid", {3, {5, 3, 401}}, {2, 2, 100}}};
enum { CHUNKED = sizeof chunked / sizeof *chunked, HALF_ROWS = 64, HALF_COLUMNS = 200 };

static hid_t make_chunked(hid_t file, const char *name, spmd_shape shape, const hsize_t chunk[])
{
    hsize_t extent[SPMD_MAX_DIMS];
    const double fill = 0.5;
    for (int d = 0; d < shape.ndim; d++)
        extent[d] = (hsize_t)shape.dim[d];
    hid_t space = H5Screate_simple(shape.ndim, extent, NULL);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, shape.ndim, chunk);
    H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &fill);
    hid_t dataset =
        H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Pclose(creation);
    H5Sclose(space);
    return dataset;
}

static void make_all_chunked(const char *path)
{
    static double values[300 * 700];
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; i < 300 * 700; i++)
        values[i] = i;
    for (int i = 0; i < CHUNKED; i++) {
        hid_t dataset = make_chunked(file, chunked[i].name, chunked[i].shape, chunked[i].chunk);
        H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        H5Dclose(dataset);
    }
    hid_t half = make_chunked(file, "half", SPMD_SHAPE(HALF_ROWS, HALF_COLUMNS),
                              (hsize_t[]){HALF_ROWS / 2, HALF_COLUMNS});
    hid_t first = H5Screate_simple(2, (hsize_t[]){HALF_ROWS / 2, HALF_COLUMNS}, NULL);
    hid_t place = H5Dget_space(half);
    H5Sselect_hyperslab(place, H5S_SELECT_SET, (hsize_t[]){0, 0}, NULL,
                        (hsize_t[]){HALF_ROWS / 2, HALF_COLUMNS}, NULL);
    EXPECT(H5Dwrite(half, H5T_NATIVE_DOUBLE, first, place, H5P_DEFAULT, values) >= 0);
    H5Sclose(place);
    H5Sclose(first);
    H5Dclose(half);
    H5Fclose(file);
}

static void expect_half(spmd_mesh *mesh, const char *path, const char *spec)
{
    spmd_array *array = NULL;
    int64_t wrong = 0;
    EXPECT_OK(spmd_read(mesh, path, "half", spec, SPMD_F64, &array));
    const spmd_block *block = spmd_array_block(array);
    for (int64_t i = 0; i < spmd_block_size(block); i++) {
        int64_t row = block->offset[0] + i / block->shape[1];
        int64_t column = block->offset[1] + i % block->shape[1];
        double value = (double)(row * HALF_COLUMNS + column);
        wrong += ((double *)block->data)[i] != (row < HALF_ROWS / 2 ? value : 0.5);
    }
    EXPECT(wrong == 0);
    spmd_array_free(&array);
}

static void chunks_are_read_past_hdf5(void)
{
    static const char *const ways[] = {"direct", "auto", "hdf5"};
    spmd_mesh *mesh = make_mesh(test_size % 2 == 0 ? "x=*,y=2" : "x=*,y=1");
    const char *path = scratch("chunks.h5");
    if (test_rank == 0)
        make_all_chunked(path);
    for (int w = 0; w < 3; w++) {
        choose(ways[w]);
        for (int p = 0; p < SPECS; p++) {
            for (int i = 0; i < CHUNKED; i++)
                if (fits(mesh, specs[p], chunked[i].shape))
                    expect_arange(mesh, path, chunked[i].name, specs[p], SPMD_F64,
                                  chunked[i].shape);
            expect_half(mesh, path, specs[p]);
        }
    }
    choose("auto");
    drop(path);
    spmd_mesh_free(&mesh);
}

/* What this process has read so far: calls of the system, and bytes; 0 where it does not tell. */
struct reading {
    long long calls, bytes;
};

static struct reading read_so_far(void)
{
    struct reading reading = {0, 0};
    FILE *file = fopen("/proc/self/io", "r");
    if (!file ||
        fscanf(file, "rchar: %lld wchar: %*d syscr: %lld", &reading.bytes, &reading.calls) != 2)
        reading = (struct reading){0, 0};
    if (file)
        fclose(file);
    return reading;
}

enum { LINE = 1000000 };

static void make_long_line(const char *path)
{
    static double values[LINE];
    for (int i = 0; i < LINE; i++)
        values[i] = i;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t line = make_chunked(file, "v", SPMD_SHAPE(LINE), (hsize_t[]){LINE / 10});
    H5Dwrite(line, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(line);
    H5Fclose(file);
}

/* One run for each chunk, and of a chunk that ranks share no more than each wants: HDF5 reads all
 * of one that its cache has room for. */
static void chunks_of_a_line_are_read_in_long_runs(void)
{
    enum { MOST_CALLS = 1000, BESIDE = 1 << 17 };
    static const char *const ways[] = {"direct", "auto"};
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("line.h5");
    int64_t most = (LINE + test_size - 1) / test_size * (int64_t)sizeof(double);
    if (test_rank == 0)
        make_long_line(path);
    for (int w = 0; w < 2; w++) {
        choose(ways[w]);
        struct reading before = read_so_far();
        expect_arange(mesh, path, "v", "P(x)", SPMD_F64, SPMD_SHAPE(LINE));
        struct reading after = read_so_far();
        EXPECT(after.calls - before.calls < MOST_CALLS);
        EXPECT(after.bytes - before.bytes < most + BESIDE);
    }
    choose("auto");
    drop(path);
    spmd_mesh_free(&mesh);
}

/* So where HDF5 shall not, nothing does; and a way that there is not is told, too. */
static void chunks_are_written_by_hdf5_alone(void)
{
    static const spmd_dataset_options options = {.chunk = {2}};
    spmd_mesh *mesh = make_mesh("x=*");
    spmd_array *array = NULL;
    spmd_file *file = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(9), &array));
    choose("direct");
    EXPECT_OK(spmd_file_create(mesh, scratch("never.h5"), &file));
    EXPECT_FAILS(spmd_dataset_write_as(file, "v", array, &options), SPMD_ERR_FILE,
                 "never.h5: dataset \"v\" has chunks, which HDF5 writes");
    spmd_file_discard(&file);
    choose("quick");
    EXPECT_OK(spmd_file_create(mesh, scratch("never.h5"), &file));
    EXPECT_FAILS(spmd_dataset_write_as(file, "v", array, &options), SPMD_ERR_ARGUMENT,
                 "SPMD_IO=quick in the environment");
    spmd_file_discard(&file);
    choose("auto");
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

/* The name leads to another file while the first one is open. */
static void the_file_that_was_opened_is_read(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("moved.h5");
    spmd_file *file = NULL;
    spmd_array *array = NULL;
    write_arange(mesh, path, "P(x)", SPMD_F64, SPMD_SHAPE(5000));
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    write_arange(mesh, path, "P(x)", SPMD_I8, SPMD_SHAPE(1));
    choose("direct");
    if (EXPECT_OK(spmd_dataset_read(file, "v", "P()", SPMD_F64, &array)))
        EXPECT(((const double *)spmd_array_block(array)->data)[4999] == 4999);
    spmd_array_free(&array);
    EXPECT_OK(spmd_file_close(&file));
    choose("auto");
    drop(path);
    spmd_mesh_free(&mesh);
}

/* Behind a dataset of 5 GiB, which is a hole in the file. */
static void make_far(const char *path)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, (hsize_t[]){(hsize_t)5 << 30}, NULL);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    int32_t values[40 * 50];
    for (int i = 0; i < 40 * 50; i++)
        values[i] = i;
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    H5Dclose(H5Dcreate2(file, "hole", H5T_NATIVE_UINT8, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    add_dataset(file, "far", H5T_NATIVE_INT32, creation, values);
    hid_t far = H5Dopen2(file, "far", H5P_DEFAULT);
    EXPECT(H5Dget_offset(far) > (haddr_t)5 << 30);
    H5Dclose(far);
    H5Pclose(creation);
    H5Sclose(space);
    H5Fclose(file);
}

static void places_beyond_4_gib(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("far.h5");
    if (test_rank == 0)
        make_far(path);
    choose("direct");
    expect_arange(mesh, path, "far", "P(x)", SPMD_I32, SPMD_SHAPE(40, 50));
    expect_arange(mesh, path, "far", "P(-,x)", SPMD_I32, SPMD_SHAPE(40, 50));
    choose("auto");
    drop(path);
    spmd_mesh_free(&mesh);
}

/* One that was cut short while it is open. */
static void a_file_that_ends_within_a_dataset_is_told(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("cut.h5");
    spmd_file *file = NULL;
    spmd_array *array = NULL;
    write_arange(mesh, path, "P(x)", SPMD_F64, SPMD_SHAPE(50000));
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        EXPECT(truncate(path, 200000) == 0);
    choose("direct");
    EXPECT_FAILS(spmd_dataset_read(file, "v", "P(x)", SPMD_F64, &array), SPMD_ERR_FILE,
                 "cut.h5: dataset \"v\" cannot be read: the file was cut from");
    EXPECT(array == NULL);
    EXPECT_OK(spmd_file_close(&file));
    choose("auto");
    drop(path);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("io_direct", CASE(every_way_writes_and_reads_the_same),
             CASE(equal_blocks_are_read_once), CASE(another_value_is_refused),
             CASE(what_does_not_lie_in_one_piece_goes_by_hdf5), CASE(chunks_are_read_past_hdf5),
             CASE(chunks_of_a_line_are_read_in_long_runs), CASE(chunks_are_written_by_hdf5_alone),
             CASE(the_file_that_was_opened_is_read), CASE(places_beyond_4_gib),
             CASE(a_file_that_ends_within_a_dataset_is_told))
