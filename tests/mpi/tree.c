/* tree.c - trees of arrays over ranks: placed, moved, written to files, through shard_map and vmap.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

static spmd_mesh *new_mesh(const char *text)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh));
    return mesh;
}

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

/* The parameters of two layers, replicated. */
static spmd_tree *new_params(spmd_mesh *mesh)
{
    spmd_tree *params = new_tree();
    set_arange(params, "layer1/w", mesh, "P()", SPMD_F64, SPMD_SHAPE(3, 5));
    set_arange(params, "layer1/b", mesh, "P()", SPMD_F64, SPMD_SHAPE(5));
    set_arange(params, "layer2/w", mesh, "P()", SPMD_F64, SPMD_SHAPE(5, 2));
    set_arange(params, "layer2/b", mesh, "P()", SPMD_F64, SPMD_SHAPE(2));
    return params;
}

static bool format_is(const spmd_tree *tree, const char *wanted)
{
    char text[1024];
    spmd_tree_format(text, sizeof text, tree);
    if (strcmp(text, wanted) != 0)
        fprintf(stderr, "\"%s\" is not \"%s\"\n", text, wanted);
    return strcmp(text, wanted) == 0;
}

/* Whether the f64 at `path` is scale times the index of each element, plus `shift`. */
static bool values_are(const spmd_tree *tree, const char *path, double scale, double shift)
{
    enum { MOST = 1024 };
    double values[MOST];
    spmd_array *array = NULL;
    if (!EXPECT_OK(spmd_tree_get_array(tree, path, &array)))
        return false;
    if (!spmd_array_block(array))
        return true;
    int64_t count = spmd_shape_size(spmd_array_shape(array));
    bool equal =
        count >= 0 && count <= MOST && EXPECT_OK(spmd_array_gather(array, SPMD_ALL, values, count));
    for (int64_t i = 0; equal && i < count; i++)
        equal = values[i] == scale * (double)i + shift;
    return equal;
}

static void fill_scaled(const spmd_block *from, spmd_block *to, double scale)
{
    const double *x = from->data;
    double *y = to->data;
    for (int64_t i = 0; i < spmd_block_size(from); i++)
        y[i] = scale * x[i];
}

/* Doubles each leaf: results are numbered as arguments. */
static spmd_status double_leaves(spmd_ctx *ctx, void *user)
{
    int leaves = user ? *(int *)user : 4;
    for (int k = 0; k < leaves; k++) {
        const spmd_block *x = spmd_in(ctx, k);
        fill_scaled(x, spmd_out(ctx, k, x->dtype, spmd_block_shape(x)), 2);
    }
    return SPMD_OK;
}

static void params_go_through_a_shard_map(void)
{
    spmd_mesh *mesh = new_mesh("data=*");
    spmd_tree *params = new_params(mesh), *out = NULL;
    EXPECT_OK(spmd_shard_map_tree(
        mesh, double_leaves, NULL, params, "{layer1: {w: P(-,data), b: P(data)}, layer2: P(data)}",
        &out, "{layer1: {w: P(-,data), b: P(data)}, layer2: {w: P(data), b: P(data)}}", NULL));
    EXPECT(out && spmd_tree_equal(params, out));
    static const char *const paths[] = {"layer1/w", "layer1/b", "layer2/w", "layer2/b"};
    for (int k = 0; k < 4; k++)
        EXPECT(values_are(out, paths[k], 2, 0));
    char type[128] = "", wanted[128];
    spmd_array *w = NULL;
    EXPECT_OK(spmd_tree_get_array(out, "layer1/w", &w));
    spmd_array_format(type, sizeof type, w);
    snprintf(wanted, sizeof wanted, "f64[3,5@data]");
    EXPECT(strcmp(type, wanted) == 0);
    spmd_tree_free(&out);
    spmd_tree_free(&params);
    spmd_mesh_free(&mesh);
}

static void outputs_that_are_given_are_replaced(void)
{
    spmd_mesh *mesh = new_mesh("data=*");
    spmd_tree *params = new_params(mesh), *out = new_params(mesh);
    spmd_array *before = NULL, *after = NULL;
    EXPECT_OK(spmd_tree_get_array(out, "layer2/w", &before));
    const void *data = spmd_array_block(before)->data;
    EXPECT_OK(spmd_shard_map_tree(mesh, double_leaves, NULL, params, "P()", &out, "P()", NULL));
    EXPECT_OK(spmd_tree_get_array(out, "layer2/w", &after));
    EXPECT(after == before && spmd_array_block(after)->data == data);
    EXPECT(values_are(out, "layer2/w", 2, 0));
    /* An input is not written, though it is also the output. */
    EXPECT_OK(spmd_shard_map_tree(mesh, double_leaves, NULL, out, "P()", &out, "P()", NULL));
    EXPECT(values_are(out, "layer2/w", 4, 0));
    EXPECT(values_are(params, "layer2/w", 1, 0));
    spmd_tree_free(&out);
    spmd_tree_free(&params);
    spmd_mesh_free(&mesh);
}

static void a_plan_runs_many_times(void)
{
    spmd_mesh *mesh = new_mesh("data=*");
    spmd_tree *params = new_params(mesh), *out = NULL, *other = new_tree();
    spmd_shard_map_tree_call *plan = NULL;
    EXPECT_OK(
        spmd_shard_map_tree_plan(mesh, double_leaves, params, "P()", params, "P()", NULL, &plan));
    for (int run = 0; run < 3; run++)
        EXPECT_OK(spmd_shard_map_tree_run(plan, NULL, params, &out));
    EXPECT(values_are(out, "layer1/w", 2, 0));
    EXPECT_OK(spmd_shard_map_tree_run(plan, NULL, out, &params));
    EXPECT(values_are(params, "layer1/w", 4, 0));
    EXPECT_OK(spmd_tree_set_tree(other, "", params));
    EXPECT_OK(spmd_tree_set_none(other, "layer1/b"));
    EXPECT_FAILS(spmd_shard_map_tree_run(plan, NULL, other, &out), SPMD_ERR_ARGUMENT,
                 "the plan's in differs from in: the plan's in['layer1']['b'] is a leaf, "
                 "in['layer1']['b'] is None");
    EXPECT_FAILS(spmd_shard_map_tree_run(plan, NULL, params, &other), SPMD_ERR_ARGUMENT,
                 "the plan's out differs from out");
    spmd_shard_map_tree_free(&plan);
    spmd_shard_map_tree_free(&plan);
    spmd_tree_free(&other);
    spmd_tree_free(&out);
    spmd_tree_free(&params);
    spmd_mesh_free(&mesh);
}

