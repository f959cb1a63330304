/* core/layout.c - axes + spec + shape -> who holds what. */
#include "core/layout.h"

#include "core/error.h"
#include "core/shape.h"

void spmd__layout_split(int64_t parts, int64_t index, int64_t *lo, int64_t *hi)
{
    int64_t size = *hi - *lo, each = size / parts, longer = size % parts;
    *lo += index * each + (index < longer ? index : longer);
    *hi = *lo + each + (index < longer ? 1 : 0);
}

int64_t spmd__layout_part(int64_t parts, int64_t lo, int64_t hi, int64_t at)
{
    int64_t size = hi - lo, each = size / parts, longer = size % parts;
    int64_t in_longer = longer * each + longer; /* of the longer parts, which come first */
    if (at - lo < in_longer)
        return (at - lo) / (each + 1);
    return longer + (at - lo - in_longer) / each;
}

/* "P(x, -) on mesh x=4,y=2", for a message. */
struct layout_text {
    char text[512];
};

static struct layout_text text_of(const struct axes *axes, const struct spec *spec)
{
    struct layout_text buffer;
    struct text text = spmd__text_begin(buffer.text, sizeof buffer.text);
    spmd__spec_print(&text, axes, spec);
    spmd__text_add(&text, " on mesh ");
    spmd__axes_print(&text, axes);
    return buffer;
}

/* What `n`, which `parts` do not divide, could be instead: the next multiple, or the one before
 * where there is none in 63 bits. */
static int64_t next_multiple(int64_t n, int64_t parts)
{
    int64_t before = n / parts * parts;
    return before > INT64_MAX - parts ? before : before + parts;
}

static spmd_status check_divides(const struct axes *axes, const struct spec *spec, spmd_shape shape,
                                 int dim)
{
    struct axis_list entry = spmd__spec_entry(spec, dim);
    int64_t parts = spmd__axis_list_size(axes, &entry), n = shape.dim[dim];
    if (n % parts == 0)
        return SPMD_OK;
    char buffer[256];
    struct text names = spmd__text_begin(buffer, sizeof buffer);
    spmd__axis_list_print(&names, axes, &entry);
    return spmd_fail(SPMD_ERR_SPEC,
                     "%s: dim %d of %d has size %lld, which the %lld parts along %s do not "
                     "divide, and the mesh is strict: make it %lld, split another dim, or leave "
                     "strict mode",
                     text_of(axes, spec).text, dim, shape.ndim, (long long)n, (long long)parts,
                     buffer, (long long)next_multiple(n, parts));
}

spmd_status spmd__layout_check(const struct axes *axes, const struct spec *spec, spmd_shape shape,
                               bool strict)
{
    TRY(spmd__shape_check(shape));
    if (spec->ndim > shape.ndim)
        return spmd_fail(SPMD_ERR_SPEC, "%s: the spec has %d entr%s, the array %d dimension%s; %s",
                         text_of(axes, spec).text, spec->ndim, spec->ndim == 1 ? "y" : "ies",
                         shape.ndim, shape.ndim == 1 ? "" : "s",
                         shape.ndim == 0 ? "use P() for a scalar"
                                         : "drop the last ones, or give the array more dimensions");
    if (spec->open)
        return spmd_fail(SPMD_ERR_SPEC,
                         "%s: an array needs an axis or - for each dimension, ? leaves it open",
                         text_of(axes, spec).text);
    for (int d = 0; strict && d < spec->ndim; d++)
        TRY(check_divides(axes, spec, shape, d));
    return SPMD_OK;
}

/* Splits [lo, hi), all of dimension `dim`, along the axes of its entry. */
static void split_entry(const struct axes *axes, const struct spec *spec, int dim,
                        const int64_t coordinates[], int64_t *lo, int64_t *hi)
{
    for (int i = spec->first[dim]; i < spec->first[dim + 1]; i++)
        spmd__layout_split(axes->size[spec->axis[i]], coordinates[spec->axis[i]], lo, hi);
}

void spmd__layout_range(const struct axes *axes, const struct spec *spec, int dim, int64_t n,
                        int64_t position, int64_t *lo, int64_t *hi)
{
    *lo = 0;
    *hi = n;
    if (dim >= spec->ndim)
        return;
    struct axis_list entry = spmd__spec_entry(spec, dim);
    int64_t coordinates[SPMD_MAX_AXES];
    spmd__axes_coordinates_along(axes, spmd__axis_list_mask(&entry), position, coordinates);
    split_entry(axes, spec, dim, coordinates, lo, hi);
}

void spmd__layout_ranges(const struct axes *axes, const struct spec *spec, const spmd_shape *shape,
                         int64_t position, int64_t lo[], int64_t hi[])
{
    int64_t coordinates[SPMD_MAX_AXES];
    spmd__axes_coordinates_along(axes, spmd__spec_used(spec), position, coordinates);
    for (int d = 0; d < shape->ndim; d++) {
        lo[d] = 0;
        hi[d] = shape->dim[d];
        if (d < spec->ndim)
            split_entry(axes, spec, d, coordinates, &lo[d], &hi[d]);
    }
}

