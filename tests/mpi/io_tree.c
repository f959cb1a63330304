/* io_tree.c - trees to and from HDF5 files: what comes back, and what is refused. */
#include <stdlib.h>

#include <hdf5.h>

#include "tree_files.h"

static const char all_kinds[] =
    "{b: f64[2,3], 'd e': {'gr\xc3\xb6\xc3\x9fte': i32[7]}, empty: {}, key: key(1,4294967295), "
    "list: [f32[5,3], [], None, [-1]], none: None, note: a b\xc3\xa4, step: -9000000000000000000, "
    "text: }";

/* What a case has: a tree to be written, one that says what is wanted, and what comes back. */
struct setup {
    spmd_mesh *mesh;
    spmd_tree *tree, *like, *read;
    spmd_file *file; /* NULL: it is not open */
};

static struct setup set_up(spmd_mesh *mesh)
{
    return (struct setup){.mesh = mesh, .tree = new_tree(), .like = new_tree()};
}

static struct setup set_up_all_kinds(spmd_mesh *mesh)
{
    return (struct setup){.mesh = mesh, .tree = new_all_kinds(mesh, "P(x)"), .like = new_tree()};
}

/* Writes the tree as "t" to a file of this name, and opens it to read. */
static void write_and_open(struct setup *on, const char *name)
{
    write_tree(on->mesh, scratch(name), "t", on->tree);
    on->file = open_file(on->mesh, scratch(name));
}

static void tear_down(struct setup *on)
{
    spmd_tree_free(&on->read);
    if (on->file)
        close_file(&on->file);
    spmd_tree_free(&on->like);
    spmd_tree_free(&on->tree);
    spmd_mesh_free(&on->mesh);
}

/* Writes under one mesh and spec, reads under another. */
static void round_trip(spmd_mesh *from, const char *from_spec, spmd_mesh *to, const char *name)
{
    const char *path = scratch("kinds.h5");
    spmd_tree *tree = new_all_kinds(from, from_spec), *read = NULL;
    write_tree(from, path, name, tree);
    spmd_file *file = open_file(to, path);
    if (EXPECT_OK(spmd_tree_read(file, name, "P()", &read)) && !is_idle(to)) {
        EXPECT(format_is(read, all_kinds));
        EXPECT(is_arange(read, "b") && is_arange(read, "list/0"));
        EXPECT(is_arange(read, "d e/gr\xc3\xb6\xc3\x9fte"));
    }
    close_file(&file);
    spmd_tree_free(&read);
    spmd_tree_free(&tree);
}

static void all_kinds_come_back(void)
{
    spmd_mesh *line = make_line(), *grid = make_grid(), *shorter = make_shorter_line();
    round_trip(line, "P(x)", line, "params");
    round_trip(grid, "P((y,x))", line, "");
    round_trip(shorter, "P(x)", grid, "/a/b c/d");
    round_trip(grid, "P(y)", shorter, "/");
    spmd_mesh_free(&line);
    spmd_mesh_free(&grid);
    spmd_mesh_free(&shorter);
}

/* The attribute "spmd_kind" of what is at `name` is this; NULL: there is none. */
static void expect_mark(hid_t file, const char *name, const char *kind)
{
    char found[16] = "";
    hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    EXPECT((H5Aexists(object, "spmd_kind") > 0) == (kind != NULL));
    if (kind) {
        hid_t mark = H5Aopen(object, "spmd_kind", H5P_DEFAULT), type = H5Aget_type(mark);
        EXPECT(H5Tget_class(type) == H5T_STRING && H5Tget_size(type) < sizeof found);
        EXPECT(H5Aread(mark, type, found) >= 0 && strcmp(found, kind) == 0);
        H5Tclose(type);
        H5Aclose(mark);
    }
    H5Oclose(object);
}

static void expect_elements(hid_t file, const char *name, hid_t stored, hid_t memory, int ndim,
                            const void *wanted, size_t bytes)
{
    char found[64] = "";
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    EXPECT(H5Tequal(type, stored) > 0 && H5Sget_simple_extent_ndims(space) == ndim);
    EXPECT(H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0);
    EXPECT(memcmp(found, wanted, bytes) == 0);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset);
}

/* With HDF5's own eyes. */
static void look_at_tree(const char *path)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), text = H5Tcopy(H5T_C_S1);
    expect_mark(file, "t", NULL);
    expect_mark(file, "t/empty", NULL);
    expect_mark(file, "t/none", "none");
    expect_mark(file, "t/list", "list");
    expect_mark(file, "t/list/1", "list");
    expect_mark(file, "t/key", "key");
    expect_mark(file, "t/step", "integer");
    expect_mark(file, "t/note", NULL);
    expect_mark(file, "t/b", NULL);
    expect_elements(file, "t/b", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, block_data,
                    sizeof block_data);
    expect_elements(file, "t/key", H5T_STD_U32LE, H5T_NATIVE_UINT32, 1,
                    (const uint32_t[]){1, UINT32_MAX}, 8);
    expect_elements(file, "t/step", H5T_STD_I64LE, H5T_NATIVE_INT64, 0,
                    &(const int64_t){-9000000000000000000}, 8);
    H5Tset_cset(text, H5T_CSET_UTF8);
    H5Tset_size(text, sizeof "a b\xc3\xa4");
    expect_elements(file, "t/note", text, text, 0, "a b\xc3\xa4", sizeof "a b\xc3\xa4");
    H5Tclose(text);
    H5L_info_t link;
    EXPECT(H5Lget_info(file, "t/d e/gr\xc3\xb6\xc3\x9fte", &link, H5P_DEFAULT) >= 0);
    EXPECT(link.cset == H5T_CSET_UTF8);
    EXPECT(H5Lget_info(file, "t/d e", &link, H5P_DEFAULT) >= 0 && link.cset == H5T_CSET_ASCII);
    H5Fclose(file);
}