/* Everything that a body can ask of trees. */
static spmd_status ask(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *x = spmd_in_at(ctx, "x"), *key = spmd_in_at(ctx, "['key']");
    spmd_key drawn = spmd_key_at(ctx, "key"), wanted = spmd_key_create(42), given;
    const spmd_tree *in = spmd_in_tree(ctx), *node = NULL;
    const char *text = NULL;
    int64_t integer = 0;
    EXPECT(x && x == spmd_in(ctx, 4));
    EXPECT(key && key->dtype == SPMD_U32 && key->ndim == 1 && key->shape[0] == 2);
    EXPECT(key == spmd_in(ctx, 1) && memcmp(key->data, wanted.word, sizeof wanted.word) == 0);
    EXPECT(memcmp(&drawn, &wanted, sizeof drawn) == 0);
    EXPECT(spmd_in_at(ctx, "mask") == NULL && spmd_in_at(ctx, "name") == NULL);
    EXPECT(in && in == spmd_in_tree(ctx) && spmd_tree_nleaves(in) == 5);
    EXPECT_OK(spmd_tree_get_key(in, "key", &given));
    EXPECT(memcmp(&given, &wanted, sizeof given) == 0);
    EXPECT_OK(spmd_tree_get_text(in, "name", &text));
    EXPECT(strcmp(text, "net") == 0);
    EXPECT_OK(spmd_tree_get_integer(in, "epochs", &integer));
    EXPECT(integer == 7);
    EXPECT_OK(spmd_tree_get(in, "params/w", &node));
    EXPECT(spmd_tree_kind_of(node) == SPMD_TREE_BLOCK);
    spmd_key_fold_in(drawn, 1);
    spmd_block *y = spmd_out_at(ctx, "[0]['y']", SPMD_F64, spmd_block_shape(x));
    spmd_block *w = spmd_out_at(ctx, "1", SPMD_F64, SPMD_SHAPE(4));
    EXPECT(y && w);
    fill_scaled(x, y, 3);
    fill_scaled(spmd_in_at(ctx, "params/w"), w, 5);
    return SPMD_OK;
}

static void a_body_finds_inputs_and_outputs_by_path(void)
{
    spmd_mesh *mesh = new_mesh("x=*");
    spmd_tree *in = new_tree(), *out = NULL;
    EXPECT_OK(spmd_tree_set_key(in, "key", spmd_key_create(42)));
    set_arange(in, "x", mesh, "P()", SPMD_F64, SPMD_SHAPE(7, 2));
    set_arange(in, "params/w", mesh, "P(x)", SPMD_F64, SPMD_SHAPE(4));
    EXPECT_OK(spmd_tree_set_none(in, "mask"));
    EXPECT_OK(spmd_tree_set_text(in, "name", "net"));
    EXPECT_OK(spmd_tree_set_integer(in, "epochs", 7));
    EXPECT_OK(spmd_shard_map_tree(
        mesh, ask, NULL, in,
        "{x: P(x), params: None, key: P(), mask: P(x), name: None, epochs: None}", &out,
        "[{y: P(x), none: None}, P()]", NULL));
    EXPECT(format_is(out, "[{none: None, y: f64[7@x,2]}, f64[4]]"));
    EXPECT(values_are(out, "0/y", 3, 0));
    EXPECT(values_are(out, "1", 5, 0));
    spmd_tree_free(&out);
    spmd_tree_free(&in);
    spmd_mesh_free(&mesh);
}

/* JAX's test_in_spec_none: None passes any spec, as a whole too. */
static spmd_status expect_none(spmd_ctx *ctx, void *user)
{
    EXPECT(spmd_in_at(ctx, user) == NULL);
    *(double *)spmd_out_at(ctx, "", SPMD_F64, SPMD_SCALAR)->data = 3;
    return SPMD_OK;
}

static void none_matches_any_spec(void)
{
    spmd_mesh *mesh = new_mesh("x=*");
    spmd_tree *in = new_tree(), *out = NULL;
    EXPECT_OK(spmd_shard_map_tree(mesh, expect_none, "", in, "P(x)", &out, "P()", NULL));
    EXPECT(values_are(out, "", 0, 3));
    EXPECT_OK(spmd_tree_set_none(in, "0"));
    EXPECT_OK(spmd_tree_set_none(in, "1/a"));
    EXPECT_OK(spmd_shard_map_tree(mesh, expect_none, "1/a", in, "[None, P(x)]", &out, "P()", NULL));
    EXPECT_OK(spmd_shard_map_tree(mesh, expect_none, "0", in, "None", &out, "P()", NULL));
    EXPECT_FAILS(spmd_shard_map_tree(mesh, expect_none, "0", in, "None", &out, "None", NULL),
                 SPMD_ERR_SPEC, "out: None is no out_spec of an array");
    spmd_tree_free(&out);
    spmd_tree_free(&in);
    spmd_mesh_free(&mesh);
}

