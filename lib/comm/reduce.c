/* comm/reduce.c - reductions of plain memory over a group. */
#include "comm/reduce.h"

#include <string.h>

#include "comm/mpi.h"
#include "comm/near.h"
#include "core/arithmetic.h"
#include "core/half.h"

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static MPI_Datatype mpi_type(spmd_dtype dtype)
{
    switch (dtype) {
    case SPMD_BOOL:
    case SPMD_U8:
        return MPI_UINT8_T;
    case SPMD_I8:
        return MPI_INT8_T;
    case SPMD_I16:
        return MPI_INT16_T;
    case SPMD_I32:
        return MPI_INT32_T;
    case SPMD_I64:
        return MPI_INT64_T;
    case SPMD_U16:
        return MPI_UINT16_T;
    case SPMD_U32:
        return MPI_UINT32_T;
    case SPMD_U64:
        return MPI_UINT64_T;
    case SPMD_F32:
        return MPI_FLOAT;
    case SPMD_F64:
        return MPI_DOUBLE;
    case SPMD_C64:
        return MPI_C_FLOAT_COMPLEX;
    case SPMD_C128:
        return MPI_C_DOUBLE_COMPLEX;
    case SPMD_F16:
    case SPMD_BF16: /* reduced as f32 */
    case SPMD_DTYPE_NONE:
        break;
    }
    return MPI_DATATYPE_NULL;
}

/* MPI_MAX and MPI_MIN may lose a NaN; these keep it, as XLA's do. */
static void keep_max(void *in, void *inout, int *count, MPI_Datatype *type)
{
    spmd__accumulate(SPMD_MAX, *type == MPI_FLOAT ? SPMD_F32 : SPMD_F64, *count, in, inout);
}

static void keep_min(void *in, void *inout, int *count, MPI_Datatype *type)
{
    spmd__accumulate(SPMD_MIN, *type == MPI_FLOAT ? SPMD_F32 : SPMD_F64, *count, in, inout);
}

/* MPI_SUM of Open MPI 4.1 saturates numbers of 8 and 16 bits where it adds them as vectors; this
 * one wraps. */
static void wrap_sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int size;
    MPI_Type_size(*type, &size);
    spmd__accumulate(SPMD_SUM, size == 1 ? SPMD_U8 : SPMD_U16, *count, in, inout);
}

/* What MPI does not do right. */
static bool needs_own_op(spmd_reduction reduction, spmd_dtype dtype)
{
    if (reduction == SPMD_SUM)
        return spmd_dtype_size(dtype) < 4;
    return dtype == SPMD_F32 || dtype == SPMD_F64;
}

/* Sums of flags are their greatest ones. */
static spmd_reduction plain(spmd_reduction reduction, spmd_dtype dtype)
{
    return reduction == SPMD_SUM && dtype == SPMD_BOOL ? SPMD_MAX : reduction;
}

/* MPI's operation, or one of ours, which the mesh keeps. */
static spmd_status find_op(const struct group *group, spmd_reduction reduction, spmd_dtype dtype,
                           MPI_Op *op)
{
    spmd_mesh *mesh = group->real->mesh;
    struct {
        MPI_Op plain, *own;
        MPI_User_function *function;
    } const ops[] = {[SPMD_SUM] = {MPI_SUM, &mesh->sum, wrap_sum},
                     [SPMD_MAX] = {MPI_MAX, &mesh->max, keep_max},
                     [SPMD_MIN] = {MPI_MIN, &mesh->min, keep_min}};
    reduction = plain(reduction, dtype);
    *op = ops[reduction].plain;
    if (!needs_own_op(reduction, dtype))
        return SPMD_OK;
    MPI_Op *own = ops[reduction].own;
    if (*own == MPI_OP_NULL)
        TRY_MPI(MPI_Op_create(ops[reduction].function, 1, own));
    *op = *own;
    return SPMD_OK;
}

/* Elements that one MPI call may take. */
static int64_t most_elements(spmd_dtype dtype)
{
    return spmd__mpi_piece_bytes / (int64_t)spmd_dtype_size(dtype);
}

static spmd_status all_reduce_plain(const struct group *group, spmd_reduction reduction,
                                    spmd_dtype dtype, const char *in, char *out, int64_t count)
{
    int64_t size = (int64_t)spmd_dtype_size(dtype), most = most_elements(dtype);
    MPI_Op op;
    TRY(find_op(group, reduction, dtype, &op));
    for (int64_t done = 0; done < count; done += most) {
        const void *from = in == out ? MPI_IN_PLACE : in + done * size;
        TRY_MPI(MPI_Allreduce(from, out + done * size, (int)lesser(count - done, most),
                              mpi_type(dtype), op, group->comm));
    }
    return SPMD_OK;
}

