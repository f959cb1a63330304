/* caught.h - what the library says on standard error. */
#ifndef CAUGHT_H
#define CAUGHT_H

#include <stdio.h>
#include <unistd.h>

/* Standard error, caught in a file. */
struct caught {
    FILE *file;
    int saved;
};

static inline struct caught catch_stderr(void)
{
    struct caught caught = {tmpfile(), dup(STDERR_FILENO)};
    fflush(stderr);
    dup2(fileno(caught.file), STDERR_FILENO);
    return caught;
}

/* Gives what was caught, in all `size` bytes, and lets the rest pass. */
static inline void release_stderr(struct caught *caught, char *text, size_t size)
{
    fflush(stderr);
    dup2(caught->saved, STDERR_FILENO);
    close(caught->saved);
    rewind(caught->file);
    text[fread(text, 1, size - 1, caught->file)] = '\0';
    fclose(caught->file);
}

#endif
