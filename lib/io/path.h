/* io/path.h - where a new file goes, and the name that it has until it is there. */
#ifndef IO_PATH_H
#define IO_PATH_H

#include "core/error.h"

/* Where `path` leads if it is a link, or a link to a link: to something or, as yet, nothing. Else
 * itself. *target is the caller's to free(). */
spmd_status spmd__path_follow(const char *path, char **target);

/* Makes a file "TARGET.tmp-LETTERS" that was not there. Gives 0 and the path, for the caller to
 * free(); or an errno. */
enum { PATH_LETTERS = 6 };
int spmd__path_make_fresh(const char *target, char **fresh);

/* The path of such a file from its letters, for the caller to free(); NULL without memory. */
char *spmd__path_beside(const char *target, const char letters[PATH_LETTERS]);

/* The file at `path` by a name that MPI-IO can take, for the caller to free(): a long path becomes
 * one that begins with a descriptor of its directory, for the caller to close; else *directory
 * stays. Fails with SPMD_ERR_FILE for a name that is too long by itself. */
spmd_status spmd__path_shorten(const char *path, int *directory, char **alias);

/* Fails with what an errno says of a file that was to be made for `path` beside `target`: where the
 * directory is missing, it is named. */
spmd_status spmd__path_fail(const char *path, const char *target, int code);

/* Gets the entry of a file in its directory to the disk, where the file system can. */
void spmd__path_sync(const char *path);

#endif
