/* array/account.h - what is told of a reshard's plan: of one rank in it, and of all. */
#ifndef ARRAY_ACCOUNT_H
#define ARRAY_ACCOUNT_H

#include "array/forecast.h"
#include "array/reshard.h"

struct account {
    const spmd_reshard_call *plan; /* borrowed */
    struct forecast forecast;
    bool self;    /* it is of the rank that asks */
    int64_t rank; /* as numbered in spmd_reshard_count; -1: one that takes no part */
    struct stand stand;
    struct flow flow[MOST_STEPS];
    struct memory memory;
    int64_t peak;
    bool ran;           /* this rank, so that it is known by which way values came */
    struct moved moved; /* then */
};

/* Local. As spmd_reshard_count. Points into itself: not to be copied. */
spmd_status spmd__account_begin(const spmd_reshard_call *plan, int64_t position,
                                struct account *account);
void spmd__account_end(struct account *account);

/* What ranks are called: "position" where the mesh has them in another order, else "rank". */
const char *spmd__account_noun(const struct account *account);

/* The forms. Whether the stream took it is checked afterwards. */
typedef void account_form(const struct account *account, FILE *stream);
account_form spmd__account_print;
account_form spmd__account_print_json;

#endif
