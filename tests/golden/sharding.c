/* sharding.c - golden cases of kinds sharding, sharding_error and equivalence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"

int64_t sharding_ranks(const cJSON *test)
{
    const cJSON *iota = cJSON_GetObjectItemCaseSensitive(test, "iota_local");
    return cJSON_IsArray(iota) ? mesh_size_of(test) : 1;
}

/* An item of a list for each position; NULL where nothing was recorded. */
static const cJSON *item_of(const cJSON *test, const char *name, int64_t position)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(test, name);
    const cJSON *item = cJSON_IsArray(list) ? cJSON_GetArrayItem(list, (int)position) : NULL;
    return cJSON_IsNull(item) ? NULL : item;
}

/* Compares a box with a list of [start, stop]. */
static void expect_box(struct verdict *verdict, const cJSON *ranges, int64_t position,
                       const spmd_box *got)
{
    int dim = 0;
    for (const cJSON *range = first_of(ranges); range; range = range->next, dim++) {
        int64_t lo = 0, hi = 0;
        bool read = integer_of(cJSON_GetArrayItem(range, 0), &lo) &&
                    integer_of(cJSON_GetArrayItem(range, 1), &hi);
        if (!read || dim >= got->ndim || lo != got->lo[dim] || hi != got->hi[dim]) {
            failed(verdict, "expected indices[%lld] of dim %d [%lld, %lld], got [%lld, %lld]",
                   (long long)position, dim, (long long)lo, (long long)hi,
                   (long long)(dim < got->ndim ? got->lo[dim] : 0),
                   (long long)(dim < got->ndim ? got->hi[dim] : 0));
            return;
        }
    }
    if (dim != got->ndim)
        failed(verdict, "expected indices[%lld] of %d dims, got %d", (long long)position, dim,
               got->ndim);
}

/* What every rank can tell about every position. */
static void expect_positions(const cJSON *test, struct verdict *verdict,
                             const spmd_sharding *sharding, spmd_shape global, spmd_box boxes[])
{
    spmd_shape expected = {0}, shape = {0};
    if (!read_shape(test, "shard_shape", verdict, &expected) ||
        !succeeded(verdict, spmd_sharding_indices_map(sharding, global, boxes)))
        return;
    for (int64_t position = 0; position < mesh_size_of(test); position++) {
        spmd_box box = {0};
        if (!succeeded(verdict, spmd_sharding_shard_shape(sharding, global, position, &shape)) ||
            !succeeded(verdict, spmd_sharding_box(sharding, global, position, &box)))
            return;
        expect_shape(verdict, "shard_shape", expected, shape);
        expect_box(verdict, item_of(test, "indices", position), position, &box);
        expect_box(verdict, item_of(test, "indices", position), position, &boxes[position]);
        const cJSON *replica = item_of(test, "replica_id", position);
        int64_t got = spmd_sharding_replica(sharding, position);
        if (replica && replica->valueint != got)
            failed(verdict, "expected replica_id[%lld] %d, got %lld", (long long)position,
                   replica->valueint, (long long)got);
    }
}

/* The block of this rank of an array that counts its elements. */
static void expect_iota(const cJSON *test, struct verdict *verdict, spmd_mesh *mesh,
                        const char *spec, spmd_shape global)
{
    spmd_array *array = NULL;
    if (!succeeded(verdict, spmd_array_arange(mesh, spec, SPMD_I64, global, &array)))
        return;
    const spmd_block *block = spmd_array_block(array);
    if (block) {
        const cJSON *list = item_of(test, "iota_local", spmd_mesh_position(mesh));
        char what[40];
        snprintf(what, sizeof what, "iota_local[%lld]", (long long)spmd_mesh_position(mesh));
        if (list)
            expect_elements(verdict, what, list, SPMD_I64, block->data, spmd_block_size(block), 0);
    }
    spmd_array_free(&array);
}

