/* map/ragged_all_to_all.c - rows of each member to rows of the others, as many as each one says.
 *
 * The sender knows where its rows go, the receiver does not. So the members first tell each other
 * where their slices are to lie and how long they are; each checks what it sends and what it is to
 * get, since these arguments may be wrong on one member alone; and when all is well, rows move from
 * where they lie to where they belong. If slices are few, all members are told everything, so that
 * each knows by itself whether all is well; else they have to agree on that. */
#include <string.h>

#include "comm/agree.h"
#include "comm/mpi.h"
#include "comm/parcels.h"
#include "core/block.h"
#include "map/parts.h"
#include "map/request.h"

/* The lists [count of slices] of a call. */
struct lists {
    const int64_t *in_offsets, *send_sizes, *out_offsets, *recv_sizes;
};

static spmd_status check(struct operation *op, const struct group *group, int64_t size)
{
    const struct lists *lists = op->list;
    if (op->count < 1 || op->count % size != 0)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "ragged_all_to_all over %s of %lld slices: their number is a multiple of "
                         "the %lld members",
                         op->axes, (long long)op->count, (long long)size);
    if (!lists->in_offsets || !lists->send_sizes || !lists->out_offsets || !lists->recv_sizes)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "ragged_all_to_all needs four lists of %lld numbers, one is NULL",
                         (long long)op->count);
    if (op->in->ndim < 1)
        return spmd_fail(SPMD_ERR_SHAPE, "ragged_all_to_all moves rows, its input is a scalar");
    op->free_dims = 1;
    return spmd__collective_check_equal(op, group);
}

static void describe(const struct operation *op, struct text *text)
{
    spmd__text_add(text, " in %lld slices", (long long)op->count);
}

static spmd_status check_out(const struct operation *op)
{
    spmd_shape shape = spmd_block_shape(op->in);
    if (op->out->ndim > 0)
        shape.dim[0] = op->out->shape[0];
    TRY(spmd__collective_check_out(op, op->in->dtype, shape));
    if (op->out->data == op->in->data && spmd_block_size(op->in) > 0)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "ragged_all_to_all cannot write to the block that it reads");
    return SPMD_OK;
}

/* Whether the block has the rows of slice `slice`. */
static spmd_status check_rows(const spmd_block *block, const char *role, int64_t slice,
                              int64_t offset, int64_t rows)
{
    int64_t end;
    if (offset >= 0 && rows >= 0 && !__builtin_add_overflow(offset, rows, &end) &&
        end <= block->shape[0])
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_ARGUMENT,
                     "ragged_all_to_all %s slice %lld, %lld rows from row %lld on: the block has "
                     "%lld",
                     role, (long long)slice, (long long)rows, (long long)offset,
                     (long long)block->shape[0]);
}

static spmd_status check_sends(const struct operation *op)
{
    const struct lists *lists = op->list;
    for (int64_t i = 0; i < op->count; i++)
        TRY(check_rows(op->in, "sends", i, lists->in_offsets[i], lists->send_sizes[i]));
    return SPMD_OK;
}

/* Where a slice is to lie in the receiver's block. */
struct target {
    int64_t offset, rows; /* rows -1: the sender has failed, and says why itself */
};

static spmd_status check_receives(const struct operation *op, const struct target targets[])
{
    const struct lists *lists = op->list;
    for (int64_t j = 0; j < op->count; j++) {
        if (targets[j].rows < 0)
            continue;
        if (targets[j].rows != lists->recv_sizes[j])
            return spmd_fail(SPMD_ERR_ARGUMENT,
                             "ragged_all_to_all expects %lld rows as slice %lld, the sender has "
                             "%lld for it",
                             (long long)lists->recv_sizes[j], (long long)j,
                             (long long)targets[j].rows);
        TRY(check_rows(op->out, "receives", j, targets[j].offset, targets[j].rows));
    }
    return SPMD_OK;
}

/* Collective over the group, also for members that have failed: what they are to receive. */
static spmd_status exchange_targets(const struct operation *op, const struct group *group,
                                    bool failed, struct target **targets)
{
    const struct lists *lists = op->list;
    struct target *told;
    TRY(spmd__arena_take(op->ctx->arena, (size_t)op->count, sizeof *told, &told));
    TRY(spmd__arena_take(op->ctx->arena, (size_t)op->count, sizeof **targets, targets));
    for (int64_t i = 0; i < op->count; i++)
        told[i] = (struct target){lists->out_offsets[i], failed ? -1 : lists->send_sizes[i]};
    int each = (int)(op->count / group->size) * 2;
    TRY_MPI(MPI_Alltoall(told, each, MPI_INT64_T, *targets, each, MPI_INT64_T, group->comm));
    return SPMD_OK;
}

/* Up to so many slices of all members are told to all. */
enum { FEW = 1 << 10 };

