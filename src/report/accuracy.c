/* How far answers were from the exact ones, as tables: of the `errors` of a result. */
#include "report/report.h"

static void add_three(struct table *t, const json_t *x)
{
    static const char *const names[] = {"p50", "p99", "max"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        double v = json_num(x, names[i]);
        table_num(t, v, v > 0 && v < 1000 ? 2 : 0, "");
    }
}

struct table *report_error_table(struct arena *a, const json_t *errors, bool original_only)
{
    static const char *const names[] = {"original", "candidate", "allowed"};
    struct table *t = table_new(a, "Errors in ulp: the median, the 99th percentile, the largest");
    const json_t *x;
    size_t i;

    table_column(t, "errors in ulps", NULL);
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        if (k == 1 && original_only)
            continue;
        table_columns(t, "p50#|p99#|max#");
        table_over(t, k == 1 ? "this version" : names[k], 3);
    }
    json_array_foreach(errors, i, x)
    {
        table_row(t, arena_printf(a, "%s, %s", json_text(x, "output", ""), json_text(x, "values", "")));
        for (size_t k = 0; k < ARRAY_LEN(names); k++)
            if (k != 1 || !original_only)
                add_three(t, json_object_get(x, names[k]));
    }
    return t;
}

/* Shares of all of an output's elements, whatever the values. */
static void add_histogram(struct table *t, const json_t *errors, const char *output, const char *of)
{
    const json_t *x;
    double counts[TRIAL_BUCKETS] = {0}, sum = 0;
    size_t i;

    json_array_foreach(errors, i, x)
    {
        const json_t *histogram = json_object_get(json_object_get(x, of), "histogram");
        for (size_t k = 0; k < TRIAL_BUCKETS && str_eq(json_text(x, "output", ""), output); k++) {
            counts[k] += json_number_value(json_array_get(histogram, k));
            sum += json_number_value(json_array_get(histogram, k));
        }
    }
    table_row(t, str_eq(of, "original") ? "  original" : "  this version");
    for (size_t k = 0; k < TRIAL_BUCKETS; k++)
        table_num(t, counts[k] > 0 ? 100 * counts[k] / sum : NAN, 2, "%");
}

static bool first_of_output(const json_t *errors, size_t i)
{
    const char *output = json_text(json_array_get(errors, i), "output", "");

    for (size_t k = 0; k < i; k++)
        if (str_eq(json_text(json_array_get(errors, k), "output", ""), output))
            return false;
    return true;
}

bool report_identical(const json_t *v)
{
    return json_int(v, "elements", 0) > 0 &&
           json_int(v, "identical_cases", 0) == json_int(v, "cases", 0) + json_int(v, "hidden", 0);
}

bool report_far_within(const json_t *v)
{
    const json_t *errors = json_object_get(v, "errors"), *x;
    size_t i;

    if (report_identical(v))
        return true;
    json_array_foreach(errors, i, x)
    {
        double most = json_num(json_object_get(x, "candidate"), "max"),
               allowed = json_num(json_object_get(x, "allowed"), "max");
        if (!(2 * most <= allowed)) /* true for what is no number */
            return false;
    }
    return true;
}

/* Elements beyond the largest error allowed that an exception of the rule lets pass. */
static int64_t excused(const json_t *v)
{
    const json_t *x;
    int64_t n = 0;
    size_t i;

    json_array_foreach(json_object_get(v, "errors"), i, x) n += json_int(x, "excused", 0);
    return n;
}

void report_shipped(const json_t *v, struct str *out)
{
    const char *words = json_text(json_object_get(v, "confirmation"), "words", NULL);

    if (words && *words)
        str_addf(out, "The compiled file: %s.\n", words);
}

/* Who moved a rounding, and by how much; "" where nobody is known to have. */
static const char *roundings(struct arena *a, const json_t *v)
{
    const json_t *list = json_object_get(v, "roundings"), *x;
    struct str s = {.arena = a};
    size_t i;

    json_array_foreach(list, i, x)
    {
        double apart = json_num(x, "apart_ulp");
        str_addf(&s, "%s`%s` moved roundings", i ? ", " : "; ", json_text(x, "step", "?"));
        if (apart > 0)
            str_addf(&s, ", by then at most %.3g ulp off the original's answer", apart);
    }
    return str_text(&s);
}

const char *report_exactness(struct arena *a, const json_t *v)
{
    const char *unit = str_eq(json_text(v, "unit", "ulp"), "term") ? "roundings of a sum's terms" : "ulp";
    double error = json_num(v, "max_error");
    int64_t cases = json_int(v, "cases", 0) + json_int(v, "hidden", 0), elements = json_int(v, "elements", 0),
            same = json_int(v, "identical_elements", 0);
    const char *errors =
        isfinite(error) ? arena_printf(a, "largest error %.2f %s (the original's own %.2f, allowed %.2f)",
                                       error, unit, json_num(v, "original_error"), json_num(v, "allowed_error"))
                        : "what differs are integers that the original's own rounding can make others";

    if (excused(v))
        errors = arena_printf(a, "%s; %lld elements beyond that, by an exception of docs/integrity.md", errors,
                              (long long)excused(v));
    if (elements == 0) /* an older result, or nothing to compare */
        return isfinite(error) ? errors : "outputs equal to the original's";
    if (report_identical(v))
        return arena_printf(a, "bit-identical to the original on all %lld cases (%lld elements)",
                            (long long)cases, (long long)elements);
    return arena_printf(a, "bit-identical to the original in %lld of %lld elements (%.2f %%); %s%s",
                        (long long)same, (long long)elements, 100. * (double)same / (double)elements, errors,
                        roundings(a, v));
}

void report_derived(double shadow_lost, const char *why, struct str *out)
{
    const double most = 0.01;

    if (shadow_lost > most) /* false for NAN: there is a reference */
        str_addf(out, "%.1f %% of the exact answers could not be derived%s%s: write a reference.cu in double\n",
                 100 * shadow_lost, why ? ": " : "", why ? why : "");
}

static struct table *histogram_table(struct arena *a, const json_t *errors, bool original_only)
{
    struct table *t = table_new(a, "Share of elements by their error in ulp");
    const json_t *x;
    size_t i;

    table_columns(t, "share of elements|exact#");
    for (size_t k = 1; k + 1 < TRIAL_BUCKETS; k++)
        table_column(t, arena_printf(a, "<= %g", trial_ulp_edges[k]), "");
    table_column(t, arena_printf(a, "> %g", trial_ulp_edges[TRIAL_BUCKETS - 2]), "");
    json_array_foreach(errors, i, x)
    {
        const char *output = json_text(x, "output", "");
        if (!first_of_output(errors, i))
            continue;
        table_group(t, output);
        add_histogram(t, errors, output, "original");
        if (!original_only)
            add_histogram(t, errors, output, "candidate");
    }
    return t;
}

void report_errors(const json_t *errors, bool original_only, struct str *out)
{
    struct arena *a = arena_open();

    if (json_array_size(errors)) {
        table_as_text(report_error_table(a, errors, original_only), out);
        str_addc(out, '\n');
        table_as_text(histogram_table(a, errors, original_only), out);
    }
    arena_close(a);
}
