/* tree_files.h - trees that cases write to files, and how they look at what comes back. */
#ifndef TREE_FILES_H
#define TREE_FILES_H

#include <stdio.h>
#include <string.h>

#include "meshes.h"
#include "scratch.h"

static inline spmd_tree *new_tree(void)
{
    spmd_tree *tree = NULL;
    EXPECT_OK(spmd_tree_create(&tree));
    return tree;
}

/* Sets arange at `path`. */
static inline void set_arange(spmd_tree *tree, const char *path, spmd_mesh *mesh, const char *spec,
                              spmd_dtype dtype, spmd_shape shape)
{
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_arange(mesh, spec, dtype, shape, &array));
    EXPECT_OK(spmd_tree_set_array(tree, path, array));
    spmd_array_free(&array);
}

static inline spmd_file *create(spmd_mesh *mesh, const char *path)
{
    spmd_file *file = NULL;
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    return file;
}

static inline spmd_file *open_file(spmd_mesh *mesh, const char *path)
{
    spmd_file *file = NULL;
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    return file;
}

/* Collective. Closes a file, that idle ranks may open next. */
static inline void close_file(spmd_file **file)
{
    EXPECT_OK(spmd_file_close(file));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A file that has one tree. */
static inline void write_tree(spmd_mesh *mesh, const char *path, const char *name,
                              const spmd_tree *tree)
{
    spmd_file *file = create(mesh, path);
    EXPECT_OK(spmd_tree_write(file, name, tree));
    close_file(&file);
}

static inline bool format_is(const spmd_tree *tree, const char *wanted)
{
    char text[2048] = "nothing";
    if (tree)
        spmd_tree_format(text, sizeof text, tree);
    if (strcmp(text, wanted) != 0)
        fprintf(stderr, "  \"%s\" is not \"%s\"\n", text, wanted);
    return strcmp(text, wanted) == 0;
}

/* Whether the array at `path` is arange of its type, as it lies. */
static inline bool is_arange(const spmd_tree *tree, const char *path)
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

static const double block_data[] = {0, 1, 2, 3, 4, 5};

/* A tree with all that there is. */
static inline spmd_tree *new_all_kinds(spmd_mesh *mesh, const char *spec)
{
    static spmd_block block;
    spmd_tree *tree = new_tree();
    block = spmd_block_borrow((void *)block_data, SPMD_F64, SPMD_SHAPE(2, 3));
    EXPECT_OK(spmd_tree_set_block(tree, "b", &block));
    set_arange(tree, "d e/gr\xc3\xb6\xc3\x9fte", mesh, spec, SPMD_I32, SPMD_SHAPE(7));
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

#endif
