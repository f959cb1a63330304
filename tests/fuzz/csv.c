/* csv.c - fuzzes the walk over lines of fields. */
#include <ctype.h>

#include "csv.h"
#include "fuzz.h"

static bool is_blank(char c)
{
    return isspace((unsigned char)c);
}

/* It lies in its line, without white space around it. */
static void check_field(struct csv_field field, const char *line, const char *end)
{
    HOLDS(field.text >= line && field.text <= end);
    HOLDS(field.length <= (size_t)(end - field.text));
    HOLDS(!memchr(field.text, '\n', field.length));
    HOLDS(field.length == 0 ||
          (!is_blank(field.text[0]) && !is_blank(field.text[field.length - 1])));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct csv csv = csv_begin(text);
    for (int64_t line = 0; csv_next_line(&csv); line = csv.line) {
        const char *begin = csv.field, *end = csv.end;
        HOLDS(csv.line > line);
        HOLDS(begin >= text && begin < end && end <= text + strlen(text));
        HOLDS(*end == '\n' || *end == '\0');
        int count = csv_count_fields(&csv);
        HOLDS(count >= 1);
        for (; count > 0; count--) {
            HOLDS(csv_count_fields(&csv) == count);
            check_field(csv_next_field(&csv), begin, end);
        }
        HOLDS(csv.field == end && csv_next_field(&csv).length == 0);
    }
    HOLDS(!csv_next_line(&csv));
    free(text);
    return 0;
}
