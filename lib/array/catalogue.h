/* array/catalogue.h - where the pieces of all ranks lie, and whether they cover each block once.
 *
 *     struct catalogue catalogue = {0};
 *     spmd__catalogue_begin(mesh, ndim, &catalogue)
 *     ... agree that every rank has come so far ...
 *     spmd__catalogue_share(mesh, npieces, pieces, &catalogue)    all tell all
 *     spmd__catalogue_check(&catalogue, array)
 *     spmd__catalogue_piece(&catalogue, number)                   of any rank
 *     spmd__catalogue_free(&catalogue)
 */
#ifndef ARRAY_CATALOGUE_H
#define ARRAY_CATALOGUE_H

#include "array/array.h"

struct catalogue {
    int nranks;
    int ndim;
    int64_t *counts; /* [nranks] pieces of each rank */
    int64_t *bytes;  /* [nranks] of their descriptions */
    int64_t *words;  /* [pieces of all, ndim, 3] lo, hi and step, in rank order */
};

/* Local. Has room for the counts. */
spmd_status spmd__catalogue_begin(const spmd_mesh *mesh, int ndim, struct catalogue *catalogue);

/* Collective over the members, all of which come here with a catalogue that has begun. All fail, or
 * none does; one that has no memory in the midst of it ends the run. */
spmd_status spmd__catalogue_share(spmd_mesh *mesh, int npieces, const spmd_piece pieces[],
                                  struct catalogue *catalogue);

/* A piece, counted over all ranks; its data is elsewhere. */
spmd_piece spmd__catalogue_piece(const struct catalogue *catalogue, int64_t number);

/* Collective over the members. Whether each index of the array is in one piece. All fail with the
 * same message if one is not; a rank that has no memory to look at its block fails alone. */
spmd_status spmd__catalogue_check(const struct catalogue *catalogue, const spmd_array *array);

/* Local. Fine for one that was never begun. */
void spmd__catalogue_free(struct catalogue *catalogue);

#endif
