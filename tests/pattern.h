/* pattern.h - arrays whose elements are a function of their index, for tests that move data. */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* The bytes of the element with row-major number `index`, 16 at most: any wrong place shows, in any
 * type. */
static inline void pattern_element(int64_t index, size_t size, unsigned char *out)
{
    uint64_t mixed = ((uint64_t)index + 1) * 0x9e3779b97f4a7c15u;
    uint64_t words[] = {mixed, mixed ^ 0x0101010101010101u};
    memcpy(out, words, size);
}

/* What the pattern is made for. */
struct pattern {
    spmd_shape shape;
    size_t element;
    int64_t slice; /* the array is this one of several that follow each other */
    bool checks;   /* compare instead of write */
    int64_t wrong; /* elements that differ */
};

/* Writes, or compares, `count` elements from number `number` on. */
static inline void pattern_row(struct pattern *pattern, int64_t number, int64_t count,
                               unsigned char **at)
{
    unsigned char wanted[16];
    size_t size = pattern->element;
    for (int64_t i = 0; i < count; i++, *at += size) {
        pattern_element(number + i, size, pattern->checks ? wanted : *at);
        if (pattern->checks)
            pattern->wrong += memcmp(*at, wanted, size) != 0;
    }
}

/* The same of dimension `dim` on, of a box that lies dense at *at. */
static inline void pattern_walk(struct pattern *pattern, const spmd_box *box, int dim,
                                int64_t number, unsigned char **at)
{
    if (box->ndim == 0) {
        pattern_row(pattern, number, 1, at);
        return;
    }
    int64_t lo = box->lo[dim], hi = box->hi[dim], first = number * pattern->shape.dim[dim];
    if (dim == box->ndim - 1)
        pattern_row(pattern, first + lo, hi - lo, at);
    for (int64_t i = lo; i < hi && dim < box->ndim - 1; i++)
        pattern_walk(pattern, box, dim + 1, first + i, at);
}

static inline spmd_status pattern_fill(const spmd_box *box, void *data, void *user)
{
    const struct pattern *pattern = user;
    unsigned char *at = data;
    pattern_walk(user, box, 0, pattern->slice, &at);
    return SPMD_OK;
}

/* An array of the pattern, number `slice` of several that differ; NULL after a failure, which has
 * been told. */
static inline spmd_array *pattern_slice(int64_t slice, spmd_mesh *mesh, const char *spec,
                                        spmd_dtype dtype, spmd_shape shape)
{
    struct pattern pattern = {.shape = shape, .element = spmd_dtype_size(dtype), .slice = slice};
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_from_callback(mesh, spec, dtype, shape, pattern_fill, &pattern, &array));
    return array;
}

static inline spmd_array *pattern_array(spmd_mesh *mesh, const char *spec, spmd_dtype dtype,
                                        spmd_shape shape)
{
    return pattern_slice(0, mesh, spec, dtype, shape);
}

/* Whether `data` holds the elements of `box`, dense. */
static inline bool pattern_slice_is_in(int64_t slice, const void *data, const spmd_box *box,
                                       spmd_shape shape, spmd_dtype dtype)
{
    struct pattern pattern = {.shape = shape, .element = spmd_dtype_size(dtype), .checks = true};
    unsigned char *at = (unsigned char *)data;
    pattern_walk(&pattern, box, 0, slice, &at);
    return pattern.wrong == 0;
}

static inline bool pattern_is_in(const void *data, const spmd_box *box, spmd_shape shape,
                                 spmd_dtype dtype)
{
    return pattern_slice_is_in(0, data, box, shape, dtype);
}

/* Whether this rank's block is what the sharding says, and which box of the array it is: an empty
 * one on idle ranks. */
static inline bool pattern_is_placed(const spmd_array *array, spmd_shape shape, spmd_dtype dtype,
                                     const spmd_sharding *sharding, spmd_box *box)
{
    const spmd_block *block = array ? spmd_array_block(array) : NULL;
    int64_t position = spmd_mesh_position(spmd_sharding_mesh(sharding));
    *box = (spmd_box){.ndim = 1};
    if (!block)
        return array && position < 0;
    if (spmd_sharding_box(sharding, shape, position, box) != SPMD_OK)
        return false;
    if (!spmd_shape_equal(spmd_array_shape(array), shape) || spmd_array_dtype(array) != dtype ||
        !spmd_shape_equal(spmd_block_shape(block), spmd_box_shape(box)))
        return false;
    for (int d = 0; d < shape.ndim; d++)
        if (block->offset[d] != box->lo[d] || block->global[d] != shape.dim[d])
            return false;
    return true;
}

