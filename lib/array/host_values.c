/* array/host_values.c - whether all ranks have the same host array.
 *
 * Everybody tells a hash of all bytes. If one is another than that of position 0, the two find the
 * first element that differs by hashes of halves: data stays where it is. */
#include "array/host_values.h"

#include <stdlib.h>
#include <string.h>

#include "comm/agree.h"
#include "comm/mpi.h"
#include "core/element.h"
#include "core/hash.h"
#include "core/mem.h"
#include "core/whereabouts.h"

/* A host array. */
struct host {
    const spmd_mesh *mesh;
    const char *data;
    int64_t count;
    size_t element;
};

/* The first element that differs between position 0 and another one, and its value on both. */
struct difference {
    int64_t position;
    int64_t at;
    char values[2][16];
};

static uint64_t hash_of(const struct host *host, int64_t lo, int64_t hi)
{
    return spmd__hash(0, host->data + lo * (int64_t)host->element,
                      (size_t)(hi - lo) * host->element);
}

/* Between two ranks that differ somewhere. */
static spmd_status find_first(const struct host *host, int peer, int64_t *at)
{
    int64_t lo = 0, hi = host->count;
    while (hi - lo > 1) {
        int64_t middle = lo + (hi - lo) / 2;
        uint64_t ours = hash_of(host, lo, middle), theirs;
        TRY_MPI(MPI_Sendrecv(&ours, 1, MPI_UINT64_T, peer, TAG_EXCHANGE, &theirs, 1, MPI_UINT64_T,
                             peer, TAG_EXCHANGE, host->mesh->control, MPI_STATUS_IGNORE));
        if (ours != theirs)
            hi = middle;
        else
            lo = middle;
    }
    *at = lo;
    return SPMD_OK;
}

/* Collective. All ranks learn of the difference. */
static spmd_status tell_first(const struct host *host, struct difference *difference)
{
    const spmd_mesh *mesh = host->mesh;
    int other = (int)difference->position, roots[] = {0, other};
    if (mesh->position == 0 || mesh->position == other)
        TRY(find_first(host, mesh->position == 0 ? other : 0, &difference->at));
    TRY_MPI(MPI_Bcast(&difference->at, 1, MPI_INT64_T, 0, mesh->control));
    for (int i = 0; i < 2; i++) {
        memcpy(difference->values[i], host->data + difference->at * (int64_t)host->element,
               host->element);
        TRY_MPI(MPI_Bcast(difference->values[i], (int)host->element, MPI_BYTE, roots[i],
                          mesh->control));
    }
    return SPMD_OK;
}

/* "rank 2", "ranks 1, 2, 3 and 4 more": those whose hash is not that of position 0. */
static spmd_status print_strangers(struct text *text, const spmd_mesh *mesh,
                                   const uint64_t hashes[])
{
    size_t size = (size_t)spmd_mesh_size(mesh);
    const char **phrases;
    int *names;
    TRY(spmd__alloc(size, sizeof *phrases, &phrases));
    spmd_status status = spmd__alloc(size, sizeof *names, &names);
    for (size_t p = 0; status == SPMD_OK && p < size; p++) {
        names[p] = spmd_mesh_rank(mesh, (int64_t)p);
        phrases[p] = hashes[p] == hashes[0] ? NULL : "others";
    }
    if (status == SPMD_OK)
        spmd__whereabouts_print(text, (int64_t)size, names, phrases);
    free(phrases);
    free(names);
    return status;
}

static spmd_status fail_difference(const spmd_array *array, const struct difference *difference,
                                   const uint64_t hashes[])
{
    const spmd_mesh *mesh = array->sharding->mesh;
    spmd_box whole = spmd_box_whole(array->shape);
    char buffers[4][128];
    struct text strangers = spmd__text_begin(buffers[0], sizeof buffers[0]);
    struct text place = spmd__text_begin(buffers[1], sizeof buffers[1]);
    struct text first = spmd__text_begin(buffers[2], sizeof buffers[2]);
    struct text other = spmd__text_begin(buffers[3], sizeof buffers[3]);
    TRY(print_strangers(&strangers, mesh, hashes));
    spmd__element_print_place(&place, &whole, difference->at);
    spmd__element_print(&first, array->dtype, difference->values[0]);
    spmd__element_print(&other, array->dtype, difference->values[1]);
    bool alike = strcmp(first.buffer, other.buffer) == 0; /* NaNs may be */
    return spmd_fail(SPMD_ERR_DISAGREE,
                     "device_put: not all ranks passed the host values of rank %d, %s: %s is %s on "
                     "rank %d and %s on rank %d%s; where one rank has the values use "
                     "spmd_device_put_root, where each has its own part spmd_array_from_local",
                     spmd_mesh_rank(mesh, 0), strangers.buffer, place.buffer, first.buffer,
                     spmd_mesh_rank(mesh, 0), other.buffer,
                     spmd_mesh_rank(mesh, difference->position), alike ? ", of other bits" : "");
}

/* Collective. */
static spmd_status compare(const spmd_array *array, const struct host *host, uint64_t hashes[])
{
    spmd_mesh *mesh = array->sharding->mesh;
    uint64_t hash = hash_of(host, 0, host->count);
    TRY_MPI(MPI_Allgather(&hash, 1, MPI_UINT64_T, hashes, 1, MPI_UINT64_T, mesh->control));
    struct difference difference = {.position = 1};
    int64_t size = spmd_mesh_size(mesh);
    while (difference.position < size && hashes[difference.position] == hashes[0])
        difference.position++;
    if (difference.position >= size)
        return SPMD_OK;
    TRY(tell_first(host, &difference));
    return spmd__mesh_agree(mesh, fail_difference(array, &difference, hashes), 0);
}

spmd_status spmd__host_values_compare(const spmd_array *array, const void *host)
{
    static const char what[] = "host values";
    spmd_mesh *mesh = array->sharding->mesh;
    struct host values = {mesh, host, spmd_shape_size(array->shape), spmd_dtype_size(array->dtype)};
    uint64_t *hashes = NULL;
    spmd_status status = spmd__alloc((size_t)spmd_mesh_size(mesh), sizeof *hashes, &hashes);
    /* Nobody compares who does not meet somebody else here. */
    status = spmd__mesh_agree(mesh, status, spmd__hash(0, what, sizeof what));
    if (status == SPMD_OK)
        status = compare(array, &values, hashes);
    free(hashes);
    return status;
}
