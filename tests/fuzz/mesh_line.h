/* mesh_line.h - inputs that are about a mesh: its text is their first line. */
#ifndef MESH_LINE_H
#define MESH_LINE_H

#include "core/axes.h"
#include "fuzz.h"

/* Reads the mesh, x=2,y=4,z=3 if the line is none, and gives what stands behind the line. */
static inline const char *fuzz_cut_mesh(char *text, struct axes *axes)
{
    const char *rest = fuzz_cut_line(text);
    if (spmd__axes_parse(text, 0, axes) != SPMD_OK)
        HOLDS(spmd__axes_parse("x=2,y=4,z=3", 0, axes) == SPMD_OK);
    return rest;
}

#endif
