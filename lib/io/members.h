/* io/members.h - the names in a group. */
#ifndef IO_MEMBERS_H
#define IO_MEMBERS_H

#include "io/file.h"

struct members {
    char **name; /* [count] in strcmp's order */
    int count, capacity;
};

/* Collective, no agreement. What a group has. Free it, also after a failure; begin with zeros. */
spmd_status spmd__members_list(const spmd_file *file, const char *name, hid_t group,
                               struct members *members);
void spmd__members_free(struct members *members);

/* Whether the members are "0", "1", ... without a gap; sorts them so. */
bool spmd__members_number(struct members *members);

/* The name in the file of a member of the group at `group` ("/": the file), to be freed. */
spmd_status spmd__member_name(const char *group, const char *member, char **name);

#endif