/* What a member tells all others; a row of the table. */
struct word {
    int64_t offset, rows; /* of the slice that it sends: where it is to lie, how long it is */
    int64_t expected;     /* rows of the slice that it is to get */
};

struct table {
    int64_t n, count;   /* members, and slices of each */
    struct word *words; /* [n * (count + 1)]; each member's first one is about itself: its out has
                           `rows`, `offset` is 1 if its bytes are more than MPI counts, and
                           `expected` is 1 if it has failed */
};

static struct word *words_of(const struct table *table, int64_t member)
{
    return table->words + member * (table->count + 1);
}

static bool is_large(const spmd_block *block)
{
    return spmd__block_bytes(block) > (size_t)spmd__mpi_piece_bytes;
}

/* Collective over the group, also for members that have failed. */
static spmd_status tell_all(const struct operation *op, const struct group *group, bool failed,
                            struct table *table)
{
    const struct lists *lists = op->list;
    struct word *mine;
    *table = (struct table){.n = group->size, .count = op->count};
    int each = (int)(op->count + 1);
    TRY(spmd__arena_take(op->ctx->arena, (size_t)each, sizeof *mine, &mine));
    TRY(spmd__arena_take(op->ctx->arena, (size_t)(group->size * each), sizeof *mine,
                         &table->words));
    mine[0] = (struct word){is_large(op->in) || is_large(op->out),
                            op->out->ndim > 0 ? op->out->shape[0] : 0, failed};
    for (int64_t i = 0; i < op->count; i++)
        mine[i + 1] =
            (struct word){lists->out_offsets[i], lists->send_sizes[i], lists->recv_sizes[i]};
    int bytes = each * (int)sizeof *mine;
    TRY_MPI(MPI_Allgather(mine, bytes, MPI_BYTE, table->words, bytes, MPI_BYTE, group->comm));
    return SPMD_OK;
}

/* What a member is to receive, of what all have told. */
static struct target told_target(const struct table *table, int64_t member, int64_t j)
{
    int64_t each = table->count / table->n, from = j / each;
    const struct word *words = words_of(table, from);
    const struct word *slice = &words[1 + member * each + j % each];
    bool failed = words[0].expected != 0;
    return (struct target){slice->offset, failed ? -1 : slice->rows};
}

/* Whether every member can send and receive as it says; the same on all. */
static bool all_is_well(const struct table *table)
{
    for (int64_t m = 0; m < table->n; m++) {
        const struct word *words = words_of(table, m);
        if (words[0].expected != 0)
            return false;
        for (int64_t j = 0; j < table->count; j++) {
            struct target target = told_target(table, m, j);
            int64_t end;
            if (target.rows != words[j + 1].expected || target.offset < 0 ||
                __builtin_add_overflow(target.offset, target.rows, &end) || end > words[0].rows)
                return false;
        }
    }
    return true;
}

/* Whether one MPI call can move all: a slice for each pair of members, and bytes that it counts. */
static bool is_plain(const struct table *table)
{
    for (int64_t m = 0; m < table->n; m++)
        if (words_of(table, m)[0].offset != 0)
            return false;
    return table->count == table->n;
}

static int64_t bytes_of_row(const spmd_block *block)
{
    return spmd__parts_slab(spmd_block_shape(block), 0, spmd_dtype_size(block->dtype));
}

static struct parcel rows_of(const spmd_block *block, int64_t peer, int64_t offset, int64_t rows)
{
    int64_t row = bytes_of_row(block);
    char *data = rows * row > 0 ? (char *)block->data + offset * row : NULL;
    return (struct parcel){(int)peer, data, rows * row};
}

/* Sends begin with the next higher member, receives with the next lower one, so that not all meet
 * at one. */
static spmd_status move_rows(const struct operation *op, const struct group *group,
                             const struct target targets[])
{
    const struct lists *lists = op->list;
    int64_t n = group->size, each = op->count / n;
    struct parcel *sends, *recvs;
    TRY(spmd__arena_take(op->ctx->arena, (size_t)op->count, sizeof *sends, &sends));
    TRY(spmd__arena_take(op->ctx->arena, (size_t)op->count, sizeof *recvs, &recvs));
    for (int64_t s = 0, k = 0; s < n; s++) {
        int64_t to = (group->index + s) % n, from = (group->index - s + n) % n;
        for (int64_t i = 0; i < each; i++, k++) {
            int64_t out = to * each + i, in = from * each + i;
            sends[k] = rows_of(op->in, to, lists->in_offsets[out], lists->send_sizes[out]);
            recvs[k] = rows_of(op->out, from, targets[in].offset, targets[in].rows);
        }
    }
    return spmd__parcels_move(group->comm, op->count, sends, op->count, recvs, op->ctx->arena,
                              NULL);
}

