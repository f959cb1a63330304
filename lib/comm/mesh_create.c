/* comm/mesh_create.c - meshes of ranks, in the communicator's order or in any other one. */
#include <stdlib.h>
#include <string.h>

#include "comm/agree.h"
#include "comm/mesh.h"
#include "comm/mpi.h"
#include "core/hash.h"
#include "core/mem.h"
#include "core/setting.h"

static spmd_status check_fit(const struct axes *axes, int ranks)
{
    int64_t total = spmd__axes_total(axes);
    if (total <= ranks)
        return SPMD_OK;
    return spmd__axes_refuse_ranks(spmd__axes_text(axes).text, "", total, ranks);
}

/* Whether each of `members` is a rank of a communicator of `ranks`, and stands once. */
static spmd_status check_members(const struct axes *axes, const int members[], int ranks)
{
    int64_t *seen; /* [ranks] 1 + the position of each */
    TRY(spmd__alloc((size_t)ranks, sizeof *seen, &seen));
    spmd_status status = SPMD_OK;
    for (int64_t p = 0; p < spmd__axes_total(axes) && status == SPMD_OK; p++) {
        int rank = members[p];
        if (rank < 0 || rank >= ranks)
            status = spmd_fail(SPMD_ERR_MESH,
                               "mesh %s: position %lld is to be rank %d, but the ranks of this "
                               "communicator are 0 to %d",
                               spmd__axes_text(axes).text, (long long)p, rank, ranks - 1);
        else if (seen[rank] > 0)
            status = spmd_fail(SPMD_ERR_MESH, "mesh %s: rank %d stands at positions %lld and %lld",
                               spmd__axes_text(axes).text, rank, (long long)seen[rank] - 1,
                               (long long)p);
        else
            seen[rank] = p + 1;
    }
    free(seen);
    return status;
}

/* Leaves `members` out where every position is the rank of its number. */
static spmd_status copy_members(spmd_mesh *mesh, const int members[])
{
    int64_t size = spmd_mesh_size(mesh), plain = 0;
    while (plain < size && members[plain] == plain)
        plain++;
    if (plain == size)
        return SPMD_OK;
    TRY(spmd__alloc((size_t)size, sizeof *mesh->ranks, &mesh->ranks));
    memcpy(mesh->ranks, members, (size_t)size * sizeof *members);
    return SPMD_OK;
}

spmd_status spmd__mesh_alloc(const struct axes *axes, spmd_mesh **mesh)
{
    spmd_mesh *made;
    int strict;
    TRY(spmd__setting_choose(SPMD_SETTING_STRICT, &strict));
    TRY(spmd__alloc(1, sizeof *made, &made));
    made->holds = 1;
    made->axes = *axes;
    made->position = made->rank = -1;
    made->strict = strict;
    made->costs = spmd__costs_default();
    made->base = made->comm = made->control = MPI_COMM_NULL;
    made->sum = made->max = made->min = MPI_OP_NULL;
    *mesh = made;
    return SPMD_OK;
}

/* All of a mesh but its communicators. */
static spmd_status draft(const struct axes *axes, const int members[], int ranks, spmd_mesh **out)
{
    spmd_mesh *mesh;
    TRY(check_fit(axes, ranks));
    if (members)
        TRY(check_members(axes, members, ranks));
    TRY(spmd__mesh_alloc(axes, &mesh));
    spmd_status status = members ? copy_members(mesh, members) : SPMD_OK;
    if (status == SPMD_OK)
        *out = mesh;
    else
        spmd_mesh_free(&mesh);
    return status;
}

static int64_t find_position(const spmd_mesh *mesh, int rank)
{
    int64_t size = spmd_mesh_size(mesh);
    if (!mesh->ranks)
        return rank < size ? rank : -1;
    for (int64_t p = 0; p < size; p++)
        if (mesh->ranks[p] == rank)
            return p;
    return -1;
}

/* What the ranks need to tell each other: the costs, the members' communicators and their watch.
 * Collective over mesh->base. */
