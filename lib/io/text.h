/* io/text.h - datasets that are one text. */
#ifndef IO_TEXT_H
#define IO_TEXT_H

#include "io/file.h"

/* Collective, ends in an agreement. Makes the dataset `name`, which was found to be free. */
spmd_status spmd__text_write(spmd_file *file, const char *name, const char *text);

/* Collective, ends in an agreement. The caller frees the text. */
spmd_status spmd__text_read(const spmd_file *file, const char *name, char **text);

#endif
