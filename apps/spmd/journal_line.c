/* journal_line.c - a row of a journal as a line of text:
 *
 *     CHECKSUM ID STATE RANK SECONDS METRIC... |MESSAGE
 *
 * Numbers are exact (hexadecimal). The checksum is of all that stands behind it. */
#include "journal_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"

enum { CHECKSUM_SIZE = 17 }; /* sixteen hexadecimal digits and a blank */

static unsigned long long checksum(const char *text, size_t length)
{
    return digest_add(DIGEST_EMPTY, text, length);
}

/* The row but for its checksum, in `size` bytes; returns the length. */
static size_t format_row(const struct journal_row *row, int nmetrics, char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, "%016llx %s %d %a", (unsigned long long)row->id,
                                     spmd_sweep_state_name(row->state), row->rank, row->seconds);
    for (int m = 0; m < nmetrics; m++)
        length += (size_t)snprintf(text + length, size - length, " %a", row->metrics[m]);
    length +=
        (size_t)snprintf(text + length, size - length, " |%s", row->message ? row->message : "");
    if (length > size - 1)
        length = size - 1;
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\n' || text[i] == '\r')
            text[i] = ' ';
    return length;
}

size_t journal_line_format(const struct journal_row *row, int nmetrics, char line[JOURNAL_MAX_LINE])
{
    char *text = line + CHECKSUM_SIZE;
    size_t length = format_row(row, nmetrics, text, JOURNAL_MAX_LINE - CHECKSUM_SIZE - 1);
    snprintf(line, CHECKSUM_SIZE, "%016llx", checksum(text, length));
    text[-1] = ' ';
    strcpy(text + length, "\n");
    return CHECKSUM_SIZE + length + 1;
}

static bool parse_state(const char *word, spmd_sweep_state *state)
{
#define COMPARE(name, text)         \
    if (strcmp(word, text) == 0) {  \
        *state = SPMD_SWEEP_##name; \
        return true;                \
    }
    SPMD_SWEEP_STATE_MAP(COMPARE)
#undef COMPARE
    return false;
}

/* The number at `*text`, which moves behind it. */
static bool parse_number(const char **text, double *number)
{
    char *end;
    *number = strtod(*text, &end);
    bool moved = end != *text;
    *text = end;
    return moved;
}

bool journal_line_parse(const char *line, size_t length, int nmetrics, struct journal_row *row)
{
    unsigned long long sum, id;
    char state[16];
    int used = 0;
    if (length <= CHECKSUM_SIZE || sscanf(line, "%16llx ", &sum) != 1 ||
        sum != checksum(line + CHECKSUM_SIZE, length - CHECKSUM_SIZE))
        return false;
    line += CHECKSUM_SIZE;
    if (sscanf(line, "%llx %15s %d%n", &id, state, &row->rank, &used) != 3 ||
        !parse_state(state, &row->state))
        return false;
    row->id = id;
    line += used;
    if (!parse_number(&line, &row->seconds))
        return false;
    for (int m = 0; m < nmetrics; m++)
        if (!parse_number(&line, &row->metrics[m]))
            return false;
    if (strncmp(line, " |", 2) != 0)
        return false;
    row->message = strdup(line + 2);
    return row->message;
}
