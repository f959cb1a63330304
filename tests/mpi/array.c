/* array.c - MPI tests of arrays: made in place, held, freed, described. */
#include <stdlib.h>

#include "caught.h"
#include "meshes.h"

static const spmd_dtype dtypes[] = {
#define DTYPE(name, text, bytes) SPMD_##name,
    SPMD_DTYPE_MAP(DTYPE)
#undef DTYPE
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* The row-major index in the global array of element `at` of a block. */
static int64_t global_index(const spmd_block *block, int64_t at)
{
    int64_t index = 0, step = 1;
    for (int d = block->ndim - 1; d >= 0; d--) {
        index += (block->offset[d] + at % block->shape[d]) * step;
        at /= block->shape[d];
        step *= block->global[d];
    }
    return index;
}

/* The block is dense, lies where its sharding says, and starts on 64 bytes. */
static void expect_place(const spmd_array *array, const char *spec, spmd_dtype dtype,
                         spmd_shape shape)
{
    const spmd_sharding *sharding = spmd_array_sharding(array);
    const spmd_block *block = spmd_array_block(array);
    int64_t position = spmd_mesh_position(spmd_sharding_mesh(sharding));
    char text[100];
    spmd_box box;
    spmd_sharding_format(text, sizeof text, sharding);
    EXPECT(strcmp(text, spec) == 0);
    EXPECT(spmd_array_dtype(array) == dtype && spmd_shape_equal(spmd_array_shape(array), shape));
    EXPECT_OK(spmd_sharding_box(sharding, shape, position, &box));
    EXPECT(block->dtype == dtype && block->ndim == shape.ndim);
    EXPECT(spmd_shape_equal(spmd_block_shape(block), spmd_box_shape(&box)));
    EXPECT(block->replica == spmd_sharding_replica(sharding, position));
    EXPECT((uintptr_t)block->data % 64 == 0);
    int64_t stride = 1;
    for (int d = block->ndim - 1; d >= 0; d--) {
        EXPECT(block->offset[d] == box.lo[d] && block->global[d] == shape.dim[d]);
        EXPECT(block->stride[d] == stride || spmd_block_size(block) == 0);
        stride *= block->shape[d];
    }
}

/* Calls `check` with meshes, specs and shapes that leave blocks whole, uneven and empty. */
static void for_all_places(void (*check)(spmd_mesh *mesh, const char *spec, spmd_shape shape))
{
    static const char *const line[] = {"P()", "P(x)", "P(-, x)"};
    static const char *const grid[] = {"P()", "P(y)", "P(x, y)", "P(-, (y,x))"};
    const spmd_shape shapes[] = {SPMD_SHAPE(7, 3), SPMD_SHAPE(8, 8), SPMD_SHAPE(1, 2, 5),
                                 SPMD_SHAPE(0, 4)};
    spmd_mesh *meshes[] = {make_line(), make_grid()};
    for (int s = 0; s < 4; s++) {
        for (int k = 0; k < 3; k++)
            check(meshes[0], line[k], shapes[s]);
        for (int k = 0; k < 4; k++)
            check(meshes[1], grid[k], shapes[s]);
    }
    check(meshes[1], "P()", SPMD_SCALAR);
    spmd_mesh_free(&meshes[0]);
    spmd_mesh_free(&meshes[1]);
}

static void check_zeros(spmd_mesh *mesh, const char *spec, spmd_shape shape)
{
    for (int t = 0; t < DTYPES; t++) {
        spmd_array *array = NULL;
        EXPECT_OK(spmd_array_zeros(mesh, spec, dtypes[t], shape, &array));
        expect_place(array, spec, dtypes[t], shape);
        const spmd_block *block = spmd_array_block(array);
        const char *bytes = block->data;
        size_t size = (size_t)spmd_block_size(block) * spmd_dtype_size(dtypes[t]), nonzero = 0;
        for (size_t i = 0; i < size; i++)
            nonzero += bytes[i] != 0;
        EXPECT(nonzero == 0);
        spmd_array_free(&array);
    }
}

static void zeros_lie_as_their_spec_says(void)
{
    for_all_places(check_zeros);
}

static void check_full(spmd_mesh *mesh, const char *spec, spmd_shape shape)
{
    const double value[2] = {0.5, -3};
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_full(mesh, spec, SPMD_C128, shape, value, &array));
    expect_place(array, spec, SPMD_C128, shape);
    const double *pair = spmd_array_block(array)->data;
    for (int64_t i = 0; i < spmd_block_size(spmd_array_block(array)); i++, pair += 2)
        EXPECT(pair[0] == 0.5 && pair[1] == -3);
    spmd_array_free(&array);
}

