/* The profiler's rules backend: counters to a sentence or two that a person can check against the table beside
 * it.
 */
#include "agent/agent.h"

static const struct {
    const char *bound, *meaning;
} meanings[] = {
    {"dram", "the bytes it moves through device memory; only fewer bytes or fuller sectors help"},
    {"l2", "traffic through the L2; fewer or wider requests help"},
    {"issue", "the instructions it issues; wider accesses, cheaper arithmetic and hoisted work help"},
    {"latency", "waiting for loads one after another; more independent loads in flight help"},
    {"launch", "the launch itself; there is little left to win at this size"},
    {"sync", "waiting at barriers and on atomics; fewer synchronisation steps help"},
};

static const char *meaning_of(const char *bound)
{
    for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
        if (str_eq(meanings[i].bound, bound))
            return meanings[i].meaning;
    return "";
}

/* Votes are weighted by how far from the copy's time a workload is: that is where there is something to win. */
static const char *main_bound(const struct agent_profile *p)
{
    double votes[ARRAY_LEN(meanings)] = {0};
    size_t best = 0;

    for (size_t i = 0; i < p->n_workloads; i++) {
        const struct trial_time *w = &p->workloads[i].time;
        double weight = isfinite(w->copy_us) && w->copy_us > 0 ? log(MAX(w->us / w->copy_us, 1.01)) : 1;
        for (size_t b = 0; b < ARRAY_LEN(meanings); b++)
            if (str_eq(meanings[b].bound, w->bound))
                votes[b] += weight;
    }
    for (size_t b = 1; b < ARRAY_LEN(meanings); b++)
        if (votes[b] > votes[best])
            best = b;
    return votes[best] > 0 ? meanings[best].bound : "unknown";
}

/* How much of the time its bound is alone, the next one, and what they all leave. Bounds overlap, so that what
 * is left is at least that much. */
static void add_bounds(const struct trial_time *w, struct str *s)
{
    struct trial_bound all[N_BOUNDS];
    double rest = w->us, alone = trial_bound_us(w);
    const struct trial_bound *second = NULL;

    trial_bounds(w, all);
    for (size_t i = 0; i < N_BOUNDS; i++) {
        rest -= all[i].us > 0 ? all[i].us : 0;
        if (!str_eq(all[i].name, w->bound) && all[i].us > (second ? second->us : 0.1 * w->us))
            second = &all[i];
    }
    if (!(alone > 0))
        return;
    str_addf(s, " There %s alone accounts for %.2f of %.2f us (%.0f %%)", trial_bound_words(w, s->arena), alone,
             w->us, fmin(100, 100 * alone / w->us));
    if (second)
        str_addf(s, ", %s for %.2f us", second->name, second->us);
    if (rest > 0.1 * w->us)
        str_addf(s, "; at least %.2f us are waiting that no bound explains", rest);
    str_add(s, ".");
}

void agent_diagnose_rules(const struct agent_profile *p, struct arena *a, struct agent_diagnosis *d)
{
    struct str s = {.arena = a};
    double log_share = 0;
    size_t n = 0, worst = 0;

    for (size_t i = 0; i < p->n_workloads; i++) {
        const struct trial_time *w = &p->workloads[i].time, *x = &p->workloads[worst].time;
        if (!(w->us > 0) || !(w->copy_us > 0))
            continue;
        log_share += log(w->copy_us / w->us);
        n++;
        if (w->us / w->copy_us > x->us / x->copy_us)
            worst = i;
    }
    d->share_of_copy = n ? exp(log_share / (double)n) : NAN;
    d->bound_by = main_bound(p);
    str_addf(&s, "On %s (%s) it is bound by %s", p->device, p->basis, d->bound_by);
    if (*meaning_of(d->bound_by))
        str_addf(&s, ": %s", meaning_of(d->bound_by));
    str_add(&s, ".");
    if (n) {
        const struct trial_time *w = &p->workloads[worst].time;
        str_addf(
            &s,
            " It reaches %.0f %% of the plain copy's speed on average; furthest away is %s (%.2f us, copy %.2f us, %s).",
            100 * d->share_of_copy, p->workloads[worst].dims, w->us, w->copy_us, w->bound);
        add_bounds(w, &s);
        if (isfinite(w->occupancy) && w->occupancy < 0.25)
            str_addf(&s, " Only %.0f %% of the warps that would fit are resident there (%.2g waves).",
                     100 * w->occupancy, w->waves);
    }
    for (size_t i = 0; i < p->n_lines && i < 2; i++) {
        const struct trial_line *l = &p->lines[i].counters;
        if (!(l->share > 0.15))
            continue;
        if (l->line)
            str_addf(&s, " Line %d takes %.0f %% of the time", l->line, 100 * l->share);
        else
            str_addf(&s, " What the compiler made for no line takes %.0f %% of the time", 100 * l->share);
        if (l->sectors_per_request > 1.3 * l->ideal_sectors_per_request)
            str_addf(&s, " and moves %.1f sectors a request where %.1f would do", l->sectors_per_request,
                     l->ideal_sectors_per_request);
        else if (l->conflicts_per_request > 0.5)
            str_addf(&s, " with %.1f bank conflicts a request", l->conflicts_per_request);
        else if (l->lanes_active < 24)
            str_addf(&s, " with %.0f of 32 lanes active", l->lanes_active);
        str_add(&s, ".");
    }
    d->scattered = 0;
    for (size_t i = 0; i < p->n_lines; i++)
        if (p->lines[i].counters.sectors_per_request > 2 * p->lines[i].counters.ideal_sectors_per_request)
            d->scattered += p->lines[i].counters.share;
    if (p->spill_bytes)
        str_addf(&s, " It spills %u bytes of registers to local memory.", p->spill_bytes);
    if (p->redundant)
        str_addf(&s, " Redundant traffic, on the suite's cases: %s.", p->redundant);
    d->text = str_take(&s, a);
}