/* JAX's test_tree_prefix_error. */
static void a_wrong_prefix_is_told_with_its_paths(void)
{
    spmd_mesh *mesh = new_mesh("x=*");
    spmd_tree *in = new_tree(), *out = NULL;
    set_arange(in, "0/w", mesh, "P()", SPMD_F64, SPMD_SHAPE(4));
    set_arange(in, "0/b", mesh, "P()", SPMD_F64, SPMD_SHAPE(4));
    set_arange(in, "1", mesh, "P()", SPMD_F64, SPMD_SHAPE(4));
    EXPECT_FAILS(
        spmd_shard_map_tree(mesh, double_leaves, NULL, in, "[{w: P(), c: P()}, [P(), P()]]", &out,
                            "P()", NULL),
        SPMD_ERR_ARGUMENT,
        "in_specs cannot be a prefix of in, in 2 places: in_specs[0] is a dict of c, w, in[0] is a "
        "dict of b, w: only in_specs has c, only in has b (write None for what is left out); "
        "in_specs[1] is a list of 2, in[1] is an array");
    EXPECT_FAILS(
        spmd_shard_map_tree(mesh, double_leaves, NULL, in, "[P(), P(), P()]", &out, "P()", NULL),
        SPMD_ERR_ARGUMENT, "in_specs is a list of 3, in is a list of 2");
    EXPECT_FAILS(spmd_shard_map_tree(mesh, double_leaves, NULL, in, "P(", &out, "P()", NULL),
                 SPMD_ERR_SYNTAX, "in_specs \"P(\": expected");
    EXPECT_FAILS(spmd_shard_map_tree(mesh, double_leaves, NULL, in, "P()", &out, "{a P()}", NULL),
                 SPMD_ERR_SYNTAX, "out_specs \"{a P()}\": expected a colon");
    EXPECT_FAILS(
        spmd_shard_map_tree(mesh, double_leaves, NULL, in, "{'a/b': P()}", &out, "P()", NULL),
        SPMD_ERR_ARGUMENT, "in_specs \"{'a/b': P()}\": ");
    EXPECT_FAILS(spmd_shard_map_tree(mesh, double_leaves, NULL, in, NULL, &out, "P()", NULL),
                 SPMD_ERR_ARGUMENT, "no text to read in_specs from, it is NULL");
    out = new_tree();
    EXPECT_OK(spmd_tree_set_tree(out, "", in));
    EXPECT_FAILS(spmd_shard_map_tree(mesh, double_leaves, NULL, in, "P()", &out, "{w: P()}", NULL),
                 SPMD_ERR_ARGUMENT, "out_specs is a dict of w, out is a list of 2");
    spmd_tree_free(&out);
    EXPECT_FAILS(spmd_shard_map_tree(mesh, NULL, NULL, in, "P()", &out, "P()", NULL),
                 SPMD_ERR_ARGUMENT, "needs a body");
    EXPECT_FAILS(spmd_shard_map_tree(mesh, double_leaves, NULL, NULL, "P()", &out, "P()", NULL),
                 SPMD_ERR_ARGUMENT, "in: there is no tree");
    EXPECT_FAILS(spmd_shard_map_tree(NULL, double_leaves, NULL, in, "P()", &out, "P()", NULL),
                 SPMD_ERR_ARGUMENT, "needs a mesh");
    spmd_tree_free(&in);
    spmd_mesh_free(&mesh);
}

static void failures_name_the_leaf(void)
{
    spmd_mesh *mesh = new_mesh("x=*"), *other = new_mesh("y=*");
    spmd_tree *in = new_tree(), *out = NULL;
    double number = 1;
    spmd_block block = spmd_block_borrow(&number, SPMD_F64, SPMD_SCALAR);
    set_arange(in, "params/b", mesh, "P()", SPMD_F64, SPMD_SHAPE(4));
    set_arange(in, "params/w", mesh, "P()", SPMD_F64, SPMD_SHAPE(4));
    EXPECT_FAILS(spmd_shard_map_tree(mesh, double_leaves, NULL, in, "{params: {b: P(), w: P(q)}}",
                                     &out, "P()", NULL),
                 SPMD_ERR_SPEC, "in['params']['w']: P(q) on mesh x=");
    EXPECT_FAILS(
        spmd_shard_map_tree(mesh, double_leaves, NULL, in, "P()", &out, "[P(), {y: P(q)}]", NULL),
        SPMD_ERR_SPEC, "out[1]['y']: P(q) on mesh x=");
    EXPECT_FAILS(spmd_shard_map_tree(mesh, double_leaves, NULL, in, "{params: {b: P(), w: P(-,x)}}",
                                     &out, "P()", NULL),
                 SPMD_ERR_SPEC, "in['params']['w']: ");
    set_arange(in, "params/w", other, "P()", SPMD_F64, SPMD_SHAPE(4));
    EXPECT_FAILS(spmd_shard_map_tree(mesh, double_leaves, NULL, in, "P()", &out, "P()", NULL),
                 SPMD_ERR_MESH, "in['params']['w'] lies on another mesh");
    EXPECT_OK(spmd_tree_set_block(in, "params/w", &block));
    EXPECT_FAILS(spmd_shard_map_tree(mesh, double_leaves, NULL, in, "P()", &out, "P()", NULL),
                 SPMD_ERR_ARGUMENT, "in['params']['w']: it is a block");
    EXPECT_OK(spmd_tree_set_key(in, "params/w", spmd_key_create(1)));
    EXPECT_FAILS(spmd_shard_map_tree(mesh, double_leaves, NULL, in, "P(x)", &out, "P()", NULL),
                 SPMD_ERR_SPEC,
                 "in['params']['w']: it is a key, which cannot be split: its spec is P() or None");
    spmd_tree_free(&in);
    spmd_mesh_free(&other);
    spmd_mesh_free(&mesh);
}

/* Blocks that differ, under an out_spec that promises equal ones; and an output that is not there.
 */
static spmd_status differ(spmd_ctx *ctx, void *user)
{
    double *w = spmd_out_at(ctx, "grads/w", SPMD_F64, SPMD_SHAPE(2))->data;
    w[1] = (double)spmd_mesh_position(spmd_ctx_mesh(ctx));
    if (!user)
        spmd_out_at(ctx, "loss", SPMD_F64, SPMD_SCALAR);
    return SPMD_OK;
}

