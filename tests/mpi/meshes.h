/* meshes.h - the meshes that cases about arrays and bodies run on, and their failures' messages. */
#ifndef MESHES_H
#define MESHES_H

#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "permuted.h"

static inline spmd_mesh *make_mesh(const char *text)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh));
    return mesh;
}

/* All ranks in a line; in two rows where they divide, else in one. */
static inline spmd_mesh *make_line(void)
{
    return make_mesh("x=*");
}

static inline spmd_mesh *make_grid(void)
{
    return make_mesh(test_size % 2 == 0 ? "x=2,y=*" : "x=1,y=*");
}

/* A line that leaves the last rank idle, unless it is alone. */
static inline spmd_mesh *make_shorter_line(void)
{
    char text[20];
    snprintf(text, sizeof text, "x=%d", test_size > 1 ? test_size - 1 : 1);
    return make_mesh(text);
}

static inline bool is_idle(const spmd_mesh *mesh)
{
    return spmd_mesh_position(mesh) < 0;
}

/* The type of an array, to be compared. */
static inline bool has_type(const spmd_array *array, const char *type)
{
    char text[256];
    spmd_array_format(text, sizeof text, array);
    return strcmp(text, type) == 0;
}

/* How a message of rank `rank` begins for all, unless all ranks had the same one. */
static inline const char *from_rank(int rank, const char *message)
{
    static char expected[300];
    if (test_size == 1)
        return message;
    snprintf(expected, sizeof expected, "rank %d: %s", rank, message);
    return expected;
}

/* Every rank has the same message. */
static inline void expect_same_message(void)
{
    char message[2048];
    snprintf(message, sizeof message, "%s", spmd_error_message());
    MPI_Bcast(message, sizeof message, MPI_BYTE, 0, MPI_COMM_WORLD);
    EXPECT(strcmp(message, spmd_error_message()) == 0);
}

/* What a call gives that the last rank makes with other arguments than the others. */
static inline void expect_disagreement(spmd_status status)
{
    char message[60];
    snprintf(message, sizeof message, "rank %d passed other arguments than rank 0", test_size - 1);
    if (test_size == 1)
        EXPECT_OK(status);
    else
        EXPECT_FAILS(status, SPMD_ERR_DISAGREE, message);
}

static inline bool is_last_of_many(void)
{
    return test_size > 1 && test_rank == test_size - 1;
}

#endif
