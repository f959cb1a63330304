/* io/missing.c - what messages say of a name in a file that leads nowhere. */
#include "io/missing.h"

#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "io/cause.h"
#include "io/members.h"
#include "io/object.h"

enum { LISTED = 8, LISTED_BYTES = 400 };

struct listing {
    char buffer[LISTED_BYTES];
    struct text text;
    int count;
};

static void begin(struct listing *listing)
{
    listing->text = spmd__text_begin(listing->buffer, sizeof listing->buffer);
    listing->count = 0;
}

/* False: there were enough before it. */
static bool list(struct listing *listing, const char *name, bool is_group)
{
    if (listing->count == LISTED) {
        spmd__text_add(&listing->text, " and more");
        return false;
    }
    spmd__text_add(&listing->text, "%s%s%s", listing->count > 0 ? ", " : "", name,
                   is_group ? "/" : "");
    listing->count++;
    return true;
}

static herr_t list_dataset(hid_t file, const char *name, const H5O_info_t *info, void *user)
{
    (void)file;
    return info->type == H5O_TYPE_DATASET && !list(user, name, false);
}

spmd_status spmd__missing_dataset(const spmd_file *file, const char *name, bool is_group)
{
    struct listing listing;
    begin(&listing);
    if (H5Ovisit(file->id, H5_INDEX_NAME, H5_ITER_INC, list_dataset, &listing) < 0)
        return spmd_fail(SPMD_ERR_FILE, "%s: no dataset \"%s\" is found, nor what there is: %s",
                         file->path, name, spmd__io_cause().text);
    if (listing.count == 0)
        return spmd_fail(SPMD_ERR_FILE, "%s: no dataset \"%s\"; the file has none", file->path,
                         name);
    return spmd_fail(SPMD_ERR_FILE, "%s: %s\"%s\"%s; the file has %s", file->path,
                     is_group ? "" : "no dataset ", name, is_group ? " is a group, no dataset" : "",
                     listing.buffer);
}

/* Cuts a name down to the longest part before its end that is a group. */
static void cut_to_group(const spmd_file *file, char *name)
{
    char *slash;
    do {
        slash = strrchr(name, '/');
        if (slash)
            *slash = '\0';
    } while (slash && slash > name && !spmd__object_is(file->id, name, H5I_GROUP));
    if (!slash || slash == name)
        strcpy(name, "/");
}

static spmd_status list_members(const spmd_file *file, const char *group,
                                const struct members *members, struct listing *listing)
{
    bool room = true;
    for (int i = 0; room && i < members->count; i++) {
        char *name = NULL;
        TRY(spmd__member_name(group, members->name[i], &name));
        room = list(listing, members->name[i], spmd__object_is(file->id, name, H5I_GROUP));
        free(name);
    }
    return SPMD_OK;
}

static spmd_status list_group(const spmd_file *file, const char *name, struct listing *listing)
{
    struct members members = {0};
    hid_t group = H5Oopen(file->id, name, H5P_DEFAULT);
    spmd_status status = spmd__members_list(file, name, group, &members);
    if (status == SPMD_OK)
        status = list_members(file, name, &members, listing);
    spmd__members_free(&members);
    if (group >= 0)
        H5Oclose(group);
    return status;
}

/* `group` is the one that is listed. */
static spmd_status tell_missing(const spmd_file *file, const char *name, const char *group)
{
    struct listing listing;
    begin(&listing);
    TRY(list_group(file, group, &listing));
    bool is_file = strcmp(group, "/") == 0;
    return spmd_fail(SPMD_ERR_FILE, "%s: there is no \"%s\"; %s%s%s has %s", file->path, name,
                     is_file ? "the file" : "group \"", is_file ? "" : group, is_file ? "" : "\"",
                     listing.count > 0 ? listing.buffer : "nothing");
}

spmd_status spmd__missing_object(const spmd_file *file, const char *name)
{
    size_t length = strlen(name);
    char *group = malloc(length + sizeof "/");
    if (!group)
        return spmd_fail(SPMD_ERR_MEMORY, "%s: out of memory", file->path);
    memcpy(group, name, length + 1);
    cut_to_group(file, group);
    spmd_status status = tell_missing(file, name, group);
    free(group);
    return status;
}
