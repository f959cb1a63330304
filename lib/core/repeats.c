/* core/repeats.c - what happens a second time. */
#include "core/repeats.h"

bool spmd__repeats_second(struct repeats *repeats, uint64_t key)
{
    int i = 0;
    while (i < repeats->count && repeats->key[i] != key)
        i++;
    if (i < repeats->count) {
        bool second = !repeats->again[i];
        repeats->again[i] = true;
        return second;
    }
    if (i < REPEATS_MOST)
        repeats->key[repeats->count++] = key;
    return false;
}
