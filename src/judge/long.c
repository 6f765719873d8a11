/* Where what a plan does is far larger than in any case before: one block that goes over millions of elements
 * (a table that is full by then, a number that a float no longer tells from the next, a part that is cut off),
 * or a plan that turns over only there (a grid that is capped, a second block of a launch that always had one).
 * The shapes that are run whole before have a few million elements, and most versions spread those over many
 * blocks. Of shapes of some 150 MB those are run whole on which this version's blocks have the most to do,
 * where that is much, and on which its launcher decides as on none of the suite's. Sums of so many terms are
 * far from each other, however right: of floating numbers only what is grossly off counts. */
#include "workloads.h"

enum {
    LONG_BYTES = 160 << 20,
    LONG_ELEMENTS = 1 << 20, /* of a block, of all buffers: less is in the shapes before */
    LONG_INSNS = 64000000,   /* of the original's run */
    MOST_TURNED = 2,         /* shapes on which the plan turns over */
};
#define GROSS 0.25

struct seen {
    struct arena *arena; /* of one plan */
    VEC(uint64_t) marks;
};

static bool add_mark(struct seen *s, uint64_t mark)
{
    for (size_t i = 0; i < s->marks.n; i++)
        if (s->marks.v[i] == mark)
            return false;
    vec_push(&s->marks, mark);
    return true;
}

struct outlook {
    double its; /* elements for each block of the launch with the most */
    bool turns; /* the plan has what none had before it */
};

/* What a launcher decides on a shape, and along which axes its grids have more than one block. */
static struct outlook look(struct seen *s, struct version *v, const int64_t *dims)
{
    struct outlook o = {0};
    struct plan plan = {0};
    struct fate fate = {0};
    double blocks = 0;

    version_plan_only(v, s->arena, dims, &plan, &fate);
    for (size_t i = 0; fate_open(&fate) && i < plan.n_marks; i++)
        o.turns |= add_mark(s, plan.marks[i]);
    for (size_t i = 0; fate_open(&fate) && i < plan.n_steps; i++) {
        const struct plan_step *step = &plan.steps[i];
        if (step->kind != PLAN_LAUNCH)
            continue;
        blocks = fmax(blocks, (double)step->grid[0] * step->grid[1] * step->grid[2]);
        for (uint64_t k = 0; k < 3; k++)
            o.turns |= step->grid[k] > 1 && add_mark(s, rng_hash(hash_text(step->kernel), k));
    }
    o.its = blocks > 0 ? (double)task_case_elements(v->judge->task, dims) / blocks : 0;
    arena_reset(s->arena);
    return o;
}

/* What only gross faults are looked for in is not covered by that: it is sought as if it had not run. */
static bool run_unseen(const struct extra *x, struct version *v, struct arena *a, struct fate *fate,
                       struct err *err)
{
    const struct ptx_module *module = v->module;
    size_t bytes = v->ran ? ptx_coverage_bytes(module) : 0;
    const uint8_t *before = arena_copy(a, v->ran, bytes);
    uint64_t told;
    bool ok = extra_run(x, v, a, LONG_INSNS, &told, fate, err);

    if (v->module == module && bytes)
        memcpy(v->ran, before, bytes);
    return ok;
}

bool long_verify(struct version *v, struct fate *fate, struct err *err)
{
    struct judge *j = v->judge;
    struct arena *a = arena_open();
    struct seen seen = {.arena = arena_open()};
    const int64_t **shapes, *most = NULL;
    size_t n = task_long(j->task, a, LONG_BYTES, &shapes), turned = 0;
    struct extra x = {.seed = rng_hash(j->options.seed, 0x6c6f6e67), .share = GROSS};
    double its = LONG_ELEMENTS;
    bool ok = true, *run = arena_array(a, bool, n + 1);

    for (size_t i = 0; i < j->n_cases; i++)
        look(&seen, v, j->cases[i].dims);
    for (size_t i = 0; i < n; i++) {
        const struct outlook o = look(&seen, v, shapes[i]);
        if (o.its > its)
            most = shapes[i];
        its = fmax(its, o.its);
        run[i] = o.turns && turned++ < MOST_TURNED;
    }
    for (size_t i = 0; ok && fate_open(fate) && i < n; i++) {
        x.dims = shapes[i];
        if (shapes[i] == most || run[i])
            ok = run_unseen(&x, v, seen.arena, fate, err);
        extra_settle(v, fate);
        arena_reset(seen.arena);
    }
    vec_free(&seen.marks);
    arena_close(seen.arena);
    arena_close(a);
    return ok;
}
