/* loader.c - mini-batches of datasets: which rows, how stored, where resumed, how they fail. */
#include "loader_file.h"
#include "meshes.h"

static const char *path; /* of the file that all cases read */

static spmd_loader *load(spmd_mesh *mesh, int ndatasets, const char *const names[],
                         const char *const specs[], spmd_loader_options options)
{
    spmd_loader *loader = NULL;
    EXPECT_OK(spmd_loader_create(mesh, path, ndatasets, names, specs, &options, &loader));
    return loader;
}

static spmd_loader *load_one(spmd_mesh *mesh, const char *name, const char *spec,
                             spmd_loader_options options)
{
    return load(mesh, 1, (const char *[]){name}, (const char *[]){spec}, options);
}

/* On all ranks in a line. */
static spmd_loader *load_on_line(const char *name, const char *spec, spmd_loader_options options)
{
    spmd_mesh *mesh = make_line();
    spmd_loader *loader = load_one(mesh, name, spec, options);
    spmd_mesh_free(&mesh);
    return loader;
}

/* The same of its row numbers. */
static spmd_loader *load_rows(spmd_loader_options options)
{
    return load_on_line("row", "P(x)", options);
}

/* Collective. The row numbers of the next batch of a loader whose only dataset they are. */
static int64_t next_rows(spmd_loader *loader, int64_t rows[ROWS])
{
    spmd_array *batch = NULL;
    int64_t count = 0;
    if (EXPECT_OK(spmd_loader_next(loader, &batch))) {
        count = spmd_array_shape(batch).dim[0];
        if (count >= 0)
            EXPECT_OK(spmd_array_gather(batch, SPMD_ALL, rows, count));
    }
    spmd_array_free(&batch);
    return count;
}

/* Collective. The row numbers of an epoch, [ROWS]; gives how many there are. */
static int64_t epoch_rows(spmd_loader *loader, int64_t rows[ROWS])
{
    int64_t count = 0;
    for (int64_t b = spmd_loader_batches(loader); b > 0; b--)
        count += next_rows(loader, rows + count);
    return count;
}

static bool is_permutation(int64_t count, const int64_t rows[])
{
    bool seen[ROWS] = {false};
    for (int64_t i = 0; i < count; i++) {
        if (rows[i] < 0 || rows[i] >= ROWS || seen[rows[i]])
            return false;
        seen[rows[i]] = true;
    }
    return true;
}