static void failures_name_the_result(void)
{
    spmd_mesh *mesh = new_mesh("x=*");
    spmd_tree *in = new_tree(), *out = NULL;
    const char *specs = "{grads: {w: P()}, loss: P()}";
    if (test_size > 1)
        EXPECT_FAILS(spmd_shard_map_tree(mesh, differ, NULL, in, "P()", &out, specs, NULL),
                     SPMD_ERR_REPLICATION, "out['grads']['w']: its out_spec P() promises");
    EXPECT_FAILS(spmd_shard_map_tree(mesh, differ, "", in, "P()", &out, specs, NULL), SPMD_ERR_BODY,
                 "the body never declared out['loss']");
    EXPECT_FAILS(spmd_shard_map_tree(mesh, differ, NULL, in, "P()", &out,
                                     "{grads: {w: P()}, loss: P(x)}", NULL),
                 SPMD_ERR_SPEC, "out['loss']: ");
    EXPECT(out == NULL);
    spmd_tree_free(&in);
    spmd_mesh_free(&mesh);
}

/* Each wrong question; the first failure is the call's. */
static spmd_status ask_wrongly(spmd_ctx *ctx, void *user)
{
    const spmd_key key = spmd_key_at(ctx, user);
    EXPECT(key.word[0] == 0 && key.word[1] == 0);
    EXPECT(spmd_in_at(ctx, "x//y") == NULL);
    EXPECT(spmd_out_at(ctx, "z", SPMD_F64, SPMD_SCALAR) == NULL);
    spmd_out(ctx, 0, SPMD_F64, SPMD_SCALAR);
    return SPMD_OK;
}

static spmd_status ask_out(spmd_ctx *ctx, void *user)
{
    EXPECT(spmd_out_at(ctx, user, SPMD_F64, SPMD_SCALAR) == NULL);
    return SPMD_OK;
}

static spmd_status ask_flat(spmd_ctx *ctx, void *user)
{
    EXPECT(spmd_in_tree(ctx) == NULL);
    EXPECT(spmd_in_at(ctx, user) == NULL);
    return SPMD_OK;
}

static void wrong_questions_are_told(void)
{
    spmd_mesh *mesh = new_mesh("x=*");
    spmd_tree *in = new_tree(), *out = NULL;
    set_arange(in, "x/w", mesh, "P()", SPMD_F64, SPMD_SHAPE(4));
    EXPECT_FAILS(spmd_shard_map_tree(mesh, ask_wrongly, "y", in, "P()", &out, "P()", NULL),
                 SPMD_ERR_ARGUMENT, "in: there is no y: the tree is a dict of x");
    EXPECT_FAILS(spmd_shard_map_tree(mesh, ask_wrongly, "x", in, "P()", &out, "P()", NULL),
                 SPMD_ERR_ARGUMENT, "in: x is a dict of w: name one of its leaves");
    EXPECT_FAILS(spmd_shard_map_tree(mesh, ask_wrongly, "x/w", in, "P()", &out, "P()", NULL),
                 SPMD_ERR_DTYPE, "in: x/w is no key, nor a u32[2]");
    EXPECT_FAILS(spmd_shard_map_tree(mesh, ask_out, "1", in, "P()", &out, "[P(), None]", NULL),
                 SPMD_ERR_ARGUMENT, "out: 1 is None, and has no block");
    EXPECT_FAILS(spmd_shard_map(mesh, ask_flat, "x", 0, NULL, NULL, 0, NULL, NULL, NULL),
                 SPMD_ERR_ARGUMENT, "spmd_in_tree: this body was not run over trees");
    spmd_tree_free(&in);
    spmd_mesh_free(&mesh);
}

static spmd_status no_results(spmd_ctx *ctx, void *user)
{
    (void)ctx, (void)user;
    return SPMD_OK;
}

/* What is given to be written must be there to be written. */
static void wrong_trees_are_told(void)
{
    spmd_mesh *mesh = new_mesh("x=*");
    spmd_tree *in = new_params(mesh), *out = new_params(mesh), *made = NULL;
    spmd_shard_map_tree_call *plan = NULL;
    EXPECT_OK(spmd_tree_set_integer(out, "layer2/w", 1));
    EXPECT_FAILS(spmd_shard_map_tree(mesh, double_leaves, NULL, in, "P()", &out, "P()", NULL),
                 SPMD_ERR_ARGUMENT,
                 "out['layer2']['w']: it is an integer, and only arrays are rep");
    EXPECT_FAILS(spmd_vmap_tree(NULL, double_leaves, NULL, in, "0", &made, "0", NULL),
                 SPMD_ERR_ARGUMENT,
                 "in['layer1']['b']: it is an array, and a vmap runs over blocks");
    EXPECT_FAILS(spmd_vmap_tree(NULL, double_leaves, NULL, NULL, "0", &made, "0", NULL),
                 SPMD_ERR_ARGUMENT, "in: there is no tree");
    EXPECT_FAILS(spmd_vmap_tree(NULL, double_leaves, NULL, in, "0", NULL, "0", NULL),
                 SPMD_ERR_ARGUMENT, "out: there is no place for the tree");
    double numbers[3] = {0};
    spmd_block block = spmd_block_borrow(numbers, SPMD_F64, SPMD_SHAPE(3));
    spmd_tree *blocks = new_tree();
    EXPECT_OK(spmd_tree_set_block(blocks, "w", &block));
    EXPECT_FAILS(spmd_vmap_tree(NULL, double_leaves, NULL, blocks, "0", &in, "0", NULL),
                 SPMD_ERR_ARGUMENT, "it is an array, and only a block can be written");
    EXPECT_FAILS(spmd_shard_map_tree_plan(mesh, double_leaves, in, "P()", in, "P()", NULL, NULL),
                 SPMD_ERR_ARGUMENT, "no place for the plan");
    EXPECT_FAILS(spmd_shard_map_tree_run(NULL, NULL, in, &made), SPMD_ERR_ARGUMENT,
                 "a run needs its plan");
    EXPECT_OK(spmd_shard_map_tree_plan(mesh, double_leaves, in, "P()", in, "P()", NULL, &plan));
    EXPECT_FAILS(spmd_shard_map_tree_run(plan, NULL, NULL, &made), SPMD_ERR_ARGUMENT,
                 "a run needs a tree");
    EXPECT(made == NULL);
    spmd_shard_map_tree_free(&plan);
    spmd_tree_free(&blocks);
    spmd_tree_free(&in);
    spmd_tree_free(&out);
    spmd_mesh_free(&mesh);
}

