/* contributions.h - arrays of contributions whose sum, maximum or minimum is known: small whole
 * numbers, which are exact in any type. */
#ifndef CONTRIBUTIONS_H
#define CONTRIBUTIONS_H

#include <stdlib.h>

#include "pattern.h"

/* The contribution number `which` to element `index`; negative too, where the type has such. */
static inline int contribution(spmd_dtype dtype, int64_t which, int64_t index)
{
    bool is_unsigned = dtype >= SPMD_U8 && dtype <= SPMD_U64;
    return (int)((which * 7 + index * 3) % 11) - (is_unsigned ? 0 : 5);
}

static inline uint16_t contribution_as_half(spmd_dtype dtype, int value)
{
    union {
        float value;
        uint32_t bits;
    } single = {(float)value};
    if (dtype == SPMD_BF16 || value == 0)
        return (uint16_t)(single.bits >> 16);
    uint32_t exponent = (single.bits >> 23 & 0xff) - 127 + 15;
    return (uint16_t)(single.bits >> 31 << 15 | exponent << 10 | (single.bits >> 13 & 0x3ff));
}

/* Writes a number as element `at` of `data`. */
static inline void contribution_store(spmd_dtype dtype, int value, void *data, int64_t at)
{
    size_t size = spmd_dtype_size(dtype);
    char *place = (char *)data + (size_t)at * size;
    switch (dtype) {
    case SPMD_BOOL:
        *(bool *)place = value > 0;
        break;
    case SPMD_F16:
    case SPMD_BF16:
        memcpy(place, &(uint16_t){contribution_as_half(dtype, value)}, size);
        break;
    case SPMD_F32:
        memcpy(place, &(float){(float)value}, size);
        break;
    case SPMD_F64:
        memcpy(place, &(double){value}, size);
        break;
    case SPMD_C64:
        memcpy(place, (float[]){(float)value, (float)-value}, size);
        break;
    case SPMD_C128:
        memcpy(place, (double[]){value, -value}, size);
        break;
    default: /* integers, the low byte first */
        memcpy(place, &(int64_t){value}, size);
    }
}

/* This rank's coordinates on a mesh; 0 on idle ranks. */
static inline void contribution_coordinates(const spmd_mesh *mesh,
                                            int64_t coordinates[SPMD_MAX_AXES])
{
    memset(coordinates, 0, SPMD_MAX_AXES * sizeof *coordinates);
    if (spmd_mesh_position(mesh) >= 0)
        EXPECT_OK(spmd_mesh_coordinates(mesh, spmd_mesh_position(mesh), coordinates));
}

/* The number of ranks along the unreduced axes of a sharding, and this rank's place among them. */
static inline int64_t contributors(const spmd_sharding *sharding, int64_t *which)
{
    const spmd_mesh *mesh = spmd_sharding_mesh(sharding);
    int axes[SPMD_MAX_AXES], count = spmd_sharding_unreduced(sharding, axes);
    int64_t coordinates[SPMD_MAX_AXES], all = 1;
    contribution_coordinates(mesh, coordinates);
    *which = 0;
    for (int i = 0; i < count; i++) {
        int64_t size = spmd_mesh_axis_size(mesh, spmd_mesh_axis_name(mesh, axes[i]));
        all *= size;
        *which = *which * size + coordinates[axes[i]];
    }
    return all;
}

/* The row-major number of element `at` of a box, in an array of `shape`, the one of several that
 * follow each other. */
static inline int64_t number_of(const spmd_box *box, int64_t slice, spmd_shape shape, int64_t at)
{
    int64_t number = slice, index[SPMD_MAX_DIMS];
    for (int d = box->ndim - 1; d >= 0; d--) {
        int64_t extent = box->hi[d] - box->lo[d];
        index[d] = box->lo[d] + at % extent;
        at /= extent;
    }
    for (int d = 0; d < box->ndim; d++)
        number = number * shape.dim[d] + index[d];
    return number;
}

