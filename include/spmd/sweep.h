/* spmd/sweep.h - one function for many configurations.
 *
 * A sweep is a shard_map over the configurations and, on each rank, a vmap over its own ones:
 * configs are sharded over the mesh, key and data are replicated, parameters are sharded with
 * the configs. No files: results are arrays. (The command `spmd sweep` adds the files.) */
#ifndef SPMD_SWEEP_H
#define SPMD_SWEEP_H

#include <spmd/map.h>
#include <spmd/random.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One configuration's run:
 *
 *   config   f64[hyperparams]
 *   key      the same for all configurations: fold something in where they should differ
 *   data     [ndata] the whole of each data array
 *   params   [nparams] this configuration's own parameters; NULL if the sweep has none
 *   metrics  [nmetrics] to be written; NaN at entry
 *
 * A failure that it returns marks this configuration as failed, and the sweep goes on. It must
 * not call collectives: ranks have different numbers of configurations. */
typedef spmd_status spmd_sweep_fn(const spmd_block *config, spmd_key key,
                                  const spmd_block *const data[], const spmd_block *const params[],
                                  double metrics[], void *user);

/* What became of a configuration. */
#define SPMD_SWEEP_STATE_MAP(X)                                               \
    X(NOT_RUN, "not run")   /* padding: all of its hyperparameters are NaN */ \
    X(DONE, "done")         /* all metrics are finite */                      \
    X(FAILED, "failed")     /* the function returned a failure */             \
    X(DIVERGED, "diverged") /* a metric is NaN or infinite */
typedef enum spmd_sweep_state {
#define SPMD_SWEEP_STATE_ENUM(name, text) SPMD_SWEEP_##name,
    SPMD_SWEEP_STATE_MAP(SPMD_SWEEP_STATE_ENUM)
#undef SPMD_SWEEP_STATE_ENUM
} spmd_sweep_state;

/* Local. "done", ...; never NULL. */
const char *spmd_sweep_state_name(spmd_sweep_state state);

/* One finished configuration, as the hooks below see it. */
typedef struct spmd_sweep_row {
    int64_t index;         /* row-major over the leading dimensions of configs */
    const double *config;  /* [hyperparams] */
    const double *metrics; /* [nmetrics] */
    spmd_sweep_state state;
    double seconds;      /* wall time of the function */
    int rank;            /* position that ran it */
    const char *message; /* why it failed; "" else */
} spmd_sweep_row;

/* How far the whole sweep is. */
typedef struct spmd_sweep_progress {
    int64_t done, total; /* configurations ended, in any way; without padding */
    double seconds;      /* since the start */
    double best;         /* best objective so far; NaN while there is none */
    int64_t best_index;  /* its configuration; -1 while there is none */
} spmd_sweep_progress;

typedef struct spmd_sweep_options {
    /* The metric to compare by, and which way is better. Diverged rows never win. */
    int objective;
    bool minimize;
    /* Called on the rank that ran it, right after each configuration. Its failure is the
     * sweep's: this rank runs no more, and the call fails when the others are through. */
    spmd_status (*on_row)(const spmd_sweep_row *row, void *user);
    /* Called at position 0, about `progress_seconds` (0: 0.25) apart, and once at the end. */
    void (*on_progress)(const spmd_sweep_progress *progress, void *user);
    double progress_seconds;
    void *user; /* of both hooks */
} spmd_sweep_options;

/* What a sweep gives: arrays with the leading dimensions of configs, sharded over the mesh. */
typedef struct spmd_sweep_result {
    spmd_array *metrics; /* f64[..., nmetrics] */
    spmd_array *state;   /* i32[...] of spmd_sweep_state */
    spmd_array *seconds; /* f64[...] */
    spmd_array *rank;    /* i32[...] */
} spmd_sweep_result;

/* Collective over the mesh. Runs `fn` for each row of `configs`.
 *
 *   configs  f64[devices, batches, hyperparams] or f64[n, hyperparams]; split along dimension 0
 *            over all axes of the mesh (moved there if it lies otherwise). Rows whose
 *            hyperparameters are all NaN are padding.
 *   key      equal on all ranks (checked)
 *   data     [ndata] arrays of any type, replicated first
 *   params   [nparams] arrays with the leading dimensions of configs, split as configs;
 *            0 and NULL for none
 *   options  NULL for the defaults: metric 0, larger is better, no hooks
 *
 * A row's metrics depend on its values, the key, the data and its parameters only: not on the
 * mesh. Fails with SPMD_ERR_SHAPE, SPMD_ERR_DTYPE, SPMD_ERR_DISAGREE, and as on_row does. */
spmd_status spmd_sweep(spmd_mesh *mesh, spmd_sweep_fn *fn, void *user, spmd_array *configs,
                       spmd_key key, int ndata, spmd_array *const data[], int nparams,
                       spmd_array *const params[], int nmetrics, const spmd_sweep_options *options,
                       spmd_sweep_result *result);

/* Local. Frees the arrays. */
void spmd_sweep_result_free(spmd_sweep_result *result);

#ifdef __cplusplus
}
#endif

#endif
