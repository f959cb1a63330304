/* core/absent.c - what messages say of a number that names nothing. */
#include "core/absent.h"

#include "core/text.h"

struct absent spmd__absent(const char *what, int64_t number, int64_t lo, int64_t hi)
{
    struct absent absent;
    struct text text = spmd__text_begin(absent.text, sizeof absent.text);
    spmd__text_add(&text, "there is no %s %lld, ", what, (long long)number);
    if (lo >= hi)
        spmd__text_add(&text, "there are none");
    else if (hi - lo == 1)
        spmd__text_add(&text, "only %lld", (long long)lo);
    else
        spmd__text_add(&text, "only %lld to %lld", (long long)lo, (long long)hi - 1);
    return absent;
}
