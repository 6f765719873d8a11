/* The suite run on one version, on the simulator and then on the GPU where there is one. Each case runs twice
 * (the costly ones once on the simulator): other addresses, another poison in what must be written, another
 * order of warps and blocks; both must leave the same bytes. The simulator's checks are all on. */
#include "internal.h"

enum {
    POISON_A = 0xa5,
    POISON_B = 0x5b,
    TWICE_INSNS =
        200000, /* a candidate's run of a case that costs the original more is not repeated: others are */
};
#define CASE_LIMIT_S 5.0 /* on a GPU, where a case takes milliseconds */

struct running {
    struct version *version;
    struct arena *arena;
    struct stage *stage;
    const struct stage_check *check;
    struct stage_ran *ran;
};

static bool launch(void *context, const struct plan_step *step, const struct ptx_launch *l,
                   const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct running *c = context;
    struct ptx_report report = {0};
    bool ok = c->stage->ops->launch(c->stage, c->version, l, k, c->check, &report, err);

    (void)step;
    if (ok) {
        c->ran->insns += report.warp_insns;
        if (c->check->work)
            work_add(c->check->work, &report);
        fate_of_report(c->arena, c->version, &report, c->check->where, fate);
        if (!c->ran->printed && report.printed && report.printed->len)
            c->ran->printed =
                arena_strndup(c->arena, str_text(report.printed), MIN(report.printed->len, (size_t)2000));
    }
    ptx_report_clear(&report);
    return ok;
}

const char *case_where(struct arena *a, const struct task *t, const struct task_case *c)
{
    bool buffer = c->changed && t->args[c->changed - 1].role != ROLE_SCALAR;
    const struct task *own = task_of_case(a, t, c);
    const char *numbers = "";

    for (size_t i = 0; i < t->n_args; i++)
        if (t->args[i].n_choices)
            numbers = arena_printf(a, "%s, %s = %g", numbers, t->args[i].name, own->args[i].value);
    return arena_printf(a, "%s%s, values: %s%s%s", task_dims_text(a, t, c->dims), numbers, c->distribution,
                        buffer ? ", and others in " : "", buffer ? t->args[c->changed - 1].name : "");
}

/* An output byte that is not initialised: nothing wrote it, or what was written came from such bytes. */
static void judge_unwritten(struct arena *a, const struct task_arg *arg, const unsigned char *output, size_t at,
                            int poison, const char *where, struct fate *fate)
{
    size_t size = kernel_type_size(arg->type), element = at / size, poisoned = 0;

    for (size_t i = 0; i < size; i++)
        poisoned += output[element * size + i] == (unsigned char)poison;
    if (poisoned == size)
        fate_isf(fate, a, VERDICT_WRONG, 0, "element %zu of %s is never written (%s)", element, arg->name,
                 where);
    else if (output[at] == (unsigned char)poison)
        fate_isf(fate, a, VERDICT_WRONG, 0, "byte %zu of element %zu of %s is never written (%s)", at % size,
                 element, arg->name, where);
    else
        fate_isf(fate, a, VERDICT_UNSAFE, 0,
                 "element %zu of %s is computed from memory that nothing initialised (%s)", element, arg->name,
                 where);
}

bool stage_verify(struct stage *s, struct version *v, const struct stage_check *check, struct arena *a,
                  struct stage_ran *ran, struct fate *fate, struct err *err)
{
    const char *where = check->where;
    struct running run = {.version = v, .arena = a, .stage = s, .check = check, .ran = ran};
    const struct stage_visitor visitor = {.context = &run, .launch = launch};
    const char *words = NULL;
    uint64_t before, after;
    struct plan plan;

    *ran = (struct stage_ran){0};
    judge_doing(v->judge, arena_printf(a, "in case %s", where));
    if (!version_plan(v, a, s->dims, s->addr, &plan, fate, err))
        return false;
    if (fate_open(fate) && s->ops->side == SIDE_GPU && !version_load(v, fate, err))
        return false;
    if (!fate_open(fate))
        return true;
    if (check->work)
        work_open(check->work, v->arena, plan.n_steps);
    if (!s->ops->state(s, v, &before, err) || !stage_run(s, v, &plan, &visitor, a, fate, err))
        return false;
    if (!fate_open(fate))
        return true;
    if (!s->ops->state(s, v, &after, err) || !s->ops->damage(s, a, &words, err))
        return false;
    if (words)
        return fate_isf(fate, a, VERDICT_UNSAFE, 0, "%s (%s)", words, where);
    if (after != before)
        fate_isf(fate, a, VERDICT_CHEAT, 0,
                 "state survives: a __device__ variable holds other bytes after the launch than before "
                 "it (%s)",
                 where);
    return true;
}

