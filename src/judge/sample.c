/* Some blocks of a version, on the simulator, of a workload that is too large or too dear to be run whole. A
 * share of the blocks writes about that share of the output: who writes less leaves something out, or its
 * blocks do not share the work evenly. And where blocks that follow each other write what follows each other, a
 * gap in it is something left out. */
#include "workloads.h"

enum {
    WINDOWS = 24, /* places of the grid: two of them lie in every twelfth of it */
    SAMPLE_INSNS = 20000000,
};

_Static_assert(PIECE * sizeof(double) <= STAGE_WRITTEN_MOST, "a piece of bytes, in double");

/* Half a window's distance at least lies between two of them, and no grid's period can fit them all. */
static double place_of(uint64_t seed, int window)
{
    uint64_t at = (uint64_t)(window + WINDOWS) % WINDOWS;

    return window + rng_unit_of(rng_hash(seed, WINDOWS)) + rng_unit_of(rng_hash(seed, at)) / 2;
}

static bool sample_launch(void *context, const struct plan_step *step, const struct ptx_launch *l,
                          const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct sample *s = context;
    int64_t n = (int64_t)l->grid[0] * l->grid[1] * l->grid[2];
    int64_t each = (int64_t)((double)n * s->share / WINDOWS) + 1;
    uint64_t *blocks = arena_array(s->whole->arena, uint64_t, (WINDOWS + 1) * each + 1);
    struct ptx_report report = {0};
    size_t n_blocks = 0;

    (void)step, (void)fate;
    bool all = s->share >= 1;
    for (int64_t b = 0; all && b < n; b++) /* also what later launches read of others */
        blocks[n_blocks++] = (uint64_t)b;
    for (int w = -1; !all && w < WINDOWS; w++) { /* the first one is what the last has beyond the end */
        int64_t first = (int64_t)floor((double)n * place_of(s->whole->seed, w) / WINDOWS);
        for (int64_t b = MAX(first, (int64_t)0); b < MIN(first + each, n); b++)
            if (n_blocks == 0 || b > (int64_t)blocks[n_blocks - 1])
                blocks[n_blocks++] = (uint64_t)b;
    }
    struct sanitizer sanitizer;
    const struct ptx_options o = {.device = s->whole->judge->device,
                                  .observers = {sanitizer_on(&sanitizer, s->stage.shadow ? 0 : SANITIZE_INIT),
                                                ptx_shadow_observer(s->stage.shadow)},
                                  .max_warp_insns = SAMPLE_INSNS,
                                  .registers = k->resources.registers,
                                  .blocks = blocks,
                                  .n_blocks = n_blocks,
                                  .ran = s->noted};
    bool ok = ptx_run(s->version->module, s->stage.mem, l, &o, &report, err);
    s->told &= ok && report.end == PTX_DONE;
    s->ran = MIN(s->ran, (double)n_blocks / (double)n);
    ptx_report_clear(&report);
    return ok;
}

bool sample_run(struct sample *s, struct err *err)
{
    const struct whole *w = s->whole;
    const struct task *t = w->judge->task;
    /* The buffers are filled as they are touched: also when they are compared. */
    const struct stage_data data = {
        .own = t, .seed = w->seed, .tiles = w->tiles, .poison = POISON, .place = w->seed};
    const struct stage_visitor visitor = {.context = s, .launch = sample_launch};
    struct fate fate = {0};
    struct plan plan;

    if (!stage_open(&s->stage, w->judge, &stage_sim, s->version->task, w->dims, &data, err)) {
        ptx_shadow_close(s->shadow);
        return false;
    }
    s->stage.shadow = s->shadow;
    if (s->version->shadow && !s->shadow)
        s->stage.shadow = ptx_shadow_open();
    if (!version_plan(s->version, w->arena, w->dims, s->stage.addr, &plan, &fate, err))
        return false;
    s->told = true; /* without a launch, what is set and copied is all */
    s->ran = 1;
    for (size_t i = 0; i < plan.n_steps; i++)
        if (plan.steps[i].cooperative) { /* a barrier of all blocks */
            s->told = false;
            return true;
        }
    s->plain = plan.n_steps == 1;
    s->noted = ran_aside(s->version, w->arena);
    if (fate_open(&fate) && !stage_run(&s->stage, s->version, &plan, &visitor, w->arena, &fate, err))
        return false;
    s->told &= fate_open(&fate);
    return true;
}

void sample_close(struct sample *s)
{
    ptx_shadow_close(s->stage.shadow);
    stage_close(&s->stage);
}

bool sample_written(struct sample *s, size_t output, int64_t first, void *piece)
{
    const struct judge *j = s->whole->judge;
    const struct task_arg *arg = &s->version->task->args[j->outputs[output]];
    size_t size = kernel_type_size(arg->type),
           n = PIECE / kernel_type_size(j->task->args[j->outputs[output]].type) * size;
    int64_t all;
    uint64_t addr = stage_arg(&s->stage, j->outputs[output], &all) + (uint64_t)first * size;

    return stage_written(&s->stage, arg, addr, piece, n);
}

bool sample_is_final(const struct sample *s, const struct task_arg *arg)
{
    return arg->role == ROLE_OUT && s[0].plain && s[1].plain;
}

/* Half of the least that lies between two places; a gap that is longer may lie there. */
void sample_cover_open(struct sample_cover *c, const struct sample *s, double pieces)
{
    *c = (struct sample_cover){.gap_most = pieces * (0.5 - s->ran) / WINDOWS / 2, .gap = NAN};
}

void sample_cover_add(struct sample_cover *c, bool written, bool expected)
{
    if (!written) {
        c->gap++;
        c->expected |= expected;
        return;
    }
    if (c->expected && c->gap <= c->gap_most)
        c->holes += c->gap;
    c->written++;
    c->gap = 0;
    c->expected = false;
}

/* With more gaps than work in between, neighbours do not write what is next to each other. */
bool sample_cover_has_holes(const struct sample_cover *c)
{
    return c->holes > 0 && c->holes <= c->written;
}
