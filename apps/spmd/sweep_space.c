/* sweep_space.c - the configurations of a sweep, each one once. */
#include "sweep.h"

#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "digest.h"

static spmd_status combine(struct sweep *sweep)
{
    const struct sweep_options *options = sweep->options;
    struct space table = {0};
    if (options->table)
        SPMD_TRY(sweep_read_table(sweep, &table));
    spmd_status status = options->sample > 0
                             ? space_sample(options->sample, sweep->keys[SWEEP_KEY_SAMPLE],
                                            options->nranges, options->ranges, &sweep->space)
                             : space_grid(options->table ? &table : NULL, options->nranges,
                                          options->ranges, &sweep->space);
    space_free(&table);
    if (status == SPMD_OK)
        status = mlp_bind(sweep->space.ncolumns, sweep->space.names, &sweep->columns);
    return spmd_agree(sweep->mesh, status);
}

/* What a configuration is, in whatever order and with whatever defaults it was asked for. */
static uint64_t identify(const struct mlp_columns *columns, const double *config)
{
    double values[MLP_NHYPERS];
    mlp_resolve(columns, config, values);
    uint64_t digest = DIGEST_EMPTY;
    for (int h = 0; h < MLP_NHYPERS; h++) {
        digest = digest_add(digest, mlp_hypers[h].name, strlen(mlp_hypers[h].name) + 1);
        digest = digest_add(digest, &values[h], sizeof values[h]);
    }
    return digest;
}

static spmd_status remove_repeats(struct sweep *sweep)
{
    struct space *space = &sweep->space;
    int64_t before = space->nrows;
    sweep->ids = malloc(((size_t)before + 1) * sizeof *sweep->ids);
    if (!sweep->ids)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for %lld configurations", (long long)before);
    for (int64_t i = 0; i < before; i++)
        sweep->ids[i] = identify(&sweep->columns, space_row(space, i));
    SPMD_TRY(space_unique(space, sweep->ids));
    if (space->nrows < before)
        cmd_note("%lld of %lld configurations stood there before: left out",
                 (long long)(before - space->nrows), (long long)before);
    return SPMD_OK;
}

spmd_status sweep_make_space(struct sweep *sweep)
{
    SPMD_TRY(combine(sweep));
    SPMD_TRY(spmd_agree(sweep->mesh, remove_repeats(sweep)));
    space_find_fixed(&sweep->space);
    return SPMD_OK;
}
