/* How much of each input the blocks of a plan's launches read, at a shape that is too large to be run whole.
 * Where sums by atomics leave nothing to compare, who reads less than there is has left something out. Only
 * this counts: every block of the original that is looked at has its full share of an input, every one of the
 * version the same, smaller one, and on a workload the version reads all. What is skipped for its values, or
 * since nobody needs it, is skipped there, too, or not evenly. */
#include "probe.h"

enum {
    LOOKED_AT = 5,        /* blocks; of a grid with no more than twice as many all */
    MOST_INSNS = 1 << 19, /* of a block: one that has not ended says nothing */
    LEAST_BYTES = 1 << 14,
    MOST_LAUNCHES = 3,
};
#define ALL    0.95
#define LITTLE 0.75

struct shares { /* of each input, if all blocks were like the one that reads the least of it, or the most; of
                   all launches together */
    bool known;
    double least[MAX_ARGS], most[MAX_ARGS];
};

struct reader {
    struct probe probe;
    struct shares *shares;
    struct stored reads;
};

static double share_of(const struct reader *r, size_t arg, double blocks)
{
    int64_t size;
    uint64_t addr = stage_arg(r->probe.stage, arg, &size);

    return size < LEAST_BYTES ? 1
                              : (double)stored_bytes(&r->reads, addr, (uint64_t)size) * blocks / (double)size;
}

static bool launch(void *context, const struct plan_step *step, const struct ptx_launch *l,
                   const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct reader *r = context;
    const struct task *t = r->probe.stage->task;
    const struct grid g = {l, k, (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], r->probe.launches++ == 0};
    bool all = g.blocks <= 2 * LOOKED_AT, ended = true, ok = true;
    uint64_t n = all ? g.blocks : LOOKED_AT;
    double together = all ? 1 : (double)g.blocks, least[MAX_ARGS], most[MAX_ARGS];

    (void)step;
    r->probe.reads = &r->reads;
    for (uint64_t i = 0; i < n && r->shares->known && fate_open(fate); i++) {
        uint64_t block = g.blocks / n * i + g.blocks / n / 2;
        if (!all || i == 0)
            stored_clear(&r->reads);
        if (g.first)
            ok = probe_block(&r->probe, &g, block, MOST_INSNS, &ended, fate, err);
        else /* what it finds is what a few blocks have left */
            ok = probe_unasked(&r->probe, &g, block, &ended, fate, err);
        if (!ok)
            return false;
        stored_settle(&r->reads);
        r->shares->known &= ended;
        for (size_t arg = 0; arg < t->n_args; arg++) {
            double share = t->args[arg].role == ROLE_IN ? share_of(r, arg, together) : 1;
            least[arg] = all || i == 0 ? share : fmin(least[arg], share);
            most[arg] = all || i == 0 ? share : fmax(most[arg], share);
        }
    }
    r->shares->known &= fate_open(fate);
    for (size_t arg = 0; r->shares->known && arg < t->n_args; arg++) {
        r->shares->least[arg] += least[arg];
        r->shares->most[arg] += most[arg];
    }
    return true;
}

static bool can_be_read(const struct plan *plan)
{
    size_t launches = 0;

    for (size_t i = 0; i < plan->n_steps; i++) {
        launches += plan->steps[i].kind == PLAN_LAUNCH;
        if (plan->steps[i].kind == PLAN_COPY || plan->steps[i].cooperative)
            return false;
    }
    return launches > 0 && launches <= MOST_LAUNCHES;
}

static bool find_shares(struct version *v, struct arena *a, const int64_t *dims, struct shares *s,
                        struct err *err)
{
    struct stage stage;
    struct reader r = {.shares = s};
    const struct stage_visitor visitor = {.context = &r, .launch = launch};
    struct fate fate = {0};
    struct plan plan;
    bool ok = true;

    *s = (struct shares){.known = true};
    if (!probe_open(&stage, v, a, dims, &plan, &fate, err))
        return false;
    r.probe = (struct probe){.version = v, .stage = &stage, .arena = a, .most_launches = 1};
    s->known = fate_open(&fate) && can_be_read(&plan);
    if (s->known)
        ok = stage_run(&stage, v, &plan, &visitor, a, &fate, err);
    v->long_insns += r.probe.insns;
    stored_free(&r.reads);
    probe_close(&r.probe);
    stage_close(&stage);
    return ok;
}

/* Is so little of it read, by all of its blocks alike, that the original's reads matter? */
static bool is_little(const struct shares *its, size_t arg)
{
    return its->most[arg] > 0 && its->most[arg] <= LITTLE && its->least[arg] >= 0.9 * its->most[arg];
}

static bool verify_at(struct judge *j, struct version *v, struct arena *a, const int64_t *dims,
                      struct fate *fate, struct err *err)
{
    struct shares own = {.known = false}, its, small;
    bool little = false;

    if (!find_shares(v, a, dims, &its, err))
        return false;
    for (size_t i = 0; i < j->task->n_args && its.known; i++)
        little |= is_little(&its, i);
    if (little && !find_shares(&j->baseline, a, dims, &own, err))
        return false;
    for (size_t i = 0; i < j->task->n_args && own.known && fate_open(fate); i++) {
        if (own.least[i] < ALL || !is_little(&its, i))
            continue;
        if (!find_shares(v, a, j->task->workloads, &small, err))
            return false;
        if (small.known && small.least[i] >= ALL)
            fate_isf(fate, a, VERDICT_WRONG, 0,
                     "its blocks read %.0f %% of %s together, the original's all of it (%s)", 100 * its.most[i],
                     j->task->args[i].name, task_dims_text(a, j->task, dims));
    }
    return true;
}

/* Where a launcher has come to its most blocks, nearly all is read still: twice as much shows what is not. */
static bool further(const struct judge *j, const int64_t *dims, int64_t *to)
{
    const struct task *t = j->task;
    size_t largest = 0;

    memcpy(to, dims, t->n_dims * sizeof(*dims));
    for (size_t i = 1; i < t->n_dims; i++)
        if (dims[i] > dims[largest])
            largest = i;
    if (to[largest] > INT64_MAX / 2)
        return false;
    to[largest] *= 2;
    return task_in_domain(t, to) && task_case_elements(t, to) <= most_elements(j);
}

bool reads_verify(struct judge *j, struct version *v, struct arena *a, const int64_t *dims, struct fate *fate,
                  struct err *err)
{
    int64_t more[16];

    return verify_at(j, v, a, dims, fate, err) &&
           (!fate_open(fate) || !further(j, dims, more) || verify_at(j, v, a, more, fate, err));
}
