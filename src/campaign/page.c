/* A campaign's rows as a table, as words and as a page. */
#include "campaign/campaign.h"

#include "report/page.h"
#include "report/report.h"

/* The time of the application that the kernel saves, of the whole before. */
static double saved(const json_t *row)
{
    double s = json_num(row, "speedup");

    return json_num(row, "share") * (isfinite(s) && s > 1 ? 1 - 1 / s : 0);
}

static int by_saved(const void *x, const void *y)
{
    const json_t *const *a = x, *const *b = y;
    double d = saved(*b) - saved(*a);

    if (d != 0)
        return d > 0 ? 1 : -1;
    return strcmp(json_text(*a, "name", ""), json_text(*b, "name", ""));
}

static const char *became(struct arena *a, const json_t *row)
{
    const char *status = json_text(row, "status", "?"), *words = json_text(row, "words", NULL);

    if (words)
        return arena_printf(a, "failed: %s", report_one_line(a, words, 60));
    if (str_eq(status, "budget"))
        return "its part of the budget is spent";
    if (!str_eq(status, "done"))
        return status;
    return json_text(row, "outcome", "unchanged");
}

struct table *campaign_table(struct arena *a, const json_t *result)
{
    const json_t *list = json_object_get(result, "kernels"), *row;
    size_t n = json_array_size(list), i;
    const json_t **rows = arena_array(a, const json_t *, n + 1);
    struct table *t = table_new(a, "Kernels, the most time saved first");

    json_array_foreach(list, i, row) rows[i] = row;
    qsort(rows, n, sizeof(*rows), by_saved);
    table_columns(t,
                  "kernel|of the time#|speed-up#|95 % interval#|saves#|of the copy#|took#|what became of it");
    for (i = 0; i < n; i++) {
        const char *run = json_text(rows[i], "run", "");
        table_row(t, NULL);
        if (isfinite(json_num(rows[i], "speedup")))
            table_link(t, json_text(rows[i], "name", "?"), arena_printf(a, "%s/report.html", run));
        else
            table_text(t, json_text(rows[i], "name", "?"));
        double share = json_num(rows[i], "share");
        table_num(t, share > 0 ? 100 * share : NAN, 1, " %");
        table_num(t, json_num(rows[i], "speedup"), 2, "x");
        table_interval(t, json_num(rows[i], "low"), json_num(rows[i], "high"));
        table_num(t, 100 * saved(rows[i]), 1, " %");
        table_num(t, 100 * json_num(rows[i], "share_of_copy"), 0, " %");
        table_num(t, json_num(rows[i], "wall_s"), 0, " s");
        table_text(t, became(a, rows[i]));
    }
    return t;
}

char *campaign_words(struct arena *a, const json_t *result)
{
    const json_t *list = json_object_get(result, "kernels"), *speedup = json_object_get(result, "speedup"),
                 *row;
    size_t i, improved = 0, failed = 0, open = 0, measured = 0;
    bool said = false;
    double known = 0;
    struct str s = {.arena = a};

    json_array_foreach(list, i, row)
    {
        const char *status = json_text(row, "status", "");
        improved += str_eq(json_text(row, "outcome", ""), "improved");
        failed += str_eq(status, "failed");
        open += !str_eq(status, "done") && !str_eq(status, "failed");
        measured += str_eq(json_text(row, "basis", ""), "measured");
        said = said || json_flag(row, "said", false);
        known += json_num(row, "share");
    }
    str_addf(&s, "%zu of %zu kernels are faster", improved, json_array_size(list));
    if (failed)
        str_addf(&s, ", %zu failed", failed);
    if (open)
        str_addf(&s, ", %zu are not at their end", open);
    str_addf(&s, ". %s: %.3fx %s",
             said ? "The application, where the list's shares hold" : "All of them, if each took the same time",
             json_num(speedup, "application"), measured ? "measured" : "modelled");
    if (said && known < 0.9995)
        str_addf(&s, "; they are %.3g %% of its time", 100 * known);
    str_add(&s, ". Kernel by kernel, not the application, was timed.");
    return str_take(&s, a);
}

void campaign_text(struct arena *a, const json_t *result, struct str *out)
{
    str_addf(out, "%s\n\n", campaign_words(a, result));
    table_as_text(campaign_table(a, result), out);
    str_addf(out, "\n%s/report.html has them with a page each\n", json_text(result, "out", "."));
}

void campaign_page(struct arena *a, const json_t *result, struct str *out)
{
    struct str body = {.arena = a};
    size_t i;
    const json_t *word;

    page_section(&body, "verdict", "Verdict");
    html_addf(&body, "<p class=\"headline\">%s</p>\n</section>\n", campaign_words(a, result));
    page_section(&body, "kernels", "Kernels");
    table_as_html(campaign_table(a, result), &body);
    str_add(&body, "</section>\n");
    page_section(&body, "repeat", "How to go on");
    html_addf(&body, "<pre><code>astra resume %s</code></pre>\n<p>Options of each run:",
              arena_shell(a, json_text(result, "out", ".")));
    json_array_foreach(json_object_get(result, "options"), i, word)
        html_addf(&body, " <code>%s</code>", json_string_value(word));
    str_add(&body, "</p>\n</section>\n");
    page_frame(arena_printf(a, "%zu kernels", json_array_size(json_object_get(result, "kernels"))),
               json_text(result, "astra", ASTRA_VERSION), str_text(&body), a, out);
}
