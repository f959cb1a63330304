/* reshard_chains.c - chains of shardings that programs go through: each link is right, and the last
 * one gives back the bytes of the first. */
#include "meshes.h"
#include "pattern.h"

enum { MOST_LINKS = 12 };

struct chain {
    const char *mesh;
    const char *specs[MOST_LINKS]; /* NULL after the last one */
};

static bool same_bytes(const spmd_array *a, const spmd_array *b)
{
    const spmd_block *left = spmd_array_block(a), *right = spmd_array_block(b);
    if (!left || !right)
        return left == right;
    size_t bytes = (size_t)spmd_block_size(left) * spmd_dtype_size(left->dtype);
    return spmd_block_size(left) == spmd_block_size(right) &&
           (bytes == 0 || memcmp(left->data, right->data, bytes) == 0);
}

/* The next link: `*array` is replaced by what it is under another sharding. */
static void follow(spmd_array **array, const spmd_sharding *to)
{
    spmd_array *next = NULL;
    spmd_shape shape = spmd_array_shape(*array);
    spmd_dtype dtype = spmd_array_dtype(*array);
    EXPECT_OK(spmd_reshard_to(*array, to, &next));
    if (!EXPECT(pattern_is_on(next, shape, dtype, to))) {
        char spec[256];
        spmd_sharding_format(spec, sizeof spec, to);
        fprintf(stderr, "# to %s\n", spec);
    }
    spmd_array_free(array);
    *array = next;
}

static void follow_chain(spmd_mesh *mesh, const char *const specs[], spmd_dtype dtype,
                         spmd_shape shape)
{
    spmd_array *first = pattern_array(mesh, specs[0], dtype, shape), *array = NULL;
    array = spmd_array_hold(first);
    for (int link = 1; link <= MOST_LINKS && array; link++) {
        bool last = link == MOST_LINKS || !specs[link];
        spmd_sharding *to = NULL;
        EXPECT_OK(spmd_sharding_create(mesh, specs[last ? 0 : link], &to));
        follow(&array, to);
        spmd_sharding_free(&to);
        if (last)
            break;
    }
    EXPECT(array && same_bytes(array, first));
    spmd_array_free(&first);
    spmd_array_free(&array);
}

