/* The planner's rules backend. It knows the transforms only by what they say they help, and learns the rest:
 *  - every transform that applies to the parent is worth one try alone, the ones that help what bounds it
 * first;
 *  - so is each that applies only behind transforms that open the file, which change nothing alone;
 *  - transforms that gained earlier, on whatever parent, are worth trying together;
 *  - what was tried on this parent is not tried again, and what failed or lost elsewhere goes to the end of the
 * line;
 *  - a memory of earlier runs, where there is one, has the last word on the order: recall.c. */
#include "agent/internal.h"

/* A gain below this is no gain. */
#define NEUTRAL 1.005

enum { MAX_SITES = 256, MAX_STACK = 12, MAX_TRANSFORMS = 64, MAX_DRAFTS = 512, MAX_OPENING = 8 };

struct lesson { /* what the history says of one transform with one setting */
    unsigned tried, failed;
    double best_gain; /* alone; NAN when never timed alone */
};

struct drafts {
    const struct agent_plan_input *in;
    struct arena *arena;
    struct agent_step opening[MAX_OPENING + 1]; /* steps that change nothing but what the others see, and */
    size_t n_opening;                           /* behind so many of them one that reveals more */
    struct agent_strategy *v;
    size_t n;
};

static bool same_step(struct agent_step a, struct agent_step b)
{
    return a.setting == b.setting && strcmp(a.transform, b.transform) == 0;
}

/* The step that an attempt tried alone, or behind such as open the file for it; NULL: several. */
static const struct agent_step *tried_alone(const struct agent_attempt *h)
{
    size_t first = 0;

    for (bool more = true; more && first + 1 < h->n_steps; first += more) {
        const struct transform *ops = transform_find(h->steps[first].transform);
        more = ops && (ops->opens || (ops->reveals && first + 2 == h->n_steps));
    }
    return first + 1 == h->n_steps ? &h->steps[first] : NULL;
}

static struct lesson lesson_of(const struct agent_plan_input *in, struct agent_step step)
{
    struct lesson l = {.best_gain = NAN};

    for (size_t i = 0; i < in->n_history; i++) {
        const struct agent_attempt *h = &in->history[i];
        const struct agent_step *alone = h->untold ? NULL : tried_alone(h);
        if (!alone || !same_step(*alone, step))
            continue;
        l.tried++;
        if (!h->passed)
            l.failed++;
        else if (!(h->gain <= l.best_gain))
            l.best_gain = h->gain;
    }
    return l;
}

bool plan_tried_on_parent(const struct agent_plan_input *in, const struct agent_step *steps, size_t n)
{
    for (size_t i = 0; i < in->n_history; i++) {
        const struct agent_attempt *h = &in->history[i];
        bool same = h->parent == in->parent && h->n_steps == n;
        for (size_t k = 0; same && k < n; k++)
            same = same_step(h->steps[k], steps[k]);
        if (same)
            return true;
    }
    return false;
}

/* Where threads reach scattered sectors, what orders them comes before all that a bound asks for. */
static bool orders(const struct transform *ops, const struct agent_diagnosis *d)
{
    return d->scattered > 0.3 && ops->helps && strstr(ops->helps, "order");
}

static bool helps(const struct transform *ops, const struct agent_diagnosis *d)
{
    return orders(ops, d) || (d->bound_by && ops->helps && strstr(ops->helps, d->bound_by));
}

static void add_draft(struct drafts *d, struct agent_strategy s)
{
    if (d->n < MAX_DRAFTS)
        d->v[d->n++] = s;
}

/* Settings come in the transform's own order of preference: the first is what it would choose itself. The site
 * is there behind so many of the opening steps. */