static bool same_rows(int64_t count, const int64_t a[], const int64_t b[])
{
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

static void rows_come_in_file_order(void)
{
    spmd_loader *loader = load_rows((spmd_loader_options){.batch = 10});
    EXPECT(spmd_loader_rows(loader) == ROWS);
    EXPECT(spmd_loader_batches(loader) == 5);
    for (int64_t at = 0; at < 12; at++) {
        int64_t rows[ROWS];
        EXPECT(spmd_loader_epoch(loader) == at / 5 && spmd_loader_step(loader) == at % 5);
        EXPECT(next_rows(loader, rows) == 10);
        for (int64_t i = 0; i < 10; i++)
            EXPECT(rows[i] == at % 5 * 10 + i);
    }
    spmd_loader_free(&loader);
    EXPECT(!loader);
}

static void each_epoch_has_each_row_once_in_its_own_order(void)
{
    const spmd_loader_options options = {
        .batch = 8, .shuffle = true, .key = spmd_key_create(5), .keep_rest = true};
    spmd_loader *loader = load_rows(options);
    int64_t rows[3][ROWS], again[ROWS];
    for (int e = 0; e < 3; e++) {
        EXPECT(epoch_rows(loader, rows[e]) == ROWS);
        EXPECT(is_permutation(ROWS, rows[e]));
    }
    EXPECT(!same_rows(ROWS, rows[0], rows[1]) && !same_rows(ROWS, rows[1], rows[2]));
    EXPECT_OK(spmd_loader_seek(loader, 1, 0));
    epoch_rows(loader, again);
    EXPECT(same_rows(ROWS, rows[1], again));
    spmd_loader_free(&loader);
}

static void another_key_is_another_order(void)
{
    int64_t rows[2][ROWS];
    for (uint64_t k = 0; k < 2; k++) {
        spmd_loader *loader = load_rows(
            (spmd_loader_options){.batch = ROWS, .shuffle = true, .key = spmd_key_create(k)});
        EXPECT(epoch_rows(loader, rows[k]) == ROWS);
        spmd_loader_free(&loader);
    }
    EXPECT(!same_rows(ROWS, rows[0], rows[1]));
}

static const spmd_loader_options in_sevens = {
    .batch = 7, .shuffle = true, .key = {{3, 4}}, .keep_rest = true};

/* The first 1 1/2 epochs of `in_sevens`, wherever it runs: what one rank alone is given. */
enum { BATCHES_KNOWN = 12 };

static const int64_t *known_rows(void)
{
    static int64_t rows[2 * ROWS];
    static bool known;
    if (known)
        return rows;
    known = true;
    spmd_mesh *mesh = make_mesh("x=1");
    spmd_loader *loader = load_one(mesh, "row", "P()", in_sevens);
    if (!is_idle(mesh)) {
        EXPECT(epoch_rows(loader, rows) == ROWS);
        EXPECT(epoch_rows(loader, rows + ROWS) == ROWS);
    }
    MPI_Bcast(rows, 2 * ROWS, MPI_INT64_T, 0, MPI_COMM_WORLD);
    spmd_loader_free(&loader);
    spmd_mesh_free(&mesh);
    return rows;
}

/* The rows of the batch that comes as number `index`, and how many they are. */
static const int64_t *known_batch(int64_t index, int64_t *count)
{
    const int64_t per_epoch = (ROWS - 1) / in_sevens.batch + 1, step = index % per_epoch;
    const int64_t first = step * in_sevens.batch;
    *count = ROWS - first < in_sevens.batch ? ROWS - first : in_sevens.batch;
    return known_rows() + index / per_epoch * ROWS + first;
}

/* Whether a batch's element is that of the file. */
typedef bool check_element(const spmd_block *block, int64_t at, int64_t row, int64_t column);

static bool is_int(const spmd_block *block, int64_t at, int64_t row, int64_t column)
{
    return ((const int *)block->data)[at] == element_at(row, column);
}

/* The block holds what it should of these rows. */
static bool has_rows(const spmd_array *array, const int64_t rows[], check_element *check)
{
    const spmd_block *block = spmd_array_block(array);
    if (!block)
        return true;
    int64_t at = 0;
    for (int64_t i = 0; i < block->shape[0]; i++)
        for (int64_t j = 0; j < (block->ndim > 1 ? block->shape[1] : 1); j++, at++)
            if (!check(block, at, rows[block->offset[0] + i],
                       block->ndim > 1 ? block->offset[1] + j : 0))
                return false;
    return true;
}

/* The batches of `in_sevens` from number `first` on are those that are known. */
static void expect_known(spmd_loader *loader, int64_t first, int64_t end, check_element *check)
{
    for (int64_t index = first; index < end; index++) {
        int64_t count;
        const int64_t *rows = known_batch(index, &count);
        spmd_array *batch = NULL;
        if (!EXPECT_OK(spmd_loader_next(loader, &batch)))
            return;
        EXPECT(!spmd_array_block(batch) || spmd_array_shape(batch).dim[0] == count);
        EXPECT(has_rows(batch, rows, check));
        spmd_array_free(&batch);
    }
}

static void expect_dataset(const char *name, spmd_mesh *mesh, const char *spec, spmd_dtype dtype,
                           check_element *check)
{
    spmd_loader_options options = in_sevens;
    options.dtypes = &dtype;
    spmd_loader *loader = load_one(mesh, name, spec, options);
    expect_known(loader, 0, BATCHES_KNOWN, check);
    spmd_loader_free(&loader);
}

static void batches_are_the_same_on_every_mesh(void)
{
    spmd_mesh *line = make_line(), *grid = make_grid(), *shorter = make_shorter_line();
    expect_dataset("contiguous", line, "P(x)", SPMD_I32, is_int);
    expect_dataset("contiguous", line, "P(-,x)", SPMD_I32, is_int);
    expect_dataset("contiguous", line, "P()", SPMD_I32, is_int);
    expect_dataset("contiguous", grid, "P(x,y)", SPMD_I32, is_int);
    expect_dataset("contiguous", grid, "P(y)", SPMD_I32, is_int);
    expect_dataset("contiguous", grid, "P((y,x))", SPMD_I32, is_int);
    expect_dataset("contiguous", shorter, "P(x)", SPMD_I32, is_int);
    spmd_mesh_free(&shorter);
    spmd_mesh_free(&grid);
    spmd_mesh_free(&line);
}

static bool is_int_or_fill(const spmd_block *block, int64_t at, int64_t row, int64_t column)
{
    return row < UNWRITTEN_ROWS ? ((const int *)block->data)[at] == FILL
                                : is_int(block, at, row, column);
}

static bool is_short(const spmd_block *block, int64_t at, int64_t row, int64_t column)
{
    return ((const int16_t *)block->data)[at] == element_at(row, column);
}

static void all_layouts_are_read(void)
{
    static const char *const names[] = {"chunked", "bands",       "deflated", "filtered",
                                        "scaled",  "compact",     "virtual",  "external",
                                        "linked",  "linked whole"};
    spmd_mesh *grid = make_grid();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        expect_dataset(names[i], grid, "P(x,y)", SPMD_DTYPE_NONE, is_int);
        expect_dataset(names[i], grid, "P((x,y))", SPMD_DTYPE_NONE, is_int);
    }
    expect_dataset("unwritten", grid, "P(x,y)", SPMD_DTYPE_NONE, is_int_or_fill);
    expect_dataset("checksummed", grid, "P(x)", SPMD_DTYPE_NONE, is_short);
    spmd_mesh_free(&grid);
}

