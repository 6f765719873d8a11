/* The parts that prompts are made of: the task, the device, what was measured, what can be done, what was
 * learnt. */
#include "internal.h"

/* "16.3", "0.85", "1923": three digits are what a figure is worth here. */
static const char *us_text(struct arena *a, double us)
{
    int decimals = (us < 100) + (us < 10);

    return isfinite(us) ? arena_printf(a, "%.*f", decimals, us) : "?";
}

static const char *c_type(enum kernel_type t)
{
    static const char *const names[] = {
        [KT_VOID] = "void",   [KT_BOOL] = "bool",    [KT_I8] = "int8_t",  [KT_U8] = "uint8_t",
        [KT_I16] = "int16_t", [KT_U16] = "uint16_t", [KT_I32] = "int",    [KT_U32] = "unsigned",
        [KT_I64] = "int64_t", [KT_U64] = "uint64_t", [KT_F16] = "__half", [KT_BF16] = "__nv_bfloat16",
        [KT_F32] = "float",   [KT_F64] = "double"};

    return names[t];
}

static char *signature(const struct task *t, struct arena *a)
{
    struct str s = {0};

    str_addf(&s, "extern \"C\" void %s(", t->entry);
    for (size_t i = 0; i < t->n_args; i++)
        str_addf(&s, "%s%s %s%s, ", t->args[i].role == ROLE_IN ? "const " : "", c_type(t->args[i].type),
                 t->args[i].role == ROLE_SCALAR ? "" : "*", t->args[i].name);
    str_add(&s, "cudaStream_t stream)");
    return str_take(&s, a);
}

const char *part_of_hopper(void)
{
    return " A file with the word `wgmma` or `setmaxnreg` is compiled for sm_90a. These run, and so do clusters, "
           "distributed shared memory, `mbarrier`, bulk copies, and tensor maps made in the launcher.";
}

char *part_contract(const struct agent_brief *b, struct arena *a)
{
    struct str flags = {0}, headers = {0};

    for (size_t i = 0; i < b->task->n_flags; i++)
        str_addf(&flags, "%s%s", i ? " " : "", b->task->flags[i]);
    for (size_t i = 0; i < b->task->n_headers; i++)
        str_addf(&headers, "%s %s", i ? "," : ", and", b->task->headers[i]);
    struct fill_slot slots[] = {
        {"signature", signature(b->task, a)},
        {"arch", arena_printf(a, "%d%d", b->limits->cc_major, b->limits->cc_minor)},
        {"flags", flags.len ? str_take(&flags, a) : "none"},
        {"own", b->limits->cc_major == 9 && b->limits->cc_minor == 0 ? part_of_hopper() : ""},
        {"headers", str_take(&headers, a)},
    };
    return fill_share(a, "prompts/contract.md", slots, ARRAY_LEN(slots));
}

static char *gpu_text(const struct kernel_limits *l, struct arena *a)
{
    return arena_printf(
        a,
        "compute capability %d.%d, %d SMs, at most %d threads a block, %d threads and %d blocks an "
        "SM, %lld registers an SM, %lld KB of shared memory a block (%lld with opt-in, %lld an SM), "
        "%lld MB of L2.",
        l->cc_major, l->cc_minor, l->sm_count, l->max_threads_per_block, l->max_threads_per_sm,
        l->max_blocks_per_sm, (long long)l->registers_per_sm, (long long)l->shared_per_block >> 10,
        (long long)l->shared_per_block_optin >> 10, (long long)l->shared_per_sm >> 10,
        (long long)l->l2_bytes >> 20);
}

