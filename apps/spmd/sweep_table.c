/* sweep_table.c - configurations from a file: CSV, or a dataset of HDF5. */
#include "sweep.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "file.h"
#include "plural.h"

static spmd_status read_text(const char *path, char **text, int *size)
{
    size_t length;
    char *new;
    SPMD_TRY(file_read(path, &new, &length));
    spmd_status status = SPMD_OK;
    if (length >= INT_MAX)
        status = spmd_fail(SPMD_ERR_FILE, "%s is larger than 2 GiB", path);
    else if (strlen(new) < length)
        status =
            spmd_fail(SPMD_ERR_FILE,
                      "%s has a NUL byte: it is no CSV file; of an HDF5 file, name the dataset: "
                      "FILE.h5:DATASET",
                      path);
    if (status != SPMD_OK) {
        free(new);
        return status;
    }
    *text = new;
    *size = (int)length + 1; /* with the zero behind it */
    return SPMD_OK;
}

/* Position 0 reads a file for all. */
static spmd_status share_text(struct sweep *sweep, const char *path, char **text)
{
    char *new = NULL;
    int size = 0;
    SPMD_TRY(sweep_follow_root(sweep->root ? read_text(path, &new, &size) : SPMD_OK));
    MPI_Bcast(&size, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!sweep->root)
        new = malloc((size_t)size);
    spmd_status status = spmd_agree(
        sweep->mesh, new ? SPMD_OK : spmd_fail(SPMD_ERR_MEMORY, "no memory for %s", path));
    if (status != SPMD_OK) {
        free(new);
        return status;
    }
    MPI_Bcast(new, size, MPI_CHAR, 0, MPI_COMM_WORLD);
    *text = new;
    return SPMD_OK;
}

static spmd_status read_csv_table(struct sweep *sweep, const char *path, struct space *space)
{
    char *text = NULL;
    int nresults = 0;
    SPMD_TRY(share_text(sweep, path, &text));
    spmd_status status =
        space_from_csv(text, path, table_csv_is_result, &sweep->form, &nresults, space);
    free(text);
    SPMD_TRY(spmd_agree(sweep->mesh, status));
    if (nresults > 0)
        cmd_note("%s: %d column%s of a sweep's results %s left out", path, nresults,
                 plural(nresults), nresults == 1 ? "is" : "are");
    return SPMD_OK;
}

/* An array of configurations in an open file. */
static spmd_status read_dataset_table(spmd_file *file, const char *dataset, const char *name,
                                      struct space *space)
{
    spmd_array *array;
    char *names;
    SPMD_TRY(spmd_dataset_get_text(file, dataset, "names", &names));
    if (!names)
        return spmd_fail(SPMD_ERR_FILE,
                         "%s has no attribute \"names\" that names its columns (lr,width)", name);
    spmd_status status = spmd_dataset_read(file, dataset, "P()", SPMD_F64, &array);
    if (status == SPMD_OK) {
        const spmd_block *block = spmd_array_block(array);
        if (block->ndim == 2)
            status = space_from_values(names, block->shape[0], block->shape[1], block->data, name,
                                       space);
        else
            status = spmd_fail(SPMD_ERR_SHAPE, "%s is %d-d: a table is 2-d", name, block->ndim);
        spmd_array_free(&array);
    }
    free(names);
    return status;
}

static spmd_status read_hdf5_table(struct sweep *sweep, const char *name, const char *colon,
                                   struct space *space)
{
    char *path = strndup(name, (size_t)(colon - name));
    spmd_status status = path ? SPMD_OK : spmd_fail(SPMD_ERR_MEMORY, "out of memory");
    status = spmd_agree(sweep->mesh, status);
    spmd_file *file = NULL;
    if (status == SPMD_OK)
        status = spmd_file_open(sweep->mesh, path, &file);
    if (status == SPMD_OK) {
        status = spmd_agree(sweep->mesh, read_dataset_table(file, colon + 1, name, space));
        spmd_file_discard(&file);
    }
    free(path);
    return status;
}

/* FILE.h5:DATASET, or a CSV file, whose name may have a colon as well. */
spmd_status sweep_read_table(struct sweep *sweep, struct space *space)
{
    const char *name = sweep->options->table, *colon = strrchr(name, ':');
    size_t length = strlen(name);
    bool csv = !colon || (length > 4 && strcmp(name + length - 4, ".csv") == 0);
    return csv ? read_csv_table(sweep, name, space) : read_hdf5_table(sweep, name, colon, space);
}