static void trees_that_differ_between_ranks(void)
{
    spmd_mesh *mesh = new_mesh("x=*");
    spmd_tree *in = new_tree(), *out = NULL;
    bool other = test_rank == test_size - 1 && test_size > 1;
    spmd_status wanted = test_size > 1 ? SPMD_ERR_DISAGREE : SPMD_OK;
    set_arange(in, other ? "v" : "w", mesh, "P()", SPMD_F64, SPMD_SHAPE(4));
    spmd_status status =
        spmd_shard_map_tree(mesh, double_leaves, &(int){1}, in, "P()", &out, "P()", NULL);
    EXPECT(status == wanted);
    EXPECT(wanted == SPMD_OK || strstr(spmd_error_message(), "trees: rank "));
    spmd_tree_free(&out);
    EXPECT(spmd_tree_device_put(in, mesh, "P(x)", &out) == wanted);
    spmd_tree_free(&out);
    EXPECT(spmd_tree_reshard(in, "P(x)", &out) == wanted);
    spmd_tree_free(&out);
    EXPECT_OK(spmd_tree_set_none(in, ""));
    EXPECT_OK(spmd_tree_set_key(in, "key", spmd_key_create(other)));
    EXPECT(spmd_shard_map_tree(mesh, no_results, NULL, in, "P()", &out, "[]", NULL) == wanted);
    spmd_tree_free(&out);
    spmd_tree_free(&in);
    spmd_mesh_free(&mesh);
}

/* One psum for each leaf, of whatever type it is. */
static spmd_status sum_leaf(const spmd_tree *const leaves[], const char *path, spmd_tree *result,
                            void *user)
{
    const spmd_block *x;
    spmd_ctx *ctx = user;
    SPMD_TRY(spmd_tree_get_block(leaves[0], "", &x));
    spmd_block *sum = spmd_out_at(ctx, path, x->dtype, spmd_block_shape(x));
    SPMD_TRY(spmd_psum(ctx, x, "x", sum));
    return spmd_tree_set_block(result, "", sum);
}

static spmd_status sum_tree(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_tree *sums = NULL;
    const spmd_tree *in = spmd_in_tree(ctx);
    SPMD_TRY(spmd_tree_map(1, &in, sum_leaf, ctx, &sums));
    EXPECT(spmd_tree_equal(in, sums));
    spmd_tree_free(&sums);
    return SPMD_OK;
}

/* JAX's testCollectivesWithTreesOfDifferentDtypes. */
static void a_psum_of_leaves_of_different_types(void)
{
    spmd_mesh *mesh = new_mesh("x=*");
    spmd_tree *in = new_tree(), *out = NULL;
    int64_t integers[3];
    float floats[2];
    spmd_array *array = NULL;
    set_arange(in, "f", mesh, "P()", SPMD_F32, SPMD_SHAPE(2));
    set_arange(in, "g/i", mesh, "P()", SPMD_I64, SPMD_SHAPE(3));
    set_arange(in, "g/d", mesh, "P()", SPMD_F64, SPMD_SHAPE(2, 2));
    EXPECT_OK(spmd_shard_map_tree(mesh, sum_tree, NULL, in, "P()", &out,
                                  "{f: P(), g: {i: P(), d: P()}}", NULL));
    EXPECT(values_are(out, "g/d", test_size, 0));
    EXPECT_OK(spmd_tree_get_array(out, "g/i", &array));
    EXPECT_OK(spmd_array_gather(array, SPMD_ALL, integers, 3));
    EXPECT(integers[1] == test_size && integers[2] == 2 * test_size);
    EXPECT_OK(spmd_tree_get_array(out, "f", &array));
    EXPECT_OK(spmd_array_gather(array, SPMD_ALL, floats, 2));
    EXPECT(floats[1] == (float)test_size);
    spmd_tree_free(&out);
    spmd_tree_free(&in);
    spmd_mesh_free(&mesh);
}

/* y = w x + b of one row, of one model. */
static spmd_status affine(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *w = spmd_in_at(ctx, "model/w"), *x = spmd_in_at(ctx, "x");
    const double *b = spmd_in_at(ctx, "model/b")->data;
    double sum = *b;
    for (int64_t i = 0; i < x->shape[0]; i++)
        sum += ((double *)w->data)[i] * ((double *)x->data)[i];
    *(double *)spmd_out_at(ctx, "y", SPMD_F64, SPMD_SCALAR)->data = sum;
    *(double *)spmd_out_at(ctx, "b", SPMD_F64, SPMD_SCALAR)->data = *b;
    return SPMD_OK;
}

