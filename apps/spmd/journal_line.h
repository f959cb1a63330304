/* journal_line.h - a row of a journal as a line of text. */
#ifndef APPS_JOURNAL_LINE_H
#define APPS_JOURNAL_LINE_H

#include "journal.h"

enum { JOURNAL_MAX_LINE = 4096 }; /* bytes with the newline and a zero */

/* Writes the row with its checksum and a newline, and returns the length. A long message loses its
 * end. */
size_t journal_line_format(const struct journal_row *row, int nmetrics,
                           char line[JOURNAL_MAX_LINE]);

/* Reads a line [length] without its newline; false if it is not whole. The message is for free().
 */
bool journal_line_parse(const char *line, size_t length, int nmetrics, struct journal_row *row);

#endif
