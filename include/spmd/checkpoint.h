/* spmd/checkpoint.h - checkpoints: trees that are saved under any mesh and restored under any
 * other.
 *
 *     int64_t step;
 *     spmd_checkpoint_latest(mesh, "run", &step);
 *     if (step >= 0)
 *         spmd_checkpoint_restore_like(mesh, "run", step, state, NULL, &state_then);
 *     ...
 *         bool stop;
 *         spmd_any(mesh, signal_came, &stop);
 *         if (stop || step % 1000 == 0)
 *             spmd_checkpoint_save(mesh, "run", step, state, 3);
 *
 * A checkpoint is one HDF5 file, "DIRECTORY/step-00001000.h5", of one tree as spmd_tree_write puts
 * it there (spmd/tree_io.h): h5dump, h5py and spmd_file_open read it. Each dataset has a checksum,
 * its attribute "spmd_checksum", and a user block in front of the file tells those again, and one
 * of the rest, its seal: so damage anywhere is found, before HDF5 meets it. A program that changes
 * the file, or copies the user block to a file that it lays otherwise, as h5repack does, breaks the
 * seal, and the file is refused. "h5unjam -i IN -o OUT --delete" makes one without a seal of it.
 *
 * All calls are collective over the mesh, take the same arguments on all ranks and end in an
 * agreement. Idle ranks succeed at once, and are told nothing: no step, no tree. Calls fail with
 * SPMD_ERR_FILE and a message that names file and reason; with SPMD_ERR_ARGUMENT for a step, a
 * number or a pointer that cannot be. */
#ifndef SPMD_CHECKPOINT_H
#define SPMD_CHECKPOINT_H

#include <spmd/tree_io.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In place of a step: the highest one that the directory has. */
#define SPMD_LATEST INT64_C(-1)

/* Collective. Saves a tree, a dict or a list, as the checkpoint of `step`, 0 or more; that of the
 * same step is replaced. The directory is made if there is none. The file is written aside, closed,
 * read again and compared with its checksums, and put in place only then: until the call succeeds,
 * what was there stays as it was.
 *
 * Of the other checkpoints in the directory that are whole, the `keep` - 1 of the highest steps
 * stay, and older ones are removed; with keep 0 all stay. Files that are written aside,
 * "step-00001000.h5.tmp-LETTERS", are removed unless another run is saving there now, which its
 * lock on the file ".lock" tells. All other files are left alone; one that has the name of the new
 * checkpoint and is none, the call does not replace, and fails. */
spmd_status spmd_checkpoint_save(spmd_mesh *mesh, const char *directory, int64_t step,
                                 const spmd_tree *tree, int keep);

/* Collective. Restores the checkpoint of a step, or the latest one, as spmd_tree_read and
 * spmd_tree_read_like do: whole or, with a None in `specs` or `like`, in part; under any mesh; and
 * with the sharding, type and shape of what `like` has. The tree is new, for spmd_tree_free. A step
 * that is not there is SPMD_ERR_FILE, and the message tells which are. What is read is compared
 * with its checksum, before it is converted. The message about a damaged checkpoint tells which
 * older ones there are; none of them is taken in its place. */
spmd_status spmd_checkpoint_restore(spmd_mesh *mesh, const char *directory, int64_t step,
                                    const char *specs, spmd_tree **tree);
spmd_status spmd_checkpoint_restore_like(spmd_mesh *mesh, const char *directory, int64_t step,
                                         const spmd_tree *like,
                                         const spmd_tree_read_options *options, spmd_tree **tree);

/* Collective. The highest step, -1 if there is none, or no directory; of all steps, in ascending
 * order, the first `capacity` (0: `steps` may be NULL), and how many there are. They go by the
 * names of the files, which are not opened. */
spmd_status spmd_checkpoint_latest(spmd_mesh *mesh, const char *directory, int64_t *step);
spmd_status spmd_checkpoint_steps(spmd_mesh *mesh, const char *directory, int capacity,
                                  int64_t steps[] /* [capacity] */, int *count);

#ifdef __cplusplus
}
#endif

#endif
