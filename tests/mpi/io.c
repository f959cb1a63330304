/* io.c - arrays to and from HDF5 files: what comes back, what is refused, what stays whole. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

#include "disk.h"
#include "meshes.h"
#include "scratch.h"

/* How many files are being written aside for `path`. */
static int count_aside(const char *path)
{
    char pattern[600];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s.tmp-[a-z][a-z][a-z][a-z][a-z][a-z]", path);
    int count = glob(pattern, 0, NULL, &found) == 0 ? (int)found.gl_pathc : 0;
    globfree(&found);
    return count;
}

/* After MPI_Finalize. */
static void expect_nothing_unfinished(void)
{
    char path[300];
    snprintf(path, sizeof path, "%s/unfinished.h5", scratch_directory);
    if (count_aside(path) == 0 && access(path, F_OK) != 0)
        return;
    fprintf(stderr, "%s: left behind at the end\n", path);
    fflush(NULL);
    scratch_remove();
    _exit(1);
}

/* Collective, so that no rank goes on to make more before all have looked. */
static void expect_aside(const char *path, int count)
{
    EXPECT(count_aside(path) == count);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void expect_none_aside(const char *path)
{
    expect_aside(path, 0);
}

/* Expects that dataset `name` read under `spec` as `dtype` is arange of this shape. */
static void expect_arange(spmd_file *file, const char *name, const char *spec, spmd_dtype asked,
                          spmd_dtype dtype, spmd_shape shape, spmd_mesh *mesh)
{
    spmd_array *read = NULL, *wanted = NULL;
    if (EXPECT_OK(spmd_dataset_read(file, name, spec, asked, &read)) &&
        EXPECT_OK(spmd_array_arange(mesh, spec, dtype, shape, &wanted))) {
        char type[200];
        spmd_array_format(type, sizeof type, wanted);
        if (!EXPECT(same_blocks(read, wanted)))
            fprintf(stderr, "  %s %s\n", name, type);
    }
    spmd_array_free(&read);
    spmd_array_free(&wanted);
}

static void write_arange(spmd_file *file, const char *name, const char *spec, spmd_dtype dtype,
                         spmd_shape shape, spmd_mesh *mesh)
{
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_arange(mesh, spec, dtype, shape, &array));
    EXPECT_OK(spmd_dataset_write(file, name, array));
    spmd_array_free(&array);
}

static const char *const all_specs[] = {"P()",      "P(x)",    "P(-,x)",     "P(y)",
                                        "P(x,y)",   "P(y,x)",  "P((x,y),-)", "P(-,(y,x))",
                                        "P(-,-,x)", "P(y,-,x)"};
enum { SPECS = sizeof all_specs / sizeof *all_specs };

/* Whether arrays of this shape can lie so on this mesh. */
static bool fits(spmd_mesh *mesh, const char *spec, spmd_shape shape)
{
    spmd_sharding *sharding = NULL;
    if (spmd_sharding_create(mesh, spec, &sharding) != SPMD_OK)
        return false;
    bool does = spmd_sharding_check(sharding, shape) == SPMD_OK;
    spmd_sharding_free(&sharding);
    return does;
}

static void round_trip_on(spmd_mesh *mesh)
{
    const spmd_shape shapes[] = {SPMD_SCALAR,         SPMD_SHAPE(1),       SPMD_SHAPE(7),
                                 SPMD_SHAPE(0),       SPMD_SHAPE(5, 3),    SPMD_SHAPE(1, 9),
                                 SPMD_SHAPE(4, 0, 3), SPMD_SHAPE(3, 5, 2), SPMD_SHAPE(200, 7)};
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    const char *path = scratch("round.h5");
    spmd_file *file = NULL;
    char name[40];
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    for (int s = 0; s < SHAPES; s++)
        for (int w = 0; w < SPECS; w++) {
            snprintf(name, sizeof name, "shape%d/spec%d", s, w);
            if (fits(mesh, all_specs[w], shapes[s]))
                write_arange(file, name, all_specs[w], SPMD_F64, shapes[s], mesh);
        }
    EXPECT_OK(spmd_file_close(&file));
    EXPECT(file == NULL);
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    for (int s = 0; s < SHAPES; s++)
        for (int w = 0; w < SPECS; w++) {
            if (!fits(mesh, all_specs[w], shapes[s]))
                continue;
            /* Each is read back under another spec than it was written. */
            int r = (w + 1) % SPECS;
            while (!fits(mesh, all_specs[r], shapes[s]))
                r = (r + 1) % SPECS;
            snprintf(name, sizeof name, "shape%d/spec%d", s, w);
            expect_arange(file, name, all_specs[r], SPMD_DTYPE_NONE, SPMD_F64, shapes[s], mesh);
        }
    EXPECT_OK(spmd_file_close(&file));
}

static void round_trip_of_shapes_and_specs(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    round_trip_on(mesh);
    spmd_mesh_free(&mesh);
    mesh = make_mesh("x=1,y=*");
    round_trip_on(mesh);
    spmd_mesh_free(&mesh);
    if (test_size % 2 != 0)
        return;
    mesh = make_mesh("x=*,y=2");
    round_trip_on(mesh);
    spmd_mesh_free(&mesh);
}

static void round_trip_on_ranks_in_another_order(void)
{
    for (int m = 0; m < PERMUTED_MESHES; m++) {
        spmd_mesh *mesh = make_permuted(m);
        round_trip_on(mesh);
        spmd_mesh_free(&mesh);
    }
}

static void round_trip_of_dtypes(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("dtypes.h5");
    spmd_file *file = NULL;
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    for (spmd_dtype t = SPMD_BOOL; t <= SPMD_C128; t++)
        write_arange(file, spmd_dtype_name(t), "P(x)", t, SPMD_SHAPE(13), mesh);
    EXPECT_OK(spmd_file_close(&file));
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    for (spmd_dtype t = SPMD_BOOL; t <= SPMD_C128; t++) {
        const char *name = spmd_dtype_name(t);
        spmd_dtype dtype = SPMD_DTYPE_NONE;
        spmd_shape shape = SPMD_SCALAR;
        EXPECT_OK(spmd_dataset_info(file, name, &dtype, &shape));
        EXPECT(dtype == t);
        EXPECT(spmd_shape_equal(shape, SPMD_SHAPE(13)));
        expect_arange(file, name, "P(x)", SPMD_DTYPE_NONE, t, SPMD_SHAPE(13), mesh);
        expect_arange(file, name, "P()", t, t, SPMD_SHAPE(13), mesh);
    }
    EXPECT_OK(spmd_file_close(&file));
    spmd_mesh_free(&mesh);
}

