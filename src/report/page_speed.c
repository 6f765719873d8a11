/* How fast: the workloads in both regimes, and how close to the machine's limits. */
#include "report/page.h"

#include "report/chart.h"
#include "report/words.h"

static void add_number(struct str *out, const char *fmt, double x)
{
    str_add(out, "<td class=\"n\">");
    if (isfinite(x))
        str_addf(out, fmt, x);
    else
        str_add(out, "<span class=\"none\">not known</span>");
    str_add(out, "</td>");
}

static void add_interval(struct str *out, double low, double high)
{
    if (isfinite(low) && isfinite(high))
        str_addf(out, "<td class=\"n\">%.3f to %.3f</td>", low, high);
    else
        str_add(out, "<td class=\"n\"><span class=\"none\">none</span></td>");
}

static void add_row(const struct view *v, const struct view_workload *w, bool hot, struct str *out)
{
    const struct view_time *t = hot ? &w->hot : &w->cold;

    html_addf(out, "<tr><th scope=\"row\">%s</th>", w->dims);
    add_number(out, "%.2f", t->base_us);
    add_number(out, "%.2f", t->best_us);
    add_number(out, "%.2f", t->speedup);
    if (v->measured)
        add_interval(out, t->low, t->high);
    add_number(out, "%.0f %%", 100 * t->light_us / t->best_us);
    html_addf(out, "<td>%s</td></tr>\n", t->bound_by ? t->bound_by : "-");
}

static void add_table(const struct view *v, bool hot, struct str *out)
{
    const json_t *speedup = json_object_get(v->result, "speedup");

    page_table_begin(out, hot ? "Hot: what fits stays in the L2" : "Cold: inputs come from DRAM");
    str_addf(
        out,
        "<thead><tr><th scope=\"col\">Workload</th><th scope=\"col\" class=\"n\">Original, µs</th>"
        "<th scope=\"col\" class=\"n\">Best, µs</th><th scope=\"col\" class=\"n\">Speed-up</th>%s"
        "<th scope=\"col\" class=\"n\">Of the copy</th><th scope=\"col\">Bound by</th></tr></thead>\n<tbody>\n",
        v->measured ? "<th scope=\"col\" class=\"n\">95 % interval</th>" : "");
    for (size_t i = 0; i < v->n_workloads; i++)
        add_row(v, &v->workloads[i], hot, out);
    str_add(out, "</tbody>\n");
    if (hot == v->hot) {
        str_add(out, "<tfoot><tr><th scope=\"row\">Geometric mean</th><td></td><td></td>");
        add_number(out, "%.2f", json_num(speedup, "geomean"));
        if (v->measured)
            add_interval(out, json_num(speedup, "low"), json_num(speedup, "high"));
        str_add(out, "<td></td><td></td></tr></tfoot>\n");
    }
    page_table_end(out);
}

static void add_basis(const struct view *v, struct str *out)
{
    const json_t *noise = json_object_get(v->result, "noise");

    html_addf(
        out,
        "<p>Times of the whole launcher, %s %s. The task scores %s; the other regime stands beside it. The copy "
        "moves the bytes that must move at this size and nothing else: a yardstick, not a bound.",
        v->measured ? "measured on" : "modelled for", v->device ? v->device->name : "an unknown device",
        words_regime(v->hot));
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
        const struct view_time *t = v->hot ? &w->hot : &w->cold;
        speedups[i] = (struct chart_row){
            w->dims, {w->cold.speedup, w->cold.low, w->cold.high}, {w->hot.speedup, w->hot.low, w->hot.high}};
        shares[i] = (struct chart_row){
            w->dims, {t->light_us / t->base_us, NAN, NAN}, {t->light_us / t->best_us, NAN, NAN}};
    }
    str_add(out, "<div class=\"figures\">\n<figure>\n");
    chart_speedups(out, "speedups", speedups, v->n_workloads);
    str_addf(out, "<figcaption>Speed-up over the original%s.</figcaption>\n</figure>\n<figure>\n",
             v->measured ? ", with the 95 % interval where it is wider than the mark" : "");
    chart_shares(out, "shares", shares, v->n_workloads);
    str_addf(out, "<figcaption>Share of the plain copy's speed, %s.</figcaption>\n</figure>\n</div>\n",
             v->hot ? "hot" : "cold");
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
        add_table(v, v->hot, out);
        str_add(out, "<details>\n<summary><span class=\"name\">The other regime in figures</span></summary>\n");
        add_table(v, !v->hot, out);
        str_add(out, "</details>\n");
    }
    str_add(out, "</section>\n");
}
