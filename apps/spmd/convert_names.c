/* convert_names.c - which arrays the names on the command line mean: each, or those of a group. */
#include "convert.h"

#include <string.h>

bool convert_is_numbers(const spmd_file_entry *entry)
{
    return entry->elements && !entry->problem && !entry->link && entry->kind != SPMD_TREE_TEXT;
}

bool convert_is_array(const spmd_file_entry *entry)
{
    return convert_is_numbers(entry) && entry->kind == SPMD_TREE_ARRAY;
}

/* A name without slashes at its ends, "group/x"; of length 0 for "/". */
struct bare {
    const char *at;
    size_t length;
};

static struct bare bare(const char *name)
{
    struct bare made = {.at = name + strspn(name, "/")};
    made.length = strlen(made.at);
    while (made.length > 0 && made.at[made.length - 1] == '/')
        made.length--;
    return made;
}

/* What `wide` is to `name`: the same object, a group around it, or neither. */
enum relation { OTHER, AROUND, SAME };

static enum relation relate(const char *wide, const char *name)
{
    struct bare group = bare(wide), inner = bare(name);
    if (inner.length < group.length || strncmp(inner.at, group.at, group.length) != 0)
        return OTHER;
    if (inner.length == group.length)
        return SAME;
    return group.length == 0 || inner.at[group.length] == '/' ? AROUND : OTHER;
}

int convert_next(const spmd_file_listing *listing, int index)
{
    const spmd_file_entry *entry = &listing->entry[index++];
    while (entry->link && index < listing->count &&
           relate(entry->name, listing->entry[index].name) == AROUND)
        index++;
    return index;
}

enum convert_meaning convert_meaning(const struct convert_options *options, const char *name)
{
    enum convert_meaning meaning = options->nnames == 0 ? CONVERT_AMONG : CONVERT_NOT;
    for (int i = 0; i < options->nnames; i++) {
        enum relation relation = relate(options->names[i], name);
        if (relation == SAME)
            return CONVERT_NAMED;
        if (relation == AROUND)
            meaning = CONVERT_AMONG;
    }
    return meaning;
}

static int count_arrays(const spmd_file_listing *listing, const char *name)
{
    int count = 0;
    for (int i = 0; i < listing->count; i = convert_next(listing, i))
        count +=
            convert_is_array(&listing->entry[i]) && relate(name, listing->entry[i].name) != OTHER;
    return count;
}

/* Tells what there is at a name that means no array. */
static spmd_status fail_to_mean(spmd_file *file, const spmd_file_listing *listing, const char *path,
                                const char *name)
{
    spmd_dtype dtype;
    spmd_shape shape;
    for (int i = 0; i < listing->count; i = convert_next(listing, i)) {
        const spmd_file_entry *entry = &listing->entry[i];
        if (entry->link && relate(entry->name, name) != OTHER)
            return spmd_fail(SPMD_ERR_ARGUMENT, "%s: \"%s\" is a link to %s; name what is there",
                             path, entry->name, entry->link);
        if (!entry->elements && !entry->problem && relate(entry->name, name) == SAME)
            return spmd_fail(SPMD_ERR_ARGUMENT, "%s: \"%s\" is a group without arrays", path, name);
    }
    SPMD_TRY(spmd_dataset_info(file, name, &dtype, &shape));
    return spmd_fail(SPMD_ERR_ARGUMENT, "%s: \"%s\" is no array", path, name);
}

spmd_status convert_check_names(const struct convert_options *options, spmd_file *file,
                                const spmd_file_listing *listing)
{
    for (int i = 0; i < options->nnames; i++)
        if (options->names[i][0] == '\0' || count_arrays(listing, options->names[i]) == 0)
            return fail_to_mean(file, listing, options->in, options->names[i]);
    return SPMD_OK;
}
