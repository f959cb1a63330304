/* dataset.c - how datasets are stored, written in parts, grown and read; what is refused. */
#include <signal.h>
#include <sys/resource.h>

#include <hdf5.h>

#include "disk.h"
#include "meshes.h"
#include "model.h"

static spmd_array *arange(spmd_mesh *mesh, const char *spec, spmd_dtype dtype, spmd_shape shape)
{
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_arange(mesh, spec, dtype, shape, &array));
    return array;
}

/* Expects that a dataset, read under `spec`, is what the model says. */
static void expect_model(spmd_file *file, const char *name, const char *spec,
                         const struct model *model)
{
    spmd_array *read = NULL;
    EXPECT_OK(spmd_dataset_read(file, name, spec, model->dtype, &read));
    if (!EXPECT(model_is_in(model, NULL, read)))
        fprintf(stderr, "  %s under %s\n", name, spec);
    spmd_array_free(&read);
}

/* Numbers that no double holds. */
static void fills_are_exact(void)
{
    spmd_mesh *mesh = make_line();
    const char *path = scratch("fills.h5");
    const int64_t most = INT64_MAX;
    const uint64_t all = UINT64_MAX - 1;
    const spmd_shape shape = SPMD_SHAPE(5, 3);
    spmd_file *file = NULL;
    spmd_dataset_options chunked = {.chunk = {2, 2}, .shuffle = true, .fill = &most};
    spmd_dataset_options contiguous = {.fill = &all};
    struct model mosts = model_make(SPMD_I64, shape), alls = model_make(SPMD_U64, shape),
                 zeros = model_make(SPMD_F32, shape);
    model_fill(&mosts, &most);
    model_fill(&alls, &all);
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    EXPECT_OK(spmd_dataset_create(file, "most", SPMD_I64, shape, &chunked));
    EXPECT_OK(spmd_dataset_create(file, "all", SPMD_U64, shape, &contiguous));
    EXPECT_OK(spmd_dataset_create(file, "zeros", SPMD_F32, shape, NULL));
    EXPECT_OK(spmd_file_close(&file));
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    expect_model(file, "most", "P(x)", &mosts);
    expect_model(file, "all", "P(-,x)", &alls);
    expect_model(file, "zeros", "P()", &zeros);
    EXPECT_OK(spmd_file_close(&file));
    model_free(&zeros);
    model_free(&alls);
    model_free(&mosts);
    spmd_mesh_free(&mesh);
}

/* What HDF5 finds of a dataset. */
struct found {
    H5D_layout_t layout;
    hsize_t chunk[2], most[2];
    int filters;
    hsize_t bytes;
};

static struct found look(const char *path, const char *name)
{
    struct found found = {0};
    hsize_t extent[2];
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
    hid_t creation = H5Dget_create_plist(dataset);
    found.layout = H5Pget_layout(creation);
    if (found.layout == H5D_CHUNKED)
        H5Pget_chunk(creation, 2, found.chunk);
    H5Sget_simple_extent_dims(space, extent, found.most);
    found.filters = H5Pget_nfilters(creation);
    found.bytes = H5Dget_storage_size(dataset);
    H5Pclose(creation);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    return found;
}

static void write_as(spmd_file *file, const char *name, spmd_array *array,
                     spmd_dataset_options options)
{
    EXPECT_OK(spmd_dataset_write_as(file, name, array, &options));
}

