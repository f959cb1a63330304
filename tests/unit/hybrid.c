/* hybrid.c - unit tests of meshes over nodes: which rank stands where. */
#include <stdio.h>

#include "core/hybrid.h"
#include "unit.h"

enum { MOST = 128 };

/* Ranks on the nodes that the letters name: "aab" is two on host a, one on host b. */
static int place(const char *letters, struct place places[MOST])
{
    int ranks = (int)strlen(letters);
    for (int r = 0; r < ranks; r++) {
        places[r].leader = (int)(strchr(letters, letters[r]) - letters);
        snprintf(places[r].host, sizeof places[r].host, "h%c", letters[r]);
    }
    return ranks;
}

static void check(const char *letters, const char *nodes, const char *local, const char *mesh,
                  const int wanted[])
{
    struct place places[MOST];
    struct axes axes;
    int ranks = place(letters, places), *members;
    ASSERT_OK(spmd__hybrid_arrange(nodes, local, places, ranks, &axes, &members));
    struct axes_text text = spmd__axes_text(&axes);
    ck_assert_str_eq(text.text, mesh);
    for (int64_t p = 0; p < spmd__axes_total(&axes); p++)
        ck_assert_int_eq(members[p], wanted[p]);
    free(members);
}

static void check_fails(const char *letters, const char *nodes, const char *local,
                        spmd_status status, const char *part)
{
    struct place places[MOST];
    struct axes axes;
    int ranks = place(letters, places), *members = NULL;
    ASSERT_FAILS(spmd__hybrid_arrange(nodes, local, places, ranks, &axes, &members), status, part);
    ck_assert_ptr_null(members);
}

START_TEST(local_axes_stay_on_their_node)
{
    check("aabb", "data=2", "model=2", "data=2,model=2", (int[]){0, 1, 2, 3});
    check("abab", "data=2", "model=2", "data=2,model=2", (int[]){0, 2, 1, 3});
    check("abba", "data=*", "model=*", "data=2,model=2", (int[]){0, 3, 1, 2});
    check("aabbcc", "data=3", "model=2", "data=3,model=2", (int[]){0, 1, 2, 3, 4, 5});
    check("a", "data=1", "model=1", "data=1,model=1", (int[]){0});
}
END_TEST

START_TEST(nodes_are_in_the_order_of_their_lowest_ranks)
{
    check("baba", "data=2", "model=2", "data=2,model=2", (int[]){0, 2, 1, 3});
    check("cbacba", "n=*", "l=*", "n=3,l=2", (int[]){0, 3, 1, 4, 2, 5});
}
END_TEST

/* The outer part of an axis is major. */
START_TEST(an_axis_goes_over_nodes_and_inside)
{
    check("aabb", "x=2", "x=2", "x=4", (int[]){0, 1, 2, 3});
    check("abab", "x=2", "x=2", "x=4", (int[]){0, 2, 1, 3});
    check("aaaabbbb", "data=2,model=1", "data=2,model=2", "data=4,model=2",
          (int[]){0, 1, 2, 3, 4, 5, 6, 7});
    check("aaaabbbb", "model=2,data=1", "data=2,model=2", "model=4,data=2",
          (int[]){0, 2, 1, 3, 4, 6, 5, 7});
    check("aabbccdd", "x=2,y=2", "y=2", "x=2,y=4", (int[]){0, 1, 2, 3, 4, 5, 6, 7});
    check("aabbccdd", "x=2,y=2", "x=2", "x=4,y=2", (int[]){0, 2, 1, 3, 4, 6, 5, 7});
}
END_TEST

/* JAX: mesh_utils_test, two granules of 64 devices. */
START_TEST(jax_shape_of_two_granules)
{
    struct place places[MOST];
    struct axes axes;
    char letters[MOST + 1] = "";
    int *members;
    for (int r = 0; r < MOST; r++)
        letters[r] = r < 64 ? 'a' : 'b';
    int ranks = place(letters, places);
    ASSERT_OK(spmd__hybrid_arrange("a=2,b=1,c=1", "a=1,b=16,c=4", places, ranks, &axes, &members));
    struct axes_text text = spmd__axes_text(&axes);
    ck_assert_str_eq(text.text, "a=2,b=16,c=4");
    for (int p = 0; p < MOST; p++)
        ck_assert_int_eq(members[p], p);
    free(members);
}
END_TEST

START_TEST(axes_of_nodes_come_first)
{
    check("aabb", "n=2,m=1", "k=1,n=2,l=1", "n=4,m=1,k=1,l=1", (int[]){0, 1, 2, 3});
}
END_TEST

START_TEST(every_node_may_have_ranks_to_spare)
{
    check("aaabbb", "x=2", "y=2", "x=2,y=2", (int[]){0, 1, 3, 4});
    check("aaabb", "x=2", "y=1", "x=2,y=1", (int[]){0, 3});
    check_fails("aaabb", "x=2", "y=2", SPMD_ERR_MESH,
                "node 0 (host ha) has 3 ranks, y=2 inside of a node needs just 2");
}
END_TEST

START_TEST(what_does_not_fit_names_the_node)
{
    check_fails("aaaabbb", "data=2", "model=2,data=2", SPMD_ERR_MESH,
                "node 1 (host hb) has 3 ranks, model=2,data=2 inside of a node needs 4");
    check_fails("aaab", "x=2", "y=*", SPMD_ERR_MESH,
                "node 1 (host hb) has 1 rank, y=3 inside of a node needs 3");
    check_fails("aaabbb", "x=2", "y=2,z=*", SPMD_ERR_MESH,
                "node 0 (host ha) has 3 ranks, y=2,z=* inside of a node needs a multiple of 2");
    check_fails("aabb", "x=3", "y=2", SPMD_ERR_MESH,
                "x=3 over nodes needs 3 nodes, this job has 2");
    check_fails("aabbcc", "x=2", "y=2", SPMD_ERR_MESH,
                "x=2 over nodes needs 2 nodes, this job has 3");
    check_fails("aabbcc", "x=2,w=*", "y=2", SPMD_ERR_MESH,
                "x=2,w=* over nodes needs a multiple of 2 nodes, this job has 3");
}
END_TEST

START_TEST(wrong_texts_are_refused)
{
    check_fails("aabb", "x", "y=2", SPMD_ERR_SYNTAX, "\"x\"");
    check_fails("aabb", "x=2", "y=", SPMD_ERR_SYNTAX, "\"y=\"");
    check_fails("aabb", "x=2,x=1", "y=2", SPMD_ERR_MESH, "two axes named x");
    check_fails("aabb", "x=2", "y=*,z=*", SPMD_ERR_MESH, "two sizes open");
    check_fails("aabb", NULL, "y=2", SPMD_ERR_ARGUMENT, "no text");
    check_fails("aabb", "x=2", NULL, SPMD_ERR_ARGUMENT, "no text");
    check_fails("aabb", "a=2,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1", "j=2,k=1,l=1,m=1,n=1,o=1,p=1,q=1",
                SPMD_ERR_MESH, "more than 16 axes");
}
END_TEST

UNIT_MAIN("hybrid", local_axes_stay_on_their_node, nodes_are_in_the_order_of_their_lowest_ranks,
          an_axis_goes_over_nodes_and_inside, jax_shape_of_two_granules, axes_of_nodes_come_first,
          every_node_may_have_ranks_to_spare, what_does_not_fit_names_the_node,
          wrong_texts_are_refused)
