/* comm/mesh_print.c - a mesh as tables of its ranks. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "comm/mesh.h"
#include "core/stream.h"

/* Of more entries than MOST only the first and last EDGE are shown. */
enum { MOST = 16, EDGE = 4 };

/* A table is the last two axes of the mesh, or the only one as a row. */
struct table {
    const spmd_mesh *mesh;
    FILE *stream;
    int64_t rows;
    int64_t columns;
    int corner; /* width of what stands left of the rows */
    int width;  /* of a cell */
};

/* The entry to show after entry `i` of `size`. */
static int64_t next(int64_t i, int64_t size)
{
    return size > MOST && i == EDGE - 1 ? size - EDGE : i + 1;
}

static int digits(int64_t number)
{
    return snprintf(NULL, 0, "%lld", (long long)number);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* What stands at a position: its rank, or on an abstract mesh its number. */
static int64_t entry(const spmd_mesh *mesh, int64_t position)
{
    return mesh->abstract ? position : spmd_mesh_rank(mesh, position);
}

static int widest_entry(const spmd_mesh *mesh)
{
    int64_t most = spmd_mesh_size(mesh) - 1;
    for (int64_t p = 0; mesh->ranks && p < spmd_mesh_size(mesh); p++)
        most = mesh->ranks[p] > most ? mesh->ranks[p] : most;
    return digits(most);
}

static struct table table_of(const spmd_mesh *mesh, FILE *stream)
{
    const struct axes *axes = &mesh->axes;
    int last = axes->count - 1, corner = (int)strlen(axes->name[last]);
    struct table table = {mesh, stream, .rows = last > 0 ? axes->size[last - 1] : 1,
                          .columns = axes->size[last]};
    if (last > 0)
        corner += 1 + (int)strlen(axes->name[last - 1]);
    table.corner = last > 0 ? larger(corner, digits(table.rows - 1)) : corner;
    table.width = larger(widest_entry(mesh), digits(table.columns - 1));
    if (table.columns > MOST)
        table.width = larger(table.width, 3); /* ... */
    return table;
}

/* The names of the axes, and the coordinates along the last one. */
static void print_head(const struct table *table)
{
    const struct axes *axes = &table->mesh->axes;
    int last = axes->count - 1;
    const char *row = last > 0 ? axes->name[last - 1] : "", *between = last > 0 ? "\\" : "";
    int length = fprintf(table->stream, "%s%s%s", row, between, axes->name[last]);
    fprintf(table->stream, "%*s", table->corner - length, "");
    for (int64_t c = 0, following; c < table->columns; c = following) {
        following = next(c, table->columns);
        fprintf(table->stream, "  %*lld", table->width, (long long)c);
        if (following > c + 1)
            fprintf(table->stream, "  %*s", table->width, "...");
    }
    fputc('\n', table->stream);
}

static void print_row(const struct table *table, int64_t row, int64_t first)
{
    if (table->mesh->axes.count > 1)
        fprintf(table->stream, "%*lld", table->corner, (long long)row);
    else
        fprintf(table->stream, "%*s", table->corner, "");
    for (int64_t c = 0, following; c < table->columns; c = following) {
        following = next(c, table->columns);
        fprintf(table->stream, "  %*lld", table->width, (long long)entry(table->mesh, first + c));
        if (following > c + 1)
            fprintf(table->stream, "  %*s", table->width, "...");
    }
    fputc('\n', table->stream);
}

static void print_table(const struct table *table, int64_t first)
{
    print_head(table);
    for (int64_t r = 0, following; r < table->rows; r = following) {
        following = next(r, table->rows);
        print_row(table, r, first + r * table->columns);
        if (following > r + 1)
            fprintf(table->stream, "%*s\n", table->corner, "...");
    }
}

/* The coordinates of a table along the axes before the last two: "w=1,x=0". */
static void print_coordinates(const struct table *table, int64_t first)
{
    const struct axes *axes = &table->mesh->axes;
    int64_t coordinates[SPMD_MAX_AXES];
    spmd__axes_coordinates(axes, first, coordinates);
    for (int a = 0; a < axes->count - 2; a++)
        fprintf(table->stream, "%s%s=%lld", a ? "," : "", axes->name[a], (long long)coordinates[a]);
    fputc('\n', table->stream);
}

static void print_tables(const struct table *table)
{
    int64_t size = table->rows * table->columns, tables = spmd_mesh_size(table->mesh) / size;
    for (int64_t t = 0, following; t < tables; t = following) {
        following = next(t, tables);
        if (t > 0)
            fputc('\n', table->stream);
        if (table->mesh->axes.count > 2)
            print_coordinates(table, t * size);
        print_table(table, t * size);
        if (following > t + 1)
            fputs("\n...\n", table->stream);
    }
}

spmd_status spmd_mesh_print(const spmd_mesh *mesh, FILE *stream)
{
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "print: the mesh is NULL");
    if (!mesh->abstract && mesh->position != 0)
        return SPMD_OK;
    if (!stream)
        return spmd_fail(SPMD_ERR_ARGUMENT, "print: the stream is NULL");
    char what[512];
    struct text text = spmd__text_begin(what, sizeof what);
    spmd__text_add(&text, "mesh ");
    spmd__axes_print(&text, &mesh->axes);
    errno = 0;
    fprintf(stream, "%s%s\n", what + strlen("mesh "),
            mesh->abstract ? " (abstract: positions)" : "");
    struct table table = table_of(mesh, stream);
    print_tables(&table);
    return spmd__stream_finish(stream, what);
}
