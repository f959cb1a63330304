/* core/hybrid.c - meshes over nodes and the ranks inside of each: which rank stands where. */
#include "core/hybrid.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/mem.h"

/* The nodes in the order of their lowest ranks, and the ranks of each in their own. */
struct cluster {
    const struct place *places;
    int count;
    int *leaders; /* [count] lowest rank of each node */
    int *sizes;   /* [count] its number of ranks */
    int *number;  /* [ranks] the node of each rank */
    int *rank;    /* [ranks] its number on the node */
};

/* The mesh in the making: each axis is an outer part over nodes times an inner one. */
struct hybrid {
    struct axes nodes;
    struct axes local;
    int node_axis[SPMD_MAX_AXES];  /* of each axis of the mesh: which one of `nodes`, -1: none */
    int local_axis[SPMD_MAX_AXES]; /* the same in `local` */
};

static void free_cluster(struct cluster *cluster)
{
    free(cluster->leaders); /* all four are one */
}

static spmd_status find_cluster(const struct place places[], int ranks, struct cluster *out)
{
    struct cluster cluster = {.places = places};
    TRY(spmd__alloc((size_t)ranks * 4, sizeof *cluster.leaders, &cluster.leaders));
    cluster.sizes = cluster.leaders + ranks;
    cluster.number = cluster.sizes + ranks;
    cluster.rank = cluster.number + ranks;
    for (int r = 0; r < ranks; r++) {
        int leader = places[r].leader; /* comes before its node's other ranks */
        if (leader == r) {
            cluster.leaders[cluster.count] = r;
            cluster.number[r] = cluster.count++;
        }
        cluster.number[r] = cluster.number[leader];
        cluster.rank[r] = cluster.sizes[cluster.number[r]]++;
    }
    *out = cluster;
    return SPMD_OK;
}

/* Fills the one open size, so that the axes take `count`; false if the others do not divide it. */
static bool fill_open_size(struct axes *axes, int64_t count, int64_t *divisor)
{
    int open = -1;
    *divisor = 1;
    for (int a = 0; a < axes->count; a++)
        if (axes->size[a] == SPMD_INFER)
            open = a;
        else
            *divisor *= axes->size[a];
    if (open >= 0 && count % *divisor == 0)
        axes->size[open] = count / *divisor;
    return open < 0 || count % *divisor == 0;
}

static spmd_status fit_nodes(struct axes *nodes, const struct cluster *cluster)
{
    int64_t needed;
    if (!fill_open_size(nodes, cluster->count, &needed))
        return spmd_fail(SPMD_ERR_MESH,
                         "%s over nodes needs a multiple of %lld nodes, this job has %d",
                         spmd__axes_text(nodes).text, (long long)needed, cluster->count);
    if (spmd__axes_total(nodes) != cluster->count)
        return spmd_fail(SPMD_ERR_MESH, "%s over nodes needs %lld nodes, this job has %d",
                         spmd__axes_text(nodes).text, (long long)spmd__axes_total(nodes),
                         cluster->count);
    return SPMD_OK;
}

static spmd_status fail_node(const struct cluster *cluster, int node, const struct axes *local,
                             const char *how, int64_t needed)
{
    int size = cluster->sizes[node];
    return spmd_fail(SPMD_ERR_MESH,
                     "node %d (host %s) has %d rank%s, %s inside of a node needs %s%lld", node,
                     cluster->places[cluster->leaders[node]].host, size, size == 1 ? "" : "s",
                     spmd__axes_text(local).text, how, (long long)needed);
}

