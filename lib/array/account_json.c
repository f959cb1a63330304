/* array/account_json.c - what is told of a reshard's plan, as one JSON object. */
#include "array/account.h"
#include "array/json.h"

static void print_spec(FILE *stream, const char *name, const struct axes *axes,
                       const struct spec *spec)
{
    char buffer[1024];
    struct text text = spmd__text_begin(buffer, sizeof buffer);
    spmd__spec_print(&text, axes, spec);
    fprintf(stream, "\"%s\": \"%s\"", name, buffer);
}

/* What is moved: meshes, shape, type, both specs. */
static void print_task(FILE *stream, const spmd_reshard_call *plan)
{
    const struct axes *from = &plan->from->mesh->axes, *to = &plan->to->mesh->axes;
    spmd__json_mesh(stream, "", from);
    if (!spmd_mesh_equal(plan->from->mesh, plan->to->mesh))
        spmd__json_mesh(stream, "to_", to);
    fputs("  \"shape\": ", stream);
    spmd__json_shape(stream, plan->shape);
    fprintf(stream, ",\n  \"dtype\": \"%s\",\n  ", spmd_dtype_name(plan->dtype));
    print_spec(stream, "from", from, &plan->from->spec);
    fputs(",\n  ", stream);
    print_spec(stream, "to", to, &plan->to->spec);
    fputs(",\n", stream);
}

static void print_move(FILE *stream, const struct forecast *forecast, const struct step *step)
{
    const struct move *move = &step->move;
    bool at_source = move->kind != MOVE_FILL;
    fprintf(stream, "\"kind\": \"%s\", \"axes\": ", spmd__move_name(move->kind));
    spmd__json_axis_names(stream, at_source ? &forecast->plan->from->mesh->axes : step->axes,
                          &move->axes);
    if (move->kind == MOVE_ALL_TO_ALL)
        fprintf(stream, ", \"from_dim\": %d, \"to_dim\": %d", move->from_dim, move->to_dim);
    fputs(",\n     ", stream);
    print_spec(stream, "spec", step->axes, &step->spec);
}

static void print_flow(FILE *stream, const struct flow *flow)
{
    fprintf(stream,
            ",\n     \"bytes\": {\"kept\": %lld, \"received\": %lld, \"sent\": %lld}"
            ",\n     \"receives_from\": %lld, \"sends_to\": %lld",
            (long long)flow->kept, (long long)flow->received, (long long)flow->sent,
            (long long)flow->sources, (long long)flow->targets);
}

static void print_total(FILE *stream, const struct account *account, int index)
{
    const struct total *total = &account->total[index];
    fputs(",\n     \"all\": ", stream);
    if (!account->added_up[index]) {
        fputs("null", stream);
        return;
    }
    fputc('{', stream);
    spmd__json_amount(stream, "kept", total->kept);
    fputs(", ", stream);
    spmd__json_amount(stream, "received", total->moved);
    fputs(", ", stream);
    spmd__json_amount(stream, "sent", total->moved);
    fputc('}', stream);
}

static void print_steps(FILE *stream, const struct account *account)
{
    const struct forecast *forecast = &account->forecast;
    fputs("  \"steps\": [", stream);
    for (int i = 0; i < forecast->count; i++) {
        fprintf(stream, "%s\n    {", i > 0 ? "," : "");
        print_move(stream, forecast, &forecast->step[i]);
        print_flow(stream, &account->flow[i]);
        print_total(stream, account, i);
        fputc('}', stream);
    }
    fputs("\n  ],\n", stream);
}

static void print_memory(FILE *stream, const struct account *account)
{
    const struct memory *memory = &account->memory;
    fprintf(stream,
            "  \"memory\": {\"source\": %lld, \"target\": %lld, \"packed\": %lld, "
            "\"values\": %lld,\n             \"messages\": %lld, \"peak\": %lld}",
            (long long)memory->source, (long long)memory->target, (long long)memory->packed,
            (long long)memory->values, (long long)memory->slots, (long long)account->peak);
}

static void print_ways(FILE *stream, const struct account *account)
{
    const struct moved *moved = &account->moved;
    fputs(",\n  \"last_run\": ", stream);
    if (account->ran)
        fprintf(stream,
                "{\"pool\": %lld, \"readv\": %lld, \"messages\": %lld, \"collective\": %lld}",
                (long long)moved->pool, (long long)moved->readv, (long long)moved->messages,
                (long long)spmd__account_by_collective(account));
    else
        fputs("null", stream);
}

void spmd__account_print_json(const struct account *account, FILE *stream)
{
    fputs("{\n", stream);
    print_task(stream, account->forecast.plan);
    if (account->rank >= 0)
        fprintf(stream, "  \"%s\": %lld,\n", spmd__account_noun(account), (long long)account->rank);
    else
        fprintf(stream, "  \"%s\": null,\n", spmd__account_noun(account));
    print_steps(stream, account);
    print_memory(stream, account);
    print_ways(stream, account);
    fputs("\n}\n", stream);
}
