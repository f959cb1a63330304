/* checkpoint.c - MPI tests of checkpoints: saved under a mesh, restored under another; what is
 * kept, what is refused, and that damage is told. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

#include "tree_files.h"

/* Collective. The directory of a case's checkpoints. */
static const char *directory_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s", scratch(name));
    return path;
}

/* A mesh of the first ranks; the others are idle. */
static spmd_mesh *first_ranks(int ranks)
{
    char text[20];
    snprintf(text, sizeof text, "x=%d", ranks);
    return make_mesh(text);
}

/* Uneven, empty and replicated blocks, a scalar, and leaves that are no arrays. */
static spmd_tree *make_state(spmd_mesh *mesh)
{
    spmd_tree *tree = new_tree();
    set_arange(tree, "params/w", mesh, "P(x)", SPMD_F32, SPMD_SHAPE(7, 5));
    set_arange(tree, "params/columns", mesh, "P(-,x)", SPMD_F64, SPMD_SHAPE(3, 9));
    set_arange(tree, "params/few", mesh, "P(x)", SPMD_BF16, SPMD_SHAPE(2));
    set_arange(tree, "params/none", mesh, "P(x)", SPMD_C64, SPMD_SHAPE(0, 4));
    set_arange(tree, "params/whole", mesh, "P()", SPMD_C128, SPMD_SHAPE(3));
    set_arange(tree, "params/scalar", mesh, "P()", SPMD_I64, SPMD_SCALAR);
    set_arange(tree, "moments/0", mesh, "P(x)", SPMD_BOOL, SPMD_SHAPE(11));
    set_arange(tree, "moments/1", mesh, "P(x)", SPMD_F16, SPMD_SHAPE(11));
    EXPECT_OK(spmd_tree_set_key(tree, "key", (spmd_key){{17, 4}}));
    EXPECT_OK(spmd_tree_set_text(tree, "name", "a run"));
    EXPECT_OK(spmd_tree_set_integer(tree, "step", INT64_C(1) << 40));
    return tree;
}

static void expect_same(const spmd_tree *got, const spmd_tree *wanted)
{
    if (!EXPECT_OK(spmd_tree_compare(got, wanted)))
        return;
    enum { MOST = 32 };
    const spmd_tree *a[MOST], *b[MOST];
    int count = spmd_tree_flatten(got, MOST, a);
    spmd_tree_flatten(wanted, MOST, b);
    for (int i = 0; i < count; i++) {
        spmd_array *p = NULL, *q = NULL;
        if (!EXPECT(spmd_tree_kind_of(a[i]) == spmd_tree_kind_of(b[i])) ||
            spmd_tree_kind_of(a[i]) != SPMD_TREE_ARRAY)
            continue;
        EXPECT_OK(spmd_tree_get_array(a[i], "", &p));
        EXPECT_OK(spmd_tree_get_array(b[i], "", &q));
        if (!EXPECT(same_blocks(p, q)))
            fprintf(stderr, "  leaf %d\n", i);
    }
    const char *text = "";
    int64_t step = 0;
    spmd_key key = {{0, 0}};
    EXPECT_OK(spmd_tree_get_text(got, "name", &text));
    EXPECT_OK(spmd_tree_get_integer(got, "step", &step));
    EXPECT_OK(spmd_tree_get_key(got, "key", &key));
    EXPECT(strcmp(text, "a run") == 0 && step == INT64_C(1) << 40);
    EXPECT(key.word[0] == 17 && key.word[1] == 4);
}

static void save(spmd_mesh *mesh, const char *directory, int64_t step, int keep)
{
    spmd_tree *state = make_state(mesh);
    EXPECT_OK(spmd_checkpoint_save(mesh, directory, step, state, keep));
    spmd_tree_free(&state);
}

static void restore_on(spmd_mesh *mesh, const char *directory, int64_t step)
{
    spmd_tree *like = make_state(mesh), *got = NULL;
    if (EXPECT_OK(spmd_checkpoint_restore_like(mesh, directory, step, like, NULL, &got)) &&
        spmd_mesh_position(mesh) >= 0)
        expect_same(got, like);
    spmd_tree_free(&got);
    spmd_tree_free(&like);
}

