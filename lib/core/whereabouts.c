/* core/whereabouts.c - who is where, in few words. */
#include "core/whereabouts.h"

#include <stdbool.h>
#include <string.h>

enum {
    SHOWN_PHRASES = 6,
    SHOWN_NAMES = 4, /* of a longer list, one less: "and 1 more" is no shorter than the name */
};

static bool is_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Whether rank i is the first one with its phrase. */
static bool is_first(int64_t i, const char *const phrases[])
{
    for (int64_t j = 0; j < i; j++)
        if (is_same(phrases[j], phrases[i]))
            return false;
    return true;
}

/* "rank 3 in psum", "ranks 0, 1, 2 and 5 more in psum": those like rank `first`. */
static void print_alike(struct text *text, int64_t n, int64_t first, const int names[],
                        const char *const phrases[])
{
    int64_t alike = 0, shown = 0;
    for (int64_t i = first; i < n; i++)
        alike += is_same(phrases[i], phrases[first]);
    int64_t most = alike > SHOWN_NAMES ? SHOWN_NAMES - 1 : alike;
    spmd__text_add(text, alike > 1 ? "ranks" : "rank");
    for (int64_t i = first; i < n && shown < most; i++)
        if (is_same(phrases[i], phrases[first]))
            spmd__text_add(text, "%s %d", shown++ > 0 ? "," : "", names[i]);
    if (alike > most)
        spmd__text_add(text, " and %lld more", (long long)(alike - most));
    spmd__text_add(text, " %s", phrases[first]);
}

void spmd__whereabouts_print(struct text *text, int64_t n, const int names[],
                             const char *const phrases[])
{
    int64_t places = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!phrases[i] || !is_first(i, phrases))
            continue;
        if (places < SHOWN_PHRASES) {
            spmd__text_add(text, places > 0 ? "; " : "");
            print_alike(text, n, i, names, phrases);
        }
        places++;
    }
    if (places > SHOWN_PHRASES)
        spmd__text_add(text, "; others in %lld more places", (long long)(places - SHOWN_PHRASES));
}