/* "peak rates 4800 GB/s of device memory, 67 TFLOP/s in f32": those that the device has. */
static const char *peaks_text(const struct trial_peaks *p, struct arena *a)
{
    struct str s = {.arena = a};

    if (!p || !(p->dram_bytes > 0))
        return "";
    str_addf(&s, " Peak rates: %.0f GB/s of device memory, %.0f GB/s of L2", p->dram_bytes * 1e-9,
             p->l2_bytes * 1e-9);
    const struct {
        const char *name;
        double rate;
    } rates[] = {{"f64", p->fp64}, {"f32", p->fp32}, {"f16", p->fp16}, {"f16 by tensor cores", p->tensor_fp16}};
    for (size_t i = 0; i < ARRAY_LEN(rates); i++)
        if (rates[i].rate > 0)
            str_addf(&s, ", %.3g TFLOP/s in %s", rates[i].rate * 1e-12, rates[i].name);
    str_addc(&s, '.');
    return str_take(&s, a);
}

static void add_values(struct str *s, const struct task_values *v)
{
    str_addf(s, ", %s", task_value_name(v->kind));
    if (v->kind == VALUE_UNIFORM)
        str_addf(s, " in [%g, %g)", v->low, v->high);
    else if (v->high_expr && v->kind != VALUE_INDEX)
        str_addf(s, " from %s to %s", v->low_expr ? dim_text(v->low_expr) : "0", dim_text(v->high_expr));
    else if (v->kind == VALUE_INDEX)
        str_addf(s, " in [%s, %s)", v->low_expr ? dim_text(v->low_expr) : "0", dim_text(v->high_expr));
    else if (v->kind == VALUE_CONSTANT)
        str_addf(s, " %g", v->constant);
    for (size_t i = 0; i < v->n_special; i++) {
        double x = v->special[i];
        str_add(s, i ? ", " : ", may also be ");
        if (isnan(x))
            str_add(s, "nan"); /* printf would show its sign */
        else
            str_addf(s, "%g", x);
    }
}

static char *args_text(const struct task *t, struct arena *a)
{
    static const char *const roles[] = {"in", "out", "inout", "scratch", "scalar"};
    struct str s = {0};

    for (size_t i = 0; i < t->n_args; i++) {
        const struct task_arg *x = &t->args[i];
        str_addf(&s, "- %s: %s", x->name, kernel_type_name(x->type));
        if (x->role == ROLE_SCALAR) {
            if (x->value_expr)
                str_addf(&s, " = %s%s\n", dim_text(x->value_expr), task_is_flag(x) ? ", or the other" : "");
            else
                str_addf(&s, " = %g", x->value);
            for (size_t k = 1; k < x->n_choices; k++)
                str_addf(&s, " or %g", x->choices[k]);
            if (!x->value_expr)
                str_addc(&s, '\n');
            continue;
        }
        str_add(&s, " [");
        for (size_t k = 0; k < x->n_shape; k++)
            str_addf(&s, "%s%s", k ? ", " : "", dim_text(x->shape[k]));
        str_addf(&s, "], %s", roles[x->role]);
        if (x->role == ROLE_IN || x->role == ROLE_INOUT)
            add_values(&s, &x->values);
        if (x->align_bytes != 256)
            str_addf(&s, ", begins at a multiple of %lld bytes, no more", (long long)x->align_bytes);
        str_addc(&s, '\n');
    }
    if (s.len)
        s.s[--s.len] = 0;
    return str_take(&s, a);
}

static char *workloads_text(const struct agent_brief *b, struct arena *a)
{
    const struct task *t = b->task;
    const struct agent_workload *w = b->original ? b->original : b->workloads;
    size_t n = b->original ? b->n_original : b->n_workloads;
    struct str s = {0};

    for (size_t i = 0; i < t->n_workloads; i++) {
        const int64_t *dims = t->workloads + i * t->n_dims;
        int64_t bytes;
        str_addf(&s, "%s- %s", i ? "\n" : "", task_dims_text(a, t, dims));
        if (task_traffic(t, dims, &bytes, NULL))
            str_addf(&s, ": %.3g MB", (double)bytes * 1e-6);
        if (i < n && isfinite(w[i].time.copy_us))
            str_addf(&s, ", copy %s us", us_text(a, w[i].time.copy_us));
        if (i < n && w[i].time.flops > 0)
            str_addf(&s, ", %.3g MFLOP in the original", w[i].time.flops * 1e-6);
    }
    return str_take(&s, a);
}

