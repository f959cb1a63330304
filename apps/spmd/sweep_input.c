/* sweep_input.c - what a sweep is asked for: its data set and its configurations. */
#include "sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "digits.h"

/* The data set. */

static const char digits_name[] = "digits (built in)";

static spmd_status open_data(struct sweep *sweep, spmd_file **file)
{
    const char *path = sweep->options->data;
    if (path == NULL)
        return spmd_file_open_image(sweep->mesh, spmd_digits, spmd_digits_size, digits_name, file);
    return spmd_file_open(sweep->mesh, path, file);
}

static bool is_number(spmd_dtype dtype)
{
    return dtype != SPMD_BOOL && dtype != SPMD_C64 && dtype != SPMD_C128;
}

static bool is_whole(spmd_dtype dtype)
{
    switch (dtype) {
    case SPMD_I8:
    case SPMD_I16:
    case SPMD_I32:
    case SPMD_I64:
    case SPMD_U8:
    case SPMD_U16:
    case SPMD_U32:
    case SPMD_U64:
        return true;
    default:
        return false;
    }
}

static spmd_status check_datasets(struct sweep *sweep, spmd_file *file)
{
    const struct sweep_options *options = sweep->options;
    const char *source = sweep->fields[SWEEP_FIELD_SOURCE].value;
    spmd_dtype dtype;
    spmd_shape shape;
    SPMD_TRY(spmd_dataset_info(file, options->x, &dtype, &shape));
    if (shape.ndim != 2 || !is_number(dtype))
        return spmd_fail(SPMD_ERR_SHAPE,
                         "%s: dataset %s is %d-d of %s, but training takes numbers "
                         "[n, features], 2-d",
                         source, options->x, shape.ndim, spmd_dtype_name(dtype));
    SPMD_TRY(spmd_dataset_info(file, options->y, &dtype, &shape));
    if (shape.ndim != 1 || !is_whole(dtype))
        return spmd_fail(SPMD_ERR_SHAPE,
                         "%s: dataset %s is %d-d of %s, but labels are whole numbers [n], 1-d",
                         source, options->y, shape.ndim, spmd_dtype_name(dtype));
    return SPMD_OK;
}

static uint64_t digest_array(uint64_t digest, const spmd_array *array)
{
    const spmd_block *block = spmd_array_block(array);
    size_t bytes = (size_t)spmd_block_size(block) * spmd_dtype_size(block->dtype);
    digest = journal_digest(digest, block->shape, (size_t)block->ndim * sizeof block->shape[0]);
    return journal_digest(digest, block->data, bytes);
}

static void describe_data(struct sweep *sweep, const spmd_array *x, const spmd_array *y)
{
    struct journal_field *field = &sweep->fields[SWEEP_FIELD_DATA];
    spmd_shape shape = spmd_array_shape(x);
    uint64_t digest = digest_array(digest_array(JOURNAL_DIGEST, x), y);
    snprintf(field->value, sizeof field->value, "%lldx%lld with digest %016" PRIx64,
             (long long)shape.dim[0], (long long)shape.dim[1], digest);
}

static spmd_status read_datasets(struct sweep *sweep, spmd_file *file)
{
    SPMD_TRY(check_datasets(sweep, file));
    spmd_array *x = NULL, *y = NULL;
    spmd_status status = spmd_dataset_read(file, sweep->options->x, "P()", SPMD_F32, &x);
    if (status == SPMD_OK)
        status = spmd_dataset_read(file, sweep->options->y, "P()", SPMD_I32, &y);
    if (status == SPMD_OK)
        status = mlp_split(sweep->mesh, x, y, sweep->keys[SWEEP_KEY_SPLIT], sweep->data);
    if (status == SPMD_OK)
        describe_data(sweep, x, y);
    spmd_array_free(&x);
    spmd_array_free(&y);
    return status;
}

static spmd_status read_data(struct sweep *sweep)
{
    spmd_file *file;
    SPMD_TRY(open_data(sweep, &file));
    spmd_status status = read_datasets(sweep, file);
    if (status != SPMD_OK) {
        spmd_file_discard(&file);
        return status;
    }
    return spmd_file_close(&file);
}

/* A table of configurations. */

static spmd_status slurp(const char *path, char **text, int64_t *size)
{
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        return spmd_fail(SPMD_ERR_FILE, "cannot open %s: %s", path, strerror(errno));
    size_t room = 0;
    ssize_t got = getdelim(text, &room, '\0', stream);
    bool well = got >= 0 || (feof(stream) && !ferror(stream));
    *size = got > 0 ? got : 0;
    spmd_status status = SPMD_OK;
    if (!well)
        status = spmd_fail(SPMD_ERR_FILE, "cannot read %s: %s", path, strerror(errno));
    else if (*size > INT32_MAX)
        status = spmd_fail(SPMD_ERR_FILE, "%s is larger than 2 GiB", path);
    fclose(stream);
    return status;
}

