/* file.h - whole files: read, or replaced so that a crash leaves the old one or the new one. */
#ifndef APPS_FILE_H
#define APPS_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include <spmd.h>

/* All of a regular file, with a zero behind it; free() it. Fails with SPMD_ERR_FILE. */
spmd_status file_read(const char *path, char **text, size_t *size);

/* Its bytes; -1: it is not there. */
long long file_size(const char *path);

/* Writes PATH.XXXXXX, a new name, by `write`, brings it to the disk, and renames it to `path`.
 * False with errno on failure; then `path` is as it was. */
bool file_replace(const char *path, void (*write)(FILE *stream, const void *user),
                  const void *user);

/* The path of `name` in a directory; free() it. Fails with SPMD_ERR_MEMORY. */
spmd_status file_join(const char *directory, const char *name, char **path);

/* Fails with SPMD_ERR_FILE: "cannot VERB PATH: " and the meaning of errno. */
spmd_status file_fail(const char *verb, const char *path);

#endif
