/* info.h - the parts of spmd info. */
#ifndef APPS_INFO_H
#define APPS_INFO_H

#include <spmd.h>

/* info_system.c. Collective over MPI_COMM_WORLD. Prints versions, ranks, environment. Returns the
 * exit code. */
int info_system(void);

/* info_environment.c. Local, at the one that speaks. Prints what is set, and tells what is wrong
 * with it. Returns the exit code: a bad value is that of the calls that read it. */
int info_environment(void);

/* info.c. Local. Whether an entry is an array, and not the second name of one. */
bool info_is_array(const spmd_file_entry *entry);

/* info_file.c. Collective over `mesh`. Prints what a file has, as a table or as a JSON object;
 * position 0 does. */
spmd_status info_file(spmd_mesh *mesh, const char *path, bool json);

/* What is printed of a file, at the rank that does. */
struct info_sheet {
    const char *path;
    const spmd_file_listing *listing;
    char **value; /* [listing->count] of keys, integers and texts; else NULL */
};

/* info_table.c, info_json.c. Local. Prints it. */
void info_print_table(const struct info_sheet *sheet);
void info_print_json(const struct info_sheet *sheet);

/* info_file.c. Local. Whether an entry is a dataset, and not a link to one; what it is in a tree,
 * "list", "array", ..., or "link" or "other"; and the type of a dataset, as snprintf writes it. */
enum { INFO_TYPE_BYTES = 512 };
bool info_is_dataset(const spmd_file_entry *entry);
const char *info_kind_name(const spmd_file_entry *entry);
int info_format_type(char *text, size_t size, const spmd_file_entry *entry);

/* info_steps.c. Collective over `mesh`. Prints the checkpoints of a directory. */
spmd_status info_steps(spmd_mesh *mesh, const char *path, bool json);

/* info_steps.c. Collective over `mesh`. The steps [*count], to be freed; local: the path of one. */
enum { INFO_PATH_BYTES = 4096 };
spmd_status info_find_steps(spmd_mesh *mesh, const char *directory, int *count, int64_t **steps);
void info_step_path(const char *directory, int64_t step, char path[INFO_PATH_BYTES]);

/* info_verify.c. Collective over `mesh`. Reads all arrays, of a file or of the checkpoints of a
 * directory, and so compares what has a checksum. Fails where one does not match. */
spmd_status info_verify(spmd_mesh *mesh, const char *path, bool is_directory);

#endif
