/* sharding_rules.c - JAX's rules of specs, shard shapes and index maps, G1 to G25, each as a test.
 * Where we differ on purpose, strict mode gives JAX's verdict. */
#include "abstract.h"

/* Replica ids of all positions; the spec lies on x=4,y=2. */
static void assert_replicas(const char *spec, const int64_t replica[8])
{
    spmd_sharding *sharding = lay("x=4,y=2", spec);
    for (int64_t p = 0; p < 8; p++)
        ck_assert_int_eq(spmd_sharding_replica(sharding, p), replica[p]);
    spmd_sharding_free(&sharding);
}

static void assert_shard(const char *mesh, const char *spec, spmd_shape global, spmd_shape shard)
{
    spmd_sharding *sharding = lay(mesh, spec);
    spmd_mesh_set_strict(spmd_sharding_mesh(sharding), true);
    assert_shards(sharding, global, shard);
    spmd_sharding_free(&sharding);
}

START_TEST(G1_an_axis_on_each_dim)
{
    spmd_sharding *sharding = lay("x=4,y=2", "P('x','y')");
    spmd_shape shape = SPMD_SHAPE(8, 2);
    assert_shard("x=4,y=2", "P('x','y')", shape, SPMD_SHAPE(2, 1));
    assert_holds(sharding, shape, 0, 0, 2, 0, 1);
    assert_holds(sharding, shape, 1, 0, 2, 1, 2);
    assert_holds(sharding, shape, 7, 6, 8, 1, 2);
    assert_replicas("P('x','y')", (int64_t[8]){0});
    spmd_sharding_free(&sharding);
}
END_TEST

START_TEST(G2_major_axis_on_rows)
{
    spmd_sharding *sharding = lay("x=4,y=2", "P('x')");
    assert_shard("x=4,y=2", "P('x')", SPMD_SHAPE(8, 2), SPMD_SHAPE(2, 2));
    for (int64_t p = 0; p < 8; p++)
        assert_holds(sharding, SPMD_SHAPE(8, 2), p, p / 2 * 2, p / 2 * 2 + 2, 0, 2);
    assert_replicas("P('x')", (int64_t[8]){0, 1, 0, 1, 0, 1, 0, 1});
    spmd_sharding_free(&sharding);
}
END_TEST

START_TEST(G3_minor_axis_on_rows)
{
    spmd_sharding *sharding = lay("x=4,y=2", "P('y')");
    assert_shard("x=4,y=2", "P('y')", SPMD_SHAPE(8, 2), SPMD_SHAPE(4, 2));
    for (int64_t p = 0; p < 8; p++)
        assert_holds(sharding, SPMD_SHAPE(8, 2), p, p % 2 * 4, p % 2 * 4 + 4, 0, 2);
    assert_replicas("P('y')", (int64_t[8]){0, 0, 1, 1, 2, 2, 3, 3});
    spmd_sharding_free(&sharding);
}
END_TEST

START_TEST(G4_none_leaves_a_dim_whole)
{
    assert_shard("x=4,y=2", "P(None,'y')", SPMD_SHAPE(8, 2), SPMD_SHAPE(8, 1));
    assert_replicas("P(None,'y')", (int64_t[8]){0, 0, 1, 1, 2, 2, 3, 3});
}
END_TEST

START_TEST(G5_two_axes_on_one_dim)
{
    spmd_sharding *sharding = lay("x=4,y=2", "P(('x','y'))");
    assert_shard("x=4,y=2", "P(('x','y'))", SPMD_SHAPE(8, 2), SPMD_SHAPE(1, 2));
    for (int64_t p = 0; p < 8; p++)
        assert_holds(sharding, SPMD_SHAPE(8, 2), p, p, p + 1, 0, 2);
    spmd_sharding_free(&sharding);
}
END_TEST

START_TEST(G6_nothing_split)
{
    spmd_sharding *sharding = lay("x=4,y=2", "P()");
    assert_shard("x=4,y=2", "P()", SPMD_SHAPE(8, 2), SPMD_SHAPE(8, 2));
    assert_replicas("P()", (int64_t[8]){0, 1, 2, 3, 4, 5, 6, 7});
    ck_assert(spmd_sharding_is_fully_replicated(sharding));
    spmd_sharding_free(&sharding);
}
END_TEST

START_TEST(G7_shard_shapes)
{
    spmd_shape global = SPMD_SHAPE(8, 4);
    assert_shard("x=4,y=2", "P('x','y')", global, SPMD_SHAPE(2, 2));
    assert_shard("x=4,y=2", "P('x')", global, SPMD_SHAPE(2, 4));
    assert_shard("x=4,y=2", "P('y')", global, SPMD_SHAPE(4, 4));
    assert_shard("x=4,y=2", "P(None,'y')", global, SPMD_SHAPE(8, 2));
    assert_shard("x=4,y=2", "P(None,'x')", global, SPMD_SHAPE(8, 1));
    assert_shard("x=4,y=2", "P(('x','y'))", global, SPMD_SHAPE(1, 4));
    assert_shard("x=4,y=2", "P()", global, SPMD_SHAPE(8, 4));
}
END_TEST