static const spmd_shape shapes[] = {{2, {7, 9}}, {2, {8, 8}},    {2, {1, 5}},
                                    {2, {3, 0}}, {3, {6, 5, 3}}, {2, {129, 131}}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Whether there are as many ranks as the mesh needs. */
static bool is_possible(const char *mesh_text)
{
    spmd_mesh *mesh = NULL;
    if (strchr(mesh_text, '*'))
        return true;
    EXPECT_OK(spmd_mesh_create_abstract(mesh_text, &mesh));
    bool possible = mesh && spmd_mesh_size(mesh) <= test_size;
    spmd_mesh_free(&mesh);
    return possible;
}

/* Follows the chain with all shapes. */
static void follow_all(const struct chain *chain)
{
    static const spmd_dtype types[] = {SPMD_F64, SPMD_I8, SPMD_C128, SPMD_BF16, SPMD_F32, SPMD_I32};
    if (!is_possible(chain->mesh))
        return;
    spmd_mesh *mesh = make_mesh(chain->mesh);
    for (int i = 0; i < SHAPES; i++)
        follow_chain(mesh, chain->specs, types[i], shapes[i]);
    spmd_mesh_free(&mesh);
}

static void columns_to_rows_and_back(void)
{
    follow_all(&(struct chain){"x=*", {"P(-,x)", "P(x,-)"}});
    follow_all(&(struct chain){"x=*", {"P(x)", "P(-,x)"}});
}

static void along_x_to_along_y(void)
{
    static const char *const meshes[] = {"x=2,y=2", "x=4,y=1", "x=1,y=4"};
    for (int m = 0; m < 3; m++) {
        follow_all(&(struct chain){meshes[m], {"P(x)", "P(y)"}});
        follow_all(&(struct chain){meshes[m], {"P(x)", "P(-,y)", "P(-,x)", "P(y)"}});
        follow_all(&(struct chain){meshes[m], {"P(x,y)", "P(y,x)"}});
        follow_all(&(struct chain){meshes[m], {"P(x,y)", "P(x)", "P(-,y)", "P(y)", "P(y,x)"}});
    }
}

static void the_order_of_a_tuple_swaps(void)
{
    static const char *const meshes[] = {"x=2,y=2", "x=2,y=3", "x=3,y=2", "x=2,y=4", "x=8,y=1"};
    for (int m = 0; m < 5; m++) {
        follow_all(&(struct chain){meshes[m], {"P((x,y))", "P((y,x))"}});
        follow_all(&(struct chain){meshes[m], {"P(-,(x,y))", "P(-,(y,x))", "P((x,y))"}});
        follow_all(&(struct chain){meshes[m], {"P((y,x))", "P(y)", "P((x,y))", "P(x)", "P(y,x)"}});
    }
    follow_all(&(struct chain){"x=2,y=2,z=2", {"P((x,y,z))", "P((z,x,y))", "P((y,z,x))"}});
    follow_all(&(struct chain){"x=2,y=2,z=2", {"P((x,y),z)", "P(z,(y,x))", "P(-,(z,y,x))"}});
}

static void to_replicas_and_back(void)
{
    static const char *const meshes[] = {"x=*,y=1", "x=2,y=2", "x=3,y=2", "x=4,y=2"};
    for (int m = 0; m < 4; m++) {
        follow_all(&(struct chain){meshes[m], {"P(x,y)", "P()"}});
        follow_all(&(struct chain){meshes[m], {"P((y,x))", "P(y)", "P()", "P(-,x)"}});
        follow_all(&(struct chain){meshes[m], {"P()", "P(x)", "P(-,x)", "P()", "P((x,y))"}});
    }
}

/* All of it to one rank, from there to the next one, and at last to where it came from. */
static void to_one_rank_after_the_other_and_back(void)
{
    static const char *const specs[] = {"P(x,y)", "P((y,x))"};
    spmd_mesh *mesh = make_grid();
    spmd_array *first[2][SHAPES], *array[2][SHAPES];
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < SHAPES; i++) {
            first[s][i] = pattern_array(mesh, specs[s], SPMD_U16, shapes[i]);
            array[s][i] = spmd_array_hold(first[s][i]);
        }
    for (int64_t p = 0; p < spmd_mesh_size(mesh); p++) {
        spmd_sharding *single = NULL;
        EXPECT_OK(spmd_sharding_create_single(mesh, p, &single));
        for (int i = 0; i < 2 * SHAPES; i++)
            follow(&array[i / SHAPES][i % SHAPES], single);
        spmd_sharding_free(&single);
    }
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < SHAPES; i++) {
            follow(&array[s][i], spmd_array_sharding(first[s][i]));
            EXPECT(same_bytes(array[s][i], first[s][i]));
            spmd_array_free(&first[s][i]);
            spmd_array_free(&array[s][i]);
        }
    spmd_mesh_free(&mesh);
}

/* Through meshes of the same ranks in other orders, the last of which leaves out the first rank. */
static void through_permuted_meshes(void)
{
    for (int i = 0; i < SHAPES; i++) {
        spmd_mesh *mesh = make_grid();
        spmd_array *first = pattern_array(mesh, "P(x,y)", SPMD_F32, shapes[i]);
        spmd_array *array = spmd_array_hold(first);
        for (int m = 0; m < PERMUTED_MESHES; m++) {
            spmd_mesh *permuted = make_permuted(m);
            spmd_sharding *to = NULL;
            const char *spec = m == PERMUTED_FULL_MESHES ? "P(-,x)" : m % 2 ? "P(y,x)" : "P((y,x))";
            EXPECT_OK(spmd_sharding_create(permuted, spec, &to));
            follow(&array, to);
            spmd_sharding_free(&to);
            spmd_mesh_free(&permuted);
        }
        follow(&array, spmd_array_sharding(first));
        EXPECT(same_bytes(array, first));
        spmd_array_free(&first);
        spmd_array_free(&array);
        spmd_mesh_free(&mesh);
    }
}

static void scalars_go_anywhere(void)
{
    spmd_mesh *meshes[] = {make_line(), make_shorter_line(), make_grid(), make_permuted(4)};
    spmd_array *first = pattern_array(meshes[0], "P()", SPMD_C128, SPMD_SCALAR);
    spmd_array *array = spmd_array_hold(first);
    for (int turn = 1; turn <= 4; turn++) {
        spmd_sharding *to = NULL;
        EXPECT_OK(spmd_sharding_create(meshes[turn % 4], "P()", &to));
        follow(&array, to);
        spmd_sharding_free(&to);
    }
    EXPECT(same_bytes(array, first));
    spmd_array_free(&first);
    spmd_array_free(&array);
    for (int m = 0; m < 4; m++)
        spmd_mesh_free(&meshes[m]);
}

/* The box that each position of a 2-d array's mesh holds: first row, behind the last one, first
 * column, behind the last one. */
