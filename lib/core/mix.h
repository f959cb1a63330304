/* core/mix.h - the bits of a word, mixed. */
#ifndef CORE_MIX_H
#define CORE_MIX_H

#include <stdint.h>

#include "core/clones.h"

/* A permutation of the words of 64 bits, in which each bit counts in all: the end of splitmix64
 * (Steele, Lea and Flood). */
INLINED uint64_t spmd__mix(uint64_t word)
{
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
    word = (word ^ word >> 27) * 0x94d049bb133111ebu;
    return word ^ word >> 31;
}

#endif