static void draft_single(struct drafts *d, const struct transform *ops, const struct transform_site *site,
                         unsigned rank, size_t before)
{
    const struct agent_plan_input *in = d->in;
    struct arena *a = d->arena;
    struct agent_step *steps = arena_array(a, struct agent_step, MAX_OPENING + 2), *step = &steps[before];
    struct lesson l;
    double gain = helps(ops, in->diagnosis) ? 1.3 : 1.05, confidence = 0.7;
    struct str reason = {.arena = a};

    memcpy(steps, d->opening, before * sizeof(*steps));
    *step = (struct agent_step){ops->name, site->setting};
    if (plan_tried_on_parent(in, steps, before + 1))
        return;
    l = lesson_of(in, *step);
    if (l.tried > l.failed && l.best_gain < NEUTRAL && l.tried >= 2)
        return; /* twice without effect is a lesson */
    if (orders(ops, in->diagnosis)) {
        gain = 2;
        str_add(&reason, "its accesses are scattered, which this orders; ");
    } else if (helps(ops, in->diagnosis))
        str_addf(&reason, "it is bound by %s, which this helps; ", in->diagnosis->bound_by);
    str_add(&reason, site->why ? site->why : ops->summary);
    if (isfinite(l.best_gain)) {
        gain = l.best_gain > NEUTRAL ? l.best_gain : 0.5 + 0.5 * MIN(l.best_gain, 1);
        str_addf(&reason, "; on an earlier version it gave %.2fx", l.best_gain);
    }
    if (l.failed) {
        confidence /= 1 + 2 * l.failed;
        str_addf(&reason, "; it failed %u time%s before", l.failed, l.failed > 1 ? "s" : "");
    }
    confidence *= pow(0.93, rank) * (ops->opens ? 0.5 : 1);
    add_draft(d, (struct agent_strategy){
                     .name = agent_steps_text(a, steps, before + 1),
                     .reason = str_take(&reason, a),
                     .plan = arena_printf(a, "%s (%s)", ops->summary, site->where ? site->where : "everywhere"),
                     .steps = steps,
                     .n_steps = before + 1,
                     .expected_gain = gain,
                     .confidence = confidence,
                 });
}

static void draft_stack(struct drafts *d, const struct agent_step *steps, size_t n, double expected,
                        double confidence, const char *reason)
{
    if (n < 2 || plan_tried_on_parent(d->in, steps, n))
        return;
    add_draft(d, (struct agent_strategy){
                     .name = agent_steps_text(d->arena, steps, n),
                     .reason = reason,
                     .plan = arena_printf(d->arena, "apply %zu transforms one after the other", n),
                     .steps = arena_copy(d->arena, steps, n * sizeof(*steps)),
                     .n_steps = n,
                     .expected_gain = expected,
                     .confidence = confidence,
                 });
}

/* The transforms that helped when tried alone and are not in the parent yet, best first, together. */
static void draft_winners(struct drafts *d)
{
    const struct agent_plan_input *in = d->in;
    struct agent_step all[MAX_OPENING + MAX_STACK], *steps = all + d->n_opening;
    double gains[MAX_STACK], expected = 1;
    size_t n = 0;

    memcpy(all, d->opening, d->n_opening * sizeof(*all));
    for (size_t i = 0; i < in->n_history; i++) {
        const struct agent_attempt *h = &in->history[i];
        const struct agent_step *alone = h->passed && h->gain > 1.01 ? tried_alone(h) : NULL;
        bool known = false;
        if (!alone)
            continue;
        for (size_t k = 0; k < in->n_lineage; k++)
            known = known || strcmp(in->lineage[k].transform, alone->transform) == 0;
        for (size_t k = 0; k < n && !known; k++)
            if (strcmp(steps[k].transform, alone->transform) == 0) {
                if (h->gain > gains[k]) {
                    steps[k] = *alone;
                    gains[k] = h->gain;
                }
                known = true;
            }
        if (!known && n < MAX_STACK) {
            gains[n] = h->gain;
            steps[n++] = *alone;
        }
    }
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && gains[k] > gains[k - 1]; k--) {
            struct agent_step s = steps[k];
            double g = gains[k];
            steps[k] = steps[k - 1];
            gains[k] = gains[k - 1];
            steps[k - 1] = s;
            gains[k - 1] = g;
        }
    for (size_t m = n; m >= 2; m--) {
        expected = 1;
        for (size_t i = 0; i < m; i++)
            expected *= gains[i];
        /* Gains of separate transforms rarely multiply. */
        draft_stack(
            d, all, d->n_opening + m, sqrt(expected) * sqrt(gains[0]), 0.8,
            arena_printf(d->arena,
                         "each of these gained when tried alone (%.2fx to %.2fx); together they may gain more",
                         gains[m - 1], gains[0]));
    }
}

/* Did the transform fail alone, with whatever setting, and never pass? */
static bool only_failed(const struct agent_plan_input *in, const char *transform)
{
    bool failed = false;

    for (size_t i = 0; i < in->n_history; i++) {
        const struct agent_attempt *h = &in->history[i];
        const struct agent_step *alone = h->untold ? NULL : tried_alone(h);
        if (!alone || !str_eq(alone->transform, transform))
            continue;
        if (h->passed)
            return false;
        failed = true;
    }
    return failed;
}

/* A block has 65536 registers on all devices that are known here (CUDA Programming Guide, "Compute
 * Capabilities"), and a thread takes them by eights. Bounds in the file make the compiler keep to them. */
static bool registers_suffice(const struct agent_plan_input *in, const struct transform *ops, int setting)
{
    unsigned each = (in->registers + 7) / 8 * 8;

    return !ops->threads || strstr(in->version->kernel->text, "__launch_bounds__") ||
           each * (unsigned)ops->threads(setting) <= 65536;
}

