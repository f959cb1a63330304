/* sweep/sweep.c - one function for many configurations: a shard_map, and in it a vmap for each
 * leading dimension of the configurations. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spmd/sweep.h>

#include "array/array.h"
#include "core/hash.h"
#include "core/mem.h"
#include "sweep/progress.h"

/* Inputs of the body: configs, the index of each row, data arrays, parameter arrays. */
enum { IN_CONFIGS, IN_INDEX, IN_DATA };
/* Outputs of the body. */
enum { OUT_METRICS, OUT_STATE, OUT_SECONDS, OUT_RANK, OUTPUTS };

struct sweep {
    spmd_mesh *mesh;
    spmd_sweep_fn *fn;
    void *user; /* of fn */
    spmd_key key;
    int ndata, nparams, nmetrics;
    spmd_sweep_options options;
    struct progress progress;
    char failure[ERROR_MESSAGE_BYTES]; /* why on_row ended the sweep, in its own words */
    /* For calls, in the order of the body's inputs. */
    int nin;
    spmd_array **in;           /* [nin] */
    const char **in_specs;     /* [nin] */
    int *in_axes;              /* [nin] of each vmap */
    const spmd_block **blocks; /* [nin] what a vmap is called with, or the row's function */
};

const char *spmd_sweep_state_name(spmd_sweep_state state)
{
    switch (state) {
#define NAME(name, text)    \
    case SPMD_SWEEP_##name: \
        return text;
        SPMD_SWEEP_STATE_MAP(NAME)
#undef NAME
    }
    return "unknown state";
}

static bool is_padding(const double config[], int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isnan(config[i]))
            return false;
    return true;
}

static bool all_finite(const double metrics[], int count)
{
    for (int m = 0; m < count; m++)
        if (!isfinite(metrics[m]))
            return false;
    return true;
}

static void list_blocks(struct sweep *sweep, spmd_ctx *ctx)
{
    for (int k = 0; k < sweep->nin; k++)
        sweep->blocks[k] = spmd_in(ctx, k);
}

/* Runs the function for one configuration; a failure of it is the row's state, not ours. */
static void run_config(struct sweep *sweep, spmd_ctx *ctx, double metrics[], spmd_sweep_row *row)
{
    const spmd_block *const *params = sweep->blocks + IN_DATA + sweep->ndata;
    list_blocks(sweep, ctx);
    double start = MPI_Wtime();
    spmd_status status = sweep->fn(sweep->blocks[IN_CONFIGS], sweep->key, sweep->blocks + IN_DATA,
                                   sweep->nparams > 0 ? params : NULL, metrics, sweep->user);
    row->seconds = MPI_Wtime() - start;
    row->message = status == SPMD_OK ? "" : spmd_error_message();
    row->state = status != SPMD_OK                      ? SPMD_SWEEP_FAILED
                 : all_finite(metrics, sweep->nmetrics) ? SPMD_SWEEP_DONE
                                                        : SPMD_SWEEP_DIVERGED;
    for (int m = 0; status != SPMD_OK && m < sweep->nmetrics; m++)
        metrics[m] = NAN;
}

static spmd_status report_row(struct sweep *sweep, const spmd_sweep_row *row)
{
    spmd_status status = SPMD_OK;
    if (sweep->options.on_row)
        status = sweep->options.on_row(row, sweep->options.user);
    if (status != SPMD_OK)
        snprintf(sweep->failure, sizeof sweep->failure, "%s", spmd_error_message());
    return status == SPMD_OK ? spmd__progress_row(&sweep->progress, row) : status;
}

/* The body where no dimension is left to map over: one configuration. */
static spmd_status run_row(struct sweep *sweep, spmd_ctx *ctx, double *metrics, int32_t *state,
                           double *seconds, int32_t *rank)
{
    const spmd_block *config = spmd_in(ctx, IN_CONFIGS);
    const int64_t *index = spmd_in(ctx, IN_INDEX)->data;
    spmd_sweep_row row = {.index = *index,
                          .config = config->data,
                          .metrics = metrics,
                          .rank = (int)sweep->mesh->position,
                          .message = ""};
    for (int m = 0; m < sweep->nmetrics; m++)
        metrics[m] = NAN;
    *rank = row.rank;
    if (is_padding(row.config, config->shape[0])) {
        *state = SPMD_SWEEP_NOT_RUN;
        return SPMD_OK;
    }
    run_config(sweep, ctx, metrics, &row);
    *state = row.state;
    *seconds = row.seconds;
    return report_row(sweep, &row);
}

