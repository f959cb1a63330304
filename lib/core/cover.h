/* core/cover.h - whether parts cover a block exactly once: one bit for each of its elements. */
#ifndef CORE_COVER_H
#define CORE_COVER_H

#include <spmd/types.h>

#include "core/view.h"

struct cover {
    int64_t size;        /* elements of the block */
    int64_t first_twice; /* the least one that was marked twice; `size` if there is none */
    uint64_t *marked;    /* [size] bits */
};

/* Nothing is marked. Fails with SPMD_ERR_MEMORY. */
spmd_status spmd__cover_begin(int64_t size, struct cover *cover);

/* Marks the elements of a part: element `first` and its neighbours by `part`'s extents and strides,
 * which count elements here (part->data is not read). */
void spmd__cover_mark(struct cover *cover, int64_t first, const struct view *part);

/* The least element that was not marked once; `size` if there is none. */
int64_t spmd__cover_first_wrong(const struct cover *cover);

void spmd__cover_end(struct cover *cover);

#endif
