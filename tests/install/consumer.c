/* consumer.c - what a user of the installed library writes, in C and in C++: an array is moved
 * from one sharding to another and comes back whole; a body sums over the ranks. */
#include <stdio.h>
#include <string.h>

#include <spmd.h>

static spmd_status there_and_back(spmd_mesh *mesh, int64_t host[6])
{
    const int64_t extent[2] = {3, 2};
    spmd_array *rows = NULL, *columns = NULL;
    spmd_status status =
        spmd_array_arange(mesh, "P(x, -)", SPMD_I64, spmd_shape_make(2, extent), &rows);

    if (status == SPMD_OK)
        status = spmd_reshard(rows, "P(-, x)", &columns);
    if (status == SPMD_OK)
        status = spmd_array_gather(columns, SPMD_ALL, host, 6);
    spmd_array_free(&columns);
    spmd_array_free(&rows);
    return status;
}

/* out = the sum of all ranks' blocks, in two phases. */
static spmd_status sum(spmd_ctx *ctx, void *user)
{
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = spmd_out(ctx, 0, in->dtype, spmd_block_shape(in));
    spmd_request *request = NULL;
    SPMD_TRY(spmd_psum_start(ctx, in, (const char *)user, out, &request));
    return spmd_wait(&request);
}

static spmd_status sum_of_rows(spmd_mesh *mesh, int64_t *total)
{
    char axis[] = "x";
    const char *const in_specs[1] = {"P(x)"}, *const out_specs[1] = {"P()"};
    const int64_t extent[1] = {spmd_mesh_size(mesh)};
    spmd_array *rows = NULL, *out = NULL;
    spmd_status status =
        spmd_array_arange(mesh, "P(x)", SPMD_I64, spmd_shape_make(1, extent), &rows);

    if (status == SPMD_OK)
        status = spmd_shard_map(mesh, sum, axis, 1, &rows, in_specs, 1, &out, out_specs, NULL);
    if (status == SPMD_OK)
        status = spmd_array_gather(out, SPMD_ALL, total, 1);
    spmd_array_free(&out);
    spmd_array_free(&rows);
    return status;
}

static spmd_status program(int argc, char **argv)
{
    const int64_t wanted[6] = {0, 1, 2, 3, 4, 5};
    int64_t host[6] = {-1, -1, -1, -1, -1, -1}, total = -1, size;
    spmd_mesh *mesh = NULL;
    spmd_status status;

    (void)argc, (void)argv;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    status = there_and_back(mesh, host);
    if (status == SPMD_OK && memcmp(host, wanted, sizeof wanted) != 0)
        status = spmd_fail(SPMD_ERR_BODY, "the array came back changed");
    if (status == SPMD_OK)
        status = sum_of_rows(mesh, &total);
    size = spmd_mesh_size(mesh);
    if (status == SPMD_OK && total != size * (size - 1) / 2)
        status = spmd_fail(SPMD_ERR_BODY, "the sum is %lld", (long long)total);
    if (status == SPMD_OK && spmd_mesh_position(mesh) == 0)
        printf("spmd %s on %d ranks\n", SPMD_VERSION, (int)spmd_mesh_size(mesh));
    spmd_mesh_free(&mesh);
    return status;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
