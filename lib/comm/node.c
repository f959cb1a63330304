/* comm/node.c - the ranks of a communicator that can read this one's blocks where they lie. */
#include "comm/node.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "comm/agree.h"
#include "comm/mpi.h"
#include "comm/slot.h"
#include "core/mem.h"
#include "core/peer_map.h"
#include "core/pool.h"
#include "core/remote.h"
#include "core/tell.h"

/* What the ranks of a node tell each other. Addresses are those in the rank's own process. */
struct card {
    int rank;
    struct peer_file file;
    uintptr_t pool;
    uintptr_t slot;
};

struct neighbour {
    struct card card;
    char *pool; /* here; NULL: it cannot be seen */
    const struct slot *slot;
};

struct node {
    MPI_Comm comm;
    enum way way; /* that is forced */
    const struct costs *costs;
    bool reads; /* other processes' own memory, too */
    bool tells; /* the others of the node leave notes to this rank */
    uint64_t round;
    struct slot *slot;
    int count;
    struct neighbour *list; /* [count] without this rank, by rank */
};

/* Why a way is closed to the ranks of a node, as errno; 0: it is open. */
struct refusal {
    int pool;
    int readv;
};

/* Why a rank's pool cannot be seen, as errno; 0: it can. */
static int meet_neighbour(const struct card *card, struct neighbour *neighbour)
{
    *neighbour = (struct neighbour){.card = *card, .pool = spmd__peer_map_take(&card->file)};
    if (!neighbour->pool)
        return errno ? errno : EACCES;
    neighbour->slot = (const void *)(neighbour->pool + (card->slot - card->pool));
    return 0;
}

/* Why another process's own memory, of which its pool is a part, cannot be read; 0: it can. */
static int probe(const struct node *node, const struct card *card)
{
    const struct peer_file *file = &card->file;
    if (node->way == WAY_POOL)
        return EPERM;
    return spmd__remote_probe(file->process, (const void *)card->pool, &file->mark,
                              sizeof file->mark);
}

/* Maps the pools of all but this rank, and looks whether their own memory can be read as well. */
static struct refusal meet_neighbours(struct node *node, int rank, int size,
                                      const struct card cards[])
{
    struct refusal refusal = {0, 0};
    for (int i = 0; i < size; i++) {
        const struct card *card = &cards[i];
        if (card->rank == rank)
            continue;
        int unseen = meet_neighbour(card, &node->list[node->count++]), unread = probe(node, card);
        refusal.pool = unseen ? unseen : refusal.pool;
        refusal.readv = unread ? unread : refusal.readv;
    }
    return refusal;
}

/* Local. All that a rank brings. Gives why it cannot, as errno: then *out is NULL, or only to be
 * freed. */
static int prepare(const struct node *draft, int size, struct card **cards, struct card *mine,
                   struct node **out)
{
    struct node *node = NULL;
    *cards = NULL;
    *out = NULL;
    if (spmd__alloc(1, sizeof *node, &node) != SPMD_OK)
        return ENOMEM;
    *node = *draft;
    *out = node;
    if (spmd__alloc((size_t)size, sizeof **cards, cards) != SPMD_OK ||
        spmd__alloc((size_t)size, sizeof *node->list, &node->list) != SPMD_OK)
        return ENOMEM;
    node->slot = spmd__slot_take();
    if (!node->slot)
        return errno;
    node->round = atomic_load(&node->slot->offered);
    mine->file = spmd__pool_file();
    mine->slot = (uintptr_t)node->slot;
    mine->pool = mine->slot - (uintptr_t)spmd__pool_offset(node->slot);
    return 0;
}

/* All ranks of a node read by a way, or none does. */
static spmd_status join(MPI_Comm local, struct refusal *refusal)
{
    int both[] = {refusal->pool, refusal->readv};
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT, MPI_MAX, local));
    *refusal = (struct refusal){both[0], both[1]};
    return SPMD_OK;
}

/* Collective over the ranks of one node. *refusal begins with this rank's own. */
static spmd_status introduce(MPI_Comm local, int size, struct node *node, const struct card *mine,
                             struct card cards[], struct refusal *refusal)
{
    TRY(join(local, refusal));
    if (refusal->pool)
        return SPMD_OK;
    TRY_MPI(MPI_Allgather(mine, sizeof *mine, MPI_BYTE, cards, sizeof *mine, MPI_BYTE, local));
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &node->round, 1, MPI_UINT64_T, MPI_MAX, local));
    *refusal = meet_neighbours(node, mine->rank, size, cards);
    return join(local, refusal);
}

/* Each of these once in a process. */
static void tell_of_refusal(enum way way, const struct refusal *refusal)
{
    static bool told_of_pool, told_of_readv;
    bool lacks_readv = !refusal->pool && refusal->readv && way == WAY_READV;
    if (refusal->pool && spmd__tell_first(&told_of_pool))
        spmd__tell_note(
            "the ranks of this node cannot see each other's memory (%s): blocks go by messages",
            strerror(refusal->pool));
    if (lacks_readv && spmd__tell_first(&told_of_readv))
        spmd__tell_note(
            "SPMD_MOVE=readv: the system refuses process_vm_readv (%s): blocks are read from "
            "shared memory, and those that are not in it go by messages",
            strerror(refusal->readv));
}

