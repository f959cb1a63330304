/* array/piece.h - a piece: which indices it has, and where they lie in memory. See spmd/array.h. */
#ifndef ARRAY_PIECE_H
#define ARRAY_PIECE_H

#include <spmd/array.h>

#include "core/view.h"

/* Whether piece `number` of a rank may be one of an array of `shape`. */
spmd_status spmd__piece_check(const spmd_piece *piece, int number, spmd_shape shape);

bool spmd__piece_has(const spmd_piece *piece, const int64_t index[]);

/* Where the indices that a piece and a box have in common lie in the piece's own memory; false if
 * there are none. */
bool spmd__piece_find(const spmd_piece *piece, const spmd_box *box, size_t element,
                      struct view *part);

/* Where the indices of a piece lie in a block; false if it has none of them. The piece's data is
 * not read. */
bool spmd__piece_find_in_block(const spmd_piece *piece, const spmd_block *block, struct view *part);

#endif
