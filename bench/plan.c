/* plan.c - what it costs a rank to know its part in a reshard among 65,536 devices, without any of
 * them: the plan and what it moves, against the plain way, which cuts its box with every device's.
 *
 *     bench/plan [--quick | --once]
 *
 * A remark tells by how much the process has grown.
 */
#include <sys/resource.h>

#include "bench.h"

enum { DEVICES = 65536 };

struct question {
    spmd_sharding *from, *to;
    spmd_shape shape;
    int64_t position;
    int64_t received, sent; /* the answer, in elements */
};

static void ask(void *state)
{
    struct question *question = state;
    spmd_reshard_call *plan;
    spmd_reshard_bytes bytes;
    bench_check(spmd_reshard_plan(question->from, question->to, SPMD_F64, question->shape, &plan));
    bench_check(spmd_reshard_count(plan, question->position, &bytes));
    spmd_reshard_free(&plan);
    question->received = bytes.received / 8;
    question->sent = bytes.sent / 8;
}

static int64_t common_size(const spmd_box *a, const spmd_box *b)
{
    int64_t size = 1;
    for (int d = 0; d < a->ndim; d++) {
        int64_t lo = a->lo[d] > b->lo[d] ? a->lo[d] : b->lo[d];
        int64_t hi = a->hi[d] < b->hi[d] ? a->hi[d] : b->hi[d];
        size *= hi > lo ? hi - lo : 0;
    }
    return size;
}

static spmd_box box_of(const struct question *question, const spmd_sharding *sharding,
                       int64_t position)
{
    spmd_box box;
    bench_check(spmd_sharding_box(sharding, question->shape, position, &box));
    return box;
}

/* Where no block has replicas. */
static void ask_plainly(void *state)
{
    struct question *question = state;
    spmd_box had = box_of(question, question->from, question->position);
    spmd_box gets = box_of(question, question->to, question->position);
    question->received = question->sent = 0;
    for (int64_t other = 0; other < DEVICES; other++) {
        spmd_box has = box_of(question, question->from, other);
        spmd_box wants = box_of(question, question->to, other);
        if (other != question->position) {
            question->received += common_size(&gets, &has);
            question->sent += common_size(&had, &wants);
        }
    }
}

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void compare(spmd_mesh *mesh, const char *measure, const char *from, const char *to)
{
    struct question asked = {.shape = SPMD_SHAPE(65536, 65536), .position = 4711};
    bench_check(spmd_sharding_create(mesh, from, &asked.from));
    bench_check(spmd_sharding_create(mesh, to, &asked.to));
    struct question plainly = asked;
    long before = peak_kib();
    ask(&asked);
    long grown = peak_kib() - before;
    ask_plainly(&plainly);
    if (asked.received != plainly.received || asked.sent != plainly.sent)
        bench_check(spmd_fail(SPMD_ERR_BODY, "the plan of %s counts wrong", measure));
    bench_compare(measure, 0, (struct contender){"plan", ask, &asked},
                  (struct contender){"boxes of all devices", ask_plainly, &plainly});
    bench_note("growth: %ld KiB", grown);
    spmd_sharding_free(&asked.from);
    spmd_sharding_free(&asked.to);
}

int main(int argc, char **argv)
{
    spmd_mesh *mesh;
    MPI_Init(&argc, &argv);
    bench_begin(argc, argv);
    bench_check(spmd_mesh_create_abstract("x=256,y=256", &mesh));
    compare(mesh, "exchange of two axes; 1 peer", "P(x,y)", "P(y,x)");
    compare(mesh, "2-d all-to-all; 256 peers", "P((x,y),-)", "P(x,y)");
    compare(mesh, "all-to-all; 65535 peers", "P((x,y),-)", "P(-,(x,y))");
    spmd_mesh_free(&mesh);
    MPI_Finalize();
    return 0;
}
