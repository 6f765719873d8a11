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
                                .shared_bytes = trial->shared_bytes};
    for (size_t i = 0; i < trial->n_workloads; i++) {
        const struct trial_time *x = &trial->workloads[i].times[t->regime];
        w[i] = (struct agent_workload){.dims = trial_dims_text(a, trial, i),
                                       .us = x->us,
                                       .copy_us = x->light_us,
                                       .bound = x->bound,
                                       .dram_us = x->dram_us,
                                       .l2_us = x->l2_us,
                                       .issue_us = x->issue_us,
                                       .latency_us = x->latency_us,
                                       .launch_us = x->launch_us,
                                       .sync_us = x->sync_us,
                                       .occupancy = x->occupancy,
                                       .waves = x->waves};
    }
    for (size_t i = 0; i < trial->n_lines; i++)
        l[i] = (struct agent_line){.line = trial->lines[i].line,
                                   .text = diagnose_line(a, text, trial->lines[i].line),
                                   .share = trial->lines[i].share,
                                   .lanes_active = trial->lines[i].lanes_active,
                                   .sectors_per_request = trial->lines[i].sectors_per_request,
                                   .ideal_sectors_per_request = trial->lines[i].ideal_sectors_per_request,
                                   .conflicts_per_request = trial->lines[i].conflicts_per_request};
}

void diagnose_trial(const struct task *t, const struct trial *trial, const char *device, struct arena *a,
                    struct agent_diagnosis *d)
{
    struct agent_profile p;

    diagnose_profile(t, trial, NULL, device, a, &p);
    agent_diagnose_rules(&p, a, d);
}
