/* The exact answer at a workload's size. On a GPU the task's reference runs there, whole. On the simulator, and
 * for a task without a reference, some blocks of it run, or of the original with its shadow. The rule is the
 * suite's: the original's own errors on the same elements bound the candidate's. */
#include "workloads.h"

enum {
    MOST_ELEMENTS = 1 << 21, /* of an output that are looked at */
    RUN = 32,                /* pieces that are read from a GPU at once */
    NEARER_INSNS = 60000000, /* of the original with its shadow, whole, for a version that is far from it */
    EXACT_BYTES = 3 << 20,   /* compulsory bytes of the blocks that are sampled */
    MOST_SHARING = 32,       /* workers whose buffers a GPU must hold at once */
};
#define REFERENCE_S 60.0

struct oracle { /* of exact answers */
    const struct whole *w;
    struct sample exact; /* of the reference, or of the original with its shadow */
    struct sample own;   /* of the original: the shadow's run does not know what is not written */
    struct stage stage;  /* on a GPU: the reference's outputs */
    bool whole;
};

struct picked { /* of one output, in order */
    size_t n, size;
    uint64_t *at;
    double *exact, *unit; /* unit NULL: ulps */
    unsigned char *got, *own;
};

static bool run_reference(struct oracle *s, const char **why_not, struct err *err)
{
    const struct whole *w = s->w;
    struct judge *j = w->judge;
    const struct task *t = j->exact.task;
    const struct stage_data data = {
        .own = j->task, .tiles = w->tiles, .seed = w->seed, .poison = POISON, .place = w->seed & ~(uint64_t)1};
    const struct stage_check check = {.where = w->where, .limit_s = REFERENCE_S};
    struct stage_ran ran;
    struct fate fate = {0};
    struct err why = {0};

    if (!stage_open(&s->stage, j, &stage_gpu, t, w->dims, &data, &why)) {
        *why_not = arena_strdup(w->arena, why.text); /* no room for it in double, for example */
        if (cuda_spoilt(j->gpu))
            *err = why;
        return !cuda_spoilt(j->gpu);
    }
    if (!stage_verify(&s->stage, &j->exact, &check, w->arena, &ran, &fate, err))
        return false;
    if (!fate_open(&fate))
        return err_at(err, j->task->reference_path, fate.line, 0, "the reference, on the GPU: %s: %s",
                      verdict_name(fate.verdict), fate.words);
    s->whole = true;
    return true;
}

static bool run_samples(struct oracle *s, const char **why_not, struct err *err)
{
    struct judge *j = s->w->judge;
    int64_t traffic;

    if (!task_traffic(j->task, s->w->dims, &traffic, err))
        return false;
    double share = MIN(1, (double)EXACT_BYTES / (double)traffic);
    s->exact = (struct sample){.whole = s->w, .version = &j->exact, .share = share};
    s->own = (struct sample){.whole = s->w, .version = &j->baseline, .share = share};
    if (!sample_run(&s->exact, err) || (j->exact.shadow && !sample_run(&s->own, err)))
        return false;
    if (!s->exact.told || (j->exact.shadow && !s->own.told))
        *why_not = "its blocks cannot be run apart";
    return true;
}

static void oracle_close(struct oracle *s)
{
    sample_close(&s->exact);
    sample_close(&s->own);
    stage_close(&s->stage);
}

/* The exact answers of one piece that a sample has. */
static bool sampled_piece(struct oracle *s, size_t o, int64_t first, size_t n, double *to)
{
    const struct task_arg *arg = &s->exact.version->task->args[s->w->judge->outputs[o]];
    double wide[PIECE];
    bool lost[PIECE];
    int64_t bytes;

    if (!sample_written(&s->exact, o, first, wide))
        return false;
    if (!s->exact.stage.shadow) {
        memcpy(to, wide, n * sizeof(*to));
        return true;
    }
    if (!sample_written(&s->own, o, first, wide))
        return false;
    uint64_t addr = stage_arg(&s->exact.stage, s->w->judge->outputs[o], &bytes);
    ptx_shadow_read(s->exact.stage.shadow, s->exact.stage.mem,
                    addr + (uint64_t)first * kernel_type_size(arg->type), exact_real(arg->type), n, to, lost);
    return memchr(lost, true, n) == NULL;
}

