/* halo.c - borders of blocks: every element against its global index, on any mesh. */
#include <math.h>
#include <stdlib.h>

#include "meshes.h"
#include "pattern.h"

/* What stands in a border before: another byte on each rank. */
static unsigned char untouched_byte(void)
{
    return (unsigned char)(0xa5 + test_rank);
}

/* An exchange that is tried, in a body that has the pattern as its input. */
struct trial {
    const spmd_halo *halo;
    bool split_phase;
    bool place_unknown;
    int64_t wrong; /* elements */
};

/* Row-major number in the global array of the element at `index` of a padded block; -1 where the
 * array has none. */
static int64_t number_of(const spmd_block *padded, const spmd_halo halo[], const int64_t index[],
                         const int64_t global[])
{
    int64_t number = 0;
    for (int d = 0; d < padded->ndim; d++) {
        int64_t at = padded->offset[d] + index[d];
        if (halo[d].periodic && global[d] > 0)
            at = (at % global[d] + global[d]) % global[d];
        if (at < 0 || at >= global[d])
            return -1;
        number = number * global[d] + at;
    }
    return number;
}

static bool is_interior(const spmd_block *padded, const spmd_halo halo[], const int64_t index[])
{
    for (int d = 0; d < padded->ndim; d++)
        if (index[d] < halo[d].lo || index[d] >= padded->shape[d] - halo[d].hi)
            return false;
    return true;
}

/* The next index of a shape, the last dimension first; false after the last one. */
static bool next_index(int ndim, const int64_t shape[], int64_t index[])
{
    for (int d = ndim - 1; d >= 0; d--) {
        if (++index[d] < shape[d])
            return true;
        index[d] = 0;
    }
    return false;
}

static void spoil_border(spmd_block *padded, const spmd_halo halo[])
{
    int64_t index[SPMD_MAX_DIMS] = {0};
    size_t element = spmd_dtype_size(padded->dtype);
    unsigned char *at = padded->data;
    if (spmd_block_size(padded) == 0)
        return;
    do {
        if (!is_interior(padded, halo, index))
            memset(at, untouched_byte(), element);
        at += element;
    } while (next_index(padded->ndim, padded->shape, index));
}

/* Elements that are not what they should be: the pattern where the array has an element, nothing
 * new elsewhere; an empty block has no border. */
static int64_t count_wrong(const spmd_block *padded, const spmd_halo halo[], const spmd_block *in)
{
    int64_t index[SPMD_MAX_DIMS] = {0}, wrong = 0;
    size_t element = spmd_dtype_size(padded->dtype);
    const unsigned char *at = padded->data;
    unsigned char wanted[16], untouched[16];
    memset(untouched, untouched_byte(), sizeof untouched);
    if (spmd_block_size(padded) == 0)
        return 0;
    do {
        int64_t number = number_of(padded, halo, index, in->global);
        bool filled = number >= 0 && spmd_block_size(in) > 0;
        pattern_element(number, element, wanted);
        wrong += memcmp(at, filled ? wanted : untouched, element) != 0;
        at += element;
    } while (next_index(padded->ndim, padded->shape, index));
    return wrong;
}

static spmd_status try_body(spmd_ctx *ctx, void *user)
{
    struct trial *trial = user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *padded = spmd_halo_block(ctx, in, trial->halo);
    spoil_border(padded, trial->halo);
    for (int d = 0; trial->place_unknown && d < in->ndim; d++)
        padded->global[d] = -1;
    if (trial->split_phase) {
        spmd_request *request;
        spmd_block interior;
        SPMD_TRY(spmd_halo_exchange_start(ctx, padded, trial->halo, &request));
        SPMD_TRY(spmd_halo_interior(padded, trial->halo, &interior));
        EXPECT(spmd_block_size(&interior) == spmd_block_size(in));
        SPMD_TRY(spmd_wait(&request));
        EXPECT(request == NULL);
    } else {
        SPMD_TRY(spmd_halo_exchange(ctx, padded, trial->halo));
    }
    trial->wrong += count_wrong(padded, trial->halo, in);
    return SPMD_OK;
}

