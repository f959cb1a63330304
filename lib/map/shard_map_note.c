/* map/shard_map_note.c - the note on an input that is resharded at each call. */
#include "core/hash.h"
#include "core/place.h"
#include "core/tell.h"
#include "core/traffic.h"
#include "map/shard_map.h"

/* Of the place in the program, the input, its type, and its way. Where no place is recorded the
 * body stands for it. */
static uint64_t key_of(const spmd_shard_map_call *call, int index, const spmd_array *array)
{
    struct place place = spmd__place();
    uint64_t words[] = {
        (uint64_t)(uintptr_t)place.file,
        (uint64_t)place.line,
        (uint64_t)(uintptr_t)call->body,
        (uint64_t)index,
        spmd__array_digest(array->sharding, array->dtype, array->shape),
        spmd__array_digest(call->input[index].wanted, array->dtype, array->shape),
    };
    return spmd__hash(0, words, sizeof words);
}

/* ", 128 MiB over all ranks each time"; nothing where that is not known, or is a sum. */
static void print_amount(struct text *text, const spmd_array *array, const spmd_sharding *to)
{
    const struct spec *from = &array->sharding->spec;
    struct route route = spmd__route_within(&to->mesh->axes, from, &to->spec, array->shape);
    struct traffic traffic;
    double most;
    if (from->unreduced || !spmd__traffic_total(&route, &traffic, &most))
        return;
    spmd__text_add(text, ", ");
    spmd__text_add_bytes(text, traffic.received * (double)spmd_dtype_size(array->dtype));
    spmd__text_add(text, " over all ranks each time");
}

static void print_note(const spmd_shard_map_call *call, int index, const spmd_array *array)
{
    const spmd_sharding *from = array->sharding, *to = call->input[index].wanted;
    char place[256], type[256], old[256], wanted[256], amount[64];
    struct text text = spmd__text_begin(place, sizeof place);
    struct text moved = spmd__text_begin(amount, sizeof amount);
    if (!spmd__place_print_call(&text, spmd__place()))
        spmd__text_add(&text, "a shard_map");
    print_amount(&moved, array, to);
    spmd_array_format(type, sizeof type, array);
    spmd_sharding_format(old, sizeof old, from);
    spmd_sharding_format(wanted, sizeof wanted, to);
    spmd__tell_note("%s: %s, %s, is resharded from %s to %s again%s: place it so once, by "
                    "spmd_reshard before the loop",
                    place, spmd__argument(&call->names, INPUT, index).text, type, old, wanted,
                    amount);
}

void spmd__inputs_note(const spmd_shard_map_call *call, const spmd_array *array, int index)
{
    spmd_mesh *root = spmd__mesh_root(call->mesh);
    if (root->position == 0 && !root->quiet &&
        spmd__repeats_second(&root->resharded, key_of(call, index, array)))
        print_note(call, index, array);
}
