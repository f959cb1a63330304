/* contest.h - timing us and a rival side by side, and the line that tells of it. */
#ifndef CONTEST_H
#define CONTEST_H

#include <stdint.h>

/* Something to time: `run` does it once, collectively. */
struct contender {
    const char *name;
    void (*run)(void *state);
    void *state;
};

/* How long to look: a repetition runs a contender for about so many seconds, at least once. */
struct contest_effort {
    int repetitions; /* at most CONTEST_MOST */
    double seconds;
};
enum { CONTEST_MOST = 31 };

/* Seconds of a run of each. */
struct contest_times {
    double ours, rival;
};

/* Collective over all ranks. Runs both in turn, many times. The times are medians over the
 * repetitions, each the mean of a batch of runs between two barriers; the same on all ranks. */
struct contest_times contest_time(struct contest_effort effort, struct contender ours,
                                  struct contender rival);

/* Collective over all ranks, in a run: what lies between them is not timed. */
void contest_pause(void);
void contest_resume(void);

/* On rank 0. The header, and a line under it:
 * measure,ranks,bytes,ours_s,rival,rival_s,ratio
 * The ratio is rival_s / ours_s, above 1 if ours is faster. */
void contest_print_header(void);
void contest_print(const char *measure, int64_t bytes, const char *rival,
                   struct contest_times times);

#endif
