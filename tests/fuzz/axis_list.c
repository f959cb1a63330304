/* axis_list.c - fuzzes lists of axes, on the mesh of the input's first line. */
#include "mesh_line.h"

/* Axes of the mesh, none twice; members of a group along them are found by their index. */
static void check_list(const struct axes *axes, const struct axis_list *list)
{
    uint32_t seen = 0;
    HOLDS(list->count >= 0 && list->count <= axes->count);
    for (int i = 0; i < list->count; i++) {
        HOLDS(list->axis[i] >= 0 && list->axis[i] < axes->count);
        HOLDS((seen >> list->axis[i] & 1) == 0);
        seen |= UINT32_C(1) << list->axis[i];
    }
    int64_t total = spmd__axes_total(axes), size = spmd__axis_list_size(axes, list);
    HOLDS(size >= 1 && total % size == 0);
    int64_t last = spmd__axis_list_member(axes, list, total / 2, size - 1);
    HOLDS(last >= 0 && last < total);
    HOLDS(spmd__axis_list_index(axes, list, last) == size - 1);
    HOLDS(spmd__axis_list_member(axes, list, last, spmd__axis_list_index(axes, list, total / 2)) ==
          total / 2);
}

static void check_print(const struct axes *axes, const struct axis_list *list)
{
    char printed[1024];
    struct text text = spmd__text_begin(printed, sizeof printed);
    spmd__axis_list_print(&text, axes, list);
    HOLDS(text.length < sizeof printed && text.length == strlen(printed));
    struct axis_list again;
    HOLDS(FUZZ_PARSE(&again, spmd__axis_list_parse(printed, axes, &again)) == SPMD_OK);
    HOLDS(spmd__axis_list_equal(list, &again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct axes axes;
    const char *rest = fuzz_cut_mesh(text, &axes);
    struct axis_list list;
    spmd_status status = FUZZ_PARSE(&list, spmd__axis_list_parse(rest, &axes, &list));
    HOLDS(status == SPMD_OK || status == SPMD_ERR_SYNTAX || status == SPMD_ERR_MESH);
    if (status == SPMD_OK) {
        check_list(&axes, &list);
        check_print(&axes, &list);
    }
    free(text);
    return 0;
}