/* The body: declares its outputs, maps itself over the first dimension, until none is left. */
static spmd_status run_rows(spmd_ctx *ctx, void *user)
{
    static const int out_axes[OUTPUTS] = {0};
    struct sweep *sweep = user;
    const spmd_block *configs = spmd_in(ctx, IN_CONFIGS);
    spmd_shape lead = spmd_shape_make(configs->ndim - 1, configs->shape), metrics = lead;
    metrics.dim[metrics.ndim++] = sweep->nmetrics;
    spmd_block *out[OUTPUTS] = {
        [OUT_METRICS] = spmd_out(ctx, OUT_METRICS, SPMD_F64, metrics),
        [OUT_STATE] = spmd_out(ctx, OUT_STATE, SPMD_I32, lead),
        [OUT_SECONDS] = spmd_out(ctx, OUT_SECONDS, SPMD_F64, lead),
        [OUT_RANK] = spmd_out(ctx, OUT_RANK, SPMD_I32, lead),
    };
    for (int k = 0; k < OUTPUTS; k++)
        if (!out[k])
            return SPMD_ERR_MEMORY;
    if (lead.ndim == 0)
        return run_row(sweep, ctx, out[OUT_METRICS]->data, out[OUT_STATE]->data,
                       out[OUT_SECONDS]->data, out[OUT_RANK]->data);
    list_blocks(sweep, ctx);
    return spmd_vmap(ctx, run_rows, sweep, sweep->nin, sweep->blocks, sweep->in_axes, OUTPUTS, out,
                     out_axes, NULL);
}

static int64_t count_rows(const spmd_block *configs)
{
    int64_t hyperparams = configs->shape[configs->ndim - 1], rows = 0;
    const double *config = configs->data;
    int64_t all = hyperparams > 0 ? spmd_block_size(configs) / hyperparams : 0;
    for (int64_t r = 0; r < all; r++)
        rows += !is_padding(config + r * hyperparams, hyperparams);
    return rows;
}

/* The body of the shard_map: the rows, and the news of them. */
static spmd_status run_block(spmd_ctx *ctx, void *user)
{
    struct sweep *sweep = user;
    TRY(spmd__progress_begin(&sweep->progress, sweep->mesh->control, &sweep->options,
                             count_rows(spmd_in(ctx, IN_CONFIGS))));
    spmd_status status = run_rows(ctx, sweep);
    if (status != SPMD_OK && sweep->failure[0] == '\0')
        snprintf(sweep->failure, sizeof sweep->failure, "%s", spmd_error_message());
    spmd_status end = spmd__progress_end(&sweep->progress);
    if (status == SPMD_OK)
        status = end;
    else
        spmd_fail(status, "%s", sweep->failure);
    /* The others' rows may take longer than shard_map waits for them after a failure. */
    return spmd_agree(sweep->mesh, status);
}

static spmd_status check_list(const char *what, int count, spmd_array *const arrays[])
{
    if (count < 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a sweep cannot have %d %s arrays", count, what);
    for (int k = 0; k < count; k++)
        if (!arrays || !arrays[k])
            return spmd_fail(SPMD_ERR_ARGUMENT, "%s array %d of %d is NULL", what, k, count);
    return SPMD_OK;
}

/* What can be said on every rank, idle ones too. */
static spmd_status check_given(const struct sweep *sweep, const spmd_array *configs,
                               spmd_array *const data[], spmd_array *const params[])
{
    if (!sweep->fn || !configs)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a sweep needs a function and configs, the %s NULL",
                         sweep->fn ? "configs are" : "function is");
    if (sweep->nmetrics < 1 || sweep->options.objective < 0 ||
        sweep->options.objective >= sweep->nmetrics)
        return spmd_fail(SPMD_ERR_ARGUMENT, "metric %d cannot be compared by: there are %d",
                         sweep->options.objective, sweep->nmetrics);
    TRY(check_list("data", sweep->ndata, data));
    return check_list("parameter", sweep->nparams, params);
}

/* What members know: types and shapes. */
static spmd_status check_types(const struct sweep *sweep, const spmd_array *configs,
                               spmd_array *const params[])
{
    int lead = configs->shape.ndim - 1;
    if (configs->dtype != SPMD_F64)
        return spmd_fail(SPMD_ERR_DTYPE, "configs are f64, not %s",
                         spmd_dtype_name(configs->dtype));
    if (lead < 1)
        return spmd_fail(SPMD_ERR_SHAPE,
                         "configs have %d dimension%s: f64[n, hyperparams] or f64[devices, "
                         "batches, hyperparams] is needed",
                         configs->shape.ndim, configs->shape.ndim == 1 ? "" : "s");
    for (int p = 0; p < sweep->nparams; p++)
        for (int d = 0; d < lead; d++)
            if (params[p]->shape.ndim < lead || params[p]->shape.dim[d] != configs->shape.dim[d])
                return spmd_fail(SPMD_ERR_SHAPE,
                                 "parameter array %d must begin with the %d leading dimension%s of "
                                 "configs: dim %d is to be %lld",
                                 p, lead, lead == 1 ? "" : "s", d,
                                 (long long)configs->shape.dim[d]);
    return SPMD_OK;
}

