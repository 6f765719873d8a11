/* What was verified, and what was not. */
#include "report/page.h"

#include "report/chart.h"
#include "report/words.h"

/* ---- the domain and the cases ---- */

static void put_text(struct fill *f, const char *name, const char *text)
{
    fill_put(f, name, html_escaped(fill_arena(f), text));
}

static void put_domain(const struct view *v, struct fill *f)
{
    fill_if(f, "task", v->task);
    fill_if(f, "restricted", v->task && v->task->n_domain);
    fill_section(f, "dims");
    for (size_t i = 0; v->task && i < v->task->n_dims; i++)
        put_text(fill_row(f, "dims"), "text", v->task->dims[i]);
    for (size_t i = 0; v->task && i < v->task->n_domain; i++)
        put_text(fill_row(f, "conditions"), "text", dim_text(v->task->domain[i]));
}

static void put_table(struct fill *f, const char *name, const struct table *t)
{
    struct str s = {.arena = fill_arena(f)};

    if (t)
        table_as_html(t, &s);
    fill_put(f, name, str_take(&s, s.arena));
}

static const char *dims_text(struct arena *a, const json_t *c)
{
    const char *text = "";
    const json_t *x;
    size_t i;

    json_array_foreach(json_object_get(c, "dims"), i, x) text =
        arena_printf(a, "%s%s%lld", text, i ? "×" : "", (long long)json_integer_value(x));
    return text;
}

/* A row for each distribution of values, in the order of the suite. */
static void add_cases_of(struct table *t, struct arena *a, const json_t *list, bool tester)
{
    struct map seen = {0};
    const json_t *c, *other;
    size_t i, k;

    json_array_foreach(list, i, c)
    {
        const char *name = json_text(c, "distribution", "?");
        struct str shapes = {0};
        int64_t n = 0;
        if (map_has(&seen, name))
            continue;
        map_put(&seen, name, t);
        json_array_foreach(list, k, other) if (str_eq(json_text(other, "distribution", "?"), name))
            str_addf(&shapes, "%s%s", n++ ? ", " : "", dims_text(a, other));
        table_row(t, tester ? json_text(c, "why", name) : name);
        table_int(t, n);
        table_text(t, str_take(&shapes, a));
    }
    map_free(&seen);
}

static struct table *case_table(const struct view *v, struct arena *a)
{
    struct table *t = table_new(a, "The suite: what the inputs hold, on which shapes");
    const char *shapes = "shapes";

    for (size_t i = 0; v->task && i < v->task->n_dims; i++)
        shapes = arena_printf(a, "%s%s%s", shapes, i ? "×" : ", ", v->task->dims[i]);
    table_columns(t, "values|cases#");
    table_column(t, shapes, NULL);
    add_cases_of(t, a, json_object_get(v->suite, "rules"), false);
    add_cases_of(t, a, json_object_get(v->suite, "tester"), true);
    return t;
}

static void put_cases(const struct view *v, struct arena *a, struct fill *f)
{
    fill_if(f, "suite", v->suite);
    fill_if(f, "measured", v->measured);
    put_text(f, "suite_words", v->suite_text ? v->suite_text : "The suite is not there any more");
    put_table(f, "case_table", v->suite ? case_table(v, a) : NULL);
}

/* ---- errors ---- */

/* Elements in one bucket over those in all, whatever the output and its values. */
static double share_of(const json_t *errors, const char *of, size_t bucket)
{
    const json_t *x, *count;
    double sum = 0, all = 0;
    size_t i, k;

    json_array_foreach(errors, i, x)
        json_array_foreach(json_object_get(json_object_get(x, of), "histogram"), k, count)
    {
        all += json_number_value(count);
        sum += k == bucket ? json_number_value(count) : 0;
    }
    return sum / all;
}

static void add_error_chart(const json_t *o, struct arena *a, struct str *out)
{
    const json_t *errors = json_object_get(o, "errors"), *edges = json_object_get(o, "ulp_edges");
    size_t n = json_array_size(edges) + 1;
    struct chart_row *rows = arena_array(a, struct chart_row, n);

    for (size_t k = 0; k < n; k++) {
        bool last = k + 1 == n;
        double edge = json_number_value(json_array_get(edges, last ? k - 1 : k));
        const char *name = arena_printf(a, last ? "more than %g" : "up to %g", edge);
        rows[k] = (struct chart_row){k == 0 ? "exact" : name,
                                     {share_of(errors, "original", k), NAN, NAN},
                                     {share_of(errors, "candidate", k), NAN, NAN}};
    }
    str_add(out, "<figure>\n");
    chart_errors(out, "errors", rows, n);
    str_add(out, "<figcaption>Share of all compared elements by their error in ulp, the original beside this "
                 "version.</figcaption>\n</figure>\n");
}