static void any_program_can_read_them(void)
{
    spmd_mesh *mesh = make_line();
    spmd_tree *tree = new_all_kinds(mesh, "P(x)");
    const char *path = scratch("plain.h5");
    write_tree(mesh, path, "t", tree);
    if (test_rank == 0)
        look_at_tree(path);
    spmd_tree_free(&tree);
    spmd_mesh_free(&mesh);
}

/* The array at `path` has this type and these values, in row-major order. */
static void expect_array(const spmd_tree *tree, const char *path, const char *type,
                         const double values[], int64_t count)
{
    spmd_array *array = NULL;
    double found[64];
    if (!EXPECT_OK(spmd_tree_get_array(tree, path, &array)))
        return;
    if (!EXPECT(has_type(array, type)))
        fprintf(stderr, "  %s is not %s\n", path, type);
    EXPECT(spmd_array_dtype(array) == SPMD_F64 && count <= 64);
    EXPECT_OK(spmd_array_gather(array, SPMD_ALL, found, count));
    EXPECT(memcmp(found, values, (size_t)count * sizeof *values) == 0);
}

static void a_mask_leaves_out(void)
{
    struct setup on = set_up_all_kinds(make_grid());
    write_and_open(&on, "mask.h5");
    EXPECT_OK(spmd_tree_read(on.file, "t",
                             "{b: P(-,y), 'd e': None, empty: None, key: None, list: [P(y), None, "
                             "P(), P()], none: P(), note: None, step: P(x), text: P()}",
                             &on.read));
    EXPECT(format_is(on.read, "{b: f64[2,3@y], 'd e': None, empty: None, key: None, list: "
                              "[f32[5@y,3], None, None, [-1]], none: None, note: None, step: "
                              "-9000000000000000000, text: }"));
    EXPECT(is_arange(on.read, "b") && is_arange(on.read, "list/0"));
    spmd_tree_free(&on.read);
    EXPECT_OK(spmd_tree_read(on.file, "t", "None", &on.read));
    EXPECT(format_is(on.read, "None"));
    tear_down(&on);
}

static void what_there_is_is_read_alike(void)
{
    spmd_mesh *line = make_line(), *grid = make_grid();
    spmd_tree *tree = new_all_kinds(line, "P(x)"), *like = new_all_kinds(grid, "P((x,y))");
    spmd_tree *read = NULL;
    write_tree(line, scratch("like.h5"), "t", tree);
    spmd_file *file = open_file(grid, scratch("like.h5"));
    EXPECT_OK(spmd_tree_set_text(like, "note", "another"));
    EXPECT_OK(spmd_tree_set_integer(like, "step", 0));
    EXPECT_OK(spmd_tree_set_key(like, "key", (spmd_key){{0, 0}}));
    EXPECT_OK(spmd_tree_read_like(file, "t", like, NULL, &read));
    EXPECT(format_is(read, "{b: block f64[2,3], 'd e': {'gr\xc3\xb6\xc3\x9fte': i32[7@(x,y)]}, "
                           "empty: {}, key: key(1,4294967295), list: "
                           "[f32[5@(x,y),3], [], None, [-1]], none: None, note: a b\xc3\xa4, step: "
                           "-9000000000000000000, text: }"));
    EXPECT(is_arange(read, "list/0"));
    EXPECT(is_arange(read, "d e/gr\xc3\xb6\xc3\x9fte"));
    const spmd_block *block = NULL;
    if (EXPECT_OK(spmd_tree_get_block(read, "b", &block)))
        EXPECT(block->data != block_data &&
               memcmp(block->data, block_data, sizeof block_data) == 0);
    spmd_tree_free(&read);
    spmd_tree_free(&like);
    close_file(&file);
    spmd_tree_free(&tree);
    spmd_mesh_free(&grid);
    spmd_mesh_free(&line);
}

/* What is marked is a number all the same, and what is not may be wanted as a value. */
static void like_decides_what_a_number_is(void)
{
    struct setup on = set_up(make_line());
    EXPECT_OK(spmd_tree_set_key(on.tree, "key", (spmd_key){{7, 8}}));
    EXPECT_OK(spmd_tree_set_integer(on.tree, "step", 42));
    set_arange(on.tree, "pair", on.mesh, "P(x)", SPMD_U32, SPMD_SHAPE(2));
    set_arange(on.tree, "zero", on.mesh, "P()", SPMD_I8, SPMD_SCALAR);
    set_arange(on.like, "key", on.mesh, "P()", SPMD_F64, SPMD_SHAPE(2));
    set_arange(on.like, "step", on.mesh, "P()", SPMD_F64, SPMD_SCALAR);
    EXPECT_OK(spmd_tree_set_key(on.like, "pair", (spmd_key){{7, 8}}));
    EXPECT_OK(spmd_tree_set_integer(on.like, "zero", 1));
    write_and_open(&on, "decides.h5");
    EXPECT_OK(spmd_tree_read_like(on.file, "t", on.like, NULL, &on.read));
    EXPECT(format_is(on.read, "{key: f64[2], pair: key(0,1), step: f64[], zero: 0}"));
    expect_array(on.read, "key", "f64[2]", (const double[]){7, 8}, 2);
    expect_array(on.read, "step", "f64[]", (const double[]){42}, 1);
    tear_down(&on);
}

