/* faults.c - a program that dies while it saves, and one that looks at what it left.
 *
 *     faults die checkpoint|file one|all SEED DIRECTORY
 *     faults look checkpoint|file DIRECTORY...
 *
 * The state of step 1 is saved, then that of step 2, and somewhere in the midst of it one rank is
 * killed, or all are: at a call that the seed draws among those that change files, of all ranks. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <spmd.h>

#include "dying.h"

/* Rows, columns, parts that are empty, and a whole one. */
static const struct leaf {
    const char *name, *spec;
    int64_t rows, columns;
} leaves[] = {{"params/w", "P(x)", 61, 37},
              {"params/columns", "P(-,x)", 7, 305},
              {"params/few", "P(x)", 1, 3},
              {"params/whole", "P()", 9, 11}};
enum { LEAVES = sizeof leaves / sizeof *leaves };

/* All values follow from the step and the place. */
struct content {
    const struct leaf *leaf;
    int64_t step;
};

static spmd_status fill(const spmd_box *box, void *data, void *user)
{
    const struct content *content = user;
    double *value = data;
    for (int64_t i = box->lo[0]; i < box->hi[0]; i++)
        for (int64_t j = box->lo[1]; j < box->hi[1]; j++)
            *value++ = (double)(10000 * content->step + i * content->leaf->columns + j);
    return SPMD_OK;
}

static spmd_status make_leaf(spmd_mesh *mesh, const struct leaf *leaf, int64_t step,
                             spmd_array **array)
{
    struct content content = {leaf, step};
    return spmd_array_from_callback(mesh, leaf->spec, SPMD_F64,
                                    SPMD_SHAPE(leaf->rows, leaf->columns), fill, &content, array);
}

static spmd_status make_state(spmd_mesh *mesh, int64_t step, spmd_tree **state)
{
    SPMD_TRY(spmd_tree_create(state));
    SPMD_TRY(spmd_tree_set_integer(*state, "step", step));
    for (int i = 0; i < LEAVES; i++) {
        spmd_array *array = NULL;
        SPMD_TRY(make_leaf(mesh, &leaves[i], step, &array));
        SPMD_TRY(spmd_tree_set_array(*state, leaves[i].name, array));
        spmd_array_free(&array);
    }
    return SPMD_OK;
}

/* The ranks agree on it. */
static spmd_status check_leaf(spmd_mesh *mesh, const struct leaf *leaf, int64_t step,
                              const spmd_array *got)
{
    spmd_array *wanted = NULL;
    SPMD_TRY(make_leaf(mesh, leaf, step, &wanted));
    const spmd_block *p = spmd_array_block(got), *q = spmd_array_block(wanted);
    bool same = spmd_shape_equal(spmd_array_shape(got), spmd_array_shape(wanted)) &&
                spmd_block_size(p) == spmd_block_size(q) &&
                memcmp(p->data, q->data, (size_t)spmd_block_size(q) * sizeof(double)) == 0;
    spmd_array_free(&wanted);
    bool differs = false;
    SPMD_TRY(spmd_any(mesh, !same, &differs));
    if (differs)
        return spmd_fail(SPMD_ERR_FILE, "%s is not that of step %" PRId64, leaf->name, step);
    return SPMD_OK;
}

static spmd_status check_state(spmd_mesh *mesh, const spmd_tree *state, int64_t step)
{
    int64_t told = 0;
    SPMD_TRY(spmd_tree_get_integer(state, "step", &told));
    if (told != step)
        return spmd_fail(SPMD_ERR_FILE, "the state of step %" PRId64 " is that of %" PRId64, step,
                         told);
    for (int i = 0; i < LEAVES; i++) {
        spmd_array *array = NULL;
        SPMD_TRY(spmd_tree_get_array(state, leaves[i].name, &array));
        SPMD_TRY(check_leaf(mesh, &leaves[i], step, array));
    }
    return SPMD_OK;
}

static spmd_status check_checkpoint(spmd_mesh *mesh, const char *directory, int64_t step)
{
    spmd_tree *like = NULL, *state = NULL;
    SPMD_TRY(make_state(mesh, step, &like));
    SPMD_TRY(spmd_checkpoint_restore_like(mesh, directory, step, like, NULL, &state));
    spmd_status status = check_state(mesh, state, step);
    spmd_tree_free(&state);
    spmd_tree_free(&like);
    return status;
}

static spmd_status save_checkpoint(spmd_mesh *mesh, const char *directory, int64_t step, int keep)
{
    spmd_tree *state = NULL;
    SPMD_TRY(make_state(mesh, step, &state));
    spmd_status status = spmd_checkpoint_save(mesh, directory, step, state, keep);
    spmd_tree_free(&state);
    return status;
}

/* What step 2 has not replaced is there, and what it has put in place is whole. */
static spmd_status look_at_checkpoints(spmd_mesh *mesh, const char *directory)
{
    int64_t latest = -1;
    SPMD_TRY(check_checkpoint(mesh, directory, 1));
    SPMD_TRY(spmd_checkpoint_latest(mesh, directory, &latest));
    SPMD_TRY(check_checkpoint(mesh, directory, latest));
    SPMD_TRY(save_checkpoint(mesh, directory, 3, 1));
    return check_checkpoint(mesh, directory, 3);
}

