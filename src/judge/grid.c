/* Grids whose blocks wait for each other: all of them must be on the device at one time. A cooperative launch
 * says so. A barrier made by hand shows it on the simulator, where a block begins only when the one before it
 * is done, or waits: with room for one block fewer it never ends. Blocks that wait for earlier ones only, as in
 * a look-back, end there, too. */
#include "internal.h"

void grid_seen_together(struct version *v, const char *mangled)
{
    for (size_t i = 0; i < v->waits.n; i++)
        if (!strcmp(v->waits.v[i].kernel, mangled))
            return;
    vec_push(&v->waits, ((struct grid_wait){.kernel = arena_strdup(v->arena, mangled), .case_i = SIZE_MAX}));
}

void grid_case(struct version *v, size_t case_i)
{
    for (size_t i = v->waits.n; i-- > 0 && v->waits.v[i].case_i == SIZE_MAX;)
        v->waits.v[i].case_i = case_i;
}

/* *waits: with one block fewer on the device that case never ends. */
static bool ask(struct version *v, const char *mangled, bool *waits, struct err *err)
{
    struct grid_wait *w = NULL;

    for (size_t i = 0; i < v->waits.n; i++)
        if (!strcmp(v->waits.v[i].kernel, mangled))
            w = &v->waits.v[i];
    if (w && !w->asked && w->case_i != SIZE_MAX) {
        struct arena *scratch = arena_open();
        struct case_run run = {.version = v, .arena = scratch, .case_i = w->case_i};
        const struct case_rules rules = {.ops = &stage_sim, .short_of = w->kernel};
        struct fate fate = {0};
        bool ok = case_run(&run, &rules, &fate, err);
        w->asked = true;
        w->proved = fate.verdict == VERDICT_HUNG;
        arena_close(scratch);
        if (!ok)
            return false;
    }
    *waits = w && w->proved;
    return true;
}

static uint64_t room(const struct judge *j, const struct plan_step *step, const struct image_kernel *k)
{
    uint32_t threads = step->block[0] * step->block[1] * step->block[2];
    int per_sm = ptx_occupancy(j->device, k->resources.registers,
                               (uint32_t)step->shared_bytes + k->resources.shared_bytes, threads);

    return (uint64_t)MAX(per_sm, 1) * (uint64_t)MAX(j->device->sm_count, 1);
}

bool grid_verify(struct version *v, struct arena *a, const int64_t *dims, const struct plan *plan,
                 struct fate *fate, struct err *err)
{
    const struct judge *j = v->judge;

    for (size_t i = 0; i < plan->n_steps && fate_open(fate); i++) {
        const struct plan_step *step = &plan->steps[i];
        const struct image_kernel *k = step->kind == PLAN_LAUNCH ? version_kernel(v, step->kernel) : NULL;
        uint64_t blocks = (uint64_t)step->grid[0] * step->grid[1] * step->grid[2];
        bool waits = step->cooperative;
        if (!k || blocks <= room(j, step, k))
            continue;
        if (!waits && !ask(v, k->mangled, &waits, err))
            return false;
        if (waits)
            fate_isf(fate, a, step->cooperative ? VERDICT_LAUNCH_FAILED : VERDICT_HUNG, 0,
                     "%s %llu blocks that wait for each other; the device holds %llu at once (%s)",
                     step->cooperative ? "a cooperative launch of" : "it launches", (unsigned long long)blocks,
                     (unsigned long long)room(j, step, k), task_dims_text(a, j->task, dims));
    }
    return true;
}
