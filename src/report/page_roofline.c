/* How close to the machine's limits: the original, the best and every step between. */
#include "report/page.h"

#include "ptx/ptx.h"
#include "report/chart.h"

enum { MOST_PATHS = 3 }; /* as many as the chart draws */

/* Of the workloads those at the ends and in the middle, by the bytes that must move: for which the time of the
 * plain copy stands. */
static size_t choose(const struct view *v, size_t chosen[MOST_PATHS])
{
    size_t order[256], n = MIN(v->n_workloads, ARRAY_LEN(order)), n_chosen = MIN(n, MOST_PATHS);

    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && v->workloads[order[at - 1]].cold.light_us > v->workloads[i].cold.light_us; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (size_t k = 0; k < n_chosen; k++)
        chosen[k] = order[n_chosen > 1 ? k * (n - 1) / (n_chosen - 1) : 0];
    return n_chosen;
}

static struct chart_path path_of(const struct view *v, size_t workload, struct arena *a)
{
    struct chart_point *points = arena_array(a, struct chart_point, v->n_candidates);
    struct chart_path path = {.label = v->workloads[workload].dims, .points = points};

    for (size_t i = 0; i < v->n_candidates; i++) {
        const struct view_candidate *c = &v->candidates[i];
        if (!c->on_way || workload >= c->trial.n_workloads)
            continue;
        const struct trial_time *t = &c->trial.workloads[workload].cold;
        points[path.n++] = (struct chart_point){(int)i, t->flops / t->dram_bytes, t->flops / (t->us * 1e-6)};
    }
    return path;
}

void page_roofline(const struct view *v, struct arena *a, struct str *out)
{
    const struct ptx_device *d = v->device ? ptx_device_find(v->device->model) : NULL;
    struct chart_path paths[MOST_PATHS];
    size_t chosen[MOST_PATHS], n;

    str_add(out,
            "<section id=\"roofline\" aria-labelledby=\"roofline-h\">\n<h2 id=\"roofline-h\">Roofline</h2>\n");
    if (!d || v->n_workloads == 0) {
        str_add(out, "<p>Nothing was timed on a device whose limits are known.</p>\n</section>\n");
        return;
    }
    struct ptx_peaks peaks = ptx_device_peaks(d);
    const struct chart_roof roofs[] = {{"DRAM", d->dram_peak_gbs * 1e9, true},
                                       {"f32", peaks.fp32, false},
                                       {"tensor f16", peaks.tensor_fp16, false}};
    double most = NAN; /* operations a second */
    n = choose(v, chosen);
    for (size_t k = 0; k < n; k++) {
        paths[k] = path_of(v, chosen[k], a);
        for (size_t i = 0; i < paths[k].n; i++)
            most = fmax(most, paths[k].points[i].per_s);
    }
    if (!isfinite(most)) {
        str_add(
            out,
            "<p>No operations were counted: the simulator did not time the workloads, or another version of Astra "
            "made the run.</p>\n</section>\n");
        return;
    }
    html_addf(
        out,
        "<p>No kernel can be above the roof of %s: what its memory delivers, to the left, and what it can compute, to "
        "the right. A better version moves up; one that moves fewer bytes moves right.</p>\n<figure>\n",
        d->full_name);
    chart_roofline(out, "roof", roofs, most > peaks.fp32 ? 3 : 2, paths, n);
    html_addf(
        out,
        "<figcaption>The smallest, a middle and the largest workload, cold. Operations and bytes are counted on the "
        "simulator, times are %s.</figcaption>\n</figure>\n</section>\n",
        v->measured ? "measured" : "modelled");
}
