/* collective_random.c - MPI tests of collectives that move data, on random meshes, axes, groups,
 * shapes, dimensions and types, against the obvious: which element of which member it is.
 *
 * Each trial has a seed of its own, which a failure tells. Some go in small pieces, waiting or in
 * two phases; and in some, members read and write each other's blocks, which else are too small for
 * that. The test is linked with the library's layers, whose limit of an MPI call it can see.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "pattern.h"

extern int64_t spmd__mpi_piece_bytes;

enum { TRIALS = 150, MAX_RANKS = 64, PIECE = 48 };

/* A trial as all ranks know it, and this rank's place in it. */
struct trial {
    unsigned number; /* its seed, at first */
    unsigned seed;
    char mesh[60], axes[600];
    int naxes;
    int64_t size[3]; /* of the mesh's axes x, y, z */
    int list[3];     /* the axes of the group, in their order */
    bool grouped;
    int64_t n, index;         /* the group's size, this rank in it */
    int member[MAX_RANKS];    /* [n] the ranks of the group */
    int by_number[MAX_RANKS]; /* [n] the same as ppermute numbers them */
    spmd_dtype dtype;
    spmd_shape shape; /* of each member's block */
    bool splits;      /* in two phases */
};

static int64_t below(struct trial *trial, int64_t limit)
{
    return rand_r(&trial->seed) % limit;
}

static int64_t divisor_of(struct trial *trial, int64_t number)
{
    int64_t divisor = 1 + below(trial, number);
    while (number % divisor != 0)
        divisor--;
    return divisor;
}

static void shuffle(struct trial *trial, int64_t count, int64_t list[])
{
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = below(trial, i + 1), kept = list[i];
        list[i] = list[j];
        list[j] = kept;
    }
}

static void choose_mesh(struct trial *trial)
{
    trial->size[0] = divisor_of(trial, test_size);
    trial->size[1] = divisor_of(trial, test_size / trial->size[0]);
    trial->size[2] = test_size / trial->size[0] / trial->size[1];
    snprintf(trial->mesh, sizeof trial->mesh, "x=%lld,y=%lld,z=%lld", (long long)trial->size[0],
             (long long)trial->size[1], (long long)trial->size[2]);
}

static void choose_axes(struct trial *trial)
{
    int64_t order[3] = {0, 1, 2};
    size_t at = 0;
    shuffle(trial, 3, order);
    trial->naxes = (int)below(trial, 4);
    trial->axes[0] = '\0';
    for (int i = 0; i < trial->naxes; i++) {
        trial->list[i] = (int)order[i];
        at += (size_t)snprintf(trial->axes + at, sizeof trial->axes - at, "%s%c", i ? "," : "",
                               "xyz"[order[i]]);
    }
}

/* The rank at a place along the axes of the list, where this one is else. */
static int rank_along(const struct trial *trial, int64_t place)
{
    int64_t at[3] = {test_rank / (trial->size[1] * trial->size[2]),
                     test_rank / trial->size[2] % trial->size[1], test_rank % trial->size[2]};
    for (int i = trial->naxes - 1; i >= 0; i--) {
        int64_t size = trial->size[trial->list[i]];
        at[trial->list[i]] = place % size;
        place /= size;
    }
    return (int)((at[0] * trial->size[1] + at[1]) * trial->size[2] + at[2]);
}

static int64_t count_along(const struct trial *trial)
{
    int64_t count = 1;
    for (int i = 0; i < trial->naxes; i++)
        count *= trial->size[trial->list[i]];
    return count;
}

