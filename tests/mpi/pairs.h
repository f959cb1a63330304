/* pairs.h - random arrays, and for each two ways to lie: on meshes of any factors over any of the
 * ranks, in any order.
 *
 * Everything follows from one seed, which is printed, and which TEST_SEED in the environment
 * replaces. What fails is told with its number and all of its objects. */
#ifndef PAIRS_H
#define PAIRS_H

#include <stdio.h>
#include <stdlib.h>

#include "pattern.h"

struct pair {
    spmd_shape shape;
    spmd_dtype dtype;
    struct place {
        spmd_mesh *mesh;
        char spec[256];
    } from, to;
};

/* The text of a mesh of `ranks` positions, of one to four axes; some have size 1. */
static inline void pair_mesh_text(int ranks, unsigned *seed, char text[64])
{
    int sizes[] = {1, 1, 1, 1}, naxes = 1 + rand_r(seed) % 4;
    for (int factor = 2; ranks > 1;)
        if (ranks % factor == 0) {
            sizes[rand_r(seed) % naxes] *= factor;
            ranks /= factor;
        } else {
            factor++;
        }
    for (int a = 0; a < naxes; a++)
        text += sprintf(text, "%s%c=%d", a ? "," : "", "xyzw"[a], sizes[a]);
}

/* Half of the meshes have all ranks, and half take theirs in another order. */
static inline spmd_mesh *pair_mesh(unsigned *seed)
{
    enum { MOST = 64 };
    int ranks = test_size < MOST ? test_size : MOST, order[MOST];
    char text[64];
    spmd_mesh *mesh = NULL;
    pattern_random_order(order, ranks, seed);
    if (rand_r(seed) % 2)
        ranks = 1 + rand_r(seed) % ranks;
    pair_mesh_text(ranks, seed, text);
    if (rand_r(seed) % 2)
        EXPECT_OK(spmd_mesh_create_ranks(MPI_COMM_WORLD, text, order, &mesh));
    else
        EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh));
    return mesh;
}

/* A spec for an array of `ndim` dimensions; trailing ones may be left out. */
static inline void pair_spec(struct place *place, int ndim, unsigned *seed)
{
    int left_out = ndim > 0 && rand_r(seed) % 4 == 0 ? 1 + rand_r(seed) % ndim : 0;
    pattern_random_spec(place->mesh, ndim - left_out, seed, place->spec);
}

/* Some of the axes that the spec leaves over, as bits: those along which blocks are contributions.
 */
static inline unsigned pair_choose_unreduced(const struct place *place, unsigned *seed)
{
    unsigned chosen = 0;
    for (int a = 0; a < spmd_mesh_naxes(place->mesh); a++) {
        bool is_free = !strstr(place->spec, spmd_mesh_axis_name(place->mesh, a));
        chosen |= (unsigned)(is_free && rand_r(seed) % 2) << a;
    }
    return chosen;
}

static inline void pair_write_unreduced(struct place *place, unsigned axes, spmd_reduction kind)
{
    static const char *const kinds[] = {"", ":max", ":min"};
    char *at = strrchr(place->spec, ')');
    if (axes == 0)
        return;
    at += sprintf(at, "%sunreduced={", at[-1] == '(' ? "" : ",");
    for (int a = 0, written = 0; a < spmd_mesh_naxes(place->mesh); a++)
        if (axes >> a & 1)
            at += sprintf(at, "%s%s", written++ ? "," : "", spmd_mesh_axis_name(place->mesh, a));
    sprintf(at, "}%s)", kinds[kind]);
}

/* Contributions instead of values, on one side or both. Values become contributions to a sum alone,
 * flags have no sum, and complex numbers nothing but that. */
