/* sharding.c - unit tests of shardings on abstract meshes: how they are made, when they are the
 * same, what they answer; and their laws, on random ones. */
#include <stdio.h>

#include "abstract.h"

static spmd_status make(const char *mesh_text, int ndim, const char *const entries[],
                        const char *unreduced, spmd_reduction kind, spmd_sharding **sharding)
{
    spmd_mesh *mesh = abstract_mesh(mesh_text);
    spmd_status status =
        spmd_sharding_create_entries(mesh, ndim, entries, unreduced, kind, sharding);
    spmd_mesh_free(&mesh);
    return status;
}

/* A spec of two entries on x=2,y=4,z=3. */
static void assert_entries(const char *first, const char *second, const char *unreduced,
                           spmd_reduction kind, const char *spec)
{
    spmd_sharding *sharding = NULL, *read = lay("x=2,y=4,z=3", spec);
    ASSERT_OK(make("x=2,y=4,z=3", 2, (const char *[]){first, second}, unreduced, kind, &sharding));
    assert_format(sharding, "x=2,y=4,z=3", spec);
    ck_assert(spmd_sharding_equal(sharding, read));
    spmd_sharding_free(&sharding);
    spmd_sharding_free(&read);
}

static void assert_no_entries(const char *first, const char *second, const char *unreduced,
                              spmd_reduction kind, spmd_status status, const char *part)
{
    spmd_sharding *sharding = NULL;
    ASSERT_FAILS(
        make("x=2,y=4,z=3", 2, (const char *[]){first, second}, unreduced, kind, &sharding), status,
        part);
    ck_assert(sharding == NULL);
}

START_TEST(entries_make_specs)
{
    assert_entries("x", NULL, NULL, SPMD_SUM, "P(x, -)");
    assert_entries("", "x,y", "", SPMD_SUM, "P(-, (x,y))");
    assert_entries("(y,x)", "-", NULL, SPMD_SUM, "P((y,x), -)");
    assert_entries("'x'", "None", NULL, SPMD_SUM, "P(x, -)");
    assert_entries(" z , x, ", "?", NULL, SPMD_SUM, "P((z,x), ?)");
    assert_entries("x", "()", "z,y", SPMD_SUM, "P(x, -, unreduced={y,z})");
    assert_entries(NULL, NULL, "y", SPMD_MAX, "P(-, -, unreduced={y}:max)");
    assert_entries(NULL, NULL, "y", SPMD_MIN, "P(-, -, unreduced={y}:min)");
    spmd_sharding *none = NULL;
    ASSERT_OK(make("x=2", 0, NULL, NULL, SPMD_SUM, &none));
    assert_format(none, "x=2", "P()");
    spmd_sharding_free(&none);
}
END_TEST

START_TEST(mistakes_in_entries_are_told)
{
    assert_no_entries("x", "y,x", NULL, SPMD_SUM, SPMD_ERR_SPEC,
                      "P(x, (y,x)) on mesh x=2,y=4,z=3: axis x lies along dims 0 and 1");
    assert_no_entries("x", "q", NULL, SPMD_SUM, SPMD_ERR_SPEC, "the mesh has no axis q");
    assert_no_entries("x", "y), (z", NULL, SPMD_SUM, SPMD_ERR_SYNTAX,
                      "entry \"y), (z\": expected a comma at column 2");
    assert_no_entries("x y", NULL, NULL, SPMD_SUM, SPMD_ERR_SYNTAX, "column 3");
    assert_no_entries("- x", NULL, NULL, SPMD_SUM, SPMD_ERR_SYNTAX, "the end of the entry");
    assert_no_entries("x,(y,z)", NULL, NULL, SPMD_SUM, SPMD_ERR_SYNTAX, "a tuple inside a tuple");
    assert_no_entries("x", NULL, "x", SPMD_SUM, SPMD_ERR_SPEC,
                      "axis x is unreduced and lies along dim 0; leave it out of one");
    assert_no_entries("x", NULL, "y,y", SPMD_SUM, SPMD_ERR_SPEC,
                      "axis y is unreduced twice; leave one out");
    assert_no_entries("x", NULL, "y}", SPMD_SUM, SPMD_ERR_SYNTAX, "unreduced axes \"y}\"");
    assert_no_entries("x", NULL, NULL, SPMD_MAX, SPMD_ERR_SPEC, "max without unreduced axes");
    assert_no_entries("x", NULL, "y", (spmd_reduction)3, SPMD_ERR_ARGUMENT, "3 is no way");
    spmd_sharding *none = NULL;
    ASSERT_FAILS(make("x=2", 17, NULL, NULL, SPMD_SUM, &none), SPMD_ERR_ARGUMENT, "0 to 16");
    ASSERT_FAILS(make("x=2", -1, NULL, NULL, SPMD_SUM, &none), SPMD_ERR_ARGUMENT, "not -1");
    ASSERT_FAILS(make("x=2", 1, NULL, NULL, SPMD_SUM, &none), SPMD_ERR_ARGUMENT, "NULL");
    ASSERT_FAILS(spmd_sharding_create_entries(NULL, 0, NULL, NULL, SPMD_SUM, &none),
                 SPMD_ERR_ARGUMENT, "needs a mesh");
    ASSERT_FAILS(spmd_sharding_create(NULL, "P()", &none), SPMD_ERR_ARGUMENT, "needs a mesh");
}
END_TEST