/* What both versions have there. */
static bool both_have(const struct both *b, size_t o, const struct picked *p, int64_t first, size_t n)
{
    unsigned char *got = p->got + p->n * p->size, *own = p->own + p->n * p->size;

    if (!b->got)
        return sample_written(&b->samples[0], o, first, got) && sample_written(&b->samples[1], o, first, own);
    memcpy(got, b->got[o] + (size_t)first * p->size, n * p->size);
    memcpy(own, b->own[o] + (size_t)first * p->size, n * p->size);
    return true;
}

static void keep(struct picked *p, int64_t first, size_t n)
{
    for (size_t e = 0; e < n; e++)
        p->at[p->n + e] = (uint64_t)first + e;
    p->n += n;
}

/* Runs of pieces spread over the whole output, at places of the seed's choice; all of them when they are few.
 */
static bool pick_whole(struct oracle *s, const struct both *b, size_t o, int64_t elements, struct picked *p,
                       struct err *err)
{
    const struct judge *j = s->w->judge;
    int64_t run = (int64_t)(RUN * PIECE / p->size), places = (elements + run - 1) / run, bytes;
    int64_t taken = MIN(places, MOST_ELEMENTS / run);
    uint64_t addr = stage_arg(&s->stage, j->outputs[o], &bytes);

    for (int64_t k = 0; k < taken; k++) {
        double moved = taken < places ? rng_unit_of(rng_hash(s->w->seed, (uint64_t)k)) : 0;
        int64_t first = (int64_t)(((double)k + moved) / (double)taken * (double)places) * run;
        size_t n = (size_t)MIN(run, elements - first);
        if (!stage_gpu.read(&s->stage, addr + (uint64_t)first * sizeof(double), p->exact + p->n,
                            n * sizeof(double), err))
            return false;
        if (both_have(b, o, p, first, n))
            keep(p, first, n);
    }
    return true;
}

static bool pick(struct oracle *s, const struct both *b, size_t o, struct picked *p, struct err *err)
{
    const struct judge *j = s->w->judge;
    const struct task_arg *arg = &j->task->args[j->outputs[o]];
    int64_t elements;

    if (!task_shape(j->task, arg, s->w->dims, &elements, err))
        return false;
    size_t room = (size_t)MIN(elements, (int64_t)MOST_ELEMENTS) + PIECE;
    p->size = kernel_type_size(arg->type);
    p->at = arena_array(s->w->arena, uint64_t, room);
    p->exact = arena_array(s->w->arena, double, room);
    p->got = arena_alloc(s->w->arena, room * p->size);
    p->own = arena_alloc(s->w->arena, room * p->size);
    if (s->whole)
        return pick_whole(s, b, o, elements, p, err);
    int64_t n = (int64_t)(PIECE / p->size);
    for (int64_t first = 0; first + n <= elements && p->n + (size_t)n <= MOST_ELEMENTS; first += n)
        if (sampled_piece(s, o, first, (size_t)n, p->exact + p->n) && both_have(b, o, p, first, (size_t)n))
            keep(p, first, (size_t)n);
    return true;
}

/* One case, of what was picked. An output whose exact answers are far from what the original has says nothing:
 * its blocks need what others do. */
