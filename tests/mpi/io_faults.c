/* io_faults.c - files that are damaged, cut short or replaced, and disks that are full or
 * read-only: an error that names the file, or the right data. */
#include <sys/mount.h>
#include <unistd.h>

#include <hdf5.h>

#include "disk.h"
#include "meshes.h"
#include "scratch.h"

enum { MOMENTS = 20 };

/* The same numbers on all ranks; another seed: TEST_SEED in the environment. */
static unsigned draw_seed(void)
{
    const char *text = getenv("TEST_SEED");
    unsigned seed = text ? (unsigned)strtoul(text, NULL, 10) : 1;
    if (test_rank == 0)
        printf("# TEST_SEED=%u\n", seed);
    return seed;
}

static spmd_array *arange(spmd_mesh *mesh, spmd_dtype dtype, spmd_shape shape)
{
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", dtype, shape, &array));
    return array;
}

static void write_arange(spmd_mesh *mesh, const char *path, spmd_dtype dtype, spmd_shape shape)
{
    spmd_array *array = arange(mesh, dtype, shape);
    EXPECT_OK(spmd_write(array, path, "v"));
    spmd_array_free(&array);
}

static void expect_arange(spmd_mesh *mesh, const char *path, spmd_dtype dtype, spmd_shape shape)
{
    spmd_array *wanted = arange(mesh, dtype, shape), *read = NULL;
    if (EXPECT_OK(spmd_read(mesh, path, "v", "P(x)", SPMD_DTYPE_NONE, &read)))
        EXPECT(same_blocks(read, wanted));
    spmd_array_free(&read);
    spmd_array_free(&wanted);
}

/* A file as bytes in memory, on all ranks. */
struct bytes {
    char *data;
    size_t size;
};

