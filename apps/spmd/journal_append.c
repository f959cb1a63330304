/* journal_append.c - a rank's own file of rows, which grows by a line at a time. */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "journal_line.h"

/* By one write, so that a crash tears at most the last line. */
static bool write_once(int file, const char *text, size_t size)
{
    ssize_t written;
    do
        written = write(file, text, size);
    while (written < 0 && errno == EINTR);
    if (written >= 0 && (size_t)written < size)
        errno = ENOSPC;
    return written == (ssize_t)size;
}

static bool is_regular(int file)
{
    struct stat info;
    return fstat(file, &info) == 0 && S_ISREG(info.st_mode);
}

/* A line that a crash has torn ends here, so that it does not spoil the next one. */
static bool end_torn_line(int file)
{
    char last = '\n';
    off_t size = lseek(file, 0, SEEK_END);
    if (size > 0 && pread(file, &last, 1, size - 1) != 1)
        return false;
    return last == '\n' || write_once(file, "\n", 1);
}

spmd_status journal_open(const char *path, int64_t position, int nmetrics, struct journal *journal)
{
    char name[32];
    snprintf(name, sizeof name, "rows.%lld", (long long)position);
    struct journal new = {.nmetrics = nmetrics};
    SPMD_TRY(file_join(path, name, &new.path));
    new.file = open(new.path, O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0666);
    spmd_status status = SPMD_OK;
    if (new.file >= 0 && !is_regular(new.file))
        status = spmd_fail(SPMD_ERR_FILE, "%s is no regular file", new.path);
    else if (new.file < 0 || !end_torn_line(new.file))
        status = file_fail("write", new.path);
    if (status != SPMD_OK) {
        if (new.file >= 0)
            close(new.file);
        free(new.path);
        return status;
    }
    *journal = new;
    return SPMD_OK;
}

spmd_status journal_append(struct journal *journal, const struct journal_row *row)
{
    char line[JOURNAL_MAX_LINE];
    size_t length = journal_line_format(row, journal->nmetrics, line);
    return write_once(journal->file, line, length) ? SPMD_OK : file_fail("write", journal->path);
}

spmd_status journal_close(struct journal *journal)
{
    if (!journal->path)
        return SPMD_OK;
    bool well = fsync(journal->file) == 0;
    well = close(journal->file) == 0 && well;
    spmd_status status = well ? SPMD_OK : file_fail("write", journal->path);
    free(journal->path);
    *journal = (struct journal){.file = -1};
    return status;
}
