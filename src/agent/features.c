/* What of a version other versions can be compared with: how the time is spent, how large the work is and how
 * it is launched, and which transforms apply, which says more of the code than counts of its nodes would. */
#include "agent/agent.h"

#define FEATURE(member) MEMBER(struct agent_features, member)

static const struct member members[] = {FEATURE(dram),
                                        FEATURE(l2),
                                        FEATURE(issue),
                                        FEATURE(latency),
                                        FEATURE(launch),
                                        FEATURE(sync),
                                        FEATURE(copy),
                                        FEATURE(bytes),
                                        FEATURE(flops),
                                        FEATURE(traffic),
                                        FEATURE(occupancy),
                                        FEATURE(waves),
                                        FEATURE(sectors),
                                        FEATURE(conflicts),
                                        FEATURE(lanes),
                                        FEATURE(block),
                                        FEATURE(threads),
                                        FEATURE(work),
                                        FEATURE(launches),
                                        FEATURE(registers),
                                        FEATURE(shared),
                                        FEATURE(element),
                                        MEMBER_AS(struct agent_features, forms, MEMBER_TEXT),
                                        {0}};

/* How far apart two versions may be in a feature before they have nothing in common, and what that weighs. */
static const struct {
    size_t at;
    double scale, weight;
} scales[] = {
#define SCALE(member, scale, weight)                           \
    {                                                          \
        offsetof(struct agent_features, member), scale, weight \
    }
    SCALE(dram, 1, 0.5),     SCALE(l2, 1, 0.5),      SCALE(issue, 1, 0.5),   SCALE(latency, 1, 0.5),
    SCALE(launch, 1, 0.5),   SCALE(sync, 1, 0.5),    SCALE(copy, 4, 2),      SCALE(bytes, 12, 0.5),
    SCALE(flops, 4, 1),      SCALE(traffic, 3, 1),   SCALE(occupancy, 1, 1), SCALE(waves, 8, 0.5),
    SCALE(sectors, 3, 2),    SCALE(conflicts, 3, 1), SCALE(lanes, 1, 1),     SCALE(block, 4, 1),
    SCALE(threads, 12, 0.5), SCALE(work, 6, 2),      SCALE(launches, 2, 1),  SCALE(registers, 3, 0.5),
    SCALE(shared, 12, 0.5),  SCALE(element, 2, 1),
#undef SCALE
};
#define FORMS_WEIGHT 8
#define NEAR         0.4 /* mean distance at which nearness is 1/e */

struct mean {
    double sum;
    size_t n;
};

static void mean_add(struct mean *m, double v)
{
    if (!isfinite(v))
        return;
    m->sum += v;
    m->n++;
}

static double mean_of(struct mean m)
{
    return m.n ? m.sum / (double)m.n : NAN;
}

static double share(double part, double whole)
{
    return CLAMP(part / whole, 0, 1);
}

static void of_times(const struct agent_profile *p, struct agent_features *f)
{
    struct mean dram = {0}, l2 = {0}, issue = {0}, latency = {0}, launch = {0}, sync = {0}, copy = {0},
                bytes = {0}, flops = {0}, traffic = {0}, occupancy = {0}, waves = {0};

    for (size_t i = 0; i < p->n_workloads; i++) {
        const struct trial_time *w = &p->workloads[i].time;
        mean_add(&dram, share(w->dram_us, w->us));
        mean_add(&l2, share(w->l2_us, w->us));
        mean_add(&issue, share(w->issue_us, w->us));
        mean_add(&latency, share(w->latency_us, w->us));
        mean_add(&launch, share(w->launch_us, w->us));
        mean_add(&sync, share(w->sync_us, w->us));
        mean_add(&copy, log2(w->copy_us / w->us));
        mean_add(&bytes, log2(w->compulsory_bytes));
        mean_add(&flops, log2(1 + w->flops / w->compulsory_bytes));
        mean_add(&traffic, log2(MAX(w->dram_bytes, 1) / w->compulsory_bytes));
        mean_add(&occupancy, w->occupancy);
        mean_add(&waves, log2(w->waves));
    }
    f->dram = mean_of(dram);
    f->l2 = mean_of(l2);
    f->issue = mean_of(issue);
    f->latency = mean_of(latency);
    f->launch = mean_of(launch);
    f->sync = mean_of(sync);
    f->copy = mean_of(copy);
    f->bytes = mean_of(bytes);
    f->flops = mean_of(flops);
    f->traffic = mean_of(traffic);
    f->occupancy = mean_of(occupancy);
    f->waves = mean_of(waves);
}