void run_sharding(const cJSON *test, struct verdict *verdict)
{
    char spec[SPEC_BYTES];
    spmd_shape global = {0};
    spmd_mesh *mesh = NULL;
    spmd_sharding *sharding = NULL;
    const cJSON *replicated = NULL, *iota = NULL;
    if (!read_spec(test, "spec", verdict, spec) || !read_shape(test, "shape", verdict, &global) ||
        !read_field(test, "fully_replicated", verdict, &replicated) ||
        !read_field(test, "iota_local", verdict, &iota))
        return;
    bool has_array = cJSON_IsArray(iota);
    if (!(has_array ? read_mesh : read_abstract_mesh)(test, verdict, &mesh))
        return;
    spmd_box *boxes = allocate(verdict, mesh_size_of(test), sizeof *boxes);
    if (boxes && succeeded(verdict, spmd_sharding_create(mesh, spec, &sharding))) {
        expect_positions(test, verdict, sharding, global, boxes);
        bool got = spmd_sharding_is_fully_replicated(sharding);
        if (got != (bool)cJSON_IsTrue(replicated))
            failed(verdict, "expected fully_replicated %s, got %s", got ? "false" : "true",
                   got ? "true" : "false");
    }
    if (has_array)
        expect_iota(test, verdict, mesh, spec, global);
    free(boxes);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
}

/* Whether an array of this shape may lie so. */
static spmd_status place(spmd_mesh *mesh, const char *spec, spmd_shape shape)
{
    spmd_sharding *sharding = NULL;
    SPMD_TRY(spmd_sharding_create(mesh, spec, &sharding));
    spmd_status status = spmd_sharding_check(sharding, shape);
    spmd_sharding_free(&sharding);
    return status;
}

static void expect_refusal(struct verdict *verdict, const char *mode, bool expected,
                           spmd_status got)
{
    if (expected && got == SPMD_OK)
        failed(verdict, "expected an error %s, got success", mode);
    if (!expected && got != SPMD_OK)
        failed(verdict, "expected success %s, got %s: %s", mode, spmd_status_name(got),
               spmd_error_message());
}

void run_sharding_error(const cJSON *test, struct verdict *verdict)
{
    char spec[SPEC_BYTES];
    spmd_shape shape = {0};
    spmd_mesh *mesh = NULL;
    const cJSON *rejects = NULL;
    if (!read_spec(test, "spec", verdict, spec) || !read_shape(test, "shape", verdict, &shape) ||
        !read_field(test, "jax_rejects", verdict, &rejects) ||
        !read_abstract_mesh(test, verdict, &mesh))
        return;
    const cJSON *entries = cJSON_GetObjectItemCaseSensitive(test, "spec");
    bool only_uneven = spec_is_sound(test, entries, shape.ndim);
    bool rejected = cJSON_IsTrue(rejects);
    spmd_mesh_set_strict(mesh, false);
    expect_refusal(verdict, "by default", rejected && !only_uneven, place(mesh, spec, shape));
    spmd_mesh_set_strict(mesh, true);
    expect_refusal(verdict, "in strict mode", rejected, place(mesh, spec, shape));
    spmd_mesh_free(&mesh);
}

void run_equivalence(const cJSON *test, struct verdict *verdict)
{
    char left[SPEC_BYTES], right[SPEC_BYTES];
    int64_t ndim = 0;
    const cJSON *equivalent = NULL;
    spmd_mesh *mesh = NULL;
    if (!read_spec(test, "a", verdict, left) || !read_spec(test, "b", verdict, right) ||
        !read_integer(test, "ndim", verdict, &ndim) ||
        !read_field(test, "equivalent", verdict, &equivalent) ||
        !read_abstract_mesh(test, verdict, &mesh))
        return;
    spmd_sharding *a = NULL, *b = NULL;
    if (succeeded(verdict, spmd_sharding_create(mesh, left, &a)) &&
        succeeded(verdict, spmd_sharding_create(mesh, right, &b))) {
        bool expected = cJSON_IsTrue(equivalent);
        bool got = spmd_sharding_is_equivalent(a, b, (int)ndim);
        bool back = spmd_sharding_is_equivalent(b, a, (int)ndim);
        if (got != expected || back != expected)
            failed(verdict, "expected %s and %s %sequivalent, got the opposite%s", left, right,
                   expected ? "" : "not ", got == back ? "" : " in one order");
    }
    spmd_sharding_free(&a);
    spmd_sharding_free(&b);
    spmd_mesh_free(&mesh);
}
