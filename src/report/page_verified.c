/* What was verified, and what was not. */
#include "report/page.h"

#include "report/chart.h"
#include "report/words.h"

/* ---- the domain and the cases ---- */

static void add_domain(const struct view *v, struct str *out)
{
    str_add(out, "<h3>Domain</h3>\n");
    if (!v->task) {
        str_add(out,
                "<p>The run's copy of its task is not there any more, so its domain cannot be shown.</p>\n");
        return;
    }
    str_add(out, "<p>The answer must be right for every");
    for (size_t i = 0; i < v->task->n_dims; i++)
        html_addf(out, "%s <code>%s</code>", i ? "," : "", v->task->dims[i]);
    str_add(out, v->task->n_domain ? " with" : ", whatever its size");
    for (size_t i = 0; i < v->task->n_domain; i++)
        html_addf(out, "%s <code>%s</code>", i ? "," : "", dim_text(v->task->domain[i]));
    str_add(out, ".</p>\n");
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

static void add_cases(const struct view *v, struct arena *a, struct str *out)
{
    str_add(out, "<h3>Cases</h3>\n");
    if (!v->suite) {
        html_addf(out, "<p>%s.</p>\n", v->suite_text ? v->suite_text : "The suite is not there any more");
        return;
    }
    str_add(
        out,
        "<p>Every case ran on the simulator, which sees accesses out of bounds, races, reads of what nobody wrote, "
        "writes to inputs, state that survives a launch, and answers that depend on the order of execution");
    str_add(out, v->measured ? "; then on the GPU, on guarded and poisoned buffers." : ".");
    str_add(out, " Each input was changed alone, too: the answer must follow it as the exact one does.</p>\n");
    table_as_html(case_table(v, a), out);
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

static void add_errors(const struct view *v, struct arena *a, struct str *out)
{
    const json_t *o = json_object_get(v->result, "verification"), *errors = json_object_get(o, "errors");
    const struct trial *t = v->hidden && v->best->row.id ? v->hidden : &v->best->trial;

    str_add(out, "<h3>Errors against the exact answer</h3>\n");
    html_addf(
        out,
        "<p>The exact answer is %s. Errors are in units in the last place (ulp) of the output's type. This version: "
        "%s.",
        words_exact(v, a), report_exactness(a, o));
    if (t->error_where && *t->error_where)
        html_addf(out, " It is in %s.", t->error_where);
    str_add(out, "</p>\n");
    if (json_array_size(errors) == 0)
        return;
    add_error_chart(o, a, out);
    table_as_html(report_error_table(a, errors, v->best->row.id == 0), out);
}

/* ---- the suite tried, the hidden cases ---- */

static void add_mutation(const struct view *v, struct arena *a, struct str *out)
{
    struct table *t;
    const json_t *m = v->mutation, *survivors = json_object_get(m, "survivors"), *x;
    double score = json_num(m, "score");
    long long killed = json_int(m, "killed", 0), survived = json_int(m, "survived", 0);
    size_t i;

    str_add(out, "<h3>Would the suite notice?</h3>\n");
    if (!m) {
        str_add(out, "<p>Nobody put faults into the original to see.</p>\n");
        return;
    }
    html_addf(
        out,
        "<p>Faults were put into the original, one at a time; a suite that deserves trust notices them. It noticed "
        "<strong>%lld of %lld",
        killed, killed + survived);
    if (isfinite(score))
        str_addf(out, ", %.0f %%", 100 * score);
    html_addf(out, "</strong>. %lld more change nothing that could be seen, %lld did not compile.</p>\n",
              json_count(m, "equivalent"), json_count(m, "stillborn"));
    if (json_array_size(survivors) == 0)
        return;
    t = table_new(a, "Faults that nobody noticed");
    table_columns(t, "line#|fault|id");
    json_array_foreach(survivors, i, x)
    {
        table_row(t, NULL);
        table_int(t, json_int(x, "line", 0));
        table_text(t, json_text(x, "what", "?"));
        table_code(t, json_text(x, "id", "?"));
    }
    table_as_html(t, out);
}

static void add_hidden(const struct view *v, struct str *out)
{
    str_add(out, "<h3>Hidden cases</h3>\n");
    if (v->best->row.id == 0)
        str_add(out, "<p>The original needs no confirmation.</p>\n");
    else if (!v->hidden)
        str_add(out, "<p>The best version has not been confirmed on hidden cases.</p>\n");
    else
        html_addf(
            out,
            "<p>A fresh process judged the best version on %zu cases that no candidate, rule or model had seen: "
            "%s. Their seed, <code>%s</code>, was %s.</p>\n",
            v->hidden->cases, verdict_name(v->hidden->verdict), v->hidden_seed ? v->hidden_seed : "unknown",
            json_int(v->options, "hidden_seed", 0) ? "given beforehand" : "drawn when the version was final");
    struct str shipped = {0};
    report_shipped(json_object_get(v->result, "verification"), &shipped);
    if (shipped.len)
        html_addf(out, "<p>%s</p>\n", str_text(&shipped));
    str_free(&shipped);
    if (v->sanitizer && strstr(v->sanitizer, ": nothing")) /* else it did not run, which is among the limits */
        html_addf(out, "<p>compute-sanitizer on all cases: %s.</p>\n", v->sanitizer);
}

void page_verified(const struct view *v, struct arena *a, struct str *out)
{
    size_t n;
    const char *const *limits = words_limits(v, a, &n);

    page_section(out, "verified", "What was verified");
    add_domain(v, out);
    if (v->result) {
        add_cases(v, a, out);
        add_errors(v, a, out);
        add_mutation(v, a, out);
        add_hidden(v, out);
    }
    str_add(out, "<h3>Known limits</h3>\n<ul>\n");
    for (size_t i = 0; i < n; i++)
        html_addf(out, "<li>%s</li>\n", limits[i]);
    str_add(out, "</ul>\n</section>\n");
}
