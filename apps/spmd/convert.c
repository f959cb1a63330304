/* convert.c - spmd convert: an HDF5 file whose arrays are stored in another way. */
#include "convert.h"

#include <stdio.h>
#include <sys/stat.h>

#include "cmd.h"
#include "file.h"
#include "h5file.h"
#include "plural.h"

struct conversion {
    const struct convert_options *options;
    spmd_mesh *mesh;
    spmd_file *in, *out;
    int64_t arrays; /* done so far */
    int64_t typed;  /* of them, those that are of the type that was asked for */
};

static spmd_status convert_numbers(struct conversion *run, const spmd_file_entry *entry)
{
    spmd_dtype dtype = entry->dtype;
    spmd_dataset_options layout = entry->options;
    if (convert_is_array(entry)) {
        SPMD_TRY(convert_layout(run->options, entry->name, entry->shape, &dtype, &layout));
        run->arrays++;
        run->typed += dtype == run->options->dtype;
    }
    SPMD_TRY(spmd_dataset_create(run->out, entry->name, dtype, entry->shape, &layout));
    const int64_t *chunk = layout.chunk[0] > 0 ? layout.chunk : entry->options.chunk;
    SPMD_TRY(
        convert_elements(run->mesh, run->in, run->out, entry->name, dtype, entry->shape, chunk));
    return spmd_attributes_copy(run->in, entry->name, run->out);
}

static spmd_status convert_entry(struct conversion *run, const spmd_file_entry *entry)
{
    if (entry->problem && !entry->elements && !entry->link)
        return spmd_fail(SPMD_ERR_FILE, "%s", entry->problem);
    return convert_is_numbers(entry) ? convert_numbers(run, entry)
                                     : spmd_object_copy(run->in, entry->name, run->out);
}

static spmd_status convert_entries(struct conversion *run, const spmd_file_listing *listing)
{
    SPMD_TRY(spmd_attributes_copy(run->in, "/", run->out));
    for (int i = 0; i < listing->count; i = convert_next(listing, i))
        SPMD_TRY(convert_entry(run, &listing->entry[i]));
    return SPMD_OK;
}

static spmd_status convert_all(struct conversion *run)
{
    spmd_file_listing *listing = NULL;
    SPMD_TRY(spmd_file_list(run->in, "/", &listing));
    spmd_status status = convert_check_names(run->options, run->in, listing);
    if (status == SPMD_OK)
        status = convert_check_chunks(run->options, listing);
    if (status == SPMD_OK)
        status = convert_entries(run, listing);
    spmd_file_listing_free(&listing);
    return status;
}

static spmd_status write_out(struct conversion *run)
{
    SPMD_TRY(spmd_file_create(run->mesh, run->options->out, &run->out));
    return h5file_end(&run->out, convert_all(run));
}

/* A converted checkpoint is a plain file, which can no longer be compared with what was saved. */
static spmd_status check_plain(const struct conversion *run, spmd_file *old)
{
    spmd_file_listing *listing = NULL;
    SPMD_TRY(spmd_file_list(old, "/", &listing));
    long long step = listing->step;
    spmd_file_listing_free(&listing);
    if (step < 0)
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_FILE, "%s: is the checkpoint of step %lld; --force replaces it",
                     run->options->out, step);
}

/* What stands at OUT is replaced if it is a plain HDF5 file, as far as can be told; by force
 * another file as well, but no directory. */
static spmd_status check_out(const struct conversion *run)
{
    struct stat about;
    spmd_file *old = NULL;
    int there = stat(run->options->out, &about) == 0;
    int directory = there && S_ISDIR(about.st_mode);
    MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&directory, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (directory)
        return spmd_fail(SPMD_ERR_FILE, "%s: is a directory; name a file in it", run->options->out);
    if (!there || run->options->force)
        return SPMD_OK;
    if (spmd_file_open(run->mesh, run->options->out, &old) == SPMD_OK) {
        spmd_status status = check_plain(run, old);
        spmd_file_discard(&old);
        return status;
    }
    char reason[512];
    snprintf(reason, sizeof reason, "%s", spmd_error_message());
    return spmd_fail(SPMD_ERR_FILE, "%s; --force replaces it", reason);
}

static spmd_status open_and_convert(struct conversion *run)
{
    SPMD_TRY(check_out(run));
    SPMD_TRY(spmd_file_open(run->mesh, run->options->in, &run->in));
    return h5file_end(&run->in, write_out(run));
}

static void tell(const struct conversion *run, long long before)
{
    const struct convert_options *options = run->options;
    if (cmd_is_speaker())
        printf("%s: %lld array%s, %lld bytes in place of %lld\n", options->out,
               (long long)run->arrays, plural(run->arrays), file_size(options->out), before);
    if (options->dtype != SPMD_DTYPE_NONE && run->arrays > 0 && run->typed == 0)
        cmd_note("no array was converted to %s, since all are numbers of another kind; name those "
                 "that are to be",
                 spmd_dtype_name(options->dtype));
}

static spmd_status convert(struct conversion *run)
{
    long long before = file_size(run->options->in);
    SPMD_TRY(open_and_convert(run));
    tell(run, before);
    return SPMD_OK;
}

int cmd_convert(int argc, char **argv)
{
    struct convert_options options;
    int code;
    if (convert_options_parse(argc, argv, &options, &code)) {
        struct conversion run = {.options = &options};
        MPI_Init(NULL, NULL);
        spmd_status status = cmd_make_mesh(&run.mesh);
        if (status == SPMD_OK)
            status = convert(&run);
        code = cmd_conclude(status);
        spmd_mesh_free(&run.mesh);
        MPI_Finalize();
    }
    convert_options_free(&options);
    return code;
}