/* Maps over the rows of a block. */
static spmd_status affine_rows(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *x = spmd_in_at(ctx, "x");
    spmd_block *y = spmd_out_at(ctx, "", SPMD_F64, SPMD_SHAPE(x->shape[0]));
    spmd_tree *out = NULL;
    if (x->shape[0] == 0)
        return SPMD_OK;
    SPMD_TRY(spmd_vmap_tree(ctx, affine, NULL, spmd_in_tree(ctx), "{model: None, x: 0}", &out,
                            "{y: 0, b: None}", NULL));
    const spmd_block *rows;
    SPMD_TRY(spmd_tree_get_block(out, "y", &rows));
    memcpy(y->data, rows->data, (size_t)x->shape[0] * sizeof(double));
    spmd_tree_free(&out);
    SPMD_TRY(spmd_tree_create(&out));
    SPMD_TRY(spmd_tree_set_block(out, "y", y));
    spmd_block *b = spmd_temp(ctx, SPMD_F64, SPMD_SCALAR);
    SPMD_TRY(spmd_tree_set_block(out, "b", b));
    SPMD_TRY(spmd_vmap_tree(ctx, affine, NULL, spmd_in_tree(ctx), "{model: None, x: 0}", &out,
                            "{y: 0, b: None}", NULL));
    EXPECT(*(double *)b->data == 0);
    spmd_tree_free(&out);
    return SPMD_OK;
}

static void a_vmap_in_a_body_maps_leaves(void)
{
    spmd_mesh *mesh = new_mesh("x=*");
    spmd_tree *in = new_tree(), *out = NULL;
    set_arange(in, "x", mesh, "P(x)", SPMD_F64, SPMD_SHAPE(7, 2));
    set_arange(in, "model/w", mesh, "P()", SPMD_F64, SPMD_SHAPE(2));
    set_arange(in, "model/b", mesh, "P()", SPMD_F64, SPMD_SHAPE(1));
    EXPECT_OK(spmd_shard_map_tree(mesh, affine_rows, NULL, in, "{x: P(x), model: P()}", &out,
                                  "P(x)", NULL));
    EXPECT(values_are(out, "", 2, 1)); /* 0 * 2r + 1 * (2r + 1) + 0 */
    spmd_tree_free(&out);
    spmd_tree_free(&in);
    spmd_mesh_free(&mesh);
}

/* The key of an instance, and one that all share. */
static spmd_status fold_keys(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_key own = spmd_key_at(ctx, "own"), shared = spmd_key_at(ctx, "shared");
    uint32_t *out = spmd_out_at(ctx, "", SPMD_U32, SPMD_SHAPE(2))->data;
    out[0] = own.word[1];
    out[1] = shared.word[1];
    return SPMD_OK;
}

static void a_vmap_without_a_mesh(void)
{
    spmd_key keys[3];
    spmd_block block = spmd_block_borrow(keys, SPMD_U32, SPMD_SHAPE(3, 2));
    const spmd_block *found = NULL;
    spmd_tree *in = new_tree(), *out = NULL, *copy = NULL;
    spmd_key_split(spmd_key_create(3), 3, keys);
    EXPECT_OK(spmd_tree_set_block(in, "own", &block));
    EXPECT_OK(spmd_tree_set_key(in, "shared", spmd_key_create(9)));
    EXPECT_OK(
        spmd_vmap_tree(NULL, fold_keys, NULL, in, "{own: 0, shared: None}", &out, "-1", NULL));
    EXPECT_OK(spmd_tree_copy(out, &copy));
    spmd_tree_free(&out);
    EXPECT_OK(spmd_tree_get_block(copy, "", &found));
    for (int i = 0; found && i < 3; i++) {
        EXPECT(((uint32_t *)found->data)[i] == keys[i].word[1]);
        EXPECT(((uint32_t *)found->data)[3 + i] == 9);
    }
    EXPECT_FAILS(spmd_vmap_tree(NULL, fold_keys, NULL, in, "0", &out, "0", NULL), SPMD_ERR_ARGUMENT,
                 "in['shared']: it is a key, which has no dimensions: its axis is None");
    EXPECT_FAILS(spmd_vmap_tree(NULL, fold_keys, NULL, in, "[0, 1]", &out, "0", NULL),
                 SPMD_ERR_ARGUMENT, "in_axes is a list of 2, in is a dict of own, shared");
    EXPECT_FAILS(
        spmd_vmap_tree(NULL, fold_keys, NULL, in, "{own: 5, shared: None}", &out, "0", NULL),
        SPMD_ERR_ARGUMENT, "the axis of in['own']: there is no dim 5, only -2 to 1");
    EXPECT_FAILS(spmd_vmap_tree(NULL, fold_keys, NULL, in, "{own: P()}", &out, "0", NULL),
                 SPMD_ERR_SYNTAX, "in_axes \"{own: P()}\": expected a dimension");
    EXPECT_FAILS(spmd_vmap_tree(NULL, NULL, NULL, in, "{own: 0, shared: None}", &out, "0", NULL),
                 SPMD_ERR_ARGUMENT, "a function");
    EXPECT(out == NULL);
    spmd_tree_free(&copy);
    spmd_tree_free(&in);
}

/* The sum of all rows' x, and the row's own. */
static spmd_status sum_batch(spmd_ctx *ctx, void *user)
{
    const spmd_block *x = spmd_in_at(ctx, "x/0");
    spmd_block *sum = spmd_out_at(ctx, "sum", SPMD_F64, SPMD_SCALAR);
    SPMD_TRY(spmd_psum(ctx, x, "batch", sum));
    const spmd_block *own = NULL;
    SPMD_TRY(spmd_tree_get_block(spmd_in_tree(ctx), "x/0", &own));
    EXPECT(own->data == x->data);
    *(double *)spmd_out_at(ctx, "own", SPMD_F64, SPMD_SCALAR)->data = *(double *)own->data;
    if (user)
        *(double *)sum->data = *(double *)x->data;
    return SPMD_OK;
}