static bool is_float(const spmd_block *block, int64_t at, int64_t row, int64_t column)
{
    return ((const float *)block->data)[at] == (float)element_at(row, column);
}

static bool is_double(const spmd_block *block, int64_t at, int64_t row, int64_t column)
{
    return ((const double *)block->data)[at] == element_at(row, column);
}

static bool is_byte(const spmd_block *block, int64_t at, int64_t row, int64_t column)
{
    return ((const uint8_t *)block->data)[at] == element_at(row, column);
}

static bool is_true(const spmd_block *block, int64_t at, int64_t row, int64_t column)
{
    (void)row, (void)column;
    return ((const uint8_t *)block->data)[at] == 1;
}

static bool is_pair(const spmd_block *block, int64_t at, int64_t row, int64_t column)
{
    const double *pair = (const double *)block->data + 2 * at;
    (void)column;
    return pair[0] == (double)row && pair[1] == (double)-row;
}

static void types_are_converted(void)
{
    spmd_mesh *line = make_line();
    expect_dataset("contiguous", line, "P(x)", SPMD_F32, is_float);
    expect_dataset("contiguous", line, "P(-,x)", SPMD_F64, is_double);
    expect_dataset("doubles", line, "P(x)", SPMD_F32, is_float);
    expect_dataset("doubles", line, "P(x)", SPMD_U8, is_byte);
    expect_dataset("bytes", line, "P(x)", SPMD_F32, is_float);
    expect_dataset("foreign", line, "P(x)", SPMD_DTYPE_NONE, is_int);
    expect_dataset("filtered", line, "P(x)", SPMD_F64, is_double);
    expect_dataset("compact", line, "P(x)", SPMD_F32, is_float);
    expect_dataset("bytes", line, "P(x)", SPMD_BOOL, is_true);
    expect_dataset("contiguous", line, "P(x)", SPMD_BOOL, is_true);
    expect_dataset("pairs", line, "P(x)", SPMD_C128, is_pair);
    spmd_mesh_free(&line);
}

/* Enough for the pool to have it, and to give back what is too much. */
static void large_batches_are_converted_in_place(void)
{
    enum { LARGE = 60000 };
    const char *large = scratch("large.h5");
    spmd_mesh *mesh = make_line();
    spmd_array *array = NULL, *batch = NULL;
    spmd_loader *loader = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(LARGE), &array));
    EXPECT_OK(spmd_write(array, large, "x"));
    spmd_array_free(&array);
    EXPECT_OK(spmd_loader_create(
        mesh, large, 1, (const char *[]){"x"}, (const char *[]){"P()"},
        &(spmd_loader_options){.batch = LARGE / 2, .dtypes = (spmd_dtype[]){SPMD_F32}}, &loader));
    for (int64_t half = 0; half < 2; half++) {
        EXPECT_OK(spmd_loader_next(loader, &batch));
        const float *values = spmd_array_block(batch)->data;
        bool right = true;
        for (int64_t i = 0; i < LARGE / 2; i++)
            right = right && values[i] == (float)(half * (LARGE / 2) + i);
        EXPECT(right);
        spmd_array_free(&batch);
    }
    spmd_loader_free(&loader);
    spmd_mesh_free(&mesh);
}