/* Both forms bring every element of the border, and touch nothing else. */
static bool try_halo(spmd_mesh *mesh, const char *spec, spmd_dtype dtype, spmd_shape shape,
                     const spmd_halo halo[], bool place_unknown)
{
    bool right = true;
    spmd_array *array = pattern_array(mesh, spec, dtype, shape);
    for (int split_phase = 0; split_phase < 2; split_phase++) {
        struct trial trial = {halo, split_phase, place_unknown, 0};
        right = EXPECT_OK(spmd_shard_map(mesh, try_body, &trial, 1, &array, SPMD_SPECS(spec), 0,
                                         NULL, NULL, NULL)) &&
                EXPECT(trial.wrong == 0) && right;
    }
    spmd_array_free(&array);
    return right;
}

static void a_line_has_neighbours(void)
{
    spmd_mesh *mesh = make_line();
    int64_t n = 4 * spmd_mesh_size(mesh);
    const spmd_halo open[] = {{"x", 1, 1, false}}, ring[] = {{"x", 1, 1, true}};
    const spmd_halo skew[] = {{"x", 3, 0, true}}, none[] = {{"x", 0, 0, true}};
    for (int unknown = 0; unknown < 2; unknown++) {
        try_halo(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(n), open, unknown);
        try_halo(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(n), ring, unknown);
        try_halo(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(n), skew, unknown);
        try_halo(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(n), none, unknown);
    }
    spmd_mesh_free(&mesh);
}

static void corners_come_along(void)
{
    spmd_mesh *mesh = make_grid();
    int64_t rows = 6, columns = 3 * spmd_mesh_size(mesh);
    for (int sides = 0; sides < 4; sides++) {
        const spmd_halo halo[] = {{"x", 1, 2, sides & 1}, {"y", 2, 1, sides & 2}};
        for (int unknown = 0; unknown < 2; unknown++)
            try_halo(mesh, "P(x,y)", SPMD_F32, SPMD_SHAPE(rows, columns), halo, unknown);
        try_halo(mesh, "P(x,y)", SPMD_F32, SPMD_SHAPE(rows + 1, columns + 1), halo, false);
    }
    spmd_mesh_free(&mesh);
}

static void three_dimensions_have_borders(void)
{
    spmd_mesh *mesh = make_grid();
    for (int sides = 0; sides < 8; sides++) {
        const spmd_halo halo[] = {
            {"y", 1, 1, sides & 1}, {"", 2, 1, sides & 2}, {"x", 0, 3, sides & 4}};
        try_halo(mesh, "P(y,-,x)", SPMD_F64, SPMD_SHAPE(9, 4, 7), halo, false);
    }
    spmd_mesh_free(&mesh);
}

static void all_element_types_have_borders(void)
{
    spmd_mesh *mesh = make_grid();
    const spmd_halo halo[] = {{"x", 1, 1, true}, {"y", 1, 1, false}};
    for (int dtype = SPMD_BOOL; dtype <= SPMD_C128; dtype++)
        try_halo(mesh, "P(x,y)", (spmd_dtype)dtype, SPMD_SHAPE(5, 9), halo, false);
    spmd_mesh_free(&mesh);
}

static void borders_are_wider_than_blocks(void)
{
    spmd_mesh *mesh = make_line();
    for (int64_t n = 1; n < 12; n += 2)
        for (int64_t width = 1; width < 10; width += 4) {
            const spmd_halo open[] = {{"x", width, 2, false}}, ring[] = {{"x", 1, width, true}};
            try_halo(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(n), open, false);
            try_halo(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(n), ring, false);
        }
    spmd_mesh_free(&mesh);
}

static void a_ring_comes_around_many_times(void)
{
    spmd_mesh *mesh = make_grid();
    const spmd_halo halo[] = {{"x", 7, 5, true}, {"y", 4, 11, true}};
    try_halo(mesh, "P(x,y)", SPMD_I16, SPMD_SHAPE(2, 3), halo, false);
    spmd_mesh_free(&mesh);
}

static void empty_blocks_are_passed_over(void)
{
    spmd_mesh *mesh = make_line();
    const spmd_halo open[] = {{"x", 2, 1, false}, {NULL, 1, 1, true}};
    const spmd_halo ring[] = {{"x", 2, 1, true}, {NULL, 1, 1, false}};
    for (int64_t rows = 0; rows < 4; rows++) {
        try_halo(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(rows, 3), open, false);
        try_halo(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(rows, 3), ring, false);
    }
    spmd_mesh_free(&mesh);
}

