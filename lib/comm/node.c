/* comm/node.c - the ranks of a communicator that can read this one's blocks where they lie. */
#include "comm/node.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "comm/mpi.h"
#include "core/mem.h"
#include "core/pool.h"

/* What a rank shows the others; it stands in its pool, and only it writes there. */
struct slot {
    _Atomic uint64_t offered;  /* the last round that it has come to */
    _Atomic int64_t offset;    /* of its block in this round, in the pool; -1: not there */
    _Atomic uint64_t finished; /* the last round in which it has read all */
    char rest[64 - 3 * sizeof(uint64_t)]; /* of the cache line */
};

/* This process's slots: one block of the pool, which is kept. A slot that is given back may still
 * be looked at by a slow rank, and be taken again before: so its counters never go back, and the
 * rounds of a new node begin above those of all its slots. */
enum { SLOTS = POOL_LEAST_BYTES / sizeof(struct slot) };
static struct {
    struct slot *table; /* [SLOTS] */
    bool used[SLOTS];
} slots;

static struct slot *take_slot(void)
{
    void *table = NULL;
    if (!slots.table && spmd__pool_take(POOL_LEAST_BYTES, true, &table) == SPMD_OK)
        slots.table = table;
    for (int i = 0; slots.table && i < (int)SLOTS; i++)
        if (!slots.used[i]) {
            slots.used[i] = true;
            return &slots.table[i];
        }
    return NULL;
}

static void give_slot(struct slot *slot)
{
    if (slot)
        slots.used[slot - slots.table] = false;
}

struct neighbour {
    int rank;
    struct peer_file file;
    const char *pool; /* NULL: this rank's own */
    const struct slot *slot;
};

struct node {
    MPI_Comm comm;
    uint64_t round;
    struct slot *slot;
    int count;
    struct neighbour *list; /* [count] without this rank, by rank */
};

/* What the ranks of a node tell each other. */
struct card {
    int rank;
    struct peer_file file;
    int64_t slot;
};

static bool is_wanted(void)
{
    const char *value = getenv("SPMD_PEER_READS");
    return !value || strcmp(value, "0") != 0;
}

static bool meet_neighbour(const struct card *card, struct neighbour *neighbour)
{
    *neighbour = (struct neighbour){.rank = card->rank, .file = card->file};
    if (card->slot >= 0)
        neighbour->pool = spmd__peer_file_map(&card->file, false);
    if (!neighbour->pool)
        return false;
    madvise((void *)neighbour->pool, card->file.size, MADV_DONTFORK);
    neighbour->slot = (const void *)(neighbour->pool + card->slot);
    return true;
}

/* Maps the pools of all but this rank; false if one of them cannot be. */
static bool meet_neighbours(struct node *node, int rank, int size, const struct card cards[])
{
    for (int i = 0; i < size; i++)
        if (cards[i].rank != rank && !meet_neighbour(&cards[i], &node->list[node->count++]))
            return false;
    return true;
}

/* Local. All that a rank brings; a card without a slot where it cannot. */
static struct node *prepare(MPI_Comm comm, int size, struct card **cards, struct card *mine)
{
    struct node *node = NULL;
    *cards = NULL;
    mine->slot = -1;
    if (!is_wanted() || spmd__alloc(1, sizeof *node, &node) != SPMD_OK)
        return node;
    node->comm = comm;
    if (spmd__alloc((size_t)size, sizeof **cards, cards) == SPMD_OK &&
        spmd__alloc((size_t)size, sizeof *node->list, &node->list) == SPMD_OK)
        node->slot = take_slot();
    if (node->slot) {
        node->round = atomic_load(&node->slot->offered);
        mine->slot = spmd__pool_offset(node->slot);
    }
    mine->file = spmd__pool_file();
    return node;
}