static void reading_alike_converts(void)
{
    struct setup on = set_up(make_line());
    set_arange(on.tree, "i", on.mesh, "P(x)", SPMD_I32, SPMD_SHAPE(9));
    set_arange(on.tree, "f", on.mesh, "P(x)", SPMD_F64, SPMD_SHAPE(4, 5));
    set_arange(on.tree, "c", on.mesh, "P(x)", SPMD_C64, SPMD_SHAPE(3));
    write_and_open(&on, "casts.h5");
    set_arange(on.like, "i", on.mesh, "P()", SPMD_BF16, SPMD_SHAPE(9));
    set_arange(on.like, "f", on.mesh, "P(-,x)", SPMD_I8, SPMD_SHAPE(4, 5));
    set_arange(on.like, "c", on.mesh, "P()", SPMD_C128, SPMD_SHAPE(3));
    EXPECT_OK(spmd_tree_read_like(on.file, "t", on.like, NULL, &on.read));
    EXPECT(format_is(on.read, "{c: c128[3], f: i8[4,5@x], i: bf16[9]}"));
    EXPECT(is_arange(on.read, "c") && is_arange(on.read, "f") && is_arange(on.read, "i"));
    spmd_tree_free(&on.read);
    set_arange(on.like, "c", on.mesh, "P()", SPMD_F32, SPMD_SHAPE(3));
    EXPECT_FAILS(spmd_tree_read_like(on.file, "t", on.like, NULL, &on.read), SPMD_ERR_DTYPE,
                 "casts.h5: dataset \"t/c\" is c64; that is not converted to f32");
    EXPECT(!on.read);
    tear_down(&on);
}

/* The f64 `inner`, arange, with zeros behind it in `outer`. */
static void pad_by_hand(const int64_t inner[2], const int64_t outer[2], double values[])
{
    for (int64_t i = 0; i < outer[0]; i++)
        for (int64_t j = 0; j < outer[1]; j++)
            values[i * outer[1] + j] =
                i < inner[0] && j < inner[1] ? (double)(i * inner[1] + j) : 0;
}

static void expect_padded(spmd_mesh *mesh, spmd_file *file, const char *spec, const char *type,
                          const int64_t outer[2])
{
    const spmd_tree_read_options pad = {.pad = true};
    const int64_t inner[] = {3, 5};
    double values[64];
    spmd_tree *like = new_tree(), *read = NULL;
    set_arange(like, "w", mesh, spec, SPMD_F64, spmd_shape_make(2, outer));
    if (EXPECT_OK(spmd_tree_read_like(file, "t", like, &pad, &read)) && !is_idle(mesh)) {
        pad_by_hand(inner, outer, values);
        expect_array(read, "w", type, values, outer[0] * outer[1]);
    }
    spmd_tree_free(&read);
    spmd_tree_free(&like);
}

static void zeros_are_put_behind(void)
{
    spmd_mesh *line = make_line(), *grid = make_grid(), *shorter = make_shorter_line();
    spmd_tree *tree = new_tree();
    set_arange(tree, "w", line, "P(x)", SPMD_F32, SPMD_SHAPE(3, 5));
    write_tree(line, scratch("padded.h5"), "t", tree);
    spmd_file *file = open_file(grid, scratch("padded.h5"));
    expect_padded(grid, file, "P()", "f64[7,8]", (const int64_t[]){7, 8});
    expect_padded(grid, file, "P(x,y)", "f64[7@x,8@y]", (const int64_t[]){7, 8});
    expect_padded(grid, file, "P(-,(y,x))", "f64[3,9@(y,x)]", (const int64_t[]){3, 9});
    expect_padded(grid, file, "P(y)", "f64[12@y,5]", (const int64_t[]){12, 5});
    expect_padded(grid, file, "P(y)", "f64[3@y,5]", (const int64_t[]){3, 5});
    close_file(&file);
    file = open_file(shorter, scratch("padded.h5"));
    expect_padded(shorter, file, "P(x)", "f64[6@x,6]", (const int64_t[]){6, 6});
    close_file(&file);
    spmd_tree_free(&tree);
    spmd_mesh_free(&shorter);
    spmd_mesh_free(&grid);
    spmd_mesh_free(&line);
}

/* Blocks are padded as well, and contributions add up to what is padded. */
static void other_things_are_padded(void)
{
    const spmd_tree_read_options pad = {.pad = true};
    static const double padded[] = {0, 1, 2, 0, 0};
    struct setup on = set_up(make_line());
    double zeros[5] = {0};
    spmd_block small = spmd_block_borrow((void *)block_data, SPMD_F64, SPMD_SHAPE(3));
    spmd_block large = spmd_block_borrow(zeros, SPMD_F64, SPMD_SHAPE(5));
    spmd_sharding *parts = NULL;
    spmd_array *sum = NULL;
    EXPECT_OK(spmd_tree_set_block(on.tree, "b", &small));
    EXPECT_OK(spmd_tree_set_block(on.tree, "u", &small));
    EXPECT_OK(spmd_tree_set_block(on.like, "b", &large));
    EXPECT_OK(spmd_sharding_create(on.mesh, "P(unreduced={x})", &parts));
    EXPECT_OK(spmd_device_put(zeros, 5, SPMD_F64, SPMD_SHAPE(5), parts, &sum));
    EXPECT_OK(spmd_tree_set_array(on.like, "u", sum));
    write_and_open(&on, "others.h5");
    EXPECT_FAILS(spmd_tree_read_like(on.file, "t", on.like, NULL, &on.read), SPMD_ERR_SHAPE,
                 "others.h5: dataset \"t/b\" is f64[3], and f64[5] is wanted: with `pad` zeros");
    if (EXPECT_OK(spmd_tree_read_like(on.file, "t", on.like, &pad, &on.read))) {
        const spmd_block *block = NULL;
        EXPECT_OK(spmd_tree_get_block(on.read, "b", &block));
        EXPECT(memcmp(block->data, padded, sizeof padded) == 0);
        expect_array(on.read, "u", test_size > 1 ? "f64[5]{U:x}" : "f64[5]", padded, 5);
    }
    spmd_array_free(&sum);
    spmd_sharding_free(&parts);
    tear_down(&on);
}

