/* The verdict: one sentence, what must be known beside it, and the figures in short. */
#include "report/page.h"

#include "report/words.h"

static void add_fact(struct str *out, const char *name, const char *value, const char *note)
{
    html_addf(out, "<div><dt>%s</dt><dd>%s", name, value);
    if (*note)
        html_addf(out, "<small>%s</small>", note);
    str_add(out, "</dd></div>\n");
}

static void add_copy(const struct view *v, struct arena *a, struct str *out)
{
    double low, high;

    words_copy(v, v->regime, &low, &high);
    if (isfinite(low))
        add_fact(out, "Of a copy's speed",
                 lround(100 * low) == lround(100 * high)
                     ? arena_printf(a, "%.0f\u00a0%%", 100 * low)
                     : arena_printf(a, "%.0f to %.0f\u00a0%%", 100 * low, 100 * high),
                 "a yardstick, not a bound");
}

static void add_cost(const struct view *v, struct arena *a, struct str *out)
{
    const json_t *cost = json_object_get(v->result, "cost");
    long long calls = json_int(cost, "calls", 0), in = json_int(cost, "tokens_in", 0),
              out_tokens = json_int(cost, "tokens_out", 0);
    double usd = json_num(cost, "usd");

    if (calls == 0)
        add_fact(out, "Backend", "rules", "no model was called");
    else
        add_fact(out, "Models", isfinite(usd) ? arena_printf(a, "%.2f USD", usd) : "price unknown",
                 arena_printf(a, "%lld call%s, %lld tokens", calls, calls == 1 ? "" : "s", in + out_tokens));
}

static void add_facts(const struct view *v, struct arena *a, struct str *out)
{
    const json_t *o = json_object_get(v->result, "verification"),
                 *tried = json_object_get(v->result, "candidates");
    long long hidden = json_int(o, "hidden", 0), total = json_int(tried, "total", 0);
    double error = json_num(o, "max_error"), allowed = json_num(o, "allowed_error");
    const char *none_hidden = v->best->row.id ? "no hidden ones yet" : "";

    str_add(out, "<dl class=\"facts\">\n");
    add_copy(v, a, out);
    add_fact(out, "Verified on", arena_printf(a, "%lld cases", json_count(o, "cases")),
             hidden ? arena_printf(a, "and %lld hidden ones", hidden) : none_hidden);
    if (report_identical(o))
        add_fact(out, "Answers", "bit-identical", "to the original's, on every case");
    else if (isfinite(error))
        add_fact(out, "Largest error", arena_printf(a, "%.2f ulp", error),
                 isfinite(allowed) ? arena_printf(a, "%.2f allowed", allowed) : "");
    add_fact(out, "Candidates", arena_printf(a, "%lld", total),
             arena_printf(a, "%lld passed, in %d round%s", json_count(tried, "passed"), v->rounds,
                          v->rounds == 1 ? "" : "s"));
    add_cost(v, a, out);
    if (v->run.wall_s > 0) /* it is known when the run ends */
        add_fact(out, "Run time", words_seconds(a, v->run.wall_s), "");
    str_add(out, "</dl>\n");
}

void page_verdict(const struct view *v, struct arena *a, struct str *out)
{
    size_t n;
    const char *const *caveats = words_caveats(v, a, &n);

    page_section(out, "verdict", "Verdict");
    html_addf(out, "<p class=\"headline\">%s", words_headline(v, a));
    if (v->result)
        html_addf(out, " <span class=\"basis\">%s</span>", v->measured ? "measured" : "modelled");
    html_addf(out, "</p>\n<p class=\"lead\">%s</p>\n", words_verdict(v, a));
    for (size_t i = 0; i < n; i++)
        html_addf(out, "<p class=\"caveat\">%s</p>\n", caveats[i]);
    if (v->result)
        add_facts(v, a, out);
    str_add(out, "</section>\n");
}
