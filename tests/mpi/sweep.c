/* sweep.c - MPI tests of sweeps: every configuration once, wherever; states, hooks, failures. */
#include <math.h>
#include <stdlib.h>

#include "meshes.h"

enum { HYPERPARAMS = 3, METRICS = 2, MAX_ROWS = 64 };

/* What the first hyperparameter of a row asks for. */
enum { FAILS = 100, DIVERGES = 200, EXPLODES = 300, PADDING = 400, HALF_NAN = 500 };

static const spmd_key key = {{17, 4}};

/* Metric 0: a random number of the row plus the sum of the data; metric 1: what the parameters and
 * the other hyperparameters make. The order of additions is fixed. */
static spmd_status train(const spmd_block *config, spmd_key root, const spmd_block *const data[],
                         const spmd_block *const params[], double metrics[], void *user)
{
    const double *hyper = config->data;
    const int ndata = ((const int *)user)[0], nparams = ((const int *)user)[1];
    EXPECT(config->dtype == SPMD_F64 && config->ndim == 1 && config->shape[0] == HYPERPARAMS);
    EXPECT(isnan(metrics[0]) && isnan(metrics[1]));
    EXPECT((params != NULL) == (nparams > 0));
    spmd_key mine = spmd_key_fold_in(root, isnan(hyper[0]) ? 9 : (uint32_t)hyper[0]);
    SPMD_TRY(spmd_random_uniform(mine, SPMD_F64, SPMD_SCALAR, NULL, 0, 1, &metrics[0]));
    for (int k = 0; k < ndata; k++)
        for (int64_t i = 0; i < spmd_block_size(data[k]); i++)
            metrics[0] += 0.1 * ((const float *)data[k]->data)[i];
    metrics[1] = hyper[1] / 3 + hyper[2];
    for (int k = 0; k < nparams; k++)
        for (int64_t i = 0; i < spmd_block_size(params[k]); i++)
            metrics[1] += 0.1 * ((const float *)params[k]->data)[i];
    if (hyper[0] == FAILS)
        return spmd_fail(SPMD_ERR_BODY, "cannot train row %g", hyper[1]);
    if (hyper[0] == DIVERGES || hyper[0] == EXPLODES)
        metrics[1] = hyper[0] == DIVERGES ? NAN : -HUGE_VAL;
    return SPMD_OK;
}

/* The first hyperparameter of row `row`: most are ordinary. */
static double kind_of(int64_t row)
{
    switch (row % 11) {
    case 2:
        return PADDING;
    case 3:
        return FAILS;
    case 5:
        return DIVERGES;
    case 6:
        return EXPLODES;
    case 8:
        return HALF_NAN;
    default:
        return (double)row;
    }
}

static void write_config(int64_t row, double config[])
{
    double kind = kind_of(row);
    config[0] = kind == PADDING || kind == HALF_NAN ? NAN : kind;
    config[1] = kind == PADDING ? NAN : (double)row;
    config[2] = kind == PADDING ? NAN : 0.7 * (double)(row * row % 7);
}

static bool is_padding(int64_t row)
{
    return kind_of(row) == PADDING;
}

/* Elements along the last dimension of configs make a row; the others count rows. */
static spmd_status fill_configs(const spmd_box *box, void *data, void *user)
{
    spmd_shape shape = *(const spmd_shape *)user;
    double *at = data;
    bool batches = shape.ndim == 3;
    for (int64_t i = box->lo[0]; i < box->hi[0]; i++)
        for (int64_t j = batches ? box->lo[1] : 0; j < (batches ? box->hi[1] : 1); j++) {
            double config[HYPERPARAMS];
            write_config(batches ? i * shape.dim[1] + j : i, config);
            for (int64_t h = box->lo[box->ndim - 1]; h < box->hi[box->ndim - 1]; h++)
                *at++ = config[h];
        }
    return SPMD_OK;
}

static spmd_array *make_configs(spmd_mesh *mesh, const char *spec, spmd_shape shape)
{
    spmd_array *configs = NULL;
    EXPECT_OK(
        spmd_array_from_callback(mesh, spec, SPMD_F64, shape, fill_configs, &shape, &configs));
    return configs;
}