static void a_dimension_lies_along_several_axes(void)
{
    spmd_mesh *mesh = make_mesh(test_size % 2 == 0 ? "x=*,y=2,z=1" : "x=*,y=1,z=1");
    for (int64_t rows = 1; rows < 14; rows += 4) {
        const spmd_halo major[] = {{"x,y", 1, 2, true}, {"z", 1, 1, true}};
        const spmd_halo minor[] = {{"(y,x)", 2, 1, false}, {NULL, 0, 1, true}};
        try_halo(mesh, "P((x,y),z)", SPMD_F32, SPMD_SHAPE(rows, 5), major, false);
        try_halo(mesh, "P((y,x))", SPMD_F32, SPMD_SHAPE(rows, 5), minor, false);
    }
    spmd_mesh_free(&mesh);
}

static void dimensions_that_are_not_split_wrap_around(void)
{
    spmd_mesh *mesh = make_line();
    const spmd_halo halo[] = {{NULL, 2, 1, true}, {"", 1, 1, false}};
    try_halo(mesh, "P()", SPMD_F64, SPMD_SHAPE(4, 3), halo, false);
    try_halo(mesh, "P()", SPMD_F64, SPMD_SHAPE(4, 3), halo, true);
    try_halo(mesh, "P()", SPMD_F64, SPMD_SCALAR, NULL, false);
    spmd_mesh_free(&mesh);
}

static void other_axes_hold_replicas_or_batches(void)
{
    spmd_mesh *mesh = make_grid();
    const spmd_halo halo[] = {{NULL, 0, 0, false}, {"y", 1, 1, true}};
    try_halo(mesh, "P(x,y)", SPMD_F64, SPMD_SHAPE(3, 10), halo, false);
    try_halo(mesh, "P(-,y)", SPMD_F64, SPMD_SHAPE(3, 10), halo, false);
    spmd_mesh_free(&mesh);
}

static void meshes_may_leave_ranks_or_change_their_order(void)
{
    spmd_mesh *shorter = make_shorter_line();
    const spmd_halo halo[] = {{"x", 1, 1, true}};
    try_halo(shorter, "P(x)", SPMD_F64, SPMD_SHAPE(11), halo, false);
    spmd_mesh_free(&shorter);
    for (int number = 0; number < PERMUTED_MESHES; number++) {
        spmd_mesh *mesh = make_permuted(number);
        try_halo(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(11), halo, false);
        spmd_mesh_free(&mesh);
    }
}