static void of_lines(const struct agent_profile *p, struct agent_features *f)
{
    double weight = 0, sectors = 0, conflicts = 0, lanes = 0;

    for (size_t i = 0; i < p->n_lines; i++) {
        const struct trial_line *l = &p->lines[i].counters;
        if (!(l->share > 0) || !isfinite(l->lanes_active))
            continue;
        weight += l->share;
        lanes += l->share * l->lanes_active / 32;
        if (l->conflicts_per_request > 0)
            conflicts += l->share * log2(1 + l->conflicts_per_request);
        if (l->sectors_per_request > 0 && l->ideal_sectors_per_request > 0)
            sectors += l->share * log2(l->sectors_per_request / l->ideal_sectors_per_request);
    }
    f->sectors = sectors / weight; /* NAN without lines */
    f->conflicts = conflicts / weight;
    f->lanes = lanes / weight;
}

static void of_launches(const struct agent_version *v, struct agent_features *f)
{
    struct mean block = {0}, threads = {0}, launches = {0}, element = {0};

    for (size_t i = 0; i < v->input.n_plans; i++) {
        double most = 0, its_block = 0, n = 0;
        for (size_t k = 0; k < v->input.plans[i].n_steps; k++) {
            const struct plan_step *s = &v->input.plans[i].steps[k];
            double b = (double)s->block[0] * s->block[1] * s->block[2],
                   all = b * s->grid[0] * s->grid[1] * s->grid[2];
            if (s->kind != PLAN_LAUNCH)
                continue;
            n++;
            its_block = all > most ? b : its_block;
            most = MAX(most, all);
        }
        mean_add(&block, log2(its_block));
        mean_add(&threads, log2(most));
        mean_add(&launches, log2(n));
    }
    for (size_t i = 0; i < v->kernel->n_params; i++)
        if (v->kernel->params[i].pointer)
            mean_add(&element, log2((double)kernel_type_size(v->kernel->params[i].type)));
    f->block = mean_of(block);
    f->threads = mean_of(threads);
    f->launches = mean_of(launches);
    f->element = mean_of(element);
}

void agent_features(const struct agent_version *v, const struct agent_profile *p, struct agent_features *f)
{
    struct str forms = {.arena = v->arena};

    of_times(p, f);
    of_lines(p, f);
    of_launches(v, f);
    f->work = f->bytes - f->threads;
    f->registers = p->registers ? log2(p->registers) : NAN;
    f->shared = log2(1 + (double)p->shared_bytes);
    for (size_t m = 0; transform_all[m]; m++) {
        const struct transform_site *sites;
        if (agent_version_sites(v, transform_all[m], &sites))
            str_addf(&forms, "%s%s", forms.len ? "|" : "", transform_all[m]->name);
    }
    f->forms = str_take(&forms, v->arena);
    /* Three digits say enough, keep a row short, and are the same whether a trial was read or just made. */
    for (size_t i = 0; i < ARRAY_LEN(scales); i++) {
        double *x = (double *)((char *)f + scales[i].at);
        *x = isfinite(*x) ? round(1000 * *x) / 1000 + 0.0 : NAN; /* and no -0 */
    }
}

json_t *agent_features_to_json(const struct agent_features *f)
{
    return json_of_members(members, f);
}

void agent_features_from_json(const json_t *o, struct arena *a, struct agent_features *f)
{
    *f = (struct agent_features){0};
    json_get_members(o, members, a, f);
}

/* Of the transforms that apply to either, the share that applies to one alone. */
static double forms_apart(const char *x, const char *y)
{
    size_t both = 0, either = 0;

    for (size_t m = 0; transform_all[m]; m++) {
        bool in_x = str_in(transform_all[m]->name, x), in_y = str_in(transform_all[m]->name, y);
        both += in_x && in_y;
        either += in_x || in_y;
    }
    return either ? 1 - (double)both / (double)either : 0;
}

double agent_features_nearness(const struct agent_features *x, const struct agent_features *y)
{
    double apart = FORMS_WEIGHT * forms_apart(x->forms, y->forms), weight = FORMS_WEIGHT;

    for (size_t i = 0; i < ARRAY_LEN(scales); i++) {
        double a = *(const double *)((const char *)x + scales[i].at),
               b = *(const double *)((const char *)y + scales[i].at);
        if (isfinite(a) && isfinite(b))
            apart += scales[i].weight * MIN(fabs(a - b) / scales[i].scale, 1);
        else if (isfinite(a) || isfinite(b))
            apart += scales[i].weight;
        weight += scales[i].weight;
    }
    apart /= weight * NEAR;
    return exp(-apart * apart);
}
