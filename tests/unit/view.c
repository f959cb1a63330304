/* view.c - unit tests of views and of the loop that copies between them. */
#include "core/view.h"
#include "unit.h"

enum { ROOM = 4096 };

START_TEST(boxes_are_windows)
{
    int32_t data[20];
    spmd_box whole = {.ndim = 2, .lo = {10, 100}, .hi = {14, 105}};
    spmd_box part = {.ndim = 2, .lo = {11, 102}, .hi = {13, 105}};
    struct view view = spmd__view_box(data, 4, &whole, &part);
    ck_assert_ptr_eq(view.data, &data[1 * 5 + 2]);
    ck_assert_int_eq(spmd__view_size(&view), 6);
    ck_assert(view.stride[0] == 20 && view.stride[1] == 4);
    spmd_box inner = {.ndim = 2, .lo = {12, 104}, .hi = {13, 105}};
    struct view inside = spmd__view_part(&view, &part, &inner);
    ck_assert_ptr_eq(inside.data, &data[2 * 5 + 4]);
}
END_TEST

START_TEST(blocks_lie_as_they_say)
{
    double data[6];
    spmd_block block = spmd_block_borrow(data, SPMD_F64, SPMD_SHAPE(2, 3));
    block.stride[0] = 1;
    block.stride[1] = 2;
    struct view view = spmd__view_block(&block);
    ck_assert_ptr_eq(view.data, data);
    ck_assert(view.stride[0] == 8 && view.stride[1] == 16 && view.extent[1] == 3);
}
END_TEST

START_TEST(dense_views_are_known)
{
    char data[64];
    struct view dense = spmd__view_dense(data, 2, SPMD_SHAPE(2, 3, 4));
    ck_assert(spmd__view_is_dense(&dense, 2));
    ck_assert(!spmd__view_is_dense(&dense, 1));
    struct view rows = dense;
    rows.extent[0] = 1; /* what a dimension of one index has for a stride does not count */
    rows.stride[0] = -77;
    ck_assert(spmd__view_is_dense(&rows, 2));
    rows.extent[2] = 3;
    ck_assert(!spmd__view_is_dense(&rows, 2));
    rows.extent[1] = 1;
    ck_assert(spmd__view_is_dense(&rows, 2));
    struct view scalar = spmd__view_dense(data, 2, SPMD_SCALAR);
    ck_assert(spmd__view_is_dense(&scalar, 2) && spmd__view_size(&scalar) == 1);
}
END_TEST

/* The obvious copy, element by element. */
static void copy_slowly(const struct view *dst, const struct view *src, size_t element)
{
    for (int64_t i = 0; i < spmd__view_size(dst); i++) {
        char *to = dst->data, *from = src->data;
        int64_t rest = i;
        for (int d = dst->ndim - 1; d >= 0; d--) {
            to += rest % dst->extent[d] * dst->stride[d];
            from += rest % dst->extent[d] * src->stride[d];
            rest /= dst->extent[d];
        }
        memcpy(to, from, element);
    }
}

/* A view of random extents in the `room` elements at `data`, its dimensions in any order, with gaps
 * of 0 or 1 indices; the extents of `like` if there is one. */
static struct view random_view(char *data, size_t element, const struct view *like, unsigned *seed)
{
    struct view view = {.data = data};
    int order[SPMD_MAX_DIMS];
    view.ndim = like ? like->ndim : rand_r(seed) % 5;
    for (int d = 0; d < view.ndim; d++) {
        int other = rand_r(seed) % 3 == 0 ? rand_r(seed) % (d + 1) : d;
        order[d] = order[other];
        order[other] = d;
        view.extent[d] = like ? like->extent[d] : 1 + rand_r(seed) % 4;
    }
    int64_t stride = (int64_t)element;
    for (int i = view.ndim - 1; i >= 0; i--) {
        view.stride[order[i]] = stride * (rand_r(seed) % 4 == 0 ? 2 : 1);
        stride = view.stride[order[i]] * view.extent[order[i]];
    }
    ck_assert_int_le(stride, (int64_t)(ROOM * element));
    return view;
}

START_TEST(copies_equal_the_obvious_one)
{
    static const size_t elements[] = {1, 2, 4, 8, 16, 3, 24};
    static char from[ROOM * 24], fast[ROOM * 24], slow[ROOM * 24];
    unsigned seed = 11;
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (char)(i * 7 + i / 251);
    for (int i = 0; i < 3000; i++) {
        size_t element = elements[i % 7];
        struct view src = random_view(from, element, NULL, &seed);
        struct view dst = random_view(fast, element, &src, &seed), same = dst;
        memset(fast, 0x55, sizeof fast / 24 * element);
        memset(slow, 0x55, sizeof slow / 24 * element);
        same.data = slow;
        spmd__view_copy(&dst, &src, element);
        copy_slowly(&same, &src, element);
        ck_assert_msg(memcmp(fast, slow, sizeof fast / 24 * element) == 0, "case %d", i);
    }
}
END_TEST

/* A random part of a random array, brought to the array's beginning. */
START_TEST(parts_move_within_their_memory)
{
    static const size_t elements[] = {1, 2, 4, 8, 16, 3};
    static char moved[ROOM * 16], before[ROOM * 16], wanted[ROOM * 16];
    unsigned seed = 12;
    for (size_t i = 0; i < sizeof before; i++)
        before[i] = (char)(i * 7 + i / 251);
    for (int i = 0; i < 3000; i++) {
        size_t element = elements[i % 6];
        spmd_box whole = {.ndim = rand_r(&seed) % 5}, part = whole;
        for (int d = 0; d < whole.ndim; d++) {
            whole.hi[d] = 1 + rand_r(&seed) % 8;
            part.lo[d] = rand_r(&seed) % whole.hi[d];
            part.hi[d] = part.lo[d] + 1 + rand_r(&seed) % (whole.hi[d] - part.lo[d]);
        }
        spmd_shape extents = spmd_box_shape(&part);
        struct view src = spmd__view_box(before, element, &whole, &part);
        struct view dst = spmd__view_dense(wanted, element, extents);
        copy_slowly(&dst, &src, element);
        memcpy(moved, before, sizeof before);
        src = spmd__view_box(moved, element, &whole, &part);
        dst = spmd__view_dense(moved, element, extents);
        spmd__view_compact(&dst, &src, element);
        size_t bytes = (size_t)spmd_box_size(&part) * element;
        ck_assert_msg(memcmp(moved, wanted, bytes) == 0, "case %d", i);
    }
}
END_TEST

START_TEST(empty_views_copy_nothing)
{
    struct view nothing = spmd__view_dense(NULL, 8, SPMD_SHAPE(3, 0));
    spmd__view_copy(&nothing, &nothing, 8);
    spmd_box whole = spmd_box_whole(SPMD_SHAPE(3, 0));
    nothing = spmd__view_box(NULL, 8, &whole, &whole);
    ck_assert_ptr_null(nothing.data);
}
END_TEST

START_TEST(strides_may_be_negative)
{
    int16_t from[] = {1, 2, 3, 4}, to[4];
    struct view src = {(char *)&from[3], 1, {4}, {-2}};
    struct view dst = spmd__view_dense(to, 2, SPMD_SHAPE(4));
    spmd__view_copy(&dst, &src, 2);
    ck_assert(to[0] == 4 && to[1] == 3 && to[2] == 2 && to[3] == 1);
}
END_TEST

UNIT_MAIN("view", boxes_are_windows, blocks_lie_as_they_say, dense_views_are_known,
          copies_equal_the_obvious_one, parts_move_within_their_memory, empty_views_copy_nothing,
          strides_may_be_negative)
