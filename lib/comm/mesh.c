/* comm/mesh.c - named axes over ranks, and the communicator of any set of them. */
#include "comm/mesh.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "comm/agree.h"
#include "comm/mpi.h"
#include "core/mem.h"

/* Lets the errors of a communicator that was just made return. */
static spmd_status adopt_comm(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return SPMD_OK;
    return spmd__mpi_status(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN),
                            "MPI_Comm_set_errhandler");
}

static void free_comm(MPI_Comm *comm)
{
    if (*comm != MPI_COMM_NULL && spmd__mpi_is_alive())
        MPI_Comm_free(comm);
    *comm = MPI_COMM_NULL;
}

static const char *program_name(void)
{
#ifdef __GLIBC__
    return program_invocation_name;
#else
    return "PROGRAM";
#endif
}

static spmd_status check_fit(const struct axes *axes, int ranks)
{
    int64_t total = spmd__axes_total(axes);
    if (total <= ranks)
        return SPMD_OK;
    char mesh[256];
    struct text text = spmd__text_begin(mesh, sizeof mesh);
    spmd__axes_print(&text, axes);
    return spmd_fail(SPMD_ERR_MESH,
                     "%s needs %lld ranks, this job has %d: mpirun --oversubscribe -n %lld %s",
                     mesh, (long long)total, ranks, (long long)total, program_name());
}

static bool env_says_strict(void)
{
    const char *value = getenv("SPMD_STRICT");
    return value && strcmp(value, "1") == 0;
}

static spmd_status alloc_mesh(const struct axes *axes, spmd_mesh **mesh)
{
    spmd_mesh *made;
    TRY(spmd__alloc(1, sizeof *made, &made));
    made->holds = 1;
    made->axes = *axes;
    made->position = -1;
    made->strict = env_says_strict();
    made->base = made->comm = made->control = MPI_COMM_NULL;
    *mesh = made;
    return SPMD_OK;
}

/* The members' communicators. Collective over mesh->base, whose first ranks they are. */
static spmd_status make_comms(spmd_mesh *mesh, int rank, int ranks)
{
    int64_t total = spmd__axes_total(&mesh->axes);
    bool member = rank < total;
    if (total == ranks) {
        mesh->comm = mesh->base;
    } else {
        TRY_MPI(MPI_Comm_split(mesh->base, member ? 0 : MPI_UNDEFINED, rank, &mesh->comm));
        TRY(adopt_comm(mesh->comm));
    }
    if (!member)
        return SPMD_OK;
    mesh->position = rank;
    TRY_MPI(MPI_Comm_dup(mesh->comm, &mesh->control));
    return adopt_comm(mesh->control);
}

/* Whether a mesh of ranks can be made now; if so how many there are. */
static spmd_status check_comm(MPI_Comm comm, int *ranks)
{
    int inter;
    if (!spmd__mpi_is_alive())
        return spmd_fail(SPMD_ERR_MPI, "a mesh of ranks is made between MPI_Init and MPI_Finalize");
    if (comm == MPI_COMM_NULL)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a mesh needs a communicator, this is MPI_COMM_NULL");
    TRY_MPI(MPI_Comm_test_inter(comm, &inter));
    if (inter)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a mesh needs an intracommunicator: see "
                                            "MPI_Intercomm_merge");
    return spmd__mpi_status(MPI_Comm_size(comm, ranks), "MPI_Comm_size");
}

/* Collective over `comm`. The mesh of `axes`, if `status` says that they could be read. */
static spmd_status create(MPI_Comm comm, spmd_status status, const struct axes *axes, int ranks,
                          spmd_mesh **out)
{
    MPI_Comm base;
    spmd_mesh *mesh = NULL;
    int rank;
    TRY_MPI(MPI_Comm_dup(comm, &base));
    TRY(adopt_comm(base));
    MPI_Comm_rank(base, &rank);
    if (status == SPMD_OK && !out)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "there is no place for the new mesh, it is NULL");
    if (status == SPMD_OK)
        status = check_fit(axes, ranks);
    if (status == SPMD_OK)
        status = alloc_mesh(axes, &mesh);
    status = spmd__agree(base, status, status == SPMD_OK ? spmd__axes_digest(axes) : 0);
    if (status != SPMD_OK) {
        free(mesh);
        free_comm(&base);
        return status;
    }
    mesh->base = base;
    status = spmd__agree(base, make_comms(mesh, rank, ranks), 0);
    if (status == SPMD_OK)
        *out = mesh;
    else
        spmd_mesh_free(&mesh);
    return status;
}

spmd_status spmd_mesh_create(MPI_Comm comm, const char *text, spmd_mesh **mesh)
{
    struct axes axes;
    int ranks;
    TRY(check_comm(comm, &ranks));
    return create(comm, spmd__axes_parse(text, ranks, &axes), &axes, ranks, mesh);
}

spmd_status spmd_mesh_create_sizes(MPI_Comm comm, int naxes, const char *const names[],
                                   const int64_t sizes[], spmd_mesh **mesh)
{
    struct axes axes;
    int ranks;
    TRY(check_comm(comm, &ranks));
    return create(comm, spmd__axes_make(naxes, names, sizes, ranks, &axes), &axes, ranks, mesh);
}

