/* array/pen.c - what a stream can show: asked of the terminal and of the environment. */
#include "array/pen.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether the user's locale is one of UTF-8; the program's own, which may be another one, stays. */
static bool speaks_unicode(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (!locale)
        return false;
    bool unicode = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return unicode;
}

static bool wants_colour(FILE *stream)
{
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if ((no_colour && *no_colour != '\0') || !terminal || strcmp(terminal, "dumb") == 0)
        return false;
    return isatty(fileno(stream));
}

struct pen spmd__pen_for(FILE *stream)
{
    return (struct pen){stream, speaks_unicode(), wants_colour(stream)};
}
