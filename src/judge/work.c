/* How many warp instructions a version needs for a workload: blocks of each launch run on the simulator without
 * checks and without a clock. The clock's sample is held to it, and what may be run whole is chosen by it. */
#include "internal.h"

enum { WORK_INSNS = 8000000, LEAST_INSNS = 200000 };

struct counting {
    struct version *version;
    struct stage *stage;
    struct arena *arena;
    struct work *work;
    double max_insns; /* of a launch */
    bool whole;
};

static bool count(void *context, const struct plan_step *step, const struct ptx_launch *l,
                  const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct counting *c = context;
    const struct judge *j = c->version->judge;
    struct work *w = c->work;
    const struct ptx_options o = {.device = j->model,
                                  .registers = k->resources.registers,
                                  .sample_seed =
                                      rng_hash(rng_hash(j->options.seed, 0x776f726b), w->n_launches)};
    struct ptx_work *x = &w->launches[w->n_launches++];

    (void)step, (void)fate;
    x->whole = c->whole;
    if (!ptx_count_launch(c->version->module, c->stage->mem, l, &o, c->max_insns, x, err))
        return false;
    w->known &= x->known;
    w->insns += x->mean * (double)x->of;
    return true;
}

static bool count_plan(struct version *v, size_t workload, bool whole, struct work *w, struct err *err)
{
    const struct judge *j = v->judge;
    const struct task *t = j->task;
    struct arena *scratch = arena_open();
    const int64_t *dims = t->workloads + workload * t->n_dims;
    uint64_t seed = rng_hash(j->options.seed, 0x74696d65);
    const struct stage_data data = {
        .tiles = stage_tiles_of(v->judge, scratch, dims, seed), .seed = seed, .trusted = true, .place = 1};
    struct counting c = {.version = v, .arena = scratch, .work = w, .whole = whole};
    const struct stage_visitor visitor = {.context = &c, .launch = count};
    struct fate fate = {0};
    struct stage stage;
    struct plan plan;
    bool ok;

    if (!stage_open(&stage, v->judge, &stage_sim, t, dims, &data, err)) {
        arena_close(scratch);
        return false;
    }
    ok = version_plan(v, scratch, dims, stage.addr, &plan, &fate, err);
    if (ok && fate_open(&fate)) {
        work_open(w, v->arena, plan.n_steps);
        c.stage = &stage;
        c.max_insns = MAX((double)WORK_INSNS / (double)MAX(plan.n_steps, (size_t)1), (double)LEAST_INSNS);
        ok = stage_run(&stage, v, &plan, &visitor, scratch, &fate, err);
    }
    w->known &= ok && fate_open(&fate);
    stage_close(&stage);
    arena_close(scratch);
    return ok;
}

struct work *work_of(struct version *v, size_t workload)
{
    if (!v->works)
        v->works = arena_array(v->arena, struct work, v->judge->task->n_workloads + 1);
    return &v->works[workload];
}

void work_open(struct work *w, struct arena *a, size_t n_launches)
{
    *w = (struct work){.asked = true, .known = true};
    w->launches = arena_array(a, struct ptx_work, n_launches + 1);
}

void work_add(struct work *w, const struct ptx_report *r)
{
    double blocks = MAX((double)r->blocks, 1);

    w->known &= r->end == PTX_DONE;
    w->insns += (double)r->warp_insns;
    w->launches[w->n_launches++] = (struct ptx_work){.mean = (double)r->warp_insns / blocks,
                                                     .most = (double)r->most_block_insns,
                                                     .blocks = r->blocks,
                                                     .of = r->blocks,
                                                     .known = r->end == PTX_DONE};
}

bool version_work(struct version *v, size_t workload, const struct work **work, struct err *err)
{
    struct work *w = work_of(v, workload);

    *work = w;
    if (w->asked)
        return true;
    w->asked = true;
    if (!count_plan(v, workload, false, w, err))
        return false;
    if (w->known)
        return true;
    /* Blocks that wait for others need these. */
    struct work all = {.asked = true};
    if (!count_plan(v, workload, true, &all, err))
        return false;
    if (all.known)
        *w = all;
    return true;
}
