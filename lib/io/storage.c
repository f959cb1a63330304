/* io/storage.c - how the elements of a dataset are stored, for print-outs, and to be stored so
 * again. */
#include "io/storage.h"

#include <stdlib.h>

#include "io/types.h"

static void print_filter(struct text *text, hid_t creation, unsigned index)
{
    unsigned flags = 0, values[1] = {0}, configuration = 0;
    size_t nvalues = 1;
    char name[64] = "";
    H5Z_filter_t filter = H5Pget_filter2(creation, index, &flags, &nvalues, values, sizeof name,
                                         name, &configuration);
    switch (filter) {
    case H5Z_FILTER_DEFLATE:
        spmd__text_add(text, ", deflate %u", values[0]);
        return;
    case H5Z_FILTER_SHUFFLE:
        spmd__text_add(text, ", shuffle");
        return;
    case H5Z_FILTER_FLETCHER32:
        spmd__text_add(text, ", fletcher32");
        return;
    case H5Z_FILTER_SZIP:
        spmd__text_add(text, ", szip");
        return;
    case H5Z_FILTER_NBIT:
        spmd__text_add(text, ", nbit");
        return;
    case H5Z_FILTER_SCALEOFFSET:
        spmd__text_add(text, ", scaleoffset");
        return;
    default:
        spmd__text_add(text, ", filter %d", (int)filter);
        if (name[0] != '\0')
            spmd__text_add(text, " (%.*s)", (int)sizeof name - 1, name);
    }
}

static void print_chunks(struct text *text, hid_t creation)
{
    hsize_t chunk[H5S_MAX_RANK];
    int ndim = H5Pget_chunk(creation, H5S_MAX_RANK, chunk), nfilters = H5Pget_nfilters(creation);
    spmd__text_add(text, "chunks ");
    for (int d = 0; d < ndim; d++)
        spmd__text_add(text, "%s%llu", d > 0 ? "x" : "", (unsigned long long)chunk[d]);
    for (int i = 0; i < nfilters; i++)
        print_filter(text, creation, (unsigned)i);
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

static void take_filter(hid_t creation, unsigned index, spmd_dataset_options *options)
{
    unsigned flags = 0, values[1] = {0}, configuration = 0;
    size_t nvalues = 1;
    char name[1];
    H5Z_filter_t filter = H5Pget_filter2(creation, index, &flags, &nvalues, values, sizeof name,
                                         name, &configuration);
    if (filter == H5Z_FILTER_DEFLATE)
        options->deflate = (int)values[0];
    options->shuffle = options->shuffle || filter == H5Z_FILTER_SHUFFLE;
    options->fletcher32 = options->fletcher32 || filter == H5Z_FILTER_FLETCHER32;
}

static void take_chunks(hid_t creation, spmd_dataset_options *options)
{
    hsize_t chunk[H5S_MAX_RANK];
    int ndim = H5Pget_chunk(creation, H5S_MAX_RANK, chunk), nfilters = H5Pget_nfilters(creation);
    for (int d = 0; d < ndim && d < SPMD_MAX_DIMS; d++)
        options->chunk[d] = (int64_t)chunk[d];
    for (int i = 0; i < nfilters; i++)
        take_filter(creation, (unsigned)i, options);
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
