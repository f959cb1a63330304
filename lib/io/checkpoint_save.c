/* io/checkpoint_save.c - trees as checkpoints. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "comm/mesh.h"
#include "core/hash.h"
#include "io/aside.h"
#include "io/cause.h"
#include "io/checkpoint.h"
#include "io/checkpoint_directory.h"
#include "io/seal.h"

struct saving {
    spmd_mesh *mesh;
    const char *directory;
    int64_t step;
    const spmd_tree *tree;
    int lock; /* on position 0 */
};

static spmd_status check_saving(int64_t step, const spmd_tree *tree, int keep)
{
    if (step < 0 || step > MOST_STEP)
        return spmd_fail(SPMD_ERR_ARGUMENT, "step %lld: a checkpoint's is from 0 to %lld",
                         (long long)step, (long long)MOST_STEP);
    if (keep < 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "keep is %d; 0 keeps all checkpoints", keep);
    spmd_tree_kind kind = tree ? spmd_tree_kind_of(tree) : SPMD_TREE_NONE;
    if (kind != SPMD_TREE_DICT && kind != SPMD_TREE_LIST)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the tree of a checkpoint is a dict or a list");
    return SPMD_OK;
}

/* On position 0. */
static spmd_status prepare_directory(struct saving *saving)
{
    TRY(spmd__checkpoint_make_directory(saving->directory));
    TRY(spmd__checkpoint_check_free(saving->directory, saving->step));
    spmd__checkpoint_clear(saving->directory);
    saving->lock = spmd__checkpoint_lock(saving->directory);
    return SPMD_OK;
}

static spmd_status see_directory(const char *directory)
{
    struct stat about;
    if (stat(directory, &about) != 0)
        return spmd__io_fail_errno(errno, "%s: position 0 has this directory, and here it is not",
                                   directory);
    return SPMD_OK;
}

static spmd_status write_file(const struct saving *saving, const char *path)
{
    spmd_file *file = NULL;
    TRY(spmd__aside_create(saving->mesh, path, spmd__seal_room(saving->tree), saving->step, &file));
    return spmd__file_end(&file, spmd_tree_write(file, "/", saving->tree));
}

static spmd_status save(struct saving *saving)
{
    bool first = saving->mesh->position == 0;
    TRY(spmd__mesh_agree(saving->mesh, first ? prepare_directory(saving) : SPMD_OK, 0));
    TRY(spmd__mesh_agree(saving->mesh, see_directory(saving->directory), 0));
    char *path = spmd__checkpoint_path(saving->directory, saving->step);
    spmd_status status = write_file(saving, path); /* which refuses NULL */
    free(path);
    return status;
}

spmd_status spmd_checkpoint_save(spmd_mesh *mesh, const char *directory, int64_t step,
                                 const spmd_tree *tree, int keep)
{
    TRY(spmd__file_check_mesh(mesh, __func__, directory));
    if (!spmd__mesh_is_member(mesh))
        return SPMD_OK;
    const int64_t numbers[] = {step, keep};
    TRY(spmd__checkpoint_enter(mesh, __func__, check_saving(step, tree, keep), directory,
                               spmd__hash(0, numbers, sizeof numbers)));
    struct saving saving = {mesh, directory, step, tree, -1};
    spmd_status status = save(&saving);
    if (status == SPMD_OK && keep > 0 && mesh->position == 0)
        spmd__checkpoint_prune(directory, step, keep);
    spmd__checkpoint_unlock(saving.lock);
    return status;
}
