/* spec.c - fuzzes partition specs, on the mesh of the input's first line. */
#include "core/spec.h"
#include "mesh_line.h"

/* Each axis of the mesh splits one dimension, or is unreduced, or neither. */
static void check_spec(const struct axes *axes, const struct spec *spec)
{
    uint32_t used = 0;
    HOLDS(spec->ndim >= 0 && spec->ndim <= SPMD_MAX_DIMS && spec->first[0] == 0);
    for (int d = 0; d < spec->ndim; d++) {
        HOLDS(spec->first[d + 1] >= spec->first[d] && spec->first[d + 1] <= axes->count);
        for (int i = spec->first[d]; i < spec->first[d + 1]; i++) {
            HOLDS(spec->axis[i] >= 0 && spec->axis[i] < axes->count);
            HOLDS((used >> spec->axis[i] & 1) == 0);
            used |= UINT32_C(1) << spec->axis[i];
        }
        HOLDS((spec->open >> d & 1) == 0 || spec->first[d + 1] == spec->first[d]);
    }
    HOLDS(spmd__spec_used(spec) == used);
    HOLDS((spec->unreduced & used) == 0 && (spec->unreduced & ~spmd__axes_mask(axes)) == 0);
    HOLDS(spec->open >> spec->ndim == 0);
}

static bool is_equal(const struct spec *a, const struct spec *b)
{
    if (a->ndim != b->ndim || a->open != b->open || a->unreduced != b->unreduced ||
        a->kind != b->kind)
        return false;
    for (int d = 0; d < a->ndim; d++) {
        struct axis_list entry = spmd__spec_entry(a, d), other = spmd__spec_entry(b, d);
        if (!spmd__axis_list_equal(&entry, &other))
            return false;
    }
    return true;
}

/* The canonical text reads back as the same spec, and is its own. */
static void check_print(const struct axes *axes, const struct spec *spec)
{
    char printed[2048], reprinted[2048];
    struct text text = spmd__text_begin(printed, sizeof printed);
    spmd__spec_print(&text, axes, spec);
    HOLDS(text.length < sizeof printed && text.length == strlen(printed));
    struct spec again;
    HOLDS(FUZZ_PARSE(&again, spmd__spec_parse(printed, axes, &again)) == SPMD_OK);
    HOLDS(is_equal(spec, &again));
    text = spmd__text_begin(reprinted, sizeof reprinted);
    spmd__spec_print(&text, axes, &again);
    HOLDS(strcmp(printed, reprinted) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct axes axes;
    const char *rest = fuzz_cut_mesh(text, &axes);
    struct spec spec;
    spmd_status status = FUZZ_PARSE(&spec, spmd__spec_parse(rest, &axes, &spec));
    HOLDS(status == SPMD_OK || status == SPMD_ERR_SYNTAX || status == SPMD_ERR_SPEC);
    if (status == SPMD_OK) {
        check_spec(&axes, &spec);
        check_print(&axes, &spec);
    }
    free(text);
    return 0;
}
