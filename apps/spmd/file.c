/* file.c - whole files: read, or written aside and renamed. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads to the end, whatever size the file says it has: it may grow. */
static char *read_stream(FILE *stream, size_t *size)
{
    char *text = NULL;
    size_t used = 0;
    for (size_t room = 4096, got = 1; got > 0; room *= 2) {
        char *more = realloc(text, room);
        if (!more)
            break;
        text = more;
        got = fread(text + used, 1, room - 1 - used, stream);
        used += got;
        if (got == 0 && !ferror(stream)) {
            text[used] = '\0';
            *size = used;
            return text;
        }
    }
    free(text);
    return NULL;
}

/* What is no regular file may block for ever, or have no end. */
static spmd_status open_regular(const char *path, FILE **stream)
{
    struct stat info;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        return file_fail("open", path);
    spmd_status status = SPMD_OK;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
        status = spmd_fail(SPMD_ERR_FILE, "%s is no regular file", path);
    else if (!(*stream = fdopen(file, "r")))
        status = file_fail("open", path);
    if (status != SPMD_OK)
        close(file);
    return status;
}

spmd_status file_read(const char *path, char **text, size_t *size)
{
    FILE *stream = NULL;
    SPMD_TRY(open_regular(path, &stream));
    char *new = read_stream(stream, size);
    spmd_status status = new ? SPMD_OK : file_fail("read", path);
    fclose(stream);
    if (new)
        *text = new;
    return status;
}

long long file_size(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (long long)info.st_size : -1;
}

/* A new file beside others of that name, with the permissions of any new file. */
static int open_aside(char *aside)
{
    mode_t mask = umask(0);
    umask(mask);
    int file = mkostemp(aside, O_CLOEXEC);
    if (file >= 0)
        fchmod(file, 0666 & ~mask);
    return file;
}

static bool write_aside(char *aside, void (*write)(FILE *stream, const void *user),
                        const void *user)
{
    int file = open_aside(aside);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
    if (!stream) {
        if (file >= 0)
            close(file);
        return false;
    }
    write(stream, user);
    bool well = fflush(stream) == 0 && !ferror(stream) && fsync(fileno(stream)) == 0;
    return fclose(stream) == 0 && well;
}

/* A new name is on the disk when its directory is. */
static void sync_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = slash ? strndup(path, (size_t)(slash - path + 1)) : strdup(".");
    int directory = name ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(name);
    if (directory < 0)
        return;
    fsync(directory);
    close(directory);
}

bool file_replace(const char *path, void (*write)(FILE *stream, const void *user), const void *user)
{
    char *aside;
    if (asprintf(&aside, "%s.XXXXXX", path) < 0)
        return false;
    bool well = write_aside(aside, write, user) && rename(aside, path) == 0;
    int code = errno;
    if (well)
        sync_directory(path);
    else
        unlink(aside);
    free(aside);
    errno = code;
    return well;
}

spmd_status file_join(const char *directory, const char *name, char **path)
{
    char *joined;
    if (asprintf(&joined, "%s/%s", directory, name) < 0)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for the name of %s/%s", directory, name);
    *path = joined;
    return SPMD_OK;
}

spmd_status file_fail(const char *verb, const char *path)
{
    return spmd_fail(SPMD_ERR_FILE, "cannot %s %s: %s", verb, path, strerror(errno));
}
