/* reshard.c - spmd reshard: what it takes to lay an array otherwise, without MPI. */
#include <stdio.h>

#include <spmd.h>
#include "args.h"
#include "cmd.h"
#include "placing.h"

enum { DTYPE, POSITION, TO_MESH, JSON, NOPTIONS };

static const struct args_option option_table[NOPTIONS] = {
    [DTYPE] = {"dtype", "TYPE", "element type of the array (f32)"},
    [POSITION] = {"position", "N", "tell what the rank at position N does (0)"},
    [TO_MESH] = {"to-mesh", "MESH2", "the array goes to another mesh, of the same ranks"},
    [JSON] = {"json", NULL, "print everything as one JSON object"},
};

static const struct args_usage usage = {
    .synopsis = "spmd reshard MESH FROM TO SHAPE [OPTION...]",
    .about = "Explains what a reshard does: how an array of shape SHAPE that lies on the mesh\n"
             "MESH as the spec FROM says gets to lie as TO says. It prints the steps, the bytes\n"
             "that a rank and all ranks keep, receive and send in each, and the memory that\n"
             "this takes. It starts no ranks, so the mesh may be of any size.\n"
             "\n"
             "  MESH      names and sizes of the axes, the first is major: x=2,y=4\n"
             "  FROM, TO  for each dimension the axes that split it, - for none: P(x, -, (y,z));\n"
             "            unreduced={y} for contributions along y that add up to the values\n"
             "  SHAPE     the global extents: 8x4x3; \"\" is a scalar",
    .noptions = NOPTIONS,
    .options = option_table,
    .examples = "spmd reshard x=4 'P(x,-)' 'P(-,x)' 8192x8192 --dtype f64\n"
                "spmd reshard x=2,y=2 'P(x, unreduced={y})' 'P(x,y)' 1024x1024\n"
                "spmd reshard x=256,y=256 'P(x,y)' 'P(y,x)' 65536x65536 --position 1",
};

enum { MESH, FROM, TO, SHAPE, NOPERANDS };

/* The command line; NULL: not given. */
struct request {
    const char *operand[NOPERANDS];
    const char *option[NOPTIONS];
};

/* The ranks of the larger mesh. */
static int64_t count_ranks(const struct placing *placing)
{
    int64_t from = spmd_mesh_size(spmd_sharding_mesh(placing->sharding));
    int64_t to = spmd_mesh_size(spmd_sharding_mesh(placing->to));
    return from > to ? from : to;
}

static spmd_status explain(const struct request *request, const struct placing *placing)
{
    int64_t position = 0;
    spmd_reshard_call *plan = NULL;
    if (request->option[POSITION])
        SPMD_TRY(args_read_whole("position", request->option[POSITION], 0, count_ranks(placing) - 1,
                                 &position));
    SPMD_TRY(
        spmd_reshard_plan(placing->sharding, placing->to, placing->dtype, placing->shape, &plan));
    spmd_status status = SPMD_OK;
    if (cmd_is_speaker())
        status = request->option[JSON] ? spmd_reshard_explain_json(plan, position, stdout)
                                       : spmd_reshard_explain(plan, position, stdout);
    spmd_reshard_free(&plan);
    return status;
}

static spmd_status run(const struct request *request)
{
    struct placing placing;
    spmd_status status = placing_read(&(struct placing_texts){.mesh = request->operand[MESH],
                                                              .spec = request->operand[FROM],
                                                              .shape = request->operand[SHAPE],
                                                              .to_mesh = request->option[TO_MESH],
                                                              .to = request->operand[TO],
                                                              .dtype = request->option[DTYPE]},
                                      &placing);
    if (status == SPMD_OK)
        status = explain(request, &placing);
    placing_free(&placing);
    return status;
}

int cmd_reshard(int argc, char **argv)
{
    struct request request = {0};
    struct args args = args_begin(argc, argv, &usage);
    int count = args_take(&args, request.option, NOPERANDS, request.operand);
    if (count == ARGS_STOP)
        return args.code;
    if (count != NOPERANDS)
        return cmd_misuse("reshard", "reshard takes 4 arguments, MESH FROM TO SHAPE, not %d",
                          count);
    return cmd_conclude(run(&request));
}
