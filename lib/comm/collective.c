/* comm/collective.c - reductions and moves of plain memory over a communicator. */
#include "comm/collective.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm/mpi.h"
#include "core/half.h"
#include "core/mem.h"

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
#define NAN_KEEPING(name, better)                                             \
    static void name(void *in_, void *inout_, int *count, MPI_Datatype *type) \
    {                                                                         \
        if (*type == MPI_FLOAT) {                                             \
            const float *in = in_;                                            \
            float *inout = inout_;                                            \
            for (int i = 0; i < *count; i++)                                  \
                if (isnan(in[i]) || in[i] better inout[i])                    \
                    inout[i] = in[i];                                         \
        } else {                                                              \
            const double *in = in_;                                           \
            double *inout = inout_;                                           \
            for (int i = 0; i < *count; i++)                                  \
                if (isnan(in[i]) || in[i] better inout[i])                    \
                    inout[i] = in[i];                                         \
        }                                                                     \
    }
NAN_KEEPING(nan_max, >)
NAN_KEEPING(nan_min, <)

static bool is_float(spmd_dtype dtype)
{
    return dtype == SPMD_F32 || dtype == SPMD_F64;
}

/* MPI's operation, or one of ours that *made says to free. */
static spmd_status mpi_op(spmd_reduction op, spmd_dtype dtype, MPI_Op *mpi, bool *made)
{
    *made = op != SPMD_SUM && is_float(dtype);
    if (*made)
        return spmd__mpi_status(MPI_Op_create(op == SPMD_MAX ? nan_max : nan_min, 1, mpi),
                                "MPI_Op_create");
    *mpi = op == SPMD_MAX ? MPI_MAX : op == SPMD_MIN ? MPI_MIN : MPI_SUM;
    if (op == SPMD_SUM && dtype == SPMD_BOOL)
        *mpi = MPI_MAX; /* of 0 and 1: logical or */
    return SPMD_OK;
}

static spmd_status reduce_pieces(MPI_Comm comm, MPI_Op op, spmd_dtype dtype, const char *in,
                                 char *out, int64_t count)
{
    int64_t size = (int64_t)spmd_dtype_size(dtype), most = MPI_PIECE_BYTES / size;
    for (int64_t done = 0; done < count; done += most) {
        int piece = (int)(count - done < most ? count - done : most);
        const void *from = in == out ? MPI_IN_PLACE : in + done * size;
        TRY_MPI(MPI_Allreduce(from, out + done * size, piece, mpi_type(dtype), op, comm));
    }
    return SPMD_OK;
}

/* f16 and bf16: carried in f32, rounded once. */
static spmd_status all_reduce_half(MPI_Comm comm, spmd_reduction op, spmd_dtype dtype,
                                   const uint16_t *in, uint16_t *out, int64_t count)
{
    bool f16 = dtype == SPMD_F16;
    float *wide;
    TRY(spmd__alloc((size_t)count, sizeof *wide, &wide));
    for (int64_t i = 0; i < count; i++)
        wide[i] = f16 ? spmd__f16_to_f32(in[i]) : spmd__bf16_to_f32(in[i]);
    spmd_status status = spmd__all_reduce(comm, op, SPMD_F32, wide, wide, count);
    for (int64_t i = 0; status == SPMD_OK && i < count; i++)
        out[i] = f16 ? spmd__f32_to_f16(wide[i]) : spmd__f32_to_bf16(wide[i]);
    free(wide);
    return status;
}

spmd_status spmd__all_reduce(MPI_Comm comm, spmd_reduction op, spmd_dtype dtype, const void *in,
                             void *out, int64_t count)
{
    if (dtype == SPMD_F16 || dtype == SPMD_BF16)
        return all_reduce_half(comm, op, dtype, in, out, count);
    if (op != SPMD_SUM && (dtype == SPMD_C64 || dtype == SPMD_C128))
        return spmd_fail(SPMD_ERR_DTYPE, "%s numbers have no order: no maximum, no minimum",
                         spmd_dtype_name(dtype));
    MPI_Op mpi;
    bool made;
    TRY(mpi_op(op, dtype, &mpi, &made));
    spmd_status status = reduce_pieces(comm, mpi, dtype, in, out, count);
    if (made)
        MPI_Op_free(&mpi);
    return status;
}

/* More bytes than MPI counts: one broadcast after the other. */
static spmd_status all_gather_large(MPI_Comm comm, int ranks, const int64_t bytes[], char *out)
{
    for (int r = 0; r < ranks; out += bytes[r++])
        TRY(spmd__broadcast(comm, r, out, bytes[r]));
    return SPMD_OK;
}

static spmd_status all_gather_small(MPI_Comm comm, int rank, int ranks, const void *in,
                                    const int64_t bytes[], void *out)
{
    int *counts, *places;
    bool even = true;
    TRY(spmd__alloc((size_t)ranks * 2, sizeof *counts, &counts));
    places = counts + ranks;
    for (int r = 0; r < ranks; r++) {
        counts[r] = (int)bytes[r];
        places[r] = r ? places[r - 1] + counts[r - 1] : 0;
        even = even && bytes[r] == bytes[0];
    }
    int code =
        even ? MPI_Allgather(in, counts[rank], MPI_BYTE, out, counts[rank], MPI_BYTE, comm)
             : MPI_Allgatherv(in, counts[rank], MPI_BYTE, out, counts, places, MPI_BYTE, comm);
    free(counts);
    return spmd__mpi_status(code, "MPI_Allgatherv");
}

spmd_status spmd__all_gather(MPI_Comm comm, const void *in, const int64_t bytes[], void *out)
{
    int rank, ranks;
    int64_t total = 0, before = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int r = 0; r < ranks; r++) {
        if (r == rank)
            before = total;
        total += bytes[r];
    }
    if (total <= INT_MAX)
        return all_gather_small(comm, rank, ranks, in, bytes, out);
    memcpy((char *)out + before, in, (size_t)bytes[rank]);
    return all_gather_large(comm, ranks, bytes, out);
}

spmd_status spmd__broadcast(MPI_Comm comm, int root, void *data, int64_t bytes)
{
    for (int64_t done = 0; done < bytes; done += MPI_PIECE_BYTES) {
        int piece = (int)(bytes - done < MPI_PIECE_BYTES ? bytes - done : MPI_PIECE_BYTES);
        TRY_MPI(MPI_Bcast((char *)data + done, piece, MPI_BYTE, root, comm));
    }
    return SPMD_OK;
}
