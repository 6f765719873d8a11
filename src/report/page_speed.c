/* How fast: the workloads in all regimes, and how close to the machine's limits. */
#include "report/page.h"

#include "report/chart.h"
#include "report/words.h"

static void add_basis(const struct view *v, struct str *out)
{
    const json_t *noise = json_object_get(v->result, "noise");

    html_addf(out,
              "<p>Times of the whole launcher, %s %s. The task scores %s; the others stand beside it. The copy "
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
    /* The one that scores, and the other; cold and hot stay in their order. */
    const enum regime shown[] = {regime_is_stream(v->regime) ? v->regime : REGIME_COLD,
                                 regime_is_stream(v->regime) ? REGIME_COLD : REGIME_HOT};
    const char *const names[] = {regime_name(shown[0]), regime_name(shown[1])};
    struct chart_row *speedups = arena_array(a, struct chart_row, v->n_workloads),
                     *shares = arena_array(a, struct chart_row, v->n_workloads);

    for (size_t i = 0; i < v->n_workloads; i++) {
        const struct view_workload *w = &v->workloads[i];
        const struct trial_time *t = &w->times[v->regime];
        speedups[i] =
            (struct chart_row){w->dims,
                               {w->times[shown[0]].speedup, w->times[shown[0]].low, w->times[shown[0]].high},
                               {w->times[shown[1]].speedup, w->times[shown[1]].low, w->times[shown[1]].high}};
        shares[i] =
            (struct chart_row){w->dims, {t->copy_us / t->base_us, NAN, NAN}, {t->copy_us / t->us, NAN, NAN}};
    }
    str_add(out, "<div class=\"figures\">\n<figure>\n");
    chart_speedups(out, "speedups", names, speedups, v->n_workloads);
    str_addf(out, "<figcaption>Speed-up over the original%s.</figcaption>\n</figure>\n<figure>\n",
             v->measured ? ", with the 95 % interval where it is wider than the mark" : "");
    chart_shares(out, "shares", shares, v->n_workloads);
    str_addf(out, "<figcaption>Share of the plain copy's speed, %s.</figcaption>\n</figure>\n</div>\n",
             regime_name(v->regime));
}

struct table *report_resource_table(const struct view *v, struct arena *a)
{
    const struct trial *sides[] = {&v->candidates[0].trial, &v->best->trial};
    const struct {
        const char *name;
        unsigned values[2];
    } rows[] = {
        {"registers a thread", {sides[0]->registers, sides[1]->registers}},
        {"bytes spilled a thread", {sides[0]->spill_bytes, sides[1]->spill_bytes}},
        {"shared memory a block, static bytes", {sides[0]->shared_bytes, sides[1]->shared_bytes}},
        {"shared memory a block, dynamic bytes",
         {sides[0]->dynamic_shared_bytes, sides[1]->dynamic_shared_bytes}},
    };
    size_t n = v->best->row.id ? 2 : 1;
    struct table *t =
        table_new(a, "Resources: the most over a version's kernels; occupancy over the workloads");

    table_columns(t, "resource|original#");
    if (n > 1)
        table_column(t, "best", "");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        table_row(t, rows[i].name);
        for (size_t k = 0; k < n; k++)
            table_int(t, rows[i].values[k]);
    }
    table_row(t, "occupancy");
    for (size_t k = 0; k < n; k++)
        table_text(t, words_occupancy(a, sides[k], v->regime));
    return t;
}

void page_speed(const struct view *v, struct arena *a, struct str *out)
{
    page_section(out, "speed", "Speed by workload");
    if (v->n_workloads == 0) {
        str_add(out, "<p>No workload was timed.</p>\n");
    } else {
        add_basis(v, out);
        add_charts(v, a, out);
        table_as_html(report_workload_table(a, v->result, v->regime), out);
        str_add(out,
                "<details>\n<summary><span class=\"name\">The other regimes in figures</span></summary>\n");
        for (enum regime regime = 0; regime < N_REGIMES; regime++)
            if (regime != v->regime && view_has(v, regime))
                table_as_html(report_workload_table(a, v->result, regime), out);
        str_add(out, "</details>\n");
        struct table *beside = report_beside_table(a, v->result);
        if (beside)
            table_as_html(beside, out);
        table_as_html(report_resource_table(v, a), out);
    }
    str_add(out, "</section>\n");
}
