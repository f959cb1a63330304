/* layout.c - spmd layout: who holds what of an array, without MPI. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <spmd.h>
#include "args.h"
#include "cmd.h"
#include "placing.h"

enum { TO, DTYPE, RANKS, JSON, SVG, NOPTIONS };

static const struct args_option option_table[NOPTIONS] = {
    [TO] = {"to", "SPEC2", "show this spec beside the first one, and what a reshard moves"},
    [DTYPE] = {"dtype", "TYPE", "element type that bytes are counted by (f32)"},
    [RANKS] = {"ranks", "N", "list up to N ranks (64)"},
    [JSON] = {"json", NULL, "print everything as one JSON object"},
    [SVG] = {"svg", "FILE", "draw the picture to FILE as well"},
};

static const struct args_usage usage = {
    .synopsis = "spmd layout MESH SPEC SHAPE [OPTION...]",
    .about = "Shows who holds what of an array of shape SHAPE that lies on the mesh MESH as\n"
             "the partition spec SPEC says: a picture of the blocks with the ranks that hold\n"
             "each of them, a table of the ranks, and a summary. It starts no ranks, so the\n"
             "mesh may be of any size.\n"
             "\n"
             "  MESH   names and sizes of the axes, the first is major: x=2,y=4\n"
             "  SPEC   for each dimension the axes that split it, - for none: P(x, -, (y,z))\n"
             "  SHAPE  the global extents: 8x4x3; \"\" is a scalar\n"
             "\n"
             "In the summary, replication is how many ranks hold each element, and balance is\n"
             "the largest part of a rank divided by the mean.",
    .noptions = NOPTIONS,
    .options = option_table,
    .examples = "spmd layout x=2,y=4 'P(x,y)' 8x8\n"
                "spmd layout data=8,model=2 'P(-,model)' 784x128 --dtype bf16\n"
                "spmd layout x=2,y=2 'P(x,y)' 4x6 --to 'P(x,-)'\n"
                "spmd layout x=3 'P(x)' 7 --svg rows.svg",
};

enum { MESH, SPEC, SHAPE, NOPERANDS };

/* The command line; NULL: not given. */
struct request {
    const char *operand[NOPERANDS];
    const char *option[NOPTIONS];
};

enum { MOST_RANKS = 1 << 20 }; /* rows of a table that somebody may want */

static spmd_status draw_svg(const spmd_layout *layout, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return spmd_fail(SPMD_ERR_FILE, "cannot write \"%s\": %s", path, strerror(errno));
    spmd_status status = spmd_layout_print_svg(layout, file);
    if (fclose(file) != 0 && status == SPMD_OK)
        status = spmd_fail(SPMD_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    return status;
}

static spmd_status show(const struct request *request, const spmd_layout *layout)
{
    if (!cmd_is_speaker())
        return SPMD_OK;
    if (request->option[SVG])
        SPMD_TRY(draw_svg(layout, request->option[SVG]));
    return request->option[JSON] ? spmd_layout_print_json(layout, stdout)
                                 : spmd_layout_print(layout, stdout);
}

static spmd_status lay_out(const struct request *request, const struct placing *placing)
{
    spmd_layout layout = {.sharding = placing->sharding,
                          .to = placing->to,
                          .shape = placing->shape,
                          .dtype = placing->dtype};
    if (request->option[RANKS])
        SPMD_TRY(args_read_whole("ranks", request->option[RANKS], 1, MOST_RANKS, &layout.ranks));
    return show(request, &layout);
}

static spmd_status run(const struct request *request)
{
    struct placing placing;
    spmd_status status = placing_read(&(struct placing_texts){.mesh = request->operand[MESH],
                                                              .spec = request->operand[SPEC],
                                                              .shape = request->operand[SHAPE],
                                                              .to = request->option[TO],
                                                              .dtype = request->option[DTYPE]},
                                      &placing);
    if (status == SPMD_OK)
        status = lay_out(request, &placing);
    placing_free(&placing);
    return status;
}

int cmd_layout(int argc, char **argv)
{
    struct request request = {0};
    struct args args = args_begin(argc, argv, &usage);
    int count = args_take(&args, request.option, NOPERANDS, request.operand);
    if (count == ARGS_STOP)
        return args.code;
    if (count != NOPERANDS)
        return cmd_misuse("layout", "layout takes 3 arguments, MESH SPEC SHAPE, not %d", count);
    return cmd_conclude(run(&request));
}