/* A sweep with its inputs. */
struct setting {
    spmd_mesh *mesh;
    spmd_shape shape; /* of configs */
    int64_t rows;
    int counts[2]; /* of data and parameters, for the function */
    spmd_array *configs, *data[2], *params[2];
    spmd_sweep_result result;
};

/* `rest` behind the leading dimensions of configs. */
static spmd_shape behind(spmd_shape configs, int nrest, const int64_t rest[])
{
    configs.ndim--;
    for (int d = 0; d < nrest; d++)
        configs.dim[configs.ndim++] = rest[d];
    return configs;
}

/* Data and parameters lie in many ways; all count, in f32. */
static struct setting set(spmd_mesh *mesh, const char *spec, spmd_shape shape, int ndata,
                          int nparams)
{
    struct setting setting = {.mesh = mesh, .shape = shape, .counts = {ndata, nparams}};
    setting.rows = spmd_shape_size(shape) / HYPERPARAMS;
    setting.configs = make_configs(mesh, spec, shape);
    if (ndata > 0) {
        EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(9), &setting.data[0]));
        EXPECT_OK(spmd_array_arange(mesh, "P()", SPMD_F32, SPMD_SHAPE(2, 5), &setting.data[1]));
    }
    if (nparams > 0) {
        EXPECT_OK(spmd_array_arange(mesh, "P()", SPMD_F32, behind(shape, 2, (int64_t[]){2, 3}),
                                    &setting.params[0]));
        EXPECT_OK(
            spmd_array_arange(mesh, "P(x)", SPMD_F32, behind(shape, 0, NULL), &setting.params[1]));
    }
    return setting;
}

static spmd_status sweep(struct setting *setting, const spmd_sweep_options *options)
{
    return spmd_sweep(setting->mesh, train, setting->counts, setting->configs, key,
                      setting->counts[0], setting->data, setting->counts[1], setting->params,
                      METRICS, options, &setting->result);
}

static void unset(struct setting *setting)
{
    spmd_array_free(&setting->configs);
    for (int k = 0; k < 2; k++) {
        spmd_array_free(&setting->data[k]);
        spmd_array_free(&setting->params[k]);
    }
    spmd_sweep_result_free(&setting->result);
}

/* What is to become of a row. */
struct expected {
    double metrics[METRICS];
    spmd_sweep_state state;
};

/* The function called by hand, without a mesh. */
static struct expected run_alone(const struct setting *setting, int64_t row)
{
    struct expected expected = {{NAN, NAN}, SPMD_SWEEP_NOT_RUN};
    float counted[24], own[6], last = (float)row;
    double config[HYPERPARAMS];
    int counts[2] = {setting->counts[0], setting->counts[1]};
    for (int i = 0; i < 24; i++)
        counted[i] = (float)i;
    for (int i = 0; i < 6; i++)
        own[i] = (float)(6 * row + i);
    write_config(row, config);
    spmd_block block = spmd_block_borrow(config, SPMD_F64, SPMD_SHAPE(HYPERPARAMS));
    spmd_block data[] = {spmd_block_borrow(counted, SPMD_F32, SPMD_SHAPE(9)),
                         spmd_block_borrow(counted, SPMD_F32, SPMD_SHAPE(2, 5))};
    spmd_block params[] = {spmd_block_borrow(own, SPMD_F32, SPMD_SHAPE(2, 3)),
                           spmd_block_borrow(&last, SPMD_F32, SPMD_SCALAR)};
    if (is_padding(row))
        return expected;
    spmd_status status =
        train(&block, key, SPMD_BLOCKS(&data[0], &data[1]),
              counts[1] ? SPMD_BLOCKS(&params[0], &params[1]) : NULL, expected.metrics, counts);
    if (status != SPMD_OK)
        return (struct expected){{NAN, NAN}, SPMD_SWEEP_FAILED};
    expected.state = isfinite(expected.metrics[1]) ? SPMD_SWEEP_DONE : SPMD_SWEEP_DIVERGED;
    return expected;
}

