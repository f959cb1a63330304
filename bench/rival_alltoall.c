/* rival_alltoall.c - the move by MPI: parts packed by hand around MPI_Alltoallv, and MPI_Alltoallw
 * of subarray types. */
#include <stdlib.h>
#include <string.h>

#include "move.h"

/* What goes between this rank and each other one. */
struct parts {
    const struct move *move;
    spmd_box *send_boxes, *receive_boxes;                             /* [ranks] */
    int *send_counts, *send_places, *receive_counts, *receive_places; /* [ranks] doubles, packed */
    double *sent, *received;
    MPI_Datatype *send_types, *receive_types; /* [ranks] */
    int *ones, *zeros;                        /* [ranks] */
};

static spmd_box meet(const spmd_box *a, const spmd_box *b)
{
    spmd_box common = *a;
    for (int d = 0; d < a->ndim; d++) {
        common.lo[d] = a->lo[d] > b->lo[d] ? a->lo[d] : b->lo[d];
        common.hi[d] = a->hi[d] < b->hi[d] ? a->hi[d] : b->hi[d];
        if (common.hi[d] < common.lo[d])
            common.hi[d] = common.lo[d];
    }
    return common;
}

static struct parts *begin(const struct move *move)
{
    struct parts *parts = bench_allocate(1, sizeof *parts);
    *parts = (struct parts){.move = move,
                            .send_boxes = bench_allocate(move->ranks, sizeof(spmd_box)),
                            .receive_boxes = bench_allocate(move->ranks, sizeof(spmd_box))};
    for (int r = 0; r < move->ranks; r++) {
        spmd_box to = bench_move_to(move, r), from = bench_move_from(move, r);
        parts->send_boxes[r] = meet(&move->from_box, &to);
        parts->receive_boxes[r] = meet(&move->to_box, &from);
    }
    return parts;
}

static void end(struct parts *parts)
{
    free(parts->send_boxes);
    free(parts->receive_boxes);
    free(parts);
}

/* Parts lie one after the other, in the order of ranks. Returns how many elements they have. */
static int64_t lay_out(const spmd_box *boxes, int ranks, int *counts, int *places)
{
    int64_t place = 0;
    for (int r = 0; r < ranks; r++) {
        counts[r] = (int)spmd_box_size(&boxes[r]);
        places[r] = (int)place;
        place += counts[r];
    }
    return place;
}

static void *begin_alltoallv(const struct move *move)
{
    struct parts *parts = begin(move);
    parts->send_counts = bench_allocate(move->ranks, sizeof(int));
    parts->send_places = bench_allocate(move->ranks, sizeof(int));
    parts->receive_counts = bench_allocate(move->ranks, sizeof(int));
    parts->receive_places = bench_allocate(move->ranks, sizeof(int));
    int64_t sent = lay_out(parts->send_boxes, move->ranks, parts->send_counts, parts->send_places);
    int64_t received =
        lay_out(parts->receive_boxes, move->ranks, parts->receive_counts, parts->receive_places);
    parts->sent = bench_allocate(sent, sizeof(double));
    parts->received = bench_allocate(received, sizeof(double));
    return parts;
}

static void end_alltoallv(void *state)
{
    struct parts *parts = state;
    free(parts->send_counts);
    free(parts->send_places);
    free(parts->receive_counts);
    free(parts->receive_places);
    free(parts->sent);
    free(parts->received);
    end(parts);
}

/* The row of `part` that stands at `row`, in a block that holds `whole`. */
static double *row_of(double *block, const spmd_box *whole, const spmd_box *part, int64_t row)
{
    int64_t width = whole->hi[1] - whole->lo[1];
    return block + (row - whole->lo[0]) * width + part->lo[1] - whole->lo[1];
}

static void pack(double *packed, double *block, const spmd_box *whole, const spmd_box *part)
{
    int64_t width = part->hi[1] - part->lo[1];
    for (int64_t row = part->lo[0]; row < part->hi[0]; row++, packed += width)
        memcpy(packed, row_of(block, whole, part, row), (size_t)width * sizeof *packed);
}

static void unpack(double *block, const double *packed, const spmd_box *whole, const spmd_box *part)
{
    int64_t width = part->hi[1] - part->lo[1];
    for (int64_t row = part->lo[0]; row < part->hi[0]; row++, packed += width)
        memcpy(row_of(block, whole, part, row), packed, (size_t)width * sizeof *packed);
}

static void run_alltoallv(void *state)
{
    const struct parts *parts = state;
    const struct move *move = parts->move;
    for (int r = 0; r < move->ranks; r++)
        pack(parts->sent + parts->send_places[r], move->source_block, &move->from_box,
             &parts->send_boxes[r]);
    MPI_Alltoallv(parts->sent, parts->send_counts, parts->send_places, MPI_DOUBLE, parts->received,
                  parts->receive_counts, parts->receive_places, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int r = 0; r < move->ranks; r++)
        unpack(move->target_block, parts->received + parts->receive_places[r], &move->to_box,
               &parts->receive_boxes[r]);
}

static MPI_Datatype type_of(const spmd_box *whole, const spmd_box *part)
{
    MPI_Datatype type;
    int sizes[2], parts[2], starts[2];
    for (int d = 0; d < 2; d++) {
        sizes[d] = (int)(whole->hi[d] - whole->lo[d]);
        parts[d] = (int)(part->hi[d] - part->lo[d]);
        starts[d] = (int)(part->lo[d] - whole->lo[d]);
    }
    if (parts[0] == 0 || parts[1] == 0)
        MPI_Type_contiguous(0, MPI_DOUBLE, &type);
    else
        MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void *begin_alltoallw(const struct move *move)
{
    struct parts *parts = begin(move);
    parts->send_types = bench_allocate(move->ranks, sizeof(MPI_Datatype));
    parts->receive_types = bench_allocate(move->ranks, sizeof(MPI_Datatype));
    parts->ones = bench_allocate(move->ranks, sizeof(int));
    parts->zeros = bench_allocate(move->ranks, sizeof(int));
    for (int r = 0; r < move->ranks; r++) {
        parts->send_types[r] = type_of(&move->from_box, &parts->send_boxes[r]);
        parts->receive_types[r] = type_of(&move->to_box, &parts->receive_boxes[r]);
        parts->ones[r] = 1;
        parts->zeros[r] = 0;
    }
    return parts;
}

static void end_alltoallw(void *state)
{
    struct parts *parts = state;
    for (int r = 0; r < parts->move->ranks; r++) {
        MPI_Type_free(&parts->send_types[r]);
        MPI_Type_free(&parts->receive_types[r]);
    }
    free(parts->send_types);
    free(parts->receive_types);
    free(parts->ones);
    free(parts->zeros);
    end(parts);
}

static void run_alltoallw(void *state)
{
    const struct parts *parts = state;
    MPI_Alltoallw(parts->move->source_block, parts->ones, parts->zeros, parts->send_types,
                  parts->move->target_block, parts->ones, parts->zeros, parts->receive_types,
                  MPI_COMM_WORLD);
}

const struct rival bench_alltoallv = {.name = "pack + MPI_Alltoallv + unpack",
                                      .begin = begin_alltoallv,
                                      .run = run_alltoallv,
                                      .end = end_alltoallv};
const struct rival bench_alltoallw = {.name = "MPI_Alltoallw of subarrays",
                                      .begin = begin_alltoallw,
                                      .run = run_alltoallw,
                                      .end = end_alltoallw};
