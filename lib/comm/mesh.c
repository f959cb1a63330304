/* comm/mesh.c - named axes over ranks: the handle, and what it answers. */
#include "comm/mesh.h"

#include <stdlib.h>
#include <string.h>

#include "comm/mpi.h"
#include "core/absent.h"

spmd_mesh *spmd__mesh_root(spmd_mesh *mesh)
{
    return mesh->root ? mesh->root : mesh;
}

spmd_mesh *spmd__mesh_hold(spmd_mesh *mesh)
{
    spmd__mesh_root(mesh)->holds++;
    return mesh;
}

void spmd__mesh_free_groups(spmd_mesh *mesh)
{
    while (mesh->names) {
        struct group_name *name = mesh->names;
        mesh->names = name->next;
        free(name);
    }
    while (mesh->groups) {
        struct group *group = mesh->groups;
        mesh->groups = group->next;
        if (group->real == group)
            spmd__mpi_free_comm(&group->comm);
        spmd__node_free(&group->node);
        spmd__meeting_free(&group->meeting);
        spmd__meeting_free(&group->starts);
        spmd__partition_free(&group->partition);
        free(group);
    }
}

void spmd_mesh_free(spmd_mesh **handle)
{
    spmd_mesh *mesh = *handle ? spmd__mesh_root(*handle) : NULL;
    *handle = NULL;
    if (!mesh || --mesh->holds > 0)
        return;
    spmd__mesh_free_views(mesh);
    spmd__mesh_free_groups(mesh);
    spmd__node_free(&mesh->node);
    spmd__meeting_free(&mesh->agreement);
    spmd__watch_free(&mesh->watch);
    if (mesh->comm == mesh->base)
        mesh->comm = MPI_COMM_NULL;
    spmd__mpi_free_op(&mesh->sum);
    spmd__mpi_free_op(&mesh->max);
    spmd__mpi_free_op(&mesh->min);
    spmd__mpi_free_comm(&mesh->control);
    spmd__mpi_free_comm(&mesh->comm);
    spmd__mpi_free_comm(&mesh->base);
    free(mesh->ranks);
    free(mesh);
}

int spmd_mesh_naxes(const spmd_mesh *mesh)
{
    return mesh->axes.count;
}

const char *spmd_mesh_axis_name(const spmd_mesh *mesh, int axis)
{
    return axis >= 0 && axis < mesh->axes.count ? mesh->axes.name[axis] : NULL;
}

int64_t spmd_mesh_axis_size(const spmd_mesh *mesh, const char *name)
{
    int axis = name ? spmd__axes_find(&mesh->axes, name, strlen(name)) : -1;
    return axis < 0 ? -1 : mesh->axes.size[axis];
}

int64_t spmd_mesh_size(const spmd_mesh *mesh)
{
    return spmd__axes_total(&mesh->axes);
}

bool spmd_mesh_is_abstract(const spmd_mesh *mesh)
{
    return mesh->abstract;
}

int spmd__mesh_base_rank(const spmd_mesh *mesh, int64_t position)
{
    return mesh->ranks ? mesh->ranks[position] : (int)position;
}

int64_t spmd__mesh_root_position(const spmd_mesh *mesh, int64_t position)
{
    const spmd_mesh *root = mesh->root;
    return root ? spmd__axis_list_member(&root->axes, &mesh->of_root, root->position, position)
                : position;
}

int64_t spmd__mesh_view_position(const spmd_mesh *mesh, int64_t position)
{
    const spmd_mesh *root = mesh->root;
    return root ? spmd__axis_list_index(&root->axes, &mesh->of_root, position) : position;
}

int spmd_mesh_rank(const spmd_mesh *mesh, int64_t position)
{
    if (mesh->abstract || position < 0 || position >= spmd_mesh_size(mesh))
        return -1;
    if (mesh->root)
        return spmd_mesh_rank(mesh->root, spmd__mesh_root_position(mesh, position));
    return spmd__mesh_base_rank(mesh, position);
}

MPI_Group spmd__mesh_members(const spmd_mesh *mesh)
{
    MPI_Group all, members;
    int size = (int)spmd_mesh_size(mesh), range[1][3] = {{0, size - 1, 1}};
    MPI_Comm_group(mesh->base, &all);
    if (mesh->ranks)
        MPI_Group_incl(all, size, mesh->ranks, &members);
    else
        MPI_Group_range_incl(all, 1, range, &members);
    MPI_Group_free(&all);
    return members;
}

bool spmd__mesh_same_ranks(const spmd_mesh *a, const spmd_mesh *b)
{
    if (spmd_mesh_size(a) != spmd_mesh_size(b) || a->abstract != b->abstract)
        return false;
    if (a->abstract || a == b)
        return true;
    MPI_Group ours = spmd__mesh_members(a), theirs = spmd__mesh_members(b);
    int result = MPI_UNEQUAL;
    MPI_Group_compare(ours, theirs, &result);
    MPI_Group_free(&ours);
    MPI_Group_free(&theirs);
    return result == MPI_IDENT;
}

bool spmd_mesh_equal(const spmd_mesh *a, const spmd_mesh *b)
{
    return a == b || (spmd__axes_equal(&a->axes, &b->axes) && spmd__mesh_same_ranks(a, b));
}

int64_t spmd_mesh_position(const spmd_mesh *mesh)
{
    return mesh->position;
}

spmd_status spmd__mesh_check_position(const spmd_mesh *mesh, int64_t position)
{
    int64_t size = spmd_mesh_size(mesh);
    if (position < 0 || position >= size)
        return spmd_fail(SPMD_ERR_ARGUMENT, "mesh %s: %s", spmd__axes_text(&mesh->axes).text,
                         spmd__absent("position", position, 0, size).text);
    return SPMD_OK;
}

spmd_status spmd_mesh_coordinates(const spmd_mesh *mesh, int64_t position, int64_t coordinates[])
{
    TRY(spmd__mesh_check_position(mesh, position));
    spmd__axes_coordinates(&mesh->axes, position, coordinates);
    return SPMD_OK;
}

bool spmd__mesh_is_member(const spmd_mesh *mesh)
{
    return mesh->position >= 0;
}

int spmd_mesh_format(char *buffer, size_t size, const spmd_mesh *mesh)
{
    struct text text = spmd__text_begin(buffer, size);
    spmd__axes_print(&text, &mesh->axes);
    return (int)text.length;
}

void spmd_mesh_set_strict(spmd_mesh *mesh, bool strict)
{
    mesh->strict = strict;
    for (spmd_mesh *view = mesh->views; view; view = view->next_view)
        view->strict = strict;
}

void spmd_mesh_set_quiet(spmd_mesh *mesh, bool quiet)
{
    spmd__mesh_root(mesh)->quiet = quiet;
}

spmd_status spmd__mesh_node(spmd_mesh *mesh, struct node **node)
{
    const spmd_mesh *root = spmd__mesh_root(mesh);
    if (!mesh->node_opened)
        TRY(spmd__node_open(mesh->comm, root->way, &root->costs, true, &mesh->node));
    mesh->node_opened = true;
    *node = mesh->node;
    return SPMD_OK;
}
