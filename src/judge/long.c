/* One block that goes over millions of elements: a table that is full by then, a number that a float no longer
 * tells from the next, a part that is cut off. The shapes that are run whole before have a few million
 * elements, and most versions spread those over many blocks. Of shapes of some 150 MB that one is run whole on
 * which this version's blocks have the most to do, where that is much. Sums of so many terms are far from each
 * other, however right: of floating numbers only what is grossly off counts. */
#include "workloads.h"

enum {
    LONG_BYTES = 160 << 20,
    LONG_ELEMENTS = 1 << 20, /* of a block, of all buffers: less is in the shapes before */
    LONG_INSNS = 64000000,   /* of the original's run */
};
#define GROSS 0.25

/* Elements for each block of the launch with the most. */
static double elements_of_a_block(struct version *v, struct arena *a, const int64_t *dims)
{
    struct plan plan = {0};
    struct fate fate = {0};
    double blocks = 0;

    version_plan_only(v, a, dims, &plan, &fate);
    for (size_t i = 0; fate_open(&fate) && i < plan.n_steps; i++) {
        const struct plan_step *s = &plan.steps[i];
        if (s->kind == PLAN_LAUNCH)
            blocks = fmax(blocks, (double)s->grid[0] * s->grid[1] * s->grid[2]);
    }
    return blocks > 0 ? (double)task_case_elements(v->judge->task, dims) / blocks : 0;
}

/* What only gross faults are looked for in is not covered by that: it is sought as if it had not run. */
static bool run_unseen(const struct extra *x, struct version *v, struct arena *a, struct fate *fate,
                       struct err *err)
{
    const struct ptx_module *module = v->module;
    size_t bytes = v->ran ? ptx_coverage_bytes(module) : 0;
    const uint8_t *before = arena_copy(a, v->ran, bytes);
    bool told, ok = extra_run(x, v, a, LONG_INSNS, &told, fate, err);

    if (v->module == module && bytes)
        memcpy(v->ran, before, bytes);
    return ok;
}

bool long_verify(struct version *v, struct fate *fate, struct err *err)
{
    struct judge *j = v->judge;
    struct arena *a = arena_open();
    const int64_t **shapes;
    size_t n = task_long(j->task, a, LONG_BYTES, &shapes);
    struct extra x = {.seed = rng_hash(j->options.seed, 0x6c6f6e67), .share = GROSS};
    double most = LONG_ELEMENTS;
    bool ok = true;

    for (size_t i = 0; i < n; i++) {
        double its = elements_of_a_block(v, a, shapes[i]);
        if (its > most)
            x.dims = shapes[i];
        most = fmax(most, its);
    }
    if (x.dims)
        ok = run_unseen(&x, v, a, fate, err);
    extra_settle(v, fate);
    arena_close(a);
    return ok;
}
