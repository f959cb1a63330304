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
    for (int i = 0; i < 40; i++) {
        struct cost_move move = {i % 2 ? MOVE_ALL_GATHER : MOVE_ALL_TO_ALL, (int64_t)2 << i % 30,
                                 i % 3 == 0, 1e12};
        HOLDS(spmd__cost_messages(costs, &move) >= 0);
        HOLDS(spmd__cost_collective(costs, &move) >= 0);
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