/* The indices below 13 are exact in every type. */
static void reading_converts(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("dtypes.h5");
    spmd_file *file = NULL;
    spmd_array *array = NULL;
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    for (spmd_dtype from = SPMD_I8; from <= SPMD_F64; from++)
        for (spmd_dtype to = SPMD_I8; to <= SPMD_F64; to++)
            expect_arange(file, spmd_dtype_name(from), "P(x)", to, to, SPMD_SHAPE(13), mesh);
    for (spmd_dtype from = SPMD_I8; from <= SPMD_U64; from++)
        expect_arange(file, spmd_dtype_name(from), "P(x)", SPMD_BOOL, SPMD_BOOL, SPMD_SHAPE(13),
                      mesh);
    expect_arange(file, "c64", "P(x)", SPMD_C128, SPMD_C128, SPMD_SHAPE(13), mesh);
    expect_arange(file, "c128", "P(x)", SPMD_C64, SPMD_C64, SPMD_SHAPE(13), mesh);

    if (EXPECT_OK(spmd_dataset_read(file, "bool", "P()", SPMD_F32, &array))) {
        const float *value = spmd_array_block(array)->data;
        EXPECT(value[0] == 0 && value[1] == 1 && value[12] == 1);
    }
    spmd_array_free(&array);
    EXPECT_FAILS(spmd_dataset_read(file, "f32", "P(x)", SPMD_BOOL, &array), SPMD_ERR_DTYPE,
                 "dtypes.h5: dataset \"f32\" is f32; that is not converted to bool");
    EXPECT_FAILS(spmd_dataset_read(file, "f32", "P(x)", SPMD_C64, &array), SPMD_ERR_DTYPE,
                 "not converted to c64");
    EXPECT_FAILS(spmd_dataset_read(file, "c64", "P(x)", SPMD_F32, &array), SPMD_ERR_DTYPE,
                 "not converted to f32");
    EXPECT_FAILS(spmd_dataset_read(file, "f32", "P(x)", (spmd_dtype)99, &array), SPMD_ERR_DTYPE,
                 "99");
    EXPECT(array == NULL);
    EXPECT_OK(spmd_file_close(&file));
    spmd_mesh_free(&mesh);
}

/* Negative and wide integers are true as well: HDF5 clips them before they are compared with 0. */
static void any_integer_but_zero_is_true(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("truth.h5");
    const int64_t values[] = {-1, 0, 256, INT64_MIN, 1};
    spmd_sharding *sharding = NULL;
    spmd_array *array = NULL, *read = NULL;
    EXPECT_OK(spmd_sharding_create(mesh, "P()", &sharding));
    EXPECT_OK(spmd_device_put(values, 5, SPMD_I64, SPMD_SHAPE(5), sharding, &array));
    EXPECT_OK(spmd_write(array, path, "v"));
    if (EXPECT_OK(spmd_read(mesh, path, "v", "P()", SPMD_BOOL, &read)))
        EXPECT(memcmp(spmd_array_block(read)->data, "\1\0\1\1\1", 5) == 0);
    spmd_array_free(&read);
    spmd_array_free(&array);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
}

static void make_dataset(hid_t file, const char *name, hid_t type, int ndim, const hsize_t dims[],
                         hid_t creation, hid_t memory, const void *data)
{
    hid_t space = ndim < 0 ? H5Screate(H5S_NULL) : H5Screate_simple(ndim, dims, NULL);
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (data)
        H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dclose(dataset);
    H5Sclose(space);
}

static void make_text(hid_t object, const char *name, hid_t type, const void *text)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, text);
    H5Aclose(attribute);
    H5Sclose(space);
}

/* A file as other programs make it. */
static void make_foreign(const char *path)
{
    const hsize_t dims[] = {9, 5}, chunk[] = {4, 3},
                  many[17] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    int32_t values[45];
    for (int i = 0; i < 45; i++)
        values[i] = i;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    make_dataset(file, "big", H5T_STD_I32BE, 2, dims, H5P_DEFAULT, H5T_NATIVE_INT32, values);
    make_dataset(file, "bigf", H5T_IEEE_F64BE, 2, dims, H5P_DEFAULT, H5T_NATIVE_INT32, values);

    hid_t packed = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(packed, 2, chunk);
    H5Pset_shuffle(packed);
    if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
        H5Pset_deflate(packed, 4);
    make_dataset(file, "packed", H5T_STD_U16LE, 2, dims, packed, H5T_NATIVE_INT32, values);
    H5Pclose(packed);

    hid_t colour = H5Tenum_create(H5T_STD_U16BE);
    H5Tenum_insert(colour, "RED", &(uint16_t){0});
    make_dataset(file, "colour", colour, 2, dims, H5P_DEFAULT, colour, NULL);
    H5Tclose(colour);
    hid_t string = H5Tcopy(H5T_C_S1);
    H5Tset_size(string, 4);
    make_dataset(file, "strings", string, 2, dims, H5P_DEFAULT, string, NULL);
    hid_t record = H5Tcreate(H5T_COMPOUND, 8);
    H5Tinsert(record, "id", 0, H5T_STD_I32LE);
    H5Tinsert(record, "i", 4, H5T_IEEE_F32LE);
    make_dataset(file, "records", record, 2, dims, H5P_DEFAULT, record, NULL);
    H5Tclose(record);
    make_dataset(file, "long", H5T_NATIVE_LDOUBLE, 2, dims, H5P_DEFAULT, H5T_NATIVE_LDOUBLE, NULL);
    make_dataset(file, "deep", H5T_STD_I8LE, 17, many, H5P_DEFAULT, H5T_NATIVE_INT8, NULL);
    make_dataset(file, "none", H5T_STD_I8LE, -1, NULL, H5P_DEFAULT, H5T_NATIVE_INT8, NULL);

    make_text(file, "full", string, "abcd");
    H5Tset_strpad(string, H5T_STR_SPACEPAD);
    make_text(file, "spaces", string, "ab  ");
    H5Tset_size(string, H5T_VARIABLE);
    H5Tset_strpad(string, H5T_STR_NULLTERM);
    H5Tset_cset(string, H5T_CSET_UTF8);
    make_text(file, "varying", string, &(const char *){"of any length"});
    make_text(file, "number", H5T_NATIVE_INT32, values);
    H5Tclose(string);
    H5Fclose(file);
}

