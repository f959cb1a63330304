/* io/members.c - the names in a group. */
#include "io/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "io/cause.h"

static bool grow(struct members *members)
{
    if (members->count < members->capacity)
        return true;
    int capacity = members->capacity > 0 ? 2 * members->capacity : 16;
    char **more = realloc(members->name, (size_t)capacity * sizeof *more);
    if (!more)
        return false;
    members->name = more;
    members->capacity = capacity;
    return true;
}

static herr_t take_name(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    (void)group, (void)info;
    struct members *members = user;
    char *copy = grow(members) ? strdup(name) : NULL;
    if (!copy)
        return 1;
    members->name[members->count++] = copy;
    return 0;
}

spmd_status spmd__members_list(const spmd_file *file, const char *name, hid_t group,
                               struct members *members)
{
    herr_t ended = H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, take_name, members);
    if (ended > 0)
        return spmd_fail(SPMD_ERR_MEMORY, "%s: no memory for the names in group \"%s\"", file->path,
                         name);
    if (ended < 0)
        return spmd_fail(SPMD_ERR_FILE, "%s: group \"%s\" cannot be read: %s", file->path, name,
                         spmd__io_cause().text);
    return SPMD_OK;
}

void spmd__members_free(struct members *members)
{
    for (int i = 0; i < members->count; i++)
        free(members->name[i]);
    free(members->name);
    *members = (struct members){0};
}

/* Shorter numbers are lower. */
static int compare_numbers(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    size_t x_length = strlen(x), y_length = strlen(y);
    return x_length != y_length ? (x_length > y_length) - (x_length < y_length) : strcmp(x, y);
}

bool spmd__members_number(struct members *members)
{
    if (members->count > 0)
        qsort(members->name, (size_t)members->count, sizeof *members->name, compare_numbers);
    for (int i = 0; i < members->count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        if (strcmp(members->name[i], number) != 0)
            return false;
    }
    return true;
}

spmd_status spmd__member_name(const char *group, const char *member, char **name)
{
    const char *parent = strcmp(group, "/") == 0 ? "" : group;
    size_t bytes = strlen(parent) + strlen(member) + sizeof "/";
    TRY(spmd__alloc(bytes, 1, name));
    snprintf(*name, bytes, "%s%s%s", parent, *parent ? "/" : "", member);
    return SPMD_OK;
}
