/* array/account_text.c - what is told of a reshard's plan, as text: the steps, a table of what they
 * move, and the memory that this takes. */
#include <string.h>

#include "array/account.h"
#include "core/stream.h"

enum { WIDTH = 80 };

static void print_line(FILE *stream, const char *line)
{
    spmd__stream_line(stream, WIDTH, line);
}

/* "f32[8,8] on mesh x=4", or "f32[8,8] from mesh x=4 to mesh x=2,y=2". */
static void print_title(FILE *stream, const spmd_reshard_call *plan)
{
    const spmd_mesh *from = plan->from->mesh, *to = plan->to->mesh;
    bool one_mesh = spmd_mesh_equal(from, to);
    char line[2048];
    struct text text = spmd__text_begin(line, sizeof line);
    spmd__type_print(&text, plan->dtype, plan->shape);
    spmd__text_add(&text, one_mesh ? " on mesh " : " from mesh ");
    spmd__axes_print(&text, &from->axes);
    if (!one_mesh) {
        spmd__text_add(&text, " to mesh ");
        spmd__axes_print(&text, &to->axes);
    }
    print_line(stream, line);
    if (from->ranks || to->ranks)
        print_line(stream, "A mesh has its ranks in another order: the numbers are positions.");
    fputc('\n', stream);
}

static void print_spec(FILE *stream, const struct axes *axes, const struct spec *spec)
{
    char line[1024];
    struct text text = spmd__text_begin(line, sizeof line);
    spmd__text_add(&text, "  ");
    spmd__spec_print(&text, axes, spec);
    print_line(stream, line);
}

/* How the array lies at first, and after each step. */
static void print_steps(FILE *stream, const struct forecast *forecast)
{
    const struct axes *from_axes = &forecast->plan->from->mesh->axes;
    print_spec(stream, from_axes, &forecast->plan->from->spec);
    for (int i = 0; i < forecast->count; i++) {
        const struct step *step = &forecast->step[i];
        char line[1024];
        struct text text = spmd__text_begin(line, sizeof line);
        spmd__text_add(&text, "%d ", i + 1);
        spmd__move_print(&text, step->move.kind == MOVE_FILL ? step->axes : from_axes, &step->move);
        print_line(stream, line);
        print_spec(stream, step->axes, &step->spec);
    }
    fputc('\n', stream);
}

/* For each step a row of the rank, and one of all ranks. */
enum { COLUMNS = 7, ROWS = 1 + 2 * MOST_STEPS, CELL_BYTES = 32 };

struct table {
    bool units; /* where amounts are long */
    int nrows;
    char cell[ROWS][COLUMNS][CELL_BYTES];
};

static void set(struct table *table, int row, int column, const char *cell)
{
    snprintf(table->cell[row][column], CELL_BYTES, "%s", cell);
}

static void set_number(struct table *table, int row, int column, int64_t number)
{
    snprintf(table->cell[row][column], CELL_BYTES, "%lld", (long long)number);
}

static void set_amount(struct table *table, int row, int column, double amount)
{
    struct text text = spmd__text_begin(table->cell[row][column], CELL_BYTES);
    if (table->units)
        spmd__text_add_bytes(&text, amount);
    else
        spmd__text_add(&text, "%.0f", amount);
}

static void fill_headings(struct table *table, const struct account *account)
{
    static const char *const headings[COLUMNS] = {"step", "",     "kept", "received",
                                                  "sent", "from", "to"};
    for (int c = 0; c < COLUMNS; c++)
        set(table, 0, c, headings[c]);
    set(table, 0, 1, spmd__account_noun(account));
}

static void fill_step(struct table *table, const struct account *account, int index)
{
    const struct flow *flow = &account->flow[index];
    const struct total *total = &account->total[index];
    int row = table->nrows, all = row + 1;
    set_number(table, row, 0, index + 1);
    if (account->rank >= 0)
        set_number(table, row, 1, account->rank);
    else
        set(table, row, 1, "none");
    set_amount(table, row, 2, (double)flow->kept);
    set_amount(table, row, 3, (double)flow->received);
    set_amount(table, row, 4, (double)flow->sent);
    set_number(table, row, 5, flow->sources);
    set_number(table, row, 6, flow->targets);
    set(table, all, 1, "all");
    for (int c = 2; c < 5; c++)
        if (account->added_up[index])
            set_amount(table, all, c, c == 2 ? total->kept : total->moved);
        else
            set(table, all, c, "?");
    table->nrows += 2;
}

