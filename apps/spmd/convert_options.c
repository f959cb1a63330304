/* convert_options.c - the command line of spmd convert. */
#include "convert.h"

#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cmd.h"

enum { CONTIGUOUS, CHUNKS, MESH, DEFLATE, SHUFFLE, FLETCHER32, UNLIMITED, DTYPE, FORCE, NOPTIONS };

static const struct args_option option_table[NOPTIONS] = {
    [CONTIGUOUS] = {"contiguous", NULL, "one piece in the file, without filters"},
    [CHUNKS] = {"chunks", "EXTENTS",
                "chunks of these extents: 64,64; or as large as the blocks of\n"
                "a spec on the mesh of --mesh: P(x,y)"},
    [MESH] = {"mesh", "MESH", "the mesh of the spec of --chunks: x=2,y=4"},
    [DEFLATE] = {"deflate", "N", "compress chunks: 1 is fast, 9 small, 0 not at all"},
    [SHUFFLE] = {"shuffle", NULL, "put bytes of like significance side by side before"},
    [FLETCHER32] = {"fletcher32", NULL, "give each chunk a checksum"},
    [UNLIMITED] = {"unlimited", NULL, "let dimension 0 grow"},
    [DTYPE] = {"dtype", "TYPE", "convert the elements: f32"},
    [FORCE] = {"force", NULL, "replace OUT also if it is a checkpoint, or no HDF5 file"},
};

static const struct args_usage usage = {
    .synopsis = "spmd convert IN OUT [NAME...] [OPTION...]",
    .about = "Copies the HDF5 file IN to OUT, with its arrays in another layout: each dataset\n"
             "NAME, those in each group NAME, or all. What no option asks for stays as it is,\n"
             "and so do groups, attributes, and what is no array. Without options the copy has\n"
             "no holes.\n"
             "\n"
             "OUT is written aside, and takes its place when it is whole, so it may be IN. On\n"
             "several ranks each reads and writes its part; a dataset may be larger than the\n"
             "memory of all.\n"
             "\n"
             "Of a group, or of all, arrays whose number of dimensions the chunks do not fit\n"
             "keep their layout, and --dtype converts floats to floats, integers to integers,\n"
             "and complex numbers to complex numbers, and leaves others.",
    .noptions = NOPTIONS,
    .options = option_table,
    .examples = "spmd convert run.h5 small.h5 --deflate 4 --shuffle\n"
                "spmd convert run.h5 run.h5 x --chunks 64,64\n"
                "mpirun -n 4 spmd convert big.h5 new.h5 --chunks 'P(x,y)' --mesh x=8,y=4",
};

/* What has no place in a contiguous dataset. */
static const int chunked_only[] = {CHUNKS, DEFLATE, SHUFFLE, FLETCHER32, UNLIMITED};

static int check(const char *const values[], int noperands)
{
    if (noperands < 2)
        return cmd_misuse("convert", "convert takes two files, IN OUT, not %d", noperands);
    for (size_t i = 0; i < sizeof chunked_only / sizeof chunked_only[0]; i++)
        if (values[CONTIGUOUS] && values[chunked_only[i]])
            return cmd_misuse("convert", "--contiguous has no chunks, and --%s needs them",
                              option_table[chunked_only[i]].name);
    return CMD_DONE;
}

static bool is_spec(const char *text)
{
    return text && strchr(text, '(');
}

/* "64,64", or as a shape is written, "64x64". */
static spmd_status read_extents(const char *text, spmd_shape *chunk)
{
    char *shape = strdup(text);
    if (!shape)
        return spmd_fail(SPMD_ERR_MEMORY, "out of memory");
    for (char *c = shape; *c; c++)
        if (*c == ',')
            *c = 'x';
    spmd_status status = spmd_shape_parse(shape, chunk);
    free(shape);
    if (status != SPMD_OK || chunk->ndim == 0 || spmd_shape_size(*chunk) <= 0)
        return spmd_fail(SPMD_ERR_SYNTAX,
                         "--chunks needs extents, 64,64, or a spec, P(x,y), not \"%s\"", text);
    return SPMD_OK;
}

static spmd_status read_blocks(const char *mesh_text, const char *spec, spmd_sharding **blocks)
{
    spmd_mesh *mesh = NULL;
    if (!mesh_text)
        return spmd_fail(SPMD_ERR_SYNTAX, "--chunks %s needs --mesh, as in --mesh x=2,y=4", spec);
    SPMD_TRY(spmd_mesh_create_abstract(mesh_text, &mesh));
    spmd_status status = spmd_sharding_create(mesh, spec, blocks);
    spmd_mesh_free(&mesh); /* the sharding holds it */
    return status;
}

static spmd_status read_chunks(const char *const values[], struct convert_options *options)
{
    if (is_spec(values[CHUNKS]))
        return read_blocks(values[MESH], values[CHUNKS], &options->blocks);
    if (values[MESH])
        return spmd_fail(SPMD_ERR_SYNTAX, "--mesh needs a spec, as in --chunks 'P(x,y)'");
    return values[CHUNKS] ? read_extents(values[CHUNKS], &options->chunk) : SPMD_OK;
}

static spmd_status read_values(const char *const values[], struct convert_options *options)
{
    options->contiguous = values[CONTIGUOUS];
    options->shuffle = values[SHUFFLE];
    options->fletcher32 = values[FLETCHER32];
    options->unlimited = values[UNLIMITED];
    options->force = values[FORCE];
    SPMD_TRY(read_chunks(values, options));
    if (values[DEFLATE])
        SPMD_TRY(args_read_whole("deflate", values[DEFLATE], 0, 9, &options->deflate));
    return values[DTYPE] ? spmd_dtype_parse(values[DTYPE], &options->dtype) : SPMD_OK;
}

bool convert_options_parse(int argc, char **argv, struct convert_options *options, int *code)
{
    const char *values[NOPTIONS] = {NULL};
    struct args args = args_begin(argc, argv, &usage);
    *options = (struct convert_options){.chunk.ndim = -1, .deflate = -1};
    const char **operands = calloc((size_t)argc, sizeof *operands);
    if (!operands) {
        cmd_error("out of memory");
        *code = CMD_FAILED;
        return false;
    }
    int count = args_take(&args, values, argc, operands);
    options->operands = operands;
    *code = count == ARGS_STOP ? args.code : check(values, count);
    if (count == ARGS_STOP || *code != CMD_DONE)
        return false;
    options->in = operands[0];
    options->out = operands[1];
    options->names = operands + 2;
    options->nnames = count - 2;
    *code = cmd_conclude(read_values(values, options));
    return *code == CMD_DONE;
}

void convert_options_free(struct convert_options *options)
{
    free(options->operands);
    spmd_sharding_free(&options->blocks);
}
