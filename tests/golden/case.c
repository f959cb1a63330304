/* case.c - reads the fields of a golden case. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"

static void settle(struct verdict *verdict, enum outcome outcome, const char *format, va_list args)
{
    if (verdict->outcome != PASSED)
        return;
    verdict->outcome = outcome;
    vsnprintf(verdict->text, sizeof verdict->text, format, args);
}

void failed(struct verdict *verdict, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    settle(verdict, FAILED, format, args);
    va_end(args);
}

void skipped(struct verdict *verdict, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    settle(verdict, SKIPPED, format, args);
    va_end(args);
}

bool succeeded(struct verdict *verdict, spmd_status status)
{
    if (status != SPMD_OK)
        failed(verdict, "expected success, got %s: %s", spmd_status_name(status),
               spmd_error_message());
    return status == SPMD_OK;
}

void *allocate(struct verdict *verdict, int64_t count, size_t size)
{
    void *memory = count < 0 ? NULL : calloc((size_t)count + 1, size);
    if (!memory)
        failed(verdict, "expected memory for %lld elements, got none", (long long)count);
    return memory;
}

bool read_field(const cJSON *test, const char *name, struct verdict *verdict, const cJSON **field)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(test, name);
    if (!found)
        failed(verdict, "expected a field %s, got none", name);
    else
        *field = found;
    return found != NULL;
}

const cJSON *first_of(const cJSON *list)
{
    return list ? list->child : NULL;
}

bool integer_of(const cJSON *json, int64_t *value)
{
    if (cJSON_IsNumber(json)) {
        *value = (int64_t)json->valuedouble;
        return (double)*value == json->valuedouble;
    }
    if (!cJSON_IsString(json))
        return false;
    char *end = json->valuestring;
    *value = strtoll(json->valuestring, &end, 10);
    return end != json->valuestring && *end == '\0';
}

bool read_integer(const cJSON *test, const char *name, struct verdict *verdict, int64_t *value)
{
    const cJSON *field = NULL;
    if (!read_field(test, name, verdict, &field))
        return false;
    bool good = integer_of(field, value);
    if (!good)
        failed(verdict, "expected a whole number as %s, got another value", name);
    return good;
}

bool read_text(const cJSON *test, const char *name, struct verdict *verdict, const char **text)
{
    const cJSON *field = NULL;
    if (!read_field(test, name, verdict, &field))
        return false;
    if (!cJSON_IsString(field)) {
        failed(verdict, "expected a string as %s, got another value", name);
        return false;
    }
    *text = field->valuestring;
    return true;
}

bool read_shape(const cJSON *test, const char *name, struct verdict *verdict, spmd_shape *shape)
{
    const cJSON *field = NULL;
    if (!read_field(test, name, verdict, &field))
        return false;
    spmd_shape read = {0};
    bool good = cJSON_IsArray(field) && cJSON_GetArraySize(field) <= SPMD_MAX_DIMS;
    for (const cJSON *extent = first_of(field); good && extent; extent = extent->next)
        good = integer_of(extent, &read.dim[read.ndim++]);
    if (good)
        *shape = read;
    else
        failed(verdict, "expected a list of extents as %s, got another value", name);
    return good;
}

bool read_dtype(const cJSON *test, const char *name, struct verdict *verdict, spmd_dtype *dtype)
{
    const char *text = NULL;
    return read_text(test, name, verdict, &text) &&
           succeeded(verdict, spmd_dtype_parse(text, dtype));
}

/* Appends to a string of `size` bytes; what does not fit is left out. */
static void append(char *buffer, size_t size, const char *text)
{
    size_t length = strlen(buffer);
    snprintf(buffer + length, size - length, "%s", text);
}

/* Appends one entry of a spec: a name, null, or a list of entries. */
static bool append_entry(char spec[SPEC_BYTES], const cJSON *entry)
{
    if (cJSON_IsString(entry) || cJSON_IsNull(entry)) {
        append(spec, SPEC_BYTES, cJSON_IsNull(entry) ? "-" : entry->valuestring);
        return true;
    }
    if (!cJSON_IsArray(entry))
        return false;
    append(spec, SPEC_BYTES, "(");
    for (const cJSON *part = first_of(entry); part; part = part->next) {
        if (part != entry->child)
            append(spec, SPEC_BYTES, ",");
        if (!append_entry(spec, part))
            return false;
    }
    append(spec, SPEC_BYTES, ")");
    return true;
}

bool read_spec(const cJSON *test, const char *name, struct verdict *verdict, char spec[SPEC_BYTES])
{
    const cJSON *field = NULL;
    if (!read_field(test, name, verdict, &field))
        return false;
    strcpy(spec, "P");
    bool good = cJSON_IsArray(field) && append_entry(spec, field);
    if (!good)
        failed(verdict, "expected a spec as %s, got another value", name);
    return good;
}