/* A node may have ranks to spare if every node has. */
static spmd_status fit_local(struct axes *local, const struct cluster *cluster)
{
    int64_t needed;
    if (!fill_open_size(local, cluster->sizes[0], &needed))
        return fail_node(cluster, 0, local, "a multiple of ", needed);
    needed = spmd__axes_total(local);
    bool spare = true;
    for (int n = 0; n < cluster->count; n++) {
        if (cluster->sizes[n] < needed)
            return fail_node(cluster, n, local, "", needed);
        spare = spare && cluster->sizes[n] > needed;
    }
    for (int n = 0; n < cluster->count && !spare; n++)
        if (cluster->sizes[n] > needed)
            return fail_node(cluster, n, local, "just ", needed);
    return SPMD_OK;
}

static int find(const struct axes *axes, const char *name)
{
    return spmd__axes_find(axes, name, strlen(name));
}

/* The axes of the mesh: those of `nodes`, then those that `local` alone has. */
static spmd_status join(struct hybrid *hybrid, struct axes *axes)
{
    struct axes joined = hybrid->nodes;
    for (int a = 0; a < joined.count; a++) {
        int local = find(&hybrid->local, joined.name[a]);
        hybrid->node_axis[a] = a;
        hybrid->local_axis[a] = local;
        joined.size[a] *= local < 0 ? 1 : hybrid->local.size[local];
    }
    for (int l = 0; l < hybrid->local.count; l++) {
        if (find(&hybrid->nodes, hybrid->local.name[l]) >= 0)
            continue;
        if (joined.count == SPMD_MAX_AXES)
            return spmd_fail(SPMD_ERR_MESH,
                             "%s over nodes and %s inside of a node have more than %d axes",
                             spmd__axes_text(&hybrid->nodes).text,
                             spmd__axes_text(&hybrid->local).text, SPMD_MAX_AXES);
        int a = joined.count++;
        memcpy(joined.name[a], hybrid->local.name[l], sizeof joined.name[a]);
        joined.size[a] = hybrid->local.size[l];
        hybrid->node_axis[a] = -1;
        hybrid->local_axis[a] = l;
    }
    *axes = joined;
    return SPMD_OK;
}

/* The position of the rank that is number `rank` on node `node`. */
static int64_t position_of(const struct hybrid *hybrid, const struct axes *axes, int node, int rank)
{
    int64_t outer[SPMD_MAX_AXES], inner[SPMD_MAX_AXES], coordinates[SPMD_MAX_AXES];
    spmd__axes_coordinates(&hybrid->nodes, node, outer);
    spmd__axes_coordinates(&hybrid->local, rank, inner);
    for (int a = 0; a < axes->count; a++) {
        int n = hybrid->node_axis[a], l = hybrid->local_axis[a];
        int64_t size = l < 0 ? 1 : hybrid->local.size[l];
        coordinates[a] = (n < 0 ? 0 : outer[n] * size) + (l < 0 ? 0 : inner[l]);
    }
    return spmd__axes_position(axes, coordinates);
}

static spmd_status arrange(struct hybrid *hybrid, const struct cluster *cluster, int ranks,
                           struct axes *axes, int **out)
{
    int *members;
    TRY(fit_nodes(&hybrid->nodes, cluster));
    TRY(fit_local(&hybrid->local, cluster));
    TRY(join(hybrid, axes));
    TRY(spmd__alloc((size_t)spmd__axes_total(axes), sizeof *members, &members));
    for (int r = 0; r < ranks; r++)
        if (cluster->rank[r] < spmd__axes_total(&hybrid->local))
            members[position_of(hybrid, axes, cluster->number[r], cluster->rank[r])] = r;
    *out = members;
    return SPMD_OK;
}

spmd_status spmd__hybrid_arrange(const char *nodes, const char *local, const struct place places[],
                                 int ranks, struct axes *axes, int **members)
{
    struct hybrid hybrid;
    struct cluster cluster;
    TRY(spmd__axes_parse_open(nodes, &hybrid.nodes));
    TRY(spmd__axes_parse_open(local, &hybrid.local));
    TRY(find_cluster(places, ranks, &cluster));
    spmd_status status = arrange(&hybrid, &cluster, ranks, axes, members);
    free_cluster(&cluster);
    return status;
}