/* Settings of the first transform that settles the block: everything else depends on them, so each has its own
 * stack. */
struct blocks {
    const char *transform;
    int settings[4];
    size_t n;
};

static void note_block(struct blocks *b, const struct agent_plan_input *in, const struct transform *ops,
                       int setting)
{
    if (!ops->chooses || !strstr(ops->chooses, "block") || (b->transform && b->transform != ops->name) ||
        b->n == ARRAY_LEN(b->settings))
        return;
    b->transform = ops->name;
    b->settings[b->n++] = setting;
    if (b->n == 2 && ops->later && registers_suffice(in, ops, ops->later))
        b->settings[b->n++] = ops->later;
}

/* Everything that helps what bounds it, in the order in which rewrite/ lists the transforms, each with its own
 * choice where the ones before it have left the code, once for each block; then simply everything. */
static void draft_whole_cure(struct drafts *d, const struct blocks *blocks)
{
    const struct agent_plan_input *in = d->in;
    const char *bound = in->diagnosis->bound_by;

    for (size_t k = 0; k <= MAX(blocks->n, (size_t)1); k++) {
        bool all = k == MAX(blocks->n, (size_t)1);
        struct agent_step steps[MAX_TRANSFORMS];
        size_t n = 0;
        for (size_t m = 0; transform_all[m] && n < MAX_TRANSFORMS; m++) {
            const char *transform = transform_all[m]->name;
            bool is_block = k > 0 && !all && str_eq(transform, blocks->transform);
            if (!transform_all[m]->last && (all || is_block || helps(transform_all[m], in->diagnosis)) &&
                !only_failed(in, transform))
                steps[n++] = (struct agent_step){transform, is_block ? blocks->settings[k] : AGENT_OWN_CHOICE};
        }
        if (all)
            draft_stack(d, steps, n, 1.5, 0.5, "every transform that applies, together");
        else
            draft_stack(
                d, steps, n, 1.6, 0.75 * pow(0.93, (double)k),
                arena_printf(d->arena, "it is bound by %s: all transforms that help this, together", bound));
    }
}

double strategy_promise(const struct agent_strategy *s)
{
    return s->confidence * log(s->expected_gain + 0.5);
}

static int by_promise(const void *x, const void *y)
{
    const struct agent_strategy *a = x, *b = y;
    double p = strategy_promise(a), q = strategy_promise(b);

    if (p != q)
        return p < q ? 1 : -1;
    return strcmp(a->name, b->name); /* qsort is not stable; the order must not depend on it */
}

static bool has_setting(const struct transform_site *sites, size_t n, int setting)
{
    for (size_t i = 0; i < n; i++)
        if (sites[i].setting == setting)
            return true;
    return false;
}

static bool can_be_opened(const struct agent_version *v)
{
    const struct transform_site *sites;

    for (size_t m = 0; transform_all[m]; m++)
        if ((transform_all[m]->opens || transform_all[m]->reveals) &&
            agent_version_sites(v, transform_all[m], &sites) > 0)
            return true;
    return false;
}

/* What applies to the version, behind so many of the opening steps, and to neither of the other two. */
static void draft_behind(struct drafts *d, const struct agent_version *v, size_t steps,
                         const struct agent_version *without, const struct agent_version *nor)
{
    for (size_t m = 0; v && transform_all[m]; m++) {
        const struct transform *ops = transform_all[m];
        const struct transform_site *sites, *known, *also;
        size_t n = ops->last || ops->opens || ops->reveals ? 0 : agent_version_sites(v, ops, &sites);
        size_t n_known = n ? agent_version_sites(without, ops, &known) : 0,
               n_also = n && nor ? agent_version_sites(nor, ops, &also) : 0;
        unsigned rank = 0;
        for (size_t i = 0; i < n && i < MAX_SITES; i++)
            if (!has_setting(known, n_known, sites[i].setting) &&
                !has_setting(also, n_also, sites[i].setting) && !has_setting(sites, i, sites[i].setting) &&
                registers_suffice(d->in, ops, sites[i].setting))
                draft_single(d, ops, &sites[i], rank++, steps);
    }
}

