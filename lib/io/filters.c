/* io/filters.c - what packs the chunks of a dataset. */
#include "io/filters.h"

#include "core/error.h"

static spmd_status check_filter(const spmd_file *file, const char *name, hid_t creation,
                                unsigned index)
{
    enum { NAME_BYTES = 80 };
    char filter[NAME_BYTES] = "";
    size_t nvalues = 0;
    H5Z_filter_t id =
        H5Pget_filter2(creation, index, NULL, &nvalues, NULL, sizeof filter, filter, NULL);
    if (id < 0 || H5Zfilter_avail(id) > 0)
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_FILE,
                     "%s: dataset \"%s\" is packed by filter %d (%s), which this HDF5 does not "
                     "have; install its plugin, and name the plugin's directory in "
                     "HDF5_PLUGIN_PATH",
                     file->path, name, (int)id, filter[0] ? filter : "of no name");
}

spmd_status spmd__filters_check(const spmd_file *file, const char *name, hid_t dataset)
{
    hid_t creation = H5Dget_create_plist(dataset);
    int count = H5Pget_nfilters(creation);
    spmd_status status = SPMD_OK;
    for (int i = 0; i < count && status == SPMD_OK; i++)
        status = check_filter(file, name, creation, (unsigned)i);
    H5Pclose(creation);
    return status;
}

spmd_status spmd__filter_check_deflate(void)
{
    if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_FILE, "this HDF5 was built without deflate; leave it out");
}

int spmd__filters_count(hid_t dataset)
{
    hid_t creation = H5Dget_create_plist(dataset);
    int count = H5Pget_nfilters(creation);
    H5Pclose(creation);
    return count > 0 ? count : 0;
}
