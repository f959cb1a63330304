/* sweep_options.c - the command line of `spmd sweep`. */
#include "sweep_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cmd.h"
#include "mlp.h"

enum {
    GRID,
    SET,
    SAMPLE,
    TABLE,
    DATA,
    X,
    Y,
    SEED,
    OUT,
    RESUME,
    RETRY_FAILED,
    FORCE,
    LIMIT,
    OBJECTIVE,
    TOP,
    STRICT,
    PROGRESS,
    NOPTIONS
};

static const struct args_option option_table[NOPTIONS] = {
    [GRID] = {"grid", "NAME=VALUES",
              "every combination with these values of a hyperparameter:\n"
              "a,b,c (a list), a..b:N (N points), a..b:log:N; may be given\n"
              "for any number of names, the last one runs fastest"},
    [SET] = {"set", "NAME=VALUE", "one value for all configurations"},
    [SAMPLE] = {"sample", "N",
                "not the grid but N configurations drawn from it, where ranges\n"
                "a..b and a..b:log need no number of points"},
    [TABLE] = {"table", "FILE",
               "configurations from a file: FILE.csv with a line of names, or\n"
               "FILE.h5:DATASET, 2-d, with an attribute \"names\" (lr,width);\n"
               "--grid and --set multiply its rows; the results in the PREFIX.csv\n"
               "of a sweep are left out"},
    [DATA] = {"data", "FILE",
              "an HDF5 file with numbers x[n, features] and class labels y[n]\n"
              "from 0; without it, 1797 handwritten digits that are built in"},
    [X] = {"x", "NAME", "the dataset of numbers, if it is not x"},
    [Y] = {"y", "NAME", "the dataset of labels, if it is not y"},
    [SEED] = {"seed", "N", "the key of all random numbers (0)"},
    [OUT] = {"out", "PREFIX",
             "write PREFIX.h5 and PREFIX.csv, by way of the directory\n"
             "PREFIX.journal (sweep)"},
    [RESUME] = {"resume", NULL, "run only what the journal does not have; begin if there is none"},
    [RETRY_FAILED] = {"retry-failed", NULL, "with --resume: also what has failed or diverged"},
    [FORCE] = {"force", NULL, "remove an earlier journal and its files, and begin anew"},
    [LIMIT] = {"limit", "N", "run N configurations at most; the others stay \"not run\""},
    [OBJECTIVE] = {"objective", "METRIC", "what to compare by (test_accuracy)"},
    [TOP] = {"top", "N", "rows of the summary (10)"},
    [STRICT] = {"strict", NULL, "exit with 1 if a configuration failed"},
    [PROGRESS] = {"progress", NULL,
                  "show how far it is also where neither this program's standard error\n"
                  "nor that of the launcher that is its parent is a terminal"},
};

/* What is swept where nothing is asked for. */
static const char *const default_ranges[] = {"lr=0.01..1:log:6", "width=32,64,128,256",
                                             "momentum=0,0.9"};
enum { NDEFAULTS = sizeof default_ranges / sizeof default_ranges[0] };

static void print_details(void)
{
    puts("\nHyperparameters, and what they are where a configuration does not say:");
    for (int h = 0; h < MLP_NHYPERS; h++)
        printf("  %-9s %s (%g)\n", mlp_hypers[h].name, mlp_hypers[h].help, mlp_hypers[h].fallback);
    fputs("Without --grid and --table the grid is", stdout);
    for (int r = 0; r < NDEFAULTS; r++)
        printf(" %s", default_ranges[r]);
    fputs(";\na name that --set gives leaves it.\n\nMetrics:", stdout);
    for (int m = 0; m < MLP_NMETRICS; m++)
        printf(" %s%s", mlp_metrics[m].name, m + 1 < MLP_NMETRICS ? "," : ".");
    puts(
        " They depend on the\n"
        "configuration, the seed and the data only, bit by bit, not on the number of ranks.\n"
        "\n"
        "A row of the table has the configuration, its metrics, its seconds, the rank that ran it\n"
        "and its state: done, failed (with a message), diverged (a metric is NaN or infinite:\n"
        "never the best), not run. Each rank adds its rows to the journal as they end; the files\n"
        "are made from it at the end, aside, and then put in place. So a run may be killed at any\n"
        "time: the same command with --resume, on any number of ranks, goes on, and its table is\n"
        "that of an unbroken run. Other configurations may be asked for by then. The table has\n"
        "the configurations of the last command only; ask for old and new ones together to have\n"
        "both.\n"
        "\n"
        "Exit code: 0 if all configurations ended, 1 if the run failed, 2 for a wrong use.");
}

