/* What models cost, whole and by role. */
#include "report/report.h"

struct cost {
    double usd, seconds;
    int64_t tokens_in, tokens_cached, tokens_reasoning, tokens_out, calls, failed;
    bool tokens_estimated;
    const char *model;
};

static void cost_add(struct cost *c, const struct store_call *x)
{
    c->usd += x->usd; /* one unknown price makes the sum unknown */
    c->seconds += x->wall_s;
    c->tokens_in += x->tokens_in;
    c->tokens_cached += MAX(x->tokens_cached, 0);
    c->tokens_reasoning += MAX(x->tokens_reasoning, 0);
    c->tokens_out += x->tokens_out;
    c->calls += 1;
    c->failed += x->failed;
    c->tokens_estimated = c->tokens_estimated || x->estimated;
    c->model = x->model;
}

#define COST(member) MEMBER(struct cost, member)

static const struct member cost_members[] = {COST(usd),           COST(tokens_in),
                                             COST(tokens_cached), COST(tokens_reasoning),
                                             COST(tokens_out),    COST(tokens_estimated),
                                             COST(calls),         COST(failed),
                                             COST(seconds),       {0}};

bool report_cost(struct store *s, struct arena *a, json_t **out, struct err *err)
{
    const struct store_call *list;
    struct cost all = {0}, roles[8];
    const char *names[ARRAY_LEN(roles)];
    json_t *by_role = json_object();
    size_t n, n_roles = 0;

    if (!store_calls(s, a, &list, &n, err)) {
        json_decref(by_role);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < n_roles && !str_eq(names[k], list[i].role))
            k++;
        if (k == ARRAY_LEN(roles))
            continue;
        if (k == n_roles) {
            roles[k] = (struct cost){0};
            names[n_roles++] = list[i].role;
        }
        cost_add(&roles[k], &list[i]);
        cost_add(&all, &list[i]);
    }
    for (size_t k = 0; k < n_roles; k++) {
        json_t *o = json_of_members(cost_members, &roles[k]);
        json_put_text(o, "model", roles[k].model);
        json_put(by_role, names[k], o);
    }
    *out = json_of_members(cost_members, &all);
    json_put(*out, "by_role", by_role);
    return true;
}
