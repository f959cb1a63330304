/* array/grid.h - the axes of a grid of devices. See spmd/positional.h. */
#ifndef ARRAY_GRID_H
#define ARRAY_GRID_H

#include <spmd/positional.h>

/* That there is a grid. */
spmd_status spmd__grid_check(const spmd_grid *grid);

/* The number of axes that lie along dimensions: the length of the list `axis`. */
int spmd__grid_listed(const spmd_grid *grid);

/* Where `axis` is in the list; -1 if it holds replicas. */
int spmd__grid_place(const spmd_grid *grid, int axis);

/* The dimension that has place `place` of the list. */
int spmd__grid_dimension(const spmd_grid *grid, int place);

#endif