static int width_of(const struct table *table, int column)
{
    int width = 0;
    for (int row = 0; row < table->nrows; row++) {
        int length = (int)strlen(table->cell[row][column]);
        width = length > width ? length : width;
    }
    return width;
}

static void print_table(FILE *stream, const struct table *table)
{
    for (int row = 0; row < table->nrows; row++) {
        int pending = 0; /* blanks that are printed if something follows */
        for (int c = 0; c < COLUMNS; c++) {
            const char *cell = table->cell[row][c];
            int width = width_of(table, c) + (c > 0 ? 2 : 0);
            if (cell[0] == '\0') {
                pending += width;
                continue;
            }
            fprintf(stream, "%*s%*s", pending, "", width, cell);
            pending = 0;
        }
        fputc('\n', stream);
    }
}

/* Whether amounts have units rather than all their digits. */
static bool are_long(const struct account *account)
{
    enum { LONG_AMOUNT = 1000000000 };
    for (int i = 0; i < account->forecast.count; i++)
        if (!account->added_up[i] ||
            account->total[i].kept + account->total[i].moved >= LONG_AMOUNT)
            return true;
    return false;
}

static void print_flows(FILE *stream, const struct account *account)
{
    struct table table = {.units = are_long(account), .nrows = 1};
    fill_headings(&table, account);
    for (int i = 0; i < account->forecast.count; i++)
        fill_step(&table, account, i);
    print_line(stream, "Bytes that are kept, received and sent, and from and to how many others:");
    fputc('\n', stream);
    print_table(stream, &table);
}

static void print_memory(FILE *stream, const struct account *account)
{
    const struct memory *memory = &account->memory;
    const struct {
        const char *what;
        int64_t bytes;
    } rows[] = {{"source", memory->source},  {"target", memory->target},
                {"packed", memory->packed},  {"sums", memory->values},
                {"messages", memory->slots}, {"together", account->peak}};
    enum { NROWS = sizeof rows / sizeof rows[0] };
    char amount[NROWS][CELL_BYTES];
    int width = 0;
    for (int i = 0; i < NROWS; i++) {
        struct text text = spmd__text_begin(amount[i], CELL_BYTES);
        spmd__text_add_bytes(&text, (double)rows[i].bytes);
        width = (int)text.length > width ? (int)text.length : width;
    }
    fputs("\nMemory, at most:\n\n", stream);
    for (int i = 0; i < NROWS; i++)
        if (rows[i].bytes > 0 || i == NROWS - 1)
            fprintf(stream, "%-8s  %*s\n", rows[i].what, width, amount[i]);
}

static void add_way(struct text *text, int64_t bytes, const char *way, bool *some)
{
    if (bytes == 0)
        return;
    spmd__text_add(text, *some ? ", " : " ");
    spmd__text_add_bytes(text, (double)bytes);
    spmd__text_add(text, " %s", way);
    *some = true;
}

/* Where it is known: by which way values came. */
static void print_ways(FILE *stream, const struct account *account)
{
    char line[256];
    struct text text = spmd__text_begin(line, sizeof line);
    bool some = false;
    if (!account->ran)
        return;
    spmd__text_add(&text, "The last run brought");
    add_way(&text, account->moved.pool, "from the pool", &some);
    add_way(&text, account->moved.readv, "by readv", &some);
    add_way(&text, account->moved.messages, "by messages", &some);
    add_way(&text, spmd__account_by_collective(account), "by a collective", &some);
    spmd__text_add(&text, some ? "." : " nothing from other ranks.");
    fputc('\n', stream);
    print_line(stream, line);
}

void spmd__account_print(const struct account *account, FILE *stream)
{
    print_title(stream, account->forecast.plan);
    print_steps(stream, &account->forecast);
    print_flows(stream, account);
    print_memory(stream, account);
    print_ways(stream, account);
}
