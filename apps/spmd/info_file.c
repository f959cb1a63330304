/* info_file.c - what an HDF5 file has, as spmd info finds it. */
#include "info.h"

#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "h5file.h"

bool info_is_dataset(const spmd_file_entry *entry)
{
    return entry->elements && !entry->link;
}

/* "list", "array", ...: what the entry is in a tree, or why it is in none. */
const char *info_kind_name(const spmd_file_entry *entry)
{
    static const char *const names[] = {
        [SPMD_TREE_NONE] = "none",       [SPMD_TREE_LIST] = "list",   [SPMD_TREE_DICT] = "dict",
        [SPMD_TREE_ARRAY] = "array",     [SPMD_TREE_BLOCK] = "array", [SPMD_TREE_KEY] = "key",
        [SPMD_TREE_INTEGER] = "integer", [SPMD_TREE_TEXT] = "text",
    };
    return entry->link ? "link" : entry->problem ? "other" : names[entry->kind];
}

/* "f32[8,4]" */
static int format_plain(char *cell, size_t size, const spmd_file_entry *entry)
{
    int length = snprintf(cell, size, "%s[", entry->elements);
    for (int d = 0; d < entry->shape.ndim; d++)
        length += snprintf(cell + length, size - (size_t)length, "%s%lld", d > 0 ? "," : "",
                           (long long)entry->shape.dim[d]);
    return length + snprintf(cell + length, size - (size_t)length, "]");
}

/* Whether `sharding` without its axes is `plain`: the dataset may have been changed since. */
static bool fits(const char *sharding, const char *plain)
{
    for (; *plain; plain++, sharding++) {
        if (*sharding == '@') /* an axis, or several in brackets */
            sharding += sharding[1] == '(' ? strcspn(sharding, ")") + 1 : strcspn(sharding, ",]");
        if (*sharding != *plain)
            return false;
    }
    return *sharding == '\0' || *sharding == '{';
}

int info_format_type(char *cell, size_t size, const spmd_file_entry *entry)
{
    int length = format_plain(cell, size, entry);
    if (!entry->sharding || !fits(entry->sharding, cell))
        return length;
    return snprintf(cell, size, "%s", entry->sharding);
}

/* A key, an integer or a text, as trees print it. */
static spmd_status read_value(spmd_file *file, const spmd_file_entry *entry, char **value)
{
    spmd_tree *leaf = NULL;
    SPMD_TRY(spmd_tree_read(file, entry->name, "P()", &leaf));
    int length = spmd_tree_format(NULL, 0, leaf);
    char *text = malloc((size_t)length + 1);
    if (text)
        spmd_tree_format(text, (size_t)length + 1, leaf);
    spmd_tree_free(&leaf);
    *value = text;
    return text ? SPMD_OK : spmd_fail(SPMD_ERR_MEMORY, "no memory for the text of a value");
}

static spmd_status read_values(spmd_mesh *mesh, spmd_file *file, const struct info_sheet *sheet)
{
    spmd_status status = sheet->value ? SPMD_OK : spmd_fail(SPMD_ERR_MEMORY, "out of memory");
    SPMD_TRY(spmd_agree(mesh, status));
    for (int i = 0; i < sheet->listing->count; i++) {
        const spmd_file_entry *entry = &sheet->listing->entry[i];
        if (info_is_dataset(entry) && !entry->problem && entry->kind != SPMD_TREE_ARRAY)
            SPMD_TRY(spmd_agree(mesh, read_value(file, entry, &sheet->value[i])));
    }
    return SPMD_OK;
}

static spmd_status list(spmd_mesh *mesh, spmd_file *file, const char *path, bool json)
{
    spmd_file_listing *listing = NULL;
    SPMD_TRY(spmd_file_list(file, "/", &listing));
    struct info_sheet sheet = {path, listing, calloc((size_t)listing->count + 1, sizeof(char *))};
    spmd_status status = read_values(mesh, file, &sheet);
    if (status == SPMD_OK && cmd_is_speaker())
        json ? info_print_json(&sheet) : info_print_table(&sheet);
    for (int i = 0; i < listing->count && sheet.value; i++)
        free(sheet.value[i]);
    free(sheet.value);
    spmd_file_listing_free(&listing);
    return status;
}

spmd_status info_file(spmd_mesh *mesh, const char *path, bool json)
{
    spmd_file *file = NULL;
    SPMD_TRY(spmd_file_open(mesh, path, &file));
    return h5file_end(&file, list(mesh, file, path, json));
}
