/* progress.c - one line on a terminal that says how far a sweep is. */
#include "progress.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd.h"

/* A launcher reads its processes' messages through a pipe and prints them: what counts then is
 * where its own go. */
static bool launcher_is_seen(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/fd/2", (long)getppid());
    int file = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return false;
    bool seen = isatty(file);
    close(file);
    return seen;
}

bool progress_is_seen(void)
{
    return isatty(STDERR_FILENO) || (cmd_launch().variable && launcher_is_seen());
}

void progress_draw(int64_t done, int64_t total, int64_t ran, double seconds, const char *best)
{
    char line[80]; /* a longer one would break, and \r would no longer find its beginning */
    int used = snprintf(line, sizeof line, "%lld of %lld done", (long long)done, (long long)total);
    if (ran > 0) {
        long long left = (long long)(seconds / (double)ran * (double)(total - done) + 0.5);
        used += snprintf(line + used, sizeof line - (size_t)used, ", %lld:%02lld left", left / 60,
                         left % 60);
    }
    snprintf(line + used, sizeof line - (size_t)used, "%s%s", best[0] != '\0' ? ", best " : "",
             best);
    fprintf(stderr, "\r\033[K%s", line);
    fflush(stderr);
}

void progress_clear(void)
{
    fputs("\r\033[K", stderr);
    fflush(stderr);
}
