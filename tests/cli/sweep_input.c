/* sweep_input.c - writes the HDF5 file that tests/cli/sweep.sh reads: tables and data sets. */
#include <math.h>

#include <spmd.h>

/* Rows of class `row % 3`, which is easy to see. */
static spmd_status fill_images(const spmd_box *box, void *data, void *user)
{
    (void)user;
    float *out = data;
    for (int64_t i = box->lo[0]; i < box->hi[0]; i++)
        for (int64_t j = box->lo[1]; j < box->hi[1]; j++)
            *out++ = (float)(j % 3 == i % 3) + (float)(i % 7) / 50;
    return SPMD_OK;
}

static spmd_status fill_labels(const spmd_box *box, void *data, void *user)
{
    (void)user;
    int64_t *out = data;
    for (int64_t i = box->lo[0]; i < box->hi[0]; i++)
        *out++ = i % 3;
    return SPMD_OK;
}

/* (0.05 or 0.2, 8 or 16), as columns lr and width. */
static spmd_status fill_table(const spmd_box *box, void *data, void *user)
{
    (void)user;
    double *out = data;
    for (int64_t i = box->lo[0]; i < box->hi[0]; i++)
        for (int64_t j = box->lo[1]; j < box->hi[1]; j++)
            *out++ = j == 1 ? (i % 2 == 0 ? 8 : 16) : (i < 2 ? 0.05 : 0.2);
    return SPMD_OK;
}

static spmd_status write_filled(spmd_file *file, spmd_mesh *mesh, const char *name,
                                spmd_dtype dtype, spmd_shape shape, spmd_fill *fill)
{
    spmd_array *array;
    SPMD_TRY(spmd_array_from_callback(mesh, "P()", dtype, shape, fill, NULL, &array));
    spmd_status status = spmd_dataset_write(file, name, array);
    spmd_array_free(&array);
    return status;
}

static spmd_status write_nans(spmd_file *file, spmd_mesh *mesh, const char *name, spmd_shape shape)
{
    const double nan = NAN;
    spmd_array *array;
    SPMD_TRY(spmd_array_full(mesh, "P()", SPMD_F64, shape, &nan, &array));
    spmd_status status = spmd_dataset_write(file, name, array);
    spmd_array_free(&array);
    return status;
}

static spmd_status write_all(spmd_file *file, spmd_mesh *mesh)
{
    SPMD_TRY(write_filled(file, mesh, "images", SPMD_F32, SPMD_SHAPE(61, 5), fill_images));
    SPMD_TRY(write_filled(file, mesh, "labels", SPMD_I64, SPMD_SHAPE(61), fill_labels));
    SPMD_TRY(write_filled(file, mesh, "few", SPMD_I64, SPMD_SHAPE(60), fill_labels));
    SPMD_TRY(write_filled(file, mesh, "table", SPMD_F64, SPMD_SHAPE(4, 2), fill_table));
    SPMD_TRY(spmd_dataset_set_text(file, "table", "names", "lr, width"));
    SPMD_TRY(write_filled(file, mesh, "nameless", SPMD_F64, SPMD_SHAPE(4, 2), fill_table));
    SPMD_TRY(write_nans(file, mesh, "nan_images", SPMD_SHAPE(61, 5)));
    SPMD_TRY(write_nans(file, mesh, "nan_table", SPMD_SHAPE(4, 2)));
    return spmd_dataset_set_text(file, "nan_table", "names", "lr,width");
}

static spmd_status program(int argc, char **argv)
{
    spmd_mesh *mesh;
    spmd_file *file;
    if (argc != 2)
        return spmd_fail(SPMD_ERR_ARGUMENT, "use: sweep_input FILE.h5");
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    SPMD_TRY(spmd_file_create(mesh, argv[1], &file));
    SPMD_TRY(write_all(file, mesh));
    SPMD_TRY(spmd_file_close(&file));
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
