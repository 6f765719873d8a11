/* How close to what the device can do: three workloads' versions from the original to the best under its roofs.
 */
#include "report/page.h"

#include "report/chart.h"
#include "report/svg.h"
#include "report/words.h"

enum { MAX_PATHS = 3, MAX_ROOFS = 6 };

struct roofline {
    struct chart_roof roofs[MAX_ROOFS];
    struct chart_path paths[MAX_PATHS];
    size_t n_roofs, n_paths;
    double dram_per_s, peak_per_s; /* peak: the highest of the roofs */
};

/* Cold, where the DRAM's roof means something. */
static const struct trial_time *time_of(const struct view_candidate *c, size_t workload)
{
    return workload < c->trial.n_workloads ? &c->trial.workloads[workload].times[REGIME_COLD] : NULL;
}

/* By the bytes that must move. */
static size_t *by_size(const struct view *v, struct arena *a, size_t *n)
{
    const struct view_candidate *original = &v->candidates[0];
    size_t *order = arena_array(a, size_t, original->trial.n_workloads);

    *n = original->trial.n_workloads;
    for (size_t i = 0; i < *n; i++) {
        size_t at = i;
        double bytes = time_of(original, i)->compulsory_bytes;
        for (; at > 0 && time_of(original, order[at - 1])->compulsory_bytes > bytes; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

static void add_path(const struct view *v, struct arena *a, size_t workload, const char *which,
                     struct roofline *r)
{
    struct chart_point *points = arena_array(a, struct chart_point, v->n_candidates);
    struct chart_path *path = &r->paths[r->n_paths++];

    *path = (struct chart_path){.label = arena_printf(a, "%s: %s", which, v->workloads[workload].dims),
                                .points = points};
    for (size_t i = 0; i < v->n_candidates; i++) {
        const struct view_candidate *c = &v->candidates[i];
        const struct trial_time *t = time_of(c, workload);
        if (c->in_lineage && t)
            points[path->n++] =
                (struct chart_point){(int)i, t->flops / t->dram_bytes, t->flops / (t->us * 1e-6)};
    }
}

static void add_roof(struct roofline *r, const char *name, double per_s, bool bytes)
{
    r->roofs[r->n_roofs++] = (struct chart_roof){name, per_s, bytes};
    if (!bytes)
        r->peak_per_s = fmax(r->peak_per_s, per_s);
}

static bool has_doubles(const struct view *v)
{
    for (size_t i = 0; v->task && i < v->task->n_args; i++)
        if (v->task->args[i].type == KT_F64)
            return true;
    return false;
}

static bool uses_tensor_cores(const struct view *v)
{
    for (size_t i = 0; i < v->n_candidates; i++)
        if (v->candidates[i].in_lineage && strstr(v->candidates[i].row.text, "mma"))
            return true;
    return false;
}

static void add_roofs(const struct view *v, struct roofline *r)
{
    const struct trial_peaks *peaks = &v->device->peaks;

    r->dram_per_s = peaks->dram_bytes;
    add_roof(r, "DRAM", r->dram_per_s, true);
    add_roof(r, "L2", peaks->l2_bytes, true);
    if (has_doubles(v))
        add_roof(r, "FP64", peaks->fp64, false);
    add_roof(r, "FP32", peaks->fp32, false);
    add_roof(r, "FP16", peaks->fp16, false);
    if (uses_tensor_cores(v))
        add_roof(r, "FP16 tensor", peaks->tensor_fp16, false);
}

static void add_point(const struct roofline *r, const struct chart_point *x, struct arena *a, struct table *t)
{
    double roof = fmin(r->peak_per_s, x->intensity * r->dram_per_s);

    table_row(t, words_parent(a, x->candidate));
    if (!isfinite(x->intensity) || !isfinite(x->per_s)) {
        table_text(t, NULL);
        return;
    }
    table_text(t, arena_strdup(a, svg_number(x->intensity).text));
    table_text(t, arena_strdup(a, svg_si(x->per_s, "").text));
    table_text(t, arena_printf(a, "%s %%", svg_number(100 * x->per_s / roof).text));
}

static void add_figures(const struct roofline *r, struct arena *a, struct str *out)
{
    struct table *t = table_new(a, "The same in figures");

    table_columns(t, "version|op/byte#|op/s#|of its roof#");
    for (size_t k = 0; k < r->n_paths; k++) {
        table_group(t, r->paths[k].label);
        for (size_t i = 0; i < r->paths[k].n; i++)
            add_point(r, &r->paths[k].points[i], a, t);
    }
    table_as_html(t, out);
}

static void add_basis(const struct view *v, struct str *out)
{
    html_addf(
        out,
        "<p>Each workload goes from the original (hollow) by the versions in the lineage of the best. Up is more "
        "operations a second, right is fewer bytes for each. Under a slope memory is the limit, under a "
        "level line arithmetic. The roofs are those of %s. Operations are counted by the simulator, bytes "
        "are %s, times %s; inputs come from DRAM.</p>\n",
        v->device->model_name,
        v->best && v->best->trial.counters ? "counted on the GPU where its profiler looked, else modelled"
                                           : "modelled",
        v->measured ? "measured" : "modelled");
    if (v->measured && v->device && !v->device->same_model)
        html_addf(out, "<p>That is the nearest GPU there is a model of: it was measured on %s.</p>\n",
                  v->device->name);
}

/* The most operations of a point; NAN: none is known. */
static double most_operations(const struct roofline *r)
{
    double most = NAN;

    for (size_t k = 0; k < r->n_paths; k++)
        for (size_t i = 0; i < r->paths[k].n; i++)
            most = fmax(most, r->paths[k].points[i].per_s);
    return most;
}

static void add_paths(const struct view *v, struct arena *a, struct roofline *r)
{
    size_t n, *order = by_size(v, a, &n);

    n = MIN(n, v->n_workloads);
    if (n > 0)
        add_path(v, a, order[n - 1], n > 1 ? "largest" : "workload", r);
    if (n > 2)
        add_path(v, a, order[n / 2], "median", r);
    if (n > 1)
        add_path(v, a, order[0], "smallest", r);
}

void page_roofline(const struct view *v, struct arena *a, struct str *out)
{
    struct roofline r = {.peak_per_s = NAN};
    double most;

    page_section(out, "roofline", "Roofline");
    if (v->device && v->device->model_name && v->n_candidates)
        add_paths(v, a, &r);
    most = most_operations(&r);
    if (most > 0) {
        add_roofs(v, &r);
        add_basis(v, out);
        str_add(out, "<div class=\"figures\">\n<figure>\n");
        chart_roofline(out, "roofline-chart", r.roofs, r.n_roofs, r.paths, r.n_paths);
        str_add(out, "</figure>\n");
        add_figures(&r, a, out);
        str_add(out, "</div>\n");
    } else {
        html_addf(
            out, "<p>%s</p>\n",
            isnan(most)
                ? "No version has both a cold time and counted operations: the task scores hot, the simulator "
                  "did not time the workloads, or another version of Astra made the run."
                : "This kernel makes no floating-point operations, so there is no roofline. How close it "
                  "is to what memory allows, the share of the copy's speed says.");
    }
    str_add(out, "</section>\n");
}