/* The names [*count] and sizes [*count] of a case's mesh. */
static bool mesh_axes(const cJSON *test, int *count, const char *names[], int64_t sizes[])
{
    const cJSON *mesh = cJSON_GetObjectItemCaseSensitive(test, "mesh");
    if (!cJSON_IsArray(mesh) || cJSON_GetArraySize(mesh) > SPMD_MAX_AXES)
        return false;
    *count = 0;
    for (const cJSON *axis = first_of(mesh); axis; axis = axis->next) {
        const cJSON *name = cJSON_GetArrayItem(axis, 0);
        if (!cJSON_IsString(name) || !integer_of(cJSON_GetArrayItem(axis, 1), &sizes[*count]))
            return false;
        names[(*count)++] = name->valuestring;
    }
    return true;
}

int64_t mesh_size_of(const cJSON *test)
{
    int count = 0;
    const char *names[SPMD_MAX_AXES];
    int64_t sizes[SPMD_MAX_AXES], total = 1;
    if (!mesh_axes(test, &count, names, sizes))
        return 0;
    for (int axis = 0; axis < count; axis++)
        total *= sizes[axis];
    return total;
}

bool read_mesh(const cJSON *test, struct verdict *verdict, spmd_mesh **mesh)
{
    int count = 0;
    const char *names[SPMD_MAX_AXES];
    int64_t sizes[SPMD_MAX_AXES];
    if (!mesh_axes(test, &count, names, sizes)) {
        failed(verdict, "expected a mesh of names and sizes, got another value");
        return false;
    }
    return succeeded(verdict, spmd_mesh_create_sizes(MPI_COMM_WORLD, count, names, sizes, mesh));
}

bool read_abstract_mesh(const cJSON *test, struct verdict *verdict, spmd_mesh **mesh)
{
    int count = 0;
    const char *names[SPMD_MAX_AXES];
    int64_t sizes[SPMD_MAX_AXES];
    if (!mesh_axes(test, &count, names, sizes)) {
        failed(verdict, "expected a mesh of names and sizes, got another value");
        return false;
    }
    char text[SPMD_MAX_AXES * (SPMD_MAX_NAME + 24)] = "";
    for (int axis = 0; axis < count; axis++) {
        char part[SPMD_MAX_NAME + 24];
        snprintf(part, sizeof part, "%s%s=%lld", axis > 0 ? "," : "", names[axis],
                 (long long)sizes[axis]);
        append(text, sizeof text, part);
    }
    return succeeded(verdict, spmd_mesh_create_abstract(text, mesh));
}

bool read_elements(const cJSON *test, const char *name, struct verdict *verdict, spmd_dtype dtype,
                   spmd_shape shape, void **elements)
{
    const cJSON *list = NULL;
    if (!read_field(test, name, verdict, &list))
        return false;
    int64_t count = spmd_shape_size(shape);
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != count) {
        failed(verdict, "expected %lld elements as %s, got another value", (long long)count, name);
        return false;
    }
    char *data = allocate(verdict, count, spmd_dtype_size(dtype)), *at = data;
    bool good = data != NULL;
    for (const cJSON *element = first_of(list); good && element; element = element->next) {
        good = element_read(element, dtype, at);
        at += spmd_dtype_size(dtype);
    }
    if (good) {
        *elements = data;
        return true;
    }
    failed(verdict, "expected elements of %s as %s, got another value", spmd_dtype_name(dtype),
           name);
    free(data);
    return false;
}

/* Marks an axis of the mesh as used; false if it is none or was used before. */
static bool use_axis(const cJSON *test, const cJSON *name, bool used[])
{
    int count = 0;
    const char *names[SPMD_MAX_AXES];
    int64_t sizes[SPMD_MAX_AXES];
    if (!cJSON_IsString(name) || !mesh_axes(test, &count, names, sizes))
        return false;
    for (int axis = 0; axis < count; axis++)
        if (strcmp(names[axis], name->valuestring) == 0) {
            bool again = used[axis];
            used[axis] = true;
            return !again;
        }
    return false;
}

bool spec_is_sound(const cJSON *test, const cJSON *spec, int ndim)
{
    bool used[SPMD_MAX_AXES] = {false};
    bool sound = cJSON_IsArray(spec) && cJSON_GetArraySize(spec) <= ndim;
    for (const cJSON *entry = first_of(spec); sound && entry; entry = entry->next) {
        if (cJSON_IsString(entry))
            sound = use_axis(test, entry, used);
        for (const cJSON *name = first_of(entry); sound && name; name = name->next)
            sound = use_axis(test, name, used);
    }
    return sound;
}

const char *shape_text(spmd_shape shape, char buffer[SHAPE_BYTES])
{
    buffer[0] = '\0';
    for (int dim = 0; dim < shape.ndim; dim++) {
        char extent[24];
        snprintf(extent, sizeof extent, "%s%lld", dim > 0 ? "x" : "", (long long)shape.dim[dim]);
        append(buffer, SHAPE_BYTES, extent);
    }
    return shape.ndim == 0 ? "scalar" : buffer;
}

void expect_shape(struct verdict *verdict, const char *what, spmd_shape expected, spmd_shape got)
{
    char wanted[SHAPE_BYTES], given[SHAPE_BYTES];
    if (!spmd_shape_equal(expected, got))
        failed(verdict, "expected %s %s, got %s", what, shape_text(expected, wanted),
               shape_text(got, given));
}