static void labels_go_with_their_samples(void)
{
    const char *names[] = {"chunked", "row", "deflated"};
    const char *specs[] = {"P(x)", "P()", "P(-,x)"};
    spmd_mesh *mesh = make_line();
    spmd_loader *loader = load(mesh, 3, names, specs, in_sevens);
    for (int b = 0; b < BATCHES_KNOWN; b++) {
        spmd_array *batch[3] = {NULL};
        if (!EXPECT_OK(spmd_loader_next(loader, batch)))
            break;
        const int64_t *rows = spmd_array_block(batch[1])->data;
        EXPECT(has_rows(batch[0], rows, is_int));
        EXPECT(has_rows(batch[2], rows, is_int));
        for (int d = 0; d < 3; d++)
            spmd_array_free(&batch[d]);
    }
    spmd_loader_free(&loader);
    spmd_mesh_free(&mesh);
}

static void the_rest_is_dropped_or_kept(void)
{
    int64_t rows[ROWS];
    spmd_loader *loader = load_rows((spmd_loader_options){.batch = 25});
    EXPECT(spmd_loader_batches(loader) == 2 && epoch_rows(loader, rows) == 50);
    spmd_loader_free(&loader);
    loader = load_rows((spmd_loader_options){.batch = 25, .keep_rest = true});
    EXPECT(spmd_loader_batches(loader) == 3 && epoch_rows(loader, rows) == ROWS);
    spmd_loader_free(&loader);
    loader = load_rows((spmd_loader_options){.batch = 100, .keep_rest = true});
    EXPECT(spmd_loader_batches(loader) == 1 && epoch_rows(loader, rows) == ROWS);
    EXPECT(spmd_loader_epoch(loader) == 1);
    spmd_loader_free(&loader);
}

static void batches_read_when_asked_for_are_the_same(void)
{
    spmd_loader_options options = in_sevens;
    options.wait = true;
    spmd_mesh *mesh = make_grid();
    spmd_loader *loader = load_one(mesh, "filtered", "P(x,y)", options);
    expect_known(loader, 0, BATCHES_KNOWN, is_int);
    spmd_loader_free(&loader);
    spmd_mesh_free(&mesh);
}

/* Whatever else was read ahead. */
static void a_position_is_behind_what_was_given(void)
{
    spmd_mesh *mesh = make_line(), *grid = make_grid();
    for (int64_t given = 0; given < BATCHES_KNOWN; given += 3) {
        spmd_tree *state = NULL;
        spmd_loader *loader = load_one(mesh, "contiguous", "P(x)", in_sevens);
        expect_known(loader, 0, given, is_int);
        EXPECT_OK(spmd_loader_state(loader, &state));
        spmd_loader_free(&loader);

        loader = load_one(grid, "contiguous", "P(y,x)", in_sevens);
        expect_known(loader, 0, 2, is_int);
        EXPECT_OK(spmd_loader_resume(loader, state));
        EXPECT(spmd_loader_epoch(loader) == given / 8 && spmd_loader_step(loader) == given % 8);
        expect_known(loader, given, BATCHES_KNOWN, is_int);
        spmd_loader_free(&loader);
        spmd_tree_free(&state);
    }
    spmd_mesh_free(&grid);
    spmd_mesh_free(&mesh);
}

