/* move.c - a move of a square matrix of doubles, ready to be made by us and by rivals. */
#include <stdlib.h>
#include <string.h>

#include "move.h"

int64_t bench_move_bytes(const spmd_box *box)
{
    return spmd_box_size(box) * (int64_t)sizeof(double);
}

static spmd_box box_of(const struct move *move, const spmd_sharding *sharding, int rank)
{
    spmd_box box;
    bench_check(spmd_sharding_box(sharding, move->shape, rank, &box));
    return box;
}

spmd_box bench_move_from(const struct move *move, int rank)
{
    return box_of(move, move->from, rank);
}

spmd_box bench_move_to(const struct move *move, int rank)
{
    return box_of(move, move->to, rank);
}

void bench_move_begin(struct move *move, const char *mesh, const char *from, const char *to,
                      int64_t n)
{
    *move = (struct move){.shape = SPMD_SHAPE(n, n)};
    bench_check(spmd_mesh_create(MPI_COMM_WORLD, mesh, &move->mesh));
    bench_check(spmd_sharding_create(move->mesh, from, &move->from));
    bench_check(spmd_sharding_create(move->mesh, to, &move->to));
    bench_check(spmd_array_arange(move->mesh, from, SPMD_F64, move->shape, &move->source));
    bench_check(spmd_reshard_plan(move->from, move->to, SPMD_F64, move->shape, &move->plan));
    bench_check(spmd_reshard_run(move->plan, 1, &move->source, &move->target));
    int position = (int)spmd_mesh_position(move->mesh);
    move->ranks = (int)spmd_mesh_size(move->mesh);
    move->from_box = bench_move_from(move, position);
    move->to_box = bench_move_to(move, position);
    int64_t source = spmd_box_size(&move->from_box), target = spmd_box_size(&move->to_box);
    /* The yardstick reads as many as it writes. */
    move->source_block = bench_allocate(source > target ? source : target, sizeof(double));
    move->target_block = bench_allocate(target, sizeof(double));
    bench_move_fill(move);
}

void bench_move_end(struct move *move)
{
    free(move->source_block);
    free(move->target_block);
    spmd_reshard_free(&move->plan);
    spmd_array_free(&move->source);
    spmd_array_free(&move->target);
    spmd_sharding_free(&move->from);
    spmd_sharding_free(&move->to);
    spmd_mesh_free(&move->mesh);
}

void bench_move_fill(const struct move *move)
{
    const spmd_block *block = spmd_array_block(move->source);
    memcpy(move->source_block, block->data, (size_t)bench_move_bytes(&move->from_box));
}

void bench_move_spoil(const struct move *move)
{
    memset(move->target_block, 0xff, (size_t)bench_move_bytes(&move->to_box));
}

void bench_move_check(const struct move *move, const char *rival, bool transposed)
{
    const double *ours = spmd_array_block(move->target)->data, *theirs = move->target_block;
    int64_t rows = move->to_box.hi[0] - move->to_box.lo[0];
    int64_t columns = move->to_box.hi[1] - move->to_box.lo[1];
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            if (ours[i * columns + j] != theirs[transposed ? j * rows + i : i * columns + j])
                bench_check(spmd_fail(SPMD_ERR_BODY, "%s has other results than we", rival));
}

void bench_move_memcpy(void *state)
{
    const struct move *move = state;
    memcpy(move->target_block, move->source_block, (size_t)bench_move_bytes(&move->to_box));
}