static void foreign_files_are_read(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("foreign.h5");
    spmd_file *file = NULL;
    spmd_array *array = NULL;
    spmd_dtype dtype = SPMD_DTYPE_NONE;
    spmd_shape shape = SPMD_SCALAR, wanted = SPMD_SHAPE(9, 5);
    if (test_rank == 0)
        make_foreign(path);
    after_rank_0();
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    const char *const specs[] = {"P()", "P(x)", "P(-,x)"};
    for (int s = 0; s < 3; s++) {
        expect_arange(file, "big", specs[s], SPMD_DTYPE_NONE, SPMD_I32, wanted, mesh);
        expect_arange(file, "bigf", specs[s], SPMD_DTYPE_NONE, SPMD_F64, wanted, mesh);
        expect_arange(file, "packed", specs[s], SPMD_DTYPE_NONE, SPMD_U16, wanted, mesh);
        expect_arange(file, "packed", specs[s], SPMD_F32, SPMD_F32, wanted, mesh);
    }
    EXPECT_OK(spmd_dataset_info(file, "colour", &dtype, &shape));
    EXPECT(dtype == SPMD_U16 && spmd_shape_equal(shape, wanted));
    EXPECT_FAILS(spmd_dataset_read(file, "strings", "P(x)", SPMD_DTYPE_NONE, &array), SPMD_ERR_FILE,
                 "foreign.h5: dataset \"strings\" holds strings");
    EXPECT_FAILS(spmd_dataset_read(file, "records", "P(x)", SPMD_F32, &array), SPMD_ERR_FILE,
                 "holds records");
    EXPECT_FAILS(spmd_dataset_info(file, "long", &dtype, &shape), SPMD_ERR_FILE,
                 "holds floats of an unusual size");
    EXPECT_FAILS(spmd_dataset_info(file, "deep", &dtype, &shape), SPMD_ERR_FILE,
                 "has 17 dimensions, more than 16");
    EXPECT_FAILS(spmd_dataset_info(file, "none", &dtype, &shape), SPMD_ERR_FILE, "null dataspace");
    EXPECT_FAILS(spmd_dataset_read(file, "big", "P(x,-,-)", SPMD_DTYPE_NONE, &array), SPMD_ERR_SPEC,
                 "foreign.h5: dataset \"big\": ");
    EXPECT(array == NULL);
    EXPECT_OK(spmd_file_close(&file));
    spmd_mesh_free(&mesh);
}

static void expect_text(spmd_file *file, const char *name, const char *attribute,
                        const char *wanted)
{
    char *text = NULL;
    if (EXPECT_OK(spmd_dataset_get_text(file, name, attribute, &text)))
        EXPECT(wanted ? text && strcmp(text, wanted) == 0 : !text);
    free(text);
}

static void foreign_attributes_are_read(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    spmd_file *file = NULL;
    char *text = NULL;
    EXPECT_OK(spmd_file_open(mesh, scratch("foreign.h5"), &file));
    expect_text(file, "/", "full", "abcd");
    expect_text(file, "/", "spaces", "ab");
    expect_text(file, "/", "varying", "of any length");
    expect_text(file, "/", "missing", NULL);
    EXPECT_FAILS(spmd_dataset_get_text(file, "/", "number", &text), SPMD_ERR_FILE,
                 "foreign.h5: attribute \"number\" of \"/\": not a text");
    EXPECT(text == NULL);
    EXPECT_OK(spmd_file_close(&file));
    spmd_mesh_free(&mesh);
}

static void attributes_of_ours(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("attributes.h5");
    spmd_file *file = NULL;
    char *text = NULL, type[100];
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    write_arange(file, "g/v", "P(x)", SPMD_I32, SPMD_SHAPE(5), mesh);
    EXPECT_OK(spmd_dataset_set_text(file, "/", "title", "first"));
    EXPECT_OK(spmd_dataset_set_text(file, "/", "title", "then this \xc3\xa9"));
    EXPECT_OK(spmd_dataset_set_text(file, "g/v", "empty", ""));
    EXPECT_OK(spmd_dataset_set_text(file, "g", "about", "a group"));
    EXPECT_FAILS(spmd_dataset_set_text(file, "w", "unit", "m"), SPMD_ERR_FILE,
                 "there is no \"w\"; the file has g/");
    EXPECT_FAILS(spmd_dataset_set_text(file, "g/v", "unit", NULL), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_dataset_set_text(file, "g/v", "", "m"), SPMD_ERR_ARGUMENT, "empty");
    EXPECT_OK(spmd_file_close(&file));

    EXPECT_OK(spmd_file_open(mesh, path, &file));
    expect_text(file, "/", "title", "then this \xc3\xa9");
    expect_text(file, "g/v", "empty", "");
    expect_text(file, "g", "about", "a group");
    expect_text(file, "g/v", "unit", NULL);
    snprintf(type, sizeof type, "i32[5@x]");
    expect_text(file, "g/v", "spmd_sharding", type);
    EXPECT_FAILS(spmd_dataset_get_text(file, "w", "unit", &text), SPMD_ERR_FILE,
                 "there is no \"w\"; the file has g/");
    EXPECT_FAILS(spmd_dataset_set_text(file, "g/v", "unit", "m"), SPMD_ERR_FILE,
                 "attributes.h5: the file is open for reading");
    EXPECT_OK(spmd_file_close(&file));
    spmd_mesh_free(&mesh);
}