static void a_strict_mesh_pads(void)
{
    spmd_mesh *mesh = make_line();
    spmd_tree *tree = new_tree(), *like = new_tree(), *read = NULL;
    char text[40];
    double values[16] = {0, 1, 2};
    set_arange(tree, "w", mesh, "P()", SPMD_F64, SPMD_SHAPE(3));
    write_tree(mesh, scratch("strict.h5"), "t", tree);
    spmd_mesh_free(&mesh);
    mesh = make_line();
    spmd_mesh_set_strict(mesh, true);
    set_arange(like, "w", mesh, "P(x)", SPMD_F64, SPMD_SHAPE(4 * test_size));
    spmd_file *file = open_file(mesh, scratch("strict.h5"));
    EXPECT_OK(spmd_tree_read_like(file, "t", like, &(spmd_tree_read_options){.pad = true}, &read));
    snprintf(text, sizeof text, "f64[%d@x]", 4 * test_size);
    if (4 * test_size <= 16)
        expect_array(read, "w", text, values, 4 * test_size);
    spmd_tree_free(&read);
    close_file(&file);
    spmd_tree_free(&like);
    spmd_tree_free(&tree);
    spmd_mesh_free(&mesh);
}

static void a_changed_file_gets_another_tree(void)
{
    struct setup on = set_up_all_kinds(make_line());
    spmd_tree *more = new_tree();
    write_tree(on.mesh, scratch("changed.h5"), "t", on.tree);
    EXPECT_OK(spmd_tree_set_text(more, "l/0", "more"));
    set_arange(more, "l/1", on.mesh, "P(x)", SPMD_I16, SPMD_SHAPE(4, 2));
    EXPECT_OK(spmd_file_modify(on.mesh, scratch("changed.h5"), &on.file));
    EXPECT_FAILS(spmd_tree_write(on.file, "t", more), SPMD_ERR_FILE, "already has a group \"t\"");
    EXPECT_OK(spmd_tree_write(on.file, "t/more", more));
    close_file(&on.file);
    on.file = open_file(on.mesh, scratch("changed.h5"));
    EXPECT_OK(spmd_tree_read(on.file, "t/more", "P(-,x)", &on.read));
    EXPECT(format_is(on.read, "{l: [more, i16[4,2@x]]}") && is_arange(on.read, "l/1"));
    spmd_tree_free(&on.read);
    EXPECT_OK(spmd_tree_set_none(on.tree, "more"));
    EXPECT_OK(spmd_tree_read_like(on.file, "t", on.tree, NULL, &on.read));
    EXPECT(spmd_tree_equal(on.tree, on.read));
    spmd_tree_free(&more);
    tear_down(&on);
}

static void a_file_stays_what_it_is(void)
{
    spmd_mesh *mesh = make_line();
    spmd_tree *list = new_tree(), *dict = new_tree(), *none = new_tree(), *read = NULL;
    EXPECT_OK(spmd_tree_set_text(list, "0", "first"));
    EXPECT_OK(spmd_tree_set_text(dict, "a", "b"));
    spmd_file *file = create(mesh, scratch("list.h5"));
    EXPECT_OK(spmd_tree_write(file, "", list));
    EXPECT_FAILS(spmd_tree_write(file, "", dict), SPMD_ERR_FILE, "only dicts are added to");
    EXPECT_FAILS(spmd_tree_write(file, "", list), SPMD_ERR_FILE, "only dicts are added to");
    close_file(&file);
    file = open_file(mesh, scratch("list.h5"));
    EXPECT_OK(spmd_tree_read(file, "", "P()", &read));
    EXPECT(format_is(read, "[first]"));
    spmd_tree_free(&read);
    close_file(&file);
    file = create(mesh, scratch("dict.h5"));
    EXPECT_OK(spmd_tree_write(file, "", dict));
    EXPECT_FAILS(spmd_tree_write(file, "", list), SPMD_ERR_FILE, "only dicts are added to");
    EXPECT_FAILS(spmd_tree_write(file, "", none), SPMD_ERR_FILE, "only dicts are added to");
    spmd_file_discard(&file);
    write_tree(mesh, scratch("none.h5"), "", none);
    file = open_file(mesh, scratch("none.h5"));
    EXPECT_OK(spmd_tree_read(file, "", "P()", &read));
    EXPECT(format_is(read, "None"));
    spmd_tree_free(&read);
    close_file(&file);
    spmd_tree_free(&none);
    spmd_tree_free(&dict);
    spmd_tree_free(&list);
    spmd_mesh_free(&mesh);
}

