/* io/kind.c - how a file tells what a group or a dataset is in a tree. */
#include "io/kind.h"

#include <stdlib.h>
#include <string.h>

#include "io/cause.h"
#include "io/string.h"

const char *spmd__kind_text(spmd_tree_kind kind)
{
    switch (kind) {
    case SPMD_TREE_NONE:
        return "none";
    case SPMD_TREE_LIST:
        return "list";
    case SPMD_TREE_KEY:
        return "key";
    case SPMD_TREE_INTEGER:
        return "integer";
    case SPMD_TREE_DICT:
    case SPMD_TREE_ARRAY:
    case SPMD_TREE_BLOCK:
    case SPMD_TREE_TEXT:
        break;
    }
    return NULL;
}

static spmd_tree_kind kind_without(hid_t object)
{
    if (H5Iget_type(object) == H5I_GROUP)
        return SPMD_TREE_DICT;
    return spmd__string_is(object) ? SPMD_TREE_TEXT : SPMD_TREE_ARRAY;
}

static spmd_status find_kind(hid_t object, const char *text, spmd_tree_kind *kind)
{
    static const spmd_tree_kind groups[] = {SPMD_TREE_NONE, SPMD_TREE_LIST};
    static const spmd_tree_kind datasets[] = {SPMD_TREE_KEY, SPMD_TREE_INTEGER};
    const spmd_tree_kind *known = H5Iget_type(object) == H5I_GROUP ? groups : datasets;
    for (int i = 0; i < 2; i++)
        if (strcmp(text, spmd__kind_text(known[i])) == 0) {
            *kind = known[i];
            return SPMD_OK;
        }
    return spmd_fail(SPMD_ERR_FILE, "\"%s\" is no kind that is known here", text);
}

static spmd_status read_attribute(hid_t object, spmd_tree_kind *kind)
{
    hid_t attribute = H5Aopen(object, KIND_ATTRIBUTE, H5P_DEFAULT);
    if (attribute < 0)
        return spmd_fail(SPMD_ERR_FILE, "%s", spmd__io_cause().text);
    char *text = NULL;
    spmd_status status = spmd__string_read(attribute, &text);
    H5Aclose(attribute);
    if (status == SPMD_OK)
        status = find_kind(object, text, kind);
    free(text);
    return status;
}

spmd_status spmd__kind_read(const spmd_file *file, const char *name, hid_t object,
                            spmd_tree_kind *kind)
{
    htri_t told = H5Aexists(object, KIND_ATTRIBUTE);
    if (told == 0) {
        *kind = kind_without(object);
        return SPMD_OK;
    }
    spmd_status status = told < 0 ? spmd_fail(SPMD_ERR_FILE, "%s", spmd__io_cause().text)
                                  : read_attribute(object, kind);
    if (status == SPMD_ERR_FILE)
        return spmd__io_refine(status, "%s: attribute \"" KIND_ATTRIBUTE "\" of \"%s\"", file->path,
                               name);
    return status;
}