/* Whether it has the pattern there, too, or a slice of it. */
static inline bool pattern_slice_is_on(int64_t slice, const spmd_array *array, spmd_shape shape,
                                       spmd_dtype dtype, const spmd_sharding *sharding)
{
    spmd_box box;
    return pattern_is_placed(array, shape, dtype, sharding, &box) &&
           (spmd_box_size(&box) == 0 ||
            pattern_slice_is_in(slice, spmd_array_block(array)->data, &box, shape, dtype));
}

static inline bool pattern_is_on(const spmd_array *array, spmd_shape shape, spmd_dtype dtype,
                                 const spmd_sharding *sharding)
{
    return pattern_slice_is_on(0, array, shape, dtype, sharding);
}

/* A host array with the whole pattern; free() it. */
static inline void *pattern_host(spmd_dtype dtype, spmd_shape shape)
{
    struct pattern pattern = {.shape = shape, .element = spmd_dtype_size(dtype)};
    spmd_box whole = spmd_box_whole(shape);
    unsigned char *host = calloc((size_t)spmd_shape_size(shape) + 1, spmd_dtype_size(dtype));
    unsigned char *at = host;
    pattern_walk(&pattern, &whole, 0, 0, &at);
    return host;
}

/* The meshes over `ranks` ranks with up to four axes, of size 1 too: text number `number`, NULL
 * after the last one. */
static inline const char *pattern_mesh(int ranks, int number)
{
    static const struct {
        int divisor;
        const char *text;
    } meshes[] = {{1, "x=*"},         {1, "x=1,y=*"},         {2, "x=2,y=*"},
                  {2, "x=*,y=2"},     {3, "x=3,y=*"},         {2, "x=2,y=1,z=*"},
                  {4, "x=2,y=2,z=*"}, {4, "x=2,y=*,z=1,w=2"}, {8, "x=2,y=2,z=2,w=*"}};
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++)
        if (ranks % meshes[i].divisor == 0 && number-- == 0)
            return meshes[i].text;
    return NULL;
}

/* The numbers 0 to count - 1 in a random order. */
static inline void pattern_random_order(int order[], int count, unsigned *seed)
{
    for (int a = 0; a < count; a++) {
        int b = rand_r(seed) % (a + 1);
        order[a] = order[b];
        order[b] = a;
    }
}

/* Makes the text of a random spec of `ndim` entries on `mesh`. */
static inline void pattern_random_spec(const spmd_mesh *mesh, int ndim, unsigned *seed,
                                       char text[256])
{
    int naxes = spmd_mesh_naxes(mesh), order[SPMD_MAX_AXES], where[SPMD_MAX_AXES];
    pattern_random_order(order, naxes, seed);
    for (int a = 0; a < naxes; a++)
        where[a] = rand_r(seed) % (ndim + 1); /* ndim: not used */
    size_t length = 0;
    length += (size_t)sprintf(text, "P(");
    for (int d = 0; d < ndim; d++) {
        int found = 0;
        length += (size_t)sprintf(text + length, "%s(", d ? "," : "");
        for (int i = 0; i < naxes; i++)
            if (where[order[i]] == d)
                length += (size_t)sprintf(text + length, "%s%s", found++ ? "," : "",
                                          spmd_mesh_axis_name(mesh, order[i]));
        length += (size_t)sprintf(text + length, ")");
        if (found == 0)
            length = (size_t)(strrchr(text, '(') - text) + (size_t)sprintf(strrchr(text, '('), "-");
    }
    sprintf(text + length, ")");
}

/* A shape of extents from 0 to 9, mostly odd ones; and a type of 1 to 16 bytes. */
static inline spmd_shape pattern_random_shape(int ndim, unsigned *seed)
{
    spmd_shape shape = {.ndim = ndim};
    for (int d = 0; d < ndim; d++) {
        shape.dim[d] = rand_r(seed) % 10;
        if (shape.dim[d] % 2 == 0 && rand_r(seed) % 2 == 0)
            shape.dim[d]++;
    }
    return shape;
}

static inline spmd_dtype pattern_random_dtype(unsigned *seed)
{
    static const spmd_dtype types[] = {SPMD_U8, SPMD_BF16, SPMD_F32, SPMD_F64, SPMD_C128};
    return types[rand_r(seed) % 5];
}

#endif