static bool equal(const char *a_mesh, const char *a_spec, const char *b_mesh, const char *b_spec)
{
    spmd_sharding *a = lay(a_mesh, a_spec), *b = lay(b_mesh, b_spec);
    bool there = spmd_sharding_equal(a, b);
    ck_assert_int_eq(there, spmd_sharding_equal(b, a));
    ck_assert(spmd_sharding_equal(a, a));
    spmd_sharding_free(&a);
    spmd_sharding_free(&b);
    return there;
}

START_TEST(equal_is_the_same_value)
{
    static const char mesh[] = "x=2,y=2,z=1";
    ck_assert(equal(mesh, "P(x)", mesh, "P((x))"));
    ck_assert(equal(mesh, "P(())", mesh, "P(-)"));
    ck_assert(equal(mesh, "P(x, (y,z))", mesh, "PartitionSpec('x', ['y','z'])"));
    ck_assert(equal(mesh, "P(unreduced={x,y})", mesh, "P(unreduced={y,x}:sum)"));
    ck_assert(!equal(mesh, "P(x)", mesh, "P(x,-)"));
    ck_assert(!equal(mesh, "P()", mesh, "P(-)"));
    ck_assert(!equal(mesh, "P(x)", mesh, "P(y)"));
    ck_assert(!equal(mesh, "P((x,y))", mesh, "P((y,x))"));
    ck_assert(!equal(mesh, "P(z)", mesh, "P(-)"));
    ck_assert(!equal(mesh, "P(?)", mesh, "P(-)"));
    ck_assert(!equal(mesh, "P(unreduced={x})", mesh, "P()"));
    ck_assert(!equal(mesh, "P(unreduced={x})", mesh, "P(unreduced={x}:max)"));
    ck_assert(equal("x=2,y=4", "P(x)", "x=2,y=4", "P(x)"));
    ck_assert(!equal("x=2,y=4", "P(x)", "x=4,y=2", "P(x)"));
    ck_assert(!equal("x=2", "P(x)", "y=2", "P(y)"));
}
END_TEST

/* On strict meshes products of sizes count, as in JAX; else sequences of sizes do. */
START_TEST(strict_equivalence_is_of_products)
{
    spmd_sharding *two = lay("x=4,y=2", "P((x,y))"), *one = lay("z=8", "P(z)");
    ck_assert(!spmd_sharding_is_equivalent(two, one, 1));
    spmd_mesh_set_strict(spmd_sharding_mesh(two), true);
    ck_assert(!spmd_sharding_is_equivalent(two, one, 1));
    spmd_mesh_set_strict(spmd_sharding_mesh(one), true);
    ck_assert(spmd_sharding_is_equivalent(two, one, 1));
    ck_assert(!spmd_sharding_equal(two, one));
    spmd_sharding_free(&two);
    spmd_sharding_free(&one);
}
END_TEST