static void full_of_one_value(void)
{
    for_all_places(check_full);
}

static void check_arange(spmd_mesh *mesh, const char *spec, spmd_shape shape)
{
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_arange(mesh, spec, SPMD_I64, shape, &array));
    expect_place(array, spec, SPMD_I64, shape);
    const spmd_block *block = spmd_array_block(array);
    for (int64_t i = 0; i < spmd_block_size(block); i++)
        EXPECT(((int64_t *)block->data)[i] == global_index(block, i));
    spmd_array_free(&array);
}

static void arange_counts_row_major(void)
{
    for_all_places(check_arange);
}

/* Element `index` of a type, written the obvious way; false where this test does not know how. */
static bool write_index(spmd_dtype dtype, int64_t index, void *out)
{
    switch (dtype) {
    case SPMD_BOOL:
        return *(bool *)out = index != 0, true;
    case SPMD_I8:
    case SPMD_U8:
        return *(uint8_t *)out = (uint8_t)index, true;
    case SPMD_I16:
    case SPMD_U16:
        return *(uint16_t *)out = (uint16_t)index, true;
    case SPMD_I32:
    case SPMD_U32:
        return *(uint32_t *)out = (uint32_t)index, true;
    case SPMD_I64:
    case SPMD_U64:
        return *(int64_t *)out = index, true;
    case SPMD_F32:
        return *(float *)out = (float)index, true;
    case SPMD_F64:
        return *(double *)out = (double)index, true;
    case SPMD_C64:
        return memcpy(out, (float[]){(float)index, 0}, sizeof(float[2])), true;
    case SPMD_C128:
        return memcpy(out, (double[]){(double)index, 0}, sizeof(double[2])), true;
    default:
        return false;
    }
}

static void arange_converts_and_wraps(void)
{
    spmd_mesh *mesh = make_line();
    for (int t = 0; t < DTYPES; t++) {
        spmd_array *array = NULL;
        EXPECT_OK(spmd_array_arange(mesh, "P(x)", dtypes[t], SPMD_SHAPE(70001), &array));
        const spmd_block *block = spmd_array_block(array);
        size_t size = spmd_dtype_size(dtypes[t]);
        int64_t wrong = 0;
        char expected[16];
        for (int64_t i = 0; i < spmd_block_size(block); i++)
            if (write_index(dtypes[t], block->offset[0] + i, expected))
                wrong += memcmp((char *)block->data + (size_t)i * size, expected, size) != 0;
        EXPECT(wrong == 0);
        spmd_array_free(&array);
    }
    spmd_mesh_free(&mesh);
}

static void arange_of_halves(void)
{
    const uint16_t f16[] = {0, 0x3c00, 0x4000, 0x4200}, bf16[] = {0, 0x3f80, 0x4000, 0x4040};
    spmd_mesh *mesh = make_line();
    spmd_array *a = NULL, *b = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P()", SPMD_F16, SPMD_SHAPE(4), &a));
    EXPECT_OK(spmd_array_arange(mesh, "P()", SPMD_BF16, SPMD_SHAPE(2, 2), &b));
    EXPECT(memcmp(spmd_array_block(a)->data, f16, sizeof f16) == 0);
    EXPECT(memcmp(spmd_array_block(b)->data, bf16, sizeof bf16) == 0);
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_mesh_free(&mesh);
}

/* Fills with the first index of each row, and counts its calls. */
static spmd_status fill_rows(const spmd_box *box, void *data, void *calls)
{
    spmd_shape shape = spmd_box_shape(box);
    int32_t *at = data;
    for (int64_t i = box->lo[0]; i < box->hi[0]; i++)
        for (int64_t j = 0; j < spmd_box_size(box) / shape.dim[0]; j++)
            *at++ = (int32_t)i;
    ++*(int *)calls;
    return SPMD_OK;
}