static void groups_and_names(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("groups.h5");
    spmd_file *file = NULL;
    spmd_array *array = NULL;
    spmd_dtype dtype = SPMD_DTYPE_NONE;
    spmd_shape shape = SPMD_SCALAR;
    bool exists = true;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(5), &array));
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    EXPECT_OK(spmd_dataset_exists(file, "a/b/c", &exists));
    EXPECT(!exists);
    EXPECT_OK(spmd_dataset_write(file, "a/b/c", array));
    EXPECT_OK(spmd_dataset_write(file, "/a/b/d", array));
    EXPECT_OK(spmd_dataset_write(file, "e", array));
    EXPECT_FAILS(spmd_dataset_write(file, "a/b/c", array), SPMD_ERR_FILE,
                 "groups.h5: already has a dataset \"a/b/c\"");
    EXPECT_FAILS(spmd_dataset_write(file, "a/b", array), SPMD_ERR_FILE,
                 "already has a group \"a/b\"");
    EXPECT_FAILS(spmd_dataset_write(file, "e/f", array), SPMD_ERR_FILE,
                 "a part of \"e/f\" is a dataset");
    const char *const bad[] = {"", "/", "a//b", "a/", "./a", "a/."};
    for (int i = 0; i < 6; i++)
        EXPECT_FAILS(spmd_dataset_write(file, bad[i], array), SPMD_ERR_ARGUMENT,
                     "is no name of a dataset");
    EXPECT_FAILS(spmd_dataset_write(file, NULL, array), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_OK(spmd_file_close(&file));

    EXPECT_OK(spmd_file_open(mesh, path, &file));
    expect_arange(file, "a/b/c", "P(x)", SPMD_DTYPE_NONE, SPMD_I32, SPMD_SHAPE(5), mesh);
    expect_arange(file, "a/b/d", "P()", SPMD_DTYPE_NONE, SPMD_I32, SPMD_SHAPE(5), mesh);
    expect_arange(file, "/e", "P()", SPMD_DTYPE_NONE, SPMD_I32, SPMD_SHAPE(5), mesh);
    EXPECT_OK(spmd_dataset_exists(file, "a/b", &exists));
    EXPECT(!exists);
    EXPECT_OK(spmd_dataset_exists(file, "a/b/d", &exists));
    EXPECT(exists);
    EXPECT_OK(spmd_dataset_exists(file, "e/f/g", &exists));
    EXPECT(!exists);
    EXPECT_FAILS(spmd_dataset_info(file, "y", &dtype, &shape), SPMD_ERR_FILE,
                 "groups.h5: no dataset \"y\"; the file has a/b/c, a/b/d, e");
    EXPECT_FAILS(spmd_dataset_info(file, "a/b", &dtype, &shape), SPMD_ERR_FILE,
                 "groups.h5: \"a/b\" is a group, no dataset; the file has a/b/c, a/b/d, e");
    EXPECT_OK(spmd_file_close(&file));
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static void missing_datasets_are_listed_up_to_a_limit(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("many.h5");
    spmd_file *file = NULL;
    char name[20];
    bool exists;
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    EXPECT_FAILS(spmd_dataset_get_text(file, "y", "unit", &(char *){NULL}), SPMD_ERR_FILE,
                 "many.h5: there is no \"y\"; the file has nothing");
    EXPECT_FAILS(spmd_dataset_info(file, "y", &(spmd_dtype){0}, &(spmd_shape){0}), SPMD_ERR_FILE,
                 "many.h5: no dataset \"y\"; the file has none");
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "v%02d", i);
        write_arange(file, name, "P(x)", SPMD_U8, SPMD_SHAPE(3), mesh);
    }
    EXPECT_FAILS(spmd_dataset_get_text(file, "y", "unit", &(char *){NULL}), SPMD_ERR_FILE,
                 "the file has v00, v01, v02, v03, v04, v05, v06, v07 and more");
    EXPECT_FAILS(spmd_dataset_info(file, "y", &(spmd_dtype){0}, &(spmd_shape){0}), SPMD_ERR_FILE,
                 "the file has v00, v01, v02, v03, v04, v05, v06, v07 and more");
    EXPECT_OK(spmd_dataset_exists(file, "v11", &exists));
    EXPECT(exists);
    EXPECT_OK(spmd_file_close(&file));
    spmd_mesh_free(&mesh);
}

static void copy_bytes(const char *from, const char *to, size_t bytes)
{
    char buffer[256];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    while (bytes > 0) {
        size_t count = fread(buffer, 1, bytes < sizeof buffer ? bytes : sizeof buffer, in);
        if (count == 0)
            break;
        fwrite(buffer, 1, count, out);
        bytes -= count;
    }
    fclose(in);
    fclose(out);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    fputs(text, file);
    fclose(file);
}

static void files_that_cannot_be_opened(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    spmd_file *file = NULL;
    const char *whole = scratch("whole.h5"), *cut = scratch("cut.h5"), *text = scratch("text.h5");
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(1000), &array));
    EXPECT_OK(spmd_write(array, whole, "v"));
    if (test_rank == 0) {
        copy_bytes(whole, cut, 4000);
        write_file(text, "not what it seems\n");
    }
    after_rank_0();
    EXPECT_FAILS(spmd_file_open(mesh, cut, &file), SPMD_ERR_FILE, "cut.h5: cut short (");
    EXPECT_FAILS(spmd_file_open(mesh, text, &file), SPMD_ERR_FILE, "text.h5: not an HDF5 file");
    EXPECT_FAILS(spmd_file_open(mesh, scratch_directory, &file), SPMD_ERR_FILE, ": is a directory");
    EXPECT_FAILS(spmd_file_open(mesh, "/dev/null", &file), SPMD_ERR_FILE,
                 "/dev/null: not a regular file");
    EXPECT_FAILS(spmd_file_open(mesh, scratch("no.h5"), &file), SPMD_ERR_FILE,
                 "no.h5: no such file or directory");
    EXPECT_FAILS(spmd_file_open(mesh, scratch("text.h5/no.h5"), &file), SPMD_ERR_FILE,
                 "no.h5: not a directory");
    EXPECT_FAILS(spmd_file_open(mesh, "", &file), SPMD_ERR_ARGUMENT, "empty");
    EXPECT_FAILS(spmd_file_open(mesh, NULL, &file), SPMD_ERR_ARGUMENT,
                 "spmd_file_open: the path of the file is NULL");
    EXPECT_FAILS(spmd_read(mesh, scratch("no.h5"), "v", "P(x)", SPMD_F64, &array), SPMD_ERR_FILE,
                 "no.h5: no such file or directory");
    EXPECT_FAILS(spmd_read(mesh, whole, "w", "P(x)", SPMD_F64, &array), SPMD_ERR_FILE,
                 "whole.h5: no dataset \"w\"; the file has v");
    EXPECT(file == NULL);
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static void a_writers_lock_is_respected(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("whole.h5");
    spmd_file *file = NULL;
    int fd = -1;
    if (test_rank == 0) {
        fd = open(path, O_RDWR);
        EXPECT(flock(fd, LOCK_EX) == 0);
    }
    after_rank_0();
    EXPECT_FAILS(spmd_file_open(mesh, path, &file), SPMD_ERR_FILE, "HDF5_USE_FILE_LOCKING=FALSE");
    if (fd >= 0)
        close(fd);
    after_rank_0();
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    EXPECT_OK(spmd_file_close(&file));
    spmd_mesh_free(&mesh);
}

enum { MOST_TAKEN = 1024 };

/* Takes all descriptors that this process may still have. A limit below those that are in use would
 * do as well, but not for MPI's own sockets: what waits for them is bound by it. */

static int take_descriptors(int taken[])
{
    int count = 0;
    while (count < MOST_TAKEN && (taken[count] = dup(STDERR_FILENO)) >= 0)
        count++;
    return count;
}

