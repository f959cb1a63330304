/* core/partition.c - the members of a group of ranks, in several groups. */
#include "core/partition.h"

#include <stdlib.h>

#include "core/absent.h"
#include "core/cursor.h"
#include "core/mem.h"

/* A list that is being read: of each member, whether it has been seen. */
struct reading {
    struct cursor cursor;
    int64_t size;
    int64_t count; /* of members that have been read */
    bool *seen;    /* [size] */
    struct partition *partition;
};

static spmd_status fail_syntax(struct reading *reading, const char *expected)
{
    return spmd_fail(SPMD_ERR_SYNTAX, "axes \"%s\": expected %s at column %d",
                     reading->cursor.start, expected, spmd__cursor_column(&reading->cursor));
}

static spmd_status read_member(struct reading *reading)
{
    int64_t member;
    if (!spmd__cursor_number(&reading->cursor, &member))
        return fail_syntax(reading, "a member's number");
    if (member >= reading->size)
        return spmd_fail(SPMD_ERR_ARGUMENT, "axes \"%s\": %s", reading->cursor.start,
                         spmd__absent("member", member, 0, reading->size).text);
    if (reading->seen[member])
        return spmd_fail(SPMD_ERR_ARGUMENT, "axes \"%s\": member %lld stands twice",
                         reading->cursor.start, (long long)member);
    reading->seen[member] = true;
    reading->partition->member[reading->count++] = member;
    return SPMD_OK;
}

static spmd_status read_group(struct reading *reading)
{
    if (!spmd__cursor_take(&reading->cursor, "["))
        return fail_syntax(reading, "[ and a group");
    do
        TRY(read_member(reading));
    while (spmd__cursor_take(&reading->cursor, ","));
    if (!spmd__cursor_take(&reading->cursor, "]"))
        return fail_syntax(reading, "a comma or ]");
    reading->partition->first[++reading->partition->count] = reading->count;
    return SPMD_OK;
}

static spmd_status read_groups(struct reading *reading)
{
    if (!spmd__cursor_take(&reading->cursor, "["))
        return fail_syntax(reading, "[ and groups");
    do
        TRY(read_group(reading));
    while (spmd__cursor_take(&reading->cursor, ","));
    if (!spmd__cursor_take(&reading->cursor, "]"))
        return fail_syntax(reading, "a comma or ]");
    if (!spmd__cursor_at_end(&reading->cursor))
        return fail_syntax(reading, "the end");
    for (int64_t m = 0; m < reading->size; m++)
        if (!reading->seen[m])
            return spmd_fail(SPMD_ERR_ARGUMENT, "axes \"%s\": member %lld is in no group",
                             reading->cursor.start, (long long)m);
    return SPMD_OK;
}

spmd_status spmd__partition_parse(const char *text, const char *at, int64_t size,
                                  struct partition *out)
{
    struct partition partition = {0};
    struct reading reading = {{text, at}, size, 0, NULL, &partition};
    spmd_status status = spmd__alloc((size_t)size + 1, sizeof *partition.first, &partition.first);
    if (status == SPMD_OK)
        status = spmd__alloc((size_t)size, sizeof *partition.member, &partition.member);
    if (status == SPMD_OK)
        status = spmd__alloc((size_t)size, sizeof *reading.seen, &reading.seen);
    if (status == SPMD_OK)
        status = read_groups(&reading);
    free(reading.seen);
    if (status == SPMD_OK)
        *out = partition;
    else
        spmd__partition_free(&partition);
    return status;
}

int64_t spmd__partition_find(const struct partition *partition, int64_t member, int64_t *place)
{
    for (int64_t g = 0; g < partition->count; g++)
        for (int64_t i = partition->first[g]; i < partition->first[g + 1]; i++)
            if (partition->member[i] == member) {
                *place = i - partition->first[g];
                return g;
            }
    return -1;
}

bool spmd__partition_is_even(const struct partition *partition)
{
    for (int64_t g = 0; g < partition->count; g++)
        if (partition->first[g + 1] - partition->first[g] != partition->first[1])
            return false;
    return true;
}

void spmd__partition_free(struct partition *partition)
{
    free(partition->first);
    free(partition->member);
    *partition = (struct partition){0};
}