START_TEST(G8_axes_in_another_order)
{
    static const int64_t tiles[8] = {0, 2, 4, 6, 1, 3, 5, 7}; /* the position of each tile */
    spmd_sharding *sharding = lay("x=4,y=2", "P('y','x')");
    for (int64_t tile = 0; tile < 8; tile++)
        assert_holds(sharding, SPMD_SHAPE(8, 4), tiles[tile], tile / 4 * 4, tile / 4 * 4 + 4,
                     tile % 4, tile % 4 + 1);
    spmd_sharding_free(&sharding);
}
END_TEST

/* Uneven sizes are native here: only a strict mesh refuses them, as JAX does. */
START_TEST(G9_sizes_that_do_not_divide)
{
    ASSERT_OK(place("x=4,y=2", "P('x','y')", SPMD_SHAPE(8, 3), false));
    ASSERT_FAILS(place("x=4,y=2", "P('x','y')", SPMD_SHAPE(8, 3), true), SPMD_ERR_SPEC,
                 "P(x, y) on mesh x=4,y=2: dim 1 of 2 has size 3, which the 2 parts along y do not "
                 "divide, and the mesh is strict: make it 4, ");
    ASSERT_FAILS(place("x=4,y=2", "P(-, (x,y))", SPMD_SHAPE(8, 12), true), SPMD_ERR_SPEC,
                 "the 8 parts along (x,y)");
    ASSERT_FAILS(place("x=4,y=2", "P(x)", SPMD_SHAPE(INT64_MAX), true), SPMD_ERR_SPEC,
                 "make it 9223372036854775804");
    ASSERT_OK(place("x=4,y=2", "P(x, y)", SPMD_SHAPE(0, 4), true));
}
END_TEST

/* The same of the index map: two positions get nothing, unless the mesh is strict. */
START_TEST(G10_index_map_of_sizes_that_do_not_divide)
{
    spmd_box boxes[4];
    spmd_sharding *sharding = lay("x=2,y=2", "P('x','y')");
    ASSERT_OK(spmd_sharding_indices_map(sharding, SPMD_SHAPE(1, 2), boxes));
    ck_assert_int_eq(spmd_box_size(&boxes[1]), 1);
    ck_assert_int_eq(spmd_box_size(&boxes[3]), 0);
    spmd_mesh_set_strict(spmd_sharding_mesh(sharding), true);
    ASSERT_FAILS(spmd_sharding_indices_map(sharding, SPMD_SHAPE(1, 2), boxes), SPMD_ERR_SPEC,
                 "dim 0 of 2 has size 1");
    spmd_sharding_free(&sharding);
}
END_TEST

START_TEST(G11_scalars_take_no_entries)
{
    ASSERT_FAILS(place("x=4,y=2", "P('x')", SPMD_SCALAR, false), SPMD_ERR_SPEC,
                 "use P() for a scalar");
    ASSERT_FAILS(place("x=4,y=2", "P(None)", SPMD_SCALAR, false), SPMD_ERR_SPEC,
                 "use P() for a scalar");
    ASSERT_OK(place("x=4,y=2", "P()", SPMD_SCALAR, true));
}
END_TEST

START_TEST(G12_entries_of_none_count)
{
    ASSERT_FAILS(place("x=4,y=2", "P(None,None)", SPMD_SHAPE(8), false), SPMD_ERR_SPEC,
                 "P(-, -) on mesh x=4,y=2: the spec has 2 entries, the array 1 dimension;");
}
END_TEST

START_TEST(G13_three_axes)
{
    spmd_shape global = SPMD_SHAPE(8, 4, 2);
    assert_shard("x=2,y=2,z=2", "P('x','y','z')", global, SPMD_SHAPE(4, 2, 1));
    assert_shard("x=2,y=2,z=2", "P(('x','y'),'z')", global, SPMD_SHAPE(2, 2, 2));
    assert_shard("x=2,y=2,z=2", "P('z')", global, SPMD_SHAPE(4, 4, 2));
    assert_shard("x=2,y=2,z=2", "P(None,None,'z')", global, SPMD_SHAPE(8, 4, 1));
}
END_TEST

