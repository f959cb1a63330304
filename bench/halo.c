/* halo.c - a five-point Jacobi iteration, and its exchange alone, against what one writes by hand:
 * neighbours of a Cartesian communicator, MPI_Isend and MPI_Irecv, columns packed in a loop. Both
 * work on the same memory, with the same stencil; a run is a step there and one back, so that none
 * of them always reads where the other one writes.
 *
 *     mpirun -n N bench/halo [--quick | --once]
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* Two padded fields, and how each side of the comparison sees them. */
struct field {
    int64_t rows, columns; /* of the interior */
    double *from, *to;     /* padded by 1 all around */
    struct ours {
        spmd_ctx *ctx;
        const spmd_halo *halo;
        spmd_block *from, *to;
    } ours;
    struct by_hand {
        MPI_Comm comm;
        int up, down, left, right;
        double *columns; /* the left and the right one to send, the same received */
    } by_hand;
};

/* Along `rows` and `columns`, counted with the border. */
static void stencil(const struct field *field, int64_t row_lo, int64_t row_hi, int64_t column_lo,
                    int64_t column_hi)
{
    int64_t pitch = field->columns + 2;
    for (int64_t i = row_lo; i < row_hi; i++) {
        const double *restrict at = field->from + i * pitch;
        double *restrict to = field->to + i * pitch;
        for (int64_t j = column_lo; j < column_hi; j++)
            to[j] = 0.25 * (at[j - pitch] + at[j + pitch] + at[j - 1] + at[j + 1]);
    }
}

static void swap_fields(struct field *field)
{
    spmd_block *from = field->ours.from;
    field->ours.from = field->ours.to;
    field->ours.to = from;
    field->from = field->ours.from->data;
    field->to = field->ours.to->data;
}

static void step(struct field *field)
{
    stencil(field, 1, field->rows + 1, 1, field->columns + 1);
    swap_fields(field);
}

static void exchange(void *state)
{
    struct ours *ours = &((struct field *)state)->ours;
    bench_check(spmd_halo_exchange(ours->ctx, ours->from, ours->halo));
}

static void iterate(void *state)
{
    for (int i = 0; i < 2; i++) {
        exchange(state);
        step(state);
    }
}

/* The inside while the border is under way, then what needs it. */
static void step_in_two_phases(struct field *field)
{
    struct ours *ours = &field->ours;
    int64_t rows = field->rows, columns = field->columns;
    spmd_request *request;
    bench_check(spmd_halo_exchange_start(ours->ctx, ours->from, ours->halo, &request));
    stencil(field, 2, rows, 2, columns);
    bench_check(spmd_wait(&request));
    stencil(field, 1, 2, 1, columns + 1);
    stencil(field, rows, rows + 1, 1, columns + 1);
    stencil(field, 2, rows, 1, 2);
    stencil(field, 2, rows, columns, columns + 1);
    swap_fields(field);
}

static void iterate_in_two_phases(void *state)
{
    for (int i = 0; i < 2; i++)
        step_in_two_phases(state);
}

/* Copies column `j` of the padded field. */
static void pack(const struct field *field, int64_t j, double *column)
{
    for (int64_t i = 0; i < field->rows; i++)
        column[i] = field->from[(i + 1) * (field->columns + 2) + j];
}

static void unpack(struct field *field, int64_t j, const double *column)
{
    for (int64_t i = 0; i < field->rows; i++)
        field->from[(i + 1) * (field->columns + 2) + j] = column[i];
}

