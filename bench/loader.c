/* loader.c - batches of shuffled rows of a file, against pread of the same rows in the same order
 * by the same ranks; and while the program computes, against computing or reading alone. What is
 * read lies in the page cache.
 *
 *     mpirun -n N bench/loader [--quick | --once] [MIB [DIRECTORY]]
 *
 * MIB is the size of a dataset (256; 64 if quick), DIRECTORY where their file lies (/tmp). Bytes
 * and seconds are those of a batch. What pread reads is compared with our batches before it is
 * timed.
 *
 * "overlap" computes for about as long as a batch is read: at best it takes as long as either of
 * both alone, and half as long as one after the other. That needs a core beside each rank's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define H5_USE_110_API
#include <hdf5.h>

#include "bench.h"

enum { CHUNK_ROWS = 64 };

/* A dataset whose elements are their row-major indices, and how it is read. */
struct samples {
    spmd_mesh *mesh;
    const char *path, *name;
    bool chunked;
    int64_t rows, columns, batch, own; /* rows: all, of a batch, of this rank's part of it */
    spmd_loader *ahead, *waiting;      /* reads while we compute; reads when it is asked */
    int64_t work;                      /* what there is to compute for a batch */
    volatile double result;

    /* the rival's */
    int descriptor;
    int64_t *offsets; /* in the file: of an epoch's rows, as they come to this rank */
    double *block;
    int64_t batches, step;
};

static int64_t row_bytes(const struct samples *samples)
{
    return samples->columns * (int64_t)sizeof(double);
}

static spmd_loader *load(const struct samples *samples, bool wait)
{
    const char *spec = "P(x)";
    spmd_loader *loader;
    const spmd_loader_options options = {
        .batch = samples->batch, .shuffle = true, .key = spmd_key_create(1), .wait = wait};
    bench_check(spmd_loader_create(samples->mesh, samples->path, 1, &samples->name, &spec, &options,
                                   &loader));
    return loader;
}

static void take_batch(spmd_loader *loader)
{
    spmd_array *batch;
    bench_check(spmd_loader_next(loader, &batch));
    spmd_array_free(&batch);
}

static void read_by_loader(void *state)
{
    const struct samples *samples = state;
    take_batch(samples->waiting);
}

static void read_by_pread(void *state)
{
    struct samples *samples = state;
    const int64_t *offsets = samples->offsets + samples->step * samples->own;
    char *to = (char *)samples->block;
    for (int64_t i = 0; i < samples->own; i++, to += row_bytes(samples))
        if (pread(samples->descriptor, to, (size_t)row_bytes(samples), (off_t)offsets[i]) !=
            row_bytes(samples))
            bench_check(spmd_fail(SPMD_ERR_FILE, "pread: %s", strerror(errno)));
    samples->step = (samples->step + 1) % samples->batches;
}

static void compute(void *state)
{
    struct samples *samples = state;
    double value = samples->result;
    for (int64_t i = 0; i < samples->work; i++)
        value = value * 0.999 + 1e-3;
    samples->result = value;
}

static void read_and_compute(void *state)
{
    read_by_loader(state);
    compute(state);
}

static void compute_while_it_reads(void *state)
{
    struct samples *samples = state;
    take_batch(samples->ahead);
    compute(samples);
}

static double time_of(void (*run)(void *), struct samples *samples)
{
    enum { RUNS = 8 };
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime();
    for (int i = 0; i < RUNS; i++)
        run(samples);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = (MPI_Wtime() - seconds) / RUNS;
    MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return seconds;
}

/* As much work as takes as long as reading. */
static void measure_work(struct samples *samples)
{
    const double reading = time_of(read_by_loader, samples);
    double computing;
    samples->work = 1 << 10;
    while ((computing = time_of(compute, samples)) < reading / 2)
        samples->work *= 2;
    samples->work = (int64_t)((double)samples->work * reading / computing);
}

static void write_samples(spmd_file *file, const struct samples *samples)
{
    spmd_array *array;
    const spmd_dataset_options options = {
        .chunk = {samples->chunked ? CHUNK_ROWS : 0, samples->chunked ? samples->columns : 0}};
    bench_check(spmd_array_arange(samples->mesh, "P(x)", SPMD_F64,
                                  SPMD_SHAPE(samples->rows, samples->columns), &array));
    bench_check(spmd_dataset_write_as(file, samples->name, array, &options));
    spmd_array_free(&array);
}

/* Where a row stands in the file. */
static int64_t place_of(hid_t dataset, const struct samples *samples, int64_t row)
{
    const hsize_t first[] = {(hsize_t)(row / CHUNK_ROWS * CHUNK_ROWS), 0};
    unsigned skipped;
    hsize_t bytes;
    haddr_t offset;
    if (!samples->chunked)
        return (int64_t)H5Dget_offset(dataset) + row * row_bytes(samples);
    if (H5Dget_chunk_info_by_coord(dataset, first, &skipped, &offset, &bytes) < 0)
        bench_check(spmd_fail(SPMD_ERR_FILE, "HDF5 does not tell where a chunk stands"));
    return (int64_t)offset + row % CHUNK_ROWS * row_bytes(samples);
}

