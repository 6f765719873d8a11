/* What earlier runs say of a parent. Gains of different kernels do not compare, but shares of the best gain
 * that was found on the same version do, as logarithms. What is expected of a strategy is the share that such
 * steps had on versions like the parent: what they gained over what there was to gain, each weighted by how
 * alike steps and versions are, and begun with what the rules' own order says. So a memory of nothing alike, or
 * of versions where nothing helped, leaves that order as it is. */
#include "internal.h"

#define OWN_WEIGHT     1.5 /* of the rules' order: of a version alike in everything that became e times as fast */
#define OWN_SLOPE      1.0  /* share, for each unit of promise below the first strategy's */
#define FAILED         0.3  /* what a failure loses at least, as a logarithm of speed */
#define OTHER_SETTING  0.5  /* how alike steps are that differ in their setting */
#define NEAR_ENOUGH    0.05 /* of a version whose steps are carried over */
#define WORTH_CARRYING 0.05 /* their gain, as a logarithm */
enum { MAX_RECALLED = 8 };

struct group { /* the trials of one version */
    const struct agent_remembered *v;
    size_t n;
    double near; /* how much it says of the parent, 0 to 1 */
    double best; /* log of the best gain, at least 0 */
};

struct recall {
    const struct agent_plan_input *in;
    struct arena *arena;
    VEC(struct group) groups;
};

static void recall_open(struct recall *r)
{
    const struct agent_memory *m = r->in->memory;

    for (size_t i = 0; i < m->n; i++) {
        const struct agent_remembered *t = &m->trials[i];
        if (i == 0 || t->features != m->trials[i - 1].features) {
            double near = t->trust * agent_features_nearness(&r->in->features, t->features);
            vec_add(r->arena, &r->groups, ((struct group){.v = t, .near = near}));
        }
        struct group *g = &vec_last(&r->groups);
        g->n++;
        if (t->passed && t->gain > 0)
            g->best = MAX(g->best, log(t->gain));
    }
}

static const struct agent_step *step_of(const struct agent_step *steps, size_t n, const char *transform)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(steps[i].transform, transform))
            return &steps[i];
    return NULL;
}

/* 1 for the same steps, 0 for none in common. Of a strategy's own, those count that apply to the parent now. */
static double likeness(const struct recall *r, const struct agent_strategy *s, const struct agent_remembered *t)
{
    double both = 0, either = (double)t->n_steps;

    for (size_t i = 0; i < s->n_steps; i++) {
        const struct agent_step *mine = &s->steps[i], *theirs = step_of(t->steps, t->n_steps, mine->transform);
        const struct transform *transform = transform_find(mine->transform);
        const struct transform_site *sites;
        if (theirs)
            both += mine->setting == theirs->setting || mine->setting == AGENT_OWN_CHOICE ? 1 : OTHER_SETTING;
        else if (transform && agent_version_sites(r->in->version, transform, &sites))
            either++;
    }
    return pow(both / either, 4);
}

/* Has this run tried the step itself, on whatever parent? Then that counts, and is in its promise. */
static bool known_here(const struct agent_plan_input *in, const struct agent_strategy *s)
{
    for (size_t i = 0; i < in->n_history && s->n_steps == 1; i++) {
        const struct agent_attempt *h = &in->history[i];
        if (!h->untold && h->n_steps == 1 && h->steps[0].setting == s->steps[0].setting &&
            str_eq(h->steps[0].transform, s->steps[0].transform))
            return true;
    }
    return false;
}

static double expected_share(const struct recall *r, const struct agent_strategy *s, double own)
{
    double there = OWN_WEIGHT, gained = OWN_WEIGHT * own;

    if (known_here(r->in, s))
        return own;
    for (size_t k = 0; k < r->groups.n; k++) {
        const struct group *g = &r->groups.v[k];
        for (size_t i = 0; i < g->n && g->near > 0.01; i++) {
            const struct agent_remembered *t = &g->v[i];
            double w = g->near * likeness(r, s, t);
            there += w * (t->passed ? g->best : MAX(g->best, FAILED));
            if (t->passed && t->gain > 1)
                gained += w * log(t->gain);
        }
    }
    return gained / there;
}

/* ---- carried over ---- */

