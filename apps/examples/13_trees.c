/* 13_trees.c - how do I pass a model's parameters?
 *
 * As they are: a tree of dicts and lists, with arrays for leaves. Specs and axes are trees too, of
 * which one entry may stand for all below. The hidden units of this net are split along "model".
 *
 *     mpicc 13_trees.c $(pkg-config --cflags --libs spmd) -o trees && mpirun -n 4 ./trees
 */
#include <spmd.h>

enum { ROWS = 6, INPUTS = 3, HIDDEN = 4, OUTPUTS = 2 };

/* One row, through the hidden units that this rank has. */
static spmd_status row(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *w1 = spmd_in_at(ctx, "params/layer1/w");
    const double *b = spmd_in_at(ctx, "params/layer1/b")->data, *w = w1->data;
    const double *x = spmd_in_at(ctx, "x")->data, *w2 = spmd_in_at(ctx, "params/layer2/w")->data;
    double *y = spmd_out_at(ctx, "y", SPMD_F64, SPMD_SHAPE(OUTPUTS))->data;
    for (int64_t h = 0; h < w1->shape[1]; h++) {
        double unit = b[h];
        for (int i = 0; i < INPUTS; i++)
            unit += x[i] * w[i * w1->shape[1] + h];
        for (int o = 0; o < OUTPUTS && unit > 0; o++)
            y[o] += unit * w2[h * OUTPUTS + o];
    }
    return SPMD_OK;
}

/* All rows of this rank; then what the hidden units of others add to them. */
static spmd_status net(spmd_ctx *ctx, void *user)
{
    const spmd_block *part;
    spmd_tree *out = NULL;
    SPMD_TRY(spmd_vmap_tree(ctx, row, user, spmd_in_tree(ctx), "{params: None, x: 0}", &out,
                            "{y: 0}", NULL));
    SPMD_TRY(spmd_tree_get_block(out, "y", &part));
    spmd_block *y = spmd_out_at(ctx, "y", SPMD_F64, spmd_block_shape(part));
    spmd_tree_free(&out);
    return spmd_psum(ctx, part, "model", y);
}

static spmd_status set(spmd_tree *tree, const char *path, spmd_mesh *mesh, spmd_shape shape)
{
    spmd_array *array;
    SPMD_TRY(spmd_array_arange(mesh, "P()", SPMD_F64, shape, &array));
    SPMD_TRY(spmd_tree_set_array(tree, path, array)); /* the tree holds it, too */
    spmd_array_free(&array);
    return SPMD_OK;
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    const char *specs = "{params: {layer1: {w: P(-,model), b: P(model)}, layer2: P(model)},"
                        " x: P(data)}";
    spmd_mesh *mesh;
    spmd_tree *in, *placed, *out = NULL;
    spmd_array *y;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "data=*,model=2", &mesh));
    SPMD_TRY(spmd_tree_create(&in));
    SPMD_TRY(set(in, "params/layer1/w", mesh, SPMD_SHAPE(INPUTS, HIDDEN)));
    SPMD_TRY(set(in, "params/layer1/b", mesh, SPMD_SHAPE(HIDDEN)));
    SPMD_TRY(set(in, "params/layer2/w", mesh, SPMD_SHAPE(HIDDEN, OUTPUTS)));
    SPMD_TRY(set(in, "x", mesh, SPMD_SHAPE(ROWS, INPUTS)));
    SPMD_TRY(spmd_tree_reshard(in, specs, &placed));
    if (spmd_mesh_position(mesh) == 0)
        SPMD_TRY(spmd_tree_print(placed, stdout));
    SPMD_TRY(spmd_shard_map_tree(mesh, net, NULL, placed, specs, &out, "{y: P(data)}", NULL));
    SPMD_TRY(spmd_tree_get_array(out, "y", &y));
    SPMD_TRY(spmd_array_print(y, stdout));
    spmd_tree_free(&out), spmd_tree_free(&placed), spmd_tree_free(&in), spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
