#include "diagnose.h"

const char *diagnose_line(struct arena *a, const char *text, int n)
{
    for (; text && n > 1; n--) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (!text)
        return NULL;
    text += strspn(text, " \t");
    return arena_strndup(a, text, strcspn(text, "\r\n"));
}

void diagnose_profile(const struct task *t, const struct trial *trial, const char *text, const char *device,
                      struct arena *a, struct agent_profile *p)
{
    struct agent_workload *w = arena_array(a, struct agent_workload, trial->n_workloads);
    struct agent_line *l = arena_array(a, struct agent_line, trial->n_lines);
    bool measured = trial->n_workloads && isfinite(trial->workloads[0].times[t->regime].low);

    *p = (struct agent_profile){.device = device,
                                .basis = measured ? "measured" : "modelled",
                                .workloads = w,
                                .n_workloads = trial->n_workloads,
                                .lines = l,
                                .n_lines = trial->n_lines,
                                .registers = trial->registers,
                                .spill_bytes = trial->spill_bytes,
                                .shared_bytes = trial->shared_bytes,
                                .redundant = trial_waste_words(a, trial, false)};
    for (size_t i = 0; i < trial->n_workloads; i++)
        w[i] = (struct agent_workload){trial_dims_text(a, trial, i), trial->workloads[i].times[t->regime]};
    for (size_t i = 0; i < trial->n_lines; i++)
        l[i] = (struct agent_line){diagnose_line(a, text, trial->lines[i].line), trial->lines[i]};
}

void diagnose_trial(const struct task *t, const struct trial *trial, const char *device, bool in_full,
                    struct arena *a, struct agent_diagnosis *d)
{
    struct agent_profile p;

    diagnose_profile(t, trial, NULL, device, a, &p);
    p.redundant = trial_waste_words(a, trial, in_full);
    agent_diagnose_rules(&p, a, d);
}