/* The simulator knows of each byte whether something wrote it. */
static void judge_written(const struct case_run *run, const struct stage *s, size_t o,
                          const unsigned char *output, const char *where, struct fate *fate)
{
    const struct version *v = run->version;
    size_t arg = v->judge->outputs[o];
    struct arena *a = run->arena;
    struct ptx_mem *mem = s->mem;
    int64_t size;
    uint64_t addr = stage_arg(s, arg, &size);
    int64_t unwritten = size ? ptx_mem_first_uninitialised(mem, addr, (uint64_t)size) : -1;
    struct ptx_finding who;

    if (unwritten < 0)
        return;
    /* A store of something undefined has a line; what nobody wrote has none. */
    if (ptx_mem_explain(mem, addr + (uint64_t)unwritten, &who) && who.line)
        fate_isf(fate, a, VERDICT_UNSAFE,
                 str_eq(fs_basename(who.file), fs_basename(v->kernel->path)) ? who.line : 0, "%s (%s)",
                 who.words, where);
    else
        judge_unwritten(a, &v->task->args[arg], output, (size_t)unwritten, s->poison, where, fate);
}

bool case_run(struct case_run *run, const struct case_rules *rules, struct fate *fate, struct err *err)
{
    struct version *v = run->version;
    struct judge *j = v->judge;
    struct arena *a = run->arena;
    const struct task_case *about = &j->cases[run->case_i];
    unsigned char *const *own = j->data[run->case_i].inputs;
    bool earlier = rules->checks & SANITIZE_EARLIER;
    unsigned char **outputs = rules->second ? run->again : run->outputs;
    /* Odd for the second run: a GPU's buffers then end elsewhere. */
    uint64_t place =
        (rng_hash(j->options.seed, run->case_i * 2 + rules->second) & ~(uint64_t)1) + rules->second;
    const struct stage_data data = {.values = about->values,
                                    .seed = about->seed,
                                    .inputs = run->inputs ? run->inputs : (const unsigned char *const *)own,
                                    .poison = rules->second ? POISON_B : POISON_A,
                                    .place = place};
    const char *where = case_where(a, j->task, about);
    const struct stage_check check = {.where = where,
                                      .checks = rules->checks,
                                      .order = rules->second ? data.place | 1 : 0,
                                      .max_insns = rules->max_insns,
                                      .per_warp = true,
                                      .short_of = rules->short_of,
                                      .stochastic = rules->stochastic,
                                      .overflow = rules->overflow,
                                      .earlier = rules->earlier,
                                      .limit_s = CASE_LIMIT_S};
    const struct task *whole = v->task;
    struct stage_ran ran;
    struct stage stage;
    bool ok;

    outputs = earlier ? run->earlier : outputs;
    if (!stage_open(&stage, j, rules->ops, v->task, about->dims, &data, err))
        return false;
    v->task = task_of_case(a, whole, about);
    ok = stage_verify(&stage, v, &check, a, &ran, fate, err);
    if (!rules->second)
        run->insns = ran.insns;
    if (!run->printed)
        run->printed = ran.printed;
    v->task = whole;
    grid_case(v, run->case_i);
    for (size_t o = 0; ok && fate_open(fate) && o < j->n_outputs; o++) {
        int64_t size;
        uint64_t addr = stage_arg(&stage, j->outputs[o], &size);
        outputs[o] = arena_alloc(a, (size_t)size + 1);
        ok = !size || stage.ops->read(&stage, addr, outputs[o], (size_t)size, err);
        if (ok && stage.mem && (rules->checks & SANITIZE_INIT))
            judge_written(run, &stage, o, outputs[o], where, fate);
    }
    stage_close(&stage);
    return ok;
}