static void put_errors(const struct view *v, struct arena *a, struct fill *f)
{
    const json_t *o = json_object_get(v->result, "verification"), *errors = json_object_get(o, "errors");
    const struct trial *t = v->hidden && v->best->row.id ? v->hidden : &v->best->trial;
    const char *where = t->error_where ? t->error_where : "";
    bool any = json_array_size(errors);
    struct str chart = {.arena = a};

    put_text(f, "exact", words_exact(v, a));
    put_text(f, "exactness", report_exactness(a, o));
    fill_if(f, "has_place", *where);
    put_text(f, "place", where);
    if (any)
        add_error_chart(o, a, &chart);
    fill_put(f, "error_chart", str_take(&chart, a));
    put_table(f, "error_table", any ? report_error_table(a, errors, v->best->row.id == 0) : NULL);
}

/* ---- the suite tried, the hidden cases ---- */

static struct table *survivor_table(struct arena *a, const json_t *survivors)
{
    struct table *t = table_new(a, "Faults that nobody noticed");
    const json_t *x;
    size_t i;

    table_columns(t, "line#|fault|id");
    json_array_foreach(survivors, i, x)
    {
        table_row(t, NULL);
        table_int(t, json_int(x, "line", 0));
        table_text(t, json_text(x, "what", "?"));
        table_code(t, json_text(x, "id", "?"));
    }
    return t;
}

static void put_mutation(const struct view *v, struct arena *a, struct fill *f)
{
    const json_t *m = v->mutation, *survivors = json_object_get(m, "survivors");
    double score = json_num(m, "score");

    fill_if(f, "mutation", m);
    fill_if(f, "has_score", isfinite(score));
    fill_putf(f, "killed", "%lld", json_count(m, "killed"));
    fill_putf(f, "faults", "%lld", json_count(m, "killed") + json_count(m, "survived"));
    fill_putf(f, "score", "%.0f", 100 * score);
    fill_putf(f, "equivalent", "%lld", json_count(m, "equivalent"));
    fill_putf(f, "stillborn", "%lld", json_count(m, "stillborn"));
    put_table(f, "survivor_table", json_array_size(survivors) ? survivor_table(a, survivors) : NULL);
}

static void put_hidden(const struct view *v, struct arena *a, struct fill *f)
{
    bool improved = v->best->row.id, confirmed = improved && v->hidden;
    struct str compiled = {.arena = a};

    report_shipped(json_object_get(v->result, "verification"), &compiled);
    fill_if(f, "original_stays", !improved);
    fill_if(f, "unconfirmed", improved && !v->hidden);
    fill_if(f, "confirmed", confirmed);
    fill_putf(f, "cases", "%zu", confirmed ? v->hidden->cases : 0);
    fill_put(f, "verdict", confirmed ? verdict_name(v->hidden->verdict) : "");
    put_text(f, "seed", v->hidden_seed ? v->hidden_seed : "unknown");
    fill_put(f, "drawn",
             json_int(v->options, "hidden_seed", 0) ? "given beforehand" : "drawn when the version was final");
    fill_if(f, "compiled", compiled.len);
    put_text(f, "compiled_words", str_text(&compiled));
    /* Else it did not run, which is among the limits. */
    fill_if(f, "sanitized", v->sanitizer && strstr(v->sanitizer, ": nothing"));
    put_text(f, "sanitizer", v->sanitizer ? v->sanitizer : "");
}

void page_verified(const struct view *v, struct arena *a, struct str *out)
{
    size_t n;
    const char *const *limits = words_limits(v, a, &n);
    struct fill *f = fill_open(a);

    put_domain(v, f);
    fill_if(f, "result", v->result);
    if (v->result) {
        put_cases(v, a, f);
        put_errors(v, a, f);
        put_mutation(v, a, f);
        put_hidden(v, a, f);
    }
    for (size_t i = 0; i < n; i++)
        put_text(fill_row(f, "limits"), "text", limits[i]);
    page_section(out, "verified", "What was verified");
    str_addf(out, "%s\n", fill_file(f, "report/verified.html"));
}