struct recalled {
    const struct agent_remembered *trial;
    double worth, near;
};

/* A setting may also be one that only steps before it make possible: then the parent offers none. */
static bool offered(const struct agent_version *v, struct agent_step step)
{
    const struct transform_site *sites;
    size_t n = agent_version_sites(v, transform_find(step.transform), &sites);

    for (size_t i = 0; i < n; i++)
        if (sites[i].setting == step.setting)
            return true;
    return n == 0;
}

/* A strategy of them; what the parent does not offer is left to the transform. */
static struct agent_strategy carried_over(const struct recall *r, const struct recalled *x)
{
    size_t n = x->trial->n_steps;
    struct agent_step *steps = arena_copy(r->arena, x->trial->steps, n * sizeof(*steps));

    for (size_t i = 0; i < n; i++)
        if (!offered(r->in->version, steps[i]))
            steps[i].setting = AGENT_OWN_CHOICE;
    return (struct agent_strategy){
        .name = agent_steps_text(r->arena, steps, n),
        .reason = arena_printf(r->arena,
                               "together they gave %.2fx on a version much like this one, in an earlier run",
                               x->trial->gain),
        .plan = arena_printf(r->arena, "apply %zu transforms one after the other", n),
        .steps = steps,
        .n_steps = n,
        .expected_gain = x->trial->gain,
        .confidence = x->near};
}

/* The best of each version that is near, the worthiest first. */
static size_t find_recalled(const struct recall *r, struct recalled *list, size_t max)
{
    size_t n = 0;

    for (size_t g = 0; g < r->groups.n; g++) {
        const struct group *group = &r->groups.v[g];
        struct recalled x = {.worth = group->near * group->best, .near = group->near};
        size_t at = n;
        if (group->near < NEAR_ENOUGH || group->best < WORTH_CARRYING)
            continue;
        for (size_t i = 0; i < group->n && !x.trial; i++)
            if (group->v[i].passed && log(group->v[i].gain) >= group->best)
                x.trial = &group->v[i];
        for (; at > 0 && list[at - 1].worth < x.worth; at--)
            if (at < max)
                list[at] = list[at - 1];
        if (at < max)
            list[at] = x;
        n = MIN(n + 1, max);
    }
    return n;
}

static bool is_listed(const struct agent_strategy *list, size_t n, const struct agent_strategy *s)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i].name, s->name))
            return true;
    return false;
}

/* ---- the order ---- */

struct ranked {
    double share; /* expected */
    size_t rank;  /* in the rules' order */
    struct agent_strategy strategy;
};

static int by_share(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;

    return a->share != b->share ? ORDER(b->share, a->share) : ORDER(a->rank, b->rank);
}

size_t recall_order(const struct agent_plan_input *in, struct arena *a, struct agent_strategy *list, size_t n,
                    size_t cap)
{
    struct recall r = {.in = in, .arena = a};
    struct ranked *ranked = arena_array(a, struct ranked, n + MAX_RECALLED);
    struct recalled found[MAX_RECALLED];
    double first = n ? strategy_promise(&list[0]) : 0, middle = 1;
    size_t n_found, n_rules = n;

    recall_open(&r);
    for (size_t i = 0; i < n; i++) {
        double own = 1 - OWN_SLOPE * (first - strategy_promise(&list[i]));
        middle = i <= in->max_strategies / 2 ? own : middle;
        ranked[i] = (struct ranked){expected_share(&r, &list[i], own), i, list[i]};
    }
    /* At most a third of a round, so that what does not carry over costs little. */
    n_found = find_recalled(&r, found, MIN(in->max_strategies / 3, (size_t)MAX_RECALLED));
    for (size_t i = 0; i < n_found && n < cap; i++) {
        struct agent_strategy s = carried_over(&r, &found[i]);
        if (is_listed(list, n_rules, &s) || plan_tried_on_parent(in, s.steps, s.n_steps))
            continue;
        ranked[n] = (struct ranked){expected_share(&r, &s, middle), n, s};
        n++;
    }
    qsort(ranked, n, sizeof(*ranked), by_share);
    for (size_t i = 0; i < n; i++)
        list[i] = ranked[i].strategy;
    return n;
}