spmd_status spmd_mesh_create_abstract(const char *text, spmd_mesh **mesh)
{
    struct axes axes;
    TRY(spmd__axes_parse(text, 0, &axes));
    TRY(alloc_mesh(&axes, mesh));
    (*mesh)->abstract = true;
    return SPMD_OK;
}

spmd_mesh *spmd__mesh_hold(spmd_mesh *mesh)
{
    mesh->holds++;
    return mesh;
}

void spmd_mesh_free(spmd_mesh **handle)
{
    spmd_mesh *mesh = *handle;
    *handle = NULL;
    if (!mesh || --mesh->holds > 0)
        return;
    while (mesh->groups) {
        struct group *group = mesh->groups;
        mesh->groups = group->next;
        free_comm(&group->comm);
        free(group);
    }
    if (mesh->comm == mesh->base)
        mesh->comm = MPI_COMM_NULL;
    free_comm(&mesh->control);
    free_comm(&mesh->comm);
    free_comm(&mesh->base);
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

bool spmd__mesh_same_ranks(const spmd_mesh *a, const spmd_mesh *b)
{
    int64_t size = spmd_mesh_size(a);
    if (size != spmd_mesh_size(b) || a->abstract != b->abstract)
        return false;
    if (a->abstract || a->base == b->base)
        return true;
    MPI_Group groups[2], members[2];
    int range[1][3] = {{0, (int)size - 1, 1}}, result = MPI_UNEQUAL;
    MPI_Comm_group(a->base, &groups[0]);
    MPI_Comm_group(b->base, &groups[1]);
    for (int i = 0; i < 2; i++)
        MPI_Group_range_incl(groups[i], 1, range, &members[i]);
    MPI_Group_compare(members[0], members[1], &result);
    for (int i = 0; i < 2; i++) {
        MPI_Group_free(&members[i]);
        MPI_Group_free(&groups[i]);
    }
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

spmd_status spmd_mesh_coordinates(const spmd_mesh *mesh, int64_t position, int64_t coordinates[])
{
    int64_t size = spmd_mesh_size(mesh);
    if (position < 0 || position >= size)
        return spmd_fail(SPMD_ERR_ARGUMENT, "position %lld is not one of the mesh's %lld",
                         (long long)position, (long long)size);
    spmd__axes_coordinates(&mesh->axes, position, coordinates);
    return SPMD_OK;
}

bool spmd__mesh_is_member(const spmd_mesh *mesh)
{
    return mesh->position >= 0;
}

/* The communicator of the ranks that differ along `axes` only, ordered by them. */
static spmd_status make_group_comm(const spmd_mesh *mesh, const struct axis_list *axes,
                                   int64_t size, MPI_Comm *comm)
{
    int *ranks, tag = 0;
    MPI_Group all, members;
    TRY(spmd__alloc((size_t)size, sizeof *ranks, &ranks));
    for (int64_t i = 0; i < size; i++)
        ranks[i] = (int)spmd__axis_list_member(&mesh->axes, axes, mesh->position, i);
    for (int i = 0; i < axes->count; i++)
        tag = (tag * SPMD_MAX_AXES + axes->axis[i] + 1) % 32768; /* MPI's least tag limit */
    MPI_Comm_group(mesh->comm, &all);
    MPI_Group_incl(all, (int)size, ranks, &members);
    int code = MPI_Comm_create_group(mesh->comm, members, tag, comm);
    MPI_Group_free(&members);
    MPI_Group_free(&all);
    free(ranks);
    return spmd__mpi_status(code, "MPI_Comm_create_group");
}

spmd_status spmd__mesh_group(spmd_mesh *mesh, const struct axis_list *axes, struct group **out)
{
    for (struct group *group = mesh->groups; group; group = group->next)
        if (spmd__axis_list_equal(&group->axes, axes)) {
            *out = group;
            return SPMD_OK;
        }
    struct group *group;
    TRY(spmd__alloc(1, sizeof *group, &group));
    group->axes = *axes;
    group->size = spmd__axis_list_size(&mesh->axes, axes);
    group->index = spmd__axis_list_index(&mesh->axes, axes, mesh->position);
    spmd_status status = make_group_comm(mesh, axes, group->size, &group->comm);
    if (status == SPMD_OK)
        status = adopt_comm(group->comm);
    if (status != SPMD_OK) {
        free(group);
        return status;
    }
    group->next = mesh->groups;
    mesh->groups = group;
    *out = group;
    return SPMD_OK;
}

MPI_Comm spmd_mesh_comm(spmd_mesh *mesh, const char *axes)
{
    struct axis_list list;
    struct group *group;
    if (spmd__axis_list_parse(axes, &mesh->axes, &list) != SPMD_OK || !spmd__mesh_is_member(mesh) ||
        spmd__mesh_group(mesh, &list, &group) != SPMD_OK)
        return MPI_COMM_NULL;
    return group->comm;
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
}

spmd_status spmd__mesh_agree(spmd_mesh *mesh, spmd_status status, uint64_t digest)
{
    return spmd__mesh_is_member(mesh) ? spmd__agree(mesh->control, status, digest) : status;
}

spmd_status spmd_agree(spmd_mesh *mesh, spmd_status status)
{
    return spmd__mesh_agree(mesh, status, 0);
}
