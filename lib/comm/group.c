/* comm/group.c - the groups of a mesh: one for each list of axes in use. */
#include <stdlib.h>
#include <string.h>

#include "comm/mesh.h"
#include "comm/mpi.h"
#include "core/cursor.h"
#include "core/mem.h"

int64_t spmd__group_member(const struct group *group, int64_t index)
{
    const struct partition *partition = &group->partition;
    if (partition->count > 0)
        index = partition->member[partition->first[group->part] + index];
    return spmd__axis_list_member(&group->mesh->axes, &group->axes, group->mesh->position, index);
}

static spmd_status list_members(const struct group *group, int **members)
{
    TRY(spmd__alloc((size_t)group->size, sizeof **members, members));
    for (int64_t i = 0; i < group->size; i++)
        (*members)[i] = (int)spmd__group_member(group, i);
    return SPMD_OK;
}

/* Collective over the group. */
static spmd_status make_comm(const struct group *group, MPI_Comm *comm)
{
    int *ranks;
    MPI_Group all, members;
    TRY(list_members(group, &ranks));
    MPI_Comm_group(group->mesh->comm, &all);
    MPI_Group_incl(all, (int)group->size, ranks, &members);
    int code = MPI_Comm_create_group(group->mesh->comm, members, 0, comm);
    MPI_Group_free(&members);
    MPI_Group_free(&all);
    free(ranks);
    TRY(spmd__mpi_status(code, "MPI_Comm_create_group"));
    return spmd__mpi_adopt_comm(*comm);
}

spmd_status spmd__group_open(struct group *group)
{
    struct group *real = group->real;
    if (group->comm != MPI_COMM_NULL)
        return SPMD_OK;
    if (real->comm == MPI_COMM_NULL)
        TRY(make_comm(real, &real->comm));
    group->comm = real->comm;
    return SPMD_OK;
}

static spmd_status make_meeting(const struct group *real, enum meeting_kind kind,
                                struct meeting *meeting)
{
    int *members;
    if (!real->mesh->watch || meeting->size > 0)
        return SPMD_OK;
    TRY(list_members(real, &members));
    spmd__meeting_make(meeting, kind, real->size, members);
    return SPMD_OK;
}

spmd_status spmd__group_node(const struct group *group, struct node **node)
{
    struct group *real = group->real;
    bool first = spmd__group_member(real, 0) == 0; /* of those that are alike */
    if (!real->node_opened)
        TRY(spmd__node_open(real->comm, real->mesh->way, &real->mesh->costs, first, &real->node));
    real->node_opened = true;
    *node = real->node;
    return SPMD_OK;
}

spmd_status spmd__group_meet(struct group *group, const char *what)
{
    struct group *real = group->real;
    TRY(make_meeting(real, MEETING_FOR_DATA, &real->meeting));
    return spmd__watch_meet(real->mesh->watch, &real->meeting, what, NULL, false);
}

spmd_status spmd__group_announce(struct group *group, const char *what, uint64_t *number)
{
    struct group *real = group->real;
    TRY(make_meeting(real, MEETING_FOR_STARTS, &real->starts));
    return spmd__watch_announce(real->mesh->watch, &real->starts, what, number);
}

spmd_status spmd__group_await(struct group *group, const char *what, uint64_t number)
{
    struct group *real = group->real;
    return spmd__watch_await(real->mesh->watch, &real->starts, what, number);
}

void spmd__group_leave(struct group *group)
{
    spmd__watch_leave(group->real->mesh->watch);
}

static bool is_same_partition(const struct partition *a, const struct partition *b)
{
    if (a->count != b->count)
        return false;
    size_t count = (size_t)a->count;
    return count == 0 ||
           (memcmp(a->first, b->first, (count + 1) * sizeof *a->first) == 0 &&
            memcmp(a->member, b->member, (size_t)a->first[count] * sizeof *a->member) == 0);
}

static struct group *known_group(const spmd_mesh *mesh, const struct axis_list *axes,
                                 const struct partition *partition)
{
    for (struct group *group = mesh->groups; group; group = group->next)
        if (spmd__axis_list_equal(&group->axes, axes) &&
            is_same_partition(&group->partition, partition))
            return group;
    return NULL;
}

static spmd_status find_group(spmd_mesh *mesh, const struct axis_list *axes,
                              struct partition *partition, struct group **out);

static spmd_status copy_partition(const struct partition *from, struct partition *to)
{
    size_t count = (size_t)from->count, members = count > 0 ? (size_t)from->first[count] : 0;
    struct partition copy = {.count = from->count};
    if (count == 0) {
        *to = copy;
        return SPMD_OK;
    }
    spmd_status status = spmd__alloc(count + 1, sizeof *copy.first, &copy.first);
    if (status == SPMD_OK)
        status = spmd__alloc(members, sizeof *copy.member, &copy.member);
    if (status != SPMD_OK) {
        spmd__partition_free(&copy);
        return status;
    }
    memcpy(copy.first, from->first, (count + 1) * sizeof *copy.first);
    memcpy(copy.member, from->member, members * sizeof *copy.member);
    *to = copy;
    return SPMD_OK;
}