static spmd_status make_comms(spmd_mesh *mesh, int ranks, struct watch_settings settings)
{
    int64_t position = find_position(mesh, mesh->rank);
    bool member = position >= 0;
    TRY_MPI(MPI_Bcast(&mesh->costs, sizeof mesh->costs, MPI_BYTE, 0, mesh->base));
    if (spmd_mesh_size(mesh) == ranks && !mesh->ranks) {
        mesh->comm = mesh->base;
    } else {
        TRY_MPI(MPI_Comm_split(mesh->base, member ? 0 : MPI_UNDEFINED, (int)position, &mesh->comm));
        TRY(spmd__mpi_adopt_comm(mesh->comm));
    }
    if (!member)
        return SPMD_OK;
    mesh->position = position;
    TRY_MPI(MPI_Comm_dup(mesh->comm, &mesh->control));
    TRY(spmd__mpi_adopt_comm(mesh->control));
    return spmd__watch_open(mesh->comm, settings, mesh->ranks, &mesh->watch);
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

spmd_status spmd__mesh_begin(MPI_Comm comm, MPI_Comm *base, int *ranks)
{
    MPI_Comm made;
    TRY(check_comm(comm, ranks));
    TRY_MPI(MPI_Comm_dup(comm, &made));
    TRY(spmd__mpi_adopt_comm(made));
    *base = made;
    return SPMD_OK;
}

/* What the environment says of a mesh. */
struct settings {
    struct watch_settings watch;
    struct costs costs; /* rank 0's counts for all */
    enum way way;
};

static spmd_status read_settings(int rank, struct settings *settings)
{
    int check, way;
    TRY(spmd__setting_choose(SPMD_SETTING_CHECK, &check));
    TRY(spmd__setting_read_watchdog(&settings->watch.seconds));
    TRY(spmd__setting_choose(SPMD_SETTING_MOVE, &way));
    settings->costs = spmd__costs_default();
    if (rank == 0)
        TRY(spmd__setting_read_costs(&settings->costs));
    settings->watch.check = check;
    settings->way = (enum way)way;
    return SPMD_OK;
}

uint64_t spmd__mesh_digest(const spmd_mesh *mesh)
{
    size_t bytes = (size_t)spmd_mesh_size(mesh) * sizeof *mesh->ranks;
    return spmd__hash(spmd__axes_digest(&mesh->axes), mesh->ranks, mesh->ranks ? bytes : 0);
}

spmd_status spmd__mesh_end(MPI_Comm base, spmd_status status, const struct axes *axes,
                           const int members[], spmd_mesh **out)
{
    spmd_mesh *mesh = NULL;
    struct settings settings;
    int rank, ranks;
    MPI_Comm_rank(base, &rank);
    MPI_Comm_size(base, &ranks);
    if (status == SPMD_OK && !out)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "there is no place for the new mesh, it is NULL");
    if (status == SPMD_OK)
        status = read_settings(rank, &settings);
    if (status == SPMD_OK)
        status = draft(axes, members, ranks, &mesh);
    status = spmd__agree(base, rank, status, status == SPMD_OK ? spmd__mesh_digest(mesh) : 0);
    if (status == SPMD_OK)
        status = spmd__way_compare(base, settings.way);
    if (status != SPMD_OK) {
        spmd_mesh_free(&mesh);
        spmd__mpi_free_comm(&base);
        return status;
    }
    mesh->base = base;
    mesh->rank = rank;
    mesh->costs = settings.costs;
    mesh->way = settings.way;
    status = spmd__agree(base, rank, make_comms(mesh, ranks, settings.watch), 0);
    if (status == SPMD_OK)
        *out = mesh;
    else
        spmd_mesh_free(&mesh);
    return status;
}

spmd_status spmd_mesh_create(MPI_Comm comm, const char *text, spmd_mesh **mesh)
{
    struct axes axes;
    MPI_Comm base;
    int ranks;
    TRY(spmd__mesh_begin(comm, &base, &ranks));
    return spmd__mesh_end(base, spmd__axes_parse(text, ranks, &axes), &axes, NULL, mesh);
}

spmd_status spmd_mesh_create_sizes(MPI_Comm comm, int naxes, const char *const names[],
                                   const int64_t sizes[], spmd_mesh **mesh)
{
    struct axes axes;
    MPI_Comm base;
    int ranks;
    TRY(spmd__mesh_begin(comm, &base, &ranks));
    return spmd__mesh_end(base, spmd__axes_make(naxes, names, sizes, ranks, &axes), &axes, NULL,
                          mesh);
}

spmd_status spmd_mesh_create_ranks(MPI_Comm comm, const char *text, const int ranks[],
                                   spmd_mesh **mesh)
{
    struct axes axes;
    MPI_Comm base;
    int count;
    TRY(spmd__mesh_begin(comm, &base, &count));
    spmd_status status = spmd__axes_parse(text, count, &axes);
    if (status == SPMD_OK && !ranks)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "mesh %s: the list of its ranks is NULL", text);
    return spmd__mesh_end(base, status, &axes, ranks, mesh);
}

spmd_status spmd__mesh_end_abstract(const struct axes *axes, spmd_mesh **mesh)
{
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "there is no place for the new mesh, it is NULL");
    TRY(spmd__mesh_alloc(axes, mesh));
    (*mesh)->abstract = true;
    return SPMD_OK;
}

spmd_status spmd_mesh_create_abstract(const char *text, spmd_mesh **mesh)
{
    struct axes axes;
    TRY(spmd__axes_parse(text, 0, &axes));
    return spmd__mesh_end_abstract(&axes, mesh);
}