static void a_position_of_something_else_is_refused(void)
{
    spmd_loader *loader = load_on_line("contiguous", "P(x)", in_sevens);
    spmd_tree *state = NULL, *other = NULL;
    EXPECT_OK(spmd_loader_state(loader, &state));
#define REFUSED(change, message)                                                     \
    do {                                                                             \
        EXPECT_OK(spmd_tree_copy(state, &other));                                    \
        EXPECT_OK(change);                                                           \
        EXPECT_FAILS(spmd_loader_resume(loader, other), SPMD_ERR_ARGUMENT, message); \
        spmd_tree_free(&other);                                                      \
    } while (0)
    REFUSED(spmd_tree_set_integer(other, "rows", 60), "with rows 60, this one has 53");
    REFUSED(spmd_tree_set_integer(other, "batch", 8), "with batch 8, this one has 7");
    REFUSED(spmd_tree_set_integer(other, "shuffle", 0), "with shuffle 0, this one has 1");
    REFUSED(spmd_tree_set_integer(other, "keep_rest", 0), "with keep_rest 0");
    REFUSED(spmd_tree_set_key(other, "key", spmd_key_create(9)), "with another key");
    REFUSED(spmd_tree_set_text(other, "datasets/0", "row"), "is of dataset \"row\"");
    REFUSED(spmd_tree_set_text(other, "datasets/1", "row"), "is of 2 datasets, this loader has 1");
    REFUSED(spmd_tree_set_integer(other, "step", 8),
            "in an epoch there is no batch 8, only 0 to 7");
    REFUSED(spmd_tree_set_none(other, "epoch"), "epoch");
    REFUSED(spmd_tree_set_none(other, ""), "the tree is no position to resume, ");
#undef REFUSED
    EXPECT_FAILS(spmd_loader_resume(loader, NULL), SPMD_ERR_ARGUMENT, "is NULL");
    EXPECT_FAILS(spmd_loader_seek(loader, 0, 8), SPMD_ERR_ARGUMENT,
                 ": in an epoch there is no batch 8, only 0 to 7");
    EXPECT_FAILS(spmd_loader_seek(loader, -1, 0), SPMD_ERR_ARGUMENT, "epoch -1");
    expect_known(loader, 0, 3, is_int);
    spmd_tree_free(&state);
    spmd_loader_free(&loader);
}

static void the_last_epoch_ends(void)
{
    spmd_loader *loader = load_rows(in_sevens);
    spmd_array *batch = NULL;
    int64_t rows[ROWS];
    EXPECT_OK(spmd_loader_seek(loader, UINT32_MAX, spmd_loader_batches(loader) - 1));
    EXPECT(next_rows(loader, rows) == ROWS % 7);
    EXPECT_FAILS(spmd_loader_next(loader, &batch), SPMD_ERR_ARGUMENT,
                 "rows.h5: there is no batch behind epoch 4294967295");
    EXPECT_FAILS(spmd_loader_seek(loader, INT64_C(1) << 32, 0), SPMD_ERR_ARGUMENT,
                 "no epoch 4294967296, only 0 to 4294967295");
    EXPECT_OK(spmd_loader_seek(loader, 0, 0));
    EXPECT(next_rows(loader, rows) == 7);
    spmd_loader_free(&loader);
}

static void ranks_that_disagree_are_told(void)
{
    if (test_size == 1) {
        harness_skip("one rank agrees with itself");
        return;
    }
    spmd_loader *loader = load_rows(in_sevens);
    EXPECT_FAILS(spmd_loader_seek(loader, 0, test_rank % 2), SPMD_ERR_DISAGREE,
                 "spmd_loader_seek (loader.c:");
    spmd_loader_free(&loader);
}

static spmd_loader *forgotten;

static herr_t fail_at_exit(hid_t stack, void *user)
{
    (void)stack, (void)user;
    fprintf(stderr, "loader: HDF5 fails at a loader that is freed after MPI_Finalize\n");
    _exit(1);
}

static void free_forgotten(void)
{
    H5Eset_auto2(H5E_DEFAULT, fail_at_exit, NULL);
    spmd_loader_free(&forgotten);
}

static void a_loader_is_freed_after_the_end(void)
{
    forgotten = load_rows(in_sevens);
    EXPECT(atexit(free_forgotten) == 0);
}