START_TEST(a_sharding_tells_what_its_spec_says)
{
    int axes[SPMD_MAX_AXES];
    spmd_sharding *sharding = lay("x=2,y=2,z=2,w=2", "P(-, (z,x), unreduced={w,y}:min)");
    ck_assert_int_eq(spmd_sharding_nentries(sharding), 2);
    ck_assert_int_eq(spmd_sharding_axes(sharding, 0, axes), 0);
    ck_assert(spmd_sharding_axes(sharding, 1, axes) == 2 && axes[0] == 2 && axes[1] == 0);
    ck_assert_int_eq(spmd_sharding_axes(sharding, 2, axes), 0);
    ck_assert_int_eq(spmd_sharding_axes(sharding, -1, axes), 0);
    ck_assert(spmd_sharding_unreduced(sharding, axes) == 2 && axes[0] == 1 && axes[1] == 3);
    ck_assert_int_eq(spmd_sharding_reduction(sharding), SPMD_MIN);
    spmd_sharding_free(&sharding);
    sharding = lay("x=2", "P()");
    ck_assert_int_eq(spmd_sharding_nentries(sharding), 0);
    ck_assert_int_eq(spmd_sharding_unreduced(sharding, axes), 0);
    ck_assert_int_eq(spmd_sharding_reduction(sharding), SPMD_SUM);
    spmd_sharding_free(&sharding);
}
END_TEST

START_TEST(replicas_of_a_part)
{
    int64_t positions[4] = {-7, -7, -7, -7};
    spmd_sharding *sharding = lay("x=2,y=3,z=2", "P(y)");
    ck_assert_int_eq(spmd_sharding_replicas(sharding, 9, 4, positions), 4);
    ck_assert(positions[0] == 2 && positions[1] == 3 && positions[2] == 8 && positions[3] == 9);
    positions[3] = -7;
    ck_assert_int_eq(spmd_sharding_replicas(sharding, 4, 3, positions), 4);
    ck_assert(positions[0] == 4 && positions[2] == 10 && positions[3] == -7);
    ck_assert_int_eq(spmd_sharding_replicas(sharding, 4, 0, NULL), 4);
    ck_assert_int_eq(spmd_sharding_owner(sharding, 11), 4);
    ck_assert_int_eq(spmd_sharding_owner(sharding, 12), -1);
    ck_assert_int_eq(spmd_sharding_owner(sharding, -1), -1);
    ck_assert_int_eq(spmd_sharding_replicas(sharding, 12, 4, positions), -1);
    ck_assert_int_eq(spmd_sharding_replica(sharding, 12), -1);
    spmd_sharding_free(&sharding);
}
END_TEST

static spmd_status note(int64_t position, const spmd_box *common, void *user)
{
    (void)common;
    *(int64_t *)user = position;
    return SPMD_OK;
}

static spmd_status refuse(int64_t position, const spmd_box *common, void *user)
{
    (void)common, (void)user;
    return spmd_fail(SPMD_ERR_BODY, "position %d is enough", (int)position);
}

START_TEST(holders_of_what_is_not_there)
{
    int64_t last = -1;
    spmd_sharding *sharding = lay("x=2,y=2", "P(x, y)");
    spmd_shape shape = SPMD_SHAPE(4, 8);
    spmd_box line = {.ndim = 1, .hi = {1}}, wide = {.ndim = 2, .hi = {1, 9}},
             reversed = {.ndim = 2, .lo = {3}, .hi = {2, 1}}, empty = {.ndim = 2, .hi = {0, 8}},
             whole = spmd_box_whole(shape);
    ASSERT_FAILS(spmd_sharding_holders(sharding, shape, &line, note, &last), SPMD_ERR_ARGUMENT,
                 "a box of 1 dimensions is in no array of 2");
    ASSERT_FAILS(spmd_sharding_holders(sharding, shape, &wide, note, &last), SPMD_ERR_ARGUMENT,
                 "dim 1 of 2: the box 0:9 is not inside of the array's 0:8");
    ASSERT_FAILS(spmd_sharding_holders(sharding, shape, &reversed, note, &last), SPMD_ERR_ARGUMENT,
                 "dim 0 of 2: the box 3:2");
    ASSERT_FAILS(spmd_sharding_holders(sharding, SPMD_SHAPE(4), &line, note, &last), SPMD_ERR_SPEC,
                 "the spec has 2 entries");
    ASSERT_FAILS(spmd_sharding_owners(sharding, shape, NULL, note, &last), SPMD_ERR_ARGUMENT, "");
    ASSERT_FAILS(spmd_sharding_owners(sharding, shape, &whole, NULL, &last), SPMD_ERR_ARGUMENT,
                 "NULL");
    ASSERT_OK(spmd_sharding_holders(sharding, shape, &empty, note, &last));
    ck_assert_int_eq(last, -1);
    ASSERT_FAILS(spmd_sharding_holders(sharding, shape, &whole, refuse, NULL), SPMD_ERR_BODY,
                 "position 0 is enough");
    spmd_sharding_free(&sharding);
}
END_TEST