static void a_named_vmap_of_a_tree(void)
{
    double x[3] = {1, 2, 4}, y[2] = {0};
    spmd_block x_block = spmd_block_borrow(x, SPMD_F64, SPMD_SHAPE(3));
    spmd_block y_block = spmd_block_borrow(y, SPMD_F64, SPMD_SHAPE(2));
    const spmd_block *found = NULL;
    const spmd_vmap_options named = {.axis_name = "batch"};
    spmd_tree *in = new_tree(), *out = NULL;
    EXPECT_OK(spmd_tree_set_block(in, "x/0", &x_block));
    EXPECT_OK(spmd_vmap_tree(NULL, sum_batch, NULL, in, "0", &out, "{sum: None, own: 0}", &named));
    EXPECT_OK(spmd_tree_get_block(out, "sum", &found));
    EXPECT(found && found->ndim == 0 && *(double *)found->data == 7);
    EXPECT_OK(spmd_tree_get_block(out, "own", &found));
    EXPECT(found && memcmp(found->data, x, sizeof x) == 0);
    spmd_tree_free(&out);
    EXPECT_FAILS(spmd_vmap_tree(NULL, sum_batch, "", in, "0", &out, "{sum: None, own: 0}", &named),
                 SPMD_ERR_REPLICATION, "out['sum'] is not mapped, but differs");
    EXPECT_OK(spmd_tree_set_block(in, "x/1", &y_block));
    EXPECT_FAILS(
        spmd_vmap_tree(NULL, sum_batch, NULL, in, "0", &out, "{sum: None, own: 0}", &named),
        SPMD_ERR_SHAPE, "in['x'][1] has 2 instances along dim 0");
    EXPECT(out == NULL);
    spmd_tree_free(&in);
}

/* A rank's own row, and the sum of all. */
static spmd_status sum_ranks(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *x = spmd_in_at(ctx, "x");
    const spmd_key key = spmd_key_at(ctx, "key");
    EXPECT(x && x->ndim == 1 && x->shape[0] == 2 && spmd_in_at(ctx, "mask") == NULL);
    EXPECT(key.word[1] == 5);
    fill_scaled(x, spmd_out_at(ctx, "own/0", SPMD_F64, spmd_block_shape(x)), 2);
    spmd_block *sum = spmd_out_at(ctx, "sum", SPMD_F64, spmd_block_shape(x));
    return spmd_psum(ctx, x, "x", sum);
}

static void a_pmap_of_a_tree(void)
{
    spmd_mesh *mesh = new_mesh("x=*");
    spmd_tree *in = new_tree(), *out = NULL;
    double n = test_size;
    set_arange(in, "x", mesh, "P()", SPMD_F64, SPMD_SHAPE(test_size, 2));
    EXPECT_OK(spmd_tree_set_key(in, "key", spmd_key_create(5)));
    EXPECT_OK(spmd_tree_set_none(in, "mask"));
    const char *in_axes = "{x: 0, key: None, mask: 0}";
    for (int run = 0; run < 2; run++) { /* into the tree of the first one */
        EXPECT_OK(spmd_pmap_tree(mesh, "x", sum_ranks, NULL, in, in_axes, &out,
                                 "{own: [0], sum: None}", NULL));
        EXPECT(values_are(out, "own/0", 2, 0));
        EXPECT(values_are(out, "sum", n, n * (n - 1)));
    }
    spmd_tree_free(&out);
    EXPECT_FAILS(spmd_pmap_tree(mesh, "x", sum_ranks, NULL, in, "0", &out, "None", NULL),
                 SPMD_ERR_SPEC, "in['key']: it is a key, which cannot be split: its axis is None");
    EXPECT_FAILS(spmd_pmap_tree(mesh, "x", sum_ranks, NULL, in, "{x: 2, key: None, mask: 0}", &out,
                                "None", NULL),
                 SPMD_ERR_ARGUMENT, "the axis of in['x']: there is no dim 2, only ");
    EXPECT_FAILS(spmd_pmap_tree(mesh, "x", sum_ranks, NULL, NULL, in_axes, &out, "None", NULL),
                 SPMD_ERR_ARGUMENT, "needs a tree");
    EXPECT_FAILS(spmd_pmap_tree(NULL, "x", sum_ranks, NULL, in, in_axes, &out, "None", NULL),
                 SPMD_ERR_ARGUMENT, "needs a mesh");
    EXPECT_FAILS(spmd_pmap_tree(mesh, "x", NULL, NULL, in, in_axes, &out, "None", NULL),
                 SPMD_ERR_ARGUMENT, "needs a body");
    set_arange(in, "x", mesh, "P()", SPMD_F64, SPMD_SHAPE(test_size + 1, 2));
    EXPECT_FAILS(spmd_pmap_tree(mesh, "x", sum_ranks, NULL, in, in_axes, &out, "None", NULL),
                 SPMD_ERR_SHAPE, "in['x'] has ");
    EXPECT(out == NULL);
    spmd_tree_free(&in);
    spmd_mesh_free(&mesh);
}

