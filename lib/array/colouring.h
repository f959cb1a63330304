/* array/colouring.h - colours for blocks: one for each owner, so that a rank's block is known again
 * under another sharding, and another one for its neighbours.
 *
 *     int block = spmd__colouring_add(colouring, owner)        all blocks
 *     spmd__colouring_separate(colouring, block, neighbour)    and which of them touch
 *     spmd__colouring_choose(colouring)
 *     ... colouring->block[block].colour ...
 */
#ifndef ARRAY_COLOURING_H
#define ARRAY_COLOURING_H

#include <stdint.h>

/* A block touches four others in a picture; in two pictures eight, and nine colours are enough. */
enum { COLOURS = 9, MOST_NEIGHBOURS = COLOURS - 1 };

struct coloured {
    int64_t owner;
    int nneighbours;
    int neighbour[MOST_NEIGHBOURS];
    int colour; /* 0 ... COLOURS - 1 */
};

struct colouring {
    int count;
    struct coloured *block; /* with room for all that are added */
};

/* The number of the owner's block, which is new if no other one of this owner was added. */
int spmd__colouring_add(struct colouring *colouring, int64_t owner);

/* Two blocks are to differ. */
void spmd__colouring_separate(struct colouring *colouring, int a, int b);

/* Gives each block its colour: the owner's number among the colours, or the next that is free. */
void spmd__colouring_choose(struct colouring *colouring);

#endif
