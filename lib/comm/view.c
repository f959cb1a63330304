/* comm/view.c - the mesh of some axes of another one, around this rank: its row, plane, cube.
 *
 * Views belong to their root and are as many as there are sets of axes in use: whoever asks again
 * gets the same one, with its communicators. */
#include <stdlib.h>
#include <string.h>

#include "comm/mesh.h"
#include "comm/mpi.h"

struct axis_list spmd__mesh_axes_in_root(const spmd_mesh *mesh, const struct axis_list *axes)
{
    struct axis_list list = *axes;
    for (int i = 0; mesh->root && i < list.count; i++)
        list.axis[i] = mesh->of_root.axis[axes->axis[i]];
    return list;
}

static spmd_mesh *known_view(const spmd_mesh *root, const struct axis_list *axes)
{
    spmd_mesh *view = root->views;
    while (view && !spmd__axis_list_equal(&view->of_root, axes))
        view = view->next_view;
    return view;
}

static struct axes axes_of(const spmd_mesh *root, const struct axis_list *list)
{
    struct axes axes = {.count = list->count};
    for (int i = 0; i < list->count; i++) {
        axes.size[i] = root->axes.size[list->axis[i]];
        memcpy(axes.name[i], root->axes.name[list->axis[i]], SPMD_MAX_NAME);
    }
    return axes;
}

static void free_view(spmd_mesh *view)
{
    spmd__mesh_free_groups(view);
    spmd__meeting_free(&view->agreement);
    spmd__mpi_free_comm(&view->control);
    free(view);
}

/* Collective over the group, which is open. Values go over the group's communicator. */
static spmd_status make_view(spmd_mesh *root, const struct group *group, spmd_mesh **out)
{
    struct axes axes = axes_of(root, &group->axes);
    spmd_mesh *view;
    TRY(spmd__mesh_alloc(&axes, &view));
    view->root = root;
    view->of_root = group->axes;
    view->strict = root->strict;
    view->costs = root->costs;
    view->noted_empty = true; /* what is worth a note is the root's */
    view->position = group->index;
    view->rank = root->rank;
    view->base = view->comm = group->comm;
    view->watch = root->watch;
    spmd_status status = spmd__mpi_status(MPI_Comm_dup(view->comm, &view->control), "MPI_Comm_dup");
    if (status == SPMD_OK)
        status = spmd__mpi_adopt_comm(view->control);
    if (status == SPMD_OK)
        *out = view;
    else
        free_view(view);
    return status;
}

spmd_status spmd__mesh_view(spmd_mesh *mesh, const struct axis_list *axes, spmd_mesh **view)
{
    spmd_mesh *root = spmd__mesh_root(mesh);
    struct axis_list of_root = spmd__mesh_axes_in_root(mesh, axes);
    struct group *group;
    spmd_mesh *found = known_view(root, &of_root);
    if (!found) {
        TRY(spmd__mesh_group(root, &of_root, &group));
        TRY(make_view(root, group, &found));
        found->next_view = root->views;
        root->views = found;
    }
    *view = found;
    return SPMD_OK;
}

void spmd__mesh_free_views(spmd_mesh *root)
{
    while (root->views) {
        spmd_mesh *view = root->views;
        root->views = view->next_view;
        free_view(view);
    }
}