/* The group of the root that has a view's communicator. */
static spmd_status find_real(const struct group *group, struct group **real)
{
    struct axis_list axes = spmd__mesh_axes_in_root(group->mesh, &group->axes);
    struct partition partition;
    TRY(copy_partition(&group->partition, &partition));
    return find_group(group->mesh->root, &axes, &partition, real);
}

/* Where this rank stands in a group that has its axes and partition. */
static void place_rank(struct group *group)
{
    const struct axes *axes = &group->mesh->axes;
    int64_t index = spmd__axis_list_index(axes, &group->axes, group->mesh->position);
    group->even = true;
    group->index = index;
    group->size = spmd__axis_list_size(axes, &group->axes);
    if (group->partition.count == 0)
        return;
    const struct partition *partition = &group->partition;
    group->part = spmd__partition_find(partition, index, &group->index);
    group->size = partition->first[group->part + 1] - partition->first[group->part];
    group->even = spmd__partition_is_even(partition);
}

/* Takes the partition over. */
static spmd_status find_group(spmd_mesh *mesh, const struct axis_list *axes,
                              struct partition *partition, struct group **out)
{
    struct group *group = known_group(mesh, axes, partition);
    if (group) {
        spmd__partition_free(partition);
        *out = group;
        return SPMD_OK;
    }
    spmd_status status = spmd__alloc(1, sizeof *group, &group);
    if (status != SPMD_OK) {
        spmd__partition_free(partition);
        return status;
    }
    *group =
        (struct group){.mesh = mesh, .axes = *axes, .partition = *partition, .comm = MPI_COMM_NULL};
    place_rank(group);
    group->real = group;
    if (mesh->root)
        status = find_real(group, &group->real);
    if (status != SPMD_OK) {
        spmd__partition_free(&group->partition);
        free(group);
        return status;
    }
    group->next = mesh->groups;
    mesh->groups = group;
    *out = group;
    return SPMD_OK;
}

spmd_status spmd__mesh_group_find(spmd_mesh *mesh, const struct axis_list *axes,
                                  struct group **group)
{
    struct partition none = {0};
    return find_group(mesh, axes, &none, group);
}

spmd_status spmd__mesh_group(spmd_mesh *mesh, const struct axis_list *axes, struct group **group)
{
    TRY(spmd__mesh_group_find(mesh, axes, group));
    return spmd__group_open(*group);
}

/* Reads "x,y" or "x [[0,2],[3,1]]". */
static spmd_status parse_group(spmd_mesh *mesh, const char *text, struct group **group)
{
    const char *bracket = text ? strchr(text, '[') : NULL;
    struct axis_list axes;
    struct partition partition = {0};
    char *names = NULL;
    if (!bracket) {
        TRY(spmd__axis_list_parse(text, &mesh->axes, &axes));
        return find_group(mesh, &axes, &partition, group);
    }
    TRY(spmd__alloc((size_t)(bracket - text) + 1, 1, &names));
    memcpy(names, text, (size_t)(bracket - text));
    spmd_status status = spmd__axis_list_parse(names, &mesh->axes, &axes);
    free(names);
    TRY(status);
    TRY(spmd__partition_parse(text, bracket, spmd__axis_list_size(&mesh->axes, &axes), &partition));
    return find_group(mesh, &axes, &partition, group);
}

/* Remembers what a text means. Without memory for that, it is read again next time. */
static void keep_name(spmd_mesh *mesh, const char *text, struct group *group)
{
    size_t bytes = strlen(text) + 1;
    struct group_name *name = malloc(sizeof *name + bytes);
    if (!name)
        return;
    memcpy(name->text, text, bytes);
    name->group = group;
    name->next = mesh->names;
    mesh->names = name;
}

spmd_status spmd__mesh_group_named(spmd_mesh *mesh, const char *text, struct group **group)
{
    for (const struct group_name *name = mesh->names; text && name; name = name->next)
        if (strcmp(name->text, text) == 0) {
            *group = name->group;
            return SPMD_OK;
        }
    TRY(parse_group(mesh, text, group));
    keep_name(mesh, text, *group);
    return SPMD_OK;
}

MPI_Comm spmd_mesh_comm(spmd_mesh *mesh, const char *axes)
{
    struct group *group;
    if (!spmd__mesh_is_member(mesh) || spmd__mesh_group_named(mesh, axes, &group) != SPMD_OK ||
        spmd__group_open(group) != SPMD_OK)
        return MPI_COMM_NULL;
    return group->comm;
}

static int count_comms(const spmd_mesh *mesh)
{
    int count = (mesh->base != MPI_COMM_NULL) + (mesh->control != MPI_COMM_NULL) +
                (mesh->comm != MPI_COMM_NULL && mesh->comm != mesh->base) +
                spmd__watch_comms(mesh->watch);
    for (const struct group *group = mesh->groups; group; group = group->next)
        count += group->real == group && group->comm != MPI_COMM_NULL;
    for (const spmd_mesh *view = mesh->views; view; view = view->next_view)
        count += view->control != MPI_COMM_NULL;
    return count;
}

int spmd_mesh_comms(const spmd_mesh *mesh)
{
    return count_comms(mesh->root ? mesh->root : mesh);
}