/* The same bits, where NaN is NaN. */
static bool same(const double a[], const double b[])
{
    for (int m = 0; m < METRICS; m++)
        if (isnan(a[m]) ? !isnan(b[m]) : memcmp(&a[m], &b[m], sizeof(double)) != 0)
            return false;
    return true;
}

/* Metrics and states are those of the function called by hand. */
static void expect_result(const struct setting *setting)
{
    double metrics[MAX_ROWS * METRICS], seconds[MAX_ROWS];
    int32_t state[MAX_ROWS], rank[MAX_ROWS];
    const spmd_sweep_result *result = &setting->result;
    int wrong = 0;
    EXPECT_OK(spmd_array_gather(result->metrics, SPMD_ALL, metrics, setting->rows * METRICS));
    EXPECT_OK(spmd_array_gather(result->state, SPMD_ALL, state, setting->rows));
    EXPECT_OK(spmd_array_gather(result->seconds, SPMD_ALL, seconds, setting->rows));
    EXPECT_OK(spmd_array_gather(result->rank, SPMD_ALL, rank, setting->rows));
    if (is_idle(setting->mesh))
        return;
    for (int64_t r = 0; r < setting->rows; r++) {
        struct expected expected = run_alone(setting, r);
        wrong +=
            !same(&metrics[r * METRICS], expected.metrics) || state[r] != (int32_t)expected.state;
        EXPECT(is_padding(r) ? seconds[r] == 0 : seconds[r] >= 0);
        EXPECT(rank[r] >= 0 && rank[r] < spmd_mesh_size(setting->mesh));
    }
    EXPECT(wrong == 0);
    const spmd_block *mine = spmd_array_block(result->rank);
    for (int64_t i = 0; i < spmd_block_size(mine); i++)
        EXPECT(((int32_t *)mine->data)[i] == spmd_mesh_position(setting->mesh));
    EXPECT(spmd_shape_equal(spmd_array_shape(result->metrics),
                            behind(setting->shape, 1, (int64_t[]){METRICS})));
    EXPECT(spmd_shape_equal(spmd_array_shape(result->state), behind(setting->shape, 0, NULL)));
}

static void check_sweep(spmd_mesh *mesh, const char *spec, spmd_shape shape, int ndata, int nparams)
{
    struct setting setting = set(mesh, spec, shape, ndata, nparams);
    EXPECT_OK(sweep(&setting, NULL));
    expect_result(&setting);
    unset(&setting);
}

/* Every shape with every way to lie, with and without data and parameters. */
static void results_are_those_of_the_function_alone(void)
{
    spmd_mesh *line = make_line(), *grid = make_grid();
    const spmd_shape shapes[] = {SPMD_SHAPE(13, 3), SPMD_SHAPE(24, 3), SPMD_SHAPE(8, 3, 3),
                                 SPMD_SHAPE(5, 4, 3), SPMD_SHAPE(1, 7, 3)};
    for (int s = 0; s < 5; s++) {
        check_sweep(line, "P(x)", shapes[s], 0, 0);
        check_sweep(line, "P()", shapes[s], 2, 0);
        check_sweep(line, "P(-,x)", shapes[s], 0, 2);
        check_sweep(grid, "P((x,y))", shapes[s], 2, 2);
        check_sweep(grid, "P(y,x)", shapes[s], 2, 2);
    }
    spmd_mesh_free(&line);
    spmd_mesh_free(&grid);
}

static void more_ranks_than_rows(void)
{
    spmd_mesh *mesh = make_line();
    for (int64_t rows = 0; rows <= 3; rows++) {
        check_sweep(mesh, "P(x)", SPMD_SHAPE(rows, 3), 2, 2);
        check_sweep(mesh, "P()", SPMD_SHAPE(1, rows, 3), 0, 2);
        check_sweep(mesh, "P()", SPMD_SHAPE(rows, 0, 3), 2, 0);
    }
    spmd_mesh_free(&mesh);
}

