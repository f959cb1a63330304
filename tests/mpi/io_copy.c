/* io_copy.c - objects and attributes of any HDF5 type from one file to another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hdf5.h>

#include "harness.h"
#include "scratch.h"

static hid_t varying_string(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    return type;
}

struct record {
    int32_t number;
    double value;
};

static hid_t record_type(void)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct record));
    H5Tinsert(type, "number", offsetof(struct record, number), H5T_NATIVE_INT32);
    H5Tinsert(type, "value", offsetof(struct record, value), H5T_NATIVE_DOUBLE);
    return type;
}

static void set_attribute(hid_t object, const char *name, hid_t type, hid_t space,
                          const void *values)
{
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    EXPECT(attribute >= 0 && H5Awrite(attribute, type, values) >= 0);
    H5Aclose(attribute);
}

enum { RECORDS = 50, CHUNK = 20 };

static const char *const words[] = {"one", "", "three words here"};

static void make_words(hid_t file)
{
    hid_t type = varying_string(), space = H5Screate_simple(1, (hsize_t[]){3}, NULL);
    hid_t dataset = H5Dcreate2(file, "words", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    EXPECT(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, words) >= 0);
    set_attribute(dataset, "words", type, space, words);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(type);
}

static void make_records(hid_t group)
{
    struct record records[RECORDS];
    memset(records, 0, sizeof records);
    for (int i = 0; i < RECORDS; i++)
        records[i] = (struct record){.number = i, .value = i / 4.0};
    hid_t type = record_type(), space = H5Screate_simple(1, (hsize_t[]){RECORDS}, NULL);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 1, (hsize_t[]){CHUNK});
    H5Pset_deflate(creation, 4);
    hid_t dataset = H5Dcreate2(group, "records", type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    EXPECT(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, records) >= 0);
    H5Dclose(dataset);
    H5Pclose(creation);
    H5Sclose(space);
    H5Tclose(type);
}

static void make_attributes(hid_t file, hid_t group)
{
    hobj_ref_t reference;
    hid_t scalar = H5Screate(H5S_SCALAR), pair = H5Screate_simple(1, (hsize_t[]){2}, NULL);
    hid_t empty = H5Screate(H5S_NULL);
    set_attribute(group, "pair", H5T_STD_I16BE, pair, (int16_t[]){0x0102, 0x0304});
    set_attribute(file, "answer", H5T_NATIVE_INT64, scalar, &(int64_t){42});
    EXPECT(H5Rcreate(&reference, file, "words", H5R_OBJECT, -1) >= 0);
    set_attribute(group, "reference", H5T_STD_REF_OBJ, scalar, &reference);
    H5Aclose(H5Acreate2(group, "empty", H5T_NATIVE_INT, empty, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(empty);
    H5Sclose(pair);
    H5Sclose(scalar);
}

/* What other programs leave behind. */
static void make_foreign(void)
{
    if (test_rank == 0) {
        hid_t file = H5Fcreate(scratch("foreign.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        hid_t group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        make_words(file);
        make_records(group);
        make_attributes(file, group);
        H5Lcreate_soft("/group/records", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
        H5Lcreate_soft("nowhere", file, "dangling", H5P_DEFAULT, H5P_DEFAULT);
        H5Lcreate_external("other.h5", "/x", group, "external", H5P_DEFAULT, H5P_DEFAULT);
        H5Gclose(group);
        EXPECT(H5Fclose(file) >= 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

struct files {
    spmd_mesh *mesh;
    spmd_file *from, *to;
};

static struct files begin(const char *axes)
{
    struct files files = {NULL, NULL, NULL};
    make_foreign();
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, axes, &files.mesh));
    EXPECT_OK(spmd_file_open(files.mesh, scratch("foreign.h5"), &files.from));
    EXPECT_OK(spmd_file_create(files.mesh, scratch("copy.h5"), &files.to));
    return files;
}

/* Collective. Puts the copy in place; rank 0 may look at it then. */
static void end(struct files *files)
{
    EXPECT_OK(spmd_file_close(&files->to));
    EXPECT_OK(spmd_file_close(&files->from));
    spmd_mesh_free(&files->mesh);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void expect_words(hid_t dataset)
{
    char *found[3] = {NULL, NULL, NULL};
    hid_t type = varying_string(), space = H5Dget_space(dataset);
    EXPECT(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0);
    for (int i = 0; i < 3; i++)
        EXPECT(found[i] && strcmp(found[i], words[i]) == 0);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, found);
    EXPECT(H5Aexists(dataset, "words") > 0);
    H5Sclose(space);
    H5Tclose(type);
}

static void expect_records(hid_t dataset)
{
    struct record records[RECORDS];
    hid_t type = record_type(), creation = H5Dget_create_plist(dataset);
    EXPECT(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, records) >= 0);
    for (int i = 0; i < RECORDS; i++)
        EXPECT(records[i].number == i && records[i].value == i / 4.0);
    EXPECT(H5Pget_layout(creation) == H5D_CHUNKED && H5Pget_nfilters(creation) == 1);
    H5Pclose(creation);
    H5Tclose(type);
}

static void expect_link(hid_t file, const char *name, H5L_type_t type, const char *value)
{
    H5L_info_t info = {.type = H5L_TYPE_ERROR};
    char found[64] = "";
    EXPECT(H5Lget_info(file, name, &info, H5P_DEFAULT) >= 0 && info.type == type);
    if (value)
        EXPECT(H5Lget_val(file, name, found, sizeof found, H5P_DEFAULT) >= 0 &&
               strcmp(found, value) == 0);
}

static void objects_of_any_type_are_copied(void)
{
    static const char *const names[] = {"group",    "group/records",  "words",
                                        "dangling", "group/external", "soft"};
    struct files files = begin("x=*");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        EXPECT_OK(spmd_object_copy(files.from, names[i], files.to));
    end(&files);
    if (test_rank > 0)
        return;
    hid_t file = H5Fopen(scratch("copy.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t strings = H5Dopen2(file, "words", H5P_DEFAULT);
    hid_t records = H5Dopen2(file, "group/records", H5P_DEFAULT);
    expect_words(strings);
    expect_records(records);
    expect_link(file, "soft", H5L_TYPE_SOFT, "/group/records");
    expect_link(file, "dangling", H5L_TYPE_SOFT, "nowhere");
    expect_link(file, "group/external", H5L_TYPE_EXTERNAL, NULL);
    H5Dclose(records);
    H5Dclose(strings);
    EXPECT(H5Fclose(file) >= 0);
}

static void expect_pair(hid_t group)
{
    int16_t pair[2] = {0, 0};
    hid_t attribute = H5Aopen(group, "pair", H5P_DEFAULT), type = H5Aget_type(attribute);
    EXPECT(H5Tequal(type, H5T_STD_I16BE) > 0 && H5Aread(attribute, type, pair) >= 0);
    EXPECT(pair[0] == 0x0102 && pair[1] == 0x0304); /* as it was written, not swapped */
    H5Tclose(type);
    H5Aclose(attribute);
}

static void attributes_become_alike(void)
{
    struct files files = begin("x=*");
    EXPECT_OK(spmd_object_copy(files.from, "group", files.to));
    EXPECT_OK(spmd_dataset_set_text(files.to, "/", "old", "goes"));
    EXPECT_OK(spmd_attributes_copy(files.from, "/", files.to));
    end(&files);
    if (test_rank > 0)
        return;
    hid_t file = H5Fopen(scratch("copy.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t group = H5Gopen2(file, "group", H5P_DEFAULT);
    expect_pair(group);
    EXPECT(H5Aexists(group, "empty") > 0);
    EXPECT(H5Aexists(group, "reference") == 0);
    EXPECT(H5Aexists(file, "answer") > 0);
    EXPECT(H5Aexists(file, "old") == 0);
    H5Gclose(group);
    EXPECT(H5Fclose(file) >= 0);
}

static const spmd_file_entry *find(const spmd_file_listing *listing, const char *name)
{
    static const spmd_file_entry nothing;
    for (int i = 0; listing && i < listing->count; i++)
        if (strcmp(listing->entry[i].name, name) == 0)
            return &listing->entry[i];
    EXPECT(!"listed");
    return &nothing;
}

static void expect_target(const spmd_file_listing *listing, const char *name, const char *target)
{
    const char *link = find(listing, name)->link;
    EXPECT(target ? link && strcmp(link, target) == 0 : !link);
}

/* What a program needs to make a file of its own like one of others. */
static void a_listing_tells_links_and_storage(void)
{
    struct files files = begin("x=*");
    spmd_file_listing *listing = NULL;
    EXPECT_OK(spmd_file_list(files.from, "/", &listing));
    expect_target(listing, "soft", "/group/records");
    expect_target(listing, "dangling", "nowhere");
    expect_target(listing, "group/external", "/x in other.h5");
    expect_target(listing, "group/records", NULL);
    const spmd_dataset_options *options = &find(listing, "group/records")->options;
    EXPECT(options->chunk[0] == CHUNK && options->chunk[1] == 0);
    EXPECT(options->deflate == 4 && !options->shuffle && !options->fletcher32);
    EXPECT(!options->unlimited && !options->fill);
    EXPECT(find(listing, "words")->options.chunk[0] == 0);
    EXPECT(listing && listing->step == -1);
    spmd_file_listing_free(&listing);
    spmd_file_discard(&files.to);
    EXPECT_OK(spmd_file_close(&files.from));
    spmd_mesh_free(&files.mesh);
}

/* The type that an array had goes along with the new one. */
static void the_sharding_follows_a_conversion(void)
{
    spmd_mesh *mesh = NULL;
    spmd_array *array = NULL;
    spmd_file *from = NULL, *to = NULL;
    char *text = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    EXPECT_OK(spmd_array_arange(mesh, "P(-,x)", SPMD_F64, SPMD_SHAPE(3, 5), &array));
    EXPECT_OK(spmd_write(array, scratch("wide.h5"), "a"));
    EXPECT_OK(spmd_file_open(mesh, scratch("wide.h5"), &from));
    EXPECT_OK(spmd_file_create(mesh, scratch("narrow.h5"), &to));
    EXPECT_OK(spmd_dataset_create(to, "a", SPMD_F32, SPMD_SHAPE(3, 5), NULL));
    EXPECT_OK(spmd_attributes_copy(from, "a", to));
    EXPECT_OK(spmd_file_close(&to));
    EXPECT_OK(spmd_file_close(&from));
    EXPECT_OK(spmd_file_open(mesh, scratch("narrow.h5"), &from));
    EXPECT_OK(spmd_dataset_get_text(from, "a", "spmd_sharding", &text));
    EXPECT(text && strcmp(text, "f32[3,5@x]") == 0);
    EXPECT_OK(spmd_file_close(&from));
    free(text);
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static void wrong_uses_of_copies_are_told(void)
{
    struct files files = begin("x=*");
    EXPECT_FAILS(spmd_object_copy(NULL, "words", files.to), SPMD_ERR_ARGUMENT, "copy from is NULL");
    EXPECT_FAILS(spmd_object_copy(files.from, "words", NULL), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_object_copy(files.from, "", files.to), SPMD_ERR_ARGUMENT, "no name");
    EXPECT_FAILS(spmd_object_copy(files.from, "words", files.from), SPMD_ERR_FILE, "for reading");
    EXPECT_FAILS(spmd_object_copy(files.to, "words", files.to), SPMD_ERR_FILE, "being written");
    EXPECT_FAILS(spmd_attributes_copy(files.from, "words/", files.to), SPMD_ERR_ARGUMENT,
                 "no name");
    spmd_file_discard(&files.to);
    EXPECT_OK(spmd_file_create(files.mesh, scratch("copy.h5"), &files.to));
    EXPECT_FAILS(spmd_attributes_copy(files.from, "words", files.to), SPMD_ERR_FILE,
                 "no \"words\"");
    spmd_file_discard(&files.to);
    EXPECT_OK(spmd_file_create(files.mesh, scratch("copy.h5"), &files.to));
    EXPECT_OK(spmd_object_copy(files.from, "words", files.to));
    EXPECT_FAILS(spmd_object_copy(files.from, "words", files.to), SPMD_ERR_FILE, "already has");
    EXPECT_OK(spmd_file_close(&files.to));
    EXPECT_OK(spmd_file_close(&files.from));
    spmd_mesh_free(&files.mesh);
}

static void idle_ranks_copy_nothing(void)
{
    struct files files = begin("x=1");
    EXPECT_OK(spmd_object_copy(files.from, "group", files.to));
    EXPECT_OK(spmd_attributes_copy(files.from, "/", files.to));
    end(&files);
}

HARNESS_MAIN("io_copy", CASE(objects_of_any_type_are_copied), CASE(attributes_become_alike),
             CASE(a_listing_tells_links_and_storage), CASE(the_sharding_follows_a_conversion),
             CASE(wrong_uses_of_copies_are_told), CASE(idle_ranks_copy_nothing))