static void host_trees_are_placed(void)
{
    spmd_mesh *mesh = new_mesh("x=*");
    double w[15], b[3];
    for (int i = 0; i < 15; i++)
        w[i] = i;
    for (int i = 0; i < 3; i++)
        b[i] = i;
    spmd_block w_block = spmd_block_borrow(w, SPMD_F64, SPMD_SHAPE(5, 3));
    spmd_block b_block = spmd_block_borrow(b, SPMD_F64, SPMD_SHAPE(3));
    spmd_tree *host = new_tree(), *placed = NULL, *moved = NULL;
    EXPECT_OK(spmd_tree_set_block(host, "w", &w_block));
    EXPECT_OK(spmd_tree_set_block(host, "b", &b_block));
    EXPECT_OK(spmd_tree_set_none(host, "mask"));
    EXPECT_OK(spmd_tree_set_key(host, "key", spmd_key_create(0)));
    EXPECT_OK(
        spmd_tree_device_put(host, mesh, "{w: P(x), b: None, mask: P(x), key: None}", &placed));
    EXPECT(format_is(placed, "{b: f64[3], key: key(0,0), mask: None, w: f64[5@x,3]}"));
    EXPECT(values_are(placed, "w", 1, 0) && values_are(placed, "b", 1, 0));
    EXPECT_OK(spmd_tree_reshard(placed, "{w: P(-,x), b: P(x), mask: None, key: None}", &moved));
    if (test_size > 1)
        EXPECT(format_is(moved, "{b: f64[3@x], key: key(0,0), mask: None, w: f64[5,3@x]}"));
    EXPECT(values_are(moved, "w", 1, 0) && values_are(moved, "b", 1, 0));
    spmd_tree_free(&placed);
    EXPECT_OK(spmd_tree_reshard(moved, "None", &placed));
    spmd_array *same = NULL, *array = NULL;
    EXPECT_OK(spmd_tree_get_array(placed, "w", &same));
    EXPECT_OK(spmd_tree_get_array(moved, "w", &array));
    EXPECT(same == array);
    spmd_tree_free(&placed);
    EXPECT_OK(
        spmd_tree_device_put(moved, mesh, "{w: P(-,x), b: P(x), mask: None, key: None}", &placed));
    EXPECT_OK(spmd_tree_get_array(placed, "w", &same));
    spmd_array *held = spmd_array_hold(same);
    spmd_tree_free(&placed);
    EXPECT(held == array && values_are(moved, "w", 1, 0));
    spmd_array_free(&held);
    EXPECT_FAILS(spmd_tree_reshard(moved, "{w: P(x,-,-), b: P(), mask: None, key: None}", &placed),
                 SPMD_ERR_SPEC, "the tree['w']: ");
    EXPECT_FAILS(
        spmd_tree_reshard(moved, "{w: P(x)}", &placed), SPMD_ERR_ARGUMENT,
        "specs cannot be a prefix of the tree: specs is a dict of w, the tree is a dict "
        "of b, key, mask, w: only the tree has b, key, mask (write None for what is left out)");
    EXPECT_FAILS(spmd_tree_reshard(host, "P()", &placed), SPMD_ERR_ARGUMENT,
                 "the tree['b']: a block is on no mesh");
    EXPECT_FAILS(spmd_tree_device_put(host, NULL, "P()", &placed), SPMD_ERR_ARGUMENT,
                 "needs a mesh");
    EXPECT(placed == NULL);
    spmd_tree_free(&moved);
    spmd_tree_free(&host);
    spmd_mesh_free(&mesh);
}

/* Every path is the name of a data set, one write and one read for each leaf. */
static void paths_are_names_in_files(void)
{
    spmd_mesh *mesh = new_mesh("x=*");
    spmd_tree *params = new_params(mesh), *again = NULL;
    spmd_array *arrays[6];
    spmd_file *file = NULL;
    char name[64], path[64];
    snprintf(path, sizeof path, "tree-%d.h5", test_size);
    set_arange(params, "odd keys: {a}", mesh, "P(x)", SPMD_F64, SPMD_SHAPE(3));
    set_arange(params, "list/0/w", mesh, "P(x)", SPMD_F64, SPMD_SHAPE(3));
    int count = spmd_tree_nleaves(params);
    const spmd_tree *leaves[6];
    EXPECT(count == 6 && spmd_tree_flatten(params, 6, leaves) == 6);
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    for (int k = 0; k < count; k++) {
        EXPECT_OK(spmd_tree_get_array(leaves[k], "", &arrays[k]));
        spmd_tree_path(name, sizeof name, params, k);
        EXPECT_OK(spmd_dataset_write(file, name, arrays[k]));
    }
    EXPECT_OK(spmd_file_close(&file));
    for (int k = 0; k < count; k++) {
        arrays[k] = NULL;
        spmd_tree_path(name, sizeof name, params, k);
        EXPECT_OK(spmd_read(mesh, path, name, "P(x)", SPMD_DTYPE_NONE, &arrays[k]));
    }
    EXPECT_OK(spmd_tree_unflatten_arrays(params, count, arrays, &again));
    for (int k = 0; k < count; k++) {
        spmd_array_free(&arrays[k]);
        spmd_tree_path(name, sizeof name, again, k);
        EXPECT(values_are(again, name, 1, 0));
    }
    if (test_rank == 0)
        unlink(path);
    spmd_tree_free(&again);
    spmd_tree_free(&params);
    spmd_mesh_free(&mesh);
}

static void ranks_that_are_idle_take_part(void)
{
    spmd_mesh *mesh = new_mesh("x=1");
    spmd_tree *params = new_params(mesh), *out = NULL, *moved = NULL;
    EXPECT_OK(spmd_tree_reshard(params, "P(x)", &moved));
    EXPECT_OK(spmd_shard_map_tree(mesh, double_leaves, NULL, moved, "P()", &out,
                                  "{layer1: {w: P(), b: P()}, layer2: {w: P(x), b: P(x)}}", NULL));
    EXPECT(out && spmd_tree_equal(out, params));
    if (test_rank == 0)
        EXPECT(values_are(out, "layer2/w", 2, 0));
    spmd_tree_free(&moved);
    spmd_tree_free(&out);
    spmd_tree_free(&params);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("tree", CASE(params_go_through_a_shard_map), CASE(outputs_that_are_given_are_replaced),
             CASE(a_plan_runs_many_times), CASE(a_body_finds_inputs_and_outputs_by_path),
             CASE(none_matches_any_spec), CASE(a_wrong_prefix_is_told_with_its_paths),
             CASE(failures_name_the_leaf), CASE(failures_name_the_result),
             CASE(wrong_questions_are_told), CASE(wrong_trees_are_told),
             CASE(trees_that_differ_between_ranks), CASE(a_psum_of_leaves_of_different_types),
             CASE(a_vmap_in_a_body_maps_leaves), CASE(a_vmap_without_a_mesh),
             CASE(a_named_vmap_of_a_tree), CASE(a_pmap_of_a_tree), CASE(host_trees_are_placed),
             CASE(paths_are_names_in_files), CASE(ranks_that_are_idle_take_part))
