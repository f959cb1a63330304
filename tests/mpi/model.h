/* model.h - a dataset as each rank keeps it in memory, to compare files with. */
#ifndef MODEL_H
#define MODEL_H

#include "pattern.h"

struct model {
    spmd_dtype dtype;
    spmd_shape shape;
    unsigned char *data; /* dense */
};

static inline struct model model_make(spmd_dtype dtype, spmd_shape shape)
{
    size_t count = (size_t)spmd_shape_size(shape) + 1;
    return (struct model){dtype, shape, calloc(count, spmd_dtype_size(dtype))};
}

static inline void model_free(struct model *model)
{
    free(model->data);
}

/* All elements are the one at `element`. */
static inline void model_fill(struct model *model, const void *element)
{
    size_t size = spmd_dtype_size(model->dtype);
    for (int64_t i = 0; i < spmd_shape_size(model->shape); i++)
        memcpy(model->data + (size_t)i * size, element, size);
}

/* The next index of a box of `shape`; false after the last one. */
static inline bool model_next(spmd_shape shape, int64_t index[])
{
    for (int d = shape.ndim - 1; d >= 0; d--) {
        if (++index[d] < shape.dim[d])
            return true;
        index[d] = 0;
    }
    return false;
}

/* The element that index `index` of the hyperslab is, if its array begins at `offset`. */
static inline unsigned char *model_at(const struct model *model, const spmd_hyperslab *slab,
                                      const int64_t offset[], const int64_t index[])
{
    int64_t number = 0;
    for (int d = 0; d < model->shape.ndim; d++)
        number = number * model->shape.dim[d] + slab->start[d] +
                 slab->stride[d] * (offset[d] + index[d]);
    return model->data + (size_t)number * spmd_dtype_size(model->dtype);
}

/* Writes slice number `slice` of the pattern over a hyperslab. */
static inline void model_write(struct model *model, const spmd_hyperslab *slab, int64_t slice)
{
    spmd_shape shape = spmd_shape_make(slab->ndim, slab->count);
    int64_t zero[SPMD_MAX_DIMS] = {0}, index[SPMD_MAX_DIMS] = {0};
    int64_t number = slice * spmd_shape_size(shape);
    if (spmd_shape_size(shape) == 0)
        return;
    do
        pattern_element(number++, spmd_dtype_size(model->dtype),
                        model_at(model, slab, zero, index));
    while (model_next(shape, index));
}

/* Grows by rows of zeros. */
static inline void model_grow(struct model *model, int64_t rows)
{
    spmd_shape shape = model->shape;
    shape.dim[0] += rows;
    struct model grown = model_make(model->dtype, shape);
    memcpy(grown.data, model->data,
           (size_t)spmd_shape_size(model->shape) * spmd_dtype_size(model->dtype));
    model_free(model);
    *model = grown;
}

/* Whether an array has the elements of a hyperslab (NULL: all); idle ranks have none. */
static inline bool model_is_in(const struct model *model, const spmd_hyperslab *slab,
                               const spmd_array *array)
{
    const spmd_block *block = array ? spmd_array_block(array) : NULL;
    spmd_hyperslab all = spmd_hyperslab_make(model->shape.ndim, NULL, model->shape.dim, NULL);
    int64_t index[SPMD_MAX_DIMS] = {0};
    size_t size = spmd_dtype_size(model->dtype);
    slab = slab ? slab : &all;
    if (!block)
        return array != NULL;
    if (spmd_array_dtype(array) != model->dtype ||
        !spmd_shape_equal(spmd_array_shape(array), spmd_shape_make(slab->ndim, slab->count)))
        return false;
    if (spmd_block_size(block) == 0)
        return true;
    const unsigned char *at = block->data;
    do {
        if (memcmp(at, model_at(model, slab, block->offset, index), size) != 0)
            return false;
        at += size;
    } while (model_next(spmd_block_shape(block), index));
    return true;
}

/* A hyperslab of a dataset of `shape`, with strides from 1 to 3; maybe an empty one. */
static inline spmd_hyperslab model_random_slab(spmd_shape shape, unsigned *seed)
{
    spmd_hyperslab slab = spmd_hyperslab_make(shape.ndim, NULL, NULL, NULL);
    for (int d = 0; d < shape.ndim; d++) {
        slab.start[d] = rand_r(seed) % (shape.dim[d] + 1);
        slab.stride[d] = rand_r(seed) % 2 ? 1 : 1 + rand_r(seed) % 3;
        int64_t most = (shape.dim[d] - slab.start[d] + slab.stride[d] - 1) / slab.stride[d];
        slab.count[d] = most - (rand_r(seed) % 2 ? rand_r(seed) % (most + 1) : 0);
    }
    return slab;
}

#endif
