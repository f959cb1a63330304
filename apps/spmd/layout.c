/* layout.c - spmd layout: who holds what of an array, without MPI. */
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <spmd.h>
#include "args.h"
#include "blocks.h"
#include "cmd.h"
#include "picture.h"

static const struct args_usage usage = {
    .synopsis = "spmd layout MESH SPEC SHAPE",
    .about = "Shows who holds what of an array of shape SHAPE that lies on the mesh MESH as\n"
             "the partition spec SPEC says: a picture of the blocks with the ranks that hold\n"
             "each of them, a table of the ranks, and a summary. It starts no ranks, so the\n"
             "mesh may be of any size.\n"
             "\n"
             "  MESH   names and sizes of the axes, the first is major: x=2,y=4\n"
             "  SPEC   for each dimension the axes that split it, - for none: P(x, -, (y,z))\n"
             "  SHAPE  the global extents: 8x4x3; \"\" is a scalar",
    .examples = "spmd layout x=2,y=4 'P(x,y)' 8x8\n"
                "spmd layout data=8,model=2 'P(-,model)' 784x128\n"
                "spmd layout x=3 'P(x)' 7",
};

/* The array's type, spec and mesh: "[8@x,8@y] as P(x, y) on mesh x=2,y=4". */
static void print_header(const struct blocks *blocks)
{
    char type[1024], spec[1024], mesh[1024];
    spmd_sharding_format_type(type, sizeof type, blocks->sharding, SPMD_DTYPE_NONE, blocks->shape);
    spmd_sharding_format(spec, sizeof spec, blocks->sharding);
    spmd_mesh_format(mesh, sizeof mesh, spmd_sharding_mesh(blocks->sharding));
    printf("%s as %s on mesh %s\n", strchr(type, '['), spec, mesh);
    if (strstr(spec, "unreduced={"))
        puts("Along the unreduced axes, replicas of a block are contributions to its value.");
    putchar('\n');
}

/* " along x", " along (y,z)" or ", not split": how a dimension lies. */
static void print_axes(const struct blocks *blocks, int dim)
{
    const spmd_mesh *mesh = spmd_sharding_mesh(blocks->sharding);
    const struct split *split = &blocks->split[dim];
    fputs(split->naxes == 0 ? ", not split" : split->naxes == 1 ? " along " : " along (", stdout);
    for (int i = 0; i < split->naxes; i++)
        printf("%s%s", i > 0 ? "," : "", spmd_mesh_axis_name(mesh, split->axis[i]));
    fputs(split->naxes > 1 ? ")" : "", stdout);
}

/* How to read the picture. */
static void print_legend(const struct blocks *blocks)
{
    int ndim = blocks->shape.ndim;
    fputs("Ranks that hold each block", stdout);
    for (int d = ndim > 1 ? ndim - 2 : 0; d < ndim; d++) {
        bool down = d < ndim - 1;
        printf("%s: dim %d", down ? " (down" : ndim > 1 ? "; across" : " (across", d);
        print_axes(blocks, d);
    }
    printf("%s:\n\n", ndim > 0 ? ")" : "");
}

static struct pen choose_pen(void)
{
    setlocale(LC_CTYPE, "");
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool plain = (no_colour && *no_colour != '\0') || !terminal || strcmp(terminal, "dumb") == 0;
    return (struct pen){.unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
                        .colour = isatty(STDOUT_FILENO) && !plain};
}

/* The table of ranks: column 0 is the rank, then its coordinates, ranges, elements, replica. */
struct table {
    const struct blocks *blocks;
    int ncolumns;
    int width[SPMD_MAX_AXES + SPMD_MAX_DIMS + 3];
};

/* Rows of the table; of more ranks the first and the last few. */
enum { MAX_RANKS = 64, FEW_RANKS = 8 };

static int format_heading(const struct table *table, int column, char *buffer, size_t size)
{
    int axis = column - 1, dim = axis - table->blocks->naxes;
    int ndim = table->blocks->shape.ndim;
    if (column == 0)
        return snprintf(buffer, size, "rank");
    if (dim < 0)
        return snprintf(buffer, size, "%s",
                        spmd_mesh_axis_name(spmd_sharding_mesh(table->blocks->sharding), axis));
    if (dim < ndim)
        return snprintf(buffer, size, "dim %d", dim);
    return snprintf(buffer, size, dim == ndim ? "elements" : "replica");
}

static int format_cell(const struct table *table, int column, int64_t rank, char *buffer,
                       size_t size)
{
    const struct blocks *blocks = table->blocks;
    int axis = column - 1, dim = axis - blocks->naxes, ndim = blocks->shape.ndim;
    spmd_box box = {0};
    if (column == 0)
        return snprintf(buffer, size, "%lld", (long long)rank);
    if (dim < 0)
        return snprintf(buffer, size, "%lld",
                        (long long)(rank / blocks->stride[axis] % blocks->size[axis]));
    if (dim > ndim)
        return snprintf(buffer, size, "%lld",
                        (long long)spmd_sharding_replica(blocks->sharding, rank));
    spmd_sharding_box(blocks->sharding, blocks->shape, rank, &box);
    if (dim == ndim)
        return snprintf(buffer, size, "%lld", (long long)spmd_box_size(&box));
    return snprintf(buffer, size, "%lld:%lld", (long long)box.lo[dim], (long long)box.hi[dim]);
}

