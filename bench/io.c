/* io.c - a matrix of doubles to and from HDF5 files, against pwrite and pread of the same bytes by
 * the same ranks, and against HDF5's own calls. What is read lies in the page cache.
 *
 *     mpirun -n N bench/io [--quick | --once] [MIB [DIRECTORY [MEASURE]]]
 *
 * MIB is the matrix's size at most (1024; 256 if quick), DIRECTORY where its files lie (/tmp);
 * MEASURE limits it to measures with this text in their names.
 * "write" measures a dataset in a file that is open, so up to the page cache; "save" a file from
 * its creation to its name, with the data on the disk, and the rival syncs and renames as well.
 * Rivals' results are compared with the matrix before they are timed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "matrix_file.h"

static const char name[] = "matrix";

static struct {
    int64_t mib;
    const char *directory;
    const char *measure;
} options = {0, "/tmp", ""};

static void our_write(void *state)
{
    struct matrix_file *matrix = state;
    contest_pause();
    matrix_remove(matrix);
    bench_check(spmd_file_create(matrix->mesh, matrix->path, &matrix->file));
    contest_resume();
    bench_check(spmd_dataset_write(matrix->file, name, matrix->array));
    contest_pause();
    spmd_file_discard(&matrix->file);
    contest_resume();
}

static void our_save(void *state)
{
    struct matrix_file *matrix = state;
    contest_pause();
    matrix_remove(matrix);
    contest_resume();
    bench_check(spmd_write(matrix->array, matrix->path, name));
}

static void our_read(void *state)
{
    struct matrix_file *matrix = state;
    spmd_array_free(&matrix->array);
    bench_check(
        spmd_dataset_read(matrix->file, name, matrix->spec, SPMD_DTYPE_NONE, &matrix->array));
}

struct rival {
    const char *name;
    void (*run)(void *state);
};

/* What was just read, and, of a file that was saved, what is in it. */
static void check_ours(const struct matrix_file *matrix)
{
    matrix_check(&matrix->box, matrix->shape, spmd_array_block(matrix->array)->data, "our block");
}

static void check_saved(const struct matrix_file *matrix)
{
    spmd_array *array;
    bench_check(spmd_read(matrix->mesh, matrix->path, name, matrix->spec, SPMD_F64, &array));
    matrix_check(&matrix->box, matrix->shape, spmd_array_block(array)->data, "a saved file");
    spmd_array_free(&array);
}

static void spell(const struct matrix_file *matrix, const char *what, size_t size, char text[])
{
    char layout[64] = "";
    if (matrix->chunk)
        snprintf(layout, sizeof layout, "; chunks of %lldx%lld%s", (long long)matrix->chunk,
                 (long long)matrix->chunk, matrix->deflate ? "; gzip" : "");
    snprintf(text, size, "%s %lldx%lld %s%s", what, (long long)matrix->shape.dim[0],
             (long long)matrix->shape.dim[1], matrix->spec, layout);
    for (; *text; text++)
        if (*text == ',')
            *text = ';';
}

static void compare(const char *what, struct matrix_file *matrix, void (*ours)(void *),
                    const struct rival rivals[])
{
    char measure[160];
    spell(matrix, what, sizeof measure, measure);
    if (!strstr(measure, options.measure))
        return;
    for (const struct rival *rival = rivals; rival->name; rival++)
        bench_compare(measure, spmd_shape_size(matrix->shape) * (int64_t)sizeof(double),
                      (struct contender){"ours", ours, matrix},
                      (struct contender){rival->name, rival->run, matrix});
}

static void compare_writes(struct matrix_file *matrix)
{
    static const struct rival rivals[] = {{"pwrite of rows", raw_write},
                                          {"fallocate and pwrite of rows", raw_write_reserved},
                                          {"HDF5 independently", hdf5_write_independently},
                                          {"HDF5 collectively", hdf5_write_collectively},
                                          {NULL, NULL}};
    matrix->synced = false;
    compare("write", matrix, our_write, rivals);
    matrix->synced = true;
    for (const struct rival *rival = rivals + 2; rival->name; rival++) {
        rival->run(matrix);
        check_saved(matrix);
    }
    our_save(matrix);
    check_saved(matrix);
    compare("save", matrix, our_save, rivals);
}

