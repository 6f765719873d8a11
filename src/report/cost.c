/* What models cost, whole and by role. */
#include "report/report.h"

struct cost {
    double usd, seconds;
    int64_t in, cached, reasoning, out, calls, failed;
    bool estimated;
    const char *model;
};

static void cost_add(struct cost *c, const struct store_call *x)
{
    c->usd += x->usd; /* one unknown price makes the sum unknown */
    c->seconds += x->wall_s;
    c->in += x->tokens_in;
    c->cached += MAX(x->tokens_cached, 0);
    c->reasoning += MAX(x->tokens_reasoning, 0);
    c->out += x->tokens_out;
    c->calls += 1;
    c->failed += x->failed;
    c->estimated = c->estimated || x->estimated;
    c->model = x->model;
}

static json_t *cost_to_json(const struct cost *c)
{
    json_t *o = json_object();

    json_put_num(o, "usd", c->usd);
    json_put_int(o, "tokens_in", c->in);
    json_put_int(o, "tokens_cached", c->cached);
    json_put_int(o, "tokens_reasoning", c->reasoning);
    json_put_int(o, "tokens_out", c->out);
    json_put_flag(o, "tokens_estimated", c->estimated);
    json_put_int(o, "calls", c->calls);
    json_put_int(o, "failed", c->failed);
    json_put_num(o, "seconds", c->seconds);
    return o;
}

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
        json_t *o = cost_to_json(&roles[k]);
        json_put_text(o, "model", roles[k].model);
        json_put(by_role, names[k], o);
    }
    *out = cost_to_json(&all);
    json_put(*out, "by_role", by_role);
    return true;
}
