/* 20_checkpoint.c - how do I save my arrays, and get them back on other ranks?
 *
 * A checkpoint is a tree in an HDF5 file, which has the values and not where they lay. So it is
 * restored on any mesh, as the specs say that are given then. It takes its place when it is whole
 * and checked; the last three are kept.
 *
 *     mpicc 20_checkpoint.c $(pkg-config --cflags --libs spmd) -o checkpoint
 *     mpirun -n 4 ./checkpoint        # on any number of ranks the same numbers
 */
#include <spmd.h>

/* The state after a step: parameters, a key, the step. */
static spmd_status make_state(spmd_mesh *mesh, int64_t step, spmd_tree **state)
{
    float value = (float)step;
    spmd_array *w, *b;
    SPMD_TRY(spmd_array_full(mesh, "P(rows)", SPMD_F32, SPMD_SHAPE(5, 3), &value, &w));
    SPMD_TRY(spmd_array_arange(mesh, "P()", SPMD_F32, SPMD_SHAPE(3), &b));
    SPMD_TRY(spmd_tree_create(state));
    SPMD_TRY(spmd_tree_set_array(*state, "params/w", w)); /* the tree holds it, too */
    SPMD_TRY(spmd_tree_set_array(*state, "params/b", b));
    SPMD_TRY(spmd_tree_set_key(*state, "key", spmd_key_create(42)));
    SPMD_TRY(spmd_tree_set_integer(*state, "step", step));
    spmd_array_free(&b), spmd_array_free(&w);
    return SPMD_OK;
}

static spmd_status save(void)
{
    spmd_mesh *mesh;
    spmd_tree *state;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "rows=*", &mesh));
    for (int64_t step = 100; step <= 500; step += 100) {
        SPMD_TRY(make_state(mesh, step, &state));
        SPMD_TRY(spmd_checkpoint_save(mesh, "run", step, state, 3));
        spmd_tree_free(&state);
    }
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

static spmd_status restore(void)
{
    const char *specs = "{params: {w: P(-,columns), b: P(columns)}, key: P(), step: P()}";
    spmd_mesh *mesh;
    spmd_tree *state;
    spmd_array *w;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "columns=*", &mesh));
    SPMD_TRY(spmd_checkpoint_restore(mesh, "run", SPMD_LATEST, specs, &state));
    if (spmd_mesh_position(mesh) == 0)
        SPMD_TRY(spmd_tree_print(state, stdout));
    SPMD_TRY(spmd_tree_get_array(state, "params/w", &w));
    SPMD_TRY(spmd_array_print(w, stdout));
    spmd_tree_free(&state), spmd_mesh_free(&mesh);
    return SPMD_OK;
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    SPMD_TRY(save());
    return restore();
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
