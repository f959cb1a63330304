/* spelling.c - Levenshtein's distance from word to word. */
#include "spelling.h"

#include <string.h>

enum { MAX_WORD = 64 };

/* Levenshtein's distance of two words, the second of less than MAX_WORD bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t row[MAX_WORD], length = strlen(b);
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[length];
}

const char *spelling_nearest(const char *word, int count,
                             const char *(*name)(const void *table, int index), const void *table)
{
    const char *nearest = NULL;
    size_t best = strlen(word) / 2 + 1; /* further away than this is another word */
    for (int i = 0; i < count; i++) {
        size_t d = distance(word, name(table, i));
        if (d < best) {
            best = d;
            nearest = name(table, i);
        }
    }
    return nearest;
}
