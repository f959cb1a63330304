/* comm/notes.c - what each rank of a node was last seen to do, in a page that they share: a file of
 * the node's first rank. */
#include "comm/notes.h"

#include <stdatomic.h>
#include <string.h>

#include <sys/mman.h>
#include <unistd.h>

#include "comm/mpi.h"
#include "core/peer_file.h"

enum { NOTE_WORDS = (sizeof(struct note) + sizeof(uint64_t) - 1) / sizeof(uint64_t) };

/* A note that is read while it is written: odd turns are of writing. */
struct slot {
    _Atomic uint64_t turn;
    _Atomic uint64_t words[NOTE_WORDS];
};

struct page {
    _Atomic uint64_t mark;  /* that it is the one which was meant */
    _Atomic int64_t spoken; /* when somebody last spoke for all */
    struct slot slots[];
};

static struct page *map_alone(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* The node's first rank makes the page, and tells where it is. */
static struct page *make_page(size_t bytes, struct peer_file *file)
{
    int descriptor = memfd_create("spmd-notes", MFD_CLOEXEC);
    if (descriptor < 0)
        return NULL;
    void *memory = MAP_FAILED;
    if (bytes <= spmd__peer_file_limit() && ftruncate(descriptor, (off_t)bytes) == 0)
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) {
        close(descriptor);
        return NULL;
    }
    struct page *page = memory;
    *file = (struct peer_file){getpid(), descriptor, bytes, spmd__peer_file_mark()};
    page->mark = file->mark;
    return page;
}

/* Collective over the node's ranks. */
static spmd_status share_page(MPI_Comm node, struct notes *notes)
{
    struct peer_file file = {.descriptor = -1};
    if (notes->mine == 0)
        notes->page = make_page(notes->bytes, &file);
    TRY_MPI(MPI_Bcast(&file, sizeof file, MPI_BYTE, 0, node));
    if (notes->mine != 0)
        notes->page = spmd__peer_file_map(&file, true);
    TRY_MPI(MPI_Barrier(node));
    if (notes->mine == 0 && file.descriptor >= 0)
        close((int)file.descriptor);
    if (!notes->page)
        notes->page = map_alone(notes->bytes);
    return notes->page ? SPMD_OK
                       : spmd_fail(SPMD_ERR_MEMORY, "no memory for the notes of SPMD_WATCHDOG");
}

spmd_status spmd__notes_open(MPI_Comm comm, struct notes *notes)
{
    MPI_Comm node;
    int rank;
    MPI_Comm_rank(comm, &rank);
    TRY_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
    *notes = (struct notes){0};
    MPI_Comm_rank(node, &notes->mine);
    MPI_Comm_size(node, &notes->count);
    notes->bytes = sizeof *notes->page + (size_t)notes->count * sizeof(struct slot);
    spmd_status status = share_page(node, notes);
    MPI_Comm_free(&node);
    return status;
}

void spmd__notes_close(struct notes *notes)
{
    if (notes->page)
        munmap(notes->page, notes->bytes);
    notes->page = NULL;
}

void spmd__notes_write(struct notes *notes, const struct note *note)
{
    struct slot *slot = &notes->page->slots[notes->mine];
    uint64_t words[NOTE_WORDS] = {0};
    memcpy(words, note, sizeof *note);
    uint64_t turn = atomic_load_explicit(&slot->turn, memory_order_relaxed);
    atomic_store_explicit(&slot->turn, turn + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (int i = 0; i < NOTE_WORDS; i++)
        atomic_store_explicit(&slot->words[i], words[i], memory_order_relaxed);
    atomic_store_explicit(&slot->turn, turn + 2, memory_order_release);
}

bool spmd__notes_read(const struct notes *notes, int index, struct note *note)
{
    enum { TRIES = 1000 };
    struct slot *slot = &notes->page->slots[index];
    uint64_t words[NOTE_WORDS];
    for (int i = 0; i < TRIES; i++) {
        uint64_t turn = atomic_load_explicit(&slot->turn, memory_order_acquire);
        for (int k = 0; k < NOTE_WORDS; k++)
            words[k] = atomic_load_explicit(&slot->words[k], memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (turn % 2 == 0 && atomic_load_explicit(&slot->turn, memory_order_relaxed) == turn) {
            memcpy(note, words, sizeof *note);
            return true;
        }
    }
    return false;
}

bool spmd__notes_claim(struct notes *notes, int64_t now, int64_t interval)
{
    int64_t spoken = atomic_load(&notes->page->spoken);
    if (spoken != 0 && now - spoken < interval)
        return false;
    return atomic_compare_exchange_strong(&notes->page->spoken, &spoken, now);
}
