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

static void add_dims(const json_t *c, struct str *out)
{
    const json_t *x;
    size_t i;

    json_array_foreach(json_object_get(c, "dims"), i, x)
        str_addf(out, "%s%lld", i ? "×" : "", (long long)json_integer_value(x));
}

/* A row for each distribution of values, in the order of the suite. */
static void add_cases_of(const json_t *list, bool tester, struct str *out)
{
    const json_t *c, *other;
    size_t i, k;

    json_array_foreach(list, i, c)
    {
        const char *name = json_text(c, "distribution", "?"), *comma = "";
        size_t n = 0;
        json_array_foreach(list, k, other)
        {
            n += str_eq(json_text(other, "distribution", "?"), name);
            if (k < i && str_eq(json_text(other, "distribution", "?"), name))
                break;
        }
        if (k < i)
            continue; /* shown already */
        html_addf(out, "<tr><th scope=\"row\">%s</th><td class=\"n\">%zu</td><td>",
                  tester ? json_text(c, "why", name) : name, n);
        json_array_foreach(list, k, other) if (str_eq(json_text(other, "distribution", "?"), name))
        {
            str_add(out, comma);
            add_dims(other, out);
            comma = ", ";
        }
        str_add(out, "</td></tr>\n");
    }
}

static void add_cases(const struct view *v, struct str *out)
{
    const json_t *tester = json_object_get(v->suite, "tester");

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
    page_table_begin(out, "The suite: what the inputs hold, on which shapes");
    str_add(
        out,
        "<thead><tr><th scope=\"col\">Values</th><th scope=\"col\" class=\"n\">Cases</th><th scope=\"col\">Shapes");
    for (size_t i = 0; v->task && i < v->task->n_dims; i++)
        html_addf(out, "%s%s", i ? "×" : ", ", v->task->dims[i]);
    str_add(out, "</th></tr></thead>\n<tbody>\n");
    add_cases_of(json_object_get(v->suite, "rules"), false, out);
    add_cases_of(tester, true, out);
    str_add(out, "</tbody>\n");
    page_table_end(out);
}

/* ---- errors ---- */

static void add_three(struct str *out, const json_t *x)
{
    static const char *const names[] = {"p50", "p99", "max"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (isfinite(json_num(x, names[i])))
            str_addf(out, "<td class=\"n\">%.3g</td>", json_num(x, names[i]));
        else
            str_add(out, "<td class=\"n\"><span class=\"none\">none</span></td>");
}

static void add_error_table(const json_t *errors, struct str *out)
{
    static const char three[] = "<th scope=\"col\" class=\"n\">half</th><th scope=\"col\" class=\"n\">99 %</th>"
                                "<th scope=\"col\" class=\"n\">all</th>";
    const json_t *x;
    size_t i;

    page_table_begin(out, "In ulp: half, 99 % and all of the errors are at most this");
    str_addf(
        out,
        "<thead><tr><th scope=\"col\" rowspan=\"2\">Output and values</th><th scope=\"colgroup\" colspan=\"3\" "
        "class=\"n\">This version</th><th scope=\"colgroup\" colspan=\"3\" class=\"n\">Original</th>"
        "<th scope=\"colgroup\" colspan=\"3\" class=\"n\">Allowed</th></tr>\n<tr>%s%s%s</tr></thead>\n<tbody>\n",
        three, three, three);
    json_array_foreach(errors, i, x)
    {
        html_addf(out, "<tr><th scope=\"row\">%s, %s</th>", json_text(x, "output", "?"),
                  json_text(x, "values", "?"));
        add_three(out, json_object_get(x, "candidate"));
        add_three(out, json_object_get(x, "original"));
        add_three(out, json_object_get(x, "allowed"));
        str_add(out, "</tr>\n");
    }
    str_add(out, "</tbody>\n");
    page_table_end(out);
}

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
        rows[k] =
            (struct chart_row){k == 0 ? "exact" : arena_printf(a, last ? "more than %g" : "up to %g", edge),
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
        "<p>The exact answer is %s. Errors are in units in the last place (ulp) of the output's type. The largest is "
        "%.3g, the original's own %.3g, allowed are %.3g.",
        words_exact(v, a), json_num(o, "max_error"), json_num(o, "original_error"),
        json_num(o, "allowed_error"));
    if (t->error_where && *t->error_where)
        html_addf(out, " It is in %s.", t->error_where);
    str_add(out, "</p>\n");
    if (json_array_size(errors) == 0)
        return;
    add_error_chart(o, a, out);
    add_error_table(errors, out);
}

/* ---- the suite tried, the hidden cases ---- */

static void add_mutation(const struct view *v, struct str *out)
{
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
              (long long)json_int(m, "equivalent", 0), (long long)json_int(m, "stillborn", 0));
    if (json_array_size(survivors) == 0)
        return;
    page_table_begin(out, "Faults that nobody noticed");
    str_add(
        out,
        "<thead><tr><th scope=\"col\" class=\"n\">Line</th><th scope=\"col\">Fault</th><th scope=\"col\">Id</th></tr>"
        "</thead>\n<tbody>\n");
    json_array_foreach(survivors, i, x)
        html_addf(out, "<tr><td class=\"n\">%lld</td><td>%s</td><td><code>%s</code></td></tr>\n",
                  (long long)json_int(x, "line", 0), json_text(x, "what", "?"), json_text(x, "id", "?"));
    str_add(out, "</tbody>\n");
    page_table_end(out);
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
    if (v->sanitizer && strstr(v->sanitizer, ": nothing")) /* else it did not run, which is among the limits */
        html_addf(out, "<p>compute-sanitizer on all cases: %s.</p>\n", v->sanitizer);
}

void page_verified(const struct view *v, struct arena *a, struct str *out)
{
    size_t n;
    const char *const *limits = words_limits(v, a, &n);

    str_add(
        out,
        "<section id=\"verified\" aria-labelledby=\"verified-h\">\n<h2 id=\"verified-h\">What was verified</h2>\n");
    add_domain(v, out);
    if (v->result) {
        add_cases(v, out);
        add_errors(v, a, out);
        add_mutation(v, out);
        add_hidden(v, out);
    }
    str_add(out, "<h3>Known limits</h3>\n<ul>\n");
    for (size_t i = 0; i < n; i++)
        html_addf(out, "<li>%s</li>\n", limits[i]);
    str_add(out, "</ul>\n</section>\n");
}