static void compare_reads(struct matrix_file *matrix, const struct rival rivals[])
{
    matrix_open(matrix);
    our_read(matrix);
    check_ours(matrix);
    for (const struct rival *rival = rivals; rival->name; rival++) {
        rival->run(matrix);
        matrix_check(&matrix->box, matrix->shape, matrix->block, rival->name);
    }
    compare("read", matrix, our_read, rivals);
    matrix_close(matrix);
}

static const struct rival readers[] = {{"pread", raw_read},
                                       {"HDF5 independently", hdf5_read_independently},
                                       {"HDF5 collectively", hdf5_read_collectively},
                                       {NULL, NULL}},
                          chunk_readers[] = {{"HDF5 independently", hdf5_read_independently},
                                             {"HDF5 collectively", hdf5_read_collectively},
                                             {NULL, NULL}},
                          replica_readers[] = {
                              {"pread of all by all", raw_read},
                              {"pread by one and MPI_Bcast", raw_read_and_broadcast},
                              {"pread of rows and MPI_Allgather", raw_read_and_gather},
                              {"HDF5 independently", hdf5_read_independently},
                              {NULL, NULL}};

/* Rows and columns that all ranks divide, and chunks as well; twice as many columns as rows. */
static spmd_shape shape_of(int64_t mib, int ranks)
{
    enum { CHUNK = 512 };
    int64_t unit = (int64_t)CHUNK * ranks, rows = unit;
    while (rows * 2 * rows * 4 * (int64_t)sizeof(double) <= mib << 20)
        rows *= 2;
    return SPMD_SHAPE(rows, 2 * rows);
}

static void measure(spmd_mesh *mesh, const char *path, spmd_shape shape)
{
    static const char *const specs[] = {"P(x,-)", "P(-,x)"};
    struct matrix_file matrix;
    spmd_shape half = SPMD_SHAPE(shape.dim[0] / 2, shape.dim[1]);
    spmd_shape quarter = SPMD_SHAPE(shape.dim[0] / 2, shape.dim[1] / 2);
    for (int i = 0; i < 2; i++) {
        matrix_begin(&matrix, mesh, specs[i], shape, path);
        compare_writes(&matrix);
        compare_reads(&matrix, readers);
        matrix.chunk = 512;
        compare_reads(&matrix, chunk_readers);
        matrix_end(&matrix);
        matrix_begin(&matrix, mesh, specs[i], quarter, path);
        matrix.chunk = 512;
        matrix.deflate = 1;
        compare_reads(&matrix, chunk_readers);
        matrix_end(&matrix);
    }
    matrix_begin(&matrix, mesh, "P(-,-)", half, path);
    compare_reads(&matrix, replica_readers);
    matrix_end(&matrix);
}

static void print_file_system(void)
{
    enum { TMPFS = 0x01021994, EXT = 0xef53, OVERLAY = 0x794c7630, XFS = 0x58465342 };
    struct statfs about;
    if (statfs(options.directory, &about) != 0)
        bench_check(spmd_fail(SPMD_ERR_FILE, "%s: no such directory", options.directory));
    unsigned long magic = (unsigned long)about.f_type;
    bench_note("files: in %s, %s", options.directory,
               magic == TMPFS     ? "tmpfs"
               : magic == EXT     ? "ext4"
               : magic == OVERLAY ? "overlay"
               : magic == XFS     ? "xfs"
                                  : "of another file system");
}

/* Takes what is ours out of the arguments. */
static int take_options(int argc, char **argv)
{
    int kept = 1, taken = 0;
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-')
            argv[kept++] = argv[i];
        else if (taken++ == 0)
            options.mib = atoll(argv[i]);
        else if (taken == 2)
            options.directory = argv[i];
        else
            options.measure = argv[i];
    return kept;
}

int main(int argc, char **argv)
{
    spmd_mesh *mesh;
    int ranks;
    char path[4096];
    MPI_Init(&argc, &argv);
    bench_begin(take_options(argc, argv), argv);
    bench_limit(7);
    bench_print_malloc();
    bench_print_memory();
    print_file_system();
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (options.mib == 0)
        options.mib = bench_is_short() ? 256 : 1024;
    snprintf(path, sizeof path, "%s/spmd-bench-io.h5", options.directory);
    bench_check(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    measure(mesh, path, shape_of(options.mib, ranks));
    bench_print_memory();
    spmd_mesh_free(&mesh);
    MPI_Finalize();
    return 0;
}
