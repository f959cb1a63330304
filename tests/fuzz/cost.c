/* cost.c - fuzzes the table of costs. */
#include <math.h>

#include "core/cost.h"
#include "fuzz.h"

static void check_values(const struct costs *costs)
{
#define CHECK(name, initial, least, meaning) HOLDS(costs->name >= (least));
    COST_MAP(CHECK)
#undef CHECK
}

/* Written exactly, it reads back as the same table. */
static void check_print(const struct costs *costs)
{
    char printed[1024];
    struct text text = spmd__text_begin(printed, sizeof printed);
#define PRINT(name, initial, least, meaning) \
    spmd__text_add(&text, #name " = %.17g\t# " meaning "\n", costs->name);
    COST_MAP(PRINT)
#undef PRINT
    HOLDS(text.length < sizeof printed);
    struct costs again;
    HOLDS(FUZZ_PARSE(&again, spmd__costs_parse(printed, &again)) == SPMD_OK);
#define CHECK(name, initial, least, meaning) HOLDS(again.name == costs->name);
    COST_MAP(CHECK)
#undef CHECK
}

/* No way has a cost that compares with nothing. */
static void check_arithmetic(const struct costs *costs)
{
    for (int64_t ranks = 2; ranks < INT32_MAX; ranks = ranks * 5 - 1) {
        double messages = spmd__cost_messages(costs, ranks, 1e12);
        double gather = spmd__cost_collective(costs, MOVE_ALL_GATHER, ranks, 1e12);
        double swap = spmd__cost_collective(costs, MOVE_ALL_TO_ALL, ranks, 1e12);
        HOLDS(messages >= 0 && gather >= 0 && swap >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct costs costs;
    spmd_status status = FUZZ_PARSE(&costs, spmd__costs_parse(text, &costs));
    HOLDS(status == SPMD_OK || status == SPMD_ERR_SYNTAX);
    if (status == SPMD_OK) {
        check_values(&costs);
        check_print(&costs);
        check_arithmetic(&costs);
    }
    free(text);
    return 0;
}
