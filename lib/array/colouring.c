/* array/colouring.c - colours for blocks: greedy, since there are more colours than neighbours. */
#include "array/colouring.h"

#include <stdbool.h>

int spmd__colouring_add(struct colouring *colouring, int64_t owner)
{
    for (int i = 0; i < colouring->count; i++)
        if (colouring->block[i].owner == owner)
            return i;
    colouring->block[colouring->count] = (struct coloured){.owner = owner};
    return colouring->count++;
}

static void add_neighbour(struct coloured *block, int neighbour)
{
    for (int i = 0; i < block->nneighbours; i++)
        if (block->neighbour[i] == neighbour)
            return;
    if (block->nneighbours < MOST_NEIGHBOURS)
        block->neighbour[block->nneighbours++] = neighbour;
}

void spmd__colouring_separate(struct colouring *colouring, int a, int b)
{
    add_neighbour(&colouring->block[a], b);
    add_neighbour(&colouring->block[b], a);
}

/* Whether a neighbour that has its colour, one before `index`, has this one. */
static bool is_taken(const struct colouring *colouring, int index, int colour)
{
    const struct coloured *block = &colouring->block[index];
    for (int i = 0; i < block->nneighbours; i++)
        if (block->neighbour[i] < index && colouring->block[block->neighbour[i]].colour == colour)
            return true;
    return false;
}

void spmd__colouring_choose(struct colouring *colouring)
{
    for (int i = 0; i < colouring->count; i++) {
        int colour = (int)(colouring->block[i].owner % COLOURS);
        while (is_taken(colouring, i, colour))
            colour = (colour + 1) % COLOURS;
        colouring->block[i].colour = colour;
    }
}