START_TEST(what_a_process_of_several_positions_holds)
{
    int64_t indices = -1, all[4] = {0, 1, 2, 3}, outside = 4;
    spmd_sharding *sharding = lay("x=2,y=2", "P(x, y)");
    spmd_shape shape = SPMD_SHAPE(5, 7), global = {0};
    ASSERT_OK(spmd_sharding_num_addressable_indices(sharding, shape, 0, 2, all, &indices));
    ck_assert_int_eq(indices, 3);
    ASSERT_OK(spmd_sharding_num_addressable_indices(sharding, shape, 1, 2, all, &indices));
    ck_assert_int_eq(indices, 7);
    ASSERT_OK(spmd_sharding_num_addressable_indices(sharding, shape, 0, 4, all, &indices));
    ck_assert_int_eq(indices, 5);
    ASSERT_OK(spmd_sharding_num_addressable_indices(sharding, shape, 0, 0, NULL, &indices));
    ck_assert_int_eq(indices, 0);
    ASSERT_OK(
        spmd_sharding_num_addressable_indices(sharding, SPMD_SHAPE(1, 0), 0, 4, all, &indices));
    ck_assert_int_eq(indices, 1);
    ASSERT_OK(
        spmd_sharding_num_addressable_indices(sharding, SPMD_SHAPE(1, 0), 1, 4, all, &indices));
    ck_assert_int_eq(indices, 0);
    ASSERT_FAILS(spmd_sharding_num_addressable_indices(sharding, shape, 2, 4, all, &indices),
                 SPMD_ERR_ARGUMENT, "no dim 2, only 0 to 1");
    ASSERT_FAILS(spmd_sharding_num_addressable_indices(sharding, shape, 0, 4, NULL, &indices),
                 SPMD_ERR_ARGUMENT, "the list of 4 positions is NULL");
    ASSERT_FAILS(spmd_sharding_num_addressable_indices(sharding, shape, 0, 1, &outside, &indices),
                 SPMD_ERR_ARGUMENT, "position 4");
    ASSERT_FAILS(spmd_sharding_local_to_global(sharding, shape, NULL, &global), SPMD_ERR_ARGUMENT,
                 "NULL");
    ASSERT_FAILS(spmd_sharding_local_to_global(sharding, SPMD_SHAPE(INT64_MAX, 1),
                                               (int[]){0, 1, 2, 3}, &global),
                 SPMD_ERR_SHAPE, "dim 0 of 2");
    ck_assert_int_eq(global.ndim, 0);
    spmd_sharding_free(&sharding);
}
END_TEST

/* The pictures of JAX's documentation: whose each tile of a matrix is; how often the local extent
 * fits in the global one, -1 for a dimension that is not uniform. */