START_TEST(G14_an_axis_twice)
{
    ASSERT_FAILS(place("x=4,y=2", "P('x','x')", SPMD_SHAPE(8, 4), false), SPMD_ERR_SPEC,
                 "axis x lies along dims 0 and 1");
    ASSERT_FAILS(place("x=4,y=2", "P('x',('y','x'))", SPMD_SHAPE(8, 4), false), SPMD_ERR_SPEC,
                 "axis x lies along dims 0 and 1");
    ASSERT_FAILS(place("x=4,y=2", "P(('x','x'))", SPMD_SHAPE(8, 4), false), SPMD_ERR_SPEC,
                 "axis x stands twice in dim 0");
}
END_TEST

START_TEST(G15_an_axis_that_is_not_there)
{
    ASSERT_FAILS(place("x=4,y=2", "P('z')", SPMD_SHAPE(8, 4), false), SPMD_ERR_SPEC,
                 "on mesh x=4,y=2: the mesh has no axis z");
}
END_TEST

START_TEST(G16_nested_tuples)
{
    ASSERT_FAILS(place("a=2,b=2,c=2", "P((('a','b'),'c'))", SPMD_SHAPE(8), false), SPMD_ERR_SYNTAX,
                 "a tuple inside a tuple");
}
END_TEST

static bool fully_replicated(const char *mesh, const char *spec)
{
    spmd_sharding *sharding = lay(mesh, spec);
    bool replicated = spmd_sharding_is_fully_replicated(sharding);
    spmd_sharding_free(&sharding);
    return replicated;
}

START_TEST(G17_fully_replicated)
{
    ck_assert(fully_replicated("x=1,y=1", "P('x','y')"));
    ck_assert(!fully_replicated("x=4,y=2", "P('x','y')"));
    ck_assert(fully_replicated("x=2,y=1", "P()"));
    ck_assert(!fully_replicated("x=2,y=1", "P(('x','y'),None)"));
    ck_assert(fully_replicated("x=1,y=2,z=4", "P('x',None,None)"));
    ck_assert(fully_replicated("x=1,y=1,z=4", "P('x','y',None)"));
}
END_TEST

static bool equivalent(const char *a_mesh, const char *a_spec, const char *b_mesh,
                       const char *b_spec, int ndim)
{
    spmd_sharding *a = lay(a_mesh, a_spec), *b = lay(b_mesh, b_spec);
    bool there = spmd_sharding_is_equivalent(a, b, ndim);
    ck_assert_int_eq(there, spmd_sharding_is_equivalent(b, a, ndim));
    spmd_sharding_free(&a);
    spmd_sharding_free(&b);
    return there;
}

START_TEST(G18_equivalence_and_equality)
{
    spmd_mesh *mesh = abstract_mesh("x=1");
    spmd_sharding *named = NULL, *single = NULL, *longer = lay("x=1", "P('x',None)");
    ASSERT_OK(spmd_sharding_create(mesh, "P('x')", &named));
    ASSERT_OK(spmd_sharding_create_single(mesh, 0, &single));
    ck_assert(spmd_sharding_is_equivalent(named, single, 1));
    ck_assert(spmd_sharding_is_equivalent(named, longer, 2));
    ck_assert(!spmd_sharding_equal(named, longer));
    ck_assert(equivalent("x=2,y=1", "P('y')", "x=2,y=1", "P()", 3));
    ck_assert(!equivalent("x=1", "P()", "x=4", "P()", 1));
    spmd_sharding_free(&named);
    spmd_sharding_free(&single);
    spmd_sharding_free(&longer);
    spmd_mesh_free(&mesh);
}
END_TEST

/* Abstract meshes have no ranks to reverse; tests/mpi/sharding.c does it with real ones. Here: the
 * same positions along a reversed pair of axes. */
START_TEST(G19_the_order_of_positions_counts)
{
    ck_assert(!equivalent("x=2,y=2", "P(('x','y'))", "x=2,y=2", "P(('y','x'))", 1));
    ck_assert(equivalent("x=2,y=2", "P()", "y=2,x=2", "P()", 1));
}
END_TEST

START_TEST(G20_unreduced_is_not_replicated)
{
    ck_assert(!fully_replicated("x=4,y=2", "P(unreduced={'x'})"));
    ck_assert(!fully_replicated("x=4,y=2", "P(unreduced={'x','y'})"));
    ck_assert(!equivalent("x=4,y=2", "P(unreduced={'x'})", "x=4,y=2", "P()", 1));
}
END_TEST

START_TEST(G21_more_entries_than_dims)
{
    ASSERT_FAILS(place("mdl=4,y=2", "P(None,'mdl',None,None)", SPMD_SHAPE(8, 2), false),
                 SPMD_ERR_SPEC, "the spec has 4 entries, the array 2 dimensions");
}
END_TEST