/* What applies behind the opening steps and not without them; and behind one that reveals more, likewise. */
static void draft_opened(struct drafts *d)
{
    const struct agent_version *v = d->in->version, *opened, *revealed = NULL;
    bool more = false;

    if (!can_be_opened(v)) /* and need not be read again */
        return;
    struct agent_versions *all = agent_versions_open(v->task, v->path, v->input.limits);
    char *text = arena_strdup(d->arena, v->kernel->text);
    for (size_t m = 0; transform_all[m]; m++) {
        struct agent_step step = {transform_all[m]->name, AGENT_OWN_CHOICE};
        if (transform_all[m]->opens && d->n_opening < MAX_OPENING &&
            agent_step_rules(all, &step, d->arena, &text, NULL))
            d->opening[d->n_opening++] = (struct agent_step){step.transform, step.setting};
    }
    opened = d->n_opening > 0 ? agent_versions_get(all, text, NULL) : NULL;
    for (size_t m = 0; transform_all[m] && !more; m++) {
        struct agent_step step = {transform_all[m]->name, 0};
        more = transform_all[m]->reveals && agent_step_rules(all, &step, d->arena, &text, NULL);
        if (more)
            d->opening[d->n_opening] = (struct agent_step){step.transform, step.setting};
    }
    revealed = more ? agent_versions_get(all, text, NULL) : NULL;
    draft_behind(d, opened, d->n_opening, v, NULL);
    draft_behind(d, revealed, d->n_opening + 1, v, opened);
    agent_versions_close(all);
}

void agent_plan_rules(const struct agent_plan_input *in, struct arena *a,
                      const struct agent_strategy **strategies, size_t *n)
{
    struct drafts d = {.in = in, .arena = a, .v = arena_array(a, struct agent_strategy, MAX_DRAFTS)};
    struct blocks blocks = {0};

    for (size_t m = 0; transform_all[m]; m++) {
        const struct transform *ops = transform_all[m];
        const struct transform_site *sites;
        size_t n_sites = ops->last ? 0 : agent_version_sites(in->version, ops, &sites);
        for (size_t i = 0; i < n_sites && i < MAX_SITES; i++) {
            unsigned rank = 0;
            for (size_t k = 0; k < i; k++)
                rank += sites[k].setting != sites[i].setting;
            if (has_setting(sites, i, sites[i].setting) || !registers_suffice(in, ops, sites[i].setting))
                continue;
            draft_single(&d, ops, &sites[i], rank, 0);
            note_block(&blocks, in, ops, sites[i].setting);
        }
    }
    draft_opened(&d);
    draft_winners(&d);
    draft_whole_cure(&d, &blocks);
    qsort(d.v, d.n, sizeof(*d.v), by_promise);
    if (in->memory)
        d.n = recall_order(in, a, d.v, d.n, MAX_DRAFTS);
    *strategies = d.v;
    *n = MIN(d.n, in->max_strategies);
}

/* The place of a line of `after` in `before`, both from 1; 0 when it is new. */
static int line_before(struct arena *a, const char *before, const char *after, int line)
{
    const struct diff_line *x, *y;
    size_t n = diff_lines(a, before, &x), m = diff_lines(a, after, &y);
    const int *places = diff_match(a, x, n, y, m);

    for (size_t i = 0; i < n; i++)
        if (places[i] == line - 1)
            return (int)i + 1;
    return 0;
}

/* The step that wrote the line where it failed; NULL: not known, or the parent's own. */
static const struct agent_step *step_to_blame(const struct agent_plan_input *in,
                                              const struct agent_failure *why, struct arena *a)
{
    int line = why && in->version ? why->line : 0;

    for (size_t k = why ? why->n_steps : 0; line > 0 && k-- > 0;) {
        line = line_before(a, k ? why->steps[k - 1].text : in->version->kernel->text, why->steps[k].text, line);
        if (line == 0)
            return &why->steps[k];
    }
    return NULL;
}

bool agent_repair_rules(const struct agent_strategy *failed, const struct agent_failure *why,
                        const struct agent_plan_input *in, struct arena *a, struct agent_strategy *repaired)
{
    const struct agent_step *steps = failed->steps, *blamed;
    struct agent_step kept[MAX_TRANSFORMS];
    size_t n = 0;

    if (failed->n_steps < 2)
        return false;
    blamed = step_to_blame(in, why, a);
    for (size_t i = 0; i < failed->n_steps && n < MAX_TRANSFORMS; i++)
        if (blamed ? !str_eq(steps[i].transform, blamed->transform) : !only_failed(in, steps[i].transform))
            kept[n++] = steps[i];
    if (n == failed->n_steps) /* the last one rests on all the others */
        n--;
    if (n == 0 || plan_tried_on_parent(in, kept, n))
        return false;
    *repaired = *failed;
    repaired->steps = arena_copy(a, kept, n * sizeof(*kept));
    repaired->n_steps = n;
    repaired->name = agent_steps_text(a, kept, n);
    repaired->reason = arena_printf(a, "'%s' failed; without the step most likely to blame", failed->name);
    return true;
}
