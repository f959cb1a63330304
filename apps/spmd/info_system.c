/* info_system.c - the versions, libraries and ranks that spmd info finds. */
#include <stdio.h>
#include <string.h>

#ifdef HAVE_CBLAS
#include <cblas.h>
#endif

#include <spmd.h>
#include "cmd.h"
#include "info.h"
#include "plural.h"

static void print_mpi(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, version, subversion;
    MPI_Get_library_version(text, &length);
    MPI_Get_version(&version, &subversion);
    text[strcspn(text, "\n")] = '\0';
    printf("MPI       standard %d.%d, %s\n", version, subversion, text);
}

static void print_hdf5(void)
{
    int major, minor, release;
    bool parallel;
    spmd_io_version(&major, &minor, &release, &parallel);
    printf("HDF5      %d.%d.%d, %s\n", major, minor, release, parallel ? "parallel" : "serial");
}

static void print_blas(void)
{
#if defined OPENBLAS_VERSION
    printf("BLAS      %s, threads: %d\n", openblas_get_config(), openblas_get_num_threads());
#elif defined HAVE_CBLAS
    puts("BLAS      of unknown version (not OpenBLAS)");
#else
    puts("BLAS      none: this build has no spmd sweep");
#endif
}

/* Collective. The number of hosts: of ranks that are the first of their shared memory. */
static int count_hosts(void)
{
    MPI_Comm host;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    int rank, hosts = 0;
    MPI_Comm_rank(host, &rank);
    int first = rank == 0;
    MPI_Allreduce(&first, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_free(&host);
    return hosts;
}

static void print_ranks(int ranks, int hosts)
{
    struct cmd_launch launch = cmd_launch();
    printf("ranks     %d on %d host%s\n", ranks, hosts, plural(hosts));
    if (launch.variable)
        printf("launcher  %s=%lld\n", launch.variable, launch.size);
    else
        puts("launcher  none");
}

/* A program built for one MPI and started by the launcher of another runs as many programs of
 * one rank. */
static void warn_of_mixed_mpi(int ranks)
{
    struct cmd_launch launch = cmd_launch();
    if (ranks == 1 && launch.size > 1)
        cmd_warning("the launcher started %lld processes (%s=%lld), but MPI_COMM_WORLD has 1 rank: "
                    "start spmd by the launcher of the MPI that it is built for",
                    launch.size, launch.variable, launch.size);
}

int info_system(void)
{
    int ranks, hosts = count_hosts(), code = CMD_DONE;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (cmd_is_speaker()) {
        puts("spmd      " SPMD_VERSION);
        print_mpi();
        print_hdf5();
        print_blas();
        print_ranks(ranks, hosts);
        code = info_environment();
    }
    warn_of_mixed_mpi(ranks);
    return code;
}
