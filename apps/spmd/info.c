/* info.c - spmd info: what is found here, or in files. */
#include "info.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "args.h"
#include "cmd.h"
#include "json.h"

enum { VERIFY, JSON, NOPTIONS };

static const struct args_option option_table[NOPTIONS] = {
    [VERIFY] = {"verify", NULL, "read what has a checksum, and compare"},
    [JSON] = {"json", NULL, "print a JSON list, with an object for each FILE"},
};

static const struct args_usage usage = {
    .synopsis = "spmd info\n"
                "spmd info FILE... [OPTION...]",
    .about = "Without FILE, shows the versions of spmd and of the libraries that it runs with,\n"
             "the ranks and hosts of this run, and the environment variables that the library\n"
             "reads; a value that it would refuse is an error. Warns of other names that begin\n"
             "with SPMD_, and where the launcher and the MPI library do not know each other.\n"
             "\n"
             "Of an HDF5 file, whoever wrote it, lists the arrays with their types, how they lay\n"
             "when they were written and how they are stored, and all else that it has. Of a\n"
             "directory, lists the checkpoints in it.\n"
             "\n"
             "With --verify, tells whether files and checkpoints are whole, and ends with 1 if\n"
             "one is not; on several ranks each reads its part.",
    .noptions = NOPTIONS,
    .options = option_table,
    .examples = "spmd info\n"
                "mpirun -n 4 spmd info\n"
                "spmd info run.h5\n"
                "mpirun -n 4 spmd info --verify checkpoints",
};

/* The command line. */
struct request {
    const char *option[NOPTIONS]; /* NULL: not given */
    int nfiles;
    const char **files; /* [nfiles] */
};

bool info_is_array(const spmd_file_entry *entry)
{
    return entry->kind == SPMD_TREE_ARRAY && !entry->problem && !entry->link;
}

/* As position 0 sees it. */
static bool is_directory(const char *path)
{
    struct stat about;
    int is = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    MPI_Bcast(&is, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return is;
}

static spmd_status show(const struct request *request, spmd_mesh *mesh, const char *path)
{
    bool json = request->option[JSON], directory = is_directory(path);
    if (request->option[VERIFY])
        return info_verify(mesh, path, directory);
    return directory ? info_steps(mesh, path, json) : info_file(mesh, path, json);
}

/* Users of other tools name a dataset behind its file. */
static void note_names(const struct request *request, int index)
{
    struct stat about;
    if (index > 0 && stat(request->files[index], &about) != 0)
        cmd_note("each operand of info is a file, of which it lists all");
}

/* A JSON object in place of what a file has. */
static void print_failure(const char *path)
{
    fputs("{\"file\": ", stdout);
    json_text(stdout, path);
    fputs(", \"error\": ", stdout);
    json_text(stdout, spmd_error_message());
    fputc('}', stdout);
}

/* Returns the exit code. */
static int show_one(const struct request *request, spmd_mesh *mesh, const char *path)
{
    spmd_status status = show(request, mesh, path);
    if (status != SPMD_OK && request->option[JSON] && cmd_is_speaker())
        print_failure(path);
    return cmd_conclude(status);
}

/* What stands between files, at the one that speaks. */
static const char *separator(const struct request *request)
{
    if (!cmd_is_speaker() || request->option[VERIFY])
        return "";
    return request->option[JSON] ? ",\n " : "\n";
}

/* Goes on behind a file that fails; the code is that of the worst. */
static int show_all(const struct request *request)
{
    spmd_mesh *mesh = NULL;
    bool json = request->option[JSON] && cmd_is_speaker();
    int worst = cmd_conclude(cmd_make_mesh(&mesh));
    fputs(json ? "[" : "", stdout);
    for (int i = 0; i < request->nfiles && mesh; i++) {
        fputs(i > 0 ? separator(request) : "", stdout);
        int code = show_one(request, mesh, request->files[i]);
        if (code != CMD_DONE)
            note_names(request, i);
        worst = code > worst ? code : worst;
    }
    fputs(json ? "]\n" : "", stdout);
    spmd_mesh_free(&mesh);
    return worst;
}

static int check(const struct request *request)
{
    if (request->nfiles == 0 && (request->option[VERIFY] || request->option[JSON]))
        return cmd_misuse("info", "--%s needs a FILE",
                          option_table[request->option[VERIFY] ? VERIFY : JSON].name);
    if (request->option[VERIFY] && request->option[JSON])
        return cmd_misuse("info", "--verify prints no JSON");
    return CMD_DONE;
}

static int run(const struct request *request)
{
    int code = check(request);
    if (code != CMD_DONE)
        return code;
    MPI_Init(NULL, NULL);
    if (request->nfiles > 0)
        code = show_all(request);
    else
        code = info_system();
    MPI_Finalize();
    return code;
}

int cmd_info(int argc, char **argv)
{
    struct request request = {.files = calloc((size_t)argc, sizeof *request.files)};
    struct args args = args_begin(argc, argv, &usage);
    if (!request.files) {
        cmd_error("out of memory");
        return CMD_FAILED;
    }
    request.nfiles = args_take(&args, request.option, argc, request.files);
    int code = request.nfiles == ARGS_STOP ? args.code : run(&request);
    free(request.files);
    return code;
}