/* In a shard_map over some axes only the other ones hold their parts of the array. */
static void a_part_of_the_axes_moves(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *array = pattern_array(mesh, "P(x,y)", SPMD_F64, SPMD_SHAPE(5, 9));
    const spmd_halo halo[] = {{NULL, 0, 0, false}, {"y", 1, 2, true}};
    const spmd_shard_map_options options = {.axes = "y"};
    for (int split_phase = 0; split_phase < 2; split_phase++) {
        struct trial trial = {halo, split_phase, false, 0};
        EXPECT_OK(spmd_shard_map(mesh, try_body, &trial, 1, &array, SPMD_SPECS("P(-,y)"), 0, NULL,
                                 NULL, &options));
        EXPECT(trial.wrong == 0);
    }
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

/* Each instance of a vmap has borders of its own. The batch is not split. */
static spmd_status instance(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_halo halo[] = {{"x", 1, 1, true}};
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *padded = spmd_halo_block(ctx, in, halo);
    spmd_block *out = spmd_out(ctx, 0, SPMD_I32, spmd_block_shape(in));
    SPMD_TRY(spmd_halo_exchange(ctx, padded, halo));
    const int32_t *at = (const int32_t *)padded->data + 1;
    for (int64_t i = 0; i < in->shape[0]; i++)
        ((int32_t *)out->data)[i] = at[i - 1] + at[i + 1];
    return SPMD_OK;
}

static spmd_status batch(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = spmd_out(ctx, 0, SPMD_I32, spmd_block_shape(in));
    return spmd_vmap(ctx, instance, NULL, 1, &in, SPMD_AXES(0), 1, &out, SPMD_AXES(0), NULL);
}

static void instances_have_borders(void)
{
    enum { BATCH = 3, LENGTH = 10 };
    spmd_mesh *mesh = make_line();
    spmd_array *array = NULL, *sums = NULL;
    int32_t got[BATCH][LENGTH];
    EXPECT_OK(spmd_array_arange(mesh, "P(-,x)", SPMD_I32, SPMD_SHAPE(BATCH, LENGTH), &array));
    EXPECT_OK(spmd_shard_map(mesh, batch, NULL, 1, &array, SPMD_SPECS("P(-,x)"), 1, &sums,
                             SPMD_SPECS("P(-,x)"), NULL));
    EXPECT_OK(spmd_array_gather(sums, SPMD_ALL, got, BATCH * LENGTH));
    for (int b = 0; b < BATCH; b++)
        for (int i = 0; i < LENGTH; i++)
            EXPECT(got[b][i] == 2 * b * LENGTH + (i + LENGTH - 1) % LENGTH + (i + 1) % LENGTH);
    spmd_array_free(&array);
    spmd_array_free(&sums);
    spmd_mesh_free(&mesh);
}

/* Two exchanges under way, with a blocking one in between. */
static spmd_status overlap_body(spmd_ctx *ctx, void *user)
{
    const spmd_block *in = spmd_in(ctx, 0);
    const spmd_halo halo[] = {{"x", 2, 1, true}, {"y", 1, 1, true}};
    spmd_block *padded[3];
    spmd_request *first, *second;
    for (int i = 0; i < 3; i++) {
        padded[i] = spmd_halo_block(ctx, in, halo);
        spoil_border(padded[i], halo);
    }
    SPMD_TRY(spmd_halo_exchange_start(ctx, padded[0], halo, &first));
    SPMD_TRY(spmd_halo_exchange_start(ctx, padded[1], halo, &second));
    SPMD_TRY(spmd_halo_exchange(ctx, padded[2], halo));
    SPMD_TRY(spmd_wait(&second));
    SPMD_TRY(spmd_wait(&first));
    for (int i = 0; i < 3; i++)
        *(int64_t *)user += count_wrong(padded[i], halo, in);
    return SPMD_OK;
}

static void exchanges_overlap(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *array = pattern_array(mesh, "P(x,y)", SPMD_F64, SPMD_SHAPE(7, 10));
    int64_t wrong = 0;
    EXPECT_OK(spmd_shard_map(mesh, overlap_body, &wrong, 1, &array, SPMD_SPECS("P(x,y)"), 0, NULL,
                             NULL, NULL));
    EXPECT(wrong == 0);
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

/* The padded block is a block with a place; so is its interior, which lies in it. */
static spmd_status places_body(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    const spmd_halo halo[] = {{NULL, 2, 1, false}, {"x", 1, 3, false}};
    spmd_block *padded = spmd_halo_block(ctx, in, halo), interior;
    SPMD_TRY(spmd_halo_interior(padded, halo, &interior));
    EXPECT(padded->shape[0] == in->shape[0] + 3 && padded->shape[1] == in->shape[1] + 4);
    EXPECT(padded->offset[0] == -2 && padded->offset[1] == in->offset[1] - 1);
    EXPECT(padded->global[0] == 3 && padded->global[1] == 9);
    EXPECT(spmd_shape_equal(spmd_block_shape(&interior), spmd_block_shape(in)));
    EXPECT(interior.offset[0] == in->offset[0] && interior.offset[1] == in->offset[1]);
    const double *from = in->data, *at = interior.data, *border = padded->data;
    for (int64_t i = 0; i < in->shape[0]; i++)
        for (int64_t j = 0; j < in->shape[1]; j++)
            EXPECT(memcmp(&at[i * interior.stride[0] + j * interior.stride[1]],
                          &from[i * in->shape[1] + j], sizeof *at) == 0);
    for (int64_t j = 0; j < 2 * padded->shape[1] + 1; j++)
        EXPECT(border[j] == 0);
    return SPMD_OK;
}

static void blocks_know_their_place(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = pattern_array(mesh, "P(-,x)", SPMD_F64, SPMD_SHAPE(3, 9));
    EXPECT_OK(spmd_shard_map(mesh, places_body, NULL, 1, &array, SPMD_SPECS("P(-,x)"), 0, NULL,
                             NULL, NULL));
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static spmd_status mistakes_body(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    const spmd_halo halo[] = {{"x", 1, 1, true}, {"y", 1, 1, false}};
    const spmd_halo negative[] = {{"x", 1, -1, true}, {"y", 1, 1, false}};
    const spmd_halo unknown[] = {{"q", 1, 1, true}, {"y", 1, 1, false}};
    const spmd_halo twice[] = {{"x", 1, 1, true}, {"x", 1, 1, false}};
    const spmd_halo grouped[] = {{"x [[0]]", 1, 1, true}, {NULL, 0, 0, false}};
    const spmd_halo wide[] = {{"x", 5, 9, true}, {"y", 0, 0, false}};
    const spmd_halo none[] = {{NULL, 1, 1, true}, {NULL, 1, 1, true}};
    spmd_block *padded = spmd_halo_block(ctx, in, halo), block;
    spmd_request *request = NULL;
    EXPECT_FAILS(spmd_halo_exchange(ctx, padded, negative), SPMD_ERR_ARGUMENT,
                 "halo of dim 0 of 2: a border of 1 + -1 elements");
    EXPECT_FAILS(spmd_halo_exchange_start(ctx, padded, negative, &request), SPMD_ERR_ARGUMENT,
                 "a border of 1 + -1");
    EXPECT(request == NULL);
    EXPECT_FAILS(spmd_halo_interior(padded, negative, &block), SPMD_ERR_ARGUMENT, "1 + -1");
    EXPECT_FAILS(spmd_halo_exchange(ctx, padded, unknown), SPMD_ERR_MESH, "q");
    EXPECT_FAILS(spmd_halo_exchange(ctx, padded, twice), SPMD_ERR_ARGUMENT,
                 "halo of dim 1 of 2: axis x stands at an earlier dim already");
    EXPECT_FAILS(spmd_halo_exchange(ctx, padded, wide), SPMD_ERR_SHAPE,
                 "the block has 6 elements there, no room for a border of 5 + 9");
    EXPECT_FAILS(spmd_halo_interior(padded, wide, &block), SPMD_ERR_SHAPE, "no room");
    EXPECT_FAILS(spmd_halo_exchange(ctx, padded, NULL), SPMD_ERR_ARGUMENT, "the halo is NULL");
    EXPECT_FAILS(spmd_halo_exchange(ctx, NULL, halo), SPMD_ERR_ARGUMENT, "the block is NULL");
    EXPECT_FAILS(spmd_halo_interior(padded, halo, NULL), SPMD_ERR_ARGUMENT, "it is NULL");
    EXPECT_FAILS(spmd_halo_exchange_start(ctx, padded, halo, NULL), SPMD_ERR_ARGUMENT,
                 "needs a place for its request");
    if (spmd_axis_size(ctx, "x") == 1)
        EXPECT_FAILS(spmd_halo_exchange(ctx, padded, grouped), SPMD_ERR_ARGUMENT,
                     "not along the groups of");
    if (spmd_axis_size(ctx, "x") > 1)
        EXPECT_FAILS(spmd_halo_exchange(ctx, padded, none), SPMD_ERR_SHAPE,
                     "name the axes that the dim is split along");
    block = *padded;
    block.global[0] = block.global[1] = -1;
    block.shape[0] = 3;
    EXPECT_FAILS(spmd_halo_exchange(ctx, &block, ((const spmd_halo[]){{"x", 2, 0, true}, {0}})),
                 SPMD_ERR_SHAPE, "a border reaches no further than the next block");
    SPMD_TRY(spmd_halo_interior(padded, halo, &block));
    if (block.shape[0] > 1)
        EXPECT_FAILS(spmd_halo_exchange(ctx, &block, ((const spmd_halo[]){{0}, {0}})),
                     SPMD_ERR_SHAPE, "dense");
    return SPMD_OK;
}

static spmd_status along_a_batch(spmd_ctx *ctx, void *user)
{
    spmd_request *request = NULL;
    const spmd_halo halo[] = {{"batch", 1, 1, true}};
    spmd_block *padded = spmd_temp(ctx, SPMD_I32, SPMD_SHAPE(5));
    (void)user;
    EXPECT_FAILS(spmd_halo_exchange(ctx, padded, halo), SPMD_ERR_ARGUMENT,
                 "halo of dim 0 of 1: \"batch\" has the axis of a vmap");
    EXPECT_FAILS(spmd_halo_exchange_start(ctx, padded, halo, &request), SPMD_ERR_ARGUMENT,
                 "neighbours are along axes of the mesh");
    return SPMD_OK;
}

static void mistakes_are_told(void)
{
    EXPECT_OK(spmd_vmap(NULL, along_a_batch, NULL, 0, NULL, NULL, 0, NULL, NULL,
                        &(spmd_vmap_options){.axis_name = "batch", .axis_size = 3}));
    spmd_mesh *mesh = make_grid();
    spmd_array *array = pattern_array(
        mesh, "P(x,y)", SPMD_F64,
        SPMD_SHAPE(4 * spmd_mesh_axis_size(mesh, "x"), 2 * spmd_mesh_axis_size(mesh, "y")));
    EXPECT_OK(spmd_shard_map(mesh, mistakes_body, NULL, 1, &array, SPMD_SPECS("P(x,y)"), 0, NULL,
                             NULL, NULL));
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

/* Under SPMD_CHECK=1 ranks that want different borders are told so, and nobody waits. */
static spmd_status different_body(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    const spmd_halo one[] = {{"x", 1, 1, true}}, two[] = {{"x", 1, 2, true}};
    const spmd_halo *halo = is_last_of_many() ? two : one;
    spmd_block *padded = spmd_halo_block(ctx, in, halo);
    return spmd_halo_exchange(ctx, padded, halo);
}

static void different_borders_are_told(void)
{
    const char *setting = getenv("SPMD_CHECK");
    setenv("SPMD_CHECK", "1", 1);
    spmd_mesh *mesh = make_line();
    if (!setting)
        unsetenv("SPMD_CHECK");
    spmd_array *array = pattern_array(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(3 * test_size));
    spmd_status status = spmd_shard_map(mesh, different_body, NULL, 1, &array, SPMD_SPECS("P(x)"),
                                        0, NULL, NULL, NULL);
    if (test_size == 1)
        EXPECT_OK(status);
    else
        EXPECT_FAILS(status, SPMD_ERR_DISAGREE, "with borders 1 + 2 periodic");
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static spmd_status wrong_halo_body(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_halo_block(ctx, spmd_in(ctx, 0), &(spmd_halo){"x", -1, 0, true}) == NULL);
    return SPMD_OK;
}

static spmd_status vast_halo_body(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_halo_block(ctx, spmd_in(ctx, 0), &(spmd_halo){"x", 1, INT64_MAX, true}) == NULL);
    return SPMD_OK;
}

static void a_wrong_halo_fails_the_call(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = pattern_array(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(9));
    EXPECT_FAILS(spmd_shard_map(mesh, wrong_halo_body, NULL, 1, &array, SPMD_SPECS("P(x)"), 0, NULL,
                                NULL, NULL),
                 SPMD_ERR_ARGUMENT, "a border of -1 + 0 elements");
    EXPECT_FAILS(spmd_shard_map(mesh, vast_halo_body, NULL, 1, &array, SPMD_SPECS("P(x)"), 0, NULL,
                                NULL, NULL),
                 SPMD_ERR_SHAPE, "more than 2^63 - 1");
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static spmd_array *put(spmd_mesh *mesh, const char *spec, spmd_dtype dtype, spmd_shape shape,
                       const void *host)
{
    spmd_sharding *sharding = NULL;
    spmd_array *array = NULL;
    EXPECT_OK(spmd_sharding_create(mesh, spec, &sharding));
    EXPECT_OK(spmd_device_put(host, spmd_shape_size(shape), dtype, shape, sharding, &array));
    spmd_sharding_free(&sharding);
    return array;
}

/* Rule 30 on a ring of 40 cells: a cell becomes left ^ (itself | right). */
enum { CELLS = 40 };

static void step_serially(uint8_t cells[CELLS])
{
    uint8_t old[CELLS];
    memcpy(old, cells, CELLS);
    for (int i = 0; i < CELLS; i++)
        cells[i] = old[(i + CELLS - 1) % CELLS] ^ (old[i] | old[(i + 1) % CELLS]);
}

static spmd_status rule_30(spmd_ctx *ctx, void *user)
{
    const int *steps = user;
    const spmd_halo halo[] = {{"x", 1, 1, true}};
    spmd_block *padded = spmd_halo_block(ctx, spmd_in(ctx, 0), halo);
    uint8_t *cell = (uint8_t *)padded->data + 1;
    int64_t n = padded->shape[0] - 2;
    spmd_block *out = spmd_out(ctx, 0, SPMD_U8, SPMD_SHAPE(n));
    for (int step = 0; step < *steps; step++) {
        SPMD_TRY(spmd_halo_exchange(ctx, padded, halo));
        for (int64_t i = 0, left = cell[-1]; i < n; i++) {
            uint8_t old = cell[i];
            cell[i] = (uint8_t)left ^ (old | cell[i + 1]);
            left = old;
        }
    }
    if (n > 0)
        memcpy(out->data, cell, (size_t)n);
    return SPMD_OK;
}

static void rule_30_is_the_same_on_all_meshes(void)
{
    spmd_mesh *mesh = make_line();
    uint8_t cells[CELLS] = {0}, wanted[CELLS] = {0}, got[CELLS];
    cells[20] = wanted[20] = 1;
    for (int steps = 0; steps <= 9; steps++) {
        spmd_array *first = put(mesh, "P(x)", SPMD_U8, SPMD_SHAPE(CELLS), cells), *last = NULL;
        EXPECT_OK(spmd_shard_map(mesh, rule_30, &steps, 1, &first, SPMD_SPECS("P(x)"), 1, &last,
                                 SPMD_SPECS("P(x)"), NULL));
        EXPECT_OK(spmd_array_gather(last, SPMD_ALL, got, CELLS));
        EXPECT(memcmp(got, wanted, CELLS) == 0);
        for (int i = 0; i < CELLS && steps > 0 && steps < 3; i++)
            EXPECT(got[i] == (steps == 1 ? i >= 19 && i <= 21 : i == 18 || i == 19 || i == 22));
        step_serially(wanted);
        spmd_array_free(&first);
        spmd_array_free(&last);
    }
    spmd_mesh_free(&mesh);
}

/* Jacobi's iteration for the mean of four neighbours, 0 around the field. */
enum { ROWS = 11, COLUMNS = 13, STEPS = 17 };

static double mean(const double *at, int64_t row)
{
    return 0.25 * (at[-row] + at[row] + (at[-1] + at[1]));
}

static double start(int64_t i, int64_t j)
{
    return sin((double)(i * COLUMNS + j));
}

static spmd_status jacobi(spmd_ctx *ctx, void *user)
{
    const spmd_halo *halo = user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *from = spmd_halo_block(ctx, in, halo), *to = spmd_halo_block(ctx, in, halo);
    int64_t row = from->stride[0];
    for (int step = 0; step < STEPS; step++) {
        SPMD_TRY(spmd_halo_exchange(ctx, from, halo));
        for (int64_t i = 1; i < from->shape[0] - 1; i++)
            for (int64_t j = 1; j < from->shape[1] - 1; j++)
                ((double *)to->data)[i * row + j] =
                    mean((const double *)from->data + i * row + j, row);
        spmd_block *swap = from;
        from = to;
        to = swap;
    }
    spmd_block *out = spmd_out(ctx, 0, SPMD_F64, spmd_block_shape(in));
    for (int64_t i = 0; i < in->shape[0]; i++)
        for (int64_t j = 0; j < in->shape[1]; j++)
            ((double *)out->data)[i * in->shape[1] + j] =
                ((const double *)from->data)[(i + 1) * row + j + 1];
    return SPMD_OK;
}

static void jacobi_serially(double field[ROWS][COLUMNS])
{
    double from[ROWS + 2][COLUMNS + 2] = {{0}}, to[ROWS + 2][COLUMNS + 2] = {{0}};
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            from[i + 1][j + 1] = start(i, j);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 1; i <= ROWS; i++)
            for (int j = 1; j <= COLUMNS; j++)
                to[i][j] = mean(&from[i][j], COLUMNS + 2);
        memcpy(from, to, sizeof from);
    }
    for (int i = 0; i < ROWS; i++)
        memcpy(field[i], &from[i + 1][1], sizeof field[i]);
}

static void jacobi_is_the_same_on_all_meshes(void)
{
    static const spmd_halo lines[] = {{"x", 1, 1, false}, {NULL, 1, 1, false}};
    static const spmd_halo columns[] = {{NULL, 1, 1, false}, {"(y,x)", 1, 1, false}};
    static const spmd_halo grids[] = {{"x", 1, 1, false}, {"y", 1, 1, false}};
    static const struct {
        const char *spec;
        const spmd_halo *halo;
    } ways[] = {{"P(x)", lines}, {"P(-,(y,x))", columns}, {"P(x,y)", grids}};
    double wanted[ROWS][COLUMNS], got[ROWS][COLUMNS], first[ROWS][COLUMNS];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            first[i][j] = start(i, j);
    jacobi_serially(wanted);
    for (int m = 1; pattern_mesh(test_size, m); m++) {
        spmd_mesh *mesh = make_mesh(pattern_mesh(test_size, m));
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            spmd_array *field = put(mesh, ways[w].spec, SPMD_F64, SPMD_SHAPE(ROWS, COLUMNS), first);
            spmd_array *result = NULL;
            EXPECT_OK(spmd_shard_map(mesh, jacobi, (void *)ways[w].halo, 1, &field,
                                     SPMD_SPECS(ways[w].spec), 1, &result, SPMD_SPECS(ways[w].spec),
                                     NULL));
            EXPECT_OK(spmd_array_gather(result, SPMD_ALL, got, ROWS * COLUMNS));
            EXPECT(memcmp(got, wanted, sizeof got) == 0);
            spmd_array_free(&field);
            spmd_array_free(&result);
        }
        spmd_mesh_free(&mesh);
    }
}

/* Specs, shapes, types and halos from seeds, SEED and those that follow. */
enum { SEED = 20240917, INSTANCES = 15 };

/* The axes that the sharding splits a dimension along: "x,y". */
static void write_axes(const spmd_sharding *sharding, int dim, char *text)
{
    int axes[SPMD_MAX_AXES], count = spmd_sharding_axes(sharding, dim, axes);
    *text = '\0';
    for (int i = 0; i < count; i++)
        text += sprintf(text, "%s%s", i ? "," : "",
                        spmd_mesh_axis_name(spmd_sharding_mesh(sharding), axes[i]));
}

static bool try_random(spmd_mesh *mesh, unsigned seed)
{
    int ndim = 1 + rand_r(&seed) % 4;
    spmd_shape shape = pattern_random_shape(ndim, &seed);
    spmd_dtype dtype = pattern_random_dtype(&seed);
    spmd_sharding *sharding;
    char spec[256], axes[4][64];
    spmd_halo halo[4];
    pattern_random_spec(mesh, ndim, &seed, spec);
    EXPECT_OK(spmd_sharding_create(mesh, spec, &sharding));
    for (int d = 0; d < ndim; d++) {
        write_axes(sharding, d, axes[d]);
        halo[d] = (spmd_halo){axes[d], rand_r(&seed) % 4, rand_r(&seed) % 4, rand_r(&seed) % 2};
    }
    spmd_sharding_free(&sharding);
    return try_halo(mesh, spec, dtype, shape, halo, false);
}

static void random_halos_are_right(void)
{
    unsigned seed = SEED;
    if (test_rank == 0)
        printf("# seeds from %d, %d for each mesh\n", SEED, INSTANCES);
    for (int m = 0; pattern_mesh(test_size, m); m++) {
        spmd_mesh *mesh = make_mesh(pattern_mesh(test_size, m));
        for (int i = 0; i < INSTANCES; i++, seed++)
            if (!try_random(mesh, seed))
                fprintf(stderr, "# seed %u on %s\n", seed, pattern_mesh(test_size, m));
        spmd_mesh_free(&mesh);
    }
}

HARNESS_MAIN("halo", CASE(a_line_has_neighbours), CASE(corners_come_along),
             CASE(three_dimensions_have_borders), CASE(all_element_types_have_borders),
             CASE(borders_are_wider_than_blocks), CASE(a_ring_comes_around_many_times),
             CASE(empty_blocks_are_passed_over), CASE(a_dimension_lies_along_several_axes),
             CASE(dimensions_that_are_not_split_wrap_around),
             CASE(other_axes_hold_replicas_or_batches),
             CASE(meshes_may_leave_ranks_or_change_their_order), CASE(a_part_of_the_axes_moves),
             CASE(instances_have_borders), CASE(exchanges_overlap), CASE(blocks_know_their_place),
             CASE(mistakes_are_told), CASE(different_borders_are_told),
             CASE(a_wrong_halo_fails_the_call), CASE(rule_30_is_the_same_on_all_meshes),
             CASE(jacobi_is_the_same_on_all_meshes), CASE(random_halos_are_right))
