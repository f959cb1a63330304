/* io/storage.c - how the elements of a dataset are stored, for print-outs, and to be stored so
 * again. */
#include "io/storage.h"

#include <stdlib.h>

#include "io/filters.h"
#include "io/types.h"

/* The filters that have names of their own here. */
static const struct {
    H5Z_filter_t id;
    const char *name;
} known[] = {
    {H5Z_FILTER_SHUFFLE, "shuffle"},
    {H5Z_FILTER_FLETCHER32, "fletcher32"},
    {H5Z_FILTER_SZIP, "szip"},
    {H5Z_FILTER_NBIT, "nbit"},
    {H5Z_FILTER_SCALEOFFSET, "scaleoffset"},
};

static const char *known_name(H5Z_filter_t id)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].id == id)
            return known[i].name;
    return NULL;
}

static void print_filter(struct text *text, const struct used_filter *filter)
{
    const char *name = known_name(filter->id);
    if (filter->id == H5Z_FILTER_DEFLATE)
        spmd__text_add(text, ", deflate %u", filter->value);
    else if (name)
        spmd__text_add(text, ", %s", name);
    else if (filter->name[0] != '\0')
        spmd__text_add(text, ", filter %d (%s)", (int)filter->id, filter->name);
    else
        spmd__text_add(text, ", filter %d", (int)filter->id);
}

static void print_chunks(struct text *text, hid_t creation)
{
    const struct pipeline pipeline = spmd__pipeline_of(creation);
    hsize_t chunk[H5S_MAX_RANK];
    int ndim = H5Pget_chunk(creation, H5S_MAX_RANK, chunk);
    spmd__text_add(text, "chunks ");
    for (int d = 0; d < ndim; d++)
        spmd__text_add(text, "%s%llu", d > 0 ? "x" : "", (unsigned long long)chunk[d]);
    for (int i = 0; i < pipeline.count; i++)
        print_filter(text, &pipeline.filter[i]);
}

void spmd__storage_print(struct text *text, hid_t dataset)
{
    hid_t creation = H5Dget_create_plist(dataset);
    switch (H5Pget_layout(creation)) {
    case H5D_COMPACT:
        spmd__text_add(text, "compact");
        break;
    case H5D_CHUNKED:
        print_chunks(text, creation);
        break;
    case H5D_VIRTUAL:
        spmd__text_add(text, "virtual");
        break;
    default:
        spmd__text_add(text, H5Pget_external_count(creation) > 0 ? "external" : "contiguous");
    }
    H5Pclose(creation);
}

static void take_filter(const struct used_filter *filter, spmd_dataset_options *options)
{
    if (filter->id == H5Z_FILTER_DEFLATE)
        options->deflate = (int)filter->value;
    options->shuffle = options->shuffle || filter->id == H5Z_FILTER_SHUFFLE;
    options->fletcher32 = options->fletcher32 || filter->id == H5Z_FILTER_FLETCHER32;
}

static void take_chunks(hid_t creation, spmd_dataset_options *options)
{
    const struct pipeline pipeline = spmd__pipeline_of(creation);
    hsize_t chunk[H5S_MAX_RANK];
    int ndim = H5Pget_chunk(creation, H5S_MAX_RANK, chunk);
    for (int d = 0; d < ndim && d < SPMD_MAX_DIMS; d++)
        options->chunk[d] = (int64_t)chunk[d];
    for (int i = 0; i < pipeline.count; i++)
        take_filter(&pipeline.filter[i], options);
}

/* What somebody has chosen. */
static void *take_fill(hid_t creation, spmd_dtype dtype)
{
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
    if (dtype == SPMD_DTYPE_NONE || H5Pfill_value_defined(creation, &defined) < 0 ||
        defined != H5D_FILL_VALUE_USER_DEFINED)
        return NULL;
    void *fill = calloc(1, spmd_dtype_size(dtype));
    hid_t type = spmd__type_create(dtype);
    if (fill && H5Pget_fill_value(creation, type, fill) < 0) {
        free(fill);
        fill = NULL;
    }
    H5Tclose(type);
    return fill;
}

void spmd__storage_options(hid_t dataset, spmd_dtype dtype, spmd_dataset_options *options)
{
    hid_t creation = H5Dget_create_plist(dataset);
    if (H5Pget_layout(creation) == H5D_CHUNKED)
        take_chunks(creation, options);
    options->fill = take_fill(creation, dtype);
    H5Pclose(creation);
}
