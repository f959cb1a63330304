/* permuted.h - meshes whose positions are not their ranks. */
#ifndef PERMUTED_H
#define PERMUTED_H

#include <stdio.h>

#include "harness.h"

/* Position p is rank first + step * p, modulo the number of ranks. */
static inline spmd_mesh *make_of_ranks(const char *text, int first, int step)
{
    enum { MOST = 64 };
    int ranks[MOST];
    spmd_mesh *mesh = NULL;
    if (!EXPECT(test_size <= MOST))
        return NULL;
    for (int p = 0; p < test_size; p++)
        ranks[p] = ((first + step * p) % test_size + test_size) % test_size;
    EXPECT_OK(spmd_mesh_create_ranks(MPI_COMM_WORLD, text, ranks, &mesh));
    return mesh;
}

/* All ranks, from the last one to the first; and from the second one to the first. */
static inline spmd_mesh *make_reversed(const char *text)
{
    return make_of_ranks(text, test_size - 1, -1);
}

static inline spmd_mesh *make_rotated(const char *text)
{
    return make_of_ranks(text, 1, 1);
}

/* From the last rank to the second one; the first one is idle, unless it is alone. */
static inline spmd_mesh *make_reversed_rest(void)
{
    char text[20];
    snprintf(text, sizeof text, "x=%d", test_size > 1 ? test_size - 1 : 1);
    return make_reversed(text);
}

/* One of each kind, x and y being axes of all that have no idle ranks. */
enum { PERMUTED_MESHES = 5, PERMUTED_FULL_MESHES = 4 };

static inline spmd_mesh *make_permuted(int number)
{
    const char *grid = test_size % 2 == 0 ? "x=2,y=*" : "x=*,y=1";
    switch (number) {
    case 0:
        return make_reversed("x=*,y=1");
    case 1:
        return make_rotated("x=*,y=1");
    case 2:
        return make_reversed(grid);
    case 3:
        return make_rotated(grid);
    default:
        return make_reversed_rest();
    }
}

#endif