unsigned checks_of(const struct judge *j)
{
    return j->task->accept_race ? SANITIZE_INIT | SANITIZE_NC : SANITIZE_ALL;
}

static bool all_bytes(const unsigned char *p, size_t n, int byte)
{
    while (n > 0 && p[n - 1] == (unsigned char)byte)
        n--;
    return n == 0;
}

/* Both runs left the same bytes, and none of them is the poison of both. */
static void compare_runs(const struct case_run *run, unsigned char *const *again, const char *when,
                         struct fate *fate)
{
    struct judge *j = run->version->judge;
    struct arena *a = run->arena;
    const char *where = case_where(a, j->task, &j->cases[run->case_i]);

    for (size_t o = 0; fate_open(fate) && o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        size_t size = kernel_type_size(arg->type), n = (size_t)j->data[run->case_i].elements[j->outputs[o]];
        for (size_t i = 0; fate_open(fate) && i < n; i++) {
            const unsigned char *x = run->outputs[o] + i * size, *y = again[o] + i * size;
            if (!memcmp(x, y, size))
                continue;
            if (arg->role == ROLE_OUT && all_bytes(x, size, POISON_A) && all_bytes(y, size, POISON_B))
                judge_unwritten(a, arg, run->outputs[o], i * size, POISON_A, where, fate);
            else if (!j->task->accept_nondeterminism)
                fate_isf(fate, a, VERDICT_NONDETERMINISTIC, 0, "element %zu of %s came out %s %s (%s)", i,
                         arg->name,
                         j->cases[run->case_i].real
                             ? "in two ways"
                             : arena_printf(a, "as %.9g and as %.9g", task_to_double(arg->type, x),
                                            task_to_double(arg->type, y)),
                         when, where);
        }
    }
}

static const char *what_differed(const struct stage_ops *ops)
{
    return ops == &stage_sim ? "when warps and blocks ran in another order"
                             : "when it ran again on the GPU, on other addresses";
}

/* What blocks tell each other without a fence may come in another order. On the simulator a third run, in which
 * reads find what was there before, must leave what the first did; who only polls so does not notice. */
enum { EARLIER_INSNS = 2000000 };

static bool case_run_earlier(struct case_run *run, uint64_t max_insns, struct fate *fate, struct err *err)
{
    const struct case_rules rules = {.ops = &stage_sim,
                                     .checks = (checks_of(run->version->judge) & ~(unsigned)SANITIZE_INIT) |
                                               SANITIZE_EARLIER,
                                     .max_insns = max_insns,
                                     .second = true,
                                     .earlier = &run->read_earlier};

    return case_run(run, &rules, fate, err);
}

static const char *what_was_read(const struct case_run *run)
{
    const struct sanitize_earlier *e = &run->read_earlier;

    return e->given ? arena_printf(run->arena, "since %s", e->words)
                    : "when volatile or relaxed reads find what was there before a write that nothing orders";
}

/* Without the fence that is missing it is right by luck, whatever was wrong with it. */
static void earlier_is_unsafe(const struct case_run *run, bool say, struct fate *fate)
{
    const struct sanitize_earlier *e = &run->read_earlier;
    const char *path = run->version->kernel->path;

    if (fate_open(fate))
        return;
    fate->verdict = VERDICT_UNSAFE;
    if (e->given && str_eq(fs_basename(e->file), fs_basename(path)))
        fate->line = e->line;
    if (say)
        fate->words = arena_printf(run->arena, "%s: %s", what_was_read(run), fate->words);
}

/* The original, whose cost is not known yet, always has both. */
bool case_run_twice(struct case_run *run, const struct stage_ops *ops, uint64_t max_insns, struct fate *fate,
                    struct err *err)
{
    const struct judge *j = run->version->judge;
    const struct case_rules first = {
        .ops = ops, .checks = checks_of(j), .max_insns = max_insns, .earlier = &run->read_earlier};
    /* What the checks look for does not depend on the order or the poison; what is left of them here is the
     * bounds. */
    const struct case_rules second = {.ops = ops, .max_insns = max_insns, .second = true};

