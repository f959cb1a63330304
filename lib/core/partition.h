/* core/partition.h - the members of a group of ranks, in several groups. */
#ifndef CORE_PARTITION_H
#define CORE_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

/* Group g has the members member[first[g]] ... member[first[g + 1] - 1], in this order. */
struct partition {
    int64_t count;   /* of groups */
    int64_t *first;  /* [count + 1] */
    int64_t *member; /* [first[count]] each of 0 ... first[count] - 1 once */
};

/* Reads "[[0,2],[3,1]]" for `size` members. `text` is the whole that the message shows, and *at
 * where in it the list begins; behind the list nothing may stand. Fails with SPMD_ERR_SYNTAX, or
 * SPMD_ERR_ARGUMENT where a member stands twice, or in no group. */
spmd_status spmd__partition_parse(const char *text, const char *at, int64_t size,
                                  struct partition *partition);

/* The group that `member` is in, and its place there. */
int64_t spmd__partition_find(const struct partition *partition, int64_t member, int64_t *place);

/* Whether all groups have the same size. */
bool spmd__partition_is_even(const struct partition *partition);

void spmd__partition_free(struct partition *partition);

#endif