static void windows_shuffle_whole_chunks(void)
{
    enum { CHUNK = 5, WINDOW = 2 };
    const spmd_loader_options options = {.batch = CHUNK * WINDOW,
                                         .shuffle = true,
                                         .key = {{8, 9}},
                                         .window = WINDOW,
                                         .keep_rest = true};
    const char *names[] = {"bands", "row"}, *specs[] = {"P(x)", "P()"};
    spmd_mesh *mesh = make_line();
    spmd_loader *loader = load(mesh, 2, names, specs, options);
    int64_t epochs[2][ROWS];
    for (int e = 0; e < 2; e++) {
        int64_t count = 0;
        for (int b = 0; b < 6; b++) {
            spmd_array *batch[2] = {NULL};
            bool chunks[ROWS / CHUNK + 1] = {false};
            int nchunks = 0;
            if (!EXPECT_OK(spmd_loader_next(loader, batch)))
                break;
            const spmd_block *block = spmd_array_block(batch[1]);
            const int64_t *rows = block->data;
            EXPECT(has_rows(batch[0], rows, is_int));
            for (int64_t i = 0; i < block->shape[0]; i++) {
                nchunks += !chunks[rows[i] / CHUNK];
                chunks[rows[i] / CHUNK] = true;
                epochs[e][count++] = rows[i];
            }
            EXPECT(nchunks <= WINDOW + 1); /* a short last chunk moves the others' places */
            spmd_array_free(&batch[0]);
            spmd_array_free(&batch[1]);
        }
        EXPECT(count == ROWS && is_permutation(ROWS, epochs[e]));
    }
    EXPECT(!same_rows(ROWS, epochs[0], epochs[1]));
    spmd_loader_free(&loader);
    spmd_mesh_free(&mesh);
}

static void expect_refused(spmd_mesh *mesh, const char *name, const char *spec,
                           spmd_loader_options options, spmd_status status, const char *message)
{
    spmd_loader *loader = NULL;
    EXPECT_FAILS(spmd_loader_create(mesh, path, 1, &name, &spec, &options, &loader), status,
                 message);
    expect_same_message();
    EXPECT(!loader);
}

static void what_cannot_be_is_refused(void)
{
    const spmd_loader_options of_8 = {.batch = 8};
    spmd_mesh *mesh = make_line();
    expect_refused(mesh, "row", "P(x)", (spmd_loader_options){0}, SPMD_ERR_ARGUMENT,
                   ": a batch of 0 rows");
    expect_refused(mesh, "row", "P(x)", (spmd_loader_options){.batch = 54}, SPMD_ERR_SHAPE,
                   "has 53 rows, which fill no batch of 54; say keep_rest");
    expect_refused(mesh, "empty", "P(x)", (spmd_loader_options){.batch = 1, .keep_rest = true},
                   SPMD_ERR_SHAPE, "has 0 rows");
    expect_refused(mesh, "scalar", "P()", of_8, SPMD_ERR_SHAPE, "\"scalar\" is a scalar");
    expect_refused(mesh, "nothing", "P()", of_8, SPMD_ERR_FILE, "no dataset \"nothing\"");
    expect_refused(mesh, "row", "P(x,-)", of_8, SPMD_ERR_SPEC, "dataset \"row\"");
    expect_refused(mesh, "row", "P(z)", of_8, SPMD_ERR_SPEC, ": dataset \"row\": ");
    expect_refused(mesh, "row", "P(unreduced={x})", of_8, SPMD_ERR_SPEC, "unreduced");
    expect_refused(mesh, "doubles", "P()",
                   (spmd_loader_options){.batch = 8, .dtypes = (spmd_dtype[]){SPMD_BOOL}},
                   SPMD_ERR_DTYPE, "not converted to bool");
    expect_refused(mesh, "row", "P()", (spmd_loader_options){.batch = 8, .window = 2},
                   SPMD_ERR_ARGUMENT, "say shuffle too");
    expect_refused(mesh, "row", "P()",
                   (spmd_loader_options){.batch = 8, .shuffle = true, .window = 2},
                   SPMD_ERR_ARGUMENT, "has no chunks");
    spmd_mesh_free(&mesh);
}

