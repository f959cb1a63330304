/* info_steps.c - the checkpoints of a directory, as spmd info lists them. */
#include "info.h"

#include <stdio.h>
#include <stdlib.h>

#include "cmd.h"
#include "file.h"
#include "json.h"
#include "plural.h"

void info_step_path(const char *directory, int64_t step, char path[INFO_PATH_BYTES])
{
    snprintf(path, INFO_PATH_BYTES, "%s/step-%08lld.h5", directory, (long long)step);
}

static void print(const char *directory, int count, const int64_t steps[])
{
    char path[INFO_PATH_BYTES];
    printf("%s: %d checkpoint%s\n", directory, count, plural(count));
    for (int i = 0; i < count; i++) {
        info_step_path(directory, steps[i], path);
        printf("  step %lld  %lld bytes  %s%s\n", (long long)steps[i], file_size(path), path,
               i + 1 == count ? "  latest" : "");
    }
}

static void print_json(const char *directory, int count, const int64_t steps[])
{
    char path[INFO_PATH_BYTES];
    fputs("{\"directory\": ", stdout);
    json_text(stdout, directory);
    fputs(", \"steps\": [", stdout);
    for (int i = 0; i < count; i++) {
        info_step_path(directory, steps[i], path);
        printf("%s\n   {\"step\": %lld, \"bytes\": %lld, \"file\": ", i > 0 ? "," : "",
               (long long)steps[i], file_size(path));
        json_text(stdout, path);
        fputc('}', stdout);
    }
    fputs("]}", stdout);
}

spmd_status info_find_steps(spmd_mesh *mesh, const char *directory, int *count, int64_t **steps)
{
    int found = 0, again = 0;
    SPMD_TRY(spmd_checkpoint_steps(mesh, directory, 0, NULL, &found));
    int64_t *list = calloc((size_t)found + 1, sizeof *list);
    spmd_status status = spmd_agree(
        mesh, list ? SPMD_OK : spmd_fail(SPMD_ERR_MEMORY, "no memory for %d steps", found));
    if (status == SPMD_OK)
        status = spmd_checkpoint_steps(mesh, directory, found, list, &again);
    if (status != SPMD_OK) {
        free(list);
        return status;
    }
    *count = again < found ? again : found;
    *steps = list;
    return SPMD_OK;
}

spmd_status info_steps(spmd_mesh *mesh, const char *path, bool json)
{
    int count;
    int64_t *steps;
    SPMD_TRY(info_find_steps(mesh, path, &count, &steps));
    if (cmd_is_speaker())
        json ? print_json(path, count, steps) : print(path, count, steps);
    free(steps);
    return SPMD_OK;
}