/* The last rank has no descriptors left: all ranks hear of it, and none waits. */
static void one_rank_that_cannot_open_fails_all(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("whole.h5"), *new_path = scratch("alone.h5");
    spmd_file *file = NULL;
    struct rlimit limit, few;
    int taken[MOST_TAKEN], count = 0;
    getrlimit(RLIMIT_NOFILE, &limit);
    few = limit;
    if (few.rlim_cur > MOST_TAKEN)
        few.rlim_cur = MOST_TAKEN;
    if (test_rank == test_size - 1) {
        setrlimit(RLIMIT_NOFILE, &few);
        count = take_descriptors(taken);
    }
    spmd_status opened = spmd_file_open(mesh, path, &file);
    EXPECT_FAILS(opened, SPMD_ERR_FILE, "whole.h5: too many open files");
    spmd_status created = spmd_file_create(mesh, new_path, &file);
    EXPECT_FAILS(created, SPMD_ERR_FILE, "alone.h5: too many open files");
    while (count > 0)
        close(taken[--count]);
    setrlimit(RLIMIT_NOFILE, &limit);
    after_rank_0();
    expect_none_aside(scratch("alone.h5"));
    EXPECT(file == NULL);
    spmd_mesh_free(&mesh);
}

/* Collective. This rank's file of a name that all have: one where a node does not share the place.
 */
static void write_alone(const char *name, int64_t count)
{
    spmd_mesh *self = NULL;
    spmd_array *array = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_SELF, "x=1", &self));
    EXPECT_OK(spmd_array_arange(self, "P(x)", SPMD_F64, SPMD_SHAPE(count), &array));
    EXPECT_OK(spmd_write(array, name, "v"));
    spmd_array_free(&array);
    spmd_mesh_free(&self);
}

/* As /tmp on several nodes: the same path is another place on the last rank. */
static void a_place_that_is_not_shared_is_told(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *first = scratch("first"), *last = scratch("last");
    bool is_last = test_rank > 0 && test_rank == test_size - 1;
    spmd_file *file = NULL;
    spmd_array *array = NULL;
    int here = open(".", O_RDONLY | O_DIRECTORY);
    if (test_rank == 0)
        EXPECT(mkdir(first, 0700) == 0 && mkdir(last, 0700) == 0);
    after_rank_0();
    EXPECT(chdir(is_last ? last : first) == 0);
    if (test_rank == 0)
        write_alone("only.h5", 100);
    if (test_rank == 0 || is_last)
        write_alone("differs.h5", is_last ? 90 : 100);
    after_rank_0();
    if (test_size > 1) {
        EXPECT_FAILS(spmd_file_open(mesh, "only.h5", &file), SPMD_ERR_FILE,
                     "only.h5: no such file or directory");
        EXPECT_FAILS(spmd_file_create(mesh, "new.h5", &file), SPMD_ERR_FILE,
                     "new.h5: no such file or directory");
        EXPECT_FAILS(spmd_file_modify(mesh, "differs.h5", &file), SPMD_ERR_FILE, "differs.h5");
        EXPECT_FAILS(spmd_read(mesh, "differs.h5", "v", "P(x)", SPMD_F64, &array), SPMD_ERR_FILE,
                     "differs.h5: dataset \"v\" is not the same on all ranks");
        expect_none_aside("new.h5");
        expect_none_aside("differs.h5");
    }
    EXPECT(fchdir(here) == 0);
    close(here);
    spmd_mesh_free(&mesh);
}

static void files_that_cannot_be_created(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    spmd_file *file = NULL;
    char message[1100];
    snprintf(message, sizeof message, "cannot write %s: there is no directory %s",
             scratch("no/such/x.h5"), scratch("no"));
    EXPECT_FAILS(spmd_file_create(mesh, scratch("no/such/x.h5"), &file), SPMD_ERR_FILE, message);
    snprintf(message, sizeof message, "cannot write %s: %s is not a directory",
             scratch("text.h5/x.h5"), scratch("text.h5"));
    EXPECT_FAILS(spmd_file_create(mesh, scratch("text.h5/x.h5"), &file), SPMD_ERR_FILE, message);
    EXPECT_FAILS(spmd_file_create(mesh, scratch_directory, &file), SPMD_ERR_FILE,
                 ": is a directory");
    EXPECT_FAILS(spmd_file_create(mesh, "/dev/null", &file), SPMD_ERR_FILE,
                 "/dev/null: not a regular file");
    EXPECT_FAILS(spmd_file_create(mesh, NULL, &file), SPMD_ERR_ARGUMENT,
                 "spmd_file_create: the path of the file is NULL");
    EXPECT(file == NULL);
    spmd_mesh_free(&mesh);
}

static void expect_old_file(spmd_mesh *mesh, const char *path, spmd_shape shape)
{
    spmd_file *file = NULL;
    if (EXPECT_OK(spmd_file_open(mesh, path, &file))) {
        expect_arange(file, "v", "P(x)", SPMD_DTYPE_NONE, SPMD_I32, shape, mesh);
        EXPECT_OK(spmd_file_close(&file));
    }
}

static void an_old_file_stays_until_the_new_one_is_whole(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("kept.h5");
    spmd_file *file = NULL;
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(7), &array));
    EXPECT_OK(spmd_write(array, path, "v"));
    expect_none_aside(path);

    EXPECT_OK(spmd_file_create(mesh, path, &file));
    write_arange(file, "v", "P(x)", SPMD_I32, SPMD_SHAPE(9), mesh);
    expect_aside(path, 1);
    expect_old_file(mesh, path, SPMD_SHAPE(7));
    spmd_file_discard(&file);
    EXPECT(file == NULL);
    expect_none_aside(path);
    expect_old_file(mesh, path, SPMD_SHAPE(7));

    EXPECT_FAILS(spmd_write(array, path, ""), SPMD_ERR_ARGUMENT, "no name");
    expect_none_aside(path);
    expect_old_file(mesh, path, SPMD_SHAPE(7));

    EXPECT_OK(spmd_file_create(mesh, path, &file));
    write_arange(file, "v", "P(x)", SPMD_I32, SPMD_SHAPE(9), mesh);
    EXPECT_OK(spmd_file_close(&file));
    expect_none_aside(path);
    expect_old_file(mesh, path, SPMD_SHAPE(9));
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

