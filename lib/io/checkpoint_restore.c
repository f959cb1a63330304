/* io/checkpoint_restore.c - trees from checkpoints. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm/mesh.h"
#include "comm/mpi.h"
#include "core/hash.h"
#include "core/text.h"
#include "io/cause.h"
#include "io/checkpoint.h"
#include "io/checkpoint_directory.h"
#include "io/seal.h"

/* What position 0 tells the others of the directory. */
struct choice {
    int64_t step;
    char older[120]; /* "20, 10"; "": there are none */
};

/* The last `count` steps, the highest first. */
static void print_steps(char *buffer, size_t size, const int64_t step[], int count)
{
    enum { LISTED = 5 };
    struct text text = spmd__text_begin(buffer, size);
    spmd__text_add(&text, "%s", "");
    for (int i = 0; i < count && i < LISTED; i++)
        spmd__text_add(&text, "%s%lld", i > 0 ? ", " : "", (long long)step[count - 1 - i]);
    if (count > LISTED)
        spmd__text_add(&text, " and %d more", count - LISTED);
}

static spmd_status choose_from(const char *directory, const struct step_list *steps,
                               struct choice *choice)
{
    if (steps->count == 0)
        return spmd_fail(SPMD_ERR_FILE, "%s: there is no checkpoint", directory);
    int at = steps->count - 1;
    if (choice->step == SPMD_LATEST)
        choice->step = steps->step[at];
    while (at >= 0 && steps->step[at] != choice->step)
        at--;
    if (at >= 0) {
        print_steps(choice->older, sizeof choice->older, steps->step, at);
        return SPMD_OK;
    }
    print_steps(choice->older, sizeof choice->older, steps->step, steps->count);
    return spmd_fail(SPMD_ERR_FILE, "%s: there is no checkpoint of step %lld; steps here: %s",
                     directory, (long long)choice->step, choice->older);
}

static spmd_status choose(const char *directory, struct choice *choice)
{
    struct step_list steps = {0};
    spmd_status status = spmd__checkpoint_list(directory, &steps);
    if (status == SPMD_OK)
        status = choose_from(directory, &steps, choice);
    free(steps.step);
    return status;
}

struct restoring {
    spmd_mesh *mesh;
    const char *directory;
    bool by_like;      /* else */
    const char *specs; /* by these */
    const spmd_tree *like;
    const spmd_tree_read_options *options;
    struct choice choice;
};

/* Collective. What comes from the directory, on members. */
static spmd_status agree_on_choice(struct restoring *restoring)
{
    spmd_mesh *mesh = restoring->mesh;
    struct choice *choice = &restoring->choice;
    spmd_status status = SPMD_OK;
    if (mesh->position == 0)
        status = choose(restoring->directory, choice);
    TRY(spmd__mesh_agree(mesh, status, 0));
    TRY_MPI(MPI_Bcast(choice, sizeof *choice, MPI_BYTE, 0, mesh->control));
    return SPMD_OK;
}

/* HDF5 is not to meet what is no checkpoint. */
static spmd_status check_begins(const char *path)
{
    if (!path)
        return spmd_fail(SPMD_ERR_MEMORY, "out of memory");
    bool begins = false;
    TRY(spmd__seal_begins(path, &begins));
    if (!begins)
        return spmd_fail(SPMD_ERR_FILE, "%s: is no checkpoint, or its first bytes are damaged",
                         path);
    return SPMD_OK;
}

static spmd_status read_tree(const struct restoring *restoring, spmd_file *file, spmd_tree **tree)
{
    if (spmd__mesh_is_member(file->mesh) && file->step != restoring->choice.step)
        return spmd_fail(SPMD_ERR_FILE, "%s: is the checkpoint of step %lld, by another name",
                         file->path, (long long)file->step);
    if (restoring->by_like)
        return spmd_tree_read_like(file, "/", restoring->like, restoring->options, tree);
    return spmd_tree_read(file, "/", restoring->specs, tree);
}

static spmd_status read_file(const struct restoring *restoring, const char *path, spmd_tree **tree)
{
    spmd_file *file = NULL;
    TRY(spmd_file_open(restoring->mesh, path, &file));
    spmd_tree *made = NULL;
    spmd_status status = read_tree(restoring, file, tree ? &made : NULL);
    status = spmd__file_end(&file, status);
    if (status == SPMD_OK)
        *tree = made;
    else
        spmd_tree_free(&made);
    return status;
}

/* A damaged checkpoint is told with those before it. */
static spmd_status tell_older(const struct restoring *restoring, spmd_status status)
{
    if (status != SPMD_ERR_FILE || restoring->choice.older[0] == '\0')
        return status;
    char message[ERROR_MESSAGE_BYTES];
    snprintf(message, sizeof message, "%s", spmd_error_message());
    return spmd__mesh_agree(
        restoring->mesh,
        spmd_fail(status, "%s; older steps here: %s", message, restoring->choice.older), 0);
}

static spmd_status restore_on_member(struct restoring *restoring, spmd_tree **tree)
{
    TRY(agree_on_choice(restoring));
    char *path = spmd__checkpoint_path(restoring->directory, restoring->choice.step);
    spmd_status status = spmd__mesh_agree(restoring->mesh, check_begins(path), 0);
    if (status == SPMD_OK)
        status = read_file(restoring, path, tree);
    free(path);
    return tell_older(restoring, status);
}

static spmd_status restore(struct restoring *restoring, const char *call, spmd_tree **tree)
{
    TRY(spmd__file_check_mesh(restoring->mesh, call, restoring->directory));
    if (!spmd__mesh_is_member(restoring->mesh))
        return read_file(restoring, restoring->directory, tree);
    int64_t step = restoring->choice.step;
    spmd_status status = SPMD_OK;
    if (step < SPMD_LATEST)
        status =
            spmd_fail(SPMD_ERR_ARGUMENT, "step %lld: a checkpoint's is 0 or more", (long long)step);
    TRY(spmd__checkpoint_enter(restoring->mesh, call, status, restoring->directory,
                               spmd__hash(0, &step, sizeof step)));
    return restore_on_member(restoring, tree);
}

spmd_status spmd_checkpoint_restore(spmd_mesh *mesh, const char *directory, int64_t step,
                                    const char *specs, spmd_tree **tree)
{
    struct restoring restoring = {
        .mesh = mesh, .directory = directory, .specs = specs, .choice.step = step};
    return restore(&restoring, __func__, tree);
}

spmd_status spmd_checkpoint_restore_like(spmd_mesh *mesh, const char *directory, int64_t step,
                                         const spmd_tree *like,
                                         const spmd_tree_read_options *options, spmd_tree **tree)
{
    struct restoring restoring = {.mesh = mesh,
                                  .directory = directory,
                                  .by_like = true,
                                  .like = like,
                                  .options = options,
                                  .choice.step = step};
    return restore(&restoring, __func__, tree);
}
