/* The built-in rules as planner and coder: they cost nothing and answer at once. */
#include "round.h"

static bool plan(struct round *t, const struct agent_strategy **list, size_t *n, struct err *err)
{
    (void)err;
    agent_plan_rules(&t->in, t->r->arena, list, n);
    return true;
}

bool rules_carry_out(struct round *t, struct attempt *x, bool *made, const char **why_not, struct err *err)
{
    struct run *r = t->r;
    struct agent_file file = {.text = arena_strdup(r->arena, x->parent->text)};
    struct err why = {0};

    x->coder = &backend_rules;
    *made = agent_code_rules(r->task, r->task->source_path, &x->strategy, &r->limits, r->arena, &file, &why);
    if (*made)
        return attempt_take(t, x, &file, err);
    *why_not = arena_strdup(r->arena, why.text);
    return true;
}

static bool code(struct round *t, struct attempt *x, struct err *err)
{
    const char *why_not;
    bool made;

    if (x->given)
        return attempt_take(t, x, &(struct agent_file){.text = arena_strdup(t->r->arena, x->given)}, err);
    if (!rules_carry_out(t, x, &made, &why_not, err))
        return false;
    if (!made)
        attempt_give_up(x, ATTEMPT_DROPPED,
                        x->strategy.n_steps ? why_not : "no built-in transform, and the coder is the rules");
    return true;
}

static bool repair(struct round *t, struct attempt *x, struct err *err)
{
    const struct try *last = &x->tries[x->n_tries - 1];
    const struct agent_failure why = {last->file.steps, last->file.n_steps, last->trial.line};
    struct agent_strategy next;

    if (!agent_repair_rules(&x->strategy, &why, &t->in, t->r->arena, &next))
        return true;
    x->strategy = next;
    return code(t, x, err);
}

const struct backend backend_rules = {.name = "rules", .plan = plan, .code = code, .repair = repair};
