/* partition.c - fuzzes the groups of a list of axes; the input's first line is the number of
 * members.
 */
#include "core/partition.h"
#include "fuzz.h"

static int64_t size_of(const char *line)
{
    long size = strtol(line, NULL, 10);
    return size >= 1 && size <= 64 ? size : 6;
}

/* Each member is in one group, where it is found. */
static void check_partition(const struct partition *partition, int64_t size)
{
    int64_t largest = 0, smallest = size;
    HOLDS(partition->count >= 1 && partition->count <= size);
    HOLDS(partition->first[0] == 0 && partition->first[partition->count] == size);
    for (int64_t g = 0; g < partition->count; g++) {
        int64_t members = partition->first[g + 1] - partition->first[g];
        HOLDS(members >= 1);
        largest = members > largest ? members : largest;
        smallest = members < smallest ? members : smallest;
    }
    HOLDS(spmd__partition_is_even(partition) == (largest == smallest));
    for (int64_t member = 0; member < size; member++) {
        int64_t place = -1, group = spmd__partition_find(partition, member, &place);
        HOLDS(group >= 0 && group < partition->count && place >= 0);
        HOLDS(partition->member[partition->first[group] + place] == member);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    const char *groups = fuzz_cut_line(text);
    int64_t members = size_of(text);
    struct partition partition;
    spmd_status status =
        FUZZ_PARSE(&partition, spmd__partition_parse(groups, groups, members, &partition));
    HOLDS(status == SPMD_OK || status == SPMD_ERR_SYNTAX || status == SPMD_ERR_ARGUMENT);
    if (status == SPMD_OK) {
        check_partition(&partition, members);
        spmd__partition_free(&partition);
    }
    free(text);
    return 0;
}