static const struct args_usage usage = {
    .synopsis = "mpirun -n RANKS spmd sweep [OPTION...]",
    .about =
        "Trains a multi-layer perceptron once for each configuration of its hyperparameters. The\n"
        "configurations are sharded over the ranks, at most one more on one rank than on another;\n"
        "key and data are replicated. A fifth of the rows, the same for all, is kept for testing.",
    .details = print_details,
    .noptions = NOPTIONS,
    .options = option_table,
    .examples =
        "mpirun -n 8 spmd sweep\n"
        "mpirun -n 8 spmd sweep --grid lr=0.001..1:log:8 --grid width=16,32,64 --set epochs=50\n"
        "mpirun -n 8 spmd sweep --grid lr=1e-4..1:log --grid width=16..512:log --sample 100\n"
        "mpirun -n 8 spmd sweep --table best.csv --grid seed=0..9:10 --out seeds\n"
        "srun spmd sweep --data my.h5 --x images --y labels --out mine --resume",
};

/* A whole number from `lo` on. */
static bool read_whole(const char *text, int64_t lo, int64_t *number)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < lo)
        return false;
    *number = value;
    return true;
}

static spmd_status take_whole(const char *name, const char *text, int64_t lo, int64_t *number)
{
    if (!read_whole(text, lo, number))
        return spmd_fail(SPMD_ERR_ARGUMENT, "--%s takes a whole number from %lld, not \"%s\"", name,
                         (long long)lo, text);
    return SPMD_OK;
}

static spmd_status take_seed(const char *text, uint64_t *seed)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "--seed takes a whole number below 2^64, not \"%s\"",
                         text);
    *seed = value;
    return SPMD_OK;
}

static bool is_given(const struct sweep_options *options, const char *name, size_t length)
{
    for (int r = 0; r < options->nranges; r++)
        if (strncmp(options->ranges[r].name, name, length) == 0 &&
            options->ranges[r].name[length] == '\0')
            return true;
    return false;
}

/* Points of a range lie between its ends. */
static spmd_status check_values(const struct range *range)
{
    int hyper = mlp_hyper_find(range->name);
    for (int64_t i = 0; range->kind == RANGE_LIST && i < range->count; i++)
        SPMD_TRY(mlp_check_value(hyper, range->values[i]));
    if (range->kind == RANGE_LIST)
        return SPMD_OK;
    SPMD_TRY(mlp_check_value(hyper, range_draw(range, 0)));
    return mlp_check_value(hyper, range_draw(range, 1));
}

/* Whether it can be swept; its points are whole where the hyperparameter is. */
static spmd_status check_range(struct range *range, const struct sweep_options *options)
{
    struct mlp_columns columns;
    SPMD_TRY(mlp_bind(1, &range->name, &columns));
    if (is_given(options, range->name, strlen(range->name)))
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s is given twice", range->name);
    range->whole = mlp_hypers[mlp_hyper_find(range->name)].whole;
    return check_values(range);
}

/* Takes the range over. */
static spmd_status add_range(struct range *range, struct sweep_options *options)
{
    SPMD_TRY(check_range(range, options));
    struct range *more = realloc(options->ranges, ((size_t)options->nranges + 1) * sizeof *more);
    if (!more)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for %s", range->name);
    options->ranges = more;
    options->ranges[options->nranges++] = *range;
    return SPMD_OK;
}

static spmd_status take_grid(const char *text, struct sweep_options *options)
{
    struct range range;
    SPMD_TRY(range_parse(text, &range));
    spmd_status status = add_range(&range, options);
    if (status != SPMD_OK)
        range_free(&range);
    return status;
}

static spmd_status take_set(const char *text, struct sweep_options *options)
{
    SPMD_TRY(take_grid(text, options));
    const struct range *range = &options->ranges[options->nranges - 1];
    if (range->kind != RANGE_LIST || range->count != 1)
        return spmd_fail(SPMD_ERR_ARGUMENT, "--set takes one value, not %s; see --grid", text);
    return SPMD_OK;
}

