/* info_verify.c - whether files and checkpoints are whole: all ranks read them together. */
#include "info.h"

#include <stdio.h>
#include <stdlib.h>

#include "cmd.h"
#include "h5file.h"
#include "plural.h"

/* What was read of a file. */
struct tally {
    int64_t arrays, with_checksum;
};

/* Opening a checkpoint compares it with its seal, but for elements with a checksum of their own:
 * these are compared as they are read, and so are chunks that have one, by HDF5. */
static spmd_status read_arrays(spmd_file *file, const spmd_file_listing *listing,
                               struct tally *tally)
{
    bool sealed = listing->step >= 0;
    for (int i = 0; i < listing->count; i++) {
        const spmd_file_entry *entry = &listing->entry[i];
        const char *spec = entry->shape.ndim > 0 ? "P(ranks)" : "P()";
        spmd_array *array = NULL;
        if (!info_is_array(entry))
            continue;
        SPMD_TRY(spmd_dataset_read(file, entry->name, spec, SPMD_DTYPE_NONE, &array));
        spmd_array_free(&array);
        tally->arrays++;
        tally->with_checksum += sealed || entry->checksum || entry->options.fletcher32;
    }
    return SPMD_OK;
}

static spmd_status read_all(spmd_file *file, struct tally *tally)
{
    spmd_file_listing *listing = NULL;
    SPMD_TRY(spmd_file_list(file, "/", &listing));
    spmd_status status = read_arrays(file, listing, tally);
    spmd_file_listing_free(&listing);
    return status;
}

static spmd_status verify_file(spmd_mesh *mesh, const char *path)
{
    spmd_file *file = NULL;
    struct tally tally = {0, 0};
    SPMD_TRY(spmd_file_open(mesh, path, &file));
    SPMD_TRY(h5file_end(&file, read_all(file, &tally)));
    if (cmd_is_speaker())
        printf("%s: %lld array%s read, %lld compared with checksums\n", path,
               (long long)tally.arrays, plural(tally.arrays), (long long)tally.with_checksum);
    return SPMD_OK;
}

/* Goes on behind one that is damaged. */
static spmd_status verify_steps(spmd_mesh *mesh, const char *directory, int count,
                                const int64_t steps[])
{
    char path[INFO_PATH_BYTES];
    int damaged = 0;
    for (int i = 0; i < count; i++) {
        info_step_path(directory, steps[i], path);
        if (verify_file(mesh, path) == SPMD_OK)
            continue;
        cmd_error("%s", spmd_error_message());
        damaged++;
    }
    if (damaged > 0)
        return spmd_fail(SPMD_ERR_FILE, "%s: %d of %d checkpoints cannot be restored", directory,
                         damaged, count);
    return SPMD_OK;
}

spmd_status info_verify(spmd_mesh *mesh, const char *path, bool is_directory)
{
    int count;
    int64_t *steps;
    if (!is_directory)
        return verify_file(mesh, path);
    SPMD_TRY(info_find_steps(mesh, path, &count, &steps));
    spmd_status status = verify_steps(mesh, path, count, steps);
    free(steps);
    return status;
}
