/* main.c - runs all golden cases of a folder.
 *
 * Use:  mpirun -n N golden DIR      runs every case of every *.json
 *       golden --ranks DIR          tells how many ranks that needs
 *
 * Prints a line for each case that fails and for each kind or operation that is not known, then
 * "N passed, N failed". Exit status 1 if any failed. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"

/* The kinds, and how many ranks a case needs; NULL for kinds that one rank can run. */
static const struct kind {
    const char *name;
    case_fn *run;
    int64_t (*ranks)(const cJSON *test);
} kinds[] = {
    {"sharding", run_sharding, sharding_ranks},
    {"sharding_error", run_sharding_error, NULL},
    {"equivalence", run_equivalence, NULL},
    {"random", run_random, NULL},
    {"collective", run_collective, mesh_size_of},
    {"vma", run_vma, mesh_size_of},
    {"map", run_map, map_ranks},
};

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

/* How the whole run goes; the same on all ranks. */
struct tally {
    int64_t passed, failed, skipped;
    int nunknown;
    struct unknown {
        char what[sizeof((struct verdict *)0)->text];
        int64_t cases;
    } unknown[100];
};

static void count_unknown(struct tally *tally, const char *what)
{
    int i = 0, limit = (int)(sizeof tally->unknown / sizeof tally->unknown[0]) - 1;
    while (i < tally->nunknown && strcmp(tally->unknown[i].what, what) != 0)
        i++;
    if (i > limit)
        i = limit; /* the last one stands for all further ones */
    if (i == tally->nunknown) {
        tally->nunknown++;
        snprintf(tally->unknown[i].what, sizeof tally->unknown[i].what, "%s", what);
    }
    tally->unknown[i].cases++;
}

/* The verdict of the lowest rank that has one besides "passed" is everybody's. */
static void agree(struct verdict *verdict)
{
    int rank, size, speaker;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine = verdict->outcome == PASSED ? size : rank;
    MPI_Allreduce(&mine, &speaker, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (speaker < size)
        MPI_Bcast(verdict, sizeof *verdict, MPI_BYTE, speaker, MPI_COMM_WORLD);
}

static int world_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static void run_case(const cJSON *test, struct tally *tally)
{
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(test, "id");
    const cJSON *kind_name = cJSON_GetObjectItemCaseSensitive(test, "kind");
    const struct kind *kind = cJSON_IsString(kind_name) ? find_kind(kind_name->valuestring) : NULL;
    struct verdict verdict = {0};
    if (kind)
        kind->run(test, &verdict);
    else
        skipped(&verdict, "kind %s", cJSON_IsString(kind_name) ? kind_name->valuestring : "(none)");
    agree(&verdict);
    tally->passed += verdict.outcome == PASSED;
    tally->failed += verdict.outcome == FAILED;
    tally->skipped += verdict.outcome == SKIPPED;
    if (verdict.outcome == SKIPPED)
        count_unknown(tally, verdict.text);
    if (verdict.outcome == FAILED && world_rank() == 0)
        printf("%s: %s\n", cJSON_IsString(id) ? id->valuestring : "(no id)", verdict.text);
}

/* Quotes the whole numbers of more digits than a double holds, which JSON's reader would round. */
static char *quote_long_numbers(const char *text)
{
    char *copy = malloc(2 * strlen(text) + 1), *to = copy;
    bool in_string = false;
    while (copy && *text) {
        size_t length = strspn(text, "+-.0123456789eE");
        bool is_long = !in_string && length > 15 && strcspn(text, ".eE") >= length;
        if (in_string || length == 0) {
            in_string ^= *text == '"';
            length = in_string && *text == '\\' && text[1] ? 2 : 1;
        }
        to += sprintf(to, is_long ? "\"%.*s\"" : "%.*s", (int)length, text);
        text += length;
    }
    if (copy)
        *to = '\0';
    return copy;
}

/* A whole file as a string; NULL if it cannot be read. */
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    char *text = NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        rewind(file);
        text = size < 0 ? NULL : calloc((size_t)size + 1, 1);
        if (text && fread(text, 1, (size_t)size, file) != (size_t)size) {
            free(text);
            text = NULL;
        }
    }
    fclose(file);
    return text;
}

/* The file's cases; NULL if it cannot be read or is no JSON. */
static cJSON *load(const char *path)
{
    char *text = read_file(path);
    char *exact = text ? quote_long_numbers(text) : NULL;
    cJSON *json = exact ? cJSON_Parse(exact) : NULL;
    free(text);
    free(exact);
    return json;
}

static int is_json(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

/* Calls `visit` for each file of the folder in the order of names; its cases are NULL if it
 * cannot be read. Gives the number of files, -1 without a folder. */
static int each_file(const char *folder,
                     void (*visit)(const char *path, const cJSON *cases, void *user), void *user)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_json, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        cJSON *json = load(path);
        visit(path, cJSON_GetObjectItemCaseSensitive(json, "cases"), user);
        cJSON_Delete(json);
        free(entries[i]);
    }
    free(entries);
    return count;
}

static void run_file(const char *path, const cJSON *cases, void *user)
{
    struct tally *tally = user;
    if (!cJSON_IsArray(cases)) {
        tally->failed++;
        if (world_rank() == 0)
            printf("%s: expected JSON with a list of cases, got none\n", path);
    }
    for (const cJSON *test = first_of(cases); test; test = test->next)
        run_case(test, tally);
}

static void count_ranks(const char *path, const cJSON *cases, void *user)
{
    (void)path;
    int64_t *ranks = user;
    for (const cJSON *test = first_of(cases); test; test = test->next) {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(test, "kind");
        const struct kind *kind = cJSON_IsString(name) ? find_kind(name->valuestring) : NULL;
        int64_t size = kind && kind->ranks ? kind->ranks(test) : 1;
        *ranks = size > *ranks ? size : *ranks;
    }
}

static int tell_ranks(const char *folder)
{
    int64_t ranks = 1;
    if (each_file(folder, count_ranks, &ranks) < 0) {
        fprintf(stderr, "golden: cannot read the folder %s\n", folder);
        return 2;
    }
    printf("%lld\n", (long long)ranks);
    return 0;
}

static int run_folder(const char *folder)
{
    struct tally *tally = calloc(1, sizeof *tally);
    int files = tally ? each_file(folder, run_file, tally) : -1;
    int code = files < 0 ? 2 : tally->failed > 0;
    if (world_rank() == 0 && files < 0)
        fprintf(stderr, "golden: cannot read the folder %s\n", folder);
    if (world_rank() == 0 && files >= 0) {
        for (int i = 0; i < tally->nunknown; i++)
            printf("not known: %s: %lld skipped\n", tally->unknown[i].what,
                   (long long)tally->unknown[i].cases);
        printf("%lld passed, %lld failed", (long long)tally->passed, (long long)tally->failed);
        if (tally->skipped > 0)
            printf(", %lld skipped", (long long)tally->skipped);
        printf("\n");
    }
    free(tally);
    return code;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--ranks") == 0)
        return tell_ranks(argv[2]);
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(stderr, "use: golden DIR | golden --ranks DIR\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    int code = run_folder(argv[1]);
    bool speaks = world_rank() == 0;
    fflush(stdout);
    MPI_Finalize();
    return speaks ? code : 0; /* a launcher may kill the others at the first failure that it sees */
}