char *part_task(const struct agent_brief *b, struct arena *a)
{
    static const char *const conditions[N_REGIMES] = {
        [REGIME_COLD] = "nothing in cache",
        [REGIME_HOT] = "data in cache",
        [REGIME_STREAM] =
            "between a kernel that writes the inputs and one that reads the outputs, back to back",
        [REGIME_STREAM_PDL] =
            "between a kernel that writes the inputs and triggers at its start and one that reads "
            "the outputs and begins early (programmatic dependent launch), back to back"};
    const struct task *t = b->task;
    struct str dims = {0}, domain = {0};

    for (size_t i = 0; i < t->n_dims; i++)
        str_addf(&dims, "%s%s", i ? ", " : "", t->dims[i]);
    for (size_t i = 0; i < t->n_domain; i++)
        str_addf(&domain, "%s%s", i ? ", " : "", dim_text(t->domain[i]));
    struct fill_slot slots[] = {
        {"name", t->name},
        {"device", b->device},
        {"basis", b->basis},
        {"gpu", arena_printf(a, "%s%s", gpu_text(b->limits, a), peaks_text(b->peaks, a))},
        {"args", args_text(t, a)},
        {"dims", str_take(&dims, a)},
        {"domain", domain.len ? str_take(&domain, a) : "everything that fits"},
        {"regime", conditions[t->regime]},
        {"workloads", workloads_text(b, a)},
    };
    return fill_share(a, "prompts/task.md", slots, ARRAY_LEN(slots));
}

char *part_score(const struct agent_brief *b, struct arena *a)
{
    if (!isfinite(b->parent_score) || fabs(b->parent_score - 1) < 1e-9)
        return "the original";
    return arena_printf(a, "%.2f times as fast as the original", b->parent_score);
}

/* " alone 62 %": of the time, so that a bound which only just leads is seen to. */
static const char *bound_share(struct arena *a, const struct trial_time *w)
{
    double us = trial_bound_us(w);

    return us > 0 && w->us > 0 ? arena_printf(a, " alone %.0f %%", fmin(100, 100 * us / w->us)) : "";
}

/* What the version draws of the device's peaks: no diagnosis says it better. */
static void add_shares(struct str *s, const struct trial_peaks *p, const struct trial_time *w)
{
    double seconds = w->us * 1e-6;

    if (!p || !(seconds > 0))
        return;
    if (p->dram_bytes > 0 && w->dram_bytes > 0)
        str_addf(s, "; %.0f %% of the peak of device memory", 100 * w->dram_bytes / seconds / p->dram_bytes);
    if (p->fp32 > 0 && w->flops / seconds > 0.005 * p->fp32)
        str_addf(s, "; %.3g TFLOP/s", w->flops / seconds * 1e-12);
}

char *part_times(const struct agent_brief *b, struct arena *a, bool components)
{
    struct str s = {0};

    for (size_t i = 0; i < b->n_workloads; i++) {
        const struct trial_time *w = &b->workloads[i].time;
        str_addf(&s, "%s- %s: %s (copy %s", i ? "\n" : "", b->workloads[i].dims, us_text(a, w->us),
                 us_text(a, w->copy_us));
        if (b->times_alone) {
            str_addc(&s, ')');
            continue;
        }
        if (w->bound)
            str_addf(&s, "; %s%s", trial_bound_words(w, a), bound_share(a, w));
        add_shares(&s, b->peaks, w);
        str_addc(&s, ')');
        if (!components)
            continue;
        struct trial_bound parts[N_BOUNDS];
        trial_bounds(w, parts);
        for (size_t k = 0; k < N_BOUNDS; k++)
            if (parts[k].us > 0.005)
                str_addf(&s, " %s %s", parts[k].name, us_text(a, parts[k].us));
        if (isfinite(w->occupancy))
            str_addf(&s, "; %.0f %% resident", 100 * w->occupancy);
        if (isfinite(w->waves))
            str_addf(&s, ", %.2g waves", w->waves);
    }
    if (!b->n_workloads)
        str_add(&s, "- not timed");
    return str_take(&s, a);
}