static void make_case(struct judge *sized, const struct whole *w, enum stage_side side, struct picked *picked,
                      bool in_terms)
{
    const struct judge *j = w->judge;
    struct task_case *about = arena_new(w->arena, struct task_case);
    struct case_data *d = arena_new(w->arena, struct case_data);
    struct error_stats *own = arena_array(w->arena, struct error_stats, j->n_outputs);

    *about = (struct task_case){.dims = w->dims, .distribution = j->distributions[0]};
    *sized = *j;
    sized->in_terms = in_terms;
    sized->cases = about;
    sized->data = d;
    sized->n_cases = sized->n_distributions = 1;
    sized->original_errors[side] = own;
    *d = (struct case_data){.about = about};
    d->outputs[side] = arena_array(w->arena, struct case_output, j->n_outputs);
    for (size_t o = 0; o < j->n_outputs; o++) {
        struct picked *p = &picked[o];
        enum kernel_type type = j->task->args[j->outputs[o]].type;
        d->outputs[side][o] = (struct case_output){.original = p->own,
                                                   .exact = p->exact,
                                                   .unit = p->unit,
                                                   .ill = arena_array(w->arena, bool, p->n + 1),
                                                   .at = p->at};
        d->elements[j->outputs[o]] = (int64_t)p->n;
        if (answers_measure(sized, side, o, &own[o]) || answers_differ(type, &own[o]))
            p->n = 0;
        if (j->can[side] && own[o].max > 0 && !in_terms) { /* a workload may have few rows, too */
            const struct error_stats *can = &j->can[side][o];
            own[o].p50 = fmax(own[o].p50, can->p50);
            own[o].p99 = fmax(own[o].p99, can->p99);
            own[o].max = fmax(own[o].max, can->max);
        }
        d->elements[j->outputs[o]] = 0; /* until it is asked for */
    }
}

static void judge_outputs(struct judge *sized, const struct whole *w, enum stage_side side,
                          const struct picked *picked, const bool *asked, struct fate *fate)
{
    unsigned char *outputs[MAX_ARGS];
    struct comparison c;
    struct trial t = {0};

    for (size_t o = 0; o < sized->n_outputs; o++) {
        outputs[o] = picked[o].got;
        sized->data->elements[sized->outputs[o]] = asked[o] ? (int64_t)picked[o].n : 0;
    }
    comparison_open(&c, sized, side, sized->original_errors[side], w->arena);
    compare_case(&c, 0, outputs, fate);
    if (fate_open(fate))
        judge_pools(&c, &t, fate);
    comparison_close(&c);
}

/* The units of what was picked, as far as blocks that were run apart have them; what they have not is not
 * asked. */
static void read_units(const struct whole *w, struct sample *measured, size_t o, struct picked *p)
{
    const struct judge *j = w->judge;
    enum kernel_type type = j->task->args[j->outputs[o]].type, narrow = output_narrow(j, o);
    size_t n = PIECE / p->size, kept = 0;
    double of[N_PTX_TERMS][PIECE];
    unsigned char bytes[PIECE];
    bool lost[PIECE];
    int64_t all;

    p->unit = arena_array(w->arena, double, p->n + 1);
    for (size_t k = 0; k + n <= p->n; k += n) {
        int64_t first = (int64_t)p->at[k];
        uint64_t from = (uint64_t)first * p->size;
        bool written = true;
        for (enum ptx_terms m = PTX_TERMS_SQUARES; m < N_PTX_TERMS; m++)
            written = written && sample_written(&measured[m], o, first, bytes);
        if (!written)
            continue;
        for (enum ptx_terms m = PTX_TERMS_SQUARES; m < N_PTX_TERMS; m++) {
            struct stage *s = &measured[m].stage;
            ptx_shadow_read(s->shadow, s->mem, stage_arg(s, j->outputs[o], &all) + from, exact_real(type), n,
                            of[m], lost);
        }
        memmove(p->at + kept, p->at + k, n * sizeof(*p->at));
        memmove(p->exact + kept, p->exact + k, n * sizeof(*p->exact));
        memmove(p->got + kept * p->size, p->got + k * p->size, n * p->size);
        memmove(p->own + kept * p->size, p->own + k * p->size, n * p->size);
        for (size_t e = 0; e < n; e++) {
            const struct rule_terms terms = {of[PTX_TERMS_SQUARES][e], of[PTX_TERMS_LARGEST][e],
                                             of[PTX_TERMS_SIZES][e]};
            p->unit[kept + e] = rule_unit(type, narrow, &terms);
        }
        kept += n;
    }
    p->n = kept;
}

