/* How far answers were from the exact ones, as tables: of the `errors` of a result. */
#include "report/report.h"

static void add_three(struct str *out, const json_t *x)
{
    static const char *const names[] = {"p50", "p99", "max"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        double v = json_num(x, names[i]);
        if (isfinite(v))
            str_addf(out, " %7.*f", v < 1000 ? 2 : 0, v);
        else
            str_addf(out, " %7s", "-");
    }
}

/* Shares of all of an output's elements, whatever the values. */
static void add_histogram(struct str *out, const json_t *errors, const char *output, const char *of, int width)
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
    str_addf(out, "%-*s", width, str_eq(of, "original") ? "  original" : "  this version");
    for (size_t k = 0; k < TRIAL_BUCKETS; k++)
        if (counts[k] > 0)
            str_addf(out, " %8.2f%%", 100 * counts[k] / sum);
        else
            str_addf(out, " %9s", "-");
    str_addc(out, '\n');
}

static bool first_of_output(const json_t *errors, size_t i)
{
    const char *output = json_text(json_array_get(errors, i), "output", "");

    for (size_t k = 0; k < i; k++)
        if (str_eq(json_text(json_array_get(errors, k), "output", ""), output))
            return false;
    return true;
}

void report_derived(double shadow_lost, const char *why, struct str *out)
{
    const double most = 0.01;

    if (shadow_lost > most) /* false for NAN: there is a reference */
        str_addf(out, "%.1f %% of the exact answers could not be derived%s%s: write a reference.cu in double\n",
                 100 * shadow_lost, why ? ": " : "", why ? why : "");
}

static int label(const json_t *x, char *buf, size_t size)
{
    return snprintf(buf, size, "%s, %s", json_text(x, "output", ""), json_text(x, "values", ""));
}

void report_errors(const json_t *errors, bool original_only, struct str *out)
{
    const json_t *x;
    char text[160];
    int width = 20;
    size_t i;

    if (json_array_size(errors) == 0)
        return;
    json_array_foreach(errors, i, x) width = MAX(width, MIN(label(x, text, sizeof(text)), 60));
    str_addf(out, "%-*s %23s", width, "errors in ulps", "original p50, p99, max");
    if (!original_only)
        str_addf(out, " %23s", "this version");
    str_addf(out, " %23s\n", "allowed");
    json_array_foreach(errors, i, x)
    {
        label(x, text, sizeof(text));
        str_addf(out, "%-*s", width, text);
        add_three(out, json_object_get(x, "original"));
        if (!original_only)
            add_three(out, json_object_get(x, "candidate"));
        add_three(out, json_object_get(x, "allowed"));
        str_addc(out, '\n');
    }
    str_addf(out, "%-*s", width, "share of elements");
    for (size_t k = 0; k < TRIAL_BUCKETS; k++) {
        char edge[32];
        bool last = k + 1 == TRIAL_BUCKETS;
        snprintf(edge, sizeof(edge),
                 k == 0 ? "exact"
                 : last ? "> %g"
                        : "<= %g",
                 trial_ulp_edges[last ? k - 1 : k]);
        str_addf(out, " %9s", edge);
    }
    str_addc(out, '\n');
    json_array_foreach(errors, i, x)
    {
        if (!first_of_output(errors, i))
            continue;
        str_addf(out, "%s\n", json_text(x, "output", ""));
        add_histogram(out, errors, json_text(x, "output", ""), "original", width);
        if (!original_only)
            add_histogram(out, errors, json_text(x, "output", ""), "candidate", width);
    }
}
