/* io_listing.c - what files have, those of others above all: as trees, and as lists. */
#include <hdf5.h>

#include "tree_files.h"

static void make_dataset(hid_t where, const char *name, hid_t type, hid_t space, hid_t creation,
                         hid_t memory, const void *data)
{
    hid_t dataset = H5Dcreate2(where, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (data)
        H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dclose(dataset);
}

static void make_mark(hid_t where, const char *name, const char *kind)
{
    hid_t object = H5Oopen(where, name, H5P_DEFAULT);
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(kind));
    hid_t mark = H5Acreate2(object, "spmd_kind", type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(mark, type, kind);
    H5Aclose(mark);
    H5Sclose(space);
    H5Tclose(type);
    H5Oclose(object);
}

static void make_group(hid_t where, const char *name, const char *kind)
{
    hid_t group = H5Gcreate2(where, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(group);
    if (kind)
        make_mark(where, name, kind);
}

static const int32_t counted[6] = {0, 1, 2, 3, 4, 5};

/* What other programs write that is a tree without a word of ours. */
static void make_plain(hid_t where)
{
    const hsize_t dims[] = {2, 3}, most[] = {H5S_UNLIMITED, 3}, chunk[] = {4, 2};
    hid_t space = H5Screate_simple(2, dims, NULL), growing = H5Screate_simple(2, dims, most);
    hid_t one = H5Screate(H5S_SCALAR), string = H5Tcopy(H5T_C_S1);
    hid_t packed = H5Pcreate(H5P_DATASET_CREATE), compact = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(packed, 2, chunk);
    H5Pset_shuffle(packed);
    H5Pset_fletcher32(packed);
    H5Pset_layout(compact, H5D_COMPACT);
    make_group(where, "g", NULL);
    make_dataset(where, "g/packed", H5T_STD_U16BE, growing, packed, H5T_NATIVE_INT32, counted);
    make_dataset(where, "g/compact", H5T_STD_I32LE, space, compact, H5T_NATIVE_INT32, counted);
    make_dataset(where, "one", H5T_STD_I16BE, one, H5P_DEFAULT, H5T_NATIVE_INT32, counted + 5);
    H5Tset_size(string, 5);
    H5Tset_strpad(string, H5T_STR_SPACEPAD);
    make_dataset(where, "fixed", string, one, H5P_DEFAULT, string, "ab c ");
    H5Tset_size(string, H5T_VARIABLE);
    make_dataset(where, "varying", string, one, H5P_DEFAULT, string, &(const char *){"any length"});
    H5Tcommit2(where, "type", string, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/g/compact", where, "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Pclose(compact);
    H5Pclose(packed);
    H5Tclose(string);
    H5Sclose(one);
    H5Sclose(growing);
    H5Sclose(space);
}

static void make_dangling(hid_t where, const char *name)
{
    H5Lcreate_soft("/nowhere", where, name, H5P_DEFAULT, H5P_DEFAULT);
}

/* What cannot be read, each in a group of its own. */
static void make_odd(hid_t where)
{
    const hsize_t dims[] = {2};
    hid_t space = H5Screate_simple(1, dims, NULL), null = H5Screate(H5S_NULL);
    hid_t record = H5Tcreate(H5T_COMPOUND, 4), string = H5Tcopy(H5T_C_S1);
    H5Tinsert(record, "id", 0, H5T_STD_I32LE);
    const char *const groups[] = {"a records", "b strings", "c null", "d link", "e loop",
                                  "f quote",   "g list",    "h none", "i key",  "j kind"};
    for (int i = 0; i < 10; i++)
        make_group(where, groups[i], NULL);
    make_dataset(where, "a records/x", record, space, H5P_DEFAULT, record, NULL);
    make_dataset(where, "b strings/x", string, space, H5P_DEFAULT, string, NULL);
    make_dataset(where, "c null/x", H5T_STD_I8LE, null, H5P_DEFAULT, H5T_NATIVE_INT8, NULL);
    make_dangling(where, "d link/x");
    H5Lcreate_hard(where, "e loop", where, "e loop/x", H5P_DEFAULT, H5P_DEFAULT);
    make_group(where, "f quote/it's", NULL);
    make_mark(where, "g list", "list");
    make_group(where, "g list/0", NULL);
    make_group(where, "g list/2", NULL);
    make_mark(where, "h none", "none");
    make_group(where, "h none/x", NULL);
    make_dataset(where, "i key/x", H5T_STD_I32LE, space, H5P_DEFAULT, H5T_NATIVE_INT32, counted);
    make_mark(where, "i key/x", "key");
    make_group(where, "j kind/x", "set");
    H5Tclose(string);
    H5Tclose(record);
    H5Sclose(null);
    H5Sclose(space);
}

/* Collective. A file of others. */
static const char *foreign(void)
{
    const char *path = scratch("foreign.h5");
    if (test_rank == 0) {
        hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        make_group(file, "odd", NULL);
        hid_t odd = H5Gopen2(file, "odd", H5P_DEFAULT);
        make_plain(file);
        make_odd(odd);
        H5Gclose(odd);
        H5Fclose(file);
    }
    after_rank_0();
    return path;
}

static void foreign_files_are_trees(void)
{
    spmd_mesh *mesh = make_line();
    spmd_file *file = open_file(mesh, foreign());
    spmd_tree *read = NULL;
    EXPECT_OK(
        spmd_tree_read(file, "/",
                       "{fixed: P(), g: {compact: P(x), packed: P(-,x)}, odd: None, one: P(), "
                       "soft: P(), varying: P()}",
                       &read));
    char wanted[300];
    snprintf(wanted, sizeof wanted,
             "{fixed: ab c, g: {compact: i32[2@x,3], packed: u16[2,3@x]}, odd: None, one: i16[], "
             "soft: i32[2,3], varying: any length}");
    EXPECT(format_is(read, wanted));
    EXPECT(is_arange(read, "g/compact") && is_arange(read, "g/packed") && is_arange(read, "soft"));
    spmd_tree_free(&read);
    EXPECT_OK(spmd_tree_read(file, "g/compact", "x", &read));
    EXPECT(format_is(read, "i32[2@x,3]"));
    spmd_tree_free(&read);
    EXPECT_OK(spmd_tree_read(file, "varying", "P()", &read));
    EXPECT(format_is(read, "any length"));
    spmd_tree_free(&read);
    close_file(&file);
    spmd_mesh_free(&mesh);
}

static void what_cannot_be_read_is_told(void)
{
    static const struct {
        const char *name, *message;
    } odd[] = {
        {"odd/a records", "foreign.h5: dataset \"odd/a records/x\" holds records"},
        {"odd/b strings", "foreign.h5: dataset \"odd/b strings/x\" holds strings"},
        {"odd/c null", "dataset \"odd/c null/x\" has no shape"},
        {"odd/d link", "foreign.h5: \"odd/d link/x\" cannot be opened: "},
        {"odd/e loop", "group \"odd/e loop/x\" is a link to a group above it"},
        {"odd/f quote", "foreign.h5: \"odd/f quote\" cannot be read as a tree: the key it's has '"},
        {"odd/g list", "group \"odd/g list\" is marked as a list, but its members are not 0, 1"},
        {"odd/h none", "group \"odd/h none\" is marked as None, but has \"x\""},
        {"odd/i key", "dataset \"odd/i key/x\" is marked as a key, but does not hold one"},
        {"odd/j kind",
         "attribute \"spmd_kind\" of \"odd/j kind/x\": \"set\" is no kind that is known here"},
        {"odd/k", "there is no \"odd/k\"; group \"odd\" has a records/, b strings/, c null/, "},
        {"type", "\"type\" is neither a group nor a dataset"},
    };
    spmd_mesh *mesh = make_line();
    spmd_file *file = open_file(mesh, foreign());
    spmd_tree *read = NULL, *like = new_tree();
    set_arange(like, "x", mesh, "P()", SPMD_I32, SPMD_SHAPE(2));
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        EXPECT_FAILS(spmd_tree_read(file, odd[i].name, "P()", &read), SPMD_ERR_FILE,
                     odd[i].message);
        expect_same_message();
    }
    for (size_t i = 0; i < 4; i++)
        EXPECT_FAILS(spmd_tree_read_like(file, odd[i].name, like, NULL, &read), SPMD_ERR_FILE,
                     odd[i].message);
    EXPECT(!read);
    EXPECT_OK(spmd_tree_set_none(like, "x")); /* unless nobody wants it */
    EXPECT_OK(spmd_tree_read_like(file, "odd/a records", like, NULL, &read));
    EXPECT(format_is(read, "{x: None}"));
    spmd_tree_free(&read);
    EXPECT_OK(spmd_tree_read(file, "odd/d link", "{x: None}", &read));
    EXPECT(format_is(read, "{x: None}"));
    spmd_tree_free(&read);
    spmd_tree_free(&like);
    close_file(&file);
    spmd_mesh_free(&mesh);
}

/* A line that has all of an entry. */
static void print_entry(const spmd_file_entry *entry, char *line, size_t size)
{
    static const char *const kinds[] = {
        [SPMD_TREE_NONE] = "none",   [SPMD_TREE_LIST] = "list",      [SPMD_TREE_DICT] = "dict",
        [SPMD_TREE_ARRAY] = "array", [SPMD_TREE_BLOCK] = "block",    [SPMD_TREE_KEY] = "key",
        [SPMD_TREE_TEXT] = "text",   [SPMD_TREE_INTEGER] = "integer"};
    char shape[64] = "";
    for (int d = 0, at = 0; d < entry->shape.ndim; d++)
        at += snprintf(shape + at, sizeof shape - (size_t)at, "%s%lld%s", d ? "x" : " ",
                       (long long)entry->shape.dim[d],
                       entry->options.most[d] == SPMD_UNLIMITED ? "+" : "");
    snprintf(line, size, "%s: %s%s%s%s%s%s%s%s", entry->name, kinds[entry->kind],
             entry->elements ? " " : "", entry->elements ? entry->elements : "", shape,
             entry->layout ? ", " : "", entry->layout ? entry->layout : "",
             entry->sharding ? ", " : "", entry->sharding ? entry->sharding : "");
}

/* The listing of what is at `name` has these lines, [count]. */
static void expect_listing(spmd_file *file, const char *name, int count, const char *const lines[])
{
    spmd_file_listing *listing = NULL;
    if (!EXPECT_OK(spmd_file_list(file, name, &listing)))
        return;
    EXPECT(listing->count == count);
    for (int i = 0; i < listing->count && i < count; i++) {
        char line[400];
        print_entry(&listing->entry[i], line, sizeof line);
        if (!EXPECT(strcmp(line, lines[i]) == 0))
            fprintf(stderr, "  \"%s\" is not \"%s\"\n", line, lines[i]);
    }
    spmd_file_listing_free(&listing);
    EXPECT(!listing);
}

static const char *const our_lines[] = {
    "b: array f64 2x3, contiguous, f64[2,3]",
    "d e: dict",
    "d e/gr\xc3\xb6\xc3\x9fte: array i32 7, contiguous, i32[7@x]",
    "empty: dict",
    "key: key u32 2, contiguous, u32[2]",
    "list: list",
    "list/0: array f32 5x3, contiguous, f32[5@x,3]",
    "list/1: list",
    "list/2: none",
    "list/3: list",
    "list/3/0: integer i64, contiguous, i64[]",
    "none: none",
    "note: text text, contiguous",
    "step: integer i64, contiguous, i64[]",
    "text: text text, contiguous",
};

static void files_of_ours_are_listed(void)
{
    enum { LINES = sizeof our_lines / sizeof *our_lines };
    spmd_mesh *mesh = make_line();
    spmd_tree *tree = new_all_kinds(mesh, "P(x)");
    spmd_file *file = create(mesh, scratch("listed.h5"));
    EXPECT_OK(spmd_tree_write(file, "/", tree));
    expect_listing(file, "", LINES, our_lines); /* while it is written, too */
    close_file(&file);
    file = open_file(mesh, scratch("listed.h5"));
    expect_listing(file, "/", LINES, our_lines);
    expect_listing(file, "list", 5, our_lines + 6);
    expect_listing(file, "list/0", 1, our_lines + 6);
    expect_listing(file, "empty", 0, NULL);
    close_file(&file);
    spmd_tree_free(&tree);
    spmd_mesh_free(&mesh);
}

static void foreign_files_are_listed(void)
{
    static const char *const lines[] = {
        "g/compact: array i32 2x3, compact",
        "g/packed: array u16 2+x3, chunks 4x2, shuffle, fletcher32",
    };
    static const char *const odd[] = {
        "odd/a records: dict", "odd/a records/x: array records 2, contiguous",
        "odd/b strings: dict", "odd/b strings/x: array strings 2, contiguous",
        "odd/c null: dict",    "odd/c null/x: array i8, contiguous",
        "odd/d link: dict",    "odd/d link/x: array",
        "odd/e loop: dict",    "odd/e loop/x: array",
        "odd/f quote: dict",   "odd/f quote/it's: dict",
        "odd/g list: array",   "odd/h none: array",
        "odd/i key: dict",     "odd/i key/x: array i32 2, contiguous",
        "odd/j kind: dict",    "odd/j kind/x: array",
    };
    spmd_mesh *mesh = make_shorter_line();
    spmd_file *file = open_file(mesh, foreign());
    bool idle = is_idle(mesh);
    expect_listing(file, "g", idle ? 0 : 2, lines);
    expect_listing(file, "odd", idle ? 0 : sizeof odd / sizeof *odd, odd);
    spmd_file_listing *listing = NULL;
    EXPECT_OK(spmd_file_list(file, "odd/a records", &listing));
    EXPECT(idle || strstr(listing->entry[0].problem, "holds records"));
    spmd_file_listing_free(&listing);
    EXPECT_OK(spmd_file_list(file, "g", &listing));
    EXPECT(idle || (listing->entry[0].stored == 24 && !listing->entry[0].problem));
    EXPECT(idle || (listing->entry[1].stored == 4 * 2 * 2 * 2 + 2 * 4));
    spmd_file_listing_free(&listing);
    spmd_file_listing_free(&listing);
    if (!idle)
        EXPECT_FAILS(spmd_file_list(file, "h", &listing), SPMD_ERR_FILE,
                     "there is no \"h\"; the file has ");
    EXPECT(!listing);
    close_file(&file);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("io_listing", CASE(foreign_files_are_trees), CASE(what_cannot_be_read_is_told),
             CASE(files_of_ours_are_listed), CASE(foreign_files_are_listed))