/* Wrong in ulps: once more by the terms of the sums, as the suite is. A fate stays where these are not known.
 */
static bool judge_terms(const struct whole *w, enum stage_side side, struct picked *picked, const bool *asked,
                        struct fate *fate, struct err *err)
{
    struct judge *j = w->judge, sized;
    struct sample measured[N_PTX_TERMS] = {0};
    struct version *version;
    struct fate again = {0};
    bool any = true, ok = true, told = true;
    int64_t traffic;

    if (!(j->exceptions >> RULE_TERMS & 1))
        return true;
    if (!terms_version(j, &version, err) || !task_traffic(j->task, w->dims, &traffic, err))
        return false;
    if (!version)
        return true;
    for (enum ptx_terms m = PTX_TERMS_SQUARES; ok && told && m < N_PTX_TERMS; m++) {
        measured[m] = (struct sample){.whole = w,
                                      .version = version,
                                      .share = MIN(1, (double)EXACT_BYTES / (double)traffic),
                                      .shadow = terms_shadow(j, m)};
        ok = sample_run(&measured[m], err);
        told = measured[m].told;
    }
    if (ok && told) {
        for (size_t o = 0; o < j->n_outputs; o++)
            if (asked[o] && picked[o].n) {
                read_units(w, measured, o, &picked[o]);
                any &= picked[o].n > 0;
            }
        make_case(&sized, w, side, picked, true);
        judge_outputs(&sized, w, side, picked, asked, &again);
        if (any && fate_open(&again))
            *fate = again;
    }
    for (enum ptx_terms m = PTX_TERMS_SQUARES; m < N_PTX_TERMS; m++)
        sample_close(&measured[m]);
    return ok;
}

/* In double the original has nothing more exact than itself; integers were equal or not. */
static bool is_asked(const struct judge *j, const struct task_arg *arg)
{
    return type_is_floating(arg->type) && (arg->type != KT_F64 || j->task->reference_path);
}

struct picking { /* of the outputs that are asked for */
    enum stage_side side;
    struct picked picked[MAX_ARGS];
    bool sure[MAX_ARGS], unsure[MAX_ARGS];
};

/* Some outputs of what was picked. Who is wrong by the errors of one run is asked again by those that the
 * original's arithmetic can make. */
static bool judge_some(const struct whole *w, struct picking *p, const bool *asked, struct fate *fate,
                       struct err *err)
{
    struct judge *j = w->judge, sized;

    make_case(&sized, w, p->side, p->picked, false);
    judge_outputs(&sized, w, p->side, p->picked, asked, fate);
    if (fate_open(fate) || j->can[p->side])
        return true;
    if (!original_can(j, p->side, err))
        return false;
    *fate = (struct fate){0};
    make_case(&sized, w, p->side, p->picked, false);
    judge_outputs(&sized, w, p->side, p->picked, asked, fate);
    return true;
}

/* What was picked judged, by this processor alone: *known results of each output at least. */
static bool judge_picked(const struct whole *w, const struct both *b, struct picking *p, size_t *known,
                         bool *doubt, struct fate *fate, struct err *err)
{
    struct fate maybe = {0};

    if (!judge_some(w, p, p->sure, fate, err))
        return false;
    *known = SIZE_MAX;
    for (size_t o = 0; o < w->judge->n_outputs; o++)
        if (p->sure[o] || p->unsure[o])
            *known = MIN(*known, p->picked[o].n);
    if (!fate_open(fate) && !judge_terms(w, p->side, p->picked, p->sure, fate, err))
        return false;
    if (fate_open(fate) && !b->got && !judge_some(w, p, p->unsure, &maybe, err))
        return false;
    if (!fate_open(&maybe))
        *doubt = true;
    return true;
}