/* The rank that is shown after `rank`. */
static int64_t next_shown(const struct blocks *blocks, int64_t rank)
{
    bool gap = blocks->ranks > MAX_RANKS && rank + 1 == FEW_RANKS;
    return gap ? blocks->ranks - FEW_RANKS : rank + 1;
}

static void measure_table(struct table *table)
{
    char buffer[64];
    for (int c = 0; c < table->ncolumns; c++) {
        table->width[c] = format_heading(table, c, buffer, sizeof buffer);
        for (int64_t r = 0; r < table->blocks->ranks; r = next_shown(table->blocks, r)) {
            int width = format_cell(table, c, r, buffer, sizeof buffer);
            table->width[c] = width > table->width[c] ? width : table->width[c];
        }
    }
}

enum { HEADING = -1 };

static void print_row(const struct table *table, int64_t rank)
{
    char buffer[64];
    for (int c = 0; c < table->ncolumns; c++) {
        if (rank == HEADING)
            format_heading(table, c, buffer, sizeof buffer);
        else
            format_cell(table, c, rank, buffer, sizeof buffer);
        printf("%s%*s", c > 0 ? "  " : "", table->width[c], buffer);
    }
    putchar('\n');
}

static void print_table(const struct blocks *blocks)
{
    struct table table = {.blocks = blocks, .ncolumns = blocks->naxes + blocks->shape.ndim + 3};
    measure_table(&table);
    print_row(&table, HEADING);
    for (int64_t r = 0, next; r < blocks->ranks; r = next) {
        print_row(&table, r);
        next = next_shown(blocks, r);
        if (next != r + 1)
            printf("%*s\n", table.width[0], "...");
    }
}

/* "4x2 = 8 elements", of vectors and scalars only their number. */
static void print_extents(spmd_shape shape)
{
    if (shape.ndim > 1)
        for (int d = 0; d < shape.ndim; d++)
            printf("%lld%s", (long long)shape.dim[d], d < shape.ndim - 1 ? "x" : " = ");
    int64_t size = spmd_shape_size(shape);
    printf("%lld element%s", (long long)size, size == 1 ? "" : "s");
}

static void print_summary(const struct blocks *blocks)
{
    if (blocks->count == 0) {
        puts("no blocks: the array has no elements");
        return;
    }
    int64_t idle = blocks->ranks - blocks->count * blocks->replicas;
    printf("%lld block%s, %lld replica%s%s; ", (long long)blocks->count,
           blocks->count == 1 ? "" : "s", (long long)blocks->replicas,
           blocks->replicas == 1 ? "" : "s", blocks->count == 1 ? "" : " of each");
    if (idle == 0)
        puts("every rank holds one");
    else
        printf("%lld of %lld ranks hold%s nothing\n", (long long)idle, (long long)blocks->ranks,
               idle == 1 ? "s" : "");
    spmd_shape largest = blocks_largest(blocks), smallest = blocks_smallest(blocks);
    bool even = spmd_shape_equal(largest, smallest);
    fputs(even ? "each block: " : "largest block: ", stdout);
    print_extents(largest);
    if (!even) {
        fputs(", smallest: ", stdout);
        print_extents(smallest);
    }
    putchar('\n');
}

static void print_layout(const struct blocks *blocks)
{
    print_header(blocks);
    if (blocks->count > 0) {
        print_legend(blocks);
        picture_print(blocks, choose_pen());
        putchar('\n');
    }
    print_table(blocks);
    putchar('\n');
    print_summary(blocks);
}

static spmd_status layout(const char *mesh_text, const char *spec, const char *shape_text)
{
    spmd_mesh *mesh = NULL;
    spmd_sharding *sharding = NULL;
    spmd_shape shape;
    struct blocks blocks;
    spmd_status status = spmd_mesh_create_abstract(mesh_text, &mesh);
    if (status == SPMD_OK)
        status = spmd_sharding_create(mesh, spec, &sharding);
    if (status == SPMD_OK)
        status = spmd_shape_parse(shape_text, &shape);
    if (status == SPMD_OK)
        status = blocks_find(sharding, shape, &blocks);
    if (status == SPMD_OK && cmd_is_speaker())
        print_layout(&blocks);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
    return status;
}

int cmd_layout(int argc, char **argv)
{
    const char *operand[3];
    int count = 0, option;
    struct args args = args_begin(argc, argv, &usage);
    while ((option = args_next(&args)) != ARGS_END) {
        if (option == ARGS_STOP)
            return args.code;
        if (count < 3)
            operand[count] = args.value;
        count++;
    }
    if (count != 3)
        return cmd_misuse("layout", "layout takes 3 arguments, MESH SPEC SHAPE, not %d", count);
    if (layout(operand[0], operand[1], operand[2]) != SPMD_OK) {
        cmd_error("%s", spmd_error_message());
        return CMD_MISUSED;
    }
    return CMD_DONE;
}