/* SPMD_CHECK=1 finds a block that differs when groups were made already. */
static void a_failure_half_way_spoils_the_file(void)
{
    if (test_size == 1 || !test_checks) {
        harness_skip("one rank, or SPMD_CHECK is not set");
        return;
    }
    spmd_mesh *mesh = make_line();
    spmd_tree *tree = new_tree();
    double data[] = {test_rank};
    spmd_block block = spmd_block_borrow(data, SPMD_F64, SPMD_SHAPE(1));
    EXPECT_OK(spmd_tree_set_block(tree, "a/b", &block));
    spmd_file *file = create(mesh, scratch("half.h5"));
    EXPECT_FAILS(spmd_tree_write(file, "t", tree), SPMD_ERR_DISAGREE,
                 "half.h5: dataset \"t/a/b\": ");
    EXPECT_FAILS(spmd_file_close(&file), SPMD_ERR_FILE, "not put in place");
    spmd_tree_free(&tree);
    spmd_mesh_free(&mesh);
}

/* "0/0/.../0" or "k/0/k/0/...", with so many steps. */
static void deep_path(char *path, int steps)
{
    *path = '\0';
    for (int i = 0; i < steps; i++)
        strcat(path, i % 3 == 1 ? "/k" : i > 0 ? "/0" : "0");
}

static void deep_trees_come_back(void)
{
    enum { STEPS = 63 }; /* on level 64 */
    char path[2 * STEPS + 2];
    struct setup on = set_up(make_line());
    int64_t integer = 0;
    deep_path(path, STEPS);
    EXPECT_OK(spmd_tree_set_integer(on.tree, path, 64));
    write_and_open(&on, "deep.h5");
    EXPECT_OK(spmd_tree_read(on.file, "t", "P()", &on.read));
    EXPECT(spmd_tree_equal(on.read, on.tree));
    EXPECT_OK(spmd_tree_get_integer(on.read, path, &integer));
    EXPECT(integer == 64);
    spmd_tree_free(&on.read);
    EXPECT_FAILS(spmd_tree_read(on.file, "/", "P()", &on.read), SPMD_ERR_FILE,
                 "is on level 64: a tree has 64");
    tear_down(&on);
}

static void wide_trees_come_back(void)
{
    enum { WIDE = 40 };
    struct setup on = set_up(make_line());
    char path[40];
    for (int i = 0; i < WIDE; i++) {
        snprintf(path, sizeof path, "list/%d", i);
        EXPECT_OK(spmd_tree_set_integer(on.tree, path, i));
        snprintf(path, sizeof path, "dict/\xc3\xb6%d", WIDE - i);
        set_arange(on.tree, path, on.mesh, i % 2 ? "P(x)" : "P()", SPMD_I64, SPMD_SHAPE(i));
    }
    write_tree(on.mesh, scratch("wide.h5"), "", on.tree);
    on.file = open_file(on.mesh, scratch("wide.h5"));
    if (EXPECT_OK(spmd_tree_read(on.file, "", "P(x)", &on.read)) &&
        EXPECT(spmd_tree_equal(on.read, on.tree)))
        for (int i = 0; i < WIDE; i++) {
            int64_t integer = -1;
            snprintf(path, sizeof path, "list/%d", i);
            EXPECT_OK(spmd_tree_get_integer(on.read, path, &integer));
            EXPECT(integer == i);
            snprintf(path, sizeof path, "dict/\xc3\xb6%d", WIDE - i);
            EXPECT(is_arange(on.read, path));
        }
    tear_down(&on);
}

/* A generator of cases: the same on all ranks. */
static int draw(uint64_t *state, int below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int)((*state >> 33) % (uint64_t)below);
}

static const char *draw_spec(uint64_t *state)
{
    static const char *const specs[] = {"P()",    "P(x)",   "P(y)",     "P(x,y)",
                                        "P(-,y)", "P(-,x)", "P((x,y))", "P(-,(y,x))"};
    return specs[draw(state, 8)];
}

/* Some arrays of 2 dimensions, in lists and dicts. */
static spmd_tree *draw_tree(uint64_t *state, spmd_mesh *mesh)
{
    spmd_tree *tree = new_tree();
    for (int i = 0, leaves = 1 + draw(state, 4); i < leaves; i++) {
        char path[32];
        int64_t rows = draw(state, 9), columns = 1 + draw(state, 7);
        spmd_dtype dtype = (spmd_dtype)(SPMD_I8 + draw(state, SPMD_C128 - SPMD_I8 + 1));
        snprintf(path, sizeof path, draw(state, 2) ? "d/leaf %d" : "k%d/0/w", i);
        const char *spec = draw_spec(state);
        set_arange(tree, path, mesh, spec, dtype, SPMD_SHAPE(rows, columns));
    }
    return tree;
}

/* The same tree as it may lie on another mesh. */
static spmd_tree *draw_like(uint64_t *state, spmd_mesh *mesh, const spmd_tree *tree)
{
    spmd_tree *like = NULL;
    EXPECT_OK(spmd_tree_copy(tree, &like));
    for (int i = 0; i < spmd_tree_nleaves(tree); i++) {
        char path[32];
        spmd_array *array = NULL;
        spmd_tree_path(path, sizeof path, tree, i);
        EXPECT_OK(spmd_tree_get_array(tree, path, &array));
        set_arange(like, path, mesh, draw_spec(state), spmd_array_dtype(array),
                   spmd_array_shape(array));
    }
    return like;
}

