/* fuzz.h - how a fuzzer is written: one entry point that reads a text, and what holds for any text.
 *
 *     int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
 *     {
 *         char *text = fuzz_text(data, size);
 *         spmd_dtype dtype;
 *         spmd_status status = FUZZ_PARSE(&dtype, spmd_dtype_parse(text, &dtype));
 *         if (status == SPMD_OK)
 *             HOLDS(spmd_dtype_size(dtype) > 0);
 *         free(text);
 *         return 0;
 *     }
 *
 * libFuzzer and AFL++ know the entry point by its name; tests/fuzz/replay.c is a main without
 * either. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spmd/error.h>

#include "core/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The property holds; else the program ends, which is what a fuzzing engine looks for. */
#define HOLDS(...) fuzz_holds((__VA_ARGS__), __FILE__, __LINE__, #__VA_ARGS__)

static inline void fuzz_holds(bool holds, const char *file, int line, const char *text)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: does not hold: %s (last message: %s)\n", file, line, text,
            spmd_error_message());
    abort();
}

/* The input as a string in memory of just its size; free() it. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    HOLDS(text);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* Ends the string at its first newline, and gives what stands behind it ("" without one). */
static inline char *fuzz_cut_line(char *text)
{
    char *end = text + strcspn(text, "\n");
    if (*end == '\0')
        return end;
    *end = '\0';
    return end + 1;
}

/* Makes a call that reads something into *output, and gives its status. If it fails, it has left
 * the output alone, and told why in a message of its own. */
#define FUZZ_PARSE(output, call)                  \
    (fuzz_before_parse(output, sizeof *(output)), \
     fuzz_after_parse(call, output, sizeof *(output), #call))

enum { FUZZ_UNTOUCHED = 0xA5 };

static inline void fuzz_before_parse(void *output, size_t size)
{
    memset(output, FUZZ_UNTOUCHED, size);
    spmd_fail(SPMD_OK, "%s", "");
}

static inline spmd_status fuzz_after_parse(spmd_status status, const void *output, size_t size,
                                           const char *call)
{
    const unsigned char *bytes = output;
    if (status == SPMD_OK)
        return status;
    for (size_t i = 0; i < size; i++)
        fuzz_holds(bytes[i] == FUZZ_UNTOUCHED, __FILE__, __LINE__, call);
    size_t length = strlen(spmd_error_message());
    HOLDS(length > 0 && length < ERROR_MESSAGE_BYTES);
    return status;
}

#endif
