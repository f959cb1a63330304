/* array/account.h - what is told of a reshard's plan: of one rank in it, and of all. */
#ifndef ARRAY_ACCOUNT_H
#define ARRAY_ACCOUNT_H

#include "array/forecast.h"
#include "array/reshard.h"

struct account {
    struct forecast forecast; /* of the plan */
    bool self;                /* it is of the rank that asks */
    int64_t rank;             /* as numbered in spmd_reshard_count; -1: one that takes no part */
    struct stand stand;
    struct flow flow[MOST_STEPS];
    bool added_up[MOST_STEPS]; /* for the forms: the totals of all ranks are known */
    struct total total[MOST_STEPS];
    int64_t received, sent; /* in all steps */
    struct memory memory;
    int64_t peak;
    bool ran;           /* this rank, so that it is known by which way values came: */
    bool by_collective; /* by one of MPI's, or */
    struct moved moved; /* by these ways */
};

/* What ranks are called: "position" where the mesh has them in another order, else "rank". */
const char *spmd__account_noun(const struct account *account);

/* Bytes that came by a collective of MPI. */
int64_t spmd__account_by_collective(const struct account *account);

/* The forms. Whether the stream took it is checked afterwards. */
typedef void account_form(const struct account *account, FILE *stream);
account_form spmd__account_print;
account_form spmd__account_print_json;

#endif