static void check_callback(spmd_mesh *mesh, const char *spec, spmd_shape shape)
{
    spmd_array *array = NULL;
    int calls = 0;
    if (shape.ndim == 0)
        return;
    EXPECT_OK(spmd_array_from_callback(mesh, spec, SPMD_I32, shape, fill_rows, &calls, &array));
    expect_place(array, spec, SPMD_I32, shape);
    const spmd_block *block = spmd_array_block(array);
    int64_t size = spmd_block_size(block);
    EXPECT(calls == (size > 0));
    for (int64_t i = 0; i < size; i++)
        EXPECT(((int32_t *)block->data)[i] == block->offset[0] + i / (size / block->shape[0]));
    spmd_array_free(&array);
}

static void callbacks_fill_the_box_they_are_asked_for(void)
{
    for_all_places(check_callback);
}

/* The block that this rank has of an arange, as local data of a new array. */
static void check_local(spmd_mesh *mesh, const char *spec, spmd_shape shape)
{
    spmd_array *source = NULL, *array = NULL;
    EXPECT_OK(spmd_array_arange(mesh, spec, SPMD_I64, shape, &source));
    const spmd_block *block = spmd_array_block(source);
    EXPECT_OK(
        spmd_array_from_local(mesh, spec, SPMD_I64, spmd_block_shape(block), block->data, &array));
    expect_place(array, spec, SPMD_I64, shape);
    const spmd_block *copy = spmd_array_block(array);
    EXPECT(copy->data != block->data);
    EXPECT(memcmp(copy->data, block->data, sizeof(int64_t) * (size_t)spmd_block_size(block)) == 0);
    spmd_array_free(&source);
    spmd_array_free(&array);
}

static void local_blocks_make_an_array(void)
{
    for_all_places(check_local);
}