/* An array whose ranks bring their contributions. */
static inline spmd_array *make_contributions(int64_t slice, spmd_mesh *mesh, const char *spec,
                                             spmd_dtype dtype, spmd_shape shape)
{
    spmd_sharding *sharding = NULL;
    spmd_array *array = NULL;
    spmd_box box = {.ndim = shape.ndim};
    int64_t which;
    if (!EXPECT_OK(spmd_sharding_create(mesh, spec, &sharding)))
        return NULL;
    contributors(sharding, &which);
    bool member = spmd_mesh_position(mesh) >= 0;
    if (member)
        EXPECT_OK(spmd_sharding_box(sharding, shape, spmd_mesh_position(mesh), &box));
    int64_t count = member ? spmd_box_size(&box) : 0;
    void *local = calloc((size_t)count + 1, spmd_dtype_size(dtype));
    for (int64_t i = 0; i < count; i++)
        contribution_store(dtype, contribution(dtype, which, number_of(&box, slice, shape, i)),
                           local, i);
    EXPECT_OK(spmd_array_from_local(mesh, spec, dtype, spmd_box_shape(&box), local, &array));
    free(local);
    spmd_sharding_free(&sharding);
    return array;
}

/* Of contributions under `from`: which ones come to this rank's block under `to`. */
struct outcome {
    spmd_reduction kind;
    int naxes; /* unreduced ones of `from` */
    int64_t size[SPMD_MAX_AXES];
    int64_t kept[SPMD_MAX_AXES]; /* the place of those that stay; -1: along this axis all */
    bool none;                   /* zeros stand here, beside the first rank's values */
};

static inline struct outcome outcome_under(const spmd_sharding *from, const spmd_sharding *to)
{
    const spmd_mesh *source = spmd_sharding_mesh(from), *target = spmd_sharding_mesh(to);
    struct outcome outcome = {.kind = spmd_sharding_reduction(from)};
    bool stay = spmd_mesh_equal(source, target) && spmd_sharding_reduction(to) == outcome.kind;
    int before[SPMD_MAX_AXES], after[SPMD_MAX_AXES], count = spmd_sharding_unreduced(to, after);
    int64_t coordinates[SPMD_MAX_AXES];
    contribution_coordinates(target, coordinates);
    outcome.naxes = spmd_sharding_unreduced(from, before);
    for (int i = 0; i < outcome.naxes; i++) {
        outcome.size[i] = spmd_mesh_axis_size(source, spmd_mesh_axis_name(source, before[i]));
        outcome.kept[i] = -1;
    }
    for (int j = 0; j < count; j++) {
        bool found = false;
        for (int i = 0; i < outcome.naxes; i++)
            if (stay && before[i] == after[j]) {
                outcome.kept[i] = coordinates[after[j]];
                found = true;
            }
        outcome.none |= !found && coordinates[after[j]] != 0;
    }
    return outcome;
}

/* Whether contribution `which` is one of them. */
static inline bool outcome_has(const struct outcome *outcome, int64_t which)
{
    for (int i = outcome->naxes - 1; i >= 0; i--) {
        if (outcome->kept[i] >= 0 && which % outcome->size[i] != outcome->kept[i])
            return false;
        which /= outcome->size[i];
    }
    return true;
}

static inline int outcome_value(const struct outcome *outcome, spmd_dtype dtype, int64_t index)
{
    int result = 0;
    int64_t all = 1, seen = 0;
    for (int i = 0; i < outcome->naxes; i++)
        all *= outcome->size[i];
    for (int64_t which = 0; which < all && !outcome->none; which++) {
        int one = contribution(dtype, which, index);
        if (!outcome_has(outcome, which))
            continue;
        if (seen++ == 0)
            result = one;
        else if (outcome->kind == SPMD_SUM)
            result += one;
        else if ((outcome->kind == SPMD_MAX) == (one > result))
            result = one;
    }
    return result;
}

/* Whether this rank's block has what contributions under `from` come to, where the array lies. */
static inline bool has_outcomes(int64_t slice, const spmd_array *array, spmd_shape shape,
                                spmd_dtype dtype, const spmd_sharding *from,
                                const spmd_sharding *to)
{
    struct outcome outcome = outcome_under(from, to);
    spmd_box box;
    if (!pattern_is_placed(array, shape, dtype, to, &box))
        return false;
    size_t size = spmd_dtype_size(dtype);
    for (int64_t i = 0; i < spmd_box_size(&box); i++) {
        unsigned char wanted[16];
        int64_t index = number_of(&box, slice, shape, i);
        contribution_store(dtype, outcome_value(&outcome, dtype, index), wanted, 0);
        const char *found = (const char *)spmd_array_block(array)->data + (size_t)i * size;
        if (memcmp(found, wanted, size) != 0)
            return false;
    }
    return true;
}

#endif