static spmd_status all_reduce_half(const struct group *group, spmd_reduction reduction,
                                   spmd_dtype dtype, const uint16_t *in, uint16_t *out,
                                   int64_t count, struct arena *scratch)
{
    float *wide;
    TRY(spmd__arena_take(scratch, (size_t)spmd__reduce_piece(count), sizeof *wide, &wide));
    for (int64_t done = 0; done < count; done += REDUCE_PIECE) {
        int64_t piece = spmd__reduce_piece(count - done);
        spmd__widen(dtype, piece, in + done, wide);
        TRY(all_reduce_plain(group, reduction, SPMD_F32, (void *)wide, (void *)wide, piece));
        spmd__narrow(dtype, piece, wide, out + done);
    }
    return SPMD_OK;
}

spmd_status spmd__all_reduce(const struct group *group, spmd_reduction reduction, spmd_dtype dtype,
                             const void *in, void *out, int64_t count, struct arena *scratch)
{
    bool done;
    struct near_reduction what = {.reduction = plain(reduction, dtype), .dtype = dtype};
    TRY(spmd__near_all_reduce(group, what, in, out, count, scratch, &done));
    if (done)
        return SPMD_OK;
    if (spmd__is_half(dtype))
        return all_reduce_half(group, reduction, dtype, in, out, count, scratch);
    return all_reduce_plain(group, reduction, dtype, in, out, count);
}

/* How many MPI calls take so many elements. */
static int64_t count_calls(spmd_dtype dtype, int64_t count)
{
    int64_t most = most_elements(dtype);
    return (count + most - 1) / most;
}

spmd_status spmd__all_reduce_start(const struct group *group, spmd_reduction reduction,
                                   spmd_dtype dtype, const void *in, void *out, int64_t count,
                                   struct arena *scratch, struct pending *pending)
{
    int64_t size = (int64_t)spmd_dtype_size(dtype), most = most_elements(dtype);
    MPI_Op op;
    TRY(find_op(group, reduction, dtype, &op));
    TRY(spmd__pending_reserve(pending, count_calls(dtype, count), scratch));
    MPI_Request *request = pending->request;
    for (int64_t done = 0; done < count; done += most) {
        const void *from = in == out ? MPI_IN_PLACE : (const char *)in + done * size;
        TRY_MPI(MPI_Iallreduce(from, (char *)out + done * size, (int)lesser(count - done, most),
                               mpi_type(dtype), op, group->comm, request++));
    }
    return SPMD_OK;
}

/* Elements of all parts of a reduce_scatter. */
static int64_t sum_counts(const struct group *group, const int64_t counts[])
{
    int64_t total = 0;
    for (int64_t m = 0; m < group->size; m++)
        total += counts[m];
    return total;
}

static bool is_even(const struct group *group, const int64_t counts[])
{
    for (int64_t m = 1; m < group->size; m++)
        if (counts[m] != counts[0])
            return false;
    return true;
}

/* The counts as MPI takes them; they fit. */
static spmd_status narrow_counts(const struct group *group, const int64_t counts[],
                                 struct arena *scratch, int **narrow)
{
    TRY(spmd__arena_take(scratch, (size_t)group->size, sizeof **narrow, narrow));
    for (int64_t m = 0; m < group->size; m++)
        (*narrow)[m] = (int)counts[m];
    return SPMD_OK;
}

/* All in one call. */
static spmd_status scatter_whole(const struct group *group, MPI_Op op, spmd_dtype dtype,
                                 const void *in, const int64_t counts[], void *out,
                                 struct arena *scratch)
{
    MPI_Datatype type = mpi_type(dtype);
    int *narrow;
    if (is_even(group, counts)) {
        TRY_MPI(MPI_Reduce_scatter_block(in, out, (int)counts[0], type, op, group->comm));
        return SPMD_OK;
    }
    TRY(narrow_counts(group, counts, scratch, &narrow));
    TRY_MPI(MPI_Reduce_scatter(in, out, narrow, type, op, group->comm));
    return SPMD_OK;
}

/* A few elements of each part, as they go through scratch memory. */
struct slices {
    spmd_dtype dtype, carried; /* in memory, and in the reduction */
    int64_t most;              /* elements of each part */
    int *counts;               /* [members] in this round */
    char *all, *mine;          /* [members * most], [most] carried ones */
};

static spmd_status make_slices(const struct group *group, spmd_dtype dtype, int64_t longest,
                               struct arena *scratch, struct slices *slices)
{
    spmd_dtype carried = spmd__is_half(dtype) ? SPMD_F32 : dtype;
    size_t size = spmd_dtype_size(carried);
    int64_t room = lesser(REDUCE_PIECE, most_elements(carried)) / group->size;
    int64_t most = lesser(room > 0 ? room : 1, longest);
    *slices = (struct slices){.dtype = dtype, .carried = carried, .most = most};
    TRY(spmd__arena_take(scratch, (size_t)group->size, sizeof *slices->counts, &slices->counts));
    TRY(spmd__arena_take(scratch, (size_t)(group->size * most), size, &slices->all));
    return spmd__arena_take(scratch, (size_t)most, size, &slices->mine);
}

