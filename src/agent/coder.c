/* The coder's rules backend: carries out a strategy's transforms one after the other, each on the text the last
 * one left. */
#include "agent/agent.h"

enum { MAX_PLACES = 8 };

char *agent_steps_text(struct arena *a, const struct agent_step *steps, size_t n)
{
    struct str s = {.arena = a};

    for (size_t i = 0; i < n; i++)
        str_addf(&s, "%s%s", i ? " + " : "", transform_words(a, steps[i].transform, steps[i].setting));
    return str_take(&s, a);
}

/* Applies one transform at every place where it applies with the setting. A transform does not apply to its own
 * work, so the places left shrink; the count found first bounds the loop all the same. One that opens may: a
 * function that stands in the kernel now may call others. */
static bool carry_out(struct agent_versions *all, struct agent_step *step, struct arena *a, char **text,
                      struct err *why_not)
{
    const struct transform *ops = transform_find(step->transform);
    size_t places = MAX_PLACES, refused = 0;
    bool changed = false;

    if (agent_is_dispatch(step))
        return agent_dispatch(all->task, all->path, step, a, text, why_not);
    if (!ops)
        return err_input(why_not, "no transform is called %s", step->transform);
    for (size_t round = 0; round < places; round++) {
        const struct agent_version *v = agent_versions_get(all, *text, why_not);
        const struct transform_site *sites, *site = NULL;
        size_t n, left = 0;
        char *next;

        if (!v)
            return changed;
        n = step->setting == AGENT_OWN_CHOICE ? agent_version_sites(v, ops, &sites)
                                              : agent_version_every_site(v, ops, &sites);
        if (step->setting == AGENT_OWN_CHOICE && n > 0)
            step->setting = sites[0].setting;
        for (size_t i = 0; i < n; i++)
            if (sites[i].setting == step->setting && left++ == refused && !site)
                site = &sites[i];
        if (round == 0)
            places = ops->opens ? MAX_PLACES : MIN(left, (size_t)MAX_PLACES);
        if (!site && !changed && left == 0)
            err_input(why_not, "%s does not apply", step->transform);
        if (site && transform_apply(ops, &v->input, site, a, &next, why_not)) {
            *text = next;
            changed = true;
        } else {
            refused++;
        }
        if (!site)
            break;
    }
    return changed;
}

/* An earlier step settled already what this one would. */
static bool settled(const struct agent_step *done, size_t n, struct agent_step step)
{
    const struct transform *ops = transform_find(step.transform);

    for (size_t i = 0; i < n && ops && ops->chooses && step.setting == AGENT_OWN_CHOICE; i++) {
        const struct transform *earlier = transform_find(done[i].transform);
        if (earlier && earlier->chooses && strstr(earlier->chooses, ops->chooses))
            return true;
    }
    return false;
}

/* A step whose file is no kernel file of the task any more is left out, and the others go on from the file
 * before it. */
bool agent_step_rules(struct agent_versions *all, struct agent_step *step, struct arena *a, char **text,
                      struct err *why_not)
{
    char *next = *text;

    if (!carry_out(all, step, a, &next, why_not) || !agent_versions_stands(all, next, why_not))
        return false;
    step->text = *text = next;
    return true;
}

bool agent_code_rules(const struct task *t, const char *path, const struct agent_strategy *strategy,
                      const struct kernel_limits *limits, struct arena *a, struct agent_file *file,
                      struct err *why_not)
{
    struct agent_step *effective = arena_array(a, struct agent_step, strategy->n_steps + 1);
    struct agent_versions *all = agent_versions_open(t, path, limits);

    file->steps = effective;
    file->n_steps = 0;
    for (size_t i = 0; i < strategy->n_steps; i++) {
        struct agent_step step = strategy->steps[i];
        if (!settled(effective, file->n_steps, step) && agent_step_rules(all, &step, a, &file->text, why_not))
            effective[file->n_steps++] = step;
    }
    agent_versions_close(all);
    return file->n_steps > 0;
}
