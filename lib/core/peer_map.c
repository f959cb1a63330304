/* core/peer_map.c - files of other processes, mapped once in a process however many use them. */
#include "core/peer_map.h"

#include <stdlib.h>
#include <sys/mman.h>

struct mapping {
    struct peer_file file;
    char *memory;
    int uses;
    struct mapping *next;
};
static struct mapping *mappings;

static bool is_of(const struct mapping *mapping, const struct peer_file *file)
{
    return mapping->file.process == file->process && mapping->file.mark == file->mark &&
           mapping->file.descriptor == file->descriptor && mapping->file.size == file->size;
}

/* The mapping of a file; NULL without memory, or where it cannot be mapped. */
static struct mapping *add(const struct peer_file *file)
{
    struct mapping *mapping = malloc(sizeof *mapping);
    char *memory = mapping ? spmd__peer_file_map(file, true) : NULL;
    if (!memory) {
        free(mapping);
        return NULL;
    }
    madvise(memory, file->size, MADV_DONTFORK);
    *mapping = (struct mapping){*file, memory, 0, mappings};
    mappings = mapping;
    return mapping;
}

char *spmd__peer_map_take(const struct peer_file *file)
{
    struct mapping *mapping = mappings;
    while (mapping && !is_of(mapping, file))
        mapping = mapping->next;
    if (!mapping)
        mapping = add(file);
    if (!mapping)
        return NULL;
    mapping->uses++;
    return mapping->memory;
}

void spmd__peer_map_give(const char *memory)
{
    struct mapping **link = &mappings;
    while (*link && (*link)->memory != memory)
        link = &(*link)->next;
    struct mapping *mapping = *link;
    if (!mapping || --mapping->uses > 0)
        return;
    *link = mapping->next;
    munmap(mapping->memory, mapping->file.size);
    free(mapping);
}
