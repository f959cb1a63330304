/* sight.h - whether the ranks of a node can read each other's blocks here: the system may refuse.
 */
#ifndef SIGHT_H
#define SIGHT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planned.h"

/* Whether a plan that has run tells this of it. */
static inline bool plan_tells(const spmd_reshard_call *plan, const char *part)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    EXPECT_OK(spmd_reshard_explain(plan, SPMD_SELF, stream));
    fclose(stream);
    bool found = strstr(text, part) != NULL;
    free(text);
    return found;
}

/* Collective over all ranks, who find the same: on several nodes, no. */
static inline bool ranks_see_each_other(void)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    struct planned planned =
        plan_between(mesh, "P(x)", "P()", SPMD_F64, SPMD_SHAPE((int64_t)test_size * 8192));
    spmd_array *a = source_of(&planned), *b = NULL;
    EXPECT_OK(spmd_reshard_run(planned.plan, 1, &a, &b));
    bool seen =
        plan_tells(planned.plan, "from the pool") && !plan_tells(planned.plan, "by messages");
    EXPECT(MPI_Allreduce(MPI_IN_PLACE, &seen, 1, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD) ==
           MPI_SUCCESS);
    spmd_array_free(&a);
    spmd_array_free(&b);
    free_plan(&planned);
    spmd_mesh_free(&mesh);
    return seen;
}

#endif