static char *line_of(const struct agent_brief *b, struct arena *a, const struct agent_line *l)
{
    const char *p = b->parent_text;

    if (l->text)
        return text_line(a, l->text, 100);
    for (int line = 1; p && line < l->counters.line; line++)
        p = (p = strchr(p, '\n')) ? p + 1 : NULL;
    return p ? text_line(a, arena_strndup(a, p, strcspn(p, "\n")), 100) : "";
}

char *part_lines(const struct agent_brief *b, struct arena *a, bool counters)
{
    struct str s = {0};
    size_t shown = 0;

    for (size_t i = 0; b->profile && i < b->profile->n_lines && shown < (counters ? 10 : 5); i++) {
        const struct trial_line *l = &b->profile->lines[i].counters;
        if (l->line < 1 || (!(l->share > 0.02) && shown))
            continue;
        str_addf(&s, "%s- line %d, %.0f %%", shown++ ? "\n" : "", l->line, 100 * l->share);
        if (counters)
            str_addf(&s, "; %.0f; %.1f, %.1f; %.1f", l->lanes_active, l->sectors_per_request,
                     l->ideal_sectors_per_request, l->conflicts_per_request);
        else if (l->sectors_per_request > 1.3 * l->ideal_sectors_per_request)
            str_addf(&s, ", %.1f sectors a request where %.1f would do", l->sectors_per_request,
                     l->ideal_sectors_per_request);
        else if (l->conflicts_per_request > 0.5)
            str_addf(&s, ", %.1f bank conflicts a request", l->conflicts_per_request);
        else if (l->lanes_active < 24)
            str_addf(&s, ", %.0f of 32 lanes active", l->lanes_active);
        str_addf(&s, ": %s", line_of(b, a, &b->profile->lines[i]));
        const char *instruction = b->parent_text ? text_asm_of(a, b->parent_text, l->line) : NULL;
        if (instruction)
            str_addf(&s, " (of asm `%s`)", instruction);
    }
    if (!shown)
        str_add(&s, "- not known");
    if (b->profile && b->profile->redundant)
        str_addf(&s, "\n- redundant traffic, on the suite's cases: %s", b->profile->redundant);
    return str_take(&s, a);
}

char *part_resources(const struct agent_brief *b, struct arena *a)
{
    const struct agent_profile *p = b->profile;

    if (!p || !p->registers)
        return "";
    return arena_printf(
        a, "Resources: %u registers a thread, %u bytes of static shared memory, %u bytes spilled.\n",
        p->registers, p->shared_bytes, p->spill_bytes);
}

size_t transform_settings(const struct agent_version *v, const struct transform *ops, struct arena *a,
                          const int **settings, const struct transform_site **first)
{
    enum { MAX_SETTINGS = 16 };
    const struct transform_site *sites;
    int *list = arena_array(a, int, MAX_SETTINGS);
    size_t n = 0, n_sites = agent_version_sites(v, ops, &sites);

    for (size_t i = 0; i < n_sites && n < MAX_SETTINGS; i++) {
        bool again = false;
        for (size_t k = 0; k < n; k++)
            again = again || list[k] == sites[i].setting;
        if (!again)
            list[n++] = sites[i].setting;
    }
    *settings = list;
    *first = n_sites ? &sites[0] : NULL;
    return n;
}

char *part_transforms(const struct agent_brief *b, struct arena *a, bool in_full)
{
    struct str s = {0};

    for (size_t m = 0; b->version && transform_all[m]; m++) {
        const struct transform *ops = transform_all[m];
        const struct transform_site *first;
        const int *settings;
        size_t n = ops->last ? 0 : transform_settings(b->version, ops, a, &settings, &first);
        if (!n)
            continue;
        if (s.len)
            str_add(&s, in_full ? "\n" : "; ");
        str_addf(&s, in_full ? "- %s" : "%s", ops->name);
        if (in_full && (n > 1 || settings[0]))
            str_addc(&s, ':');
        for (size_t i = 0; i < n && (n > 1 || settings[0]); i++) {
            const char *words = in_full && ops->setting_words ? ops->setting_words(a, settings[i]) : NULL;
            str_addf(&s, "%s %s", i && in_full ? "," : "", words ? words : arena_printf(a, "%d", settings[i]));
        }
        if (in_full)
            str_addf(&s, "; %s; %s", ops->summary,
                     first->where ? text_line(a, first->where, 100) : "everywhere");
    }
    if (!s.len)
        str_add(&s, in_full ? "- none" : "none");
    return str_take(&s, a);
}

