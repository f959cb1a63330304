/* moves.h - by which way data moves: what the library asks of MPI and of the system is counted, and
 * its notes are. Our functions are found in place of theirs. */
#ifndef MOVES_H
#define MOVES_H

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "planned.h"

/* Since moves_begin. */
static int64_t moves_sent; /* bytes of messages, but for short ones */
static int64_t moves_read; /* bytes of other processes' own memory */

enum { MOVES_LEAST_MESSAGE = 4096 };

int MPI_Isend(const void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int size;
    MPI_Type_size(type, &size);
    moves_sent += (int64_t)count * size >= MOVES_LEAST_MESSAGE ? (int64_t)count * size : 0;
    return PMPI_Isend(data, count, type, rank, tag, comm, request);
}

ssize_t process_vm_readv(pid_t process, const struct iovec *local, unsigned long nlocal,
                         const struct iovec *remote, unsigned long nremote, unsigned long flags)
{
    ssize_t bytes = syscall(SYS_process_vm_readv, process, local, nlocal, remote, nremote, flags);
    moves_read += bytes > 0 ? bytes : 0;
    return bytes;
}

static inline void moves_begin(void)
{
    moves_sent = moves_read = 0;
}

/* Of all ranks. */
static inline int64_t moves_total(int64_t mine)
{
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return mine;
}

/* Open MPI reads other processes' memory as well, if it is let. For a main, before MPI_Init. */
static inline void moves_leave_mpi_out(void)
{
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
}

/* The pool is made with the first large block, and keeps to this limit. */
static inline void moves_limit_pool(rlim_t bytes)
{
    struct rlimit limit, small;
    spmd_mesh *mesh = NULL;
    spmd_array *array = NULL;
    getrlimit(RLIMIT_FSIZE, &limit);
    small = (struct rlimit){.rlim_cur = bytes, .rlim_max = limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    EXPECT_OK(spmd_mesh_create(MPI_COMM_SELF, "x=1", &mesh));
    EXPECT_OK(spmd_array_zeros(mesh, "P()", SPMD_U8, SPMD_SHAPE(40000), &array));
    setrlimit(RLIMIT_FSIZE, &limit);
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

/* A matrix of doubles that lies by columns, and is to lie by rows, or the other way round. What
 * each rank gets from each other one lies together at its columns, and in runs of less than 2 KiB
 * at its rows. */
enum { MOVES_ROWS = 1024, MOVES_COLUMNS = 400 };

static inline int64_t moves_part(int64_t size, int part)
{
    return size / test_size + (part < size % test_size);
}

/* Bytes that all ranks get from others. */
static inline int64_t moves_expected(void)
{
    int64_t own = 0;
    for (int r = 0; r < test_size; r++)
        own += moves_part(MOVES_ROWS, r) * moves_part(MOVES_COLUMNS, r);
    return ((int64_t)MOVES_ROWS * MOVES_COLUMNS - own) * (int64_t)sizeof(double);
}

static inline void moves_make(const char *way, const char *from_spec, const char *to_spec)
{
    spmd_mesh *mesh = NULL;
    spmd_array *out = NULL;
    setenv("SPMD_MOVE", way, 1);
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    unsetenv("SPMD_MOVE");
    struct planned planned =
        plan_between(mesh, from_spec, to_spec, SPMD_F64, SPMD_SHAPE(MOVES_ROWS, MOVES_COLUMNS));
    spmd_array *in = source_of(&planned);
    moves_begin();
    EXPECT_OK(spmd_reshard_run(planned.plan, 1, &in, &out));
    EXPECT(is_moved(&planned, out));
    free_plan(&planned);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* Of what comes from others, all is sent in the last move, or read, or neither. */
static inline bool moves_are(bool sent, bool read)
{
    bool as_sent = EXPECT(moves_total(moves_sent) == (sent ? moves_expected() : 0));
    return EXPECT(moves_total(moves_read) == (read ? moves_expected() : 0)) && as_sent;
}

/* From columns to rows. */
static inline void moves_expect(const char *way, bool sent, bool read)
{
    moves_make(way, "P(-,x)", "P(x)");
    if (!moves_are(sent, read))
        fprintf(stderr, "# SPMD_MOVE=%s\n", way);
}

/* Standard error, kept in a file. */
struct moves_notes {
    FILE *file;
    int saved;
};

static inline struct moves_notes moves_catch(void)
{
    struct moves_notes notes = {.file = tmpfile(), .saved = dup(STDERR_FILENO)};
    dup2(fileno(notes.file), STDERR_FILENO);
    return notes;
}

/* Whether the ranks together wrote this line, once, with "spmd: note: " before it, and no other
 * one; NULL, or one rank alone: none at all. */
static inline bool moves_noted(struct moves_notes *notes, const char *wanted)
{
    char line[1024];
    int64_t right = 0, wrong = 0;
    dup2(notes->saved, STDERR_FILENO);
    close(notes->saved);
    rewind(notes->file);
    while (fgets(line, sizeof line, notes->file)) {
        line[strcspn(line, "\n")] = '\0';
        bool is_wanted =
            wanted && strncmp(line, "spmd: note: ", 12) == 0 && strcmp(line + 12, wanted) == 0;
        if (!is_wanted)
            fprintf(stderr, "%s\n", line);
        right += is_wanted;
        wrong += !is_wanted;
    }
    fclose(notes->file);
    return moves_total(right) == (wanted && test_size > 1) && moves_total(wrong) == 0;
}

#endif
