/* map/joint.h - a collective whose members are instances of vmaps, and maybe ranks as well. */
#ifndef MAP_JOINT_H
#define MAP_JOINT_H

#include "map/collective.h"

/* Collective over the ranks that the text names, if it does. `ops` are of all instances of the
 * vmaps up to the outermost one that it names, row-major from that one in; all have been checked
 * and are alike. Vmaps among them that the text does not name have a collective for each of their
 * instances. */
spmd_status spmd__joint_run(struct operation *const ops[]);

#endif
