/* array/processes.c - what processes that hold several positions each know of the whole array. */
#include <stdlib.h>

#include "array/array.h"
#include "core/absent.h"
#include "core/mem.h"

/* Indices lo ... hi - 1 of one dimension. */
struct range {
    int64_t lo, hi;
};

static int compare_ranges(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

/* How many indices lie in some range; two ranges are the same, have no index in common, or are
 * empty. */
static int64_t count_indices(struct range ranges[], int64_t count)
{
    int64_t indices = 0, end = 0;
    qsort(ranges, (size_t)count, sizeof *ranges, compare_ranges);
    for (int64_t i = 0; i < count; i++)
        if (ranges[i].lo >= end) {
            indices += ranges[i].hi - ranges[i].lo;
            end = ranges[i].hi;
        }
    return indices;
}

spmd_status spmd_sharding_num_addressable_indices(const spmd_sharding *sharding, spmd_shape global,
                                                  int dim, int64_t npositions,
                                                  const int64_t positions[], int64_t *indices)
{
    TRY(spmd_sharding_check(sharding, global));
    if (dim < 0 || dim >= global.ndim)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s", spmd__absent("dim", dim, 0, global.ndim).text);
    if (npositions < 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%lld positions", (long long)npositions);
    if (!positions && npositions > 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the list of %lld positions is NULL",
                         (long long)npositions);
    for (int64_t i = 0; i < npositions; i++)
        TRY(spmd__mesh_check_position(sharding->mesh, positions[i]));
    struct range *ranges;
    TRY(spmd__alloc((size_t)npositions, sizeof *ranges, &ranges));
    for (int64_t i = 0; i < npositions; i++)
        spmd__layout_range(&sharding->mesh->axes, &sharding->spec, dim, global.dim[dim],
                           positions[i], &ranges[i].lo, &ranges[i].hi);
    *indices = count_indices(ranges, npositions);
    free(ranges);
    return SPMD_OK;
}

/* That a process has a part of a dimension. */
struct possession {
    int process;
    int64_t part;
};

static int compare_possessions(const void *a, const void *b)
{
    const struct possession *x = a, *y = b;
    if (x->process != y->process)
        return (x->process > y->process) - (x->process < y->process);
    return (x->part > y->part) - (x->part < y->part);
}

/* Sorts by process and part, and drops what is there twice; gives how many are left. */
static int64_t sort_out(struct possession list[], int64_t count)
{
    int64_t kept = 0;
    qsort(list, (size_t)count, sizeof *list, compare_possessions);
    for (int64_t i = 0; i < count; i++)
        if (kept == 0 || compare_possessions(&list[kept - 1], &list[i]) != 0)
            list[kept++] = list[i];
    return kept;
}

/* The number of different sets of parts that processes have, or -1 if they are of different sizes,
 * or meet and are not the same. `list` is sorted out; set_of [parts] is 0 for parts that are in no
 * set yet. */
static int64_t count_sets(const struct possession list[], int64_t count, int64_t set_of[])
{
    int64_t sets = 0, size = 0;
    for (int64_t begin = 0, end = 0; begin < count; begin = end) {
        while (end < count && list[end].process == list[begin].process)
            end++;
        size = begin == 0 ? end : size;
        int64_t set = set_of[list[begin].part]; /* 0: these parts must all be new */
        bool same = end - begin == size;
        for (int64_t i = begin; i < end; i++) {
            same = same && set_of[list[i].part] == set;
            set_of[list[i].part] = set == 0 ? sets + 1 : set;
        }
        if (!same)
            return -1;
        sets += set == 0;
    }
    return sets;
}

/* The number of sets of parts of dimension `dim`, or -1 if it is not uniform. */
static spmd_status count_dim(const spmd_sharding *sharding, int dim, const int process[],
                             struct possession list[], int64_t *sets)
{
    const struct axes *axes = &sharding->mesh->axes;
    struct axis_list entry = spmd__spec_entry(&sharding->spec, dim);
    int64_t positions = spmd__axes_total(axes), *set_of;
    TRY(spmd__alloc((size_t)spmd__axis_list_size(axes, &entry), sizeof *set_of, &set_of));
    for (int64_t p = 0; p < positions; p++)
        list[p] = (struct possession){process[p], spmd__axis_list_index(axes, &entry, p)};
    *sets = count_sets(list, sort_out(list, positions), set_of);
    free(set_of);
    return SPMD_OK;
}

static spmd_status scale_dim(const spmd_sharding *sharding, int dim, const int process[],
                             struct possession list[], spmd_shape *shape)
{
    int64_t sets;
    TRY(count_dim(sharding, dim, process, list, &sets));
    if (sets < 0)
        shape->dim[dim] = -1;
    else if (__builtin_mul_overflow(shape->dim[dim], sets, &shape->dim[dim]))
        return spmd_fail(SPMD_ERR_SHAPE, "dim %d of %d: %lld times the local extent is above 2^63",
                         dim, shape->ndim, (long long)sets);
    return SPMD_OK;
}

spmd_status spmd_sharding_local_to_global(const spmd_sharding *sharding, spmd_shape local,
                                          const int process[], spmd_shape *global)
{
    TRY(spmd__layout_check(&sharding->mesh->axes, &sharding->spec, local, false));
    if (!process || !global)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the %s is NULL",
                         process ? "place for the shape" : "list of the process of each position");
    for (int64_t p = 0; p < spmd_mesh_size(sharding->mesh); p++)
        if (process[p] < 0)
            return spmd_fail(SPMD_ERR_ARGUMENT, "position %lld is of process %d: they count from 0",
                             (long long)p, process[p]);
    struct possession *list;
    TRY(spmd__alloc((size_t)spmd_mesh_size(sharding->mesh), sizeof *list, &list));
    spmd_shape shape = local;
    spmd_status status = SPMD_OK;
    for (int d = 0; d < sharding->spec.ndim && status == SPMD_OK; d++)
        status = scale_dim(sharding, d, process, list, &shape);
    free(list);
    if (status == SPMD_OK)
        *global = shape;
    return status;
}