static inline void pair_unreduce(struct pair *pair, unsigned *seed)
{
    unsigned from = pair_choose_unreduced(&pair->from, seed);
    unsigned to = rand_r(seed) % 2 ? pair_choose_unreduced(&pair->to, seed) : 0;
    spmd_reduction kind = (spmd_reduction)(rand_r(seed) % 3);
    bool stay = pair->from.mesh == pair->to.mesh && (to & ~from) == 0;
    if (pair->dtype == SPMD_C64 || pair->dtype == SPMD_C128)
        kind = SPMD_SUM;
    else if (pair->dtype == SPMD_BOOL && (kind == SPMD_SUM || !stay))
        pair->dtype = SPMD_I8;
    pair_write_unreduced(&pair->from, from, kind);
    pair_write_unreduced(&pair->to, to, stay ? kind : SPMD_SUM);
}

/* On one mesh, or on two that may be one. */
static inline struct pair pair_make(spmd_mesh *const meshes[], int nmeshes, unsigned seed,
                                    bool unreduced)
{
    struct pair pair;
    int ndim = rand_r(&seed) % 5;
    pair.shape = pattern_random_shape(ndim, &seed);
    if (rand_r(&seed) % 6 == 0) /* some blocks are large enough to be read where they lie */
        for (int d = 0; d < ndim && d < 4 - ndim; d++)
            pair.shape.dim[d] = pair.shape.dim[d] * 19 + 1;
    pair.dtype = (spmd_dtype)(SPMD_BOOL + rand_r(&seed) % SPMD_C128);
    pair.from.mesh = meshes[rand_r(&seed) % nmeshes];
    pair.to.mesh = rand_r(&seed) % 2 ? pair.from.mesh : meshes[rand_r(&seed) % nmeshes];
    pair_spec(&pair.from, ndim, &seed);
    pair_spec(&pair.to, ndim, &seed);
    if (unreduced)
        pair_unreduce(&pair, &seed);
    return pair;
}

/* "P(x) on x=4,y=2 of ranks 3,0,2,...". */
static inline void pair_print_place(const struct place *place)
{
    char text[64];
    spmd_mesh_format(text, sizeof text, place->mesh);
    fprintf(stderr, "%s on %s of ranks ", place->spec, text);
    for (int64_t p = 0; p < spmd_mesh_size(place->mesh); p++)
        fprintf(stderr, "%s%d", p ? "," : "", spmd_mesh_rank(place->mesh, p));
}

static inline void pair_print(const struct pair *pair, int number)
{
    fprintf(stderr, "# pair %d: %s[", number, spmd_dtype_name(pair->dtype));
    for (int d = 0; d < pair->shape.ndim; d++)
        fprintf(stderr, "%s%lld", d ? "," : "", (long long)pair->shape.dim[d]);
    fprintf(stderr, "] from ");
    pair_print_place(&pair->from);
    fprintf(stderr, " to ");
    pair_print_place(&pair->to);
    fprintf(stderr, "\n");
}

/* Tries the property on pairs, of values or of contributions; those that do not have it are told.
 */
static inline void try_pairs_of(bool unreduced, bool (*property)(const struct pair *pair),
                                int count)
{
    enum { SEED = 20240611, MESHES = 24 };
    const char *wanted = getenv("TEST_SEED");
    unsigned first = wanted ? (unsigned)strtoul(wanted, NULL, 10) : SEED, seed = first;
    spmd_mesh *meshes[MESHES];
    if (test_rank == 0)
        printf("# TEST_SEED=%u, %d pairs\n", first, count);
    for (int m = 0; m < MESHES; m++)
        meshes[m] = pair_mesh(&seed);
    for (int i = 0; i < count; i++) {
        struct pair pair = pair_make(meshes, MESHES, first + (unsigned)i, unreduced);
        if (!property(&pair))
            pair_print(&pair, i);
    }
    for (int m = 0; m < MESHES; m++)
        spmd_mesh_free(&meshes[m]);
}

static inline void try_pairs(bool (*property)(const struct pair *pair), int count)
{
    try_pairs_of(false, property, count);
}

#endif