    run->again[0] = run->earlier[0] = NULL;
    run->read_earlier = (struct sanitize_earlier){0};
    if (!case_run(run, &first, fate, err))
        return false;
    bool alone = ops == &stage_sim && j->data[run->case_i].warp_insns > TWICE_INSNS;
    if (fate_open(fate) && !alone) {
        if (!case_run(run, &second, fate, err))
            return false;
        if (fate_open(fate))
            compare_runs(run, run->again, what_differed(ops), fate);
    }
    if (!fate_open(fate) || !run->read_earlier.loose || run->insns > EARLIER_INSNS)
        return true;
    if (!case_run_earlier(run, max_insns, fate, err))
        return false;
    if (fate_open(fate)) {
        compare_runs(run, run->earlier, what_was_read(run), fate);
        earlier_is_unsafe(run, false, fate);
    }
    return true;
}

/* ---- the suite ---- */

struct suite_run {
    struct version *version;
    const struct stage_ops *ops;
    struct comparison compared;
    struct arena *scratch;  /* of a case */
    struct suite_case *ran; /* what was run before, of n_cases */
    struct arena *kept;     /* what it left */
    struct trial *trial;
};

struct suite_case {
    bool ran;
    unsigned char *outputs[MAX_ARGS];                   /* n_outputs, as all of these */
    unsigned char *again[MAX_ARGS], *earlier[MAX_ARGS]; /* [0] NULL: there was no such run */
    struct sanitize_earlier read_earlier;
};

static void keep_case(struct suite_run *s, const struct case_run *run)
{
    const struct judge *j = s->compared.judge;
    struct suite_case *x = &s->ran[run->case_i];

    for (size_t o = 0; o < j->n_outputs; o++) {
        size_t arg = j->outputs[o],
               n = (size_t)j->data[run->case_i].elements[arg] * kernel_type_size(j->task->args[arg].type) + 1;
        x->outputs[o] = arena_copy(s->kept, run->outputs[o], n);
        if (run->again[0])
            x->again[o] = arena_copy(s->kept, run->again[o], n);
        if (run->earlier[0])
            x->earlier[o] = arena_copy(s->kept, run->earlier[o], n);
    }
    x->read_earlier = run->read_earlier;
    x->ran = true;
}

/* A version that was found wrong by one measure is judged by another: it is not run again for that. */
static bool run_case(struct suite_run *s, size_t case_i, unsigned char **outputs, struct fate *fate,
                     struct err *err)
{
    struct comparison *c = &s->compared;
    struct case_run run = {.version = s->version, .arena = s->scratch, .case_i = case_i};
    /* Far more work than the original's is a hang for every practical purpose. */
    uint64_t max_insns = SMALL_INSNS + 50 * c->judge->data[case_i].warp_insns;

    if (!s->ran[case_i].ran) {
        if (!case_run_twice(&run, s->ops, max_insns, fate, err))
            return false;
        if (fate_open(fate))
            keep_case(s, &run);
    }
    memcpy(outputs, s->ran[case_i].outputs, sizeof(run.outputs));
    memcpy(run.again, s->ran[case_i].again, sizeof(run.again));
    memcpy(run.earlier, s->ran[case_i].earlier, sizeof(run.earlier));
    run.read_earlier = s->ran[case_i].read_earlier;
    if (fate_open(fate) && run.again[0] && c->judge->task->accept_nondeterminism)
        compare_again(c, case_i, run.again, what_differed(s->ops), fate);
    if (fate_open(fate) && run.earlier[0] && c->judge->task->accept_nondeterminism) {
        compare_again(c, case_i, run.earlier, what_was_read(&run), fate);
        earlier_is_unsafe(&run, true, fate);
    }
    if (!fate_open(fate))
        fate->words = arena_strdup(c->arena, fate->words);
    if (!s->trial->printed)
        s->trial->printed = arena_strdup(c->arena, run.printed);
    return true;
}

/* Passed: what it leaves is right. */
static void compare_passed(struct suite_run *s, size_t case_i, unsigned char *const *outputs, struct fate *fate)
{
    struct comparison *c = &s->compared;
    size_t others = c->elements - c->identical_elements;

    compare_case(c, case_i, outputs, fate);
    s->trial->cases += fate_open(fate);
    s->trial->identical_cases += c->elements - c->identical_elements == others;
}