static void results_lie_with_the_rows(void)
{
    spmd_mesh *line = make_line(), *grid = make_grid();
    struct setting on_line = set(line, "P()", SPMD_SHAPE(7, 3), 0, 0);
    struct setting on_grid = set(grid, "P()", SPMD_SHAPE(7, 2, 3), 0, 0);
    EXPECT_OK(sweep(&on_line, NULL));
    EXPECT(has_type(on_line.result.metrics, "f64[7@x,2]"));
    EXPECT(has_type(on_line.result.state, "i32[7@x]"));
    EXPECT(has_type(on_line.result.seconds, "f64[7@x]"));
    EXPECT(has_type(on_line.result.rank, "i32[7@x]"));
    EXPECT_OK(sweep(&on_grid, NULL));
    EXPECT(has_type(on_grid.result.metrics, "f64[7@(x,y),2,2]"));
    EXPECT(has_type(on_grid.result.state, "i32[7@(x,y),2]"));
    unset(&on_line);
    unset(&on_grid);
    EXPECT(on_line.result.metrics == NULL && on_line.result.rank == NULL);
    spmd_sweep_result_free(&on_line.result);
    spmd_mesh_free(&line);
    spmd_mesh_free(&grid);
}

static void states_have_names(void)
{
    EXPECT(strcmp(spmd_sweep_state_name(SPMD_SWEEP_NOT_RUN), "not run") == 0);
    EXPECT(strcmp(spmd_sweep_state_name(SPMD_SWEEP_DONE), "done") == 0);
    EXPECT(strcmp(spmd_sweep_state_name(SPMD_SWEEP_FAILED), "failed") == 0);
    EXPECT(strcmp(spmd_sweep_state_name(SPMD_SWEEP_DIVERGED), "diverged") == 0);
    EXPECT(spmd_sweep_state_name((spmd_sweep_state)99) != NULL);
}

/* Hooks. */

struct hooks {
    const struct setting *setting;
    int seen[MAX_ROWS];
    int told; /* calls of on_progress */
    spmd_sweep_progress last;
    int64_t failing; /* the row at which on_row fails; -1: none */
};

static spmd_status see_row(const spmd_sweep_row *row, void *user)
{
    struct hooks *hooks = user;
    double config[HYPERPARAMS];
    char message[40] = "";
    struct expected expected = run_alone(hooks->setting, row->index);
    write_config(row->index, config);
    if (expected.state == SPMD_SWEEP_FAILED)
        snprintf(message, sizeof message, "cannot train row %g", config[1]);
    hooks->seen[row->index]++;
    EXPECT(row->rank == spmd_mesh_position(hooks->setting->mesh) && row->seconds >= 0);
    EXPECT(row->state == expected.state && same(row->metrics, expected.metrics));
    EXPECT(memcmp(row->config + 1, config + 1, 2 * sizeof(double)) == 0);
    if (row->index == hooks->failing)
        return spmd_fail(SPMD_ERR_FILE, "no room for row %d", (int)row->index);
    return SPMD_OK;
}

static void see_progress(const spmd_sweep_progress *progress, void *user)
{
    struct hooks *hooks = user;
    EXPECT(progress->done >= hooks->last.done && progress->done <= progress->total);
    EXPECT(progress->seconds >= hooks->last.seconds);
    hooks->told++;
    hooks->last = *progress;
}

/* The best of a metric, and of equal ones the first. */
static int64_t best_row(const struct setting *setting, const spmd_sweep_options *options)
{
    int64_t best = -1;
    double most = 0;
    for (int64_t r = 0; r < setting->rows; r++) {
        struct expected row = run_alone(setting, r);
        double value = row.metrics[options->objective] * (options->minimize ? -1 : 1);
        if (row.state == SPMD_SWEEP_DONE && (best < 0 || value > most)) {
            best = r;
            most = value;
        }
    }
    return best;
}

static void check_hooks(struct setting *setting, spmd_sweep_options options)
{
    struct hooks hooks = {.setting = setting, .failing = -1};
    int64_t total = 0, best = best_row(setting, &options);
    options.on_row = see_row;
    options.on_progress = see_progress;
    options.user = &hooks;
    EXPECT_OK(sweep(setting, &options));
    expect_result(setting);
    spmd_sweep_result_free(&setting->result);
    MPI_Allreduce(MPI_IN_PLACE, hooks.seen, MAX_ROWS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int64_t r = 0; r < setting->rows; r++) {
        EXPECT(hooks.seen[r] == !is_padding(r));
        total += !is_padding(r);
    }
    if (spmd_mesh_position(setting->mesh) != 0) {
        EXPECT(hooks.told == 0);
        return;
    }
    EXPECT(hooks.told > 0);
    EXPECT(hooks.last.done == total && hooks.last.total == total);
    EXPECT(hooks.last.best_index == best);
    if (best < 0)
        EXPECT(isnan(hooks.last.best));
    else
        EXPECT(hooks.last.best == run_alone(setting, best).metrics[options.objective]);
}

