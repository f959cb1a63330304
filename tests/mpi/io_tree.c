/* io_tree.c - trees to and from HDF5 files: what comes back, what is refused; what files have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hdf5.h>

#include "meshes.h"
#include "scratch.h"

static spmd_tree *new_tree(void)
{
    spmd_tree *tree = NULL;
    EXPECT_OK(spmd_tree_create(&tree));
    return tree;
}

/* Sets arange at `path`. */
static void set_arange(spmd_tree *tree, const char *path, spmd_mesh *mesh, const char *spec,
                       spmd_dtype dtype, spmd_shape shape)
{
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_arange(mesh, spec, dtype, shape, &array));
    EXPECT_OK(spmd_tree_set_array(tree, path, array));
    spmd_array_free(&array);
}

static spmd_file *create(spmd_mesh *mesh, const char *path)
{
    spmd_file *file = NULL;
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    return file;
}

static spmd_file *open_file(spmd_mesh *mesh, const char *path)
{
    spmd_file *file = NULL;
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    return file;
}

/* Collective. Closes a file, that idle ranks may open next. */
static void close_file(spmd_file **file)
{
    EXPECT_OK(spmd_file_close(file));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A file that has one tree. */
static void write_tree(spmd_mesh *mesh, const char *path, const char *name, const spmd_tree *tree)
{
    spmd_file *file = create(mesh, path);
    EXPECT_OK(spmd_tree_write(file, name, tree));
    close_file(&file);
}

static bool format_is(const spmd_tree *tree, const char *wanted)
{
    char text[2048] = "nothing";
    if (tree)
        spmd_tree_format(text, sizeof text, tree);
    if (strcmp(text, wanted) != 0)
        fprintf(stderr, "  \"%s\" is not \"%s\"\n", text, wanted);
    return strcmp(text, wanted) == 0;
}

/* Whether the array at `path` is arange of its type, as it lies. */
static bool is_arange(const spmd_tree *tree, const char *path)
{
    spmd_array *array = NULL, *wanted = NULL;
    if (!EXPECT_OK(spmd_tree_get_array(tree, path, &array)))
        return false;
    const spmd_sharding *sharding = spmd_array_sharding(array);
    char spec[256];
    spmd_sharding_format(spec, sizeof spec, sharding);
    bool is =
        EXPECT_OK(spmd_array_arange(spmd_sharding_mesh(sharding), spec, spmd_array_dtype(array),
                                    spmd_array_shape(array), &wanted)) &&
        same_blocks(array, wanted);
    spmd_array_free(&wanted);
    return is;
}

static const char all_kinds[] =
    "{b: f64[2,3], 'd e': {'gr\xc3\xb6\xc3\x9f"
    "e': i32[7]}, empty: {}, key: key(1,4294967295), "
    "list: [f32[5,3], [], None, [-1]], none: None, note: a b\xc3\xa4, step: -9000000000000000000, "
    "text: }";

static const double block_data[] = {0, 1, 2, 3, 4, 5};

/* A tree with all that there is. */
static spmd_tree *new_all_kinds(spmd_mesh *mesh, const char *spec)
{
    static spmd_block block;
    spmd_tree *tree = new_tree();
    block = spmd_block_borrow((void *)block_data, SPMD_F64, SPMD_SHAPE(2, 3));
    EXPECT_OK(spmd_tree_set_block(tree, "b", &block));
    set_arange(tree,
               "d e/gr\xc3\xb6\xc3\x9f"
               "e",
               mesh, spec, SPMD_I32, SPMD_SHAPE(7));
    EXPECT_OK(spmd_tree_set_dict(tree, "empty"));
    EXPECT_OK(spmd_tree_set_key(tree, "key", (spmd_key){{1, UINT32_MAX}}));
    set_arange(tree, "list/0", mesh, spec, SPMD_F32, SPMD_SHAPE(5, 3));
    EXPECT_OK(spmd_tree_set_list(tree, "list/1"));
    EXPECT_OK(spmd_tree_set_none(tree, "list/2"));
    EXPECT_OK(spmd_tree_set_integer(tree, "list/3/0", -1));
    EXPECT_OK(spmd_tree_set_none(tree, "none"));
    EXPECT_OK(spmd_tree_set_text(tree, "note", "a b\xc3\xa4"));
    EXPECT_OK(spmd_tree_set_integer(tree, "step", -9000000000000000000));
    EXPECT_OK(spmd_tree_set_text(tree, "text", ""));
    return tree;
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
        EXPECT(is_arange(read, "d e/gr\xc3\xb6\xc3\x9f"
                               "e"));
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

HARNESS_MAIN("io_tree", CASE(all_kinds_come_back))
