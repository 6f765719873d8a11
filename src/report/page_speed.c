/* How fast: the workloads in both regimes, and how close to the machine's limits. */
#include "report/page.h"

#include "report/chart.h"
#include "report/words.h"

static void add_basis(const struct view *v, struct str *out)
{
    const json_t *noise = json_object_get(v->result, "noise");

    html_addf(
        out,
        "<p>Times of the whole launcher, %s %s. The task scores %s; the other regime stands beside it. The copy "
        "moves the bytes that must move at this size and nothing else: a yardstick, not a bound.",
        v->measured ? "measured on" : "modelled for", v->device ? v->device->name : "an unknown device",
        words_regime(v->regime));
    if (v->measured && isfinite(json_num(noise, "low")))
        html_addf(out, " The original against itself, the noise: %.4f to %.4f.", json_num(noise, "low"),
                  json_num(noise, "high"));
    str_add(out, v->measured ? " What bounds a version is modelled.</p>\n" : "</p>\n");
}

static void add_charts(const struct view *v, struct arena *a, struct str *out)
{
    struct chart_row *speedups = arena_array(a, struct chart_row, v->n_workloads),
                     *shares = arena_array(a, struct chart_row, v->n_workloads);

    for (size_t i = 0; i < v->n_workloads; i++) {
        const struct view_workload *w = &v->workloads[i];
        const struct trial_time *t = &w->times[v->regime];
        speedups[i] = (struct chart_row){
            w->dims,
            {w->times[REGIME_COLD].speedup, w->times[REGIME_COLD].low, w->times[REGIME_COLD].high},
            {w->times[REGIME_HOT].speedup, w->times[REGIME_HOT].low, w->times[REGIME_HOT].high}};
        shares[i] =
            (struct chart_row){w->dims, {t->light_us / t->base_us, NAN, NAN}, {t->light_us / t->us, NAN, NAN}};
    }
    str_add(out, "<div class=\"figures\">\n<figure>\n");
    chart_speedups(out, "speedups", speedups, v->n_workloads);
    str_addf(out, "<figcaption>Speed-up over the original%s.</figcaption>\n</figure>\n<figure>\n",
             v->measured ? ", with the 95 % interval where it is wider than the mark" : "");
    chart_shares(out, "shares", shares, v->n_workloads);
    str_addf(out, "<figcaption>Share of the plain copy's speed, %s.</figcaption>\n</figure>\n</div>\n",
             regime_name(v->regime));
}

void page_speed(const struct view *v, struct arena *a, struct str *out)
{
    str_add(out,
            "<section id=\"speed\" aria-labelledby=\"speed-h\">\n<h2 id=\"speed-h\">Speed by workload</h2>\n");
    if (v->n_workloads == 0) {
        str_add(out, "<p>No workload was timed.</p>\n");
    } else {
        add_basis(v, out);
        add_charts(v, a, out);
        table_as_html(report_workload_table(a, v->result, false), out);
        str_add(out, "<details>\n<summary><span class=\"name\">The other regime in figures</span></summary>\n");
        table_as_html(report_workload_table(a, v->result, true), out);
        str_add(out, "</details>\n");
    }
    str_add(out, "</section>\n");
}
