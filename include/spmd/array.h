/* spmd/array.h - arrays over a mesh: global shape, element type, sharding, this rank's block.
 *
 * All calls that make or move an array are collective over its mesh and end in an agreement:
 * every rank returns the same status. Arguments other than host data must be the same on all
 * ranks. On idle ranks they succeed at once and give an array without a block. `spec` is the
 * text of a partition spec (spmd/sharding.h). All fail with the errors of
 * spmd_sharding_create and spmd_sharding_check, and with SPMD_ERR_MEMORY.
 *
 * Along unreduced axes, as in P(x, unreduced={y}), blocks are contributions: the array's value is
 * their sum, or max or min. spmd_array_from_local and bodies give them as they are. What else makes
 * an array under such a spec, or reshards values to it, puts the value at the first rank along
 * these axes and zeros at the others, as JAX does; of a max or min that fails with SPMD_ERR_SPEC.
 * What reads an array (reshard to other specs, gather, print, write) adds the contributions up, f16
 * and bf16 in f32 and rounded once. There is no sum of bool, no max of complex numbers:
 * SPMD_ERR_DTYPE. */
#ifndef SPMD_ARRAY_H
#define SPMD_ARRAY_H

#include <stdio.h>

#include <spmd/sharding.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct spmd_array spmd_array;

/* Collective. All elements zero; all equal to the element at `value`; each its row-major
 * index, converted to `dtype` (wrapping for narrow integers). No communication of data. */
spmd_status spmd_array_zeros(spmd_mesh *mesh, const char *spec, spmd_dtype dtype, spmd_shape shape,
                             spmd_array **array);
spmd_status spmd_array_full(spmd_mesh *mesh, const char *spec, spmd_dtype dtype, spmd_shape shape,
                            const void *value, spmd_array **array);
spmd_status spmd_array_arange(spmd_mesh *mesh, const char *spec, spmd_dtype dtype, spmd_shape shape,
                              spmd_array **array);

/* Collective. Made block by block: `fill` is called once on each rank with the box of global
 * indices that it holds and writes these elements to `data`, dense and row-major. It is not
 * called for empty boxes. Its failure is everybody's. */
typedef spmd_status spmd_fill(const spmd_box *box, void *data, void *user);
spmd_status spmd_array_from_callback(spmd_mesh *mesh, const char *spec, spmd_dtype dtype,
                                     spmd_shape shape, spmd_fill *fill, void *user,
                                     spmd_array **array);

/* Collective. From this rank's own block: `local` holds `shape`'s elements, dense and row-major,
 * and is copied. The global shape follows: each split dimension is the sum over the parts.
 * Fails with SPMD_ERR_SHAPE if the parts are not as the layout's rule says for that sum, or
 * if replicas differ in shape. (Their values are not compared.) On idle ranks the arguments are not
 * read and the array's shape is not known: -1 in each dimension. */
spmd_status spmd_array_from_local(spmd_mesh *mesh, const char *spec, spmd_dtype dtype,
                                  spmd_shape shape, const void *local, spmd_array **array);

/* A part of an array that a rank happens to hold: indices box.lo[d], box.lo[d] + step[d], ...
 * below box.hi[d]; `data` has these elements, dense and row-major. */
typedef struct spmd_piece {
    spmd_box box;
    int64_t step[SPMD_MAX_DIMS]; /* [box.ndim], each at least 1 */
    const void *data;
} spmd_piece;

/* Local. The piece of a box without gaps. */
spmd_piece spmd_piece_make(spmd_box box, const void *data);

/* Collective. From pieces [npieces] that the ranks hold, each element on exactly one rank;
 * they are moved to where `spec` wants them. Fails with SPMD_ERR_SHAPE if they overlap, leave
 * a gap or reach outside: the message names the first such index. */
spmd_status spmd_array_from_pieces(spmd_mesh *mesh, const char *spec, spmd_dtype dtype,
                                   spmd_shape shape, int npieces, const spmd_piece pieces[],
                                   spmd_array **array);

/* Collective. Places a host array of `count` elements (checked against `shape`): every rank
 * passes the whole of it and keeps its block. No communication of data. With SPMD_CHECK=1 all must
 * have passed the same bytes, else it fails with SPMD_ERR_DISAGREE, and tells the first element
 * that differs. (An array that is on a mesh already is placed elsewhere by spmd_reshard_to.) */
spmd_status spmd_device_put(const void *host, int64_t count, spmd_dtype dtype, spmd_shape shape,
                            const spmd_sharding *sharding, spmd_array **array);

/* Collective. The same, but only the rank at position `root` has the data; elsewhere `host`
 * and `count` are not read. */
spmd_status spmd_device_put_root(int64_t root, const void *host, int64_t count, spmd_dtype dtype,
                                 spmd_shape shape, const spmd_sharding *sharding,
                                 spmd_array **array);

/* Collective over both meshes. The same array under another spec of its mesh, or under any sharding
 * of another mesh, where each was made from a communicator that has the other's ranks. Where
 * nothing has to move, the same array, held once more. */
spmd_status spmd_reshard(spmd_array *array, const char *spec, spmd_array **out);
spmd_status spmd_reshard_to(spmd_array *array, const spmd_sharding *sharding, spmd_array **out);

/* Collective over both meshes. spmd_reshard_to of an array that is given up for it: *array becomes
 * the array under `sharding`, and this hold on what it was is gone (JAX's donate). A rank that gets
 * nothing from the others (nothing has to move, or each keeps a part of what it has) uses the
 * block's own memory, and allocates none: what it keeps moves to the beginning, and whole pages
 * behind it are there for later arrays. Another one, or one in a collective of MPI, gets a new
 * block, and gives the old one back when the others have read it. An array that is held elsewhere,
 * too, stays there as it is, and its memory is not used. If the call fails *array is unchanged. */
spmd_status spmd_reshard_donate(spmd_array **array, const spmd_sharding *sharding);

/* Collective. Copies the whole array to `host` (`count` elements, checked), dense and row-major,
 * on the rank at position `root`, or on all of the mesh with SPMD_ALL. Elsewhere, as on idle
 * ranks, `host` and `count` are not read, and `host` stays as it is. */
#define SPMD_ALL (-1)
spmd_status spmd_array_gather(spmd_array *array, int64_t root, void *host, int64_t count);

/* Collective. Prints type and values from position 0, as rows in brackets. */
spmd_status spmd_array_print(spmd_array *array, FILE *stream);

/* Local. Holds the array once more; each hold needs its spmd_array_free. */
spmd_array *spmd_array_hold(spmd_array *array);

/* Local. As spmd_mesh_free. */
void spmd_array_free(spmd_array **array);

/* Local. What it is. The sharding is borrowed. */
spmd_shape spmd_array_shape(const spmd_array *array);
spmd_dtype spmd_array_dtype(const spmd_array *array);
const spmd_sharding *spmd_array_sharding(const spmd_array *array);

/* Local. Writes its type, "f32[8@x,4@(y,z),3]", as snprintf does. */
int spmd_array_format(char *buffer, size_t size, const spmd_array *array);

/* Local. This rank's block (JAX's addressable shard), with its place in the array; NULL on idle
 * ranks. Borrowed. Its data may be written by whoever made the array, before it is used. */
const spmd_block *spmd_array_block(const spmd_array *array);

#ifdef __cplusplus
}
#endif

#endif
