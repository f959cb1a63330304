/* core/text.h - strings that are printed piece by piece, for messages and print-outs. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include <stddef.h>

/* A string in a buffer of the caller's: never overrun, its needed length counted. Begin with
 * text_begin; `length` may exceed `size`, as snprintf's result may. */
struct text {
    char *buffer;
    size_t size;
    size_t length;
};

struct text spmd__text_begin(char *buffer, size_t size);
void spmd__text_add(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds an amount of bytes, with a unit: "96 B", "1.5 KiB". */
void spmd__text_add_bytes(struct text *text, double bytes);

#endif
