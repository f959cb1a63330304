/* sweep_input.c - what a sweep is asked for. */
#include "sweep.h"

#include <stdio.h>

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
    snprintf(fields[SWEEP_FIELD_SEED].value, size, "%llu",
             (unsigned long long)sweep->options->seed);
    snprintf(fields[SWEEP_FIELD_SOURCE].value, size, "%s",
             sweep->options->data ? sweep->options->data : sweep_builtin_data);
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
    sweep->form = (struct table_form){
        .space = &sweep->space, .nmetrics = MLP_NMETRICS, .objective = sweep->options->objective};
    sweep->form.minimize = mlp_metrics[sweep->form.objective].minimize;
    for (int m = 0; m < MLP_NMETRICS; m++)
        sweep->form.metrics[m] = mlp_metrics[m].name;
    SPMD_TRY(sweep_make_space(sweep));
    return sweep_read_data(sweep);
}