/* Each handle has a file of its own until it is closed; what has a similar name is left alone. */
static void two_handles_on_one_path(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("twice.h5"), *neighbour = scratch("twice.h5.tmp");
    spmd_file *first = NULL, *second = NULL, *third = NULL;
    char text[20] = "";
    if (test_rank == 0)
        write_file(neighbour, "mine");
    EXPECT_OK(spmd_file_create(mesh, path, &first));
    EXPECT_OK(spmd_file_create(mesh, path, &second));
    EXPECT_OK(spmd_file_create(mesh, path, &third));
    expect_aside(path, 3);
    write_arange(first, "v", "P(x)", SPMD_I32, SPMD_SHAPE(7), mesh);
    write_arange(second, "v", "P(x)", SPMD_I32, SPMD_SHAPE(900), mesh);
    write_arange(third, "v", "P(x)", SPMD_I32, SPMD_SHAPE(3), mesh);
    EXPECT_OK(spmd_file_close(&second));
    expect_old_file(mesh, path, SPMD_SHAPE(900));
    spmd_file_discard(&third);
    expect_old_file(mesh, path, SPMD_SHAPE(900));
    EXPECT_OK(spmd_file_close(&first));
    expect_old_file(mesh, path, SPMD_SHAPE(7));
    expect_none_aside(path);
    FILE *stream = fopen(neighbour, "rb");
    EXPECT(stream && fgets(text, sizeof text, stream) && strcmp(text, "mine") == 0);
    if (stream)
        fclose(stream);
    spmd_mesh_free(&mesh);
}

/* As jobs of one rank each would: the file is one of theirs, whole. */
static void each_rank_writes_one_path_by_itself(void)
{
    spmd_mesh *mesh = NULL;
    const char *path = scratch("race.h5");
    spmd_array *array = NULL;
    spmd_file *file = NULL;
    spmd_dtype dtype = SPMD_DTYPE_NONE;
    spmd_shape shape = SPMD_SCALAR;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_SELF, "x=1", &mesh));
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(100 + test_rank), &array));
    for (int round = 0; round < 5; round++)
        EXPECT_OK(spmd_write(array, path, "v"));
    spmd_array_free(&array);
    MPI_Barrier(MPI_COMM_WORLD);
    if (EXPECT_OK(spmd_file_open(mesh, path, &file))) {
        EXPECT_OK(spmd_dataset_info(file, "v", &dtype, &shape));
        EXPECT(shape.ndim == 1 && shape.dim[0] >= 100 && shape.dim[0] < 100 + test_size);
        expect_arange(file, "v", "P(x)", SPMD_DTYPE_NONE, SPMD_I32, shape, mesh);
        EXPECT_OK(spmd_file_close(&file));
    }
    expect_none_aside(path);
    spmd_mesh_free(&mesh);
}

static bool is_link(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
}

/* Paths of any length are written; some kinds of MPI-IO have little room for them. */
static void long_paths_are_written(void)
{
    enum { LONG = 200 };
    spmd_mesh *mesh = make_mesh("x=*");
    spmd_file *file = NULL;
    char name[LONG + 41] = "", path[512];
    memset(name, 'a', LONG);
    snprintf(path, sizeof path, "%s/%s.h5", scratch(name), "here");
    if (test_rank == 0)
        EXPECT(mkdir(scratch(name), 0700) == 0);
    after_rank_0();
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    write_arange(file, "v", "P(x)", SPMD_I32, SPMD_SHAPE(9), mesh);
    expect_aside(path, 1);
    EXPECT_OK(spmd_file_close(&file));
    expect_old_file(mesh, path, SPMD_SHAPE(9));
    EXPECT_OK(spmd_file_modify(mesh, path, &file));
    write_arange(file, "w", "P(x)", SPMD_I32, SPMD_SHAPE(7), mesh);
    EXPECT_OK(spmd_file_close(&file));
    expect_old_file(mesh, path, SPMD_SHAPE(9));
    expect_none_aside(path);

    memset(name, 'a', sizeof name - 1);
    snprintf(path, sizeof path, "%s", scratch(name));
    EXPECT_FAILS(spmd_file_create(mesh, path, &file), SPMD_ERR_FILE, "too long for MPI-IO");
    after_rank_0();
    expect_none_aside(path);
    spmd_mesh_free(&mesh);
}

static void a_link_is_followed(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *link = scratch("link.h5"), *chain = scratch("chain.h5");
    const char *target = scratch("deep/target.h5"), *loop = scratch("loop.h5");
    spmd_array *array = NULL;
    spmd_file *file = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(7), &array));
    if (test_rank == 0)
        EXPECT(mkdir(scratch("deep"), 0700) == 0 && symlink(target, link) == 0 &&
               symlink("link.h5", chain) == 0 && symlink("loop.h5", loop) == 0);
    after_rank_0();
    /* The target is made; then it is replaced, which the relative link to the link shows. */
    EXPECT_OK(spmd_write(array, link, "v"));
    expect_old_file(mesh, target, SPMD_SHAPE(7));
    EXPECT_OK(spmd_file_create(mesh, chain, &file));
    write_arange(file, "v", "P(x)", SPMD_I32, SPMD_SHAPE(9), mesh);
    expect_aside(target, 1);
    EXPECT_OK(spmd_file_close(&file));
    expect_old_file(mesh, target, SPMD_SHAPE(9));
    expect_old_file(mesh, chain, SPMD_SHAPE(9));
    EXPECT(is_link(link) && is_link(chain) && !is_link(target));
    EXPECT_FAILS(spmd_write(array, loop, "v"), SPMD_ERR_FILE,
                 "loop.h5: too many levels of symbolic links");
    expect_none_aside(target);
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static void an_image_is_a_file(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("image.h5");
    spmd_file *first = NULL, *second = NULL;
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(7), &array));
    EXPECT_OK(spmd_write(array, path, "v"));
    spmd_array_free(&array);
    struct stat about;
    EXPECT(stat(path, &about) == 0);
    size_t size = (size_t)about.st_size;
    char *bytes = malloc(size), *text = NULL;
    FILE *stream = fopen(path, "rb");
    EXPECT(fread(bytes, 1, size, stream) == size);
    fclose(stream);

    EXPECT_OK(spmd_file_open_image(mesh, bytes, size, "memory", &first));
    /* Two images of one name are two files. */
    EXPECT_FAILS(spmd_file_open_image(mesh, "no HDF5", 8, "memory", &second), SPMD_ERR_FILE,
                 "memory: not an HDF5 file");
    EXPECT_FAILS(spmd_file_open_image(mesh, bytes, size / 2, "memory", &second), SPMD_ERR_FILE,
                 "memory: ");
    EXPECT_FAILS(spmd_file_open_image(mesh, NULL, 0, "memory", &second), SPMD_ERR_FILE,
                 "memory: the image of the file is empty");
    EXPECT_OK(spmd_file_open_image(mesh, bytes, size, "memory", &second));
    memset(bytes, 0, size);
    free(bytes);
    expect_arange(first, "v", "P(x)", SPMD_F32, SPMD_F32, SPMD_SHAPE(7), mesh);
    expect_text(first, "v", "spmd_sharding", "i32[7@x]");
    EXPECT_OK(spmd_file_close(&first));
    expect_arange(second, "v", "P()", SPMD_DTYPE_NONE, SPMD_I32, SPMD_SHAPE(7), mesh);
    EXPECT_FAILS(spmd_dataset_get_text(second, "w", "unit", &text), SPMD_ERR_FILE,
                 "memory: there is no \"w\"; the file has v");
    EXPECT_OK(spmd_file_close(&second));
    spmd_mesh_free(&mesh);
}

