/* mesh_sub.c - parts of meshes. */
#include <string.h>

#include "meshes.h"

static bool has_text(const spmd_mesh *mesh, const char *wanted)
{
    char text[128];
    spmd_mesh_format(text, sizeof text, mesh);
    return strcmp(text, wanted) == 0;
}

/* Every row, and every column, of a mesh along x and y. */
static void rows_and_columns(void)
{
    for (int m = 0; m < PERMUTED_FULL_MESHES; m++) {
        spmd_mesh *mesh = make_permuted(m);
        for (int a = 0; a < 2; a++) {
            const char *fixed = a == 0 ? "x" : "y", *left = a == 0 ? "y" : "x";
            int64_t size = spmd_mesh_axis_size(mesh, left), mine[2];
            EXPECT_OK(spmd_mesh_coordinates(mesh, spmd_mesh_position(mesh), mine));
            for (int64_t c = 0; c < spmd_mesh_axis_size(mesh, fixed); c++) {
                char text[32];
                spmd_mesh *part = NULL;
                snprintf(text, sizeof text, "%s=%d", fixed, (int)c);
                EXPECT_OK(spmd_mesh_sub(mesh, text, &part));
                snprintf(text, sizeof text, "%s=%d", left, (int)size);
                EXPECT(has_text(part, text));
                EXPECT(spmd_mesh_position(part) == (mine[a] == c ? mine[1 - a] : -1));
                EXPECT((spmd_mesh_comm(part, left) == MPI_COMM_NULL) == (mine[a] != c));
                EXPECT_OK(spmd_agree(part, SPMD_OK));
                for (int64_t p = 0; p < size; p++)
                    EXPECT(spmd_mesh_rank(part, p) ==
                           spmd_mesh_rank(mesh, a == 0 ? c * size + p
                                                       : p * spmd_mesh_axis_size(mesh, "y") + c));
                spmd_mesh_free(&part);
            }
        }
        spmd_mesh_free(&mesh);
    }
}

static void one_position_is_left(void)
{
    spmd_mesh *mesh = make_reversed("x=*,y=1"), *part = NULL;
    EXPECT_OK(spmd_mesh_sub(mesh, "y=0,x=0", &part));
    EXPECT(has_text(part, "x=1"));
    EXPECT(spmd_mesh_rank(part, 0) == test_size - 1);
    EXPECT(spmd_mesh_position(part) == (test_rank == test_size - 1 ? 0 : -1));
    spmd_mesh_free(&part);
    EXPECT_OK(spmd_mesh_sub(mesh, "x=0,y=0", &part));
    EXPECT(has_text(part, "y=1"));
    spmd_mesh_free(&part);
    spmd_mesh_free(&mesh);
}

static void nothing_fixed_is_the_same_mesh(void)
{
    spmd_mesh *mesh = make_reversed_rest(), *part = NULL;
    EXPECT_OK(spmd_mesh_sub(mesh, "", &part));
    EXPECT(part != mesh && spmd_mesh_equal(part, mesh));
    spmd_mesh_free(&mesh);
    EXPECT_OK(spmd_agree(part, SPMD_OK)); /* it lives on */
    spmd_mesh_free(&part);
}

static void a_part_of_a_part(void)
{
    spmd_mesh *mesh = make_rotated("x=1,y=*,z=1"), *part = NULL, *least = NULL;
    EXPECT_OK(spmd_mesh_sub(mesh, "x=0", &part));
    spmd_mesh_set_strict(part, true);
    EXPECT_OK(spmd_mesh_sub(part, "z=0", &least));
    EXPECT(spmd_mesh_naxes(least) == 1 && spmd_mesh_axis_size(least, "y") == test_size);
    EXPECT(spmd_mesh_rank(least, 0) == 1 % test_size);
    spmd_array *array = NULL;
    spmd_status status =
        spmd_array_zeros(least, "P(y)", SPMD_F32, SPMD_SHAPE(test_size + 1), &array);
    EXPECT(status == (test_size > 1 ? SPMD_ERR_SPEC : SPMD_OK)); /* as strict */
    spmd_array_free(&array);
    spmd_mesh_free(&least);
    spmd_mesh_free(&part);
    spmd_mesh_free(&mesh);
}

static void abstract_meshes_have_parts(void)
{
    spmd_mesh *mesh = NULL, *part = NULL;
    EXPECT_OK(spmd_mesh_create_abstract("x=1000,y=1000,z=2", &mesh));
    EXPECT_OK(spmd_mesh_sub(mesh, "y=999", &part));
    EXPECT(has_text(part, "x=1000,z=2") && spmd_mesh_is_abstract(part));
    EXPECT(spmd_mesh_rank(part, 0) == -1);
    spmd_mesh_free(&part);
    EXPECT_FAILS(spmd_mesh_sub(mesh, "y=1000", &part), SPMD_ERR_MESH,
                 "along axis y there is no coordinate 1000, only 0 to 999");
    EXPECT_FAILS(spmd_mesh_sub(mesh, "y=0", NULL), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT(part == NULL);
    spmd_mesh_free(&mesh);
}

static void wrong_coordinates_are_refused(void)
{
    spmd_mesh *mesh = make_line(), *part = NULL;
    char text[40];
    snprintf(text, sizeof text, "x=%d", test_size);
    EXPECT_FAILS(spmd_mesh_sub(mesh, text, &part), SPMD_ERR_MESH, "there is no coordinate");
    EXPECT_FAILS(spmd_mesh_sub(mesh, "q=0", &part), SPMD_ERR_MESH,
                 "the mesh has no axis q; name one of its own");
    EXPECT_FAILS(spmd_mesh_sub(mesh, "x=0,x=0", &part), SPMD_ERR_MESH, "twice");
    EXPECT_FAILS(spmd_mesh_sub(mesh, "x", &part), SPMD_ERR_SYNTAX, "=NUMBER");
    EXPECT_FAILS(spmd_mesh_sub(mesh, NULL, &part), SPMD_ERR_ARGUMENT, "no text");
    EXPECT_FAILS(spmd_mesh_sub(mesh, "x=0", NULL), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_mesh_sub(NULL, "x=0", &part), SPMD_ERR_ARGUMENT, "NULL");
    spmd_status status = spmd_mesh_sub(mesh, is_last_of_many() ? "x=1" : "x=0", &part);
    expect_disagreement(status);
    EXPECT((part == NULL) == (test_size > 1));
    spmd_mesh_free(&part);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("mesh_sub", CASE(rows_and_columns), CASE(one_position_is_left),
             CASE(nothing_fixed_is_the_same_mesh), CASE(a_part_of_a_part),
             CASE(abstract_meshes_have_parts), CASE(wrong_coordinates_are_refused))