/* Collective over the ranks of one node. All of them can read each other's blocks, or none. */
static spmd_status open_on(MPI_Comm local, MPI_Comm comm, struct node **out)
{
    int size, well, all_well;
    struct card mine = {.slot = -1}, *cards;
    TRY_MPI(MPI_Comm_size(local, &size));
    TRY_MPI(MPI_Comm_rank(comm, &mine.rank));
    struct node *node = prepare(comm, size, &cards, &mine);
    well = mine.slot >= 0;
    int code = MPI_Allreduce(&well, &all_well, 1, MPI_INT, MPI_MIN, local);
    if (code == MPI_SUCCESS && all_well) {
        code = MPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards, sizeof mine, MPI_BYTE, local);
        well = code == MPI_SUCCESS && meet_neighbours(node, mine.rank, size, cards);
        code = MPI_Allreduce(&well, &all_well, 1, MPI_INT, MPI_MIN, local);
        MPI_Allreduce(MPI_IN_PLACE, &node->round, 1, MPI_UINT64_T, MPI_MAX, local);
    }
    free(cards);
    if (code == MPI_SUCCESS && all_well)
        *out = node;
    else
        spmd__node_free(&node);
    return spmd__mpi_status(code, "MPI_Allreduce");
}

spmd_status spmd__node_open(MPI_Comm comm, struct node **out)
{
    MPI_Comm local;
    int size;
    *out = NULL;
    TRY_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local));
    spmd_status status = spmd__mpi_adopt_comm(local);
    if (status == SPMD_OK)
        status = spmd__mpi_status(MPI_Comm_size(local, &size), "MPI_Comm_size");
    if (status == SPMD_OK && size > 1)
        status = open_on(local, comm, out);
    spmd__mpi_free_comm(&local);
    return status;
}

void spmd__node_free(struct node **handle)
{
    struct node *node = *handle;
    *handle = NULL;
    if (!node)
        return;
    for (int i = 0; i < node->count; i++)
        if (node->list[i].pool)
            munmap((void *)node->list[i].pool, node->list[i].file.size);
    give_slot(node->slot);
    free(node->list);
    free(node);
}

static const struct neighbour *find(const struct node *node, int rank)
{
    for (int i = 0; node && i < node->count; i++)
        if (node->list[i].rank == rank)
            return &node->list[i];
    return NULL;
}

bool spmd__node_has(const struct node *node, int rank)
{
    return find(node, rank) != NULL;
}

int spmd__node_size(const struct node *node)
{
    return node ? node->count + 1 : 1;
}

/* Looks at a counter of another rank until it has come to `round`. */
static spmd_status await(const struct node *node, const _Atomic uint64_t *counter)
{
    enum { LOOKS = 2000 };
    for (;;) {
        for (int look = 0; look < LOOKS; look++)
            if (atomic_load_explicit(counter, memory_order_acquire) >= node->round)
                return SPMD_OK;
        int flag;
        TRY_MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, node->comm, &flag, MPI_STATUS_IGNORE));
        sched_yield();
    }
}

void spmd__node_offer(struct node *node, const void *block)
{
    node->round++;
    int64_t offset = block ? spmd__pool_offset(block) : -1;
    atomic_store_explicit(&node->slot->offset, offset, memory_order_relaxed);
    atomic_store_explicit(&node->slot->offered, node->round, memory_order_release);
}

spmd_status spmd__node_await(struct node *node, int rank, const void **data)
{
    const struct neighbour *neighbour = find(node, rank);
    TRY(await(node, &neighbour->slot->offered));
    int64_t offset = atomic_load_explicit(&neighbour->slot->offset, memory_order_relaxed);
    *data = offset >= 0 ? neighbour->pool + offset : NULL;
    return SPMD_OK;
}

void spmd__node_finish(struct node *node)
{
    atomic_store_explicit(&node->slot->finished, node->round, memory_order_release);
}

spmd_status spmd__node_await_reader(struct node *node, int rank)
{
    return await(node, &find(node, rank)->slot->finished);
}
