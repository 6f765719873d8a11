/* What earlier runs say of a parent: means over their trials, weighted by how near the versions are. */
#include "internal.h"

/* Trials of versions as alike as can be that weigh as much as what the rules expect by themselves. */
#define OWN_WEIGHT     0.5
#define OTHER_SETTING  0.3  /* what a trial of the same transform with another setting weighs */
#define NEAR_ENOUGH    0.05 /* for a stack to be carried over */
#define WORTH_CARRYING 1.05 /* its gain */

void recall_open(struct recall *r, const struct agent_plan_input *in, struct arena *a)
{
    const struct agent_memory *m = in->memory;
    const struct agent_features *last = NULL;
    double nearness = 0, *near;

    *r = (struct recall){.memory = m};
    if (!m)
        return;
    near = arena_array(a, double, m->n + 1);
    for (size_t i = 0; i < m->n; i++) {
        if (m->trials[i].features != last) /* trials of one version stand together */
            nearness = agent_features_nearness(&in->features, last = m->trials[i].features);
        near[i] = nearness * m->trials[i].trust;
    }
    r->near = near;
}

bool recall_step(const struct recall *r, struct agent_step step, double *gain, double *confidence)
{
    double weight = 0, timed = 0, passed = 0, log_gain = 0;

    for (size_t i = 0; r->memory && i < r->memory->n; i++) {
        const struct agent_remembered *t = &r->memory->trials[i];
        double w = r->near[i];
        if (t->n_steps != 1 || !str_eq(t->steps[0].transform, step.transform))
            continue;
        if (t->steps[0].setting != step.setting)
            w *= OTHER_SETTING;
        weight += w;
        passed += t->passed ? w : 0;
        if (t->passed && t->gain > 0) {
            timed += w;
            log_gain += w * log(t->gain);
        }
    }
    if (weight < 0.1 * OWN_WEIGHT)
        return false;
    *gain = exp((log_gain + OWN_WEIGHT * log(*gain)) / (timed + OWN_WEIGHT));
    *confidence = (passed + OWN_WEIGHT) / (weight + OWN_WEIGHT) * *confidence;
    return true;
}

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

static bool same_steps(const struct recalled *x, const struct agent_step *steps, size_t n)
{
    bool same = x->n == n;

    for (size_t i = 0; same && i < n; i++)
        same = x->steps[i].setting == steps[i].setting && str_eq(x->steps[i].transform, steps[i].transform);
    return same;
}

static double promise(const struct recalled *x)
{
    return x->confidence * log(x->gain);
}

/* Into its place in the list, most promising first, whose last one gives way. */
static size_t insert(struct recalled *stacks, size_t n, size_t max, struct recalled x)
{
    size_t at;

    for (size_t i = 0; i < n; i++)
        if (same_steps(&stacks[i], x.steps, x.n)) {
            if (promise(&stacks[i]) >= promise(&x))
                return n;
            memmove(&stacks[i], &stacks[i + 1], (--n - i) * sizeof(*stacks));
            break;
        }
    for (at = n; at > 0 && promise(&stacks[at - 1]) < promise(&x); at--) {
    }
    if (at >= max)
        return n;
    n = MIN(n + 1, max);
    memmove(&stacks[at + 1], &stacks[at], (n - 1 - at) * sizeof(*stacks));
    stacks[at] = x;
    return n;
}

size_t recall_stacks(const struct recall *r, const struct agent_plan_input *in, struct arena *a,
                     struct recalled *stacks, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; r->memory && i < r->memory->n && max > 0; i++) {
        const struct agent_remembered *t = &r->memory->trials[i];
        struct recalled x = {.n = t->n_steps, .gain = t->gain, .confidence = r->near[i]};
        struct agent_step *steps;
        if (t->n_steps < 2 || !t->passed || !(t->gain > WORTH_CARRYING) || r->near[i] < NEAR_ENOUGH ||
            (n == max && promise(&stacks[n - 1]) >= promise(&x)))
            continue;
        x.steps = steps = arena_copy(a, t->steps, t->n_steps * sizeof(*steps));
        for (size_t k = 0; k < x.n; k++)
            if (!offered(in->version, steps[k]))
                steps[k].setting = AGENT_OWN_CHOICE;
        n = insert(stacks, n, max, x);
    }
    return n;
}
