/* array/layout.c - a layout is checked, reckoned, and given to one of its forms. */
#include "array/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/decimal.h"
#include "core/mem.h"
#include "core/stream.h"

enum { DEFAULT_RANKS = 64 };

static spmd_status check(const spmd_layout *layout, FILE *stream)
{
    if (!layout || !layout->sharding || !stream)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a layout needs a sharding and a stream, one is NULL");
    TRY(spmd_sharding_check(layout->sharding, layout->shape));
    if (layout->dtype != SPMD_DTYPE_NONE && spmd_dtype_size(layout->dtype) == 0)
        return spmd_fail(SPMD_ERR_DTYPE, "%d is no element type", (int)layout->dtype);
    if (!layout->to)
        return SPMD_OK;
    TRY(spmd_sharding_check(layout->to, layout->shape));
    if (!spmd_mesh_equal(layout->sharding->mesh, layout->to->mesh))
        return spmd_fail(SPMD_ERR_MESH, "the two shardings of a layout lie on different meshes");
    if (layout->sharding->spec.unreduced || layout->to->spec.unreduced)
        return spmd_fail(SPMD_ERR_SPEC,
                         "two layouts are compared by the values that move; of a spec with "
                         "unreduced axes spmd_reshard_explain, and spmd reshard, tell the steps");
    return SPMD_OK;
}

static spmd_status fill_side(const struct sheet *sheet, const spmd_sharding *sharding,
                             struct side *side)
{
    struct blocks *blocks = &side->blocks;
    side->spec = &sharding->spec;
    spmd_sharding_format(side->text, sizeof side->text, sharding);
    TRY(spmd__blocks_find(sheet->axes, side->spec, sheet->shape, blocks));
    spmd_shape largest = spmd__blocks_largest(blocks), smallest = spmd__blocks_smallest(blocks);
    struct axis_list unreduced = spmd__axis_list_of_mask(side->spec->unreduced);
    side->contributions = spmd__axis_list_size(sheet->axes, &unreduced);
    side->replicas = blocks->replicas / side->contributions;
    side->idle = blocks->ranks - blocks->count * blocks->replicas;
    side->largest = (double)spmd_shape_size(largest) * sheet->unit;
    side->smallest = side->idle > 0 ? 0 : (double)spmd_shape_size(smallest) * sheet->unit;
    side->total = (double)spmd_shape_size(sheet->shape) * sheet->unit * (double)blocks->replicas;
    if (side->total > 0)
        side->balance = side->largest / (side->total / (double)blocks->ranks);
    return SPMD_OK;
}

static void fill_reshard(struct sheet *sheet)
{
    const struct spec *from = sheet->side[0].spec, *to = sheet->side[1].spec;
    sheet->route = spmd__route_within(sheet->axes, from, to, sheet->shape);
    sheet->move = spmd__move_find(sheet->axes, from, to);
    sheet->added_up = spmd__traffic_total(&sheet->route, &sheet->traffic, &sheet->most_received);
}

static spmd_status fill(const spmd_layout *layout, struct sheet *sheet)
{
    size_t element = spmd_dtype_size(layout->dtype);
    sheet->axes = &layout->sharding->mesh->axes;
    sheet->permuted = layout->sharding->mesh->ranks;
    sheet->shape = layout->shape;
    sheet->dtype = layout->dtype;
    sheet->unit = element > 0 ? (double)element : 1;
    sheet->most_ranks = layout->ranks > 0 ? layout->ranks : DEFAULT_RANKS;
    sheet->nsides = layout->to ? 2 : 1;
    TRY(fill_side(sheet, layout->sharding, &sheet->side[0]));
    if (!layout->to)
        return SPMD_OK;
    TRY(fill_side(sheet, layout->to, &sheet->side[1]));
    fill_reshard(sheet);
    return SPMD_OK;
}

static spmd_status show(const spmd_layout *layout, FILE *stream, sheet_form *form)
{
    struct sheet *sheet;
    TRY(check(layout, stream));
    TRY(spmd__alloc(1, sizeof *sheet, &sheet));
    spmd_status status = fill(layout, sheet);
    locale_t before = spmd__decimal_begin();
    errno = 0;
    if (status == SPMD_OK)
        status = form(sheet, stream);
    if (status == SPMD_OK) {
        char what[1100];
        snprintf(what, sizeof what, "the layout of %s", sheet->side[0].text);
        status = spmd__stream_finish(stream, what);
    }
    spmd__decimal_end(before);
    free(sheet);
    return status;
}

spmd_status spmd_layout_print(const spmd_layout *layout, FILE *stream)
{
    return show(layout, stream, spmd__sheet_print);
}

spmd_status spmd_layout_print_json(const spmd_layout *layout, FILE *stream)
{
    return show(layout, stream, spmd__sheet_print_json);
}

spmd_status spmd_layout_print_svg(const spmd_layout *layout, FILE *stream)
{
    return show(layout, stream, spmd__sheet_print_svg);
}

spmd_status spmd_sharding_print(const spmd_sharding *sharding, spmd_shape shape, FILE *stream)
{
    return spmd_layout_print(&(spmd_layout){.sharding = sharding, .shape = shape}, stream);
}

void spmd__sheet_print_type(struct text *text, const struct sheet *sheet, const struct side *side)
{
    char type[1024];
    struct text whole = spmd__text_begin(type, sizeof type);
    if (side)
        spmd__layout_print(&whole, sheet->axes, side->spec, sheet->dtype, sheet->shape);
    else
        spmd__type_print(&whole, sheet->dtype, sheet->shape);
    spmd__text_add(text, "%s", sheet->dtype == SPMD_DTYPE_NONE ? strchr(type, '[') : type);
}

void spmd__sheet_print_title(struct text *text, const struct sheet *sheet)
{
    const struct side *side = &sheet->side[0];
    spmd__sheet_print_type(text, sheet, sheet->nsides == 1 ? side : NULL);
    if (sheet->nsides == 1)
        spmd__text_add(text, " as %s", side->text);
    spmd__text_add(text, " on mesh ");
    spmd__axes_print(text, sheet->axes);
}

void spmd__sheet_print_amount(struct text *text, const struct sheet *sheet, double amount)
{
    if (sheet->dtype == SPMD_DTYPE_NONE)
        spmd__text_add(text, "%.0f element%s", amount, amount == 1 ? "" : "s");
    else
        spmd__text_add_bytes(text, amount);
}
