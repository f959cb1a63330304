/* spelling.h - which name may have been meant. */
#ifndef APPS_SPELLING_H
#define APPS_SPELLING_H

/* The one of `count` names (each of less than 64 bytes) that is nearest to `word`; NULL if none is
 * near. */
const char *spelling_nearest(const char *word, int count,
                             const char *(*name)(const void *table, int index), const void *table);

#endif
