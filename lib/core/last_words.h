/* core/last_words.h - a message that is told if the process crashes, and only then. */
#ifndef CORE_LAST_WORDS_H
#define CORE_LAST_WORDS_H

/* What a crash on memory that is not there (SIGSEGV, SIGBUS) tells on standard error, before it
 * takes its course; until `owner` takes it back. The first words of the process stay. */
void spmd__last_words_keep(const void *owner, const char *message);

/* Leaves the signals as they were; nothing, if the words are another owner's. */
void spmd__last_words_drop(const void *owner);

#endif