static void options_are_followed(void)
{
    spmd_mesh *mesh = make_line();
    const char *path = scratch("options.h5");
    const spmd_shape shape = SPMD_SHAPE(600, 7);
    spmd_array *array = arange(mesh, "P(x)", SPMD_F64, shape);
    spmd_array *empty = arange(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(0, 7));
    spmd_file *file = NULL;
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    write_as(file, "plain", array, (spmd_dataset_options){0});
    write_as(file, "given", array, (spmd_dataset_options){.chunk = {100, 7}, .deflate = 6});
    write_as(file, "chosen", array,
             (spmd_dataset_options){.shuffle = true, .deflate = 1, .fletcher32 = true});
    write_as(file, "grows", empty, (spmd_dataset_options){.unlimited = true});
    write_as(file, "empty", empty, (spmd_dataset_options){.deflate = 1});
    EXPECT_OK(spmd_file_close(&file));

    struct found found = look(path, "plain");
    EXPECT(found.layout == H5D_CONTIGUOUS && found.filters == 0);
    found = look(path, "given");
    EXPECT(found.layout == H5D_CHUNKED && found.chunk[0] == 100 && found.chunk[1] == 7);
    EXPECT(found.filters == 1 && found.bytes < 600 * 7 * 8 && found.most[0] == 600);
    /* A chunk is what the first rank has. */
    found = look(path, "chosen");
    EXPECT(found.chunk[0] == (hsize_t)((600 + test_size - 1) / test_size) && found.chunk[1] == 7);
    EXPECT(found.filters == 3);
    found = look(path, "grows");
    EXPECT(found.layout == H5D_CHUNKED && found.most[0] == H5S_UNLIMITED && found.most[1] == 7);
    EXPECT(look(path, "empty").layout == H5D_CONTIGUOUS);
    spmd_array_free(&empty);
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static void extents_grow_as_far_as_they_may(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    const char *path = scratch("most.h5");
    spmd_file *file = NULL;
    spmd_file_listing *listing = NULL;
    spmd_array *rows = arange(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(3, 4));
    const spmd_dataset_options options = {.most = {8, SPMD_UNLIMITED}, .chunk = {8, 2}};
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    EXPECT_OK(spmd_dataset_create(file, "given", SPMD_F64, SPMD_SHAPE(6, 4), &options));
    write_as(file, "chosen", rows, (spmd_dataset_options){.most = {8}});
    EXPECT_OK(spmd_dataset_append(file, "chosen", rows));
    EXPECT_FAILS(spmd_dataset_append(file, "chosen", rows), SPMD_ERR_SHAPE, "cannot grow");
    EXPECT_OK(spmd_dataset_create(file, "empty", SPMD_F64, SPMD_SHAPE(2, 0),
                                  &(spmd_dataset_options){.most = {0, 7}}));
    EXPECT_OK(spmd_file_close(&file));
    struct found given = look(path, "given"), empty = look(path, "empty");
    EXPECT(given.most[0] == 8 && given.most[1] == H5S_UNLIMITED);
    EXPECT(empty.most[0] == 2 && empty.most[1] == 7 && empty.chunk[1] == 7);
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    EXPECT_OK(spmd_file_list(file, "given", &listing));
    const spmd_dataset_options *told = &listing->entry[0].options;
    EXPECT(told->most[0] == 8 && told->most[1] == SPMD_UNLIMITED);
    EXPECT(!told->unlimited);
    spmd_file_listing_free(&listing);
    EXPECT_OK(spmd_file_close(&file));
    spmd_array_free(&rows);
    spmd_mesh_free(&mesh);
}

static void large_parts_have_chunks_of_a_mebibyte_at_most(void)
{
    spmd_mesh *mesh = make_line();
    const char *path = scratch("large.h5");
    spmd_file *file = NULL;
    spmd_dataset_options options = {.unlimited = true};
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    EXPECT_OK(spmd_dataset_create(file, "rows", SPMD_F64, SPMD_SHAPE(0, 64), &options));
    EXPECT_OK(spmd_dataset_create(file, "wide", SPMD_U8, SPMD_SHAPE(0, 3000000), &options));
    EXPECT_OK(spmd_file_close(&file));
    struct found rows = look(path, "rows"), wide = look(path, "wide");
    EXPECT(rows.chunk[0] == 1024 && rows.chunk[1] == 64);
    EXPECT(wide.chunk[0] == 1 && wide.chunk[1] == 1000000);
    spmd_mesh_free(&mesh);
}

static hid_t make_dataset(hid_t file, const char *name, hid_t type, hid_t creation,
                          const hsize_t most[])
{
    hid_t space = H5Screate_simple(2, (hsize_t[]){6, 4}, most);
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Sclose(space);
    return dataset;
}

/* Writes 0 to 23. */
static void write_numbers(hid_t dataset)
{
    int32_t numbers[24];
    for (int i = 0; i < 24; i++)
        numbers[i] = i;
    H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    H5Dclose(dataset);
}

static void make_virtual(hid_t file)
{
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(2, (hsize_t[]){6, 4}, NULL);
    H5Pset_virtual(creation, space, ".", "packed", space);
    H5Dclose(H5Dcreate2(file, "virtual", H5T_STD_I32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(creation);
}

static const char *const foreign_names[] = {"contiguous", "compact", "external",
                                            "packed",     "sparse",  "virtual"};
enum { FOREIGN = sizeof foreign_names / sizeof *foreign_names };

/* One dataset of each layout, as other programs make them; big-endian. */
static void make_foreign(const char *path, const char *external)
{
    const hsize_t chunk[] = {4, 3}, most[] = {H5S_UNLIMITED, 4};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t plain = H5Pcreate(H5P_DATASET_CREATE), compact = H5Pcopy(plain), away = H5Pcopy(plain);
    hid_t packed = H5Pcopy(plain), sparse = H5Pcopy(plain);
    H5Pset_layout(compact, H5D_COMPACT);
    H5Pset_external(away, external, 0, 24 * 4);
    H5Pset_chunk(packed, 2, chunk);
    H5Pset_shuffle(packed);
    H5Pset_deflate(packed, 4);
    H5Pset_chunk(sparse, 2, chunk);
    write_numbers(make_dataset(file, "contiguous", H5T_STD_I32BE, plain, NULL));
    write_numbers(make_dataset(file, "compact", H5T_STD_I32BE, compact, NULL));
    write_numbers(make_dataset(file, "external", H5T_STD_I32BE, away, NULL));
    write_numbers(make_dataset(file, "packed", H5T_STD_I32BE, packed, most));
    H5Dclose(make_dataset(file, "sparse", H5T_STD_I32BE, sparse, most));
    make_virtual(file);
    H5Pclose(sparse);
    H5Pclose(packed);
    H5Pclose(away);
    H5Pclose(compact);
    H5Pclose(plain);
    H5Fclose(file);
}

/* What the test's own process makes, by one rank. */
static const char *foreign_file(void)
{
    const char *path = scratch("foreign.h5"), *external = scratch("foreign.raw");
    if (test_rank == 0)
        make_foreign(path, external);
    after_rank_0();
    return path;
}

/* Rows 1, 3 and 5 of 6 x 4 numbers. */
static spmd_status odd_rows(const spmd_box *box, void *data, void *user)
{
    int32_t *at = data;
    (void)user;
    for (int64_t i = box->lo[0]; i < box->hi[0]; i++)
        for (int64_t j = box->lo[1]; j < box->hi[1]; j++)
            *at++ = (int32_t)((2 * i + 1) * 4 + j);
    return SPMD_OK;
}

static void all_layouts_are_read(void)
{
    spmd_mesh *mesh = make_line();
    const char *path = foreign_file();
    const char *const specs[] = {"P()", "P(x)", "P(-,x)"};
    spmd_file *file = NULL;
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    for (int i = 0; i < FOREIGN; i++)
        for (int s = 0; s < 3; s++) {
            bool sparse = strcmp(foreign_names[i], "sparse") == 0;
            spmd_array *read = NULL, *wanted = NULL;
            spmd_hyperslab slab =
                spmd_hyperslab_make(2, (int64_t[]){1, 0}, NULL, (int64_t[]){2, 1});
            EXPECT_OK(spmd_dataset_read_hyperslab(file, foreign_names[i], &slab, specs[s],
                                                  SPMD_DTYPE_NONE, &read));
            if (sparse)
                EXPECT_OK(spmd_array_zeros(mesh, specs[s], SPMD_I32, SPMD_SHAPE(3, 4), &wanted));
            else
                EXPECT_OK(spmd_array_from_callback(mesh, specs[s], SPMD_I32, SPMD_SHAPE(3, 4),
                                                   odd_rows, NULL, &wanted));
            EXPECT(same_blocks(read, wanted));
            spmd_array_free(&wanted);
            spmd_array_free(&read);
        }
    EXPECT_OK(spmd_file_close(&file));
    spmd_mesh_free(&mesh);
}

/* f64 into big-endian i32, in chunks that are packed, that are not there yet, and without chunks;
 * others are left alone. */
static void foreign_datasets_are_changed(void)
{
    spmd_mesh *mesh = make_line();
    const char *path = foreign_file();
    const spmd_hyperslab slab = spmd_hyperslab_make(2, (int64_t[]){1, 0}, NULL, (int64_t[]){2, 1});
    spmd_file *file = NULL;
    spmd_array *array = NULL, *rows = NULL;
    EXPECT_OK(spmd_array_zeros(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(3, 4), &array));
    rows = arange(mesh, "P(-,x)", SPMD_F64, SPMD_SHAPE(1, 4));
    EXPECT_OK(spmd_file_modify(mesh, path, &file));
    EXPECT_OK(spmd_dataset_write_hyperslab(file, "contiguous", &slab, array));
    EXPECT_OK(spmd_dataset_write_hyperslab(file, "packed", &slab, array));
    EXPECT_OK(spmd_dataset_append(file, "packed", rows));
    EXPECT_OK(spmd_dataset_append(file, "sparse", rows));
    EXPECT_FAILS(spmd_dataset_write_hyperslab(file, "compact", &slab, array), SPMD_ERR_FILE,
                 "foreign.h5: dataset \"compact\" lies in its header");
    EXPECT_FAILS(spmd_dataset_write_hyperslab(file, "external", &slab, array), SPMD_ERR_FILE,
                 "dataset \"external\" lies in other files");
    EXPECT_FAILS(spmd_dataset_write_hyperslab(file, "virtual", &slab, array), SPMD_ERR_FILE,
                 "dataset \"virtual\" lies in other files");
    EXPECT_OK(spmd_file_close(&file));

    struct model wanted = model_make(SPMD_I32, SPMD_SHAPE(6, 4));
    int32_t *numbers = (int32_t *)wanted.data;
    for (int i = 0; i < 24; i++)
        numbers[i] = i / 4 % 2 ? 0 : i;
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    expect_model(file, "contiguous", "P(x)", &wanted);
    model_grow(&wanted, 1);
    numbers = (int32_t *)wanted.data;
    for (int i = 0; i < 4; i++)
        numbers[24 + i] = i;
    expect_model(file, "packed", "P(x)", &wanted);
    memset(numbers, 0, 24 * 4);
    expect_model(file, "sparse", "P(-,x)", &wanted);
    EXPECT_OK(spmd_file_close(&file));
    model_free(&wanted);
    spmd_array_free(&rows);
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

/* A log: ranks that are idle, steps that add nothing, specs that change. */
static void rows_are_appended_in_a_loop(void)
{
    char type[64], *told = NULL;
    spmd_mesh *mesh = make_shorter_line();
    const char *path = scratch("log.h5");
    const char *const specs[] = {"P(x)", "P()", "P(-,x)"};
    spmd_dataset_options options = {.unlimited = true, .chunk = {4, 2}, .deflate = 1};
    struct model model = model_make(SPMD_F64, SPMD_SHAPE(0, 3));
    spmd_file *file = NULL;
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    EXPECT_OK(spmd_dataset_create(file, "log", SPMD_F64, SPMD_SHAPE(0, 3), &options));
    for (int step = 0; step < 8; step++) {
        spmd_shape rows = SPMD_SHAPE(step % 4, 3);
        int64_t start[] = {model.shape.dim[0], 0};
        spmd_hyperslab behind = spmd_hyperslab_make(2, start, rows.dim, NULL);
        spmd_array *array = pattern_slice(step, mesh, specs[(step + 1) % 3], SPMD_F64, rows);
        EXPECT_OK(spmd_dataset_append(file, "log", array));
        model_grow(&model, rows.dim[0]);
        model_write(&model, &behind, step);
        spmd_array_free(&array);
    }
    EXPECT_OK(spmd_file_close(&file));
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    expect_model(file, "log", "P(x)", &model);
    EXPECT_OK(spmd_dataset_get_text(file, "log", "spmd_sharding", &told));
    /* The last step was under P(-,x). */
    snprintf(type, sizeof type, "f64[12,3@x]");
    EXPECT(is_idle(mesh) || (told && strcmp(told, type) == 0));
    free(told);
    EXPECT_OK(spmd_file_close(&file));
    model_free(&model);
    spmd_mesh_free(&mesh);
}

static void what_cannot_grow_is_told(void)
{
    spmd_mesh *mesh = make_line();
    spmd_file *file = NULL;
    spmd_array *rows = arange(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(2, 3));
    spmd_array *wide = arange(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(2, 4));
    spmd_array *flat = arange(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(3));
    spmd_array *complex = arange(mesh, "P(x)", SPMD_C64, SPMD_SHAPE(2, 3));
    EXPECT_OK(spmd_file_create(mesh, scratch("grow.h5"), &file));
    EXPECT_OK(spmd_dataset_write(file, "fixed", rows));
    write_as(file, "chunked", rows, (spmd_dataset_options){.deflate = 1});
    write_as(file, "grows", rows, (spmd_dataset_options){.unlimited = true});
    EXPECT_OK(spmd_dataset_create(file, "scalar", SPMD_F64, SPMD_SCALAR, NULL));
    EXPECT_FAILS(spmd_dataset_append(file, "fixed", rows), SPMD_ERR_SHAPE,
                 "grow.h5: dataset \"fixed\" cannot grow: it is contiguous");
    EXPECT_FAILS(spmd_dataset_append(file, "chunked", rows), SPMD_ERR_SHAPE,
                 "dimension 0 has a last index");
    EXPECT_FAILS(spmd_dataset_append(file, "scalar", rows), SPMD_ERR_SHAPE, "it is a scalar");
    EXPECT_FAILS(spmd_dataset_append(file, "grows", wide), SPMD_ERR_SHAPE,
                 "along dimension 1 the array has 4 indices, the dataset 3");
    EXPECT_FAILS(spmd_dataset_append(file, "grows", flat), SPMD_ERR_SHAPE,
                 "the array has 1 dimensions, the dataset 2");
    EXPECT_FAILS(spmd_dataset_append(file, "grows", complex), SPMD_ERR_DTYPE,
                 "dataset \"grows\" is f64; c64 is not converted to that");
    EXPECT_FAILS(spmd_dataset_append(file, "none", rows), SPMD_ERR_FILE, "no dataset \"none\"");
    EXPECT_FAILS(spmd_dataset_append(file, "grows", NULL), SPMD_ERR_ARGUMENT, "array is NULL");
    /* None of that has touched the file. */
    EXPECT_OK(spmd_dataset_append(file, "grows", rows));
    EXPECT_OK(spmd_file_close(&file));
    spmd_array_free(&complex);
    spmd_array_free(&flat);
    spmd_array_free(&wide);
    spmd_array_free(&rows);
    spmd_mesh_free(&mesh);
}

static void wrong_options_are_told(void)
{
    spmd_mesh *mesh = make_line();
    spmd_file *file = NULL;
    const spmd_shape shape = SPMD_SHAPE(6, 4);
    const struct {
        spmd_dataset_options options;
        spmd_status status;
        const char *part;
    } wrong[] = {
        {{.deflate = 10},
         SPMD_ERR_ARGUMENT,
         "wrong.h5: dataset \"v\": deflate is from 1 to 9, or 0 for none; not 10"},
        {{.deflate = -1}, SPMD_ERR_ARGUMENT, "not -1"},
        {{.chunk = {3}}, SPMD_ERR_SHAPE, "chunks have 0 indices of dimension 1, of extent 4"},
        {{.chunk = {7, 4}}, SPMD_ERR_SHAPE, "chunks have 7 indices of dimension 0, of extent 6"},
        {{.chunk = {3, -1}}, SPMD_ERR_SHAPE, "chunks have -1 indices"},
        {{.chunk = {3, 4, 1}}, SPMD_ERR_SHAPE, "chunks are given for dimension 2, of a dataset of"},
        {{.most = {0, 0, 9}}, SPMD_ERR_SHAPE, "limits are given for dimension 2, of a dataset of"},
        {{.unlimited = true, .chunk = {(int64_t)1 << 40, 4}}, SPMD_ERR_SHAPE, "4 GiB"},
        {{.most = {5}}, SPMD_ERR_SHAPE, "dimension 0 has extent 6, and can have 5 at most"},
        {{.most = {0, 9}, .chunk = {6, 10}}, SPMD_ERR_SHAPE, "chunks have 10 indices"},
    };
    EXPECT_OK(spmd_file_create(mesh, scratch("wrong.h5"), &file));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        EXPECT_FAILS(spmd_dataset_create(file, "v", SPMD_F64, shape, &wrong[i].options),
                     wrong[i].status, wrong[i].part);
    spmd_dataset_options grows = {.unlimited = true};
    EXPECT_FAILS(spmd_dataset_create(file, "v", SPMD_F64, SPMD_SCALAR, &grows), SPMD_ERR_SHAPE,
                 "a scalar has no chunks");
    EXPECT_FAILS(spmd_dataset_create(file, "v", (spmd_dtype)99, shape, NULL), SPMD_ERR_DTYPE, "99");
    EXPECT_FAILS(spmd_dataset_create(file, "v", SPMD_F64, SPMD_SHAPE(-1), NULL), SPMD_ERR_SHAPE,
                 "wrong.h5: dataset \"v\": there is no such shape");
    EXPECT_FAILS(spmd_dataset_create(file, "/", SPMD_F64, shape, NULL), SPMD_ERR_ARGUMENT,
                 "no name");
    EXPECT_OK(spmd_dataset_create(file, "v", SPMD_F64, shape, &grows));
    EXPECT_FAILS(spmd_dataset_create(file, "v", SPMD_F64, shape, NULL), SPMD_ERR_FILE,
                 "already has a dataset \"v\"");
    EXPECT_OK(spmd_file_close(&file));
    spmd_mesh_free(&mesh);
}

static void wrong_hyperslabs_are_told(void)
{
    spmd_mesh *mesh = make_line();
    const char *path = scratch("slabs.h5");
    spmd_file *file = NULL;
    spmd_array *array = arange(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(6, 4)), *read = NULL;
    const int64_t start[] = {5, 0}, count[] = {2, 4}, stride[] = {0, 1}, negative[] = {-1, 0};
    const spmd_hyperslab outside = spmd_hyperslab_make(2, start, count, NULL);
    const spmd_hyperslab behind = spmd_hyperslab_make(2, (int64_t[]){7, 0}, NULL, NULL);
    const spmd_hyperslab still = spmd_hyperslab_make(2, NULL, NULL, stride);
    const spmd_hyperslab before = spmd_hyperslab_make(2, negative, NULL, NULL);
    const spmd_hyperslab flat = spmd_hyperslab_make(1, NULL, NULL, NULL);
    const spmd_hyperslab end = spmd_hyperslab_make(2, (int64_t[]){6, 0}, NULL, NULL);
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    EXPECT_OK(spmd_dataset_write(file, "v", array));
    EXPECT_FAILS(spmd_dataset_write_hyperslab(file, "v", &end, array), SPMD_ERR_SHAPE,
                 "along dimension 0 the array has 6 indices, the hyperslab 0");
    EXPECT_FAILS(spmd_dataset_write_hyperslab(file, "v", &outside, array), SPMD_ERR_SHAPE,
                 "slabs.h5: dataset \"v\": the hyperslab reaches outside dimension 0 of extent 6: "
                 "start 5, count 2, stride 1");
    EXPECT_OK(spmd_file_close(&file));
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    EXPECT_FAILS(spmd_dataset_read_hyperslab(file, "v", &outside, "P(x)", SPMD_F64, &read),
                 SPMD_ERR_SHAPE,
                 "slabs.h5: dataset \"v\": the hyperslab reaches outside dimension 0");
    EXPECT_FAILS(spmd_dataset_read_hyperslab(file, "v", &behind, "P(x)", SPMD_F64, &read),
                 SPMD_ERR_SHAPE, "start 7");
    EXPECT_FAILS(spmd_dataset_read_hyperslab(file, "v", &still, "P(x)", SPMD_F64, &read),
                 SPMD_ERR_ARGUMENT, "stride at least 1");
    EXPECT_FAILS(spmd_dataset_read_hyperslab(file, "v", &before, "P(x)", SPMD_F64, &read),
                 SPMD_ERR_ARGUMENT, "start is at least 0");
    EXPECT_FAILS(spmd_dataset_read_hyperslab(file, "v", &flat, "P(x)", SPMD_F64, &read),
                 SPMD_ERR_SHAPE, "the hyperslab has 1 dimensions, the dataset 2");
    EXPECT(read == NULL);
    EXPECT_OK(spmd_dataset_read_hyperslab(file, "v", &end, "P(x)", SPMD_F64, &read));
    EXPECT(spmd_array_shape(read).dim[0] == 0);
    EXPECT_FAILS(spmd_dataset_append(file, "v", array), SPMD_ERR_FILE,
                 "slabs.h5: dataset \"v\": the file is open for reading");
    EXPECT_OK(spmd_file_close(&file));
    spmd_array_free(&read);
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static void ranks_that_disagree_are_told(void)
{
    spmd_mesh *mesh = make_line();
    spmd_file *file = NULL;
    bool odd = test_rank % 2;
    spmd_array *array = arange(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(6, 4));
    const int64_t start[] = {odd, 0}, count[] = {5, 4};
    const spmd_hyperslab slab = spmd_hyperslab_make(2, start, count, NULL);
    const spmd_dataset_options options = {.deflate = odd ? 1 : 2};
    const double fill = odd;
    const spmd_dataset_options filled = {.fill = &fill};
    if (test_size > 1) {
        EXPECT_OK(spmd_file_create(mesh, scratch("disagree.h5"), &file));
        EXPECT_FAILS(spmd_dataset_create(file, "v", SPMD_F64, SPMD_SHAPE(6), &options),
                     SPMD_ERR_DISAGREE, "");
        EXPECT_FAILS(spmd_dataset_create(file, "v", SPMD_F64, SPMD_SHAPE(6), &filled),
                     SPMD_ERR_DISAGREE, "");
        EXPECT_FAILS(spmd_dataset_create(file, "v", SPMD_F64, SPMD_SHAPE(6 + odd), NULL),
                     SPMD_ERR_DISAGREE, "");
        EXPECT_FAILS(spmd_dataset_write_as(file, "v", array, &options), SPMD_ERR_DISAGREE, "");
        EXPECT_OK(spmd_dataset_write(file, "v", array));
        EXPECT_FAILS(spmd_dataset_write_hyperslab(file, "v", &slab, array), SPMD_ERR_DISAGREE, "");
        EXPECT_OK(spmd_file_close(&file));
    }
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

/* Each rank adds 1. */
static void contributions_are_added_up(void)
{
    spmd_mesh *mesh = make_line();
    const char *path = scratch("sums.h5");
    const float ones[] = {1, 1, 1};
    spmd_dataset_options options = {.unlimited = true, .deflate = 1};
    spmd_array *array = NULL;
    spmd_file *file = NULL;
    struct model sums = model_make(SPMD_F32, SPMD_SHAPE(6));
    const float sum = (float)test_size;
    model_fill(&sums, &sum);
    EXPECT_OK(
        spmd_array_from_local(mesh, "P(-,unreduced={x})", SPMD_F32, SPMD_SHAPE(3), ones, &array));
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    EXPECT_OK(spmd_dataset_write_as(file, "v", array, &options));
    EXPECT_OK(spmd_dataset_append(file, "v", array));
    EXPECT_OK(spmd_file_close(&file));
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    expect_model(file, "v", "P(x)", &sums);
    EXPECT_OK(spmd_file_close(&file));
    model_free(&sums);
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

/* That files of this process have 1 MiB at most; or as much as before. */
static void limit_files(bool limited)
{
    static struct rlimit before;
    const struct rlimit few = {1 << 20, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    if (limited && getrlimit(RLIMIT_FSIZE, &before) == 0)
        setrlimit(RLIMIT_FSIZE, &few);
    else if (!limited && before.rlim_max != 0)
        setrlimit(RLIMIT_FSIZE, &before);
}

/* Writing more than fits: all ranks fail, none waits, and the old file stays. */
static void overfill(spmd_mesh *mesh, const char *path, bool limited, const char *part)
{
    spmd_dataset_options options = {.deflate = 1}, grows = {.unlimited = true};
    spmd_array *large = pattern_array(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(500000));
    spmd_file *file = NULL;
    bool exists = false;
    EXPECT_OK(spmd_file_modify(mesh, path, &file));
    limit_files(limited);
    EXPECT_FAILS(spmd_dataset_write_as(file, "packed", large, &options), SPMD_ERR_FILE, part);
    limit_files(false);
    EXPECT_FAILS(spmd_file_close(&file), SPMD_ERR_FILE, "not put in place");
    EXPECT_OK(spmd_file_modify(mesh, path, &file));
    EXPECT_OK(spmd_dataset_create(file, "grown", SPMD_F64, SPMD_SHAPE(0), &grows));
    limit_files(limited);
    EXPECT_FAILS(spmd_dataset_append(file, "grown", large), SPMD_ERR_FILE, part);
    limit_files(false);
    spmd_file_discard(&file);
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    EXPECT_OK(spmd_dataset_exists(file, "old", &exists));
    EXPECT(exists);
    EXPECT_OK(spmd_file_close(&file));
    spmd_array_free(&large);
}

static void make_old(spmd_mesh *mesh, const char *path)
{
    spmd_array *array = arange(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(7));
    EXPECT_OK(spmd_write(array, path, "old"));
    spmd_array_free(&array);
}

/* Collective. On a disk of its own of this type; `part` is what is told. */
static void expect_overfill_told(const char *type, const char *options, bool limited,
                                 const char *part)
{
    if (!mount_disk(type, options))
        return;
    spmd_mesh *mesh = make_line();
    const char *path = scratch("disk/v.h5");
    make_old(mesh, path);
    overfill(mesh, path, limited, part);
    spmd_mesh_free(&mesh);
    unmount_disk();
}

static void a_full_disk_is_told(void)
{
    expect_overfill_told("tmpfs", "size=1m", false, "no space left on device");
}

/* A file system that cannot reserve room, and files that may not grow: MPI-IO may say that all went
 * well. */
static void what_was_lost_is_told(void)
{
    expect_overfill_told("ramfs", NULL, true, "dataset \"");
}

HARNESS_MAIN("dataset", CASE(fills_are_exact), CASE(options_are_followed),
             CASE(extents_grow_as_far_as_they_may),
             CASE(large_parts_have_chunks_of_a_mebibyte_at_most), CASE(all_layouts_are_read),
             CASE(foreign_datasets_are_changed), CASE(rows_are_appended_in_a_loop),
             CASE(what_cannot_grow_is_told), CASE(wrong_options_are_told),
             CASE(wrong_hyperslabs_are_told), CASE(ranks_that_disagree_are_told),
             CASE(contributions_are_added_up), CASE(a_full_disk_is_told),
             CASE(what_was_lost_is_told))