static spmd_status move_plain(const struct operation *op, const struct group *group,
                              const struct target targets[])
{
    const struct lists *lists = op->list;
    int64_t n = group->size, row = bytes_of_row(op->in);
    int *sends, *recvs, *send_places, *recv_places;
    TRY(spmd__arena_take(op->ctx->arena, (size_t)n * 4, sizeof *sends, &sends));
    send_places = sends + n, recvs = send_places + n, recv_places = recvs + n;
    for (int64_t m = 0; m < n; m++) {
        sends[m] = (int)(lists->send_sizes[m] * row);
        send_places[m] = (int)(lists->in_offsets[m] * row);
        recvs[m] = (int)(targets[m].rows * row);
        recv_places[m] = (int)(targets[m].offset * row);
    }
    return spmd__mpi_status(MPI_Alltoallv(op->in->data, sends, send_places, MPI_BYTE, op->out->data,
                                          recvs, recv_places, MPI_BYTE, group->comm),
                            "MPI_Alltoallv");
}

/* A failure of one member, which is known to be there or is looked for, becomes that of all. */
static spmd_status agree(const struct operation *op, const struct group *group, spmd_status status,
                         const struct target targets[])
{
    if (status == SPMD_OK)
        status = check_receives(op, targets);
    return spmd__agree(group->comm, group->real->mesh->rank, status, 0);
}

static spmd_status run_few(const struct operation *op, const struct group *group,
                           spmd_status status)
{
    struct table table;
    struct target *targets;
    TRY(tell_all(op, group, status != SPMD_OK, &table));
    TRY(spmd__arena_take(op->ctx->arena, (size_t)op->count, sizeof *targets, &targets));
    for (int64_t j = 0; j < op->count; j++)
        targets[j] = told_target(&table, group->index, j);
    if (!all_is_well(&table))
        return agree(op, group, status, targets);
    return (is_plain(&table) ? move_plain : move_rows)(op, group, targets);
}

static spmd_status run(struct operation *op, struct group *group)
{
    struct target *targets;
    spmd_status status = check_out(op);
    if (status == SPMD_OK)
        status = check_sends(op);
    if (op->count * group->size <= FEW)
        return run_few(op, group, status);
    TRY(exchange_targets(op, group, status != SPMD_OK, &targets));
    TRY(agree(op, group, status, targets));
    return move_rows(op, group, targets);
}

/* What slice `i` of member `from` is to the member that gets it. */
static int64_t arrival(int64_t from, int64_t i, int64_t each)
{
    return from * each + i % each;
}

static spmd_status check_local(struct operation *const ops[], int64_t n, struct target targets[])
{
    for (int64_t k = 0; k < n; k++) {
        int64_t each = ops[k]->count / n;
        TRY(check_sends(ops[k]));
        if (!ops[k]->out)
            continue;
        TRY(check_out(ops[k]));
        for (int64_t m = 0; m < n; m++)
            for (int64_t i = k * each; i < (k + 1) * each; i++) {
                const struct lists *lists = ops[m]->list;
                targets[arrival(m, i, each)] =
                    (struct target){lists->out_offsets[i], lists->send_sizes[i]};
            }
        TRY(check_receives(ops[k], targets));
    }
    return SPMD_OK;
}

static void copy_rows(const struct operation *from, const struct operation *to, int64_t slice)
{
    const struct lists *lists = from->list;
    int64_t rows = lists->send_sizes[slice];
    struct parcel src = rows_of(from->in, 0, lists->in_offsets[slice], rows);
    struct parcel dst = rows_of(to->out, 0, lists->out_offsets[slice], rows);
    if (src.bytes > 0)
        memcpy(dst.data, src.data, (size_t)src.bytes);
}

static spmd_status local(struct operation *const ops[], int64_t n)
{
    int64_t each = ops[0]->count / n;
    struct target *targets;
    TRY(spmd__arena_take(ops[0]->ctx->arena, (size_t)ops[0]->count, sizeof *targets, &targets));
    TRY(check_local(ops, n, targets));
    for (int64_t m = 0; m < n; m++)
        for (int64_t k = 0; k < n; k++)
            for (int64_t i = k * each; ops[k]->out && i < (k + 1) * each; i++)
                copy_rows(ops[m], ops[k], i);
    return SPMD_OK;
}

static const struct operation_kind ragged_all_to_all = {.name = "ragged_all_to_all",
                                                        .own_lists = true,
                                                        .check = check,
                                                        .describe = describe,
                                                        .run = run,
                                                        .local = local};

spmd_status spmd_ragged_all_to_all(spmd_ctx *ctx, const spmd_block *in, const char *axes,
                                   int64_t nslices, const int64_t in_offsets[],
                                   const int64_t send_sizes[], const int64_t out_offsets[],
                                   const int64_t recv_sizes[], spmd_block *out)
{
    const struct lists lists = {in_offsets, send_sizes, out_offsets, recv_sizes};
    struct operation op = {.kind = &ragged_all_to_all,
                           .ctx = ctx,
                           .in = in,
                           .out = out,
                           .axes = axes,
                           .count = nslices,
                           .list = &lists};
    return spmd__collective_run(&op);
}