static void local_blocks_must_add_up(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = NULL;
    const float data[12] = {0};
    int last = test_size - 1;
    /* The last part is never the longest of an uneven dimension. */
    spmd_status status = spmd_array_from_local(mesh, "P(x)", SPMD_F32,
                                               SPMD_SHAPE(is_last_of_many() ? 3 : 2), data, &array);
    if (test_size == 1) {
        EXPECT_OK(status);
    } else {
        EXPECT_FAILS(status, SPMD_ERR_SHAPE, "the blocks add up to");
        EXPECT(array == NULL);
    }
    spmd_array_free(&array);
    status = spmd_array_from_local(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(2, is_last_of_many() ? 3 : 4),
                                   data, &array);
    if (test_size == 1)
        EXPECT_OK(status);
    else
        EXPECT_FAILS(status, SPMD_ERR_SHAPE,
                     from_rank(last,
                               "P(x) does not split dim 1 of 2, so all blocks are alike there, but "
                               "position 0 has 4 and position"));
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static void local_blocks_of_other_types_disagree(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = NULL;
    const int64_t data[4] = {0};
    bool odd = is_last_of_many();
    expect_disagreement(spmd_array_from_local(mesh, "P(x)", odd ? SPMD_U64 : SPMD_I64,
                                              SPMD_SHAPE(4), data, &array));
    spmd_array_free(&array);
    expect_disagreement(spmd_array_from_local(
        mesh, "P(x)", SPMD_I64, odd ? SPMD_SHAPE(4, 1) : SPMD_SHAPE(4), data, &array));
    spmd_array_free(&array);
    EXPECT_FAILS(spmd_array_from_local(mesh, "P(x)", SPMD_I64, SPMD_SHAPE(4),
                                       test_rank == test_size - 1 ? NULL : data, &array),
                 SPMD_ERR_ARGUMENT, from_rank(test_size - 1, "a block of 4 elements has no data"));
    EXPECT_OK(spmd_array_from_local(mesh, "P(x)", SPMD_I64, SPMD_SHAPE(0), NULL, &array));
    EXPECT(has_type(array, "i64[0@x]"));
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static void types_are_described(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *array = NULL;
    char text[40];
    EXPECT_OK(spmd_array_zeros(mesh, "P((x,y),-)", SPMD_BF16, SPMD_SHAPE(8, 3, 1), &array));
    int length = spmd_array_format(text, sizeof text, array);
    EXPECT(strcmp(text, "bf16[8@(x,y),3,1]") == 0 && length == (int)strlen(text));
    EXPECT(spmd_array_format(NULL, 0, array) == length);
    EXPECT(spmd_array_format(text, 5, array) == length && strcmp(text, "bf16") == 0);
    spmd_array_free(&array);
    EXPECT_OK(spmd_array_zeros(mesh, "P()", SPMD_BOOL, SPMD_SCALAR, &array));
    EXPECT(has_type(array, "bool[]"));
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

/* Extents that would not fit together if none of them were 0. */
static void empty_arrays_may_have_huge_extents(void)
{
    static const char *const specs[] = {"P()", "P(x)", "P(-,x)", "P(-,-,x)"};
    const int64_t huge = INT64_C(1) << 40;
    spmd_mesh *mesh = make_line();
    for (int s = 0; s < 4; s++) {
        spmd_array *array = NULL, *again = NULL;
        spmd_shape shape = SPMD_SHAPE(huge, 0, huge, huge);
        EXPECT_OK(spmd_array_arange(mesh, specs[s], SPMD_F64, shape, &array));
        EXPECT(spmd_block_size(spmd_array_block(array)) == 0);
        EXPECT_OK(spmd_array_from_local(mesh, specs[s], SPMD_F64,
                                        spmd_block_shape(spmd_array_block(array)), NULL, &again));
        EXPECT(spmd_shape_equal(spmd_array_shape(again), shape));
        spmd_array_free(&again);
        EXPECT_OK(spmd_reshard(array, "P(-,-,-,x)", &again));
        EXPECT_OK(spmd_array_gather(again, SPMD_ALL, NULL, 0));
        spmd_array_free(&array);
        spmd_array_free(&again);
    }
    spmd_mesh_free(&mesh);
}

static void holds_are_counted(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = NULL, *none = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P()", SPMD_I32, SPMD_SHAPE(3), &array));
    spmd_mesh_free(&mesh);
    spmd_array *again = spmd_array_hold(array);
    EXPECT(again == array);
    spmd_array_free(&array);
    EXPECT(array == NULL);
    EXPECT(((int32_t *)spmd_array_block(again)->data)[2] == 2);
    spmd_array_free(&again);
    spmd_array_free(&none);
}

static void blocks_may_be_written_by_their_maker(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = NULL;
    int32_t sums[3];
    EXPECT_OK(spmd_array_zeros(mesh, "P(-, x)", SPMD_I32, SPMD_SHAPE(3, 5), &array));
    const spmd_block *block = spmd_array_block(array);
    int32_t *at = block->data;
    for (int64_t i = 0; i < spmd_block_size(block); i++)
        at[i] =
            10 * (int32_t)(i / block->shape[1]) + (int32_t)(block->offset[1] + i % block->shape[1]);
    int32_t host[15] = {0};
    EXPECT_OK(spmd_array_gather(array, SPMD_ALL, host, 15));
    for (int i = 0; i < 3; i++) {
        sums[i] = 0;
        for (int j = 0; j < 5; j++)
            sums[i] += host[5 * i + j];
        EXPECT(sums[i] == 50 * i + 10);
    }
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static void ranks_agree_on_the_value(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = NULL;
    int32_t value = is_last_of_many() ? 2 : 1;
    expect_disagreement(spmd_array_full(mesh, "P()", SPMD_I32, SPMD_SHAPE(3), &value, &array));
    spmd_array_free(&array);
    EXPECT_FAILS(spmd_array_zeros(mesh, "P()", SPMD_I32, SPMD_SHAPE(3),
                                  test_rank == test_size - 1 ? NULL : &array),
                 SPMD_ERR_ARGUMENT, "no place for the new array");
    EXPECT(array == NULL);
    spmd_mesh_free(&mesh);
}

static void wrong_types_are_refused(void)
{
    spmd_mesh *mesh = make_line(), *abstract = NULL;
    spmd_array *array = NULL;
    const spmd_shape shape = SPMD_SHAPE(4), negative = SPMD_SHAPE(4, -1);
    const spmd_shape huge = SPMD_SHAPE(INT64_C(1) << 40, INT64_C(1) << 40);
    EXPECT_FAILS(spmd_array_zeros(NULL, "P()", SPMD_F32, shape, &array), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_array_zeros(mesh, "P(q)", SPMD_F32, shape, &array), SPMD_ERR_SPEC,
                 "no axis q; name one of its own");
    EXPECT_FAILS(spmd_array_zeros(mesh, "P(x,x)", SPMD_F32, SPMD_SHAPE(4, 4), &array),
                 SPMD_ERR_SPEC, "x");
    EXPECT_FAILS(spmd_array_zeros(mesh, "P(x", SPMD_F32, shape, &array), SPMD_ERR_SYNTAX, "P(x");
    EXPECT_FAILS(spmd_array_zeros(mesh, NULL, SPMD_F32, shape, &array), SPMD_ERR_ARGUMENT, "spec");
    EXPECT_FAILS(spmd_array_zeros(mesh, "P(x,-)", SPMD_F32, shape, &array), SPMD_ERR_SPEC,
                 "the spec has 2 entries, the array 1 dimension");
    EXPECT_FAILS(spmd_array_zeros(mesh, "P(x)", SPMD_F32, SPMD_SCALAR, &array), SPMD_ERR_SPEC,
                 "use P() for a scalar");
    EXPECT_FAILS(spmd_array_zeros(mesh, "P(x)", SPMD_DTYPE_NONE, shape, &array), SPMD_ERR_DTYPE,
                 "0 is no element type");
    EXPECT_FAILS(spmd_array_zeros(mesh, "P(x)", SPMD_F32, negative, &array), SPMD_ERR_SHAPE,
                 "dim 1 of 2 has the negative size -1");
    EXPECT_FAILS(spmd_array_zeros(mesh, "P(x)", SPMD_F32, huge, &array), SPMD_ERR_SHAPE, "2^63");
    EXPECT_FAILS(spmd_array_full(mesh, "P(x)", SPMD_F32, shape, NULL, &array), SPMD_ERR_ARGUMENT,
                 "NULL");
    EXPECT_FAILS(spmd_array_from_callback(mesh, "P(x)", SPMD_F32, shape, NULL, NULL, &array),
                 SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_array_from_local(NULL, "P(x)", SPMD_F32, shape, &shape, &array),
                 SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_array_from_local(mesh, "P(x)", SPMD_DTYPE_NONE, shape, &shape, &array),
                 SPMD_ERR_DTYPE, "0 is no element type");
    EXPECT_OK(spmd_mesh_create_abstract("x=4", &abstract));
    EXPECT_FAILS(spmd_array_zeros(abstract, "P(x)", SPMD_F32, shape, &array), SPMD_ERR_MESH,
                 "abstract");
    EXPECT_FAILS(spmd_array_from_local(abstract, "P(x)", SPMD_F32, shape, &shape, &array),
                 SPMD_ERR_MESH, "abstract");
    EXPECT(array == NULL);
    spmd_mesh_free(&abstract);
    spmd_mesh_free(&mesh);
}

static void strict_meshes_want_even_parts(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = NULL;
    const float data[2] = {0};
    spmd_shape even = SPMD_SHAPE(2 * test_size, 3), uneven = SPMD_SHAPE(2 * test_size + 1, 3);
    spmd_mesh_set_strict(mesh, true);
    EXPECT_OK(spmd_array_zeros(mesh, "P(x)", SPMD_F32, even, &array));
    spmd_array_free(&array);
    spmd_status made = spmd_array_arange(mesh, "P(x)", SPMD_F32, uneven, &array);
    spmd_array_free(&array);
    if (test_size == 1)
        EXPECT_OK(made);
    else
        EXPECT_FAILS(made, SPMD_ERR_SPEC, "strict");
    spmd_status local = spmd_array_from_local(mesh, "P(x)", SPMD_F32,
                                              SPMD_SHAPE(test_rank == 0 ? 2 : 1), data, &array);
    spmd_array_free(&array);
    if (test_size == 1)
        EXPECT_OK(local);
    else
        EXPECT_FAILS(local, SPMD_ERR_SPEC, "strict");
    spmd_mesh_set_strict(mesh, false);
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_F32, uneven, &array));
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static void idle_ranks_get_arrays_without_blocks(void)
{
    spmd_mesh *mesh = make_shorter_line();
    spmd_array *arrays[4] = {NULL};
    const int32_t value = 7;
    int calls = 0;
    bool idle = is_idle(mesh);
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(9), &arrays[0]));
    EXPECT_OK(spmd_array_full(mesh, "P()", SPMD_I32, SPMD_SHAPE(9), &value, &arrays[1]));
    EXPECT_OK(spmd_array_from_callback(mesh, "P()", SPMD_I32, SPMD_SHAPE(9), fill_rows, &calls,
                                       &arrays[2]));
    EXPECT(calls == !idle);
    EXPECT_OK(spmd_array_from_local(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(idle ? 5 : 1),
                                    idle ? NULL : &value, &arrays[3]));
    for (int k = 0; k < 4; k++) {
        EXPECT((spmd_array_block(arrays[k]) == NULL) == idle);
        EXPECT(spmd_array_dtype(arrays[k]) == SPMD_I32);
        EXPECT(spmd_array_shape(arrays[k]).ndim == 1);
    }
    EXPECT(spmd_array_shape(arrays[0]).dim[0] == 9);
    EXPECT(spmd_array_shape(arrays[3]).dim[0] == (idle ? -1 : spmd_mesh_size(mesh)));
    for (int k = 0; k < 4; k++)
        spmd_array_free(&arrays[k]);
    spmd_mesh_free(&mesh);
}

static void ranks_that_hold_nothing_are_noted_once(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *arrays[4] = {NULL};
    char text[500], note[100];
    struct caught caught = catch_stderr();
    spmd_status status[4] = {
        spmd_array_zeros(mesh, "P()", SPMD_F32, SPMD_SHAPE(1), &arrays[0]),
        spmd_array_zeros(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(0), &arrays[1]),
        spmd_array_zeros(mesh, "P(-,x)", SPMD_F32, SPMD_SHAPE(3, 1), &arrays[2]),
        spmd_array_zeros(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(1), &arrays[3]),
    };
    release_stderr(&caught, text, sizeof text);
    snprintf(note, sizeof note, "spmd: note: f32[3,1@x]: %d of %d ranks hold nothing\n",
             test_size - 1, test_size);
    EXPECT(strcmp(text, test_rank == 0 && test_size > 1 ? note : "") == 0);
    for (int k = 0; k < 4; k++) {
        EXPECT_OK(status[k]);
        spmd_array_free(&arrays[k]);
    }
    spmd_mesh_free(&mesh);
}

static void quiet_meshes_note_nothing(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = NULL;
    char text[500];
    spmd_mesh_set_quiet(mesh, true);
    struct caught caught = catch_stderr();
    spmd_status status = spmd_array_zeros(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(1), &array);
    release_stderr(&caught, text, sizeof text);
    EXPECT_OK(status);
    EXPECT(text[0] == '\0');
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("array", CASE(zeros_lie_as_their_spec_says), CASE(full_of_one_value),
             CASE(arange_counts_row_major), CASE(arange_converts_and_wraps), CASE(arange_of_halves),
             CASE(callbacks_fill_the_box_they_are_asked_for), CASE(local_blocks_make_an_array),
             CASE(local_blocks_must_add_up), CASE(local_blocks_of_other_types_disagree),
             CASE(types_are_described), CASE(empty_arrays_may_have_huge_extents),
             CASE(holds_are_counted), CASE(blocks_may_be_written_by_their_maker),
             CASE(ranks_agree_on_the_value), CASE(wrong_types_are_refused),
             CASE(strict_meshes_want_even_parts), CASE(idle_ranks_get_arrays_without_blocks),
             CASE(ranks_that_hold_nothing_are_noted_once), CASE(quiet_meshes_note_nothing))
