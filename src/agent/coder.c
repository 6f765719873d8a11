/* The coder's rules mind: carries out a strategy's moves one after the other, each on the text the last one
 * left. */
#include "agent/agent.h"

enum { MAX_PLACES = 8 };

char *agent_steps_text(struct arena *a, const struct agent_step *steps, size_t n)
{
    struct str s = {0};
    char *r;

    for (size_t i = 0; i < n; i++) {
        str_addf(&s, "%s%s", i ? " + " : "", steps[i].move);
        if (steps[i].setting)
            str_addf(&s, " %d", steps[i].setting);
    }
    r = arena_strdup(a, str_text(&s));
    str_free(&s);
    return r;
}

/* Applies one move at every place where it applies with the setting. A move does not apply to its own work, so
 * the places left shrink; the count found first bounds the loop all the same. */
static bool carry_out(const struct task *t, const char *path, struct agent_step step,
                      const struct kernel_limits *limits, struct arena *a, char **text, struct err *why_not)
{
    const struct rewrite_ops *ops = rewrite_find(step.move);
    size_t places = MAX_PLACES, refused = 0;
    bool changed = false;

    if (!ops)
        return err_input(why_not, "no move is called %s", step.move);
    for (size_t round = 0; round < places; round++) {
        struct agent_version v;
        const struct rewrite_site *sites, *site = NULL;
        size_t n, left = 0;
        char *next;

        if (!agent_version_open(&v, a, t, path, *text, limits, why_not))
            return changed;
        n = ops->find(&v.input, a, &sites);
        for (size_t i = 0; i < n; i++)
            if (sites[i].setting == step.setting && left++ == refused && !site)
                site = &sites[i];
        if (round == 0)
            places = MIN(left, (size_t)MAX_PLACES);
        if (!site && !changed && left == 0)
            err_input(why_not, "%s does not apply", step.move);
        if (site && ops->apply(&v.input, site, a, &next, why_not)) {
            *text = next;
            changed = true;
        } else {
            refused++;
        }
        agent_version_close(&v);
        if (!site)
            break;
    }
    return changed;
}

bool agent_code_rules(const struct task *t, const char *path, const char *parent_text,
                      const struct agent_strategy *strategy, const struct kernel_limits *limits,
                      struct arena *a, char **text, const struct agent_step **done, size_t *n_done,
                      struct err *why_not)
{
    struct agent_step *effective = arena_array(a, struct agent_step, strategy->n_steps + 1);

    *text = arena_strdup(a, parent_text);
    *n_done = 0;
    for (size_t i = 0; i < strategy->n_steps; i++)
        if (carry_out(t, path, strategy->steps[i], limits, a, text, why_not))
            effective[(*n_done)++] = strategy->steps[i];
    *done = effective;
    return *n_done > 0;
}