static void hooks_see_every_row_once(void)
{
    spmd_mesh *line = make_line(), *grid = make_grid();
    struct setting settings[] = {set(line, "P(x)", SPMD_SHAPE(29, 3), 0, 0),
                                 set(grid, "P()", SPMD_SHAPE(5, 4, 3), 2, 2),
                                 set(line, "P()", SPMD_SHAPE(1, 3), 0, 0)};
    for (int s = 0; s < 3; s++) {
        check_hooks(&settings[s], (spmd_sweep_options){.progress_seconds = 0});
        check_hooks(&settings[s], (spmd_sweep_options){.progress_seconds = 1e-9, .objective = 1});
        check_hooks(&settings[s], (spmd_sweep_options){.progress_seconds = 1e-9, .minimize = true});
        check_hooks(&settings[s], (spmd_sweep_options){.objective = 1, .minimize = true});
        unset(&settings[s]);
    }
    spmd_mesh_free(&line);
    spmd_mesh_free(&grid);
}

static void no_row_is_best_where_none_is_done(void)
{
    spmd_mesh *mesh = make_line();
    struct setting none = set(mesh, "P(x)", SPMD_SHAPE(0, 3), 0, 0);
    check_hooks(&none, (spmd_sweep_options){.progress_seconds = 1e-9});
    unset(&none);
    spmd_mesh_free(&mesh);
}

/* All rows have the same metric. */
static spmd_status train_alike(const spmd_block *config, spmd_key root,
                               const spmd_block *const data[], const spmd_block *const params[],
                               double metrics[], void *user)
{
    (void)config, (void)root, (void)data, (void)params, (void)user;
    metrics[0] = 4;
    return SPMD_OK;
}

static void the_first_of_equal_rows_is_best(void)
{
    spmd_mesh *mesh = make_line();
    struct setting setting = set(mesh, "P(x)", SPMD_SHAPE(24, 3), 0, 0);
    for (int minimize = 0; minimize < 2; minimize++) {
        struct hooks hooks = {.setting = &setting};
        const spmd_sweep_options options = {.on_progress = see_progress,
                                            .progress_seconds = 1e-9,
                                            .minimize = minimize,
                                            .user = &hooks};
        EXPECT_OK(spmd_sweep(mesh, train_alike, NULL, setting.configs, key, 0, NULL, 0, NULL, 1,
                             &options, &setting.result));
        if (test_rank == 0)
            EXPECT(hooks.last.best == 4 && hooks.last.best_index == 0);
        spmd_sweep_result_free(&setting.result);
    }
    unset(&setting);
    spmd_mesh_free(&mesh);
}

/* Only position 0's hook counts. */
static void progress_is_told_at_position_0_alone(void)
{
    spmd_mesh *mesh = make_line();
    struct setting setting = set(mesh, "P(x)", SPMD_SHAPE(13, 3), 0, 0);
    for (int told = 0; told < 2; told++) {
        struct hooks hooks = {.setting = &setting};
        spmd_sweep_options options = {.progress_seconds = 1e-9, .user = &hooks};
        if ((test_rank == 0) == told)
            options.on_progress = see_progress;
        EXPECT_OK(sweep(&setting, &options));
        EXPECT((hooks.told > 0) == (told && test_rank == 0));
        spmd_sweep_result_free(&setting.result);
    }
    unset(&setting);
    spmd_mesh_free(&mesh);
}

