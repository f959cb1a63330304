/* journal.c - the directory of a journal, and the header that says which sweep it is of. */
#include "journal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

/* Begins a header; changes when the meaning of a row does. */
static const char format_line[] = "spmd-sweep-journal 1\n";

struct header {
    int nfields;
    const struct journal_field *fields; /* [nfields] */
};

static void write_header(FILE *stream, const void *user)
{
    const struct header *header = user;
    fputs(format_line, stream);
    for (int i = 0; i < header->nfields; i++)
        fprintf(stream, "%s %s\n", header->fields[i].key, header->fields[i].value);
}

spmd_status journal_create(const char *path, int nfields, const struct journal_field fields[],
                           int *lock)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return file_fail("make the directory", path);
    SPMD_TRY(journal_lock(path, true, lock));
    char *file;
    SPMD_TRY(file_join(path, "header", &file));
    struct header header = {nfields, fields};
    spmd_status status =
        file_replace(file, write_header, &header) ? SPMD_OK : file_fail("write", file);
    free(file);
    return status;
}

/* Compares the header's line at `*text` with a field, and moves on to the next line. */
static spmd_status check_field(const char *path, const struct journal_field *field, char **text)
{
    char *line = *text;
    size_t length = strcspn(line, "\n"), key = strlen(field->key);
    *text += length + (line[length] == '\n');
    line[length] = '\0';
    if (strncmp(line, field->key, key) != 0 || line[key] != ' ')
        return spmd_fail(SPMD_ERR_FILE, "%s/header is damaged: no line \"%s\"; --force begins anew",
                         path, field->key);
    if (strcmp(line + key + 1, field->value) != 0)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "%s is of another sweep: its %s is %s, not %s; give another --out, or "
                         "--force to begin anew",
                         path, field->key, line + key + 1, field->value);
    return SPMD_OK;
}

static spmd_status check_header(const char *path, char *text, int nfields,
                                const struct journal_field fields[])
{
    size_t length = strlen(format_line);
    if (strncmp(text, format_line, length) != 0)
        return spmd_fail(SPMD_ERR_FILE, "%s/header does not begin with %.*s; --force begins anew",
                         path, (int)length - 1, format_line);
    text += length;
    for (int i = 0; i < nfields; i++)
        SPMD_TRY(check_field(path, &fields[i], &text));
    return SPMD_OK;
}

/* The lock, or a header that was never finished. */
static bool is_before_header(const char *name)
{
    return strcmp(name, "lock") == 0 || strncmp(name, "header.", 7) == 0;
}

static bool is_own(const char *name)
{
    return strncmp(name, "rows.", 5) == 0 || strcmp(name, "header") == 0 || is_before_header(name);
}

/* The next file of a directory; NULL at its end. */
static const char *next_name(DIR *directory)
{
    struct dirent *entry;
    do
        entry = readdir(directory);
    while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    return entry ? entry->d_name : NULL;
}

/* The first file that is not `expected`; NULL if there is none. */
static const char *find_stranger(DIR *directory, bool (*expected)(const char *name))
{
    const char *name;
    while ((name = next_name(directory)) && expected(name))
        ;
    return name;
}

/* Rows without a header cannot be told from another sweep's. */
static spmd_status check_headless(const char *path)
{
    DIR *directory = opendir(path);
    if (!directory)
        return errno == ENOENT ? SPMD_OK : file_fail("read the directory", path);
    spmd_status status = SPMD_OK;
    const char *stranger = find_stranger(directory, is_before_header);
    if (stranger)
        status = spmd_fail(SPMD_ERR_FILE, "%s holds %s but no header: it is no journal of a sweep",
                           path, stranger);
    closedir(directory);
    return status;
}

spmd_status journal_check(const char *path, int nfields, const struct journal_field fields[],
                          bool *found)
{
    char *file;
    SPMD_TRY(file_join(path, "header", &file));
    size_t size;
    char *text = NULL;
    *found = access(file, F_OK) == 0 || errno != ENOENT;
    spmd_status status = *found ? file_read(file, &text, &size) : check_headless(path);
    if (text)
        status = check_header(path, text, nfields, fields);
    free(text);
    free(file);
    return status;
}

static spmd_status remove_files(const char *path, DIR *directory)
{
    const char *name = find_stranger(directory, is_own);
    if (name)
        return spmd_fail(SPMD_ERR_FILE, "%s holds %s, which is no journal's: not removed", path,
                         name);
    rewinddir(directory);
    while ((name = next_name(directory)))
        if (strcmp(name, "lock") != 0 && unlinkat(dirfd(directory), name, 0) != 0)
            return spmd_fail(SPMD_ERR_FILE, "cannot remove %s/%s: %s", path, name, strerror(errno));
    return SPMD_OK;
}

spmd_status journal_clear(const char *path)
{
    DIR *directory = opendir(path);
    if (!directory)
        return errno == ENOENT ? SPMD_OK : file_fail("read the directory", path);
    spmd_status status = remove_files(path, directory);
    closedir(directory);
    return status;
}
