/* io/tree_read.c - trees from files: the structure is the file's, the shardings come as specs. */
#include "array/tree.h"
#include "core/hash.h"
#include "core/tree_match.h"
#include "core/tree_text.h"
#include "io/leaf.h"
#include "io/tree_reading.h"

static spmd_status match_specs(const struct tree_reading *reading, const char *what)
{
    return spmd__tree_broadcast(reading->asked, "specs", reading->survey.tree, what, NULL);
}

static spmd_status read_leaf(const struct tree_reading *reading, const char *name,
                             const spmd_tree *spec, const struct stored *stored, spmd_tree **leaf)
{
    switch (stored->kind) {
    case SPMD_TREE_KEY:
        return spmd__leaf_read_key(reading->file, name, leaf);
    case SPMD_TREE_TEXT:
        return spmd__leaf_read_text(reading->file, name, leaf);
    case SPMD_TREE_INTEGER:
        return spmd__leaf_read_integer(reading->file, name, leaf);
    default:
        return spmd__leaf_read_array(reading->file, name, spec->value.pointer, leaf);
    }
}

spmd_status spmd_tree_read(spmd_file *file, const char *name, const char *specs, spmd_tree **tree)
{
    TRY(spmd__file_check(file, __func__, name));
    struct tree_reading reading = {.file = file, .match = match_specs, .read = read_leaf};
    spmd_tree *asked = NULL;
    spmd_status status = spmd__tree_reading_begin(&reading, name, tree);
    if (status == SPMD_OK)
        status = spmd__tree_parse_specs(specs, "specs", &asked);
    if (spmd__mesh_is_member(file->mesh)) {
        uint64_t digest = spmd__hash_text(spmd__hash_text(0, name), specs);
        status = spmd__file_enter(file, __func__, status, digest);
        reading.asked = asked;
        if (status == SPMD_OK)
            status = spmd__tree_reading_run(&reading, tree);
    } else if (status == SPMD_OK) {
        status = spmd_tree_create(tree);
    }
    spmd__tree_free(&asked);
    return status;
}