static void datasets_that_do_not_fit_are_refused(void)
{
    const char *names[] = {"contiguous", "fewer"}, *specs[] = {"P(x)", "P(x)"};
    const spmd_loader_options options = {.batch = 8};
    spmd_loader *loader = NULL;
    spmd_mesh *mesh = make_line();
    EXPECT_FAILS(spmd_loader_create(mesh, path, 2, names, specs, &options, &loader), SPMD_ERR_SHAPE,
                 "\"contiguous\" has 53 rows, dataset \"fewer\" has 52");
    EXPECT_FAILS(spmd_loader_create(mesh, path, 0, names, specs, &options, &loader),
                 SPMD_ERR_ARGUMENT, "a loader of 0 datasets");
    EXPECT_FAILS(spmd_loader_create(mesh, path, 1, NULL, specs, &options, &loader),
                 SPMD_ERR_ARGUMENT, "names");
    EXPECT_FAILS(spmd_loader_create(mesh, scratch("no.h5"), 1, names, specs, &options, &loader),
                 SPMD_ERR_FILE, "no such file");
    EXPECT_FAILS(spmd_loader_next(NULL, NULL), SPMD_ERR_ARGUMENT,
                 "spmd_loader_next: the loader is NULL");
    expect_disagreement(spmd_loader_create(mesh, path, is_last_of_many() ? 1 : 2,
                                           (const char *[]){"contiguous", "row"}, specs, &options,
                                           &loader));
    spmd_loader_free(&loader);
    spmd_mesh_free(&mesh);
}