static spmd_status take_objective(const char *text, int *objective)
{
    for (int m = 0; m < MLP_NMETRICS; m++)
        if (strcmp(mlp_metrics[m].name, text) == 0) {
            *objective = m;
            return SPMD_OK;
        }
    return spmd_fail(SPMD_ERR_ARGUMENT, "no metric \"%s\": there are %s, %s, %s, %s", text,
                     mlp_metrics[0].name, mlp_metrics[1].name, mlp_metrics[2].name,
                     mlp_metrics[3].name);
}

static spmd_status take_out(const char *text, const char **out)
{
    size_t length = strlen(text);
    if (length == 0 || text[length - 1] == '/')
        return spmd_fail(SPMD_ERR_ARGUMENT, "--out takes the beginning of file names, not \"%s\"",
                         text);
    *out = text;
    return SPMD_OK;
}

static spmd_status take_option(int option, const char *value, struct sweep_options *options)
{
    const char *name = option_table[option].name;
    const char **const texts[NOPTIONS] = {
        [TABLE] = &options->table, [DATA] = &options->data, [X] = &options->x, [Y] = &options->y};
    bool *const flags[NOPTIONS] = {[RESUME] = &options->resume,
                                   [RETRY_FAILED] = &options->retry_failed,
                                   [FORCE] = &options->force,
                                   [STRICT] = &options->strict,
                                   [PROGRESS] = &options->progress};
    if (texts[option])
        *texts[option] = value;
    if (flags[option])
        *flags[option] = true;
    switch (option) {
    case GRID:
        options->grid = true;
        return take_grid(value, options);
    case SET:
        return take_set(value, options);
    case SAMPLE:
        return take_whole(name, value, 1, &options->sample);
    case SEED:
        return take_seed(value, &options->seed);
    case OUT:
        return take_out(value, &options->out);
    case LIMIT:
        return take_whole(name, value, 0, &options->limit);
    case OBJECTIVE:
        return take_objective(value, &options->objective);
    case TOP:
        return take_whole(name, value, 0, &options->top);
    default:
        return SPMD_OK;
    }
}

/* The default ranges of what --set does not fix. */
static spmd_status take_default_ranges(struct sweep_options *options)
{
    for (int r = 0; r < NDEFAULTS; r++)
        if (!is_given(options, default_ranges[r], strcspn(default_ranges[r], "=")))
            SPMD_TRY(take_grid(default_ranges[r], options));
    return SPMD_OK;
}

/* What the options say together. */
static spmd_status check_together(struct sweep_options *options)
{
    if (options->resume && options->force)
        return spmd_fail(SPMD_ERR_ARGUMENT, "--resume goes on and --force begins anew: give one");
    if (options->retry_failed && !options->resume)
        return spmd_fail(SPMD_ERR_ARGUMENT, "--retry-failed goes with --resume");
    if (options->table && options->sample > 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "--sample draws from --grid, not from --table");
    if (!options->table && !options->grid)
        return take_default_ranges(options);
    return SPMD_OK;
}

bool sweep_options_parse(int argc, char **argv, struct sweep_options *options, int *code)
{
    *options = (struct sweep_options){
        .x = "x", .y = "y", .out = "sweep", .objective = MLP_TEST_ACCURACY, .top = 10, .limit = -1};
    struct args args = args_begin(argc, argv, &usage);
    spmd_status status = SPMD_OK;
    for (int option; status == SPMD_OK && (option = args_next(&args)) != ARGS_END;) {
        if (option == ARGS_STOP) {
            sweep_options_free(options);
            *code = args.code;
            return false;
        }
        status =
            option == ARGS_OPERAND
                ? spmd_fail(SPMD_ERR_ARGUMENT, "sweep takes options only, not \"%s\"", args.value)
                : take_option(option, args.value, options);
    }
    if (status == SPMD_OK)
        status = check_together(options);
    if (status == SPMD_OK)
        return true;
    *code = cmd_misuse("sweep", "%s", spmd_error_message());
    sweep_options_free(options);
    return false;
}

void sweep_options_free(struct sweep_options *options)
{
    for (int r = 0; r < options->nranges; r++)
        range_free(&options->ranges[r]);
    free(options->ranges);
    options->ranges = NULL;
    options->nranges = 0;
}
