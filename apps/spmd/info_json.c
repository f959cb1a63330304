/* info_json.c - what an HDF5 file has, as a JSON object. */
#include "info.h"

#include <stdio.h>

#include "file.h"
#include "json.h"

static void print_dataset(const spmd_file_entry *entry)
{
    char type[INFO_TYPE_BYTES];
    info_format_type(type, sizeof type, entry);
    fputs(", \"type\": ", stdout);
    json_text(stdout, type);
    fputs(", \"dtype\": ", stdout);
    json_text(stdout, entry->dtype == SPMD_DTYPE_NONE ? NULL : spmd_dtype_name(entry->dtype));
    fputs(", \"shape\": ", stdout);
    json_extents(stdout, entry->shape.ndim, entry->shape.dim);
    fputs(", \"layout\": ", stdout);
    json_text(stdout, entry->layout);
    printf(", \"unlimited\": %s, \"stored\": %lld, \"checksum\": %s",
           entry->options.unlimited ? "true" : "false", (long long)entry->stored,
           entry->checksum ? "true" : "false");
}

static void print_member(const char *name, const char *text)
{
    if (!text)
        return;
    printf(", \"%s\": ", name);
    json_text(stdout, text);
}

static void print_entry(const spmd_file_entry *entry, const char *value)
{
    fputs("{\"name\": ", stdout);
    json_text(stdout, entry->name);
    print_member("kind", info_kind_name(entry));
    print_member("link", entry->link);
    print_member("problem", entry->problem);
    print_member("value", value);
    if (info_is_dataset(entry))
        print_dataset(entry);
    fputc('}', stdout);
}

void info_print_json(const struct info_sheet *sheet)
{
    const spmd_file_listing *listing = sheet->listing;
    fputs("{\"file\": ", stdout);
    json_text(stdout, sheet->path);
    printf(", \"bytes\": %lld, \"step\": ", file_size(sheet->path));
    printf(listing->step < 0 ? "null" : "%lld", (long long)listing->step);
    fputs(", \"contents\": [", stdout);
    for (int i = 0; i < listing->count; i++) {
        fputs(i > 0 ? ",\n   " : "\n   ", stdout);
        print_entry(&listing->entry[i], sheet->value[i]);
    }
    fputs("]}", stdout);
}