/* What processes of two positions each make of a local shape on a=2,b=2,c=2. */
static spmd_shape globalize(const char *spec, const int process[8], spmd_shape local)
{
    spmd_sharding *sharding = lay("a=2,b=2,c=2", spec);
    spmd_shape global = {0};
    ASSERT_OK(spmd_sharding_local_to_global(sharding, local, process, &global));
    spmd_sharding_free(&sharding);
    return global;
}

START_TEST(G22_local_to_global_shape)
{
    static const int host[8] = {0, 0, 1, 1, 2, 2, 3, 3}, shuffled[8] = {0, 1, 2, 1, 0, 3, 3, 2};
    spmd_shape local = SPMD_SHAPE(12, 10);
    ck_assert(spmd_shape_equal(globalize("P()", host, local), local));
    ck_assert(spmd_shape_equal(globalize("P(('a','b','c'))", host, local), SPMD_SHAPE(48, 10)));
    ck_assert(spmd_shape_equal(globalize("P(('a','b'))", host, local), SPMD_SHAPE(48, 10)));
    ck_assert(spmd_shape_equal(globalize("P(None,('a','c'))", host, local), SPMD_SHAPE(12, 20)));
    ck_assert(spmd_shape_equal(globalize("P(('a','c'),'b')", host, local), SPMD_SHAPE(24, 20)));
    spmd_shape none = globalize("P('a',('b','c'))", shuffled, local);
    ck_assert(none.ndim == 2 && none.dim[0] == -1 && none.dim[1] == -1);
}
END_TEST

START_TEST(G23_ranks_in_another_order)
{
    static const int64_t device[8] = {0, 2, 3, 1, 4, 6, 7, 5}; /* of each position */
    static const int64_t rows[8] = {0, 2, 0, 2, 4, 6, 4, 6}, columns[8] = {0, 1, 1, 0, 0, 1, 1, 0};
    spmd_sharding *sharding = lay("x=4,y=2", "P('x','y')");
    for (int64_t p = 0; p < 8; p++)
        assert_holds(sharding, SPMD_SHAPE(8, 2), p, rows[device[p]], rows[device[p]] + 2,
                     columns[device[p]], columns[device[p]] + 1);
    spmd_sharding_free(&sharding);
}
END_TEST

START_TEST(G24_sizes_that_are_no_integers)
{
    spmd_mesh *mesh = NULL;
    ASSERT_FAILS(spmd_mesh_create_abstract("x=2.5", &mesh), SPMD_ERR_SYNTAX, "x=2.5");
    ASSERT_FAILS(spmd_mesh_create_abstract("x=4,y=two", &mesh), SPMD_ERR_SYNTAX, "y=two");
    ASSERT_FAILS(spmd_mesh_create_abstract("x=-1", &mesh), SPMD_ERR_SYNTAX, "x=-1");
    ASSERT_FAILS(spmd_mesh_create_abstract("x=0", &mesh), SPMD_ERR_MESH, "at least 1");
    ck_assert(mesh == NULL);
}
END_TEST

/* A hybrid mesh as a grid of devices: 2 granules of 64, mesh (1,16,4) inside, (2,1,1) outside. */
START_TEST(G25_hybrid_mesh)
{
    static const int interleaved[6] = {0, 3, 1, 4, 2, 5};
    spmd_grid grid;
    spmd_sharding *sharding = NULL;
    ASSERT_OK(spmd_grid_make(128, &grid));
    ASSERT_OK(spmd_grid_reshape(&grid, SPMD_SHAPE(2, 1, 1, 1, 16, 4), &grid));
    ASSERT_OK(spmd_grid_transpose(&grid, interleaved, &grid));
    ASSERT_OK(spmd_grid_reshape(&grid, SPMD_SHAPE(2, 16, 4), &grid));
    ASSERT_OK(spmd_sharding_create_positional_abstract(&grid, &sharding));
    assert_format(sharding, "dim0=2,dim1=16,dim2=4", "P(dim0, dim1, dim2)");
    spmd_sharding_free(&sharding);
}
END_TEST

UNIT_MAIN("sharding_rules", G1_an_axis_on_each_dim, G2_major_axis_on_rows, G3_minor_axis_on_rows,
          G4_none_leaves_a_dim_whole, G5_two_axes_on_one_dim, G6_nothing_split, G7_shard_shapes,
          G8_axes_in_another_order, G9_sizes_that_do_not_divide,
          G10_index_map_of_sizes_that_do_not_divide, G11_scalars_take_no_entries,
          G12_entries_of_none_count, G13_three_axes, G14_an_axis_twice,
          G15_an_axis_that_is_not_there, G16_nested_tuples, G17_fully_replicated,
          G18_equivalence_and_equality, G19_the_order_of_positions_counts,
          G20_unreduced_is_not_replicated, G21_more_entries_than_dims, G22_local_to_global_shape,
          G23_ranks_in_another_order, G24_sizes_that_are_no_integers, G25_hybrid_mesh)
