/* core/cover.c - whether parts cover a block exactly once. */
#include "core/cover.h"

#include <stdlib.h>

#include "core/mem.h"

enum { WORD_BITS = 64 };

spmd_status spmd__cover_begin(int64_t size, struct cover *cover)
{
    *cover = (struct cover){.size = size, .first_twice = size};
    return spmd__alloc((size_t)size / WORD_BITS + 1, sizeof *cover->marked, &cover->marked);
}

/* Marks the elements of one word whose bits are in `mask`. */
static void mark_word(struct cover *cover, int64_t word, uint64_t mask)
{
    uint64_t twice = cover->marked[word] & mask;
    cover->marked[word] |= mask;
    if (twice) {
        int64_t least = word * WORD_BITS + __builtin_ctzll(twice);
        if (least < cover->first_twice)
            cover->first_twice = least;
    }
}

/* `count` neighbours: whole words at a time. */
static void mark_run(struct cover *cover, int64_t at, int64_t count)
{
    while (count > 0) {
        int64_t bit = at % WORD_BITS;
        int64_t here = count < WORD_BITS - bit ? count : WORD_BITS - bit;
        mark_word(cover, at / WORD_BITS, UINT64_MAX >> (WORD_BITS - here) << bit);
        at += here;
        count -= here;
    }
}

static void mark(struct cover *cover, const struct view *part, int dim, int64_t at)
{
    if (dim == part->ndim)
        mark_run(cover, at, 1);
    else if (dim == part->ndim - 1 && part->stride[dim] == 1)
        mark_run(cover, at, part->extent[dim]);
    else
        for (int64_t i = 0; i < part->extent[dim]; i++)
            mark(cover, part, dim + 1, at + i * part->stride[dim]);
}

void spmd__cover_mark(struct cover *cover, int64_t first, const struct view *part)
{
    mark(cover, part, 0, first);
}

int64_t spmd__cover_first_wrong(const struct cover *cover)
{
    for (int64_t word = 0; word * WORD_BITS < cover->first_twice; word++) {
        if (cover->marked[word] == UINT64_MAX)
            continue;
        int64_t gap = word * WORD_BITS + __builtin_ctzll(~cover->marked[word]);
        return gap < cover->first_twice ? gap : cover->first_twice;
    }
    return cover->first_twice;
}

void spmd__cover_end(struct cover *cover)
{
    free(cover->marked);
}
