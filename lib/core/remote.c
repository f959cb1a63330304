/* core/remote.c - copies out of the memory of another process: lists of runs for process_vm_readv.
 *
 * Runs that are neighbours on one side are one entry of that side's list, so a dense side costs no
 * more than a pointer. */
#include "core/remote.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>

#include "core/runs.h"

/* Copies from the entries of `remote` to those of `local`, or a part of them; -1 with errno. */
static ssize_t read_some(int64_t process, const struct iovec local[], int nlocal,
                         const struct iovec remote[], int nremote)
{
#ifdef HAVE_PROCESS_VM_READV
    return process_vm_readv((pid_t)process, local, (unsigned long)nlocal, remote,
                            (unsigned long)nremote, 0);
#else
    (void)process, (void)local, (void)nlocal, (void)remote, (void)nremote;
    errno = ENOSYS;
    return -1;
#endif
}

/* Entries of one call, on either side; the system takes at least 1024. */
enum { MOST_ENTRIES = 512 };

/* One side of a call. */
struct list {
    int count;
    struct iovec entry[MOST_ENTRIES];
};

/* Adds bytes behind the others; there is room for one more entry. */
static void add(struct list *list, char *data, size_t bytes)
{
    struct iovec *last = list->count > 0 ? &list->entry[list->count - 1] : NULL;
    if (last && (char *)last->iov_base + last->iov_len == data)
        last->iov_len += bytes;
    else
        list->entry[list->count++] = (struct iovec){data, bytes};
}

/* Takes what has been copied off the beginning of `entries`; gives how many are done. */
static int advance(struct iovec entries[], size_t bytes)
{
    int done = 0;
    while (bytes > 0) {
        struct iovec *entry = &entries[done];
        size_t part = bytes < entry->iov_len ? bytes : entry->iov_len;
        entry->iov_base = (char *)entry->iov_base + part;
        entry->iov_len -= part;
        done += entry->iov_len == 0;
        bytes -= part;
    }
    return done;
}

/* Copies all entries; both sides have as many bytes. A call of the system may do less than it was
 * asked for: it does 2 GiB at most. */
static spmd_status read_all(int64_t process, struct iovec local[], int nlocal,
                            struct iovec remote[], int nremote)
{
    for (int to = 0, from = 0; from < nremote && remote[from].iov_len > 0;) {
        ssize_t bytes = read_some(process, local + to, nlocal - to, remote + from, nremote - from);
        if (bytes <= 0)
            return spmd_fail(SPMD_ERR_MEMORY,
                             "the memory of process %lld cannot be read any more (%s): "
                             "SPMD_MOVE=messages does without that",
                             (long long)process, bytes < 0 ? strerror(errno) : "it is gone");
        to += advance(local + to, (size_t)bytes);
        from += advance(remote + from, (size_t)bytes);
    }
    return SPMD_OK;
}

spmd_status spmd__remote_copy(int64_t process, const struct view *dst, const struct view *src,
                              size_t element)
{
    if (spmd__view_size(dst) == 0)
        return SPMD_OK;
    struct runs runs = spmd__runs_of(dst, src, element);
    int64_t count = spmd__runs_count(&runs);
    struct list local, remote;
    local.count = remote.count = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t to, from;
        spmd__runs_find(&runs, i, &to, &from);
        if (local.count == MOST_ENTRIES || remote.count == MOST_ENTRIES) {
            TRY(read_all(process, local.entry, local.count, remote.entry, remote.count));
            local.count = remote.count = 0;
        }
        add(&local, dst->data + to, runs.bytes);
        add(&remote, src->data + from, runs.bytes);
    }
    return read_all(process, local.entry, local.count, remote.entry, remote.count);
}

spmd_status spmd__remote_read(int64_t process, void *dst, const void *src, size_t bytes)
{
    struct iovec local = {dst, bytes}, remote = {(void *)src, bytes};
    return read_all(process, &local, 1, &remote, 1);
}

int spmd__remote_probe(int64_t process, const void *address, const void *mark, size_t bytes)
{
    char seen[64];
    struct iovec local = {seen, bytes}, remote = {(void *)address, bytes};
    ssize_t done = read_some(process, &local, 1, &remote, 1);
    if (done < 0)
        return errno;
    return done == (ssize_t)bytes && memcmp(seen, mark, bytes) == 0 ? 0 : ESRCH;
}