START_TEST(uniform_dimensions)
{
    static const struct {
        const char *mesh;
        int process[16];
        int64_t rows, columns;
    } cases[] = {
        {"x=2,y=4", {1, 2, 3, 4, 2, 1, 4, 3}, 1, 2},
        {"x=2,y=4", {1, 2, 1, 2, 3, 4, 3, 4}, 2, 2},
        {"x=2,y=4", {1, 1, 1, 1, 2, 2, 2, 2}, 2, 1},
        {"x=2,y=2", {1, 2, 2, 1}, 1, 1},
        {"x=2,y=4", {1, 2, 1, 2, 2, 1, 2, 1}, 1, 1},
        {"x=2,y=4", {1, 2, 1, 2, 1, 2, 1, 2}, 1, 2},
        {"x=4,y=4", {1, 1, 2, 2, 2, 1, 2, 1, 1, 1, 2, 1, 1, 2, 2, 2}, 1, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spmd_sharding *sharding = lay(cases[i].mesh, "P(x, y)");
        spmd_shape global;
        ASSERT_OK(
            spmd_sharding_local_to_global(sharding, SPMD_SHAPE(1, 1), cases[i].process, &global));
        ck_assert_int_eq(global.dim[0], cases[i].rows);
        ck_assert_int_eq(global.dim[1], cases[i].columns);
        spmd_sharding_free(&sharding);
    }
}
END_TEST

/* Whether all answers about a position fit together; adds to the sums. */
static bool is_consistent(const spmd_sharding *sharding, spmd_shape shape, int64_t position,
                          int64_t *rows, int64_t *owners)
{
    spmd_box box, last = {.ndim = 2};
    spmd_shape shard;
    int64_t found = -1;
    if (spmd_sharding_box(sharding, shape, position, &box) != SPMD_OK ||
        spmd_sharding_shard_shape(sharding, shape, position, &shard) != SPMD_OK)
        return false;
    for (int d = 0; d < 2; d++) {
        last.lo[d] = box.hi[d] - 1;
        last.hi[d] = box.hi[d];
    }
    *rows += shard.dim[0];
    *owners += spmd_sharding_replica(sharding, position) == 0;
    return spmd_sharding_owners(sharding, shape, &last, note, &found) == SPMD_OK &&
           found == spmd_sharding_owner(sharding, position) &&
           shard.dim[0] == box.hi[0] - box.lo[0] && shard.dim[1] == 64;
}

/* A million positions are asked, and no table is kept. */
START_TEST(a_million_answers)
{
    spmd_sharding *sharding = lay("a=32,b=32,c=32,d=32", "P(b, (d,a))");
    int64_t rows = 0, owners = 0, position = 0;
    while (position < 1 << 20 &&
           is_consistent(sharding, SPMD_SHAPE(100003, 65536), position, &rows, &owners))
        position++;
    ck_assert_int_eq(position, 1 << 20);
    ck_assert_int_eq(rows, INT64_C(100003) * 32768);
    ck_assert_int_eq(owners, 32768);
    spmd_sharding_free(&sharding);
}
END_TEST

/* Random shardings of few positions, from a fixed seed, so that a failure comes back. */
enum { MOST_POSITIONS = 24, ROUNDS = 10000 };
static uint64_t state = 20261130;

static int64_t below(int64_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((state >> 16) % (uint64_t)limit);
}

/* A sharding, and an array that lies so. */
struct sample {
    spmd_sharding *sharding;
    spmd_mesh *mesh; /* the sharding's */
    int64_t size;
    spmd_shape shape;
    char text[600]; /* for messages */
};

static void random_mesh(char mesh[200], int *naxes)
{
    int64_t left = MOST_POSITIONS;
    *naxes = 1 + (int)below(below(4) ? 4 : SPMD_MAX_AXES);
    *mesh = '\0';
    for (int a = 0; a < *naxes; a++) {
        int64_t size = 1 + below(left < 5 ? left : 5);
        left /= size;
        snprintf(mesh + strlen(mesh), 10, "%s%c=%d", a ? "," : "", 'a' + a, (int)size);
    }
}

static int64_t random_extent(void)
{
    int64_t kind = below(8);
    return kind == 0 ? below(2) : kind == 1 ? (INT64_C(1) << 62) - below(100) : below(12);
}

/* The axes in random order go to random entries, to the unreduced ones, or nowhere. */
static struct sample random_sample(void)
{
    struct sample sample = {.shape.ndim = 1 + (int)below(below(4) ? 4 : SPMD_MAX_DIMS)};
    char mesh[200], entries[SPMD_MAX_DIMS][64] = {""}, unreduced[64] = "";
    const char *list[SPMD_MAX_DIMS];
    int naxes, order[SPMD_MAX_AXES], ndim = sample.shape.ndim - (int)below(2);
    random_mesh(mesh, &naxes);
    for (int a = 0; a < naxes; a++) {
        int64_t place = below(a + 1);
        order[a] = order[place];
        order[place] = a;
    }
    for (int i = 0; i < naxes; i++) {
        int64_t where = below(ndim + 2);
        char *entry = where < ndim ? entries[where] : where == ndim && !below(3) ? unreduced : NULL;
        if (entry)
            snprintf(entry + strlen(entry), 4, "%s%c", *entry ? "," : "", 'a' + order[i]);
    }
    for (int d = 0; d < SPMD_MAX_DIMS; d++) {
        list[d] = *entries[d] || below(2) ? entries[d] : NULL;
        sample.shape.dim[d] = d < sample.shape.ndim ? random_extent() : 0;
    }
    ASSERT_OK(make(mesh, ndim, list, unreduced, SPMD_SUM, &sample.sharding));
    sample.mesh = spmd_sharding_mesh(sample.sharding);
    sample.size = spmd_mesh_size(sample.mesh);
    int length = spmd_sharding_format(sample.text, sizeof sample.text, sample.sharding);
    snprintf(sample.text + length, sizeof sample.text - (size_t)length, " on mesh %s", mesh);
    return sample;
}

static spmd_box box_of(const struct sample *sample, int64_t position)
{
    spmd_box box;
    ASSERT_OK(spmd_sharding_box(sample->sharding, sample->shape, position, &box));
    return box;
}

static bool same_box(const spmd_box *a, const spmd_box *b)
{
    bool same = a->ndim == b->ndim;
    for (int d = 0; same && d < a->ndim; d++)
        same = a->lo[d] == b->lo[d] && a->hi[d] == b->hi[d];
    return same;
}

static bool meet(const spmd_box *a, const spmd_box *b, spmd_box *common)
{
    bool empty = false;
    common->ndim = a->ndim;
    for (int d = 0; d < a->ndim; d++) {
        common->lo[d] = a->lo[d] > b->lo[d] ? a->lo[d] : b->lo[d];
        common->hi[d] = a->hi[d] < b->hi[d] ? a->hi[d] : b->hi[d];
        empty = empty || common->lo[d] >= common->hi[d];
    }
    return !empty;
}

/* The number of elements, modulo 2^64. */
static uint64_t volume(const spmd_box *box)
{
    uint64_t volume = 1;
    for (int d = 0; d < box->ndim; d++)
        volume *= (uint64_t)(box->hi[d] - box->lo[d]);
    return volume;
}

/* Whether a position stands at 0 along all unreduced axes. */
static bool is_first_contribution(const struct sample *sample, int64_t position)
{
    int axes[SPMD_MAX_AXES], count = spmd_sharding_unreduced(sample->sharding, axes);
    int64_t at[SPMD_MAX_AXES], sum = 0;
    ASSERT_OK(spmd_mesh_coordinates(sample->mesh, position, at));
    for (int i = 0; i < count; i++)
        sum += at[axes[i]];
    return sum == 0;
}

/* The owners' boxes lie inside, do not meet, and have as many elements as the array. */
static void assert_tiles(const struct sample *sample)
{
    spmd_box boxes[MOST_POSITIONS], common, whole = spmd_box_whole(sample->shape);
    uint64_t sum = 0;
    int count = 0;
    for (int64_t p = 0; p < sample->size; p++) {
        if (spmd_sharding_replica(sample->sharding, p) != 0 || !is_first_contribution(sample, p))
            continue;
        boxes[count] = box_of(sample, p);
        for (int d = 0; d < sample->shape.ndim; d++)
            ck_assert_msg(boxes[count].lo[d] >= 0 && boxes[count].lo[d] <= boxes[count].hi[d] &&
                              boxes[count].hi[d] <= whole.hi[d],
                          "%s", sample->text);
        for (int i = 0; i < count; i++)
            ck_assert_msg(!meet(&boxes[i], &boxes[count], &common), "%s", sample->text);
        sum += volume(&boxes[count++]);
    }
    ck_assert_msg(sum == volume(&whole), "%s", sample->text);
}

/* Replicas agree, and are numbered 0, 1, ... by position; the owner is number 0. */
static void assert_replicas(const struct sample *sample, int64_t position)
{
    int64_t list[MOST_POSITIONS];
    int64_t count = spmd_sharding_replicas(sample->sharding, position, MOST_POSITIONS, list);
    spmd_box box = box_of(sample, position);
    bool there = false;
    ck_assert_msg(spmd_sharding_owner(sample->sharding, position) == list[0], "%s", sample->text);
    for (int64_t i = 0; i < count; i++) {
        spmd_box other = box_of(sample, list[i]);
        ck_assert_msg(same_box(&box, &other), "%s", sample->text);
        ck_assert_msg(spmd_sharding_replica(sample->sharding, list[i]) == i, "%s", sample->text);
        ck_assert_msg(i == 0 || list[i - 1] < list[i], "%s", sample->text);
        there = there || list[i] == position;
    }
    ck_assert_msg(there, "%s", sample->text);
}

/* What a search has visited. */
struct visited {
    const struct sample *sample;
    const spmd_box *box;
    bool seen[MOST_POSITIONS];
};

static spmd_status visit(int64_t position, const spmd_box *common, void *user)
{
    struct visited *visited = user;
    spmd_box wanted, box = box_of(visited->sample, position);
    ck_assert_msg(!visited->seen[position] && meet(&box, visited->box, &wanted) &&
                      same_box(&wanted, common),
                  "%s", visited->sample->text);
    visited->seen[position] = true;
    return SPMD_OK;
}

/* Holders and owners of a box are those that say so. */
static void assert_holders(const struct sample *sample, const spmd_box *box)
{
    struct visited holders = {.sample = sample, .box = box}, owners = holders;
    ASSERT_OK(spmd_sharding_holders(sample->sharding, sample->shape, box, visit, &holders));
    ASSERT_OK(spmd_sharding_owners(sample->sharding, sample->shape, box, visit, &owners));
    for (int64_t p = 0; p < sample->size; p++) {
        spmd_box common, part = box_of(sample, p);
        bool holds = meet(&part, box, &common);
        bool owns = holds && spmd_sharding_replica(sample->sharding, p) == 0;
        ck_assert_msg(holders.seen[p] == holds && owners.seen[p] == owns, "%s: position %d",
                      sample->text, (int)p);
    }
}

static spmd_box random_box(spmd_shape shape, bool single)
{
    spmd_box box = {.ndim = shape.ndim};
    for (int d = 0; d < shape.ndim; d++) {
        box.lo[d] = below(shape.dim[d] + 1 - (single && shape.dim[d] > 0));
        int64_t most = shape.dim[d] - box.lo[d];
        box.hi[d] = box.lo[d] + (single ? most > 0 : below(most + 1));
    }
    return box;
}

/* The position that differs from another one along `axis` only. */
static int64_t move_along(const struct sample *sample, int64_t position, int axis, int64_t to)
{
    int64_t at[SPMD_MAX_AXES], moved = 0;
    ASSERT_OK(spmd_mesh_coordinates(sample->mesh, position, at));
    at[axis] = to;
    for (int a = 0; a < spmd_mesh_naxes(sample->mesh); a++)
        moved =
            moved * spmd_mesh_axis_size(sample->mesh, spmd_mesh_axis_name(sample->mesh, a)) + at[a];
    return moved;
}

/* Entry `dim` alone, without its last axis, as a sharding. */
static spmd_sharding *drop_minor(const struct sample *sample, int dim, const int axes[], int count)
{
    char entry[64] = "";
    const char *entries[SPMD_MAX_DIMS] = {NULL};
    spmd_sharding *coarse = NULL;
    for (int i = 0; i < count - 1; i++)
        snprintf(entry + strlen(entry), 4, "%s%s", i ? "," : "",
                 spmd_mesh_axis_name(sample->mesh, axes[i]));
    entries[dim] = entry;
    ASSERT_OK(
        spmd_sharding_create_entries(sample->mesh, dim + 1, entries, NULL, SPMD_SUM, &coarse));
    return coarse;
}

/* Without the minor axis of an entry, a position has what its neighbours along it had together. */
static void assert_nested(const struct sample *sample, int dim, int64_t position)
{
    int axes[SPMD_MAX_AXES], count = spmd_sharding_axes(sample->sharding, dim, axes);
    if (count == 0)
        return;
    int minor = axes[count - 1];
    int64_t parts = spmd_mesh_axis_size(sample->mesh, spmd_mesh_axis_name(sample->mesh, minor));
    struct sample coarse = *sample;
    coarse.sharding = drop_minor(sample, dim, axes, count);
    spmd_box joined = box_of(&coarse, position);
    int64_t end = joined.lo[dim];
    for (int64_t i = 0; i < parts; i++) {
        spmd_box part = box_of(sample, move_along(sample, position, minor, i));
        ck_assert_msg(part.lo[dim] == end, "%s: dim %d", sample->text, dim);
        end = part.hi[dim];
    }
    ck_assert_msg(end == joined.hi[dim], "%s: dim %d", sample->text, dim);
    spmd_sharding_free(&coarse.sharding);
}

/* Its text makes an equal one. */
static void assert_text(const struct sample *sample)
{
    char text[600];
    spmd_sharding *read = NULL;
    spmd_sharding_format(text, sizeof text, sample->sharding);
    ASSERT_OK(spmd_sharding_create(sample->mesh, text, &read));
    ck_assert_msg(spmd_sharding_equal(sample->sharding, read), "%s", sample->text);
    ck_assert_msg(spmd_sharding_is_equivalent(sample->sharding, read, sample->shape.ndim), "%s",
                  sample->text);
    spmd_sharding_free(&read);
}

START_TEST(laws_of_random_shardings)
{
    printf("# %d random shardings from seed %llu\n", ROUNDS, (unsigned long long)state);
    for (int i = 0; i < ROUNDS; i++) {
        struct sample sample = random_sample();
        int64_t position = below(sample.size);
        spmd_box some = random_box(sample.shape, false), one = random_box(sample.shape, true);
        assert_text(&sample);
        assert_tiles(&sample);
        assert_replicas(&sample, position);
        assert_holders(&sample, &some);
        assert_holders(&sample, &one); /* the inverse: who has this index */
        assert_nested(&sample, (int)below(sample.shape.ndim), position);
        spmd_sharding_free(&sample.sharding);
    }
}
END_TEST

START_TEST(sixteen_axes_on_sixteen_dims)
{
    spmd_sharding *sharding = lay("a=2,b=2,c=2,d=2,e=2,f=2,g=2,h=2,i=2,j=2,k=2,l=2,m=2,n=2,o=2,p=2",
                                  "P(p,o,n,m,l,k,j,i,h,g,f,e,d,c,b,a)");
    int64_t found = -1, extents[SPMD_MAX_DIMS];
    spmd_box last = {.ndim = SPMD_MAX_DIMS};
    for (int d = 0; d < SPMD_MAX_DIMS; d++) {
        extents[d] = d < 2 ? (INT64_C(1) << 62) + 1 : 3;
        last.lo[d] = d % 2 ? extents[d] - 1 : 0;
        last.hi[d] = last.lo[d] + 1;
    }
    spmd_shape shape = spmd_shape_make(SPMD_MAX_DIMS, extents);
    spmd_box box;
    ASSERT_OK(spmd_sharding_owners(sharding, shape, &last, note, &found));
    ck_assert_int_eq(found, 0xaaaa); /* axis p, of dim 0, is the lowest bit */
    ASSERT_OK(spmd_sharding_box(sharding, shape, found, &box));
    ck_assert_int_eq(box.hi[0], (INT64_C(1) << 61) + 1);
    ck_assert_int_eq(box.lo[1], (INT64_C(1) << 61) + 1);
    ck_assert_int_eq(spmd_sharding_replica(sharding, 0xffff), 0);
    spmd_sharding_free(&sharding);
}
END_TEST

UNIT_MAIN("sharding", entries_make_specs, mistakes_in_entries_are_told, equal_is_the_same_value,
          strict_equivalence_is_of_products, a_sharding_tells_what_its_spec_says,
          replicas_of_a_part, holders_of_what_is_not_there,
          what_a_process_of_several_positions_holds, uniform_dimensions, a_million_answers,
          laws_of_random_shardings, sixteen_axes_on_sixteen_dims)