static const int counts[] = {1, 2, 3, 4, 6, 8};
enum { COUNTS = sizeof counts / sizeof *counts };

static void from_any_ranks_to_any(void)
{
    for (int n = 0; n < COUNTS && counts[n] <= test_size; n++) {
        const char *directory = directory_of("any");
        spmd_mesh *mesh = first_ranks(counts[n]);
        save(mesh, directory, 1, 0);
        spmd_mesh_free(&mesh);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int m = 0; m < COUNTS && counts[m] <= test_size; m++) {
            mesh = first_ranks(counts[m]);
            restore_on(mesh, directory, SPMD_LATEST);
            spmd_mesh_free(&mesh);
        }
    }
}

/* A file's bytes, for the caller to free(). */
static char *load_file(const char *path, size_t *size)
{
    struct stat about = {0};
    int fd = open(path, O_RDONLY);
    EXPECT(fd >= 0 && fstat(fd, &about) == 0);
    char *bytes = malloc((size_t)about.st_size + 1);
    EXPECT(read(fd, bytes, (size_t)about.st_size) == about.st_size);
    close(fd);
    *size = (size_t)about.st_size;
    return bytes;
}

static void store_file(const char *path, const char *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    EXPECT(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

static const char *file_of(const char *name, int step)
{
    char text[60];
    snprintf(text, sizeof text, "%s/step-%08d.h5", name, step);
    return scratch(text);
}

/* Restored and saved again, on another number of ranks each time, a file stays the same. */
static void cycles_change_nothing(void)
{
    const char *directory = directory_of("cycle");
    spmd_mesh *whole = first_ranks(test_size), *one = first_ranks(1);
    save(whole, directory, 0, 0);
    for (int cycle = 0; cycle < 10; cycle++) {
        spmd_mesh *mesh = cycle % 2 == 0 ? one : whole;
        spmd_tree *like = make_state(mesh), *got = NULL;
        MPI_Barrier(MPI_COMM_WORLD);
        EXPECT_OK(spmd_checkpoint_restore_like(mesh, directory, cycle, like, NULL, &got));
        EXPECT_OK(spmd_checkpoint_save(mesh, directory, cycle + 1, got, 0));
        spmd_tree_free(&got);
        spmd_tree_free(&like);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    restore_on(whole, directory, 10);
    size_t size = 0, later = 0;
    char *first = load_file(file_of("cycle", 0), &size);
    char *last = load_file(file_of("cycle", 10), &later);
    size_t lines = (size_t)(strstr(first, "\ndata ") - first); /* have checksums */
    EXPECT(size == later && strcmp(first + lines, strstr(last, "\ndata ")) == 0);
    free(first);
    free(last);
    spmd_mesh_free(&one);
    spmd_mesh_free(&whole);
}

static void expect_steps(spmd_mesh *mesh, const char *directory, int count, const int64_t wanted[])
{
    int64_t steps[8] = {0}, latest = -2;
    int found = -1;
    EXPECT_OK(spmd_checkpoint_steps(mesh, directory, 8, steps, &found));
    EXPECT_OK(spmd_checkpoint_latest(mesh, directory, &latest));
    EXPECT(found == count && latest == (count > 0 ? wanted[count - 1] : -1));
    for (int i = 0; i < count; i++)
        EXPECT(steps[i] == wanted[i]);
}

static void last_ones_are_kept(void)
{
    const char *directory = directory_of("deep/er/keep");
    spmd_mesh *mesh = first_ranks(test_size);
    expect_steps(mesh, directory, 0, NULL);
    for (int step = 10; step <= 40; step += 10)
        save(mesh, directory, step, 2);
    expect_steps(mesh, directory, 2, (int64_t[]){30, 40});
    save(mesh, directory, 40, 2); /* in place of itself */
    expect_steps(mesh, directory, 2, (int64_t[]){30, 40});
    save(mesh, directory, 5, 2); /* what was saved stays */
    expect_steps(mesh, directory, 2, (int64_t[]){5, 40});
    save(mesh, directory, 123456789012, 0);
    expect_steps(mesh, directory, 3, (int64_t[]){5, 40, 123456789012});
    restore_on(mesh, directory, 5);
    spmd_mesh_free(&mesh);
}

/* On rank 0. */
static void make_file(const char *path, const char *text)
{
    if (test_rank == 0)
        store_file(path, text, strlen(text));
    MPI_Barrier(MPI_COMM_WORLD);
}

static bool is_there(const char *path)
{
    bool there = access(path, F_OK) == 0;
    MPI_Barrier(MPI_COMM_WORLD);
    return there;
}

static void others_files_are_left_alone(void)
{
    const char *directory = directory_of("foreign");
    spmd_mesh *mesh = first_ranks(test_size);
    spmd_tree *state = make_state(mesh);
    save(mesh, directory, 1, 0);
    make_file(scratch("foreign/notes.txt"), "mine");
    make_file(file_of("foreign", 2), "mine as well");
    make_file(scratch("foreign/step-00000001.h5.tmp-AAAAAA"), "no");
    EXPECT_FAILS(spmd_checkpoint_save(mesh, directory, 2, state, 1), SPMD_ERR_FILE,
                 "is no checkpoint, so it is not replaced");
    EXPECT_FAILS(spmd_checkpoint_restore(mesh, directory, SPMD_LATEST, "P()", &(spmd_tree *){NULL}),
                 SPMD_ERR_FILE,
                 "is no checkpoint, or its first bytes are damaged; older steps here: 1");
    if (test_rank == 0)
        EXPECT(mkfifo(file_of("foreign", 0), 0600) == 0 && mkdir(file_of("foreign", 5), 0700) == 0);
    save(mesh, directory, 3, 1);
    EXPECT_FAILS(spmd_checkpoint_restore(mesh, directory, 5, "P()", &(spmd_tree *){NULL}),
                 SPMD_ERR_FILE, "step-00000005.h5: is a directory; older steps here: 3, 2, 0");
    EXPECT_FAILS(spmd_checkpoint_save(mesh, directory, 0, state, 0), SPMD_ERR_FILE,
                 "step-00000000.h5: not a regular file");
    EXPECT(is_there(scratch("foreign/notes.txt")) && is_there(file_of("foreign", 2)));
    EXPECT(is_there(scratch("foreign/step-00000001.h5.tmp-AAAAAA")));
    EXPECT(!is_there(file_of("foreign", 1)));
    if (test_rank == 0)
        EXPECT(rename(file_of("foreign", 3), file_of("foreign", 4)) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_FAILS(spmd_checkpoint_restore(mesh, directory, 4, "P()", &(spmd_tree *){NULL}),
                 SPMD_ERR_FILE, "is the checkpoint of step 3, by another name");
    spmd_tree_free(&state);
    spmd_mesh_free(&mesh);
}

static void leftovers_go_unless_somebody_saves(void)
{
    const char *directory = directory_of("left");
    spmd_mesh *mesh = first_ranks(test_size);
    save(mesh, directory, 1, 0);
    const char *left = scratch("left/step-00000009.h5.tmp-abcdef");
    make_file(left, "half a checkpoint");
    int lock = test_rank == 0 ? open(scratch("left/.lock"), O_RDONLY) : -1;
    EXPECT(test_rank != 0 || flock(lock, LOCK_SH) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    save(mesh, directory, 2, 0);
    EXPECT(is_there(left));
    if (lock >= 0)
        close(lock);
    save(mesh, directory, 3, 0);
    EXPECT(!is_there(left));
    spmd_mesh_free(&mesh);
}

static void masks_casts_and_padding(void)
{
    const char *directory = directory_of("parts");
    spmd_mesh *mesh = first_ranks(test_size);
    spmd_tree *got = NULL, *like = NULL;
    const spmd_tree *node = NULL;
    save(mesh, directory, 1, 0);
    EXPECT_OK(spmd_checkpoint_restore(
        mesh, directory, 1, "{params: None, moments: P(), key: P(), name: P(), step: P()}", &got));
    EXPECT_OK(spmd_tree_get(got, "params", &node));
    EXPECT(spmd_tree_kind_of(node) == SPMD_TREE_NONE);
    spmd_tree_free(&got);

    EXPECT_OK(spmd_tree_create(&like));
    set_arange(like, "params/w", mesh, "P(-,x)", SPMD_F64, SPMD_SHAPE(9, 5));
    const char *const masked[] = {
        "params/columns", "params/few", "params/none", "params/whole", "params/scalar",
        "moments",        "key",        "name",        "step"};
    for (size_t i = 0; i < sizeof masked / sizeof *masked; i++)
        EXPECT_OK(spmd_tree_set_none(like, masked[i]));
    EXPECT_FAILS(spmd_checkpoint_restore_like(mesh, directory, 1, like, NULL, &got), SPMD_ERR_SHAPE,
                 "w");
    EXPECT_OK(spmd_checkpoint_restore_like(mesh, directory, 1, like,
                                           &(spmd_tree_read_options){.pad = true}, &got));
    spmd_array *array = NULL;
    EXPECT_OK(spmd_tree_get_array(got, "params/w", &array));
    const spmd_block *block = spmd_array_block(array);
    const double *value = block->data;
    for (int64_t i = 0; i < block->shape[0]; i++)
        for (int64_t j = 0; j < block->shape[1]; j++) {
            double wanted = i < 7 ? (double)(5 * i + j + block->offset[1]) : 0;
            EXPECT(value[i * block->shape[1] + j] == wanted);
        }
    spmd_tree_free(&got);
    spmd_tree_free(&like);
    spmd_mesh_free(&mesh);
}

/* Contributions are saved as what they add up to. */
static void contributions_add_up(void)
{
    const char *directory = directory_of("sums");
    spmd_mesh *mesh = first_ranks(test_size);
    spmd_array *values = NULL, *parts = NULL, *read = NULL;
    spmd_tree *tree = NULL, *got = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P()", SPMD_I32, SPMD_SHAPE(6), &values));
    EXPECT_OK(spmd_reshard(values, "P(unreduced={x})", &parts));
    EXPECT_OK(spmd_tree_create(&tree));
    EXPECT_OK(spmd_tree_set_array(tree, "sum", parts));
    EXPECT_OK(spmd_checkpoint_save(mesh, directory, 1, tree, 0));
    EXPECT_OK(spmd_checkpoint_restore(mesh, directory, 1, "P()", &got));
    EXPECT_OK(spmd_tree_get_array(got, "sum", &read));
    EXPECT(same_blocks(read, values));
    spmd_tree_free(&got);
    EXPECT_OK(spmd_checkpoint_restore_like(mesh, directory, 1, tree, NULL, &got));
    EXPECT_OK(spmd_tree_get_array(got, "sum", &read));
    EXPECT(same_blocks(read, parts));
    spmd_tree_free(&got);
    spmd_tree_free(&tree);
    spmd_array_free(&parts);
    spmd_array_free(&values);
    spmd_mesh_free(&mesh);
}

/* Each byte of a small checkpoint, with another bit flipped each time: an error, or what was saved.
 * With several ranks, fewer bytes. */
static void flipped_bytes_are_told(void)
{
    const char *directory = directory_of("flip"), *path = file_of("flip", 2);
    spmd_mesh *mesh = first_ranks(test_size);
    save(mesh, directory, 1, 0);
    save(mesh, directory, 2, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    size_t size = 0;
    char *bytes = load_file(path, &size);
    spmd_tree *like = make_state(mesh);
    int told = 0, total = 0;
    for (size_t at = 0; at < size; at += test_size == 1 ? 1 : 97, total++) {
        spmd_tree *got = NULL;
        bytes[at] ^= (char)(1 << at % 8);
        MPI_Barrier(MPI_COMM_WORLD);
        if (test_rank == 0)
            store_file(path, bytes, size);
        bytes[at] ^= (char)(1 << at % 8);
        MPI_Barrier(MPI_COMM_WORLD);
        if (spmd_checkpoint_restore_like(mesh, directory, 2, like, NULL, &got) == SPMD_OK)
            expect_same(got, like);
        else
            told += strstr(spmd_error_message(), "step-00000002.h5") != NULL;
        spmd_tree_free(&got);
    }
    EXPECT(told == total); /* all bytes count */
    for (size_t cut = 0; cut < size; cut += size / 20 + 1) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (test_rank == 0)
            store_file(path, bytes, cut);
        MPI_Barrier(MPI_COMM_WORLD);
        EXPECT_FAILS(
            spmd_checkpoint_restore(mesh, directory, SPMD_LATEST, "P()", &(spmd_tree *){NULL}),
            SPMD_ERR_FILE, "older steps here: 1");
    }
    restore_on(mesh, directory, 1);
    free(bytes);
    spmd_tree_free(&like);
    spmd_mesh_free(&mesh);
}

/* Where in a file the elements of a dataset are, as its seal tells. */
static size_t find_data(const char *bytes, const char *name)
{
    char end[40];
    snprintf(end, sizeof end, " %s\n", name);
    const char *line = strstr(bytes, end);
    while (line && line > bytes && line[-1] != '\n')
        line--;
    long long offset = 0;
    EXPECT(line && sscanf(line, "data %lld", &offset) == 1);
    return (size_t)offset;
}

static void damaged_datasets_are_named(void)
{
    const char *directory = directory_of("named"), *path = file_of("named", 7);
    spmd_mesh *mesh = first_ranks(test_size);
    save(mesh, directory, 3, 0);
    save(mesh, directory, 7, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    size_t size = 0;
    char *bytes = load_file(path, &size);
    spmd_file *file = NULL;
    size_t block = 0;
    EXPECT(sscanf(bytes, "spmd checkpoint 1 seal %*x of %zu", &block) == 1 && block < size);
    bytes[block + 9] ^= 1; /* of the metadata, which HDF5 is not to meet in memory either */
    EXPECT_FAILS(spmd_file_open_image(mesh, bytes, size, "image", &file), SPMD_ERR_FILE,
                 "image: damaged");
    bytes[block + 9] ^= 1;
    EXPECT_OK(spmd_file_open_image(mesh, bytes, size, "image", &file));
    EXPECT_OK(spmd_file_close(&file));
    bytes[find_data(bytes, "params/columns") + 9] ^= 4;
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        store_file(path, bytes, size);
    MPI_Barrier(MPI_COMM_WORLD);
    spmd_tree *got = NULL;
    EXPECT_FAILS(spmd_checkpoint_restore(mesh, directory, SPMD_LATEST, "P()", &got), SPMD_ERR_FILE,
                 "dataset \"params/columns\" is damaged: its checksum is ");
    EXPECT(strstr(spmd_error_message(), "; older steps here: 3"));
    spmd_array *array = NULL;
    EXPECT_OK(spmd_file_open(mesh, path, &file)); /* also for a cast, by itself */
    EXPECT_FAILS(spmd_dataset_read(file, "params/columns", "P()", SPMD_F32, &array), SPMD_ERR_FILE,
                 "is damaged");
    EXPECT_OK(spmd_dataset_read(file, "params/w", "P(x)", SPMD_I16, &array));
    EXPECT_OK(spmd_file_close(&file));
    spmd_array_free(&array);
    save(mesh, directory, 7, 1); /* a damaged one may be replaced */
    restore_on(mesh, directory, 7);
    free(bytes);
    spmd_mesh_free(&mesh);
}

static bool has_checksum(const char *path, const char *name)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    bool has = H5Aexists(dataset, "spmd_checksum") > 0;
    H5Dclose(dataset);
    H5Fclose(file);
    return has;
}

/* In another file too, a dataset is compared with its checksum; but not once it was written again.
 */
static void copies_keep_checksums_until_they_change(void)
{
    const char *directory = directory_of("copy"), *path = scratch("copy.h5");
    spmd_mesh *mesh = first_ranks(test_size);
    spmd_file *from = NULL, *to = NULL;
    spmd_array *array = NULL;
    save(mesh, directory, 1, 0);
    EXPECT_OK(spmd_file_open(mesh, file_of("copy", 1), &from));
    EXPECT_OK(spmd_file_create(mesh, path, &to));
    EXPECT_OK(spmd_object_copy(from, "params", to));
    EXPECT_OK(spmd_object_copy(from, "params/w", to));
    EXPECT_OK(spmd_object_copy(from, "params/columns", to));
    EXPECT_OK(spmd_file_close(&to));
    EXPECT_OK(spmd_file_close(&from));
    EXPECT(has_checksum(path, "params/w"));
    EXPECT_OK(spmd_file_modify(mesh, path, &to));
    EXPECT_OK(spmd_array_full(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(7, 5), &(float){3}, &array));
    EXPECT_OK(spmd_dataset_write_hyperslab(to, "params/w", NULL, array));
    EXPECT_OK(spmd_file_close(&to));
    spmd_array_free(&array);
    EXPECT(!has_checksum(path, "params/w") && has_checksum(path, "params/columns"));
    EXPECT_OK(spmd_read(mesh, path, "params/w", "P()", SPMD_DTYPE_NONE, &array));
    EXPECT(((const float *)spmd_array_block(array)->data)[34] == 3);
    spmd_array_free(&array);
    EXPECT_FAILS(spmd_file_modify(mesh, file_of("copy", 1), &to), SPMD_ERR_FILE, "a checkpoint");
    spmd_mesh_free(&mesh);
}

static void wrong_uses(void)
{
    const char *directory = directory_of("wrong");
    spmd_mesh *mesh = first_ranks(test_size);
    spmd_tree *state = make_state(mesh), *got = NULL, *none = NULL;
    EXPECT_OK(spmd_tree_create(&none));
    EXPECT_FAILS(spmd_checkpoint_restore(mesh, directory, SPMD_LATEST, "P()", &got), SPMD_ERR_FILE,
                 "there is no checkpoint");
    save(mesh, directory, 4, 0);
    EXPECT_FAILS(spmd_checkpoint_restore(mesh, directory, 5, "P()", &got), SPMD_ERR_FILE,
                 "no checkpoint of step 5; steps here: 4");
    EXPECT_FAILS(spmd_checkpoint_restore(mesh, directory, -2, "P()", &got), SPMD_ERR_ARGUMENT,
                 "step -2");
    EXPECT_FAILS(spmd_checkpoint_save(mesh, directory, -1, state, 0), SPMD_ERR_ARGUMENT, "step -1");
    EXPECT_FAILS(spmd_checkpoint_save(mesh, directory, INT64_MAX, state, 0), SPMD_ERR_ARGUMENT,
                 "is from 0 to 999999999999999999");
    EXPECT_FAILS(spmd_checkpoint_save(mesh, directory, 1, state, -1), SPMD_ERR_ARGUMENT,
                 ": keep is -1");
    EXPECT_FAILS(spmd_checkpoint_save(mesh, directory, 1, none, 0), SPMD_ERR_ARGUMENT,
                 "a dict or a list");
    EXPECT_FAILS(spmd_checkpoint_save(mesh, NULL, 1, state, 0), SPMD_ERR_ARGUMENT,
                 "spmd_checkpoint_save: the directory of checkpoints is NULL");
    EXPECT_FAILS(spmd_checkpoint_save(NULL, directory, 1, state, 0), SPMD_ERR_ARGUMENT,
                 ": the mesh is NULL");
    make_file(scratch("file"), "no directory");
    EXPECT_FAILS(spmd_checkpoint_save(mesh, scratch("file"), 1, state, 0), SPMD_ERR_FILE,
                 "cannot be made: not a directory");
    if (test_size > 1)
        EXPECT_FAILS(spmd_checkpoint_save(mesh, directory, 10 + test_rank, state, 0),
                     SPMD_ERR_DISAGREE, "");
    spmd_tree_free(&none);
    spmd_tree_free(&state);
    spmd_mesh_free(&mesh);
}

static void a_signal_reaches_all(void)
{
    spmd_mesh *mesh = first_ranks(test_size);
    bool any = true;
    EXPECT_OK(spmd_any(mesh, false, &any));
    EXPECT(!any);
    EXPECT_OK(spmd_any(mesh, test_rank == test_size - 1, &any));
    EXPECT(any);
    EXPECT_FAILS(spmd_any(mesh, true, NULL), SPMD_ERR_ARGUMENT, "NULL");
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("checkpoint", CASE(from_any_ranks_to_any), CASE(cycles_change_nothing),
             CASE(last_ones_are_kept), CASE(others_files_are_left_alone),
             CASE(leftovers_go_unless_somebody_saves), CASE(masks_casts_and_padding),
             CASE(contributions_add_up), CASE(flipped_bytes_are_told),
             CASE(damaged_datasets_are_named), CASE(copies_keep_checksums_until_they_change),
             CASE(wrong_uses), CASE(a_signal_reaches_all))