/* The best and the latest are what a plan can use; the rest are counted. */
static void choose_lessons(const struct agent_brief *b, size_t max, bool *chosen)
{
    size_t best = max / 2, left = max;

    for (size_t k = 0; k < best; k++) {
        size_t top = b->n_lessons;
        for (size_t i = 0; i < b->n_lessons; i++)
            if (!chosen[i] && b->lessons[i].gain > 1.005 &&
                (top == b->n_lessons || b->lessons[i].gain > b->lessons[top].gain))
                top = i;
        if (top == b->n_lessons)
            break;
        chosen[top] = true;
        left--;
    }
    for (size_t i = b->n_lessons; i-- > 0 && left > 0;)
        if (!chosen[i]) {
            chosen[i] = true;
            left--;
        }
}

/* A built-in transform says by its name what was done. */
static bool names_transform(struct arena *a, const char *name)
{
    return transform_find(arena_strndup(a, name, strcspn(name, " "))) != NULL;
}

char *part_lessons(const struct agent_brief *b, struct arena *a, size_t max)
{
    bool *chosen = arena_array(a, bool, b->n_lessons + 1);
    size_t failed = 0, correct = 0;
    struct str s = {.arena = a};

    if (!b->n_lessons)
        return "Nothing yet.\n";
    choose_lessons(b, max, chosen);
    for (size_t i = 0; i < b->n_lessons; i++) {
        const struct agent_lesson *l = &b->lessons[i];
        if (!chosen[i]) {
            *(isfinite(l->gain) ? &correct : &failed) += 1;
            continue;
        }
        str_addf(&s, "%s: %s", text_line(a, l->name, 80), l->verdict ? l->verdict : "not judged");
        if (isfinite(l->gain))
            str_addf(&s, ", gain %.2f, score %.2f", l->gain, l->score);
        if (l->by_workload)
            str_addf(&s, ", by workload %s", l->by_workload);
        if (l->words && *l->words && !str_eq(l->verdict, "passed"))
            str_addf(&s, ": %s", text_line(a, l->words, isfinite(l->gain) ? 70 : 140));
        if (l->what && *l->what && !names_transform(a, l->name))
            str_addf(&s, " (%s)", text_line(a, l->what, 100));
        str_addc(&s, '\n');
    }
    if (correct + failed)
        str_addf(&s, "and %zu more that gained less, %zu that failed\n", correct, failed);
    return text_quote(a, "what became of earlier attempts, oldest first", str_text(&s), max + 1);
}

/* One line a sentence and a list's element, as long lines are cut. */
char *part_suite(const struct agent_brief *b, struct arena *a)
{
    enum { LINE = 160 };
    char *s = arena_strdup(a, b->suite_text ? b->suite_text : "");
    size_t column = 0;

    for (char *p = s; *p; p++, column++)
        if (column > LINE && *p == ' ' && (p[-1] == ',' || p[-1] == ';')) {
            *p = '\n';
            column = 0;
        }
    return s;
}

char *part_reach(const struct agent_brief *b, struct arena *a)
{
    struct str s = {.arena = a};

    for (size_t i = 0; i < b->task->n_args; i++) {
        const struct task_arg *arg = &b->task->args[i];
        if (arg->role == ROLE_IN || arg->role == ROLE_INOUT)
            str_addf(&s, "%s%g for %s", s.len ? ", " : "", tester_reach(arg->type), arg->name);
    }
    return str_take(&s, a);
}