static struct bytes load_bytes(const char *path)
{
    struct stat about;
    struct bytes bytes = {0};
    FILE *stream = fopen(path, "rb");
    if (EXPECT(stream && stat(path, &about) == 0)) {
        bytes.size = (size_t)about.st_size;
        bytes.data = malloc(bytes.size);
        EXPECT(fread(bytes.data, 1, bytes.size, stream) == bytes.size);
        fclose(stream);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return bytes;
}

/* Collective. Rank 0 makes a file of the first `size` bytes. */
static void store_bytes(const char *path, const char *data, size_t size)
{
    if (test_rank == 0) {
        FILE *stream = fopen(path, "wb");
        EXPECT(stream && fwrite(data, 1, size, stream) == size);
        EXPECT(stream && fclose(stream) == 0);
    }
    after_rank_0();
}

/* Some datasets of ours, most of their bytes metadata. */
static struct bytes make_victim(spmd_mesh *mesh)
{
    const char *path = scratch("victim.h5");
    spmd_file *file = NULL;
    spmd_array *v = arange(mesh, SPMD_I32, SPMD_SHAPE(7)),
               *w = arange(mesh, SPMD_C64, SPMD_SHAPE(3, 2));
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    EXPECT_OK(spmd_dataset_write(file, "v", v));
    EXPECT_OK(spmd_dataset_write(file, "g/w", w));
    EXPECT_OK(spmd_dataset_set_text(file, "g", "about", "a group"));
    EXPECT_OK(spmd_file_close(&file));
    spmd_array_free(&w);
    spmd_array_free(&v);
    return load_bytes(path);
}

static void files_cut_short_are_told(void)
{
    spmd_mesh *mesh = make_line();
    const char *path = scratch("cut.h5");
    struct bytes whole = make_victim(mesh);
    spmd_file *file = NULL;
    unsigned seed = draw_seed();
    for (int i = 0; i < MOMENTS; i++) {
        size_t size = (size_t)rand_r(&seed) % whole.size;
        store_bytes(path, whole.data, size);
        if (!EXPECT_FAILS(spmd_file_open(mesh, path, &file), SPMD_ERR_FILE, "cut.h5: "))
            fprintf(stderr, "  %zu of %zu bytes\n", size, whole.size);
    }
    free(whole.data);
    spmd_mesh_free(&mesh);
}

/* How many elements of this rank's block are not `wanted`'s; -1: type or shape are not. */
static int count_changed(const spmd_array *read, const spmd_array *wanted)
{
    if (spmd_array_dtype(read) != spmd_array_dtype(wanted) ||
        !spmd_shape_equal(spmd_array_shape(read), spmd_array_shape(wanted)))
        return -1;
    const spmd_block *p = spmd_array_block(read), *q = spmd_array_block(wanted);
    size_t size = spmd_dtype_size(p->dtype);
    int changed = 0;
    for (int64_t i = 0; i < spmd_block_size(p); i++)
        changed += memcmp((char *)p->data + (size_t)i * size, (char *)q->data + (size_t)i * size,
                          size) != 0;
    return changed;
}

/* Metadata has checksums, so that a read fails, or gives what was written but for one element. */
static int read_damaged(spmd_mesh *mesh, const char *path, const char *name, spmd_dtype dtype,
                        spmd_shape shape)
{
    spmd_array *read = NULL, *wanted = arange(mesh, dtype, shape);
    spmd_status status = spmd_read(mesh, path, name, "P(x)", SPMD_DTYPE_NONE, &read);
    int changed = status == SPMD_OK ? count_changed(read, wanted) : 0;
    if (status != SPMD_OK)
        EXPECT(strstr(spmd_error_message(), "flipped.h5: ") != NULL);
    EXPECT(changed >= 0);
    spmd_array_free(&wanted);
    spmd_array_free(&read);
    return changed;
}

static void flipped_bytes_are_told_or_change_one_element(void)
{
    spmd_mesh *mesh = make_line();
    const char *path = scratch("flipped.h5");
    struct bytes whole = make_victim(mesh);
    unsigned seed = draw_seed();
    for (int i = 0; i < MOMENTS; i++) {
        size_t at = (size_t)rand_r(&seed) % whole.size;
        char byte = whole.data[at];
        whole.data[at] = (char)(byte ^ (1 + rand_r(&seed) % 255));
        store_bytes(path, whole.data, whole.size);
        whole.data[at] = byte;
        int changed = read_damaged(mesh, path, "v", SPMD_I32, SPMD_SHAPE(7)) +
                      read_damaged(mesh, path, "g/w", SPMD_C64, SPMD_SHAPE(3, 2)),
            all = 0;
        MPI_Allreduce(&changed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (!EXPECT(all <= 1))
            fprintf(stderr, "  byte %zu\n", at);
    }
    free(whole.data);
    spmd_mesh_free(&mesh);
}

/* Where `part` stands in a file. */
static size_t find_bytes(struct bytes bytes, const void *part, size_t size)
{
    char *found = memmem(bytes.data, bytes.size, part, size);
    EXPECT(found != NULL);
    return found ? (size_t)(found - bytes.data) : 0;
}

/* In HDF5's first format, which has no checksums. */
static struct bytes make_old_format(void)
{
    const char *path = scratch("old.h5");
    const double values[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    if (test_rank == 0) {
        hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        hid_t space = H5Screate_simple(1, (const hsize_t[]){5}, NULL);
        hid_t type = H5Tcreate(H5T_COMPOUND, 16);
        H5Tinsert(type, "r", 0, H5T_IEEE_F64LE);
        H5Tinsert(type, "i", 8, H5T_IEEE_F64LE);
        hid_t dataset = H5Dcreate2(file, "v", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        EXPECT(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        H5Dclose(dataset);
        H5Tclose(type);
        H5Sclose(space);
        EXPECT(H5Fclose(file) >= 0);
    }
    after_rank_0();
    return load_bytes(path);
}

static void expect_damage(spmd_mesh *mesh, struct bytes whole, size_t at, char value,
                          const char *message)
{
    const char *path = scratch("damaged.h5");
    spmd_array *array = NULL;
    char byte = whole.data[at];
    whole.data[at] = value;
    store_bytes(path, whole.data, whole.size);
    whole.data[at] = byte;
    EXPECT_FAILS(spmd_read(mesh, path, "v", "P(x)", SPMD_DTYPE_NONE, &array), SPMD_ERR_FILE,
                 message);
}

/* HDF5 would crash on these. */
static void metadata_that_cannot_be_is_told(void)
{
    spmd_mesh *mesh = make_line();
    struct bytes whole = make_old_format();
    size_t member = find_bytes(whole, "i\0\0\0\0\0\0\0\10\0\0\0", 12);
    expect_damage(mesh, whole, member + 11, 1, "damaged.h5: dataset \"v\" holds records");
    /* Version and class, and at the end the size of the elements. */
    size_t layout = find_bytes(whole, "\10\0\30\0\0\0\0\0\3\1", 10) + 8;
    expect_damage(mesh, whole, layout + 10, 81, "damaged.h5: dataset \"v\" is damaged: its type");
    expect_damage(mesh, whole, layout, 1, "damaged.h5: dataset \"v\" is damaged: its type");
    free(whole.data);
    whole = make_victim(mesh); /* whose first object is its root */
    size_t root = find_bytes(whole, "OHDR", 4);
    expect_damage(mesh, whole, root + 5, 63, "damaged.h5: no dataset \"v\" is found, nor what");
    free(whole.data);
    spmd_mesh_free(&mesh);
}

static void a_file_cut_while_it_is_open_is_told(void)
{
    spmd_mesh *mesh = make_line();
    const char *path = scratch("shrinking.h5");
    spmd_file *file = NULL;
    spmd_array *array = NULL;
    write_arange(mesh, path, SPMD_F64, SPMD_SHAPE(5000));
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    if (test_rank == 0)
        EXPECT(truncate(path, 20000) == 0);
    after_rank_0();
    /* As it is, and with a conversion, which HDF5 makes. */
    const spmd_dtype dtypes[] = {SPMD_F64, SPMD_F32};
    for (int i = 0; i < 2; i++)
        EXPECT_FAILS(spmd_dataset_read(file, "v", "P(x)", dtypes[i], &array), SPMD_ERR_FILE,
                     "shrinking.h5: dataset \"v\" cannot be read: the file was cut from ");
    EXPECT_OK(spmd_file_close(&file));
    spmd_mesh_free(&mesh);
}

static void a_file_replaced_while_it_is_open_is_read_on(void)
{
    spmd_mesh *mesh = make_line();
    const char *path = scratch("replaced.h5");
    spmd_file *file = NULL;
    spmd_array *read = NULL, *wanted = arange(mesh, SPMD_F64, SPMD_SHAPE(500));
    write_arange(mesh, path, SPMD_F64, SPMD_SHAPE(500));
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    write_arange(mesh, path, SPMD_I32, SPMD_SHAPE(3));
    if (EXPECT_OK(spmd_dataset_read(file, "v", "P(x)", SPMD_DTYPE_NONE, &read)))
        EXPECT(same_blocks(read, wanted));
    EXPECT_OK(spmd_file_close(&file));
    expect_arange(mesh, path, SPMD_I32, SPMD_SHAPE(3));
    spmd_array_free(&read);
    spmd_array_free(&wanted);
    spmd_mesh_free(&mesh);
}

enum { OWN_FILTER = 300 };

static size_t keep(unsigned flags, size_t nvalues, const unsigned values[], size_t bytes,
                   size_t *size, void **buffer)
{
    (void)flags, (void)nvalues, (void)values, (void)size, (void)buffer;
    return bytes;
}

/* A filter that the program which wrote the file has, and this one has not. */
static void a_filter_that_is_not_there_is_told(void)
{
    const H5Z_class2_t filter = {H5Z_CLASS_T_VERS, OWN_FILTER, 1, 1, "their own", NULL, NULL, keep};
    spmd_mesh *mesh = make_line();
    const char *path = scratch("filtered.h5");
    spmd_array *array = NULL;
    if (test_rank == 0) {
        const hsize_t extent[] = {6};
        const int values[6] = {0};
        EXPECT(H5Zregister(&filter) >= 0);
        hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        hid_t space = H5Screate_simple(1, extent, NULL), creation = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(creation, 1, extent);
        H5Pset_filter(creation, OWN_FILTER, H5Z_FLAG_MANDATORY, 0, NULL);
        hid_t dataset =
            H5Dcreate2(file, "v", H5T_STD_I32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        EXPECT(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        H5Dclose(dataset);
        H5Pclose(creation);
        H5Sclose(space);
        EXPECT(H5Fclose(file) >= 0);
        EXPECT(H5Zunregister(OWN_FILTER) >= 0);
    }
    after_rank_0();
    EXPECT_FAILS(spmd_read(mesh, path, "v", "P(x)", SPMD_I32, &array), SPMD_ERR_FILE,
                 "filtered.h5: dataset \"v\" is packed by filter 300 (their own)");
    spmd_mesh_free(&mesh);
}

static void a_read_only_place_is_told(void)
{
    if (!mount_disk("tmpfs", "size=1m"))
        return;
    spmd_mesh *mesh = make_line();
    const char *path = scratch("disk/v.h5"), *disk = scratch("disk");
    spmd_file *file = NULL;
    spmd_array *array = arange(mesh, SPMD_I32, SPMD_SHAPE(9));
    write_arange(mesh, path, SPMD_I32, SPMD_SHAPE(7));
    after_rank_0();
    if (test_rank == 0)
        EXPECT(mount(NULL, disk, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
    after_rank_0();
    EXPECT_FAILS(spmd_write(array, path, "v"), SPMD_ERR_FILE, "v.h5: read-only file system");
    EXPECT_FAILS(spmd_file_modify(mesh, path, &file), SPMD_ERR_FILE, "v.h5: read-only file system");
    EXPECT(file == NULL);
    expect_arange(mesh, path, SPMD_I32, SPMD_SHAPE(7));
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
    unmount_disk();
}

static spmd_status write_new(spmd_mesh *mesh, const char *path, spmd_array *array)
{
    (void)mesh;
    return spmd_write(array, path, "v");
}

/* The old datasets stay, so that "v" is as it was. */
static spmd_status write_more(spmd_mesh *mesh, const char *path, spmd_array *array)
{
    spmd_file *file = NULL;
    spmd_status status = spmd_file_modify(mesh, path, &file);
    if (status == SPMD_OK)
        status = spmd_dataset_write(file, "w", array);
    if (status == SPMD_OK)
        return spmd_file_close(&file);
    spmd_file_discard(&file);
    return status;
}

static void a_disk_that_fills_up_at_any_moment_leaves_the_old_file(void)
{
    if (!mount_disk("tmpfs", "size=2m"))
        return;
    enum { ELEMENTS = 20000 };
    spmd_mesh *mesh = make_line();
    const char *path = scratch("disk/v.h5"), *disk = scratch("disk"), *ballast = scratch("disk/b");
    spmd_array *large = arange(mesh, SPMD_F64, SPMD_SHAPE(ELEMENTS));
    unsigned seed = draw_seed();
    int failed = 0;
    write_arange(mesh, path, SPMD_I32, SPMD_SHAPE(7));
    for (int i = 0; i < MOMENTS; i++) {
        bool is_new = i % 2 == 0;
        leave_room(disk, ballast, (uint64_t)rand_r(&seed) % (8 * ELEMENTS * 2));
        spmd_status status = (is_new ? write_new : write_more)(mesh, path, large);
        if (status != SPMD_OK) {
            failed++;
            EXPECT(strstr(spmd_error_message(), "v.h5: ") != NULL &&
                   strstr(spmd_error_message(), "no space left on device") != NULL);
        }
        if (test_rank == 0)
            EXPECT(count_files(disk) == 2 && unlink(ballast) == 0);
        after_rank_0();
        if (status == SPMD_OK && is_new)
            expect_arange(mesh, path, SPMD_F64, SPMD_SHAPE(ELEMENTS));
        else
            expect_arange(mesh, path, SPMD_I32, SPMD_SHAPE(7));
        if (status == SPMD_OK)
            write_arange(mesh, path, SPMD_I32, SPMD_SHAPE(7));
    }
    EXPECT(failed > 0 && failed < MOMENTS);
    spmd_array_free(&large);
    spmd_mesh_free(&mesh);
    unmount_disk();
}

enum { STATE_ELEMENTS = 20000 };

/* The state of a step has the step as its elements, and a few more values. */
static spmd_tree *make_state(spmd_mesh *mesh, int64_t step)
{
    spmd_tree *state = NULL;
    spmd_array *large = NULL;
    EXPECT_OK(spmd_tree_create(&state));
    EXPECT_OK(spmd_array_full(mesh, "P(x)", SPMD_I64, SPMD_SHAPE(STATE_ELEMENTS), &step, &large));
    EXPECT_OK(spmd_tree_set_array(state, "large", large));
    EXPECT_OK(spmd_tree_set_integer(state, "step", step));
    spmd_array_free(&large);
    return state;
}

static void expect_state(spmd_mesh *mesh, const char *directory, int64_t step)
{
    spmd_tree *wanted = make_state(mesh, step), *got = NULL;
    spmd_array *p = NULL, *q = NULL;
    int64_t told = -1;
    if (EXPECT_OK(spmd_checkpoint_restore_like(mesh, directory, SPMD_LATEST, wanted, NULL, &got))) {
        EXPECT_OK(spmd_tree_get_array(got, "large", &p));
        EXPECT_OK(spmd_tree_get_array(wanted, "large", &q));
        EXPECT_OK(spmd_tree_get_integer(got, "step", &told));
        EXPECT(same_blocks(p, q) && told == step);
    }
    spmd_tree_free(&got);
    spmd_tree_free(&wanted);
}

static void a_disk_that_fills_up_at_any_moment_leaves_the_old_checkpoint(void)
{
    if (!mount_disk("tmpfs", "size=2m"))
        return;
    spmd_mesh *mesh = make_line();
    const char *disk = scratch("disk"), *ballast = scratch("disk/b"), *run = scratch("disk/run"),
               *second = scratch("disk/run/step-00000002.h5");
    spmd_tree *first_state = make_state(mesh, 1), *second_state = make_state(mesh, 2);
    unsigned seed = draw_seed();
    int failed = 0;
    EXPECT_OK(spmd_checkpoint_save(mesh, run, 1, first_state, 0));
    for (int i = 0; i < MOMENTS; i++) {
        leave_room(disk, ballast, (uint64_t)rand_r(&seed) % (8 * STATE_ELEMENTS * 2));
        spmd_status status = spmd_checkpoint_save(mesh, run, 2, second_state, 0);
        if (status != SPMD_OK) {
            failed++;
            EXPECT(strstr(spmd_error_message(), "step-00000002.h5: ") != NULL &&
                   strstr(spmd_error_message(), "no space left on device") != NULL);
        }
        expect_state(mesh, run, status == SPMD_OK ? 2 : 1);
        after_rank_0();
        if (test_rank == 0) {
            EXPECT(count_files(run) == (status == SPMD_OK ? 2 : 1) && unlink(ballast) == 0);
            EXPECT(status != SPMD_OK || unlink(second) == 0);
        }
        after_rank_0();
    }
    EXPECT(failed > 0 && failed < MOMENTS);
    expect_state(mesh, run, 1);
    spmd_tree_free(&second_state);
    spmd_tree_free(&first_state);
    spmd_mesh_free(&mesh);
    unmount_disk();
}

HARNESS_MAIN("io_faults", CASE(files_cut_short_are_told),
             CASE(flipped_bytes_are_told_or_change_one_element),
             CASE(metadata_that_cannot_be_is_told), CASE(a_file_cut_while_it_is_open_is_told),
             CASE(a_file_replaced_while_it_is_open_is_read_on),
             CASE(a_filter_that_is_not_there_is_told), CASE(a_read_only_place_is_told),
             CASE(a_disk_that_fills_up_at_any_moment_leaves_the_old_file),
             CASE(a_disk_that_fills_up_at_any_moment_leaves_the_old_checkpoint))
