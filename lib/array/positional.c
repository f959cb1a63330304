/* array/positional.c - from a grid of devices to a mesh and a spec. */
#include <stdio.h>

#include "array/array.h"
#include "array/grid.h"

/* "dim0", and "dim0_1" for the next axis of the same dimension; "replicas", "replicas_1". */
static void print_name(struct text *text, const char *stem, int index)
{
    spmd__text_add(text, "%s", stem);
    if (index > 0)
        spmd__text_add(text, "_%d", index);
}

/* The text of a mesh whose axes are the grid's. */
static void print_mesh(struct text *text, const spmd_grid *grid)
{
    int replicas = 0;
    for (int a = 0; a < grid->naxes; a++) {
        int place = spmd__grid_place(grid, a);
        spmd__text_add(text, "%s", a ? "," : "");
        if (place < 0) {
            print_name(text, "replicas", replicas++);
        } else {
            char stem[20];
            int dim = spmd__grid_dimension(grid, place);
            snprintf(stem, sizeof stem, "dim%d", dim);
            print_name(text, stem, place - grid->first[dim]);
        }
        spmd__text_add(text, "=%lld", (long long)grid->size[a]);
    }
    if (grid->naxes == 0)
        spmd__text_add(text, "replicas=1");
}

/* The spec that goes with that mesh; none of its entries is needed if no dimension is split. */
static struct spec spec_of(const spmd_grid *grid)
{
    struct spec spec = {.ndim = spmd__grid_listed(grid) > 0 ? grid->shape.ndim : 0};
    for (int d = 0; d < spec.ndim; d++)
        spec.first[d + 1] = grid->first[d + 1];
    for (int i = 0; i < spmd__grid_listed(grid); i++)
        spec.axis[i] = grid->axis[i];
    return spec;
}

struct mesh_text {
    char text[SPMD_MAX_AXES * (SPMD_MAX_NAME + 24)];
};

static struct mesh_text mesh_text_of(const spmd_grid *grid)
{
    struct mesh_text buffer;
    struct text text = spmd__text_begin(buffer.text, sizeof buffer.text);
    print_mesh(&text, grid);
    return buffer;
}

spmd_status spmd_sharding_create_positional(MPI_Comm comm, const spmd_grid *grid,
                                            spmd_sharding **sharding)
{
    struct axes axes;
    MPI_Comm base;
    spmd_mesh *mesh;
    int ranks;
    TRY(spmd__mesh_begin(comm, &base, &ranks));
    spmd_status status = spmd__sharding_check_place(sharding);
    if (status == SPMD_OK)
        status = spmd__grid_check(grid);
    if (status == SPMD_OK)
        status = spmd__axes_parse(mesh_text_of(grid).text, ranks, &axes);
    TRY(spmd__mesh_end(base, status, &axes, NULL, &mesh));
    struct spec spec = spec_of(grid);
    return spmd__sharding_settle(mesh, &spec, sharding);
}

spmd_status spmd_sharding_create_positional_abstract(const spmd_grid *grid,
                                                     spmd_sharding **sharding)
{
    spmd_mesh *mesh;
    TRY(spmd__sharding_check_place(sharding));
    TRY(spmd__grid_check(grid));
    TRY(spmd_mesh_create_abstract(mesh_text_of(grid).text, &mesh));
    struct spec spec = spec_of(grid);
    return spmd__sharding_settle(mesh, &spec, sharding);
}