typedef const int64_t held[4][4];

/* The array counts from 0, and lies as the table says. */
static void expect_held(spmd_array *array, held boxes)
{
    const spmd_block *block = array ? spmd_array_block(array) : NULL;
    int64_t position =
        array ? spmd_mesh_position(spmd_sharding_mesh(spmd_array_sharding(array))) : -1;
    if (!EXPECT(!block == (position < 0)) || !block)
        return;
    const int64_t *box = boxes[position], *at = block->data;
    EXPECT(block->shape[0] == box[1] - box[0] && block->shape[1] == box[3] - box[2]);
    int64_t wrong = 0;
    for (int64_t row = box[0]; row < box[1]; row++)
        for (int64_t column = box[2]; column < box[3]; column++)
            wrong += *at++ != row * block->global[1] + column;
    EXPECT(wrong == 0);
}

static void expect_move(const char *mesh_text, spmd_shape shape, const char *from, const char *to,
                        held before, held after)
{
    if (!is_possible(mesh_text))
        return;
    spmd_mesh *mesh = make_mesh(mesh_text);
    spmd_array *a = NULL, *b = NULL;
    EXPECT_OK(spmd_array_arange(mesh, from, SPMD_I64, shape, &a));
    expect_held(a, before);
    EXPECT_OK(spmd_reshard(a, to, &b));
    expect_held(b, after);
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_mesh_free(&mesh);
}

/* By hand, for four ranks: what the rule of the layouts gives. */
static void seven_rows_on_four_ranks(void)
{
    held rows = {{0, 2, 0, 3}, {2, 4, 0, 3}, {4, 6, 0, 3}, {6, 7, 0, 3}};
    held columns = {{0, 7, 0, 1}, {0, 7, 1, 2}, {0, 7, 2, 3}, {0, 7, 3, 3}};
    held all = {{0, 7, 0, 3}, {0, 7, 0, 3}, {0, 7, 0, 3}, {0, 7, 0, 3}};
    held halves = {{0, 4, 0, 3}, {0, 4, 0, 3}, {4, 7, 0, 3}, {4, 7, 0, 3}};
    expect_move("x=4", SPMD_SHAPE(7, 3), "P(x)", "P(-,x)", rows, columns);
    expect_move("x=4", SPMD_SHAPE(7, 3), "P(-,x)", "P(x)", columns, rows);
    expect_move("x=4", SPMD_SHAPE(7, 3), "P(x)", "P()", rows, all);
    expect_move("x=2,y=2", SPMD_SHAPE(7, 3), "P(x)", "P((x,y))", halves, rows);
}

static void six_rows_on_two_by_two(void)
{
    held x_major = {{0, 2, 0, 4}, {2, 3, 0, 4}, {3, 5, 0, 4}, {5, 6, 0, 4}};
    held y_major = {{0, 2, 0, 4}, {3, 5, 0, 4}, {2, 3, 0, 4}, {5, 6, 0, 4}};
    held x = {{0, 3, 0, 4}, {0, 3, 0, 4}, {3, 6, 0, 4}, {3, 6, 0, 4}};
    held y = {{0, 3, 0, 4}, {3, 6, 0, 4}, {0, 3, 0, 4}, {3, 6, 0, 4}};
    held x_y = {{0, 3, 0, 2}, {0, 3, 2, 4}, {3, 6, 0, 2}, {3, 6, 2, 4}};
    held y_x = {{0, 3, 0, 2}, {3, 6, 0, 2}, {0, 3, 2, 4}, {3, 6, 2, 4}};
    expect_move("x=2,y=2", SPMD_SHAPE(6, 4), "P((x,y))", "P((y,x))", x_major, y_major);
    expect_move("x=2,y=2", SPMD_SHAPE(6, 4), "P(x)", "P(y)", x, y);
    expect_move("x=2,y=2", SPMD_SHAPE(6, 4), "P(x,y)", "P(y,x)", x_y, y_x);
    expect_move("x=2,y=2", SPMD_SHAPE(6, 4), "P((y,x))", "P(x,y)", y_major, x_y);
}

HARNESS_MAIN("reshard_chains", CASE(columns_to_rows_and_back), CASE(along_x_to_along_y),
             CASE(the_order_of_a_tuple_swaps), CASE(to_replicas_and_back),
             CASE(to_one_rank_after_the_other_and_back), CASE(through_permuted_meshes),
             CASE(scalars_go_anywhere), CASE(seven_rows_on_four_ranks),
             CASE(six_rows_on_two_by_two))