static void tell_of_shortage(const struct node *node, int refusal)
{
    static bool told;
    if (refusal && node->tells && spmd__tell_first(&told))
        spmd__tell_note("no more shared memory for blocks (%s): others are %s", strerror(refusal),
                        node->reads ? "read by process_vm_readv" : "sent in messages");
}

/* Collective over the ranks of one node. */
static spmd_status open_on(MPI_Comm local, const struct node *draft, struct node **out)
{
    int size;
    struct node *node;
    struct card mine = {.rank = -1}, *cards;
    struct refusal refusal = {0, 0};
    TRY_MPI(MPI_Comm_size(local, &size));
    TRY_MPI(MPI_Comm_rank(draft->comm, &mine.rank));
    refusal.pool = prepare(draft, size, &cards, &mine, &node);
    spmd_status status = introduce(local, size, node, &mine, cards, &refusal);
    free(cards);
    if (status == SPMD_OK && draft->tells)
        tell_of_refusal(draft->way, &refusal);
    if (status != SPMD_OK || refusal.pool)
        spmd__node_free(&node);
    else
        node->reads = !refusal.readv;
    *out = node;
    return status;
}

spmd_status spmd__node_open(MPI_Comm comm, enum way way, const struct costs *costs, bool tells,
                            struct node **out)
{
    MPI_Comm local;
    int place, size;
    *out = NULL;
    if (way == WAY_MESSAGES)
        return SPMD_OK;
    TRY_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local));
    spmd_status status = spmd__mpi_adopt_comm(local);
    MPI_Comm_rank(local, &place);
    MPI_Comm_size(local, &size);
    struct node draft = {.comm = comm, .way = way, .costs = costs, .tells = tells && place == 0};
    if (status == SPMD_OK && size > 1)
        status = open_on(local, &draft, out);
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
        spmd__peer_map_give(node->list[i].pool);
    spmd__slot_give(node->slot);
    free(node->list);
    free(node);
}

static const struct neighbour *find(const struct node *node, int rank)
{
    for (int i = 0; node && i < node->count; i++)
        if (node->list[i].card.rank == rank)
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

enum way spmd__node_way(const struct node *node, bool in_pool, int64_t bytes, int64_t runs)
{
    bool forced = node->way == WAY_READV;
    bool pays = (double)bytes >= node->costs->readv_from &&
                (double)bytes >= node->costs->readv_run * (double)runs;
    if (node->reads && (forced || (pays && !in_pool)))
        return WAY_READV;
    return in_pool ? WAY_POOL : WAY_MESSAGES;
}

void spmd__node_offer(struct node *node, const void *block, void *room)
{
    struct slot *slot = node->slot;
    int refusal = spmd__pool_refusal();
    node->round++;
    tell_of_shortage(node, refusal);
    atomic_store_explicit(&slot->refusal, refusal, memory_order_relaxed);
    atomic_store_explicit(&slot->address, (uintptr_t)block, memory_order_relaxed);
    atomic_store_explicit(&slot->room, (uintptr_t)room, memory_order_relaxed);
    atomic_store_explicit(&slot->offered, node->round, memory_order_release);
}

/* Where an address of another rank lies here; NULL: it is in no pool. */
static char *find_here(const struct neighbour *neighbour, uintptr_t address)
{
    uintptr_t offset = address - neighbour->card.pool;
    bool in_pool = offset < neighbour->card.file.size; /* which 0 is not */
    return in_pool ? neighbour->pool + offset : NULL;
}

spmd_status spmd__node_await(struct node *node, int rank, struct shown *shown)
{
    const struct neighbour *neighbour = find(node, rank);
    const struct slot *slot = neighbour->slot;
    TRY(await(node, &slot->offered));
    tell_of_shortage(node, atomic_load_explicit(&slot->refusal, memory_order_relaxed));
    uintptr_t address = atomic_load_explicit(&slot->address, memory_order_relaxed);
    uintptr_t room = atomic_load_explicit(&slot->room, memory_order_relaxed);
    *shown = (struct shown){.process = neighbour->card.file.process,
                            .address = (const char *)address,
                            .mapped = find_here(neighbour, address),
                            .room = find_here(neighbour, room)};
    return SPMD_OK;
}

void spmd__node_fetch(const struct shown *shown, const struct view *dst, const struct view *src,
                      size_t element)
{
    if (spmd__remote_copy(shown->process, dst, src, element) != SPMD_OK)
        spmd__abort(spmd_error_message());
}

void spmd__node_fetch_bytes(const struct shown *shown, void *dst, const void *src, size_t bytes)
{
    if (spmd__remote_read(shown->process, dst, src, bytes) != SPMD_OK)
        spmd__abort(spmd_error_message());
}

void spmd__node_finish(struct node *node)
{
    atomic_store_explicit(&node->slot->finished, node->round, memory_order_release);
}

spmd_status spmd__node_await_reader(struct node *node, int rank)
{
    return await(node, &find(node, rank)->slot->finished);
}
