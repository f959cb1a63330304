/* info_table.c - what an HDF5 file has, as a table. */
#include "info.h"

#include <stdio.h>
#include <string.h>

#include "file.h"
#include "plural.h"

enum { CELL_BYTES = 512, WIDEST = 48, TEXT_SHOWN = 40 };

/* Bytes of a character behind its first one, in UTF-8. */
static bool continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Characters, as printf does not count them. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += !continues(*text);
    return width;
}

/* How many bytes of a text are shown: whole characters. */
static int shown(const char *text)
{
    int bytes = (int)strnlen(text, TEXT_SHOWN + 1);
    if (bytes > TEXT_SHOWN)
        for (bytes = TEXT_SHOWN; bytes > 0 && continues(text[bytes]); bytes--)
            ;
    return bytes;
}

/* One line. */
struct line {
    const spmd_file_entry *entry;
    const char *value; /* NULL: it has none */
};

static struct line line_of(const struct info_sheet *sheet, int index)
{
    return (struct line){&sheet->listing->entry[index], sheet->value[index]};
}

/* A cell of a line, as snprintf writes it. */
typedef int format_cell(char *cell, size_t size, const struct line *line);

static int format_name(char *cell, size_t size, const struct line *line)
{
    return snprintf(cell, size, "%s", line->entry->name);
}

static int format_type(char *cell, size_t size, const struct line *line)
{
    const spmd_file_entry *entry = line->entry;
    if (entry->link)
        return snprintf(cell, size, "link to %s", entry->link);
    if (entry->problem && !entry->elements)
        return snprintf(cell, size, "%s", "cannot be read");
    if (line->value)
        return snprintf(cell, size, "%.*s%s", shown(line->value), line->value,
                        strlen(line->value) > TEXT_SHOWN ? "..." : "");
    if (info_is_dataset(entry))
        return info_format_type(cell, size, entry);
    return snprintf(cell, size, "%s",
                    entry->kind == SPMD_TREE_NONE   ? "None"
                    : entry->kind == SPMD_TREE_LIST ? "[]"
                                                    : "{}");
}

static int format_layout(char *cell, size_t size, const struct line *line)
{
    const spmd_file_entry *entry = line->entry;
    if (!info_is_dataset(entry))
        return snprintf(cell, size, "%s", "");
    return snprintf(cell, size, "%s%s", entry->layout,
                    entry->options.unlimited ? ", unlimited" : "");
}

static int format_stored(char *cell, size_t size, const struct line *line)
{
    return info_is_dataset(line->entry)
               ? snprintf(cell, size, "%lld", (long long)line->entry->stored)
               : snprintf(cell, size, "%s", "");
}

enum { NAME, TYPE, LAYOUT, STORED, NCELLS };
static format_cell *const format[NCELLS] = {format_name, format_type, format_layout, format_stored};
static const char *const head[NCELLS] = {"name", "type", "layout", "stored"};

/* A group is told by what is in it, if there is something. */
static bool has_line(const spmd_file_listing *listing, int index)
{
    const spmd_file_entry *entry = &listing->entry[index], *next = entry + 1;
    size_t length = strlen(entry->name);
    bool is_group = !entry->elements && !entry->problem;
    return !is_group || entry->link || index + 1 == listing->count ||
           strncmp(next->name, entry->name, length) != 0 || next->name[length] != '/';
}

static void find_widths(const struct info_sheet *sheet, int width[NCELLS])
{
    char cell[CELL_BYTES];
    for (int c = 0; c < NCELLS; c++)
        width[c] = (int)strlen(head[c]);
    for (int i = 0; i < sheet->listing->count; i++)
        for (int c = 0; c < NCELLS && has_line(sheet->listing, i); c++) {
            struct line line = line_of(sheet, i);
            format[c](cell, sizeof cell, &line);
            int length = width_of(cell);
            if (length > width[c])
                width[c] = length < WIDEST ? length : WIDEST;
        }
}

/* The field of a text that is so wide, in bytes. */
static int field(int width, const char *text)
{
    return width + (int)strlen(text) - width_of(text);
}

/* The last column is of numbers. */
static void print_cells(const char *const cell[NCELLS], const int width[NCELLS])
{
    if (cell[LAYOUT][0] == '\0')
        printf("  %-*s  %s\n", field(width[NAME], cell[NAME]), cell[NAME], cell[TYPE]);
    else
        printf("  %-*s  %-*s  %-*s  %*s\n", field(width[NAME], cell[NAME]), cell[NAME],
               field(width[TYPE], cell[TYPE]), cell[TYPE], width[LAYOUT], cell[LAYOUT],
               width[STORED], cell[STORED]);
}

/* Names and texts of a file may have anything in them, a terminal's commands too. */
static void make_printable(char *cell)
{
    for (; *cell; cell++)
        if ((unsigned char)*cell < ' ' || *cell == 0x7f)
            *cell = '?';
}

static void print_line(const struct line *line, const int width[NCELLS])
{
    char text[NCELLS][CELL_BYTES];
    const char *cell[NCELLS];
    for (int c = 0; c < NCELLS; c++) {
        format[c](text[c], sizeof text[c], line);
        make_printable(text[c]);
        cell[c] = text[c];
    }
    print_cells(cell, width);
}

static void print_lines(const struct info_sheet *sheet)
{
    int width[NCELLS];
    find_widths(sheet, width);
    if (sheet->listing->count > 0)
        print_cells(head, width);
    for (int i = 0; i < sheet->listing->count; i++) {
        struct line line = line_of(sheet, i);
        if (has_line(sheet->listing, i))
            print_line(&line, width);
    }
}

void info_print_table(const struct info_sheet *sheet)
{
    const spmd_file_listing *listing = sheet->listing;
    int arrays = 0;
    for (int i = 0; i < listing->count; i++)
        arrays += info_is_array(&listing->entry[i]);
    printf("%s: ", sheet->path);
    if (listing->step >= 0)
        printf("checkpoint of step %lld, sealed, ", (long long)listing->step);
    printf("%d array%s, %lld bytes\n", arrays, plural(arrays), file_size(sheet->path));
    print_lines(sheet);
}