/* Each input changed alone. Who is wrong may well ignore one, and is told that, rather than where it shows. */
static bool verify_inputs(struct suite_run *s, struct fate *fate, struct err *err)
{
    const struct judge *j = s->compared.judge;
    unsigned char *outputs[MAX_ARGS + 1][MAX_ARGS];
    struct fate own = {0};

    for (size_t i = 0; i < j->n_inputs && fate_open(&own); i++)
        if (!run_case(s, j->first_input + i, outputs[i], &own, err))
            return false;
    if (fate_open(&own)) {
        inputs_judge(&s->compared, outputs, !fate_open(fate), &own);
        if (!fate_open(&own))
            *fate = own;
    } else if (fate_open(fate)) {
        *fate = own;
    }
    for (size_t i = 0; i < j->n_inputs && fate_open(fate); i++)
        compare_passed(s, j->first_input + i, outputs[i], fate);
    return true;
}

static bool run_suite(struct suite_run *s, struct fate *fate, struct err *err)
{
    const struct judge *j = s->compared.judge;

    s->trial->cases = s->trial->identical_cases = 0;
    for (size_t i = 0; fate_open(fate) && i < j->first_input; i++) {
        unsigned char *outputs[MAX_ARGS];
        if (!run_case(s, i, outputs, fate, err))
            return false;
        if (fate_open(fate))
            compare_passed(s, i, outputs, fate);
        arena_reset(s->scratch);
    }
    if ((fate_open(fate) || fate->verdict == VERDICT_WRONG) && !verify_inputs(s, fate, err))
        return false;
    if (fate_open(fate))
        judge_pools(&s->compared, s->trial, fate);
    s->trial->elements = s->compared.elements;
    s->trial->identical_elements = s->compared.identical_elements;
    s->trial->bit_identical = fate_open(fate) && s->trial->identical_cases == s->trial->cases;
    return true;
}

/* Held to errors of the original, by pool. */
static bool verify_suite(struct suite_run *s, struct judge *j, const struct error_stats *own, struct arena *a,
                         struct fate *fate, struct err *err)
{
    bool ok;

    *fate = (struct fate){0};
    comparison_open(&s->compared, j, s->ops->side, own, a);
    ok = run_suite(s, fate, err);
    comparison_close(&s->compared);
    arena_reset(s->scratch);
    return ok;
}

/* Who is wrong by the original's own errors is asked again by those that its arithmetic can make: one run of
 * the original is one draw of them, and few rows, or one statistic of a row, may have come out well by luck.
 * And once more by what the terms of its sums may be off. */
static bool verify_by_all(struct suite_run *s, struct judge *j, struct arena *a, struct fate *fate,
                          struct err *err)
{
    enum stage_side side = s->ops->side;
    struct judge *in_terms;

    if (!verify_suite(s, j, j->original_errors[side], a, fate, err))
        return false;
    if (fate->verdict != VERDICT_WRONG || must_be_identical(j))
        return true;
    if (!original_can(j, side, err))
        return false;
    if (j->exceptions >> RULE_CHANCE & 1 && !verify_suite(s, j, j->can[side], a, fate, err))
        return false;
    if (fate->verdict != VERDICT_WRONG)
        return true;
    const struct fate in_ulps = *fate;
    const struct trial its = *s->trial;
    if (!terms_judge(j, side, &in_terms, err))
        return false;
    if (in_terms && !verify_suite(s, in_terms, in_terms->original_errors[side], a, fate, err))
        return false;
    if (fate->verdict == VERDICT_WRONG) { /* told in the output's own ulps */
        *fate = in_ulps;
        *s->trial = its;
    }
    return true;
}

bool verify_candidate(struct judge *j, struct version *v, const struct stage_ops *ops, struct arena *a,
                      struct trial *t, struct fate *fate, struct err *err)
{
    struct suite_run s = {.version = v,
                          .ops = ops,
                          .scratch = arena_open(),
                          .kept = arena_open(),
                          .ran = arena_array(a, struct suite_case, j->n_cases),
                          .trial = t};
    bool ok = verify_by_all(&s, j, a, fate, err);

    arena_close(s.scratch);
    arena_close(s.kept);
    return ok;
}
