/* spmd.h - sharded arrays over MPI, in JAX's words. The only header that a program needs.
 *
 * Reading order: error and types (the values that all speak in), random (the same numbers on any
 * mesh), mesh (who), sharding (how it lies), positional (the same without names), layout (shown),
 * array (the data), tree (nested data), map (the code), tree_map (the same over trees), collective
 * (the talk), halo (the neighbours' edges), io (the files), tree_io (trees in them), object (what
 * else is in them), checkpoint (trees to be restored anywhere), loader (batches of files), sweep
 * (many configurations at once), main (a program's frame), place (where in it a call stands),
 * setting (what the environment says). */
#ifndef SPMD_H
#define SPMD_H

#include <spmd/version.h>
#include <spmd/error.h>
#include <spmd/types.h>
#include <spmd/random.h>
#include <spmd/mesh.h>
#include <spmd/sharding.h>
#include <spmd/positional.h>
#include <spmd/layout.h>
#include <spmd/array.h>
#include <spmd/reshard.h>
#include <spmd/tree.h>
#include <spmd/map.h>
#include <spmd/tree_map.h>
#include <spmd/collective.h>
#include <spmd/halo.h>
#include <spmd/io.h>
#include <spmd/tree_io.h>
#include <spmd/object.h>
#include <spmd/checkpoint.h>
#include <spmd/loader.h>
#include <spmd/sweep.h>
#include <spmd/main.h>
#include <spmd/place.h>
#include <spmd/setting.h>

#endif