/* The rows of the loader's epoch 0, and whether pread reads the same. */
static void list_rows(struct samples *samples)
{
    hid_t file = H5Fopen(samples->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, samples->name, H5P_DEFAULT);
    samples->offsets = bench_allocate(samples->batches * samples->own, sizeof(int64_t));
    for (int64_t b = 0; b < samples->batches; b++) {
        spmd_array *batch;
        bench_check(spmd_loader_next(samples->waiting, &batch));
        const double *data = spmd_array_block(batch)->data;
        for (int64_t i = 0; i < samples->own; i++)
            samples->offsets[b * samples->own + i] =
                place_of(dataset, samples, (int64_t)data[i * samples->columns] / samples->columns);
        read_by_pread(samples);
        if (memcmp(samples->block, data, (size_t)(samples->own * row_bytes(samples))) != 0)
            bench_check(spmd_fail(SPMD_ERR_FILE, "pread reads another batch than ours"));
        spmd_array_free(&batch);
    }
    H5Dclose(dataset);
    H5Fclose(file);
}

static void begin(struct samples *samples)
{
    samples->ahead = load(samples, false);
    samples->waiting = load(samples, true);
    samples->batches = spmd_loader_batches(samples->waiting);
    samples->descriptor = open(samples->path, O_RDONLY | O_CLOEXEC);
    samples->block = bench_allocate(samples->own, (size_t)row_bytes(samples));
    list_rows(samples);
    measure_work(samples);
}

static void end(struct samples *samples)
{
    spmd_loader_free(&samples->ahead);
    spmd_loader_free(&samples->waiting);
    close(samples->descriptor);
    free(samples->block);
    free(samples->offsets);
}

static void compare(const char *what, struct samples *samples, void (*ours)(void *),
                    const char *name, void (*rival)(void *))
{
    char measure[160];
    snprintf(measure, sizeof measure, "%s %lld rows of %lld KiB; %s", what,
             (long long)samples->batch, (long long)row_bytes(samples) >> 10, samples->name);
    bench_compare(measure, samples->batch * row_bytes(samples),
                  (struct contender){"ours", ours, samples},
                  (struct contender){name, rival, samples});
}

static void measure(struct samples *samples)
{
    begin(samples);
    compare("read", samples, read_by_loader, "pread", read_by_pread);
    compare("overlap", samples, compute_while_it_reads, "computing alone", compute);
    compare("overlap", samples, compute_while_it_reads, "reading alone", read_by_loader);
    compare("overlap", samples, compute_while_it_reads, "reading; then computing",
            read_and_compute);
    end(samples);
}

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Batches of a few MiB, which all ranks divide. */
static struct samples describe(spmd_mesh *mesh, const char *path, int64_t bytes, int64_t row_bytes)
{
    enum { BATCH_BYTES = 6 << 20 };
    const int64_t ranks = spmd_mesh_size(mesh);
    const int64_t rows = clamp(bytes / row_bytes, CHUNK_ROWS * ranks, INT64_MAX);
    const int64_t own = clamp(BATCH_BYTES / row_bytes / ranks, 1, rows / ranks);
    return (struct samples){.mesh = mesh,
                            .path = path,
                            .rows = rows,
                            .columns = row_bytes / (int64_t)sizeof(double),
                            .batch = own * ranks,
                            .own = own};
}

static void measure_rows(spmd_mesh *mesh, const char *path, int64_t bytes, int64_t row_bytes)
{
    spmd_file *file;
    struct samples contiguous = describe(mesh, path, bytes, row_bytes), chunked = contiguous;
    contiguous.name = "contiguous";
    chunked.name = "chunks of 64 rows";
    chunked.chunked = true;
    bench_check(spmd_file_create(mesh, path, &file));
    write_samples(file, &contiguous);
    write_samples(file, &chunked);
    bench_check(spmd_file_close(&file));
    measure(&contiguous);
    measure(&chunked);
    if (spmd_mesh_position(mesh) == 0)
        unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    enum { MIB = 1 << 20, KIB = 1 << 10 };
    spmd_mesh *mesh;
    char path[4096];
    MPI_Init(&argc, &argv);
    int options = 1; /* those in front are bench.h's */
    while (options < argc && argv[options][0] == '-')
        options++;
    bench_begin(options, argv);
    bench_limit(15);
    const int64_t mib = options < argc ? atoll(argv[options]) : bench_is_short() ? 64 : 256;
    snprintf(path, sizeof path, "%s/spmd-bench-loader.h5",
             options + 1 < argc ? argv[options + 1] : "/tmp");
    bench_check(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    measure_rows(mesh, path, mib * MIB, 3 * KIB);
    measure_rows(mesh, path, mib * MIB, 64 * KIB);
    spmd_mesh_free(&mesh);
    MPI_Finalize();
    return 0;
}