/* Lays the elements from `done` on of each part one after the other. */
static void pack_slices(const struct group *group, const struct slices *slices, const char *in,
                        const int64_t counts[], int64_t done)
{
    size_t size = spmd_dtype_size(slices->dtype), carried = spmd_dtype_size(slices->carried);
    char *to = slices->all;
    for (int64_t m = 0; m < group->size; in += (size_t)counts[m++] * size) {
        int64_t count = done < counts[m] ? lesser(counts[m] - done, slices->most) : 0;
        const char *from = in + (size_t)done * size;
        slices->counts[m] = (int)count;
        if (slices->carried != slices->dtype)
            spmd__widen(slices->dtype, count, (const void *)from, (void *)to);
        else if (count > 0)
            memcpy(to, from, (size_t)count * size);
        to += (size_t)count * carried;
    }
}

static void unpack_slice(const struct slices *slices, int64_t count, char *out)
{
    if (slices->carried != slices->dtype)
        spmd__narrow(slices->dtype, count, (const void *)slices->mine, (void *)out);
    else
        memcpy(out, slices->mine, (size_t)count * spmd_dtype_size(slices->dtype));
}

/* Round by round. */
static spmd_status scatter_slices(const struct group *group, MPI_Op op, spmd_dtype dtype,
                                  const char *in, const int64_t counts[], char *out,
                                  struct arena *scratch)
{
    struct slices slices;
    int64_t longest = 0;
    for (int64_t m = 0; m < group->size; m++)
        longest = counts[m] > longest ? counts[m] : longest;
    TRY(make_slices(group, dtype, longest, scratch, &slices));
    for (int64_t done = 0; done < longest; done += slices.most) {
        pack_slices(group, &slices, in, counts, done);
        TRY_MPI(MPI_Reduce_scatter(slices.all, slices.mine, slices.counts, mpi_type(slices.carried),
                                   op, group->comm));
        if (slices.counts[group->index] > 0)
            unpack_slice(&slices, slices.counts[group->index],
                         out + (size_t)done * spmd_dtype_size(dtype));
    }
    return SPMD_OK;
}

spmd_status spmd__reduce_scatter(const struct group *group, spmd_reduction reduction,
                                 spmd_dtype dtype, const void *in, const int64_t counts[],
                                 void *out, struct arena *scratch)
{
    MPI_Op op;
    bool done;
    struct near_reduction what = {.reduction = plain(reduction, dtype), .dtype = dtype};
    TRY(spmd__near_reduce_scatter(group, what, in, counts, out, scratch, &done));
    if (done)
        return SPMD_OK;
    TRY(find_op(group, reduction, spmd__is_half(dtype) ? SPMD_F32 : dtype, &op));
    if (spmd__is_half(dtype) || sum_counts(group, counts) > most_elements(dtype))
        return scatter_slices(group, op, dtype, in, counts, out, scratch);
    return scatter_whole(group, op, dtype, in, counts, out, scratch);
}

/* More than one call takes: each part, in pieces, to the member that keeps it. */
static spmd_status start_parts(const struct group *group, MPI_Op op, spmd_dtype dtype,
                               const char *in, const int64_t counts[], char *out,
                               struct arena *scratch, struct pending *pending)
{
    int64_t size = (int64_t)spmd_dtype_size(dtype), most = most_elements(dtype), calls = 0;
    for (int64_t m = 0; m < group->size; m++)
        calls += count_calls(dtype, counts[m]);
    TRY(spmd__pending_reserve(pending, calls, scratch));
    MPI_Request *request = pending->request;
    for (int64_t m = 0; m < group->size; in += counts[m++] * size)
        for (int64_t done = 0; done < counts[m]; done += most) {
            void *to = m == group->index ? out + done * size : NULL;
            TRY_MPI(MPI_Ireduce(in + done * size, to, (int)lesser(counts[m] - done, most),
                                mpi_type(dtype), op, (int)m, group->comm, request++));
        }
    return SPMD_OK;
}

/* All in one call. */
static spmd_status start_whole(const struct group *group, MPI_Op op, spmd_dtype dtype,
                               const void *in, const int64_t counts[], void *out,
                               struct arena *scratch, struct pending *pending)
{
    MPI_Datatype type = mpi_type(dtype);
    int *narrow;
    TRY(spmd__pending_reserve(pending, 1, scratch));
    if (is_even(group, counts)) {
        TRY_MPI(MPI_Ireduce_scatter_block(in, out, (int)counts[0], type, op, group->comm,
                                          pending->request));
        return SPMD_OK;
    }
    TRY(narrow_counts(group, counts, scratch, &narrow));
    TRY_MPI(MPI_Ireduce_scatter(in, out, narrow, type, op, group->comm, pending->request));
    return SPMD_OK;
}

spmd_status spmd__reduce_scatter_start(const struct group *group, spmd_reduction reduction,
                                       spmd_dtype dtype, const void *in, const int64_t counts[],
                                       void *out, struct arena *scratch, struct pending *pending)
{
    MPI_Op op;
    TRY(find_op(group, reduction, dtype, &op));
    if (sum_counts(group, counts) > most_elements(dtype))
        return start_parts(group, op, dtype, in, counts, out, scratch, pending);
    return start_whole(group, op, dtype, in, counts, out, scratch, pending);
}
