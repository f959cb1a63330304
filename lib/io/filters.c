/* io/filters.c - what packs the chunks of a dataset. */
#include "io/filters.h"

#include "core/error.h"

static struct used_filter look_at(hid_t creation, unsigned index)
{
    struct used_filter filter = {0};
    size_t nvalues = 1;
    filter.id = H5Pget_filter2(creation, index, NULL, &nvalues, &filter.value, sizeof filter.name,
                               filter.name, NULL);
    return filter;
}

struct pipeline spmd__pipeline_of(hid_t creation)
{
    struct pipeline pipeline = {0};
    const int count = H5Pget_nfilters(creation);
    while (pipeline.count < count && pipeline.count < H5Z_MAX_NFILTERS) {
        pipeline.filter[pipeline.count] = look_at(creation, (unsigned)pipeline.count);
        pipeline.count++;
    }
    return pipeline;
}

static struct pipeline pipeline_of_dataset(hid_t dataset)
{
    hid_t creation = H5Dget_create_plist(dataset);
    struct pipeline pipeline = spmd__pipeline_of(creation);
    H5Pclose(creation);
    return pipeline;
}

static spmd_status check_filter(const spmd_file *file, const char *name,
                                const struct used_filter *filter)
{
    if (filter->id < 0 || H5Zfilter_avail(filter->id) > 0)
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_FILE,
                     "%s: dataset \"%s\" is packed by filter %d (%s), which this HDF5 does not "
                     "have; install its plugin, and name the plugin's directory in "
                     "HDF5_PLUGIN_PATH",
                     file->path, name, (int)filter->id,
                     filter->name[0] ? filter->name : "of no name");
}

spmd_status spmd__filters_check(const spmd_file *file, const char *name, hid_t dataset)
{
    const struct pipeline pipeline = pipeline_of_dataset(dataset);
    for (int i = 0; i < pipeline.count; i++)
        TRY(check_filter(file, name, &pipeline.filter[i]));
    return SPMD_OK;
}

spmd_status spmd__filter_check_deflate(void)
{
    if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_FILE, "this HDF5 was built without deflate; leave it out");
}

int spmd__filters_count(hid_t dataset)
{
    return pipeline_of_dataset(dataset).count;
}