/* "P((x,y))": dimension 0 along all axes. */
static void print_row_spec(char *buffer, size_t size, const spmd_mesh *mesh)
{
    struct text text = spmd__text_begin(buffer, size);
    struct axis_list all = spmd__axis_list_of_mask(spmd__axes_mask(&mesh->axes));
    spmd__text_add(&text, "P(");
    spmd__axis_list_print(&text, &mesh->axes, &all);
    spmd__text_add(&text, ")");
}

static spmd_status list_inputs(struct sweep *sweep, spmd_array *configs, spmd_array *index,
                               spmd_array *const data[], spmd_array *const params[],
                               const char *row_spec)
{
    size_t nin = (size_t)(sweep->nin = IN_DATA + sweep->ndata + sweep->nparams);
    TRY(spmd__alloc(nin, sizeof *sweep->in, &sweep->in));
    TRY(spmd__alloc(nin, sizeof *sweep->in_specs, &sweep->in_specs));
    TRY(spmd__alloc(nin, sizeof *sweep->in_axes, &sweep->in_axes));
    TRY(spmd__alloc(nin, sizeof *sweep->blocks, &sweep->blocks));
    for (int k = 0; k < sweep->nin; k++) {
        bool is_data = k >= IN_DATA && k < IN_DATA + sweep->ndata;
        sweep->in[k] = k == IN_CONFIGS ? configs
                       : k == IN_INDEX ? index
                       : is_data       ? data[k - IN_DATA]
                                       : params[k - IN_DATA - sweep->ndata];
        sweep->in_specs[k] = is_data ? "P()" : row_spec;
        sweep->in_axes[k] = is_data ? SPMD_NOT_MAPPED : 0;
    }
    return SPMD_OK;
}

static spmd_status run_sweep(struct sweep *sweep, spmd_array *configs, spmd_array *const data[],
                             spmd_array *const params[], spmd_array *out[])
{
    char row_spec[SPMD_MAX_AXES * (SPMD_MAX_NAME + 1) + 8];
    spmd_array *index = NULL;
    spmd_shape lead = configs->shape;
    lead.ndim -= lead.ndim > 0; /* idle ranks may not know it */
    print_row_spec(row_spec, sizeof row_spec, sweep->mesh);
    TRY(spmd_array_arange(sweep->mesh, row_spec, SPMD_I64, lead, &index));
    spmd_status status =
        spmd_agree(sweep->mesh, list_inputs(sweep, configs, index, data, params, row_spec));
    if (status == SPMD_OK)
        status =
            spmd_shard_map(sweep->mesh, run_block, sweep, sweep->nin, sweep->in, sweep->in_specs,
                           OUTPUTS, out, SPMD_SPECS(row_spec, row_spec, row_spec, row_spec), NULL);
    free(sweep->in);
    free(sweep->in_specs);
    free(sweep->in_axes);
    free(sweep->blocks);
    spmd_array_free(&index);
    return status;
}

static uint64_t digest(const struct sweep *sweep)
{
    int counts[] = {sweep->ndata, sweep->nparams, sweep->nmetrics, sweep->options.objective,
                    sweep->options.minimize};
    return spmd__hash(spmd__hash(0, &sweep->key, sizeof sweep->key), counts, sizeof counts);
}

spmd_status spmd_sweep(spmd_mesh *mesh, spmd_sweep_fn *fn, void *user, spmd_array *configs,
                       spmd_key key, int ndata, spmd_array *const data[], int nparams,
                       spmd_array *const params[], int nmetrics, const spmd_sweep_options *options,
                       spmd_sweep_result *result)
{
    struct sweep sweep = {.mesh = mesh,
                          .fn = fn,
                          .user = user,
                          .key = key,
                          .ndata = ndata,
                          .nparams = nparams,
                          .nmetrics = nmetrics};
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a sweep needs a mesh, this is NULL");
    if (options)
        sweep.options = *options;
    spmd_status status = check_given(&sweep, configs, data, params);
    if (status == SPMD_OK && !result)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "a sweep needs a place for its result, it is NULL");
    if (status == SPMD_OK && spmd__mesh_is_member(mesh))
        status = check_types(&sweep, configs, params);
    TRY(spmd__mesh_agree(mesh, status, digest(&sweep)));
    spmd_array *out[OUTPUTS] = {NULL};
    TRY(run_sweep(&sweep, configs, data, params, out));
    *result = (spmd_sweep_result){.metrics = out[OUT_METRICS],
                                  .state = out[OUT_STATE],
                                  .seconds = out[OUT_SECONDS],
                                  .rank = out[OUT_RANK]};
    return SPMD_OK;
}

void spmd_sweep_result_free(spmd_sweep_result *result)
{
    spmd_array_free(&result->metrics);
    spmd_array_free(&result->state);
    spmd_array_free(&result->seconds);
    spmd_array_free(&result->rank);
}
