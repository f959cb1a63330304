/* spmd/layout.h - who holds what of an array, shown: as text, JSON or SVG. Of one sharding, or of
 * two, with what a reshard from one to the other moves. */
#ifndef SPMD_LAYOUT_H
#define SPMD_LAYOUT_H

#include <stdio.h>

#include <spmd/sharding.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is shown. Only sharding and shape have to be there. */
typedef struct spmd_layout {
    const spmd_sharding *sharding;
    const spmd_sharding *to; /* of an equal mesh: shown beside it; NULL: there is none */
    spmd_shape shape;        /* of the global array */
    spmd_dtype dtype;        /* what its bytes are counted by; NONE: elements are counted */
    int64_t ranks;           /* to list at most; 0: 64 */
} spmd_layout;

/* Local. Prints a picture of the blocks with the ranks that hold each of them, a table of the
 * ranks, and a summary, in 80 columns; of many ranks the first and the last. With `to` the
 * table and the summary are those of the reshard. In colour on a terminal, unless NO_COLOR is set.
 * Meshes may be abstract, and of any size. All fail as spmd_sharding_check, with SPMD_ERR_SHAPE for
 * more than 2^63 - 1 elements, SPMD_ERR_MESH if the meshes differ, SPMD_ERR_SPEC if there is a `to`
 * and one of the two has unreduced axes, SPMD_ERR_FILE if the stream does. */
spmd_status spmd_layout_print(const spmd_layout *layout, FILE *stream);

/* Local. The same as one JSON object; of many ranks the first ones are listed. */
spmd_status spmd_layout_print_json(const spmd_layout *layout, FILE *stream);

/* Local. The picture alone, as an SVG file. */
spmd_status spmd_layout_print_svg(const spmd_layout *layout, FILE *stream);

#ifdef __cplusplus
}
#endif

#endif