static void expect_aranges(const spmd_tree *read, const spmd_tree *wanted)
{
    EXPECT(spmd_tree_equal(read, wanted));
    for (int i = 0; i < spmd_tree_nleaves(wanted); i++) {
        char path[32];
        spmd_tree_path(path, sizeof path, wanted, i);
        EXPECT(is_arange(read, path));
    }
}

static void any_tree_comes_back_on_any_mesh(void)
{
    enum { ROUNDS = 6 };
    spmd_mesh *const meshes[] = {make_grid(), make_mesh("y=1,x=*"), make_reversed("x=*,y=1")};
    const char *seed = getenv("TEST_SEED");
    uint64_t state = seed ? strtoull(seed, NULL, 10) : 1;
    for (int round = 0; round < ROUNDS; round++) {
        spmd_mesh *from = meshes[draw(&state, 3)], *to = meshes[draw(&state, 3)];
        spmd_tree *tree = draw_tree(&state, from), *like = draw_like(&state, to, tree);
        spmd_tree *read = NULL;
        write_tree(from, scratch("any.h5"), "any", tree);
        spmd_file *file = open_file(to, scratch("any.h5"));
        if (EXPECT_OK(spmd_tree_read_like(file, "any", like, NULL, &read)))
            expect_aranges(read, like);
        spmd_tree_free(&read);
        if (EXPECT_OK(spmd_tree_read(file, "any", draw_spec(&state), &read)))
            expect_aranges(read, like);
        close_file(&file);
        spmd_tree_free(&read);
        spmd_tree_free(&like);
        spmd_tree_free(&tree);
    }
    for (int m = 0; m < 3; m++) {
        spmd_mesh *mesh = meshes[m];
        spmd_mesh_free(&mesh);
    }
}

static void idle_ranks_succeed_at_once(void)
{
    spmd_mesh *mesh = make_shorter_line();
    spmd_tree *tree = new_all_kinds(mesh, "P(x)"), *read = NULL;
    spmd_file *file = create(mesh, scratch("idle.h5"));
    EXPECT_OK(spmd_tree_write(file, "t", tree));
    close_file(&file);
    file = open_file(mesh, scratch("idle.h5"));
    EXPECT_OK(spmd_tree_read(file, "t", "P(x)", &read));
    EXPECT(spmd_tree_kind_of(read) == (is_idle(mesh) ? SPMD_TREE_NONE : SPMD_TREE_DICT));
    spmd_tree_free(&read);
    EXPECT_OK(spmd_tree_read_like(file, "t", tree, NULL, &read));
    EXPECT(spmd_tree_equal(read, tree));
    spmd_tree_free(&read);
    close_file(&file);
    spmd_tree_free(&tree);
    spmd_mesh_free(&mesh);
}

static void structures_that_do_not_fit_are_told(void)
{
    struct setup on = set_up_all_kinds(make_line());
    write_and_open(&on, "fits.h5");
    EXPECT_OK(spmd_tree_set_tree(on.like, "", on.tree));
    EXPECT_OK(spmd_tree_set_integer(on.like, "key", 1));
    EXPECT_OK(spmd_tree_set_integer(on.like, "note", 1));
    EXPECT_OK(spmd_tree_set_text(on.like, "step", "one"));
    set_arange(on.like, "more", on.mesh, "P()", SPMD_F32, SPMD_SCALAR);
    EXPECT_OK(spmd_tree_set_dict(on.like, "list"));
    EXPECT_FAILS(spmd_tree_read_like(on.file, "t", on.like, NULL, &on.read), SPMD_ERR_ARGUMENT,
                 "fits.h5:t, in 5 places: like is a dict of ");
    expect_same_message();
    static const char *const places[] = {
        ": only like has more; like['key'] is an integer, ",
        "fits.h5:t['key'] is a key; like['list'] is an empty dict, ",
        "fits.h5:t['list'] is a list of 4; like['note'] is an integer, ",
        "fits.h5:t['note'] is a text; like['step'] is a text, ",
        "fits.h5:t['step'] is an integer",
    };
    for (int i = 0; i < 5; i++)
        EXPECT(strstr(spmd_error_message(), places[i]));
    EXPECT_OK(spmd_tree_set_dict(on.like, ""));
    set_arange(on.like, "b", on.mesh, "P()", SPMD_I32, SPMD_SHAPE(7));
    EXPECT_FAILS(spmd_tree_read_like(on.file, "t/d e", on.like, NULL, &on.read), SPMD_ERR_ARGUMENT,
                 "fits.h5:t/d e has gr\xc3\xb6\xc3\x9f");
    EXPECT_FAILS(spmd_tree_read(on.file, "t/list", "{a: P()}", &on.read), SPMD_ERR_ARGUMENT,
                 "specs cannot be a prefix of ");
    EXPECT(!on.read);
    spmd_tree_free(&on.like);

    on.like = new_tree();
    set_arange(on.like, "gr\xc3\xb6\xc3\x9fte", on.mesh, "P()", SPMD_I32, SPMD_SHAPE(6));
    EXPECT_FAILS(spmd_tree_read_like(on.file, "t/d e", on.like,
                                     &(spmd_tree_read_options){.pad = true}, &on.read),
                 SPMD_ERR_SHAPE, "e\" is i32[7], and i32[6] is wanted: it has no place there");
    set_arange(on.like, "gr\xc3\xb6\xc3\x9fte", on.mesh, "P()", SPMD_I32, SPMD_SHAPE(7, 1));
    EXPECT_FAILS(spmd_tree_read_like(on.file, "t/d e", on.like,
                                     &(spmd_tree_read_options){.pad = true}, &on.read),
                 SPMD_ERR_SHAPE, "e\" is i32[7], and i32[7,1] is wanted");
    tear_down(&on);
}