/* Takes the part of `places` [total] that this rank is in, and adds all parts to the text. */
static void choose_part(struct trial *trial, int64_t total, const int64_t places[])
{
    size_t at = strlen(trial->axes), room = sizeof trial->axes;
    for (int64_t i = 0; i < total; i++) {
        const char *before = i == 0 ? " [[" : i % trial->n == 0 ? "],[" : ",";
        at += (size_t)snprintf(trial->axes + at, room - at, "%s%lld", before, (long long)places[i]);
        if (rank_along(trial, places[i]) != test_rank)
            continue;
        for (int64_t k = 0; k < trial->n; k++)
            trial->member[k] = rank_along(trial, places[i / trial->n * trial->n + k]);
    }
    snprintf(trial->axes + at, room - at, "]]");
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void choose_group(struct trial *trial)
{
    int64_t total = count_along(trial), places[MAX_RANKS];
    for (int64_t i = 0; i < total; i++)
        places[i] = i;
    trial->grouped = below(trial, 3) == 0;
    trial->n = trial->grouped ? divisor_of(trial, total) : total;
    for (int64_t i = 0; i < total && !trial->grouped; i++)
        trial->member[i] = rank_along(trial, i);
    if (trial->grouped) {
        shuffle(trial, total, places);
        choose_part(trial, total, places);
    }
    for (int64_t k = 0; k < trial->n; k++)
        if (trial->member[k] == test_rank)
            trial->index = k;
    memcpy(trial->by_number, trial->member, sizeof trial->member);
    if (!trial->grouped)
        qsort(trial->by_number, (size_t)trial->n, sizeof *trial->by_number, compare);
}

static void choose(struct trial *trial)
{
    choose_mesh(trial);
    choose_axes(trial);
    choose_group(trial);
    trial->dtype = pattern_random_dtype(&trial->seed);
    trial->shape.ndim = 1 + (int)below(trial, 3);
    for (int d = 0; d < trial->shape.ndim; d++)
        trial->shape.dim[d] = below(trial, 12) == 0 ? 0 : 1 + below(trial, 4);
    trial->splits = below(trial, 2) == 0;
}

/* The bytes of element `i` of a rank's block. */
static void element_of(const struct trial *trial, int rank, int64_t i, unsigned char *out)
{
    pattern_element(INT64_C(10007) * rank + i, spmd_dtype_size(trial->dtype), out);
}

static spmd_block *own_block(spmd_ctx *ctx, const struct trial *trial)
{
    spmd_block *block = spmd_temp(ctx, trial->dtype, trial->shape);
    for (int64_t i = 0; i < spmd_block_size(block); i++)
        element_of(trial, test_rank, i,
                   (unsigned char *)block->data + (size_t)i * spmd_dtype_size(trial->dtype));
    return block;
}

static void tell(const struct trial *trial, const char *what, int64_t wrong)
{
    fprintf(stderr, "rank %d: seed %u: %s over %s on %s, %lld elements wrong\n", test_rank,
            trial->number, what, trial->axes, trial->mesh, (long long)wrong);
}

/* Where an element comes from: a rank and an index there; rank -1: it is zero. */
struct source {
    int rank;
    int64_t index[SPMD_MAX_DIMS];
};

static int64_t flat(spmd_shape shape, const int64_t index[])
{
    int64_t at = 0;
    for (int d = 0; d < shape.ndim; d++)
        at = at * shape.dim[d] + index[d];
    return at;
}

static void unflat(spmd_shape shape, int64_t at, int64_t index[])
{
    for (int d = shape.ndim - 1; d >= 0; d--) {
        index[d] = at % shape.dim[d];
        at /= shape.dim[d];
    }
}

/* What a call was given, besides the trial. */
struct call {
    int dim, to_dim;
    spmd_tiling tiling;
    int64_t list[MAX_RANKS][2];
    int64_t nlist, source;
};

typedef void find_source(const struct trial *trial, const struct call *call, const int64_t index[],
                         struct source *source);

static void expect_sources(const struct trial *trial, const struct call *call,
                           const spmd_block *out, find_source *find, const char *what)
{
    size_t size = spmd_dtype_size(trial->dtype);
    int64_t wrong = 0;
    for (int64_t i = 0; i < spmd_block_size(out); i++) {
        int64_t index[SPMD_MAX_DIMS];
        unsigned char wanted[16] = {0};
        struct source source = {0};
        unflat(spmd_block_shape(out), i, index);
        find(trial, call, index, &source);
        if (source.rank >= 0)
            element_of(trial, source.rank, flat(trial->shape, source.index), wanted);
        wrong += memcmp((char *)out->data + (size_t)i * size, wanted, size) != 0;
    }
    if (!EXPECT(wrong == 0))
        tell(trial, what, wrong);
}

static void remove_index(int64_t index[], int ndim, int dim)
{
    memmove(index + dim, index + dim + 1, (size_t)(ndim - dim - 1) * sizeof *index);
}

static void insert_index(int64_t index[], int ndim, int dim, int64_t value)
{
    memmove(index + dim + 1, index + dim, (size_t)(ndim - dim) * sizeof *index);
    index[dim] = value;
}

/* As a dimension may be written. */
static int any_sign(struct trial *trial, int dim, int ndim)
{
    return below(trial, 2) ? dim : dim - ndim;
}

static void find_gathered(const struct trial *trial, const struct call *call, const int64_t index[],
                          struct source *source)
{
    int64_t extent = trial->shape.dim[call->dim];
    memcpy(source->index, index, sizeof source->index);
    if (call->tiling == SPMD_TILED) {
        source->rank = trial->member[index[call->dim] / extent];
        source->index[call->dim] %= extent;
        return;
    }
    source->rank = trial->member[index[call->dim]];
    remove_index(source->index, trial->shape.ndim + 1, call->dim);
}

static void try_all_gather(spmd_ctx *ctx, struct trial *trial)
{
    struct call call = {.tiling = below(trial, 2) ? SPMD_TILED : SPMD_UNTILED};
    int ndim = trial->shape.ndim + (call.tiling == SPMD_UNTILED);
    const spmd_block *in = own_block(ctx, trial);
    spmd_shape shape = {0};
    spmd_request *request = NULL;
    call.dim = (int)below(trial, ndim);
    int dim = any_sign(trial, call.dim, ndim);
    EXPECT_OK(spmd_all_gather_shape(ctx, in, trial->axes, dim, call.tiling, &shape));
    EXPECT(spmd_shape_size(shape) == trial->n * spmd_block_size(in));
    spmd_block *out = spmd_temp(ctx, trial->dtype, shape);
    if (trial->splits) {
        EXPECT_OK(spmd_all_gather_start(ctx, in, trial->axes, dim, call.tiling, out, &request));
        EXPECT_OK(spmd_wait(&request));
    } else {
        EXPECT_OK(spmd_all_gather(ctx, in, trial->axes, dim, call.tiling, out));
    }
    expect_sources(trial, &call, out, find_gathered, "all_gather");
}

/* Part `index` of `extent` by the layout's rule, for the axes of the list one after the other. */
static void split(const struct trial *trial, int64_t extent, int64_t index, int64_t *lo,
                  int64_t *hi)
{
    int64_t parts = trial->n;
    *lo = 0;
    *hi = extent;
    for (int i = 0; i < (trial->grouped ? 1 : trial->naxes); i++) {
        int64_t count = trial->grouped ? trial->n : trial->size[trial->list[i]];
        parts /= count;
        int64_t part = index / parts % count, n = *hi - *lo, longer = n % count;
        *lo += part * (n / count) + (part < longer ? part : longer);
        *hi = *lo + n / count + (part < longer);
    }
}

static void find_swapped(const struct trial *trial, const struct call *call, const int64_t index[],
                         struct source *source)
{
    int64_t lo, hi;
    memcpy(source->index, index, sizeof source->index);
    if (call->tiling == SPMD_UNTILED) {
        source->rank = trial->member[index[call->to_dim]];
        remove_index(source->index, trial->shape.ndim, call->to_dim);
        insert_index(source->index, trial->shape.ndim - 1, call->dim, trial->index);
        return;
    }
    split(trial, trial->shape.dim[call->dim], trial->index, &lo, &hi);
    int64_t extent = call->dim == call->to_dim ? hi - lo : trial->shape.dim[call->to_dim];
    source->rank = trial->member[index[call->to_dim] / extent];
    source->index[call->to_dim] %= extent;
    source->index[call->dim] += lo;
}

static void try_all_to_all(spmd_ctx *ctx, struct trial *trial)
{
    struct call call = {.tiling = below(trial, 2) ? SPMD_TILED : SPMD_UNTILED};
    int ndim = trial->shape.ndim;
    spmd_shape shape = {0};
    spmd_request *request = NULL;
    call.dim = (int)below(trial, ndim);
    call.to_dim = (int)below(trial, ndim);
    if (call.tiling == SPMD_UNTILED)
        trial->shape.dim[call.dim] = trial->n;
    const spmd_block *in = own_block(ctx, trial);
    int from = any_sign(trial, call.dim, ndim), to = any_sign(trial, call.to_dim, ndim);
    EXPECT_OK(spmd_all_to_all_shape(ctx, in, trial->axes, from, to, call.tiling, &shape));
    spmd_block *out = spmd_temp(ctx, trial->dtype, shape);
    if (trial->splits) {
        EXPECT_OK(
            spmd_all_to_all_start(ctx, in, trial->axes, from, to, call.tiling, out, &request));
        EXPECT_OK(spmd_wait(&request));
    } else {
        EXPECT_OK(spmd_all_to_all(ctx, in, trial->axes, from, to, call.tiling, out));
    }
    expect_sources(trial, &call, out, find_swapped, "all_to_all");
}

static void try_pswapaxes(spmd_ctx *ctx, struct trial *trial)
{
    struct call call = {.tiling = SPMD_UNTILED, .dim = (int)below(trial, trial->shape.ndim)};
    call.to_dim = call.dim;
    trial->shape.dim[call.dim] = trial->n;
    spmd_block *in = own_block(ctx, trial);
    spmd_block *out = trial->splits ? in : spmd_temp(ctx, trial->dtype, trial->shape);
    EXPECT_OK(
        spmd_pswapaxes(ctx, in, trial->axes, any_sign(trial, call.dim, trial->shape.ndim), out));
    expect_sources(trial, &call, out, find_swapped, "pswapaxes");
}

static void find_permuted(const struct trial *trial, const struct call *call, const int64_t index[],
                          struct source *source)
{
    source->rank = -1;
    memcpy(source->index, index, sizeof source->index);
    for (int64_t i = 0; i < call->nlist; i++)
        if (trial->by_number[call->list[i][1]] == test_rank)
            source->rank = trial->by_number[call->list[i][0]];
}

static void try_ppermute(spmd_ctx *ctx, struct trial *trial)
{
    struct call call = {.nlist = below(trial, trial->n + 1)};
    int64_t from[MAX_RANKS], to[MAX_RANKS];
    for (int64_t k = 0; k < trial->n; k++)
        from[k] = to[k] = k;
    shuffle(trial, trial->n, from);
    shuffle(trial, trial->n, to);
    for (int64_t i = 0; i < call.nlist; i++) {
        call.list[i][0] = from[i];
        call.list[i][1] = to[i];
    }
    spmd_request *request = NULL;
    spmd_block *in = own_block(ctx, trial);
    spmd_block *out = below(trial, 2) ? in : spmd_temp(ctx, trial->dtype, trial->shape);
    const int64_t(*pairs)[2] = (const int64_t(*)[2])call.list;
    if (trial->splits) {
        EXPECT_OK(spmd_ppermute_start(ctx, in, trial->axes, call.nlist, pairs, out, &request));
        EXPECT_OK(spmd_wait(&request));
    } else {
        EXPECT_OK(spmd_ppermute(ctx, in, trial->axes, call.nlist, pairs, out));
    }
    expect_sources(trial, &call, out, find_permuted, "ppermute");
}

static void try_pshuffle(spmd_ctx *ctx, struct trial *trial)
{
    struct call call = {.nlist = trial->n};
    int64_t perm[MAX_RANKS];
    for (int64_t k = 0; k < trial->n; k++)
        perm[k] = k;
    shuffle(trial, trial->n, perm);
    for (int64_t k = 0; k < trial->n; k++) {
        call.list[k][0] = perm[k];
        call.list[k][1] = k;
    }
    spmd_block *in = own_block(ctx, trial);
    spmd_block *out = trial->splits ? in : spmd_temp(ctx, trial->dtype, trial->shape);
    EXPECT_OK(spmd_pshuffle(ctx, in, trial->axes, perm, out));
    expect_sources(trial, &call, out, find_permuted, "pshuffle");
}

static void find_broadcast(const struct trial *trial, const struct call *call,
                           const int64_t index[], struct source *source)
{
    memcpy(source->index, index, sizeof source->index);
    source->rank = trial->member[call->source];
}

static void try_pbroadcast(spmd_ctx *ctx, struct trial *trial)
{
    struct call call = {.source = below(trial, trial->n)};
    spmd_block *in = own_block(ctx, trial);
    spmd_block *out = trial->splits ? in : spmd_temp(ctx, trial->dtype, trial->shape);
    EXPECT_OK(spmd_pbroadcast(ctx, in, trial->axes, call.source, out));
    expect_sources(trial, &call, out, find_broadcast, "pbroadcast");
}

/* Member m of a sum has (37m + i) % 50 as element i, in i32. */
static int64_t term(int rank, int64_t i)
{
    return (37 * rank + i) % 50;
}

static void expect_scattered(const struct trial *trial, const struct call *call,
                             const spmd_block *out)
{
    int64_t wrong = 0, lo, hi;
    split(trial, trial->shape.dim[call->dim], trial->index, &lo, &hi);
    for (int64_t i = 0; i < spmd_block_size(out); i++) {
        int64_t index[SPMD_MAX_DIMS] = {0}, sum = 0;
        unflat(spmd_block_shape(out), i, index);
        if (call->tiling == SPMD_UNTILED)
            insert_index(index, trial->shape.ndim - 1, call->dim, trial->index);
        else
            index[call->dim] += lo;
        for (int64_t m = 0; m < trial->n; m++)
            sum += term(trial->member[m], flat(trial->shape, index));
        wrong += ((int32_t *)out->data)[i] != sum;
    }
    if (!EXPECT(wrong == 0))
        tell(trial, "psum_scatter", wrong);
}

static void try_psum_scatter(spmd_ctx *ctx, struct trial *trial)
{
    struct call call = {.tiling = below(trial, 2) ? SPMD_TILED : SPMD_UNTILED};
    int ndim = trial->shape.ndim;
    spmd_shape shape = {0};
    spmd_request *request = NULL;
    call.dim = (int)below(trial, ndim);
    if (call.tiling == SPMD_UNTILED)
        trial->shape.dim[call.dim] = trial->n;
    spmd_block *in = spmd_temp(ctx, SPMD_I32, trial->shape);
    for (int64_t i = 0; i < spmd_block_size(in); i++)
        ((int32_t *)in->data)[i] = (int32_t)term(test_rank, i);
    int dim = any_sign(trial, call.dim, ndim);
    EXPECT_OK(spmd_psum_scatter_shape(ctx, in, trial->axes, dim, call.tiling, &shape));
    spmd_block *out = spmd_temp(ctx, SPMD_I32, shape);
    if (trial->splits) {
        EXPECT_OK(spmd_psum_scatter_start(ctx, in, trial->axes, dim, call.tiling, out, &request));
        EXPECT_OK(spmd_wait(&request));
    } else {
        EXPECT_OK(spmd_psum_scatter(ctx, in, trial->axes, dim, call.tiling, out));
    }
    expect_scattered(trial, &call, out);
}

/* Slices of a ragged_all_to_all: what each member sends to each other, all of it known to all. */
struct slices {
    int64_t each; /* for each pair of members */
    int64_t rows[MAX_RANKS][2 * MAX_RANKS];
};

static int64_t count_to(const struct slices *slices, int64_t from, int64_t to, int64_t limit)
{
    int64_t rows = 0;
    for (int64_t i = 0; i < limit; i++)
        rows += slices->rows[from][to * slices->each + i];
    return rows;
}

/* Member m keeps its slices in order; a receiver gets them by sender, with a free row behind each.
 */
static int64_t place_at(const struct slices *slices, int64_t from, int64_t to, int64_t i)
{
    int64_t row = 0;
    for (int64_t m = 0; m < from; m++)
        row += count_to(slices, m, to, slices->each) + slices->each;
    return row + count_to(slices, from, to, i) + i;
}

static void expect_ragged(const struct trial *trial, const struct slices *slices,
                          const spmd_block *out)
{
    int64_t row = spmd_shape_size(trial->shape), at = 0, wrong = 0;
    size_t size = spmd_dtype_size(trial->dtype);
    const char *data = out->data;
    for (int64_t m = 0; m < trial->n; m++)
        for (int64_t i = 0; i < slices->each; i++) {
            int64_t first = 0, slice = trial->index * slices->each + i;
            for (int64_t s = 0; s < slice; s++)
                first += slices->rows[m][s];
            for (int64_t e = 0; e < slices->rows[m][slice] * row; e++, at++) {
                unsigned char wanted[16];
                element_of(trial, trial->member[m], first * row + e, wanted);
                wrong += memcmp(data + (size_t)at * size, wanted, size) != 0;
            }
            for (int64_t e = 0; e < row * (int64_t)size; e++)
                wrong += data[(size_t)at * size + (size_t)e] != 0x55; /* nobody writes there */
            at += row;
        }
    if (!EXPECT(wrong == 0))
        tell(trial, "ragged_all_to_all", wrong);
}

static void try_ragged(spmd_ctx *ctx, struct trial *trial)
{
    struct slices slices = {.each = 1 + below(trial, 2)};
    int64_t n = trial->n, count = n * slices.each, total = 0;
    int64_t in_offsets[2 * MAX_RANKS], sends[2 * MAX_RANKS], outs[2 * MAX_RANKS],
        receives[2 * MAX_RANKS];
    for (int64_t m = 0; m < n; m++)
        for (int64_t s = 0; s < count; s++)
            slices.rows[m][s] = below(trial, 3);
    for (int64_t s = 0; s < count; s++) {
        int64_t peer = s / slices.each, i = s % slices.each;
        in_offsets[s] = total;
        sends[s] = slices.rows[trial->index][s];
        total += sends[s];
        outs[s] = place_at(&slices, trial->index, peer, i);
        receives[s] = slices.rows[peer][trial->index * slices.each + i];
    }
    struct trial rows = *trial; /* the shape of one row, before that of the block */
    for (int d = trial->shape.ndim; d > 0; d--)
        trial->shape.dim[d] = trial->shape.dim[d - 1];
    trial->shape.dim[0] = total;
    trial->shape.ndim++;
    const spmd_block *in = own_block(ctx, trial);
    trial->shape.dim[0] = place_at(&slices, n, trial->index, 0);
    spmd_block *out = spmd_temp(ctx, trial->dtype, trial->shape);
    memset(out->data, 0x55, (size_t)spmd_block_size(out) * spmd_dtype_size(out->dtype));
    EXPECT_OK(spmd_ragged_all_to_all(ctx, in, trial->axes, count, in_offsets, sends, outs, receives,
                                     out));
    expect_ragged(&rows, &slices, out);
}

static void (*const tries[])(spmd_ctx *ctx, struct trial *trial) = {
    try_all_gather, try_all_to_all, try_pswapaxes,    try_ppermute,
    try_pshuffle,   try_pbroadcast, try_psum_scatter, try_ragged,
};
enum { TRIES = sizeof tries / sizeof *tries };

static spmd_status try_it(spmd_ctx *ctx, void *user)
{
    struct trial *trial = user;
    tries[below(trial, TRIES)](ctx, trial);
    return SPMD_OK;
}

static void random_moves(void)
{
    static const char near[] = "pool_from = 0\nstream_from = 0\n";
    int64_t limit = spmd__mpi_piece_bytes;
    costs_begin();
    for (unsigned seed = 1; seed <= TRIALS; seed++) {
        struct trial trial = {.number = seed, .seed = seed};
        spmd_mesh *mesh = NULL;
        choose(&trial);
        spmd__mpi_piece_bytes = below(&trial, 2) ? PIECE : limit;
        costs_set(below(&trial, 2) ? near : NULL);
        EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, trial.mesh, &mesh));
        if (!EXPECT_OK(spmd_shard_map(mesh, try_it, &trial, 0, NULL, NULL, 0, NULL, NULL, NULL)))
            fprintf(stderr, "rank %d: seed %u\n", test_rank, seed);
        spmd__mpi_piece_bytes = limit;
        spmd_mesh_free(&mesh);
    }
    costs_end();
}

HARNESS_MAIN("collective_random", CASE(random_moves))
