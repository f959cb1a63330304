/* journal_line.c - fuzzes lines of a journal: the input as a line, as what stands behind a right
 * checksum, and as the bytes of a row that is written, read back, torn and damaged. */
#include <math.h>

#include "digest.h"
#include "fuzz.h"
#include "journal_line.h"

enum { NMETRICS = 2 };

static bool is_same_number(double a, double b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

/* Whether all but the messages is the same. */
static bool is_same_row(const struct journal_row *a, const struct journal_row *b)
{
    bool same = a->id == b->id && a->state == b->state && a->rank == b->rank &&
                is_same_number(a->seconds, b->seconds);
    for (int m = 0; m < NMETRICS; m++)
        same = same && is_same_number(a->metrics[m], b->metrics[m]);
    return same;
}

/* Whether `read` is `written` with blanks for ends of lines, or the first bytes of that. */
static bool is_same_message(const char *written, const char *read)
{
    for (; *read != '\0'; read++, written++)
        if (*read != (*written == '\n' || *written == '\r' ? ' ' : *written) || *written == '\0')
            return false;
    return true;
}

/* Reads it from memory of just its size. */
static bool parse(const char *line, size_t length, struct journal_row *row)
{
    char *copy = fuzz_text((const uint8_t *)line, length);
    memset(row, 0, sizeof *row);
    bool whole = journal_line_parse(copy, length, NMETRICS, row);
    free(copy);
    return whole;
}

/* A line that is not as it was written, of a row: no other row is read. */
static void check_damaged(const char *line, size_t length, const struct journal_row *row)
{
    struct journal_row other;
    if (!parse(line, length, &other))
        return;
    HOLDS(is_same_row(row, &other));
    free(other.message);
}

/* Written, it reads back bit by bit; torn at `place` or with another byte there, it does not. */
static void check_row(const struct journal_row *row, size_t place, char byte)
{
    char line[JOURNAL_MAX_LINE];
    memset(line, FUZZ_UNTOUCHED, sizeof line);
    size_t length = journal_line_format(row, NMETRICS, line);
    HOLDS(length < JOURNAL_MAX_LINE && line[length] == '\0' && strlen(line) == length);
    HOLDS(strchr(line, '\n') == line + length - 1);
    struct journal_row again;
    HOLDS(parse(line, --length, &again));
    HOLDS(is_same_row(row, &again));
    HOLDS(is_same_message(row->message ? row->message : "", again.message));
    free(again.message);
    place %= length;
    HOLDS(!parse(line, place, &again));
    line[place] ^= byte;
    check_damaged(line, length, row);
}

/* What is read can be written. */
static void check_line(const char *line, size_t length)
{
    struct journal_row row;
    if (!parse(line, length, &row))
        return;
    HOLDS(row.message);
    if (row.state != SPMD_SWEEP_NOT_RUN)
        check_row(&row, length / 2, 1);
    free(row.message);
}

static void check_behind_checksum(const char *text, size_t length)
{
    char *line = malloc(length + 18);
    HOLDS(line);
    sprintf(line, "%016llx ", (unsigned long long)digest_add(DIGEST_EMPTY, text, length));
    memcpy(line + 17, text, length);
    check_line(line, length + 17);
    free(line);
}

/* Takes `size` bytes of the input, zeros where it ends. */
static void take(const uint8_t **data, size_t *left, void *value, size_t size)
{
    size_t taken = size < *left ? size : *left;
    memset(value, 0, size);
    if (taken > 0)
        memcpy(value, *data, taken);
    *data += taken;
    *left -= taken;
}

/* A row whose fields have the bytes of the input. */
static void check_bytes(const uint8_t *data, size_t size)
{
    static const spmd_sweep_state states[] = {SPMD_SWEEP_DONE, SPMD_SWEEP_FAILED,
                                              SPMD_SWEEP_DIVERGED};
    struct journal_row row = {0};
    unsigned char state, place[2], byte;
    take(&data, &size, &state, 1);
    take(&data, &size, place, 2);
    take(&data, &size, &byte, 1);
    take(&data, &size, &row.id, sizeof row.id);
    take(&data, &size, &row.rank, sizeof row.rank);
    take(&data, &size, &row.seconds, sizeof row.seconds);
    take(&data, &size, row.metrics, sizeof *row.metrics * NMETRICS);
    row.state = states[state % 3];
    row.message = fuzz_text(data, size);
    check_row(&row, (size_t)place[0] << 8 | place[1], (char)(byte ? byte : 1));
    free(row.message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    check_line(text, size);
    check_behind_checksum(text, size);
    check_bytes(data, size);
    free(text);
    return 0;
}