static void wrong_uses_of_writing_are_told(void)
{
    spmd_mesh *mesh = make_line(), *grid = make_mesh("x=1,y=*");
    spmd_tree *tree = new_all_kinds(mesh, "P(x)"), *leaf = new_tree(), *other = new_tree();
    spmd_file *file = create(mesh, scratch("wrong.h5"));
    EXPECT_FAILS(spmd_tree_write(NULL, "t", tree), SPMD_ERR_ARGUMENT, "the file is NULL");
    EXPECT_FAILS(spmd_tree_write(file, NULL, tree), SPMD_ERR_ARGUMENT, "is NULL");
    EXPECT_FAILS(spmd_tree_write(file, "a//b", tree), SPMD_ERR_ARGUMENT, "\"a//b\" is no name");
    EXPECT_FAILS(spmd_tree_write(file, "t", NULL), SPMD_ERR_ARGUMENT, "the tree is NULL");
    EXPECT_OK(spmd_tree_set_integer(leaf, "", 3));
    EXPECT_FAILS(spmd_tree_write(file, "/", leaf), SPMD_ERR_ARGUMENT, "a leaf cannot be the file");
    set_arange(other, "l/0/w", grid, "P()", SPMD_I8, SPMD_SHAPE(3));
    EXPECT_FAILS(spmd_tree_write(file, "t", other), SPMD_ERR_MESH, "the tree['l'][0]['w']: ");
    spmd_block strided = spmd_block_borrow((void *)block_data, SPMD_F64, SPMD_SHAPE(2, 2));
    strided.stride[0] = 3;
    EXPECT_OK(spmd_tree_set_block(other, "l/0/w", &strided));
    EXPECT_FAILS(spmd_tree_write(file, "t", other), SPMD_ERR_SHAPE,
                 "the tree['l'][0]['w']: host data has to be dense");
    EXPECT_OK(spmd_tree_write(file, "t", tree));
    EXPECT_FAILS(spmd_tree_write(file, "t", leaf), SPMD_ERR_FILE, "already has a group \"t\"");
    EXPECT_FAILS(spmd_tree_write(file, "t/b", tree), SPMD_ERR_FILE,
                 "already has a dataset \"t/b\"");
    EXPECT_FAILS(spmd_tree_write(file, "t/b/c", tree), SPMD_ERR_FILE, "a part of \"t/b/c\" is a");
    spmd_tree_free(&other);
    other = new_tree();
    EXPECT_OK(spmd_tree_set_integer(other, "a", 1));
    EXPECT_OK(spmd_tree_set_integer(other, "t", 1));
    EXPECT_FAILS(spmd_tree_write(file, "", other), SPMD_ERR_FILE, "already has a group \"t\"");
    EXPECT_OK(spmd_tree_write(file, "leaf", leaf));
    close_file(&file); /* none of this has spoiled it */
    file = open_file(mesh, scratch("wrong.h5"));
    EXPECT_FAILS(spmd_tree_write(file, "u", tree), SPMD_ERR_FILE, "the file is open for reading");
    spmd_file_listing *listing = NULL;
    EXPECT_FAILS(spmd_file_list(NULL, "", &listing), SPMD_ERR_ARGUMENT, "the file is NULL");
    EXPECT_FAILS(spmd_file_list(file, NULL, &listing), SPMD_ERR_ARGUMENT, "is NULL");
    EXPECT_FAILS(spmd_file_list(file, "", NULL), SPMD_ERR_ARGUMENT, "is NULL");
    EXPECT_FAILS(spmd_file_list(file, "no", &listing), SPMD_ERR_FILE,
                 "wrong.h5: there is no \"no\"; the file has leaf, t/");
    close_file(&file);
    spmd_tree_free(&other);
    spmd_tree_free(&leaf);
    spmd_tree_free(&tree);
    spmd_mesh_free(&grid);
    spmd_mesh_free(&mesh);
}

