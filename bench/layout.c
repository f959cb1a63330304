/* layout.c - what a question about who holds what costs on a mesh of 1,048,576 positions, against
 * the plain way: for each dimension all coordinates of the position, by a division for each axis.
 *
 *     bench/layout [--quick | --once]
 */
#include "bench.h"

enum { AXES = 4, DIMS = 3, ENTRY = 2 };

/* P(b, (d,a)) on mesh a=32,b=32,c=32,d=32, as the plain way knows it. */
static const struct entry {
    int naxes;
    int axis[ENTRY];
} entries[DIMS] = {{1, {1}}, {2, {3, 0}}, {0, {0}}};
static const int replicated = 2;
static int64_t sizes[AXES]; /* read from the mesh, so that divisions stay divisions */

struct asking {
    const spmd_sharding *sharding;
    spmd_shape shape;
    int64_t position; /* the next to ask for */
    int64_t sum;      /* of answers, so that each is needed */
};

static int64_t next_position(struct asking *asking)
{
    asking->position = (asking->position + 699051) & ((1 << 20) - 1);
    return asking->position;
}

static void coordinates_of(int64_t position, int64_t coordinates[AXES])
{
    for (int a = AXES - 1; a >= 0; a--) {
        coordinates[a] = position % sizes[a];
        position /= sizes[a];
    }
}

static void plain_range(int dim, int64_t n, int64_t position, int64_t *lo, int64_t *hi)
{
    int64_t coordinates[AXES];
    coordinates_of(position, coordinates);
    *lo = 0;
    *hi = n;
    for (int i = 0; i < entries[dim].naxes; i++) {
        int axis = entries[dim].axis[i];
        int64_t each = (*hi - *lo) / sizes[axis], longer = (*hi - *lo) % sizes[axis];
        int64_t at = coordinates[axis];
        *lo += at * each + (at < longer ? at : longer);
        *hi = *lo + each + (at < longer ? 1 : 0);
    }
}

static void plain_box(void *state)
{
    struct asking *asking = state;
    int64_t position = next_position(asking);
    spmd_box box = {.ndim = DIMS};
    for (int d = 0; d < DIMS; d++)
        plain_range(d, asking->shape.dim[d], position, &box.lo[d], &box.hi[d]);
    asking->sum += box.lo[0] + box.hi[1];
}

static void plain_shape(void *state)
{
    struct asking *asking = state;
    int64_t position = next_position(asking);
    spmd_shape shape = {.ndim = DIMS};
    for (int d = 0; d < DIMS; d++) {
        int64_t lo, hi;
        plain_range(d, asking->shape.dim[d], position, &lo, &hi);
        shape.dim[d] = hi - lo;
    }
    asking->sum += shape.dim[1];
}

static void plain_replica(void *state)
{
    struct asking *asking = state;
    int64_t coordinates[AXES];
    coordinates_of(next_position(asking), coordinates);
    asking->sum += coordinates[replicated];
}

static void our_box(void *state)
{
    struct asking *asking = state;
    spmd_box box;
    bench_check(spmd_sharding_box(asking->sharding, asking->shape, next_position(asking), &box));
    asking->sum += box.lo[0] + box.hi[1];
}

static void our_shape(void *state)
{
    struct asking *asking = state;
    spmd_shape shape;
    bench_check(
        spmd_sharding_shard_shape(asking->sharding, asking->shape, next_position(asking), &shape));
    asking->sum += shape.dim[1];
}

static void our_replica(void *state)
{
    struct asking *asking = state;
    asking->sum += spmd_sharding_replica(asking->sharding, next_position(asking));
}

static void compare(const char *measure, const spmd_sharding *sharding, void (*ours)(void *),
                    void (*plain)(void *))
{
    struct asking asked = {.sharding = sharding, .shape = SPMD_SHAPE(100003, 65536, 7)};
    struct asking plainly = asked;
    bench_compare(measure, 0, (struct contender){"layout", ours, &asked},
                  (struct contender){"division for each axis and dim", plain, &plainly});
}

int main(int argc, char **argv)
{
    spmd_mesh *mesh;
    spmd_sharding *sharding;
    MPI_Init(&argc, &argv);
    bench_begin(argc, argv);
    bench_check(spmd_mesh_create_abstract("a=32,b=32,c=32,d=32", &mesh));
    bench_check(spmd_sharding_create(mesh, "P(b, (d,a))", &sharding));
    for (int a = 0; a < AXES; a++)
        sizes[a] = spmd_mesh_axis_size(mesh, spmd_mesh_axis_name(mesh, a));
    compare("shard shape", sharding, our_shape, plain_shape);
    compare("box", sharding, our_box, plain_box);
    compare("replica", sharding, our_replica, plain_replica);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
    MPI_Finalize();
    return 0;
}
