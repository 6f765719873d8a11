/* What a file says of itself once it has left its run: the result in words, and the comment made of them. */
#include "internal.h"
#include "op.h"

enum { COMMENT_WIDTH = 112, NAME_WIDTH = 9 };

/* One line, in ASCII, that cannot end a comment. */
static char *plain(struct arena *a, const char *text)
{
    struct str s = {0};

    for (const char *p = text; *p; p++) {
        str_addc(&s, *p < ' ' || *p > '~' ? '?' : *p);
        if (p[0] == '*' && p[1] == '/')
            str_addc(&s, ' ');
    }
    return str_take(&s, a);
}

static void add(struct facts *f, const char *name, const char *text)
{
    vec_add(f->arena, &f->list, ((struct fact){name, plain(f->arena, text)}));
}

__attribute__((format(printf, 3, 4))) static void addf(struct facts *f, const char *name, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add(f, name, arena_vprintf(f->arena, fmt, ap));
    va_end(ap);
}

static const char *interval(struct arena *a, const json_t *o)
{
    double low = json_num(o, "low"), high = json_num(o, "high");

    return isfinite(low) && isfinite(high) ? arena_printf(a, " (95 %% interval %.3f to %.3f)", low, high) : "";
}

static void add_speed(struct facts *f, const json_t *result, struct arena *a)
{
    const json_t *device = json_object_get(result, "device"), *list = json_object_get(result, "workloads"), *w;
    bool measured = str_eq(json_text(device, "basis", ""), "measured");
    const char *name = json_text(device, "name", "?"),
               *regime = json_text(json_array_get(list, 0), "regime", "?");
    size_t i, n = json_array_size(list);

    addf(f, "speed-up", "%.2fx%s, %s of %zu workload%s, caches %s",
         json_num(json_object_get(result, "speedup"), "geomean"),
         interval(a, json_object_get(result, "speedup")), report_mean_words(result), n, n == 1 ? "" : "s",
         regime);
    add(f, "basis",
        measured ? arena_printf(a, "measured on %s, driver %s", name, json_text(device, "driver", "?"))
                 : arena_printf(a, "modelled for %s by a simulator's clock, not measured on a GPU", name));
    json_array_foreach(list, i, w)
        addf(f, i ? "" : "times", "%s: %.2f us, the original %.2f us: %.2fx%s", report_dims(a, w),
             json_num(w, "best_us"), json_num(w, "baseline_us"), json_num(w, "speedup"), interval(a, w));
}

static void add_domain(struct facts *f, const struct task *t, struct arena *a)
{
    static const char *const roles[] = {[ROLE_IN] = "read",
                                        [ROLE_OUT] = "written",
                                        [ROLE_INOUT] = "updated in place",
                                        [ROLE_SCRATCH] = "scratch"};
    struct str s = {.arena = a};

    for (size_t i = 0; i < t->n_domain; i++)
        str_addf(&s, "%s%s", i ? ", " : "", dim_text(t->domain[i]));
    add(f, "domain", s.len ? str_take(&s, a) : "any shape");
    for (size_t i = 0; i < t->n_args; i++) {
        const struct task_arg *x = &t->args[i];
        str_clear(&s);
        str_addf(&s, "%s: %s", x->name, kernel_type_name(x->type));
        for (size_t k = 0; k < x->n_shape; k++)
            str_addf(&s, "%s%s%s", k ? ", " : "[", dim_text(x->shape[k]), k + 1 == x->n_shape ? "]" : "");
        if (x->role != ROLE_SCALAR)
            str_addf(&s, ", %s, aligned to %lld bytes%s", roles[x->role], (long long)x->align_bytes,
                     x->stable ? ", not written by the kernel ahead" : "");
        else if (x->value_expr)
            str_addf(&s, " = %s", dim_text(x->value_expr));
        else
            str_addf(&s, " = %s, the only value%s verified", op_numbers(a, x),
                     x->n_choices > 1 ? "s that were" : " that was");
        add(f, i ? "" : "arguments", str_take(&s, a));
    }
}

static void add_checks(struct facts *f, const json_t *v, struct arena *a)
{
    const json_t *mutation = json_object_get(v, "mutation");
    long long killed = json_count(mutation, "killed"), survived = json_count(mutation, "survived");

    add(f, "accuracy", report_exactness(a, v));
    addf(f, "verified", "on %lld cases, and in a fresh process on %lld hidden ones", json_count(v, "cases"),
         json_count(v, "hidden"));
    add(f, "suite",
        killed + survived
            ? arena_printf(a, "notices %lld of %lld faults put into the original (%.0f %%)", killed,
                           killed + survived, 100.0 * (double)killed / (double)(killed + survived))
            : "how many faults it notices was not looked at");
    if (json_text(v, "missing", NULL))
        add(f, "unchecked", json_text(v, "missing", ""));
    if (report_uncovered(a, v))
        add(f, "uncovered", report_uncovered(a, v));
    add(f, "limit", "Equality is shown on the tested domain, not proved beyond it.");
}

static void add_hashes(struct facts *f, const json_t *result, struct arena *a)
{
    const json_t *p = json_object_get(result, "provenance"), *files = json_object_get(p, "files"), *flag;
    struct str flags = {.arena = a};
    size_t i;

    json_array_foreach(json_object_get(p, "flags"), i, flag) str_addf(&flags, " %s", json_string_value(flag));
    addf(f, "compiler", "NVRTC %s%s", json_text(json_object_get(result, "device"), "nvrtc", "?"),
         str_text(&flags));
    addf(f, "seeds", "%lld, hidden %lld", json_count(p, "seed"), json_count(p, "hidden_seed"));
    addf(f, "SHA-256", "original %s", json_text(files, json_text(p, "source", ""), "?"));
    addf(f, "", "task     %s", json_text(files, "task.yaml", "?"));
    addf(f, "", "suite    %s", json_text(p, "suite", "?"));
    addf(f, "", "judged   %s", json_text(p, "best", "?"));
    addf(f, "", "result   %s", json_text(p, "digest", "?"));
}

void facts_read(struct facts *f, const struct export_run *r, struct arena *a)
{
    const json_t *result = r->bundle.result;

    *f = (struct facts){.arena = a};
    f->title = plain(a, arena_printf(a, "Astra %s: %s, made faster", json_text(result, "astra", "?"),
                                     json_text(result, "task", "?")));
    add_speed(f, result, a);
    add_domain(f, r->bundle.task, a);
    add_checks(f, json_object_get(result, "verification"), a);
    add_hashes(f, result, a);
}

/* Words of one fact over as many lines as they need. */
static void add_wrapped(struct str *to, const char *name, const char *text)
{
    const char *label = name;

    do {
        size_t room = COMMENT_WIDTH - NAME_WIDTH - 4, n = strlen(text);
        if (n > room)
            for (n = room; n > room / 2 && text[n] != ' ';)
                n--;
        str_addf(to, " * %-*s ", NAME_WIDTH, label);
        str_addn(to, text, n);
        str_addc(to, '\n');
        text += n + (text[n] == ' ');
        label = "";
    } while (*text);
}

char *facts_comment(const struct facts *f, struct arena *a, const char *more)
{
    struct str out = {0};

    str_addf(&out, "/* %s\n *\n", f->title);
    for (size_t i = 0; i < f->list.n; i++)
        add_wrapped(&out, f->list.v[i].name, f->list.v[i].text);
    str_addf(&out, " *\n * `astra verify RUN` repeats the judgement.%s%s */\n", more ? " " : "",
             more ? more : "");
    return str_take(&out, a);
}