static void wrong_uses_of_reading_are_told(void)
{
    spmd_mesh *mesh = make_line(), *grid = make_mesh("x=1,y=*");
    spmd_tree *tree = new_all_kinds(mesh, "P(x)"), *other = new_all_kinds(grid, "P(y)");
    spmd_tree *read = NULL;
    spmd_file *file = create(mesh, scratch("read.h5"));
    EXPECT_OK(spmd_tree_write(file, "t", tree));
    EXPECT_FAILS(spmd_tree_read(file, "t", "P()", &read), SPMD_ERR_FILE, "still being written");
    EXPECT_FAILS(spmd_tree_read_like(file, "t", tree, NULL, &read), SPMD_ERR_FILE,
                 "still being written");
    close_file(&file);
    file = open_file(mesh, scratch("read.h5"));
    EXPECT_FAILS(spmd_tree_read(NULL, "t", "P()", &read), SPMD_ERR_ARGUMENT, "the file is NULL");
    EXPECT_FAILS(spmd_tree_read(file, NULL, "P()", &read), SPMD_ERR_ARGUMENT, "is NULL");
    EXPECT_FAILS(spmd_tree_read(file, "t", NULL, &read), SPMD_ERR_ARGUMENT, "is NULL");
    EXPECT_FAILS(spmd_tree_read(file, "t", "P()", NULL), SPMD_ERR_ARGUMENT, "is NULL");
    EXPECT_FAILS(spmd_tree_read(file, "t", "P(", &read), SPMD_ERR_SYNTAX, "specs \"P(\"");
    EXPECT_FAILS(spmd_tree_read(file, "t", "P(z)", &read), SPMD_ERR_SPEC, "z");
    EXPECT_FAILS(spmd_tree_read(file, "t", "P(-,x)", &read), SPMD_ERR_SPEC,
                 "read.h5: dataset \"t/d e/gr");
    EXPECT_FAILS(spmd_tree_read(file, "u", "P()", &read), SPMD_ERR_FILE,
                 "read.h5: there is no \"u\"; the file has t/");
    EXPECT_FAILS(spmd_tree_read(file, "t/d e/u/v", "P()", &read), SPMD_ERR_FILE,
                 "there is no \"t/d e/u/v\"; group \"t/d e\" has gr\xc3\xb6\xc3\x9fte");
    EXPECT_FAILS(spmd_tree_read_like(file, "/u", tree, NULL, &read), SPMD_ERR_FILE,
                 "there is no \"/u\"; the file has t/");
    EXPECT_FAILS(spmd_tree_read_like(file, "t", NULL, NULL, &read), SPMD_ERR_ARGUMENT,
                 "like is NULL");
    EXPECT_FAILS(spmd_tree_read_like(file, "t", tree, NULL, NULL), SPMD_ERR_ARGUMENT, "is NULL");
    EXPECT_FAILS(spmd_tree_read_like(file, "t", other, NULL, &read), SPMD_ERR_MESH,
                 "like['d e']['gr");
    EXPECT(!read);
    close_file(&file);
    spmd_tree_free(&other);
    spmd_tree_free(&tree);
    spmd_mesh_free(&grid);
    spmd_mesh_free(&mesh);
}

static void ranks_that_disagree_are_told(void)
{
    spmd_mesh *mesh = make_line();
    spmd_tree *tree = new_all_kinds(mesh, "P(x)"), *read = NULL;
    spmd_file *file = create(mesh, scratch("disagree.h5"));
    const bool other = is_last_of_many();
    if (test_size > 1) {
        if (other)
            EXPECT_OK(spmd_tree_set_integer(tree, "step", 1));
        EXPECT_FAILS(spmd_tree_write(file, "t", tree), SPMD_ERR_DISAGREE, "trees: rank ");
        EXPECT_OK(spmd_tree_set_integer(tree, "step", 1));
        if (other)
            EXPECT_OK(spmd_tree_set_none(tree, "text"));
        EXPECT_FAILS(spmd_tree_write(file, "t", tree), SPMD_ERR_DISAGREE, "trees: rank ");
        EXPECT_OK(spmd_tree_set_text(tree, "text", other ? "a" : "b"));
        EXPECT_FAILS(spmd_tree_write(file, "t", tree), SPMD_ERR_DISAGREE, "trees: rank ");
        EXPECT_OK(spmd_tree_set_key(tree, "text", (spmd_key){{other, 0}}));
        EXPECT_FAILS(spmd_tree_write(file, "t", tree), SPMD_ERR_DISAGREE, "trees: rank ");
        EXPECT_OK(spmd_tree_set_text(tree, "text", "c"));
        expect_disagreement(spmd_tree_write(file, other ? "u" : "t", tree));
    }
    EXPECT_OK(spmd_tree_write(file, "t", tree));
    close_file(&file);
    file = open_file(mesh, scratch("disagree.h5"));
    if (test_size > 1) {
        const spmd_tree_read_options options = {.pad = other};
        spmd_file_listing *listing = NULL;
        expect_disagreement(spmd_tree_read(file, "t", other ? "P()" : "P(x)", &read));
        expect_disagreement(spmd_tree_read_like(file, "t", tree, &options, &read));
        expect_disagreement(spmd_file_list(file, other ? "t" : "", &listing));
        set_arange(tree, "list/0", mesh, "P(x)", SPMD_F64, SPMD_SHAPE(5, 3));
        set_arange(tree, other ? "list/0" : "list/1", mesh, "P(x)", SPMD_F32, SPMD_SHAPE(5, 3));
        EXPECT_FAILS(spmd_tree_read_like(file, "t", tree, NULL, &read), SPMD_ERR_DISAGREE,
                     "trees: rank ");
    }
    EXPECT(!read);
    close_file(&file);
    spmd_tree_free(&tree);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("io_tree", CASE(all_kinds_come_back), CASE(any_program_can_read_them),
             CASE(a_mask_leaves_out), CASE(what_there_is_is_read_alike),
             CASE(like_decides_what_a_number_is), CASE(reading_alike_converts),
             CASE(zeros_are_put_behind), CASE(other_things_are_padded), CASE(a_strict_mesh_pads),
             CASE(a_changed_file_gets_another_tree), CASE(a_file_stays_what_it_is),
             CASE(a_failure_half_way_spoils_the_file), CASE(deep_trees_come_back),
             CASE(wide_trees_come_back), CASE(any_tree_comes_back_on_any_mesh),
             CASE(idle_ranks_succeed_at_once), CASE(structures_that_do_not_fit_are_told),
             CASE(wrong_uses_of_writing_are_told), CASE(wrong_uses_of_reading_are_told),
             CASE(ranks_that_disagree_are_told))
