/* library_heap.h - counts what the library has from the heap, and the most that it had at a time.
 * There is no pool of array memory in such a program: the system refuses the file that it would lie
 * in, so all blocks come from the heap. What MPI and the C library take for themselves does not
 * count.
 *
 * Calls to the heap come by here, since the program stands before the libraries; but not under a
 * sanitizer or valgrind, which have a heap of their own. */
#ifndef LIBRARY_HEAP_H
#define LIBRARY_HEAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <spmd.h>

/* Volatile, since compilers know that malloc changes no variables of a program. */
static volatile int64_t heap_now, heap_most;

/* What there is; the most is counted from here on. */
static inline int64_t heap_begin(void)
{
    heap_most = heap_now;
    return heap_now;
}

/* Whether what the library takes is seen. */
static inline bool heap_is_counted(void)
{
    int64_t before = heap_begin();
    spmd_mesh *mesh = NULL;
    spmd_mesh_create_abstract("x=1", &mesh);
    spmd_mesh_free(&mesh);
    return heap_most > before;
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>

/* A part of the address space, with code. */
struct heap_range {
    uintptr_t lo, hi;
};

struct heap_search {
    const void *address;
    struct heap_range *range;
};

static int heap_find(struct dl_phdr_info *module, size_t size, void *user)
{
    struct heap_search *search = user;
    uintptr_t address = (uintptr_t)search->address;
    (void)size;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        uintptr_t lo = module->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && address >= lo && address < lo + part->p_memsz) {
            *search->range = (struct heap_range){lo, lo + part->p_memsz};
            return 1;
        }
    }
    return 0;
}

static bool heap_is_in(const struct heap_range *range, const void *address)
{
    return (uintptr_t)address >= range->lo && (uintptr_t)address < range->hi;
}

/* Where the program's code lies, which the library may be a part of, and where the library's does;
 * nothing counts before they are found. */
static struct heap_range heap_program, heap_library;

static bool heap_counts(const void *caller)
{
    return heap_is_in(&heap_program, caller) || heap_is_in(&heap_library, caller);
}

__attribute__((constructor)) static void heap_open(void)
{
    const void *library = dlsym(RTLD_DEFAULT, "spmd_reshard_plan");
    dl_iterate_phdr(heap_find, &(struct heap_search){(const void *)heap_find, &heap_program});
    if (library)
        dl_iterate_phdr(heap_find, &(struct heap_search){library, &heap_library});
}

static void *heap_take(void *memory, const void *caller)
{
    if (memory && heap_counts(caller)) {
        heap_now += (int64_t)malloc_usable_size(memory);
        heap_most = heap_now > heap_most ? heap_now : heap_most;
    }
    return memory;
}

static void heap_give(void *memory, const void *caller)
{
    if (memory && heap_counts(caller))
        heap_now -= (int64_t)malloc_usable_size(memory);
}

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

void *malloc(size_t bytes)
{
    return heap_take(__libc_malloc(bytes), __builtin_return_address(0));
}

void *calloc(size_t count, size_t size)
{
    return heap_take(__libc_calloc(count, size), __builtin_return_address(0));
}

void *realloc(void *memory, size_t bytes)
{
    const void *caller = __builtin_return_address(0);
    heap_give(memory, caller);
    return heap_take(__libc_realloc(memory, bytes), caller);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    *memory = heap_take(__libc_memalign(alignment, bytes), __builtin_return_address(0));
    return *memory ? 0 : ENOMEM;
}

void free(void *memory)
{
    heap_give(memory, __builtin_return_address(0));
    __libc_free(memory);
}

int memfd_create(const char *name, unsigned flags)
{
    (void)name;
    (void)flags;
    errno = ENOSYS;
    return -1;
}

#endif

#endif
