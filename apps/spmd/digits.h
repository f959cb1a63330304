/* digits.h - the data set of the built-in trainer: the bytes of data/digits.h5, made a C source by
 * make. */
#ifndef DIGITS_H
#define DIGITS_H

#include <stddef.h>

extern const unsigned char spmd_digits[]; /* [spmd_digits_size] */
extern const size_t spmd_digits_size;

#endif