spmd_box spmd__layout_box(const struct axes *axes, const struct spec *spec, spmd_shape shape,
                          int64_t position)
{
    spmd_box box = {.ndim = shape.ndim};
    spmd__layout_ranges(axes, spec, &shape, position, box.lo, box.hi);
    return box;
}

uint32_t spmd__layout_replicated(const struct axes *axes, const struct spec *spec)
{
    return spmd__axes_mask(axes) & ~spmd__spec_used(spec) & ~spec->unreduced;
}

int64_t spmd__layout_replica(const struct axes *axes, const struct spec *spec, int64_t position)
{
    uint32_t replicated = spmd__layout_replicated(axes, spec);
    int64_t coordinates[SPMD_MAX_AXES], replica = 0;
    spmd__axes_coordinates_along(axes, replicated, position, coordinates);
    for (int a = 0; replicated >> a != 0; a++)
        if (replicated >> a & 1)
            replica = replica * axes->size[a] + coordinates[a];
    return replica;
}

/* One cut of a dimension: into `parts`, the index being position / stride % parts. Two layouts
 * agree for all arrays if their cuts do; cuts into one part are none. For arrays that divide, two
 * cuts of which the second has the next finer stride are as good as one. */
struct cut {
    int64_t parts;
    int64_t stride;
};

static int64_t stride_of(const struct axes *axes, int axis)
{
    int64_t stride = 1;
    for (int a = axis + 1; a < axes->count; a++)
        stride *= axes->size[a];
    return stride;
}

static int cuts_along(const struct axes *axes, const struct axis_list *list, bool even,
                      struct cut cuts[])
{
    int count = 0;
    for (int i = 0; i < list->count; i++) {
        struct cut cut = {axes->size[list->axis[i]], stride_of(axes, list->axis[i])};
        if (cut.parts == 1)
            continue;
        if (even && count > 0 && cuts[count - 1].stride == cut.parts * cut.stride)
            cut.parts *= cuts[--count].parts;
        cuts[count++] = cut;
    }
    return count;
}

static bool same_cuts(const struct axes *a_axes, const struct axis_list *a,
                      const struct axes *b_axes, const struct axis_list *b, bool even)
{
    struct cut a_cuts[SPMD_MAX_AXES], b_cuts[SPMD_MAX_AXES];
    int count = cuts_along(a_axes, a, even, a_cuts);
    if (count != cuts_along(b_axes, b, even, b_cuts))
        return false;
    for (int i = 0; i < count; i++)
        if (a_cuts[i].parts != b_cuts[i].parts || a_cuts[i].stride != b_cuts[i].stride)
            return false;
    return true;
}

bool spmd__layout_equivalent(const struct axes *a_axes, const struct spec *a,
                             const struct axes *b_axes, const struct spec *b, int ndim, bool even)
{
    if (spmd__axes_total(a_axes) != spmd__axes_total(b_axes) || a->open != b->open)
        return false;
    for (int d = 0; d < ndim || d < a->ndim || d < b->ndim; d++) {
        struct axis_list a_entry = spmd__spec_entry(a, d), b_entry = spmd__spec_entry(b, d);
        if (!same_cuts(a_axes, &a_entry, b_axes, &b_entry, even))
            return false;
    }
    struct axis_list a_unreduced = spmd__axis_list_of_mask(a->unreduced);
    struct axis_list b_unreduced = spmd__axis_list_of_mask(b->unreduced);
    return same_cuts(a_axes, &a_unreduced, b_axes, &b_unreduced, true) &&
           (a->kind == b->kind || spmd__axis_list_size(a_axes, &a_unreduced) == 1);
}

void spmd__layout_print(struct text *text, const struct axes *axes, const struct spec *spec,
                        spmd_dtype dtype, spmd_shape shape)
{
    spmd__text_add(text, "%s[", spmd_dtype_name(dtype));
    for (int d = 0; d < shape.ndim; d++) {
        struct axis_list entry = spmd__spec_entry(spec, d);
        spmd__text_add(text, "%s%lld", d ? "," : "", (long long)shape.dim[d]);
        if (entry.count > 0) {
            spmd__text_add(text, "@");
            spmd__axis_list_print(text, axes, &entry);
        }
    }
    spmd__text_add(text, "]");
    if (spec->unreduced)
        spmd__spec_print_unreduced(text, axes, spec, "{U:");
}

void spmd__type_print(struct text *text, spmd_dtype dtype, spmd_shape shape)
{
    static const struct axes no_axes;
    static const struct spec no_spec;
    spmd__layout_print(text, &no_axes, &no_spec, dtype, shape);
}
