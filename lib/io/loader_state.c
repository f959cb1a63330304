/* io/loader_state.c - where a loader is, as a tree, and going to such a place. */
#include <inttypes.h>
#include <string.h>

#include "comm/mesh.h"
#include "core/absent.h"
#include "io/cause.h"
#include "io/loader.h"

/* What the order of rows and the cut into batches depend on, beside key and datasets. */
struct setting {
    const char *name;
    int64_t value;
    const char *unit;
};

enum { SETTINGS = 6 };

static void list_settings(const spmd_loader *loader, struct setting settings[SETTINGS])
{
    const struct ordering *ordering = &loader->ordering;
    const struct setting list[SETTINGS] = {
        {"rows", ordering->rows, ""},        {"batch", loader->batch, ""},
        {"shuffle", ordering->shuffled, ""}, {"window", ordering->window, " rows"},
        {"chunk_rows", ordering->run, ""},   {"keep_rest", loader->keep_rest, ""},
    };
    memcpy(settings, list, sizeof list);
}

/* "datasets/0" */
struct dataset_path {
    char text[sizeof "datasets/" + 11];
};

static struct dataset_path dataset_path(int index)
{
    struct dataset_path path;
    snprintf(path.text, sizeof path.text, "datasets/%d", index);
    return path;
}

static spmd_status fill_state(const spmd_loader *loader, spmd_tree *state)
{
    struct setting settings[SETTINGS];
    list_settings(loader, settings);
    for (int i = 0; i < SETTINGS; i++)
        TRY(spmd_tree_set_integer(state, settings[i].name, settings[i].value));
    for (int d = 0; d < loader->ndatasets; d++)
        TRY(spmd_tree_set_text(state, dataset_path(d).text, loader->sources[d].name));
    TRY(spmd_tree_set_key(state, "key", loader->ordering.key));
    TRY(spmd_tree_set_integer(state, "epoch", loader->epoch));
    return spmd_tree_set_integer(state, "step", loader->step);
}

spmd_status spmd_loader_state(const spmd_loader *loader, spmd_tree **state)
{
    TRY(spmd__loader_check(loader, __func__));
    if (!state)
        return spmd__io_refuse(__func__, loader->file->path, "the pointer for the state is NULL");
    spmd_tree *made = NULL;
    TRY(spmd_tree_create(&made));
    spmd_status status = fill_state(loader, made);
    if (status == SPMD_OK)
        *state = made;
    else
        spmd_tree_free(&made);
    return status;
}

static spmd_status check_settings(const spmd_loader *loader, const spmd_tree *state)
{
    struct setting settings[SETTINGS];
    list_settings(loader, settings);
    for (int i = 0; i < SETTINGS; i++) {
        int64_t value;
        TRY(spmd_tree_get_integer(state, settings[i].name, &value));
        if (value != settings[i].value)
            return spmd_fail(SPMD_ERR_ARGUMENT,
                             "the position to resume is of a loader with %s %" PRId64
                             "%s, this one has %" PRId64,
                             settings[i].name, value, settings[i].unit, settings[i].value);
    }
    spmd_key key;
    TRY(spmd_tree_get_key(state, "key", &key));
    if (memcmp(&key, &loader->ordering.key, sizeof key) != 0)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "the position to resume is of a loader with another key");
    return SPMD_OK;
}

static spmd_status check_datasets(const spmd_loader *loader, const spmd_tree *state)
{
    const spmd_tree *datasets;
    TRY(spmd_tree_get(state, "datasets", &datasets));
    if (spmd_tree_count(datasets) != loader->ndatasets)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "the position to resume is of %d datasets, this loader has %d",
                         spmd_tree_count(datasets), loader->ndatasets);
    for (int d = 0; d < loader->ndatasets; d++) {
        const char *name;
        TRY(spmd_tree_get_text(state, dataset_path(d).text, &name));
        if (strcmp(name, loader->sources[d].name) != 0)
            return spmd_fail(SPMD_ERR_ARGUMENT,
                             "the position to resume is of dataset \"%s\", this loader has \"%s\"",
                             name, loader->sources[d].name);
    }
    return SPMD_OK;
}

static spmd_status check_position(const spmd_loader *loader, int64_t epoch, int64_t step)
{
    if (epoch < 0 || epoch > LAST_EPOCH)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s",
                         spmd__absent("epoch", epoch, 0, LAST_EPOCH + 1).text);
    if (step < 0 || step >= loader->batches)
        return spmd_fail(SPMD_ERR_ARGUMENT, "in an epoch %s",
                         spmd__absent("batch", step, 0, loader->batches).text);
    return SPMD_OK;
}

spmd_status spmd_loader_seek(spmd_loader *loader, int64_t epoch, int64_t step)
{
    TRY(spmd__loader_check(loader, __func__));
    if (!spmd__mesh_is_member(loader->file->mesh))
        return SPMD_OK;
    return spmd__loader_go(loader, __func__, check_position(loader, epoch, step), epoch, step);
}

/* Whether it may be one; a whole checkpoint, of which it is a part, is not. */
static spmd_status check_kind(const spmd_tree *state)
{
    const spmd_tree *rows;
    if (spmd_tree_get(state, "rows", &rows) == SPMD_OK)
        return SPMD_OK;
    char why[256];
    snprintf(why, sizeof why, "%s", spmd_error_message());
    return spmd_fail(SPMD_ERR_ARGUMENT,
                     "the tree is no position to resume, as spmd_loader_state gives it: %s", why);
}

static spmd_status read_state(const spmd_loader *loader, const spmd_tree *state, int64_t *epoch,
                              int64_t *step)
{
    if (!state)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the position to resume is NULL");
    TRY(check_kind(state));
    TRY(check_settings(loader, state));
    TRY(check_datasets(loader, state));
    TRY(spmd_tree_get_integer(state, "epoch", epoch));
    TRY(spmd_tree_get_integer(state, "step", step));
    return check_position(loader, *epoch, *step);
}

spmd_status spmd_loader_resume(spmd_loader *loader, const spmd_tree *state)
{
    TRY(spmd__loader_check(loader, __func__));
    if (!spmd__mesh_is_member(loader->file->mesh))
        return SPMD_OK;
    int64_t epoch = 0, step = 0;
    spmd_status status = read_state(loader, state, &epoch, &step);
    return spmd__loader_go(loader, __func__, status, epoch, step);
}