/* The GPU is others' while this processor works, which is most of the time; its buffers stay, so that they must
 * be small enough for those of many workers. */
static bool gpu_rests(const struct whole *w, enum stage_side side)
{
    const struct judge *j = w->judge;
    int64_t bytes;

    return side == SIDE_GPU && task_traffic(j->task, w->dims, &bytes, NULL) &&
           (uint64_t)bytes * 2 * MOST_SHARING <= cuda_info(j->gpu)->total_bytes;
}

bool size_verify(const struct whole *w, const struct both *b, const struct stage_ops *ops, size_t *known,
                 bool *doubt, struct fate *fate, struct err *err)
{
    struct judge *j = w->judge;
    struct oracle s = {.w = w};
    struct picking p = {.side = ops->side};
    bool any = false, ok, rests = gpu_rests(w, ops->side);
    const char *why_not = j->exact.module ? NULL : "there is none";

    for (size_t o = 0; o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        p.sure[o] = is_asked(j, arg) && (b->got || sample_is_final(b->samples, arg));
        p.unsure[o] = is_asked(j, arg) && !p.sure[o];
        any |= is_asked(j, arg);
    }
    *known = any ? 0 : SIZE_MAX;
    if (!any || why_not)
        return true;
    if (ops->side == SIDE_GPU && j->task->reference_path) {
        ok = run_reference(&s, &why_not, err);
    } else {
        if (rests)
            judge_gpu_leave(j);
        ok = run_samples(&s, &why_not, err);
        ok = (!rests || judge_gpu_take(j, err)) && ok;
    }
    for (size_t o = 0; ok && !why_not && o < j->n_outputs; o++)
        if (p.sure[o] || p.unsure[o])
            ok = pick(&s, b, o, &p.picked[o], err);
    oracle_close(&s);
    if (!ok || why_not)
        return ok;
    if (rests)
        judge_gpu_leave(j);
    ok = judge_picked(w, b, &p, known, doubt, fate, err);
    return (!rests || judge_gpu_take(j, err)) && ok;
}

/* ---- better than the original ---- */

/* All n elements of an output as they should be: values NULL where that is not known, and lost says which of
 * them are not. */
struct answers {
    size_t output, n;
    double *values;
    bool *lost;
};

/* A version on the simulator, whole, where its work is within the limit; what its shadow has of all elements of
 * an output, or, without a shadow, what it stored. Closes the shadow. */
static bool simulated_answers(const struct whole *w, struct version *v, struct ptx_shadow *shadow,
                              struct answers *out, struct err *err)
{
    struct judge *j = w->judge;
    const struct task *t = v->task;
    const struct stage_data data = {.values = w->values, .own = j->task, .tiles = w->tiles, .seed = w->seed};
    const struct stage_check check = {.where = w->where, .max_insns = NEARER_INSNS};
    struct fate fate = {0};
    struct stage s;
    int64_t bytes;

    out->values = NULL;
    if (!stage_open(&s, j, &stage_sim, t, w->dims, &data, err)) {
        ptx_shadow_close(shadow);
        return false;
    }
    s.shadow = shadow;
    struct stage_ran ran;
    bool ok = stage_verify(&s, v, &check, w->arena, &ran, &fate, err);
    size_t arg = j->outputs[out->output];
    uint64_t addr = stage_arg(&s, arg, &bytes);
    double *to = arena_alloc(w->arena, MAX((size_t)bytes, out->n * sizeof(double)) + 1);
    if (ok && fate_open(&fate) && (ok = stage_sim.read(&s, addr, to, (size_t)bytes, err))) {
        if (shadow)
            ptx_shadow_read(shadow, s.mem, addr, exact_real(t->args[arg].type), out->n, to, out->lost);
        out->values = to;
    }
    ptx_shadow_close(shadow);
    stage_close(&s);
    return ok;
}

