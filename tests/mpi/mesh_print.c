/* mesh_print.c - meshes as text. */
#include <stdlib.h>
#include <string.h>

#include "meshes.h"

/* What the mesh prints on this rank. */
static void expect_print(const spmd_mesh *mesh, const char *wanted)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    EXPECT_OK(spmd_mesh_print(mesh, stream));
    fclose(stream);
    if (!EXPECT(strcmp(text, wanted) == 0))
        fprintf(stderr, "%s", text);
    free(text);
}

static void expect_abstract(const char *mesh_text, const char *wanted)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create_abstract(mesh_text, &mesh));
    expect_print(mesh, wanted);
    spmd_mesh_free(&mesh);
}

static void tables(void)
{
    expect_abstract("x=3", "x=3 (abstract: positions)\n"
                           "x  0  1  2\n"
                           "   0  1  2\n");
    expect_abstract("x=4,long_name=3", "x=4,long_name=3 (abstract: positions)\n"
                                       "x\\long_name   0   1   2\n"
                                       "          0   0   1   2\n"
                                       "          1   3   4   5\n"
                                       "          2   6   7   8\n"
                                       "          3   9  10  11\n");
    expect_abstract("x=1,y=2,z=2", "x=1,y=2,z=2 (abstract: positions)\n"
                                   "x=0\n"
                                   "y\\z  0  1\n"
                                   "  0  0  1\n"
                                   "  1  2  3\n");
    expect_abstract("a=1,b=2,c=1,d=2", "a=1,b=2,c=1,d=2 (abstract: positions)\n"
                                       "a=0,b=0\n"
                                       "c\\d  0  1\n"
                                       "  0  0  1\n"
                                       "\n"
                                       "a=0,b=1\n"
                                       "c\\d  0  1\n"
                                       "  0  2  3\n");
}

static void large_meshes_are_elided(void)
{
    expect_abstract("x=1000000",
                    "x=1000000 (abstract: positions)\n"
                    "x       0       1       2       3     ...  999996  999997  999998  999999\n"
                    "        0       1       2       3     ...  999996  999997  999998  999999\n");
    expect_abstract("x=17,y=1", "x=17,y=1 (abstract: positions)\n"
                                "x\\y   0\n"
                                "  0   0\n"
                                "  1   1\n"
                                "  2   2\n"
                                "  3   3\n"
                                "...\n"
                                " 13  13\n"
                                " 14  14\n"
                                " 15  15\n"
                                " 16  16\n");
    expect_abstract("s=20,x=1,y=1", "s=20,x=1,y=1 (abstract: positions)\n"
                                    "s=0\nx\\y   0\n  0   0\n\n"
                                    "s=1\nx\\y   0\n  0   1\n\n"
                                    "s=2\nx\\y   0\n  0   2\n\n"
                                    "s=3\nx\\y   0\n  0   3\n\n"
                                    "...\n\n"
                                    "s=16\nx\\y   0\n  0  16\n\n"
                                    "s=17\nx\\y   0\n  0  17\n\n"
                                    "s=18\nx\\y   0\n  0  18\n\n"
                                    "s=19\nx\\y   0\n  0  19\n");
}

/* Position 0 prints, and it prints ranks. */
static void ranks_are_printed_once(void)
{
    spmd_mesh *mesh = make_reversed("x=*,y=1");
    char wanted[400];
    int length = snprintf(wanted, sizeof wanted, "x=%d,y=1\nx\\y  0\n", test_size);
    for (int p = 0; p < test_size; p++)
        length += snprintf(wanted + length, sizeof wanted - (size_t)length, "%3d  %d\n", p,
                           test_size - 1 - p);
    expect_print(mesh, spmd_mesh_position(mesh) == 0 ? wanted : "");
    EXPECT(spmd_mesh_print(mesh, NULL) ==
           (spmd_mesh_position(mesh) == 0 ? SPMD_ERR_ARGUMENT : SPMD_OK));
    spmd_mesh_free(&mesh);
    EXPECT_FAILS(spmd_mesh_print(NULL, stderr), SPMD_ERR_ARGUMENT, "NULL");
}

HARNESS_MAIN("mesh_print", CASE(tables), CASE(large_meshes_are_elided),
             CASE(ranks_are_printed_once))
