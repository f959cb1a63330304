/* io/missing.h - what messages say of a name in a file that leads nowhere. */
#ifndef IO_MISSING_H
#define IO_MISSING_H

#include "io/file.h"

/* Collective, no agreement. Both fail, and list what there is instead: of a name where there is no
 * dataset (maybe `is_group`) all datasets of the file; of one where there is nothing at all what
 * the group has from which it leads nowhere, groups as "params/". */
spmd_status spmd__missing_dataset(const spmd_file *file, const char *name, bool is_group);
spmd_status spmd__missing_object(const spmd_file *file, const char *name);

#endif