/* What the terms of each element may be off; *units NULL: it is not known. */
static bool whole_units(const struct whole *w, size_t o, size_t n, double **units, struct err *err)
{
    struct judge *j = w->judge;
    enum kernel_type type = j->task->args[j->outputs[o]].type, narrow = output_narrow(j, o);
    double *of[N_PTX_TERMS], *to = arena_array(w->arena, double, n + 1);
    struct answers terms = {.output = o, .n = n, .lost = arena_array(w->arena, bool, n + 1)};
    struct version *v;

    *units = NULL;
    if (!(j->exceptions >> RULE_TERMS & 1))
        return true;
    if (!terms_version(j, &v, err))
        return false;
    for (enum ptx_terms m = PTX_TERMS_SQUARES; v && m < N_PTX_TERMS; m++) {
        if (!simulated_answers(w, v, terms_shadow(j, m), &terms, err))
            return false;
        of[m] = terms.values;
        if (!of[m])
            return true;
    }
    for (size_t e = 0; v && e < n; e++) {
        const struct rule_terms of_one = {of[PTX_TERMS_SQUARES][e], of[PTX_TERMS_LARGEST][e],
                                          of[PTX_TERMS_SIZES][e]};
        to[e] = terms.lost[e] ? 0 : rule_unit(type, narrow, &of_one);
    }
    *units = v ? to : NULL;
    return true;
}

/* By the reference, on the GPU. */
static bool measured_answers(const struct whole *w, struct answers *out, struct err *err)
{
    struct oracle s = {.w = w};
    const char *why_not = NULL;
    int64_t bytes;
    bool ok = run_reference(&s, &why_not, err);

    out->values = NULL;
    if (ok && s.whole) {
        uint64_t addr = stage_arg(&s.stage, w->judge->outputs[out->output], &bytes);
        out->values = arena_array(w->arena, double, out->n + 1);
        ok = stage_gpu.read(&s.stage, addr, out->values, out->n * sizeof(double), err);
    }
    oracle_close(&s);
    return ok;
}

bool size_nearer(const struct whole *w, const struct both *b, const struct stage_ops *ops, size_t output,
                 const struct error_scale *y, bool *nearer, struct err *err)
{
    struct judge *j = w->judge;
    enum kernel_type type = y->arg->type;
    size_t size = kernel_type_size(type);
    int64_t n;
    bool ok;

    *nearer = false;
    if (!j->exact.module || !is_asked(j, y->arg))
        return true;
    if (!task_shape(j->task, y->arg, w->dims, &n, err))
        return false;
    struct answers a = {.output = output, .n = (size_t)n, .lost = arena_array(w->arena, bool, (size_t)n + 1)};
    struct ptx_shadow *shadow = NULL;
    if (ops->side == SIDE_GPU && j->task->reference_path) {
        ok = measured_answers(w, &a, err);
    } else {
        if (j->exact.shadow)
            shadow = ptx_shadow_open();
        ok = simulated_answers(w, &j->exact, shadow, &a, err);
    }
    const double *exact = a.values;
    const bool *lost = a.lost;
    if (!ok || !exact)
        return ok;
    const struct error_stats none = {0};
    double *units = NULL, most = output_rule(j, output, 0, &none).most[2];
    bool asked = false;
    *nearer = true;
    for (size_t e = 0; *nearer && e < (size_t)n; e++) {
        double got = task_to_double(type, b->got[output] + e * size),
               own = task_to_double(type, b->own[output] + e * size);
        *nearer = memcmp(b->got[output] + e * size, b->own[output] + e * size, size) == 0 ||
                  error_scale_near(y, got, own) || (!lost[e] && fabs(got - exact[e]) <= fabs(own - exact[e]));
        if (*nearer || lost[e])
            continue;
        if (!asked && !whole_units(w, output, (size_t)n, &units, err))
            return false;
        asked = true;
        *nearer = units && fabs(got - exact[e]) <= most * units[e];
    }
    return true;
}