static void exchange_by_hand(void *state)
{
    struct field *field = state;
    const struct by_hand *by_hand = &field->by_hand;
    int rows = (int)field->rows, columns = (int)field->columns;
    int64_t pitch = field->columns + 2;
    double *first = field->from + pitch + 1, *last = field->from + field->rows * pitch + 1;
    double *send_left = by_hand->columns, *send_right = send_left + rows;
    double *from_left = send_right + rows, *from_right = from_left + rows;
    MPI_Request requests[8];
    MPI_Irecv(first - pitch, columns, MPI_DOUBLE, by_hand->up, 0, by_hand->comm, &requests[0]);
    MPI_Irecv(last + pitch, columns, MPI_DOUBLE, by_hand->down, 0, by_hand->comm, &requests[1]);
    MPI_Irecv(from_left, rows, MPI_DOUBLE, by_hand->left, 0, by_hand->comm, &requests[2]);
    MPI_Irecv(from_right, rows, MPI_DOUBLE, by_hand->right, 0, by_hand->comm, &requests[3]);
    MPI_Isend(first, columns, MPI_DOUBLE, by_hand->up, 0, by_hand->comm, &requests[4]);
    MPI_Isend(last, columns, MPI_DOUBLE, by_hand->down, 0, by_hand->comm, &requests[5]);
    if (by_hand->left != MPI_PROC_NULL)
        pack(field, 1, send_left);
    MPI_Isend(send_left, rows, MPI_DOUBLE, by_hand->left, 0, by_hand->comm, &requests[6]);
    if (by_hand->right != MPI_PROC_NULL)
        pack(field, columns, send_right);
    MPI_Isend(send_right, rows, MPI_DOUBLE, by_hand->right, 0, by_hand->comm, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    if (by_hand->left != MPI_PROC_NULL)
        unpack(field, 0, from_left);
    if (by_hand->right != MPI_PROC_NULL)
        unpack(field, columns + 1, from_right);
}

static void iterate_by_hand(void *state)
{
    for (int i = 0; i < 2; i++) {
        exchange_by_hand(state);
        step(state);
    }
}

static struct by_hand begin_by_hand(spmd_mesh *mesh, int64_t rows)
{
    struct by_hand by_hand = {.columns = calloc((size_t)(4 * rows), sizeof(double))};
    int sizes[] = {(int)spmd_mesh_axis_size(mesh, "x"), (int)spmd_mesh_axis_size(mesh, "y")};
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, (const int[]){0, 0}, 0, &by_hand.comm);
    MPI_Cart_shift(by_hand.comm, 0, 1, &by_hand.up, &by_hand.down);
    MPI_Cart_shift(by_hand.comm, 1, 1, &by_hand.left, &by_hand.right);
    return by_hand;
}

static void end_by_hand(struct by_hand *by_hand)
{
    MPI_Comm_free(&by_hand->comm);
    free(by_hand->columns);
}

/* The body in which all is measured: both sides need the same blocks. `user` is the mesh's text. */
static spmd_status compare(spmd_ctx *ctx, void *user)
{
    static const spmd_halo halo[] = {{"x", 1, 1, false}, {"y", 1, 1, false}};
    const spmd_block *in = spmd_in(ctx, 0);
    struct field field = {.rows = in->shape[0], .columns = in->shape[1]};
    int64_t bytes = in->global[0] * in->global[1] * (int64_t)sizeof(double);
    int64_t border = 2 * (field.rows + field.columns) * (int64_t)sizeof(double);
    char measure[80];
    field.ours =
        (struct ours){ctx, halo, spmd_halo_block(ctx, in, halo), spmd_halo_block(ctx, in, halo)};
    field.from = field.ours.from->data;
    field.to = field.ours.to->data;
    field.by_hand = begin_by_hand(spmd_ctx_mesh(ctx), field.rows);
    struct contender by_hand = {"by hand", iterate_by_hand, &field};
    snprintf(measure, sizeof measure, "2 jacobi steps on %s", (const char *)user);
    bench_compare(measure, bytes, (struct contender){"halo_exchange", iterate, &field}, by_hand);
    snprintf(measure, sizeof measure, "2 jacobi steps in two phases on %s", (const char *)user);
    bench_compare(measure, bytes,
                  (struct contender){"halo_exchange_start", iterate_in_two_phases, &field},
                  by_hand);
    snprintf(measure, sizeof measure, "exchange alone on %s", (const char *)user);
    bench_compare(measure, border, (struct contender){"halo_exchange", exchange, &field},
                  (struct contender){"by hand", exchange_by_hand, &field});
    end_by_hand(&field.by_hand);
    return SPMD_OK;
}

static void compare_on(const char *axes, int64_t extent)
{
    spmd_mesh *mesh;
    spmd_array *field;
    char text[64];
    bench_check(spmd_mesh_create(MPI_COMM_WORLD, axes, &mesh));
    bench_check(spmd_array_arange(mesh, "P(x,y)", SPMD_F64, SPMD_SHAPE(extent, extent), &field));
    spmd_mesh_format(text, sizeof text, mesh);
    for (char *comma = text; (comma = strchr(comma, ','));) /* it separates columns */
        *comma = ' ';
    bench_check(
        spmd_shard_map(mesh, compare, text, 1, &field, SPMD_SPECS("P(x,y)"), 0, NULL, NULL, NULL));
    spmd_array_free(&field);
    spmd_mesh_free(&mesh);
}

int main(int argc, char **argv)
{
    int ranks;
    MPI_Init(&argc, &argv);
    bench_begin(argc, argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int64_t extent = argc > 1 ? 1024 : 4096; /* --quick is the only argument */
    compare_on("x=*,y=1", extent);
    compare_on("x=1,y=*", extent);
    if (ranks > 2 && ranks % 2 == 0)
        compare_on("x=2,y=*", extent);
    MPI_Finalize();
    return 0;
}