static spmd_status save_file(spmd_mesh *mesh, const char *directory, int64_t step, int keep)
{
    (void)keep;
    char path[4096];
    snprintf(path, sizeof path, "%s/v.h5", directory);
    spmd_array *array = NULL;
    SPMD_TRY(make_leaf(mesh, &leaves[1], step, &array));
    spmd_status status = spmd_write(array, path, "v");
    spmd_array_free(&array);
    return status;
}

static spmd_status check_file(spmd_mesh *mesh, const char *directory, int64_t step)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/v.h5", directory);
    spmd_array *array = NULL;
    SPMD_TRY(spmd_read(mesh, path, "v", leaves[1].spec, SPMD_DTYPE_NONE, &array));
    spmd_status status = check_leaf(mesh, &leaves[1], step, array);
    spmd_array_free(&array);
    return status;
}

/* The old file or the new one, whole. */
static spmd_status look_at_file(spmd_mesh *mesh, const char *directory)
{
    if (check_file(mesh, directory, 1) != SPMD_OK)
        SPMD_TRY(check_file(mesh, directory, 2));
    SPMD_TRY(save_file(mesh, directory, 3, 1));
    return check_file(mesh, directory, 3);
}

static const struct way {
    const char *name;
    spmd_status (*save)(spmd_mesh *mesh, const char *directory, int64_t step, int keep);
    spmd_status (*look)(spmd_mesh *mesh, const char *directory);
} ways[] = {{"checkpoint", save_checkpoint, look_at_checkpoints},
            {"file", save_file, look_at_file}};

static const struct way *find_way(const char *name)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, name) == 0)
            return &ways[i];
    return NULL;
}

/* Who there is to be killed. */
enum { MOST_RANKS = 16 };
static struct {
    int rank, ranks;
    pid_t process[MOST_RANKS];
    int count[MOST_RANKS]; /* calls of a save */
    int before;            /* calls of this rank before the save that it dies in */
    bool all;
    const char *directory;
} job;

/* What a process has mapped, also of shared memory. */
static void tell_mapped(FILE *stream, pid_t process)
{
    char line[4500];
    snprintf(line, sizeof line, "/proc/%d/maps", (int)process);
    FILE *maps = fopen(line, "r");
    while (maps && fgets(line, sizeof line, maps))
        fputs(line, stream);
    if (maps)
        fclose(maps);
}

/* What is known of the end stands in a file beside the directory: pipes lose last words. */
static void die(const char *last)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.end", job.directory);
    FILE *stream = fopen(path, "w");
    if (!stream)
        abort();
    fprintf(stream, "%s: rank %d of %d at call %d of %d, %s\n", job.directory, job.rank, job.ranks,
            dying_count() - job.before, job.count[job.rank], last);
    for (int i = 0; i < job.ranks; i++)
        tell_mapped(stream, job.process[i]);
    fclose(stream);
    for (int i = 0; job.all && i < job.ranks; i++)
        if (i != job.rank)
            kill(job.process[i], SIGKILL);
    kill(job.process[job.rank], SIGKILL);
}

/* All ranks draw the same call of one of them. */
static void choose_end(unsigned seed)
{
    int total = 0, rank = 0;
    for (int i = 0; i < job.ranks; i++)
        total += job.count[i];
    int call = rand_r(&seed) % total;
    for (; call >= job.count[rank]; rank++)
        call -= job.count[rank];
    if (rank == job.rank)
        dying_after(call, seed, die);
}

static spmd_status die_in_a_save(spmd_mesh *mesh, const struct way *way, unsigned seed)
{
    const pid_t self = getpid();
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    if (job.ranks > MOST_RANKS)
        return spmd_fail(SPMD_ERR_ARGUMENT, "more than %d ranks", MOST_RANKS);
    int before = dying_count();
    SPMD_TRY(way->save(mesh, job.directory, 1, 0));
    int count = dying_count() - before;
    MPI_Allgather(&self, sizeof self, MPI_BYTE, job.process, sizeof self, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Allgather(&count, 1, MPI_INT, job.count, 1, MPI_INT, MPI_COMM_WORLD);
    job.before = dying_count();
    choose_end(seed);
    SPMD_TRY(way->save(mesh, job.directory, 2, 0));
    printf("nobody died\n");
    return SPMD_OK;
}

/* Goes on after a failure, which it tells. */
static spmd_status look_at_all(spmd_mesh *mesh, const struct way *way, int count, char **directory)
{
    int failed = 0;
    for (int i = 0; i < count; i++)
        if (way->look(mesh, directory[i]) != SPMD_OK) {
            fprintf(stderr, "%s: %s\n", directory[i], spmd_error_message());
            failed++;
        }
    if (failed > 0)
        return spmd_fail(SPMD_ERR_FILE, "%d of %d are not as they were", failed, count);
    return SPMD_OK;
}

static spmd_status program(int argc, char **argv)
{
    const struct way *way = argc > 3 ? find_way(argv[2]) : NULL;
    spmd_mesh *mesh = NULL;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    spmd_status status = SPMD_OK;
    if (way && strcmp(argv[1], "look") == 0) {
        status = look_at_all(mesh, way, argc - 3, argv + 3);
    } else if (way && argc == 6) {
        job.all = strcmp(argv[3], "all") == 0;
        job.directory = argv[5];
        status = die_in_a_save(mesh, way, (unsigned)strtoul(argv[4], NULL, 10));
    } else {
        status = spmd_fail(SPMD_ERR_ARGUMENT, "use: faults die|look ...");
    }
    spmd_mesh_free(&mesh);
    return status;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
