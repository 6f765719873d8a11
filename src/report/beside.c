/* What a library does beside a version: rows of `beside` in a result, as a table and as lines. */
#include "report.h"

void report_add_beside(json_t *list, const struct trial *t, const char *version)
{
    for (size_t i = 0; i < t->n_beside; i++) {
        const struct trial_beside *b = &t->beside[i];
        json_t *o = json_object(), *dims = json_object();
        for (size_t k = 0; b->workload < t->n_workloads && k < t->n_dims; k++)
            json_put_int(dims, t->dim_names[k], t->workloads[b->workload].dims[k]);
        json_put_text(o, "library", b->library);
        json_put_text(o, "version", version);
        json_put(o, "dims", dims);
        json_put_text(o, "regime", b->regime);
        json_put_num(o, "us", b->us);
        json_put_num(o, "version_us", b->version_us);
        json_put_num(o, "share", b->share);
        json_put_num(o, "low", b->low);
        json_put_num(o, "high", b->high);
        if (b->words && *b->words)
            json_put_text(o, "words", b->words);
        json_array_append_new(list, o);
    }
}

struct table *report_beside_table(struct arena *a, const json_t *result)
{
    const json_t *list = json_object_get(result, "beside"), *o;
    struct table *t = table_new(a, "Beside a library: its time, and the version's speed as a share of its");
    size_t i;

    if (json_array_size(list) == 0)
        return NULL;
    table_columns(t, "workload|regime|library|its time#us|version|its time#us|share#|95 % interval#|note");
    json_array_foreach(list, i, o)
    {
        table_row(t, report_dims(a, o));
        table_text(t, json_text(o, "regime", NULL));
        table_text(t, json_text(o, "library", NULL));
        table_num(t, json_num(o, "us"), 2, "");
        table_text(t, json_text(o, "version", NULL));
        table_num(t, json_num(o, "version_us"), 2, "");
        table_num(t, 100 * json_num(o, "share"), 1, " %");
        table_text(t,
                   isfinite(json_num(o, "low"))
                       ? arena_printf(a, "%.1f to %.1f %%", 100 * json_num(o, "low"), 100 * json_num(o, "high"))
                       : NULL);
        table_text(t, json_text(o, "words", ""));
    }
    return t;
}

/* The original's row beside that of a version. */
static const json_t *original_of(const json_t *list, const json_t *row)
{
    size_t i;
    const json_t *o;

    json_array_foreach(list, i,
                       o) if (str_eq(json_text(o, "version", ""), "original") &&
                              str_eq(json_text(o, "regime", ""), json_text(row, "regime", "")) &&
                              json_equal(json_object_get(o, "dims"), json_object_get(row, "dims"))) return o;
    return NULL;
}

static void add_line(struct arena *a, const json_t *list, const json_t *o, struct str *out)
{
    const char *words = json_text(o, "words", NULL);
    const json_t *original = original_of(list, o);
    double share = json_num(o, "share"), low = json_num(o, "low"), first = NAN;

    if (original && original != o)
        first = json_num(original, "share");
    str_addf(out, "%s, %s: beside %s", report_dims(a, o), json_text(o, "regime", "?"),
             json_text(o, "library", "?"));
    if (!isfinite(json_num(o, "us"))) {
        str_addf(out, ": no figure: %s\n", words ? words : "it was not timed");
        return;
    }
    str_addf(out, " %.2f us: this version has %.3g %% of its speed", json_num(o, "us"), 100 * share);
    if (isfinite(low))
        str_addf(out, " (%.3g to %.3g)", 100 * low, 100 * json_num(o, "high"));
    if (isfinite(first))
        str_addf(out, ", the original %.3g %%", 100 * first);
    str_addf(out, "%s%s\n", words ? "; " : "", words ? words : "");
}

void report_beside(const json_t *result, enum regime regime, struct str *out)
{
    const json_t *list = json_object_get(result, "beside"), *o;
    const char *shown = regime_name(regime == REGIME_HOT ? REGIME_HOT : REGIME_COLD), *version = NULL;
    struct arena *a = arena_open();
    size_t i;

    /* The last rows are the version's, those of the original are before them. */
    if (json_array_size(list))
        version = json_text(json_array_get(list, json_array_size(list) - 1), "version", "");
    json_array_foreach(list, i, o)
    {
        if (str_eq(json_text(o, "version", ""), version) && str_eq(json_text(o, "regime", ""), shown))
            add_line(a, list, o, out);
    }
    arena_close(a);
}
