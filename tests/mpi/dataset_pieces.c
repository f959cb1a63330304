/* dataset_pieces.c - datasets that move in more than one piece, since MPI-IO takes less than 2 GiB:
 * with pieces of 40 bytes they are what they are in one.
 *
 * This test is linked with the library's layers, whose limit it can see. */
#include "harness.h"
#include "model.h"
#include "scratch.h"

extern int64_t spmd__io_piece_bytes;

static const char *const specs[] = {"P()", "P(x)", "P(-,x)", "P(-,-,x)"};
enum { SPECS = sizeof specs / sizeof *specs };

static const spmd_dataset_options layouts[] = {
    {.deflate = 0}, {.chunk = {2, 3, 2}}, {.chunk = {5, 7, 9}, .deflate = 1}, {.unlimited = true}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static void round_trip(spmd_mesh *mesh, const spmd_dataset_options *options, int written, int read)
{
    const char *path = scratch("pieces.h5");
    const spmd_shape shape = SPMD_SHAPE(5, 7, 9);
    struct model model = model_make(SPMD_F64, shape);
    spmd_hyperslab all = spmd_hyperslab_make(3, NULL, shape.dim, NULL);
    spmd_hyperslab part =
        spmd_hyperslab_make(3, (int64_t[]){1, 0, 2}, (int64_t[]){2, 7, 3}, (int64_t[]){2, 1, 3});
    spmd_file *file = NULL;
    spmd_array *whole = pattern_array(mesh, specs[written], SPMD_F64, shape), *back = NULL;
    spmd_array *slice = pattern_slice(1, mesh, specs[written], SPMD_F64, SPMD_SHAPE(2, 7, 3));
    model_write(&model, &all, 0);
    model_write(&model, &part, 1);
    EXPECT_OK(spmd_file_create(mesh, path, &file));
    EXPECT_OK(spmd_dataset_write_as(file, "v", whole, options));
    EXPECT_OK(spmd_dataset_write_hyperslab(file, "v", &part, slice));
    EXPECT_OK(spmd_file_close(&file));
    EXPECT_OK(spmd_read(mesh, path, "v", specs[read], SPMD_F64, &back));
    EXPECT(model_is_in(&model, NULL, back));
    spmd_array_free(&back);
    spmd_array_free(&slice);
    spmd_array_free(&whole);
    model_free(&model);
}

/* With pieces that end within rows, chunks, and strides. */
static void small_pieces(void)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    setenv("SPMD_IO", "hdf5", 1);
    spmd__io_piece_bytes = 40;
    for (int layout = 0; layout < LAYOUTS; layout++)
        for (int spec = 0; spec < SPECS; spec++)
            round_trip(mesh, &layouts[layout], spec, (spec + 1) % SPECS);
    spmd__io_piece_bytes = (int64_t)1 << 30;
    unsetenv("SPMD_IO");
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("dataset_pieces", CASE(small_pieces))
