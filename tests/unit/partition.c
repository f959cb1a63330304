/* partition.c - unit tests of the members of a group in several groups, from text. */
#include "core/partition.h"
#include "unit.h"

static spmd_status parse(const char *text, int64_t size, struct partition *partition)
{
    return spmd__partition_parse(text, strchr(text, '['), size, partition);
}

static void expect_refused(const char *text, int64_t size, spmd_status status, const char *part)
{
    struct partition partition = {.count = -7};
    ASSERT_FAILS(parse(text, size, &partition), status, part);
    ck_assert_int_eq(partition.count, -7); /* as it was */
}

START_TEST(groups_keep_their_order)
{
    struct partition p;
    ASSERT_OK(parse("x [[0,2],[3,1]]", 4, &p));
    ck_assert_int_eq(p.count, 2);
    const int64_t first[] = {0, 2, 4}, member[] = {0, 2, 3, 1};
    ck_assert_mem_eq(p.first, first, sizeof first);
    ck_assert_mem_eq(p.member, member, sizeof member);
    spmd__partition_free(&p);
    ck_assert(p.count == 0 && !p.first && !p.member);
    ASSERT_OK(parse("[ [ 1 ] , [ 2 , 0 ] ] ", 3, &p)); /* blanks */
    ck_assert_int_eq(p.count, 2);
    ck_assert_int_eq(p.member[1], 2);
    spmd__partition_free(&p);
}
END_TEST

/* Each member is found where it stands. */
START_TEST(members_are_found)
{
    struct partition p;
    ASSERT_OK(parse("[[4],[0,5,2],[3,1]]", 6, &p));
    for (int64_t g = 0; g < p.count; g++)
        for (int64_t i = p.first[g]; i < p.first[g + 1]; i++) {
            int64_t place = -1;
            ck_assert_int_eq(spmd__partition_find(&p, p.member[i], &place), g);
            ck_assert_int_eq(place, i - p.first[g]);
        }
    int64_t place = -7;
    ck_assert_int_eq(spmd__partition_find(&p, 6, &place), -1);
    ck_assert_int_eq(place, -7);
    spmd__partition_free(&p);
}
END_TEST

START_TEST(even_ones_have_groups_of_one_size)
{
    static const struct {
        const char *text;
        int64_t size;
        bool even;
    } cases[] = {{"[[0]]", 1, true},         {"[[0,1,2]]", 3, true},    {"[[0,1],[2,3]]", 4, true},
                 {"[[0],[1],[2]]", 3, true}, {"[[0],[1,2]]", 3, false}, {"[[0,1],[2]]", 3, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct partition p;
        ASSERT_OK(parse(cases[i].text, cases[i].size, &p));
        ck_assert_msg(spmd__partition_is_even(&p) == cases[i].even, "%s", cases[i].text);
        spmd__partition_free(&p);
    }
}
END_TEST

START_TEST(texts_that_are_none)
{
    expect_refused("x [", 2, SPMD_ERR_SYNTAX, "axes \"x [\": expected [ and a group at column 4");
    expect_refused("x []", 2, SPMD_ERR_SYNTAX, "expected [ and a group at column 4");
    expect_refused("x [0,1]", 2, SPMD_ERR_SYNTAX, "expected [ and a group at column 4");
    expect_refused("x [[]]", 2, SPMD_ERR_SYNTAX, "expected a member's number at column 5");
    expect_refused("x [[0,]]", 2, SPMD_ERR_SYNTAX, "a member's number");
    expect_refused("x [[-1]]", 2, SPMD_ERR_SYNTAX, "a member's number");
    expect_refused("x [[y]]", 2, SPMD_ERR_SYNTAX, "a member's number");
    expect_refused("x [[0 1]]", 2, SPMD_ERR_SYNTAX, "a comma or ]");
    expect_refused("x [[0],[1]", 2, SPMD_ERR_SYNTAX, "a comma or ] at column 11");
    expect_refused("x [[0]", 1, SPMD_ERR_SYNTAX, "a comma or ]");
    expect_refused("x [[0]] y", 1, SPMD_ERR_SYNTAX, "expected the end");
    expect_refused("x [[0]]]", 1, SPMD_ERR_SYNTAX, "expected the end");
    expect_refused("x [[0],]", 1, SPMD_ERR_SYNTAX, "expected [ and a group");
}
END_TEST

START_TEST(each_member_stands_once)
{
    expect_refused("x [[0,2]]", 2, SPMD_ERR_ARGUMENT, "there is no member 2, only 0 to 1");
    expect_refused("x [[9223372036854775807]]", 2, SPMD_ERR_ARGUMENT, "there is no member 92233");
    expect_refused("x [[9223372036854775808]]", 2, SPMD_ERR_SYNTAX, "a member's number");
    expect_refused("x [[0,0]]", 2, SPMD_ERR_ARGUMENT, "member 0 stands twice");
    expect_refused("x [[1],[0,1]]", 2, SPMD_ERR_ARGUMENT, "member 1 stands twice");
    expect_refused("x [[0],[2]]", 3, SPMD_ERR_ARGUMENT, "member 1 is in no group");
}
END_TEST

UNIT_MAIN("partition", groups_keep_their_order, members_are_found,
          even_ones_have_groups_of_one_size, texts_that_are_none, each_member_stands_once)