/* A mesh that leaves the last rank idle, where there is more than one. */
static void idle_ranks_succeed_at_once(void)
{
    char text[20];
    snprintf(text, sizeof text, "x=%d", test_size > 1 ? test_size - 1 : 1);
    spmd_mesh *mesh = make_mesh(text);
    bool idle = spmd_mesh_position(mesh) < 0, exists = false;
    const char *path = scratch("idle.h5");
    spmd_file *file = NULL;
    spmd_array *array = NULL, *read = NULL;
    spmd_dtype dtype = SPMD_I8;
    spmd_shape shape = SPMD_SCALAR;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(7), &array));
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    EXPECT_OK(spmd_dataset_write(file, "v", array));
    EXPECT_OK(spmd_dataset_set_text(file, "v", "unit", "m"));
    EXPECT_OK(spmd_file_close(&file));
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    EXPECT_OK(spmd_dataset_exists(file, "v", &exists));
    EXPECT(exists == !idle);
    EXPECT_OK(spmd_dataset_info(file, "v", &dtype, &shape));
    EXPECT(dtype == (idle ? SPMD_DTYPE_NONE : SPMD_I32));
    expect_text(file, "v", "unit", idle ? NULL : "m");
    EXPECT_FAILS(spmd_dataset_exists(file, "v", NULL), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_dataset_info(file, "v", NULL, &shape), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_dataset_info(file, "v", &dtype, NULL), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_dataset_get_text(file, "v", "unit", NULL), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_dataset_read(file, "v", "P(x)", SPMD_I32, NULL), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_read(mesh, path, "v", "P(x)", SPMD_I32, NULL), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_file_open(mesh, path, NULL), SPMD_ERR_ARGUMENT,
                 ".h5: the pointer for the file is NULL");
    EXPECT_OK(spmd_dataset_read(file, "v", "P(x)", SPMD_DTYPE_NONE, &read));
    if (idle)
        EXPECT(spmd_array_block(read) == NULL && spmd_array_shape(read).dim[0] == -1);
    else
        EXPECT(same_blocks(read, array));
    EXPECT_OK(spmd_file_close(&file));
    spmd_array_free(&read);
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    spmd_file_discard(&file);
    EXPECT(file == NULL);
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static void wrong_use_is_told(void)
{
    spmd_mesh *mesh = make_mesh("x=*"), *other = make_mesh("z=*"), *abstract = NULL;
    const char *path = scratch("use.h5");
    spmd_file *file = NULL;
    spmd_array *array = NULL, *foreign = NULL;
    bool exists = false;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(7), &array));
    EXPECT_OK(spmd_array_arange(other, "P(z)", SPMD_I32, SPMD_SHAPE(7), &foreign));
    EXPECT_OK(spmd_mesh_create_abstract("x=4", &abstract));

    EXPECT_FAILS(spmd_file_close(&file), SPMD_ERR_ARGUMENT,
                 "spmd_file_close: the file is NULL: it is closed, or was never opened");
    EXPECT_FAILS(spmd_file_close(NULL), SPMD_ERR_ARGUMENT, "closed, or was never opened");
    EXPECT_FAILS(spmd_dataset_write(file, "v", array), SPMD_ERR_ARGUMENT, "closed");
    EXPECT_FAILS(spmd_dataset_exists(file, "v", &exists), SPMD_ERR_ARGUMENT,
                 "spmd_dataset_exists of v: the file is NULL");
    spmd_file_discard(&file);
    EXPECT_FAILS(spmd_file_open(NULL, path, &file), SPMD_ERR_ARGUMENT, "use.h5: the mesh is NULL");
    EXPECT_FAILS(spmd_file_create(abstract, path, &file), SPMD_ERR_MESH, "abstract");
    EXPECT_FAILS(spmd_file_open(abstract, path, &file), SPMD_ERR_MESH, "abstract");
    EXPECT_FAILS(spmd_file_open_image(abstract, "", 1, "m", &file), SPMD_ERR_MESH, "abstract");
    EXPECT_FAILS(spmd_write(NULL, path, "v"), SPMD_ERR_ARGUMENT, "use.h5: the array is NULL");
    EXPECT_FAILS(spmd_write(NULL, NULL, "v"), SPMD_ERR_ARGUMENT, "spmd_write: the array is NULL");

    EXPECT_OK(spmd_file_create(mesh, path, &file));
    EXPECT_FAILS(spmd_dataset_write(file, "v", foreign), SPMD_ERR_MESH, "another mesh");
    EXPECT_FAILS(spmd_dataset_write(file, "v", NULL), SPMD_ERR_ARGUMENT, "array is NULL");
    EXPECT_OK(spmd_dataset_write(file, "v", array));
    EXPECT_FAILS(spmd_dataset_read(file, "v", "P(x)", SPMD_I32, &foreign), SPMD_ERR_FILE,
                 "use.h5: dataset \"v\": the file is still being written");
    EXPECT_FAILS(spmd_dataset_exists(file, "v", NULL), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_OK(spmd_file_close(&file));
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    EXPECT_FAILS(spmd_dataset_write(file, "w", array), SPMD_ERR_FILE,
                 "use.h5: dataset \"w\": the file is open for reading");
    EXPECT_FAILS(spmd_dataset_read(file, "v", "P(q)", SPMD_I32, &array), SPMD_ERR_SPEC, "q");
    EXPECT_FAILS(spmd_dataset_read(file, "v", "P(x)", SPMD_I32, NULL), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_OK(spmd_file_close(&file));
    spmd_array_free(&foreign);
    spmd_array_free(&array);
    spmd_mesh_free(&abstract);
    spmd_mesh_free(&other);
    spmd_mesh_free(&mesh);
}

static void ranks_that_disagree_are_told(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("use.h5"), *mine = scratch("mine.h5"), *yours = scratch("yours.h5");
    spmd_file *file = NULL, *second = NULL;
    spmd_array *array = NULL;
    bool exists, odd = test_rank % 2;
    if (test_size > 1) {
        EXPECT_FAILS(spmd_file_create(mesh, odd ? mine : yours, &file), SPMD_ERR_DISAGREE,
                     "passed other arguments than rank 0");
        MPI_Barrier(MPI_COMM_WORLD);
        expect_none_aside(mine);
        expect_none_aside(yours);
        spmd_status begun =
            odd ? spmd_file_open(mesh, path, &file) : spmd_file_create(mesh, path, &file);
        EXPECT_FAILS(begun, SPMD_ERR_DISAGREE, "passed other arguments than rank 0");
        EXPECT(file == NULL);
        EXPECT_OK(spmd_file_open(mesh, path, &file));
        EXPECT_FAILS(spmd_dataset_exists(file, odd ? "v" : "w", &exists), SPMD_ERR_DISAGREE, "");
        EXPECT_FAILS(spmd_dataset_read(file, "v", odd ? "P(x)" : "P()", SPMD_I32, &array),
                     SPMD_ERR_DISAGREE, "");
        EXPECT_FAILS(spmd_dataset_read(file, "v", "P(x)", odd ? SPMD_I32 : SPMD_I64, &array),
                     SPMD_ERR_DISAGREE, "");
        EXPECT_OK(spmd_file_open(mesh, scratch("dtypes.h5"), &second));
        EXPECT_FAILS(spmd_file_close(odd ? &file : &second), SPMD_ERR_DISAGREE, "");
        EXPECT_OK(spmd_file_close(&second));
        EXPECT_OK(spmd_file_close(&file));
    }
    EXPECT(array == NULL);
    spmd_mesh_free(&mesh);
}

/* One half closes, the other discards: all come back, with the file open as before. */
static void close_beside_discard(spmd_file **file)
{
    if (test_rank % 2 == 0)
        EXPECT_FAILS(spmd_file_close(file), SPMD_ERR_DISAGREE, "rank 1 passed other arguments");
    else
        spmd_file_discard(file);
    EXPECT(*file != NULL);
    EXPECT(strstr(spmd_error_message(), "rank 1 passed other arguments") != NULL);
}

static void closing_beside_discarding_is_told(void)
{
    if (test_size == 1)
        return;
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("either.h5");
    spmd_file *file = NULL;
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    write_arange(file, "v", "P(x)", SPMD_I32, SPMD_SHAPE(7), mesh);
    close_beside_discard(&file);
    EXPECT_OK(spmd_file_close(&file));
    expect_old_file(mesh, path, SPMD_SHAPE(7));

    EXPECT_OK(spmd_file_create(mesh, path, &file));
    close_beside_discard(&file);
    spmd_file_discard(&file);
    EXPECT(file == NULL);
    expect_none_aside(path);

    EXPECT_OK(spmd_file_open(mesh, path, &file));
    close_beside_discard(&file);
    expect_arange(file, "v", "P()", SPMD_DTYPE_NONE, SPMD_I32, SPMD_SHAPE(7), mesh);
    spmd_file_discard(&file);
    EXPECT(file == NULL);
    spmd_mesh_free(&mesh);
}

/* A disk of 1 MiB: what does not fit is refused before it is written, on all ranks. */
static void fill_the_disk(spmd_mesh *mesh)
{
    const char *path = scratch("disk/v.h5");
    spmd_array *small = NULL, *large = NULL;
    spmd_file *file = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(7), &small));
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(500000), &large));
    EXPECT_OK(spmd_write(small, path, "v"));
    EXPECT_FAILS(spmd_write(large, path, "v"), SPMD_ERR_FILE, "no space left on device");
    expect_none_aside(scratch("disk/v.h5"));
    expect_old_file(mesh, path, SPMD_SHAPE(7));

    EXPECT_OK(spmd_file_create(mesh, path, &file));
    EXPECT_OK(spmd_dataset_write(file, "w", small));
    EXPECT_FAILS(spmd_dataset_write(file, "v", large), SPMD_ERR_FILE, "v.h5: no room for ");
    EXPECT_FAILS(spmd_file_close(&file), SPMD_ERR_FILE, "v.h5: not put in place");
    expect_none_aside(scratch("disk/v.h5"));
    expect_old_file(mesh, path, SPMD_SHAPE(7));
    EXPECT_OK(spmd_write(small, path, "v"));
    spmd_array_free(&large);
    spmd_array_free(&small);
}