/* Where the elements of a contiguous dataset, or of its first chunk, stand. */
static int64_t offset_of(const char *file_path, const char *name)
{
    hid_t file = H5Fopen(file_path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    haddr_t offset = H5Dget_offset(dataset);
    if (offset == HADDR_UNDEF) {
        hsize_t bytes, first[2] = {0};
        unsigned skipped;
        H5Dget_chunk_info_by_coord(dataset, first, &skipped, &offset, &bytes);
    }
    H5Dclose(dataset);
    H5Fclose(file);
    return (int64_t)offset;
}

/* A loader of a file of its own, of which then only the first 26 rows of "doubles" are left. */
static spmd_loader *load_and_cut(spmd_mesh *mesh, const char *name, bool wait)
{
    const char *spec = "P(x)", *cut = make_file("cut.h5");
    const spmd_loader_options options = {.batch = 8, .wait = wait};
    spmd_loader *loader = NULL;
    EXPECT_OK(spmd_loader_create(mesh, cut, 1, &name, &spec, &options, &loader));
    MPI_Barrier(MPI_COMM_WORLD);
    const long left = offset_of(cut, "doubles") + 26 * COLUMNS * (long)sizeof(double);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(test_rank != 0 || truncate(cut, left) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    return loader;
}

static void expect_no_batch(spmd_loader *loader, const char *message)
{
    spmd_array *batch = NULL;
    EXPECT_FAILS(spmd_loader_next(loader, &batch), SPMD_ERR_FILE, message);
    EXPECT(strstr(spmd_error_message(), "cut.h5"));
    expect_same_message();
    EXPECT(!batch);
}

/* What is left of it is read; more fails, again and again, on each rank alike. */
static void expect_cut_file_told(bool wait)
{
    spmd_array *batch = NULL;
    spmd_mesh *mesh = make_line();
    spmd_loader *loader = load_and_cut(mesh, "doubles", wait);
    for (int i = 0; loader && i < 3; i++) {
        EXPECT_OK(spmd_loader_next(loader, &batch));
        spmd_array_free(&batch);
    }
    for (int i = 0; loader && i < 2; i++) {
        expect_no_batch(loader, "dataset \"doubles\", row 2");
        EXPECT(strstr(spmd_error_message(), "the file ends before it"));
        EXPECT(spmd_loader_epoch(loader) == 0 && spmd_loader_step(loader) == 3);
    }
    EXPECT_OK(spmd_loader_seek(loader, 0, 1));
    EXPECT_OK(spmd_loader_next(loader, &batch));
    spmd_array_free(&batch);
    spmd_loader_free(&loader);
    spmd_mesh_free(&mesh);
}

/* HDF5 tells such faults in its own words, and later. */
static bool reads_past_hdf5(void)
{
    const char *way = getenv("SPMD_IO");
    bool past = !way || strcmp(way, "hdf5") != 0;
    if (!past)
        harness_skip("SPMD_IO=hdf5");
    return past;
}

static void a_file_cut_while_open_is_told_on_all_ranks(void)
{
    if (!reads_past_hdf5())
        return;
    expect_cut_file_told(false);
    expect_cut_file_told(true);
}

/* HDF5 would read zeros. */
static void a_file_cut_while_hdf5_reads_it_is_told(void)
{
    spmd_mesh *mesh = make_line();
    spmd_loader *loader = load_and_cut(mesh, "scaled", false);
    expect_no_batch(loader, "dataset \"scaled\", row 0: the file was cut short");
    spmd_loader_free(&loader);
    spmd_mesh_free(&mesh);
}

static void expect_damage_told(const char *name, const char *message)
{
    const char *spec = "P(x)", *spoiled = make_file("spoiled.h5");
    const spmd_loader_options options = {.batch = 25};
    spmd_mesh *mesh = make_line();
    spmd_loader *loader = NULL;
    spmd_array *batch = NULL;
    if (test_rank == 0) {
        FILE *file = fopen(spoiled, "r+b");
        fseek(file, (long)offset_of(spoiled, name) + 9, SEEK_SET);
        fputs("spoilt", file);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_OK(spmd_loader_create(mesh, spoiled, 1, &name, &spec, &options, &loader));
    EXPECT_FAILS(spmd_loader_next(loader, &batch), SPMD_ERR_FILE, message);
    EXPECT(strstr(spmd_error_message(), "spoiled.h5") && strstr(spmd_error_message(), name));
    expect_same_message();
    spmd_loader_free(&loader);
    spmd_mesh_free(&mesh);
}

/* In our words; or in HDF5's, which reads what is deflated if there is no zlib. */
static void damaged_chunks_are_told(void)
{
    if (!reads_past_hdf5())
        return;
    expect_damage_told(
        "checksummed",
        "dataset \"checksummed\", chunk of row 0: its checksum (fletcher32) is wrong");
    expect_damage_told("filtered", "checksum");
    expect_damage_told("deflated", "dataset \"deflated\"");
}

static void idle_ranks_are_told_nothing(void)
{
    spmd_mesh *mesh = make_mesh("x=1");
    spmd_loader *loader = load_one(mesh, "contiguous", "P(x)", in_sevens);
    spmd_tree *state = NULL;
    spmd_array *batch = NULL;
    EXPECT_OK(spmd_loader_next(loader, &batch));
    EXPECT(spmd_array_shape(batch).dim[0] == (is_idle(mesh) ? -1 : 7));
    EXPECT(spmd_loader_rows(loader) == (is_idle(mesh) ? -1 : ROWS));
    EXPECT(spmd_loader_epoch(loader) == (is_idle(mesh) ? 1 : 0));
    EXPECT_OK(spmd_loader_state(loader, &state));
    EXPECT_OK(spmd_loader_resume(loader, state));
    EXPECT_OK(spmd_loader_seek(loader, 1, 1));
    spmd_tree_free(&state);
    spmd_array_free(&batch);
    spmd_loader_free(&loader);
    spmd_loader_free(&loader);
    spmd_loader_free(NULL);
    spmd_mesh_free(&mesh);
}

/* The file is made by the first case. */
static void the_file_is_made(void)
{
    static char kept[512];
    snprintf(kept, sizeof kept, "%s", make_file("rows.h5"));
    path = kept;
    EXPECT(access(path, R_OK) == 0);
}

HARNESS_MAIN("loader", CASE(the_file_is_made), CASE(rows_come_in_file_order),
             CASE(each_epoch_has_each_row_once_in_its_own_order),
             CASE(another_key_is_another_order), CASE(batches_are_the_same_on_every_mesh),
             CASE(all_layouts_are_read), CASE(types_are_converted),
             CASE(large_batches_are_converted_in_place), CASE(labels_go_with_their_samples),
             CASE(the_rest_is_dropped_or_kept), CASE(batches_read_when_asked_for_are_the_same),
             CASE(a_position_is_behind_what_was_given),
             CASE(a_position_of_something_else_is_refused), CASE(the_last_epoch_ends),
             CASE(ranks_that_disagree_are_told), CASE(windows_shuffle_whole_chunks),
             CASE(what_cannot_be_is_refused), CASE(datasets_that_do_not_fit_are_refused),
             CASE(a_file_cut_while_open_is_told_on_all_ranks),
             CASE(a_file_cut_while_hdf5_reads_it_is_told), CASE(damaged_chunks_are_told),
             CASE(idle_ranks_are_told_nothing), CASE(a_loader_is_freed_after_the_end))
