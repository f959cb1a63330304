/* mesh.c - fuzzes the text of meshes. */
#include <limits.h>

#include "core/axes.h"
#include "fuzz.h"

static bool is_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t length = strlen(name);
    return length > 0 && length < SPMD_MAX_NAME && strspn(name, letters) == length &&
           strspn(name, "0123456789") == 0;
}

/* Names that differ, sizes of at least 1, and a total that is their product. */
static void check_axes(const struct axes *axes)
{
    int64_t product = 1;
    HOLDS(axes->count >= 1 && axes->count <= SPMD_MAX_AXES);
    for (int a = 0; a < axes->count; a++) {
        HOLDS(is_name(axes->name[a]));
        HOLDS(spmd__axes_find(axes, axes->name[a], strlen(axes->name[a])) == a);
        HOLDS(axes->size[a] >= 1);
        HOLDS(!__builtin_mul_overflow(product, axes->size[a], &product));
    }
    HOLDS(spmd__axes_total(axes) == product);
}

static void check_position(const struct axes *axes, int64_t position)
{
    int64_t coordinates[SPMD_MAX_AXES];
    spmd__axes_coordinates(axes, position, coordinates);
    for (int a = 0; a < axes->count; a++)
        HOLDS(coordinates[a] >= 0 && coordinates[a] < axes->size[a]);
    HOLDS(spmd__axes_position(axes, coordinates) == position);
}

static void check_same(const struct axes *axes, const struct axes *again)
{
    HOLDS(spmd__axes_equal(axes, again));
    HOLDS(spmd__axes_digest(axes) == spmd__axes_digest(again));
}

/* What is printed reads back as the same mesh, and prints alike. */
static void check_print(const struct axes *axes)
{
    char printed[1024], reprinted[1024];
    struct text text = spmd__text_begin(printed, sizeof printed);
    spmd__axes_print(&text, axes);
    HOLDS(text.length < sizeof printed && text.length == strlen(printed));
    struct axes again;
    HOLDS(FUZZ_PARSE(&again, spmd__axes_parse(printed, 0, &again)) == SPMD_OK);
    check_same(axes, &again);
    text = spmd__text_begin(reprinted, sizeof reprinted);
    spmd__axes_print(&text, &again);
    HOLDS(strcmp(printed, reprinted) == 0);
}

/* Names and sizes make the same mesh. */
static void check_make(const struct axes *axes)
{
    const char *names[SPMD_MAX_AXES];
    for (int a = 0; a < axes->count; a++)
        names[a] = axes->name[a];
    struct axes made;
    HOLDS(FUZZ_PARSE(&made, spmd__axes_make(axes->count, names, axes->size, 0, &made)) == SPMD_OK);
    check_same(axes, &made);
}

static void check_text(const char *text, int64_t ranks)
{
    struct axes axes;
    spmd_status status = FUZZ_PARSE(&axes, spmd__axes_parse(text, ranks, &axes));
    HOLDS(status == SPMD_OK || status == SPMD_ERR_SYNTAX || status == SPMD_ERR_MESH);
    if (status != SPMD_OK)
        return;
    check_axes(&axes);
    int64_t total = spmd__axes_total(&axes);
    HOLDS(!strchr(text, '*') || total == ranks);
    check_position(&axes, 0);
    check_position(&axes, total / 3);
    check_position(&axes, total - 1);
    check_print(&axes);
    check_make(&axes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    check_text(text, 0);
    check_text(text, 12);
    check_text(text, INT_MAX);
    free(text);
    return 0;
}