static void a_failing_hook_ends_the_sweep_on_all_ranks(void)
{
    spmd_mesh *mesh = make_line();
    struct setting setting = set(mesh, "P(x)", SPMD_SHAPE(5, 4, 3), 0, 0);
    for (int64_t failing = 0; failing < 20; failing += 7) {
        spmd_sharding *sharding = NULL;
        int ran_by = -1;
        char message[40];
        struct hooks hooks = {.setting = &setting, .failing = failing};
        const spmd_sweep_options options = {
            .on_row = see_row, .on_progress = see_progress, .user = &hooks};
        EXPECT_OK(spmd_sharding_create(mesh, "P(x)", &sharding));
        for (int p = 0; p < test_size; p++) {
            spmd_box box;
            EXPECT_OK(spmd_sharding_box(sharding, SPMD_SHAPE(5), p, &box));
            if (failing / 4 >= box.lo[0] && failing / 4 < box.hi[0])
                ran_by = p;
        }
        spmd_sharding_free(&sharding);
        snprintf(message, sizeof message, "no room for row %d", (int)failing);
        EXPECT_FAILS(sweep(&setting, &options), SPMD_ERR_FILE, from_rank(ran_by, message));
        EXPECT(strcmp(spmd_error_message(), from_rank(ran_by, message)) == 0);
        expect_same_message();
        EXPECT(setting.result.metrics == NULL && setting.result.state == NULL);
    }
    EXPECT_OK(sweep(&setting, NULL));
    expect_result(&setting);
    unset(&setting);
    spmd_mesh_free(&mesh);
}

/* Failures of the call. */

static void wrong_arguments_are_refused(void)
{
    spmd_mesh *mesh = make_line(), *grid = make_grid(), *abstract = NULL;
    struct setting good = set(mesh, "P(x)", SPMD_SHAPE(5, 3), 2, 2), bad = good;
    spmd_sweep_options options = {.objective = METRICS};
    spmd_array *floats = NULL, *line = NULL, *elsewhere = make_configs(grid, "P()", good.shape);
    EXPECT_OK(spmd_array_zeros(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(5, 3), &floats));
    EXPECT_OK(spmd_array_zeros(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(6), &line));
    EXPECT_OK(spmd_mesh_create_abstract("x=4", &abstract));

    bad.configs = floats;
    EXPECT_FAILS(sweep(&bad, NULL), SPMD_ERR_DTYPE, "configs are f64, not f32");
    bad.configs = line;
    EXPECT_FAILS(sweep(&bad, NULL), SPMD_ERR_SHAPE, "configs have 1 dimension");
    bad.configs = elsewhere;
    EXPECT_FAILS(sweep(&bad, NULL), SPMD_ERR_MESH, "another mesh");
    bad.configs = NULL;
    EXPECT_FAILS(sweep(&bad, NULL), SPMD_ERR_ARGUMENT, "configs");
    bad = good;
    bad.mesh = NULL;
    EXPECT_FAILS(sweep(&bad, NULL), SPMD_ERR_ARGUMENT, "mesh");
    bad.mesh = abstract;
    EXPECT_FAILS(sweep(&bad, NULL), SPMD_ERR_MESH, "abstract");
    bad = good;
    bad.data[1] = NULL;
    EXPECT_FAILS(sweep(&bad, NULL), SPMD_ERR_ARGUMENT, "data array 1 of 2 is NULL");
    bad = good;
    bad.params[0] = test_rank == test_size - 1 ? NULL : good.params[0];
    EXPECT_FAILS(sweep(&bad, NULL), SPMD_ERR_ARGUMENT,
                 from_rank(test_size - 1, "parameter array 0 of 2 is NULL"));
    bad.params[0] = line;
    EXPECT_FAILS(sweep(&bad, NULL), SPMD_ERR_SHAPE, "parameter array 0 must begin with the 1 lead");
    EXPECT_FAILS(sweep(&good, &options), SPMD_ERR_ARGUMENT, "metric 2 cannot be compared by");
    options.objective = -1;
    EXPECT_FAILS(sweep(&good, &options), SPMD_ERR_ARGUMENT, "metric -1 cannot be compared by");
    EXPECT_FAILS(
        spmd_sweep(mesh, train, NULL, good.configs, key, 0, NULL, 0, NULL, 0, NULL, &good.result),
        SPMD_ERR_ARGUMENT, "there are 0");
    EXPECT_FAILS(
        spmd_sweep(mesh, NULL, NULL, good.configs, key, 0, NULL, 0, NULL, 1, NULL, &good.result),
        SPMD_ERR_ARGUMENT, "function");
    EXPECT_FAILS(
        spmd_sweep(mesh, train, NULL, good.configs, key, 1, NULL, 0, NULL, 1, NULL, &good.result),
        SPMD_ERR_ARGUMENT, "data array 0 of 1");
    EXPECT_FAILS(
        spmd_sweep(mesh, train, NULL, good.configs, key, -1, NULL, 0, NULL, 1, NULL, &good.result),
        SPMD_ERR_ARGUMENT, "-1 data arrays");
    EXPECT_FAILS(spmd_sweep(mesh, train, NULL, good.configs, key, 0, NULL, 0, NULL, 1, NULL, NULL),
                 SPMD_ERR_ARGUMENT, "result");
    EXPECT(good.result.metrics == NULL && bad.result.metrics == NULL);
    EXPECT_OK(sweep(&good, NULL));
    expect_result(&good);
    unset(&good);
    spmd_array_free(&floats);
    spmd_array_free(&line);
    spmd_array_free(&elsewhere);
    spmd_mesh_free(&abstract);
    spmd_mesh_free(&grid);
    spmd_mesh_free(&mesh);
}

