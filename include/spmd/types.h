/* spmd/types.h - element types, shapes, boxes and blocks: plain values of fixed size. */
#ifndef SPMD_TYPES_H
#define SPMD_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spmd/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPMD_MAX_DIMS 16 /* dimensions of an array */
#define SPMD_MAX_AXES 16 /* axes of a mesh */
#define SPMD_MAX_NAME 32 /* bytes of an axis name, with its closing NUL */

/* A size that is left open, where a call allows one: as many as there are. */
#define SPMD_INFER (-1)

/* The one list of element types: X(NAME, text, bytes). f16 and bf16 are storage types: the
 * library moves and reduces them (in f32, rounded once); c64 and c128 are pairs (re, im). */
#define SPMD_DTYPE_MAP(X) \
    X(BOOL, "bool", 1)    \
    X(I8, "i8", 1)        \
    X(I16, "i16", 2)      \
    X(I32, "i32", 4)      \
    X(I64, "i64", 8)      \
    X(U8, "u8", 1)        \
    X(U16, "u16", 2)      \
    X(U32, "u32", 4)      \
    X(U64, "u64", 8)      \
    X(F16, "f16", 2)      \
    X(BF16, "bf16", 2)    \
    X(F32, "f32", 4)      \
    X(F64, "f64", 8)      \
    X(C64, "c64", 8)      \
    X(C128, "c128", 16)

typedef enum spmd_dtype {
    SPMD_DTYPE_NONE, /* no type: "keep the file's own" where a call allows it */
#define SPMD_DTYPE_ENUM(name, text, bytes) SPMD_##name,
    SPMD_DTYPE_MAP(SPMD_DTYPE_ENUM)
#undef SPMD_DTYPE_ENUM
} spmd_dtype;

/* Local. Bytes of one element (0 for SPMD_DTYPE_NONE) and the short name ("f32"). */
size_t spmd_dtype_size(spmd_dtype dtype);
const char *spmd_dtype_name(spmd_dtype dtype);

/* Local. Reads "f32" or NumPy's "float32". Fails with SPMD_ERR_DTYPE. */
spmd_status spmd_dtype_parse(const char *text, spmd_dtype *dtype);

/* How contributions to one value add up. */
typedef enum spmd_reduction { SPMD_SUM, SPMD_MAX, SPMD_MIN } spmd_reduction;

/* Extents of an array. A scalar has ndim 0. */
typedef struct spmd_shape {
    int ndim;
    int64_t dim[SPMD_MAX_DIMS]; /* [ndim] */
} spmd_shape;

/* SPMD_SHAPE(8, 8) is the shape of an 8 x 8 array, SPMD_SCALAR that of a scalar. This and the other
 * macros that make lists are C's; C++ has spmd_shape_make, and arrays that have a name. */
#define SPMD_SHAPE(...)                                                        \
    spmd_shape_make((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), \
                    (int64_t[]){__VA_ARGS__})
#define SPMD_SCALAR spmd_shape_make(0, NULL)

/* Local. The shape of `ndim` extents. Whoever takes the shape checks it; ndim -1 stands for a
 * number of dimensions that there is not. */
spmd_shape spmd_shape_make(int ndim, const int64_t *dim /* [ndim] */);

/* Local. Number of elements; 1 for a scalar; -1 if there is no such shape, or if the
 * number does not fit in 63 bits. */
int64_t spmd_shape_size(spmd_shape shape);
bool spmd_shape_equal(spmd_shape a, spmd_shape b);

/* Local. Reads "8x4x3" ("" is a scalar). Fails with SPMD_ERR_SYNTAX. */
spmd_status spmd_shape_parse(const char *text, spmd_shape *shape);

/* A part of an array: the indices lo[d] <= i[d] < hi[d]. */
typedef struct spmd_box {
    int ndim;
    int64_t lo[SPMD_MAX_DIMS]; /* [ndim] */
    int64_t hi[SPMD_MAX_DIMS]; /* [ndim] */
} spmd_box;

/* Local. The extents, and the number of elements, of a box; the box of a whole array. */
spmd_shape spmd_box_shape(const spmd_box *box);
int64_t spmd_box_size(const spmd_box *box);
spmd_box spmd_box_whole(spmd_shape shape);

/* One rank's part of an array, as bodies see it. Blocks that the library makes are dense and
 * row-major, and start on 64 bytes; slices that vmap cuts are dense too, but start anywhere. */
typedef struct spmd_block {
    void *data;
    spmd_dtype dtype;
    int ndim;
    int64_t shape[SPMD_MAX_DIMS];  /* [ndim] extents of this block */
    int64_t stride[SPMD_MAX_DIMS]; /* [ndim] steps between neighbours, in elements */
    int64_t offset[SPMD_MAX_DIMS]; /* [ndim] index of its first element in the global array */
    int64_t global[SPMD_MAX_DIMS]; /* [ndim] extents of the global array; -1 where not known */
    int64_t replica;               /* which replica of this part it is; 0 is the owner's */
} spmd_block;

/* Local. Elements of a block, and its extents as a shape. */
int64_t spmd_block_size(const spmd_block *block);
spmd_shape spmd_block_shape(const spmd_block *block);

/* Local. A dense block over memory of yours (borrowed, row-major, its own global array). */
spmd_block spmd_block_borrow(void *data, spmd_dtype dtype, spmd_shape shape);

#ifdef __cplusplus
}
#endif

#endif
