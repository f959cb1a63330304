/* io/seal.c - what stands in front of a checkpoint: comparing a file with it. */
#include "io/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "io/bytes.h"
#include "io/cause.h"
#include "io/seal_text.h"

int64_t spmd__seal_room(const spmd_tree *tree)
{
    enum { LEAST_BLOCK = 512, LINES_BEFORE = 256 };
    static const char line[] = "data 9223372036854775807 9223372036854775807 c128 0123456789abcdef "
                               "\n";
    int64_t bytes = LINES_BEFORE, room = LEAST_BLOCK;
    for (int leaf = 0; leaf < spmd_tree_nleaves(tree); leaf++)
        bytes += (int64_t)sizeof line + spmd_tree_path(NULL, 0, tree, leaf);
    while (room < bytes)
        room *= 2;
    return room;
}

void spmd__seal_free(struct seal *seal)
{
    free(seal->data);
    free(seal->text);
    *seal = (struct seal){.step = -1};
}

/* The first bytes of a file, as many as there are, and a NUL. */
static int read_head(int fd, char head[SEAL_HEAD_BYTES + 1])
{
    memset(head, 0, SEAL_HEAD_BYTES + 1);
    return pread(fd, head, SEAL_HEAD_BYTES, 0) < 0 ? errno : 0;
}

static bool is_marked(const char *head)
{
    return strncmp(head, SEAL_MARK, strlen(SEAL_MARK)) == 0;
}

static spmd_status look_at_head(int fd, const char *path, bool *begins)
{
    char head[SEAL_HEAD_BYTES + 1];
    struct stat about;
    if (fstat(fd, &about) != 0)
        return spmd__io_fail_errno(errno, "%s", path);
    TRY(spmd__file_check_regular(path, &about));
    int code = read_head(fd, head);
    if (code != 0)
        return spmd__io_fail_errno(code, "%s", path);
    *begins = is_marked(head);
    return SPMD_OK;
}

spmd_status spmd__seal_begins(const char *path, bool *begins)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return spmd__io_fail_errno(errno, "%s", path);
    spmd_status status = look_at_head(fd, path, begins);
    close(fd);
    return status;
}

static spmd_status check_size(const char *name, int64_t bytes, int64_t wanted)
{
    if (bytes < wanted)
        return spmd_fail(SPMD_ERR_FILE, "%s: cut short: %lld of %lld bytes", name, (long long)bytes,
                         (long long)wanted);
    return SPMD_OK;
}

/* The seal by itself. */
static spmd_status read_seal(int fd, const char *name, const char *head, int64_t file_bytes,
                             struct seal *seal)
{
    int64_t bytes = 0;
    TRY(spmd__seal_parse_head(name, head, &bytes));
    TRY(check_size(name, file_bytes, bytes));
    TRY(spmd__alloc((size_t)bytes + 1, 1, &seal->text));
    int code = spmd__bytes_read(fd, 0, bytes, seal->text);
    if (code != 0)
        return spmd__io_fail_errno(code, "%s", name);
    return spmd__seal_parse(name, seal->text, bytes, seal);
}

static spmd_status check_rest(int fd, const char *name, const struct seal *seal, int64_t file_bytes)
{
    TRY(check_size(name, file_bytes, seal->file_bytes));
    if (file_bytes > seal->file_bytes)
        return spmd_fail(SPMD_ERR_FILE,
                         "%s: has %lld bytes, and had %lld when it was written; if another "
                         "program has changed it, h5unjam --delete makes a plain file of it",
                         name, (long long)file_bytes, (long long)seal->file_bytes);
    uint64_t sum = 0;
    int code = spmd__seal_add_rest(fd, seal, &sum);
    if (code != 0)
        return spmd__io_fail_errno(code, "%s", name);
    if (sum != seal->rest)
        return spmd_fail(SPMD_ERR_FILE,
                         "%s: damaged, or changed since it was written: HDF5's metadata in it has "
                         "the checksum %016llx, and had %016llx",
                         name, (unsigned long long)sum, (unsigned long long)seal->rest);
    return SPMD_OK;
}

static spmd_status check(int fd, const char *name, struct seal *seal)
{
    char head[SEAL_HEAD_BYTES + 1];
    struct stat about;
    int code = fstat(fd, &about) == 0 ? read_head(fd, head) : errno;
    if (code != 0)
        return spmd__io_fail_errno(code, "%s", name);
    if (!is_marked(head))
        return SPMD_OK;
    TRY(read_seal(fd, name, head, about.st_size, seal));
    return check_rest(fd, name, seal, about.st_size);
}

static spmd_status check_opened(int fd, const char *name, struct seal *seal)
{
    struct seal found = {.step = -1};
    if (fd < 0)
        return spmd__io_fail_errno(errno, "%s", name);
    spmd_status status = check(fd, name, &found);
    close(fd);
    if (status == SPMD_OK)
        *seal = found;
    else
        spmd__seal_free(&found);
    return status;
}

spmd_status spmd__seal_check(const char *path, const char *name, struct seal *seal)
{
    return check_opened(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), name, seal);
}

/* A file of these bytes that nobody else sees; negative, with errno, if there cannot be one. */
static int make_file_of(const char *bytes, size_t size)
{
    int fd = memfd_create("spmd image", MFD_CLOEXEC);
    int code = fd < 0 ? errno : spmd__bytes_write(fd, 0, (int64_t)size, bytes);
    if (code != 0 && fd >= 0)
        close(fd);
    errno = code;
    return code == 0 ? fd : -1;
}

spmd_status spmd__seal_check_image(const void *bytes, size_t size, const char *name,
                                   struct seal *seal)
{
    *seal = (struct seal){.step = -1};
    if (size < strlen(SEAL_MARK) || !is_marked(bytes))
        return SPMD_OK;
    return check_opened(make_file_of(bytes, size), name, seal);
}