/* Position 0 reads a file for all. */
static spmd_status read_text(struct sweep *sweep, const char *path, char **text)
{
    char *new = NULL;
    int64_t size = 0;
    spmd_status status = sweep_follow_root(sweep, sweep->root ? slurp(path, &new, &size) : SPMD_OK);
    if (status == SPMD_OK) {
        MPI_Bcast(&size, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        char *room = realloc(new, (size_t)size + 1);
        if (room == NULL)
            status = spmd_fail(SPMD_ERR_MEMORY, "no memory for %s", path);
        else
            new = room;
        status = spmd_agree(sweep->mesh, status);
    }
    if (status != SPMD_OK) {
        free(new);
        return status;
    }
    MPI_Bcast(new, (int)size, MPI_CHAR, 0, MPI_COMM_WORLD);
    new[size] = '\0';
    *text = new;
    return SPMD_OK;
}

static spmd_status read_csv_table(struct sweep *sweep, const char *path, struct space *space)
{
    char *text;
    SPMD_TRY(read_text(sweep, path, &text));
    spmd_status status = space_from_csv(text, path, space);
    free(text);
    return spmd_agree(sweep->mesh, status);
}

/* An array of configurations in an open file. */
static spmd_status read_dataset_table(spmd_file *file, const char *dataset, const char *name,
                                      struct space *space)
{
    spmd_array *array;
    char *names;
    SPMD_TRY(spmd_dataset_get_text(file, dataset, "names", &names));
    if (names == NULL)
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
    spmd_status status = path != NULL ? SPMD_OK : spmd_fail(SPMD_ERR_MEMORY, "out of memory");
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
static spmd_status read_table(struct sweep *sweep, struct space *space)
{
    const char *name = sweep->options->table, *colon = strrchr(name, ':');
    size_t length = strlen(name);
    bool csv = colon == NULL || (length > 4 && strcmp(name + length - 4, ".csv") == 0);
    return csv ? read_csv_table(sweep, name, space) : read_hdf5_table(sweep, name, colon, space);
}

/* The space. */

static spmd_status make_space(struct sweep *sweep)
{
    const struct sweep_options *options = sweep->options;
    struct space table = {0};
    if (options->table != NULL)
        SPMD_TRY(read_table(sweep, &table));
    spmd_status status = options->sample > 0
                             ? space_sample(options->sample, sweep->keys[SWEEP_KEY_SAMPLE],
                                            options->nranges, options->ranges, &sweep->space)
                             : space_grid(options->table != NULL ? &table : NULL, options->nranges,
                                          options->ranges, &sweep->space);
    space_free(&table);
    if (status == SPMD_OK)
        status = mlp_bind(sweep->space.ncolumns, sweep->space.names, &sweep->mlp);
    return spmd_agree(sweep->mesh, status);
}

/* What a configuration is, in whatever order and with whatever defaults it was asked for. */
static uint64_t identify(const struct mlp *mlp, const double *config)
{
    double values[MLP_NHYPERS];
    mlp_resolve(mlp, config, values);
    uint64_t digest = JOURNAL_DIGEST;
    for (int h = 0; h < MLP_NHYPERS; h++) {
        digest = journal_digest(digest, mlp_hypers[h].name, strlen(mlp_hypers[h].name) + 1);
        digest = journal_digest(digest, &values[h], sizeof values[h]);
    }
    return digest;
}

static spmd_status remove_repeats(struct sweep *sweep)
{
    struct space *space = &sweep->space;
    int64_t before = space->nrows;
    sweep->ids = malloc(((size_t)before + 1) * sizeof *sweep->ids);
    if (sweep->ids == NULL)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for %lld configurations", (long long)before);
    for (int64_t i = 0; i < before; i++)
        sweep->ids[i] = identify(&sweep->mlp, space_row(space, i));
    SPMD_TRY(space_unique(space, sweep->ids));
    if (space->nrows < before)
        cmd_note("%lld of %lld configurations stood there before and are left out",
                 (long long)(before - space->nrows), (long long)before);
    return SPMD_OK;
}

static void describe(struct sweep *sweep)
{
    static const char *const keys[SWEEP_NFIELDS] = {
        [SWEEP_FIELD_TRAINER] = "trainer",   [SWEEP_FIELD_SEED] = "seed",
        [SWEEP_FIELD_DATA] = "data",         [SWEEP_FIELD_SOURCE] = "source",
        [SWEEP_FIELD_DEFAULTS] = "defaults", [SWEEP_FIELD_PROGRAM] = "program",
    };
    struct journal_field *fields = sweep->fields;
    const size_t size = sizeof fields[0].value;
    for (int i = 0; i < SWEEP_NFIELDS; i++)
        fields[i].key = keys[i];
    snprintf(fields[SWEEP_FIELD_TRAINER].value, size, "mlp");
    snprintf(fields[SWEEP_FIELD_SEED].value, size, "%" PRIu64, sweep->options->seed);
    snprintf(fields[SWEEP_FIELD_SOURCE].value, size, "%s",
             sweep->options->data != NULL ? sweep->options->data : digits_name);
    snprintf(fields[SWEEP_FIELD_PROGRAM].value, size, "spmd %s", SPMD_VERSION);
    char *defaults = fields[SWEEP_FIELD_DEFAULTS].value;
    for (size_t h = 0, used = 0; h < MLP_NHYPERS && used < size; h++)
        used += (size_t)snprintf(defaults + used, size - used, "%s%s=%g", h > 0 ? "," : "",
                                 mlp_hypers[h].name, mlp_hypers[h].fallback);
}

spmd_status sweep_read_input(struct sweep *sweep)
{
    spmd_key_split(spmd_key_create(sweep->options->seed), SWEEP_NKEYS, sweep->keys);
    describe(sweep);
    SPMD_TRY(make_space(sweep));
    SPMD_TRY(read_data(sweep));
    SPMD_TRY(spmd_agree(sweep->mesh, remove_repeats(sweep)));
    sweep->form = (struct table_form){
        .space = &sweep->space, .nmetrics = MLP_NMETRICS, .objective = sweep->options->objective};
    sweep->form.minimize = mlp_metrics[sweep->form.objective].minimize;
    for (int m = 0; m < MLP_NMETRICS; m++)
        sweep->form.metrics[m] = mlp_metrics[m].name;
    return SPMD_OK;
}
