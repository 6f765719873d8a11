/* One version under the simulator's checks alone, for the verb `sanitize`: every case of the suite is run once,
 * whatever the ones before it found. Nothing is compared with the original, nothing is timed. */
#include "internal.h"

struct watched { /* one case */
    struct version *version;
    const struct stage *stage;
    struct sanitized_case *about;
    struct sanitized *out;
    struct arena *arena;
    bool found; /* by a launch; what the plan itself does wrong has no finding of the simulator */
};

/* Counts it where it is known already; else copies it. */
static void add_finding(const struct watched *w, struct sanitized_finding new)
{
    struct sanitized *out = w->out;

    for (size_t i = 0; i < out->findings.n; i++) {
        struct sanitized_finding *f = &out->findings.v[i];
        if (f->line != new.line || (!f->line && f->ptx_line != new.ptx_line) || !str_eq(f->kind, new.kind) ||
            !str_eq(f->kernel, new.kernel) || !str_eq(f->file, new.file))
            continue;
        f->n_cases++;
        return;
    }
    new.kernel = arena_strdup(w->arena, new.kernel);
    new.file = arena_strdup(w->arena, new.file);
    new.words = arena_strdup(w->arena, new.words);
    new.where = w->about->where;
    new.n_cases = 1;
    vec_add(w->arena, &out->findings, new);
}

static bool launch(void *context, const struct plan_step *step, const struct ptx_launch *l,
                   const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct watched *w = context;
    const struct stage_check check = {.checks = SANITIZE_ALL};
    struct ptx_report report = {0};

    (void)step;
    if (!stage_sim.launch((struct stage *)w->stage, w->version, l, k, &check, &report, err))
        return false;
    fate_of_report(w->arena, w->version, &report, w->about->where, fate);
    for (size_t i = 0; report.end != PTX_UNSUPPORTED && i < report.n_findings; i++) {
        const struct ptx_finding *f = &report.findings[i];
        add_finding(w, (struct sanitized_finding){.kind = ptx_finding_name(f->kind),
                                                  .kernel = f->kernel,
                                                  .file = f->file,
                                                  .words = f->words,
                                                  .line = f->line,
                                                  .ptx_line = f->ptx_line});
    }
    w->found = w->found || report.n_findings;
    ptx_report_clear(&report);
    return true;
}

static bool run_case(struct judge *j, struct version *v, const struct task_case *c, struct sanitized *out,
                     struct arena *a, struct err *err)
{
    const struct stage_data data = {
        .values = c->values, .seed = c->seed, .poison = 0xa5, .place = rng_hash(c->seed, out->cases.n)};
    struct sanitized_case about = {.where = case_where(a, j->task, c)};
    struct stage stage;
    struct watched w = {.version = v, .stage = &stage, .about = &about, .out = out, .arena = a};
    const struct stage_visitor visitor = {.context = &w, .launch = launch};
    const struct task *whole = v->task;
    struct fate fate = {0};
    struct plan plan;
    bool ok;

    if (!stage_open(&stage, j, &stage_sim, whole, c->dims, &data, err))
        return false;
    v->task = task_of_case(a, whole, c);
    ok = version_plan(v, a, c->dims, stage.addr, &plan, &fate, err) &&
         (!fate_open(&fate) || stage_run(&stage, v, &plan, &visitor, a, &fate, err));
    v->task = whole;
    stage_close(&stage);
    about.verdict = fate.verdict;
    about.words = fate.words;
    about.line = fate.line;
    if (ok && !fate_open(&fate) && !w.found)
        add_finding(&w, (struct sanitized_finding){.kind = verdict_name(fate.verdict),
                                                   .kernel = "",
                                                   .file = v->kernel->path,
                                                   .words = fate.words,
                                                   .line = fate.line});
    vec_add(a, &out->cases, about);
    return ok;
}

bool judge_sanitize(struct judge *j, struct arena *a, const char *path, const char *text, struct sanitized *out,
                    struct err *err)
{
    struct version v = {.judge = j, .arena = a, .task = j->task};
    struct fate fate = {0};
    bool ok = version_open(&v, path, text, &fate, err);

    *out = (struct sanitized){0};
    if (ok && !fate_open(&fate))
        ok = err_at(err, path, fate.line, fate.col, "%s: %s", verdict_name(fate.verdict), fate.words);
    trace_doing("sanitizer", "runs %zu cases of %s", j->first_input, path);
    for (size_t i = 0; ok && i < j->first_input; i++)
        ok = run_case(j, &v, &j->cases[i], out, a, err);
    version_close(&v);
    return ok;
}