static void keys_and_counts_are_agreed_on(void)
{
    spmd_mesh *mesh = make_line();
    struct setting setting = set(mesh, "P(x)", SPMD_SHAPE(5, 3), 0, 0);
    const spmd_key mine = {{17, is_last_of_many() ? 5 : 4}};
    expect_disagreement(spmd_sweep(mesh, train, setting.counts, setting.configs, mine, 0, NULL, 0,
                                   NULL, METRICS, NULL, &setting.result));
    spmd_sweep_result_free(&setting.result);
    expect_disagreement(spmd_sweep(mesh, train, setting.counts, setting.configs, key, 0, NULL, 0,
                                   NULL, METRICS + is_last_of_many(), NULL, &setting.result));
    unset(&setting);
    spmd_mesh_free(&mesh);
}

static void idle_ranks_may_call(void)
{
    spmd_mesh *mesh = make_shorter_line();
    struct setting setting = set(mesh, "P(x)", SPMD_SHAPE(8, 3, 3), 2, 2);
    check_hooks(&setting, (spmd_sweep_options){.objective = 0});
    EXPECT_OK(sweep(&setting, NULL));
    expect_result(&setting);
    EXPECT((spmd_array_block(setting.result.state) == NULL) == is_idle(mesh));
    unset(&setting);
    spmd_mesh_free(&mesh);
}

/* On idle ranks the shape of an array that was made from local blocks is not known. */
static void configs_may_come_from_local_blocks(void)
{
    static const char *const specs[] = {"P()", "P(x)"};
    spmd_mesh *mesh = make_shorter_line();
    for (int s = 0; s < 2; s++) {
        int64_t rows = s == 0 ? 1 : spmd_mesh_size(mesh), row = s == 0 ? 0 : test_rank;
        struct setting setting = set(mesh, "P()", SPMD_SHAPE(rows, 3), 0, 0);
        double config[HYPERPARAMS];
        write_config(row, config);
        spmd_array_free(&setting.configs);
        EXPECT_OK(spmd_array_from_local(mesh, specs[s], SPMD_F64, SPMD_SHAPE(1, 3), config,
                                        &setting.configs));
        EXPECT_OK(sweep(&setting, NULL));
        expect_result(&setting);
        unset(&setting);
    }
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("sweep", CASE(results_are_those_of_the_function_alone), CASE(more_ranks_than_rows),
             CASE(results_lie_with_the_rows), CASE(states_have_names),
             CASE(hooks_see_every_row_once), CASE(no_row_is_best_where_none_is_done),
             CASE(the_first_of_equal_rows_is_best), CASE(progress_is_told_at_position_0_alone),
             CASE(a_failing_hook_ends_the_sweep_on_all_ranks), CASE(wrong_arguments_are_refused),
             CASE(keys_and_counts_are_agreed_on), CASE(idle_ranks_may_call),
             CASE(configs_may_come_from_local_blocks))