static void a_full_disk_is_told_before_the_write(void)
{
    if (!mount_disk("tmpfs", "size=1m"))
        return;
    spmd_mesh *mesh = make_mesh("x=*");
    fill_the_disk(mesh);
    spmd_mesh_free(&mesh);
    unmount_disk();
}

/* Last: what a program forgets to close must not disturb MPI_Finalize. */
static spmd_file *forgotten, *unfinished;

static void files_left_open_at_the_end(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    if (test_rank == 0)
        atexit(expect_nothing_unfinished);
    EXPECT_OK(spmd_file_open(mesh, scratch("use.h5"), &forgotten));
    EXPECT_OK(spmd_file_create(mesh, scratch("unfinished.h5"), &unfinished));
    write_arange(unfinished, "v", "P(x)", SPMD_F64, SPMD_SHAPE(100), mesh);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("io", CASE(round_trip_of_shapes_and_specs), CASE(round_trip_on_ranks_in_another_order),
             CASE(round_trip_of_dtypes), CASE(reading_converts), CASE(any_integer_but_zero_is_true),
             CASE(foreign_files_are_read), CASE(foreign_attributes_are_read),
             CASE(attributes_of_ours), CASE(groups_and_names),
             CASE(missing_datasets_are_listed_up_to_a_limit), CASE(files_that_cannot_be_opened),
             CASE(a_writers_lock_is_respected), CASE(one_rank_that_cannot_open_fails_all),
             CASE(a_place_that_is_not_shared_is_told), CASE(files_that_cannot_be_created),
             CASE(an_old_file_stays_until_the_new_one_is_whole), CASE(two_handles_on_one_path),
             CASE(each_rank_writes_one_path_by_itself), CASE(long_paths_are_written),
             CASE(a_link_is_followed), CASE(an_image_is_a_file), CASE(idle_ranks_succeed_at_once),
             CASE(wrong_use_is_told), CASE(ranks_that_disagree_are_told),
             CASE(closing_beside_discarding_is_told), CASE(a_full_disk_is_told_before_the_write),
             CASE(files_left_open_at_the_end))
