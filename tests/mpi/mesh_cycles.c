/* mesh_cycles.c - meshes that come and go leave no communicator and no memory behind. */
#include <stdio.h>
#include <stdlib.h>

#include "comms.h"
#include "harness.h"
#include "heap.h"

/* As many on one rank as a long run makes. Fewer on several, which wait for each other, longer
 * where they share the cores with others; and under a sanitizer, which unwinds the stack at each
 * allocation. */
static int cycles(void)
{
#ifdef __SANITIZE_ADDRESS__
    return 1000 / test_size;
#else
    return test_size == 1 ? 40000 : 4000 / test_size;
#endif
}

/* All ranks, some of them, others in another order, a part: each used for what it can. */
static void come_and_go(int turn)
{
    static const char *const texts[] = {"x=*", "x=1", "x=*,y=1"};
    const int ranks[] = {test_size - 1};
    spmd_mesh *mesh = NULL, *part = NULL;
    int before = comms_alive;
    if (turn % 4 < 3)
        EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, texts[turn % 4], &mesh));
    else
        EXPECT_OK(spmd_mesh_create_ranks(MPI_COMM_WORLD, "x=1", ranks, &mesh));
    if (!mesh)
        return;
    bool member = spmd_mesh_position(mesh) >= 0;
    EXPECT((spmd_mesh_comm(mesh, "x") != MPI_COMM_NULL) == member);
    if (turn % 64 == 0) {
        EXPECT_OK(spmd_mesh_sub(mesh, "x=0", &part));
        EXPECT_OK(spmd_agree(part, SPMD_OK));
    }
    int held = spmd_mesh_comms(mesh) + (part ? spmd_mesh_comms(part) : 0);
    EXPECT(comms_alive == before + held);
    spmd_mesh_free(&mesh);
    spmd_mesh_free(&part);
}

/* Without SPMD_CHECK=1, whose communicators go when all ranks have freed the mesh: watch.c. */
static void many_meshes_leave_nothing_behind(void)
{
    enum { WARM_UP = 200 };
    unsetenv("SPMD_CHECK");
    int before = comms_alive;
    size_t memory = 0;
    for (int i = 0; i < cycles(); i++) {
        if (i == WARM_UP)
            memory = memory_in_use();
        come_and_go(i);
    }
    EXPECT(comms_alive == before);
    size_t now = memory_in_use(), slack = (size_t)1 << 18; /* MPI keeps some lists */
    if (cycles() > WARM_UP && !EXPECT(now <= memory + slack))
        fprintf(stderr, "# %zu bytes after %d meshes, %zu after %d\n", memory, WARM_UP, now,
                cycles());
}

HARNESS_MAIN("mesh_cycles", CASE(many_meshes_leave_nothing_behind))
