/* Times that no hardware reaches: row 22 of docs/integrity.md. Whoever is faster than the memory could move the
 * task's bytes, or than the device could do the operations that the version was seen to do, is not measured
 * right or does not do the work. On the simulator the time is that of what was executed: there it is work left
 * out. In a stream a plan may do work while the kernel ahead runs: there the neighbours' time counts too. */
#include "../internal.h"

#define IMPOSSIBLE 0.9 /* of the time at the peak rate */

/* What the original itself does not fetch, rows of a table that no index names, need not be moved; nor what it
 * moves beside what it asks for. */
static double needed_bytes(const struct judge *j, size_t workload, const int64_t *dims)
{
    const struct trial *t = &j->modelled;
    const struct trial_time *own =
        workload < t->n_workloads ? &t->workloads[workload].times[REGIME_COLD] : NULL;
    int64_t traffic;

    if (!task_traffic(j->task, dims, &traffic, NULL))
        return NAN;
    return own ? fmin((double)traffic, fmin(own->dram_bytes, own->asked_bytes)) : (double)traffic;
}

/* A microsecond. With tensor cores: of 8-bit numbers, which they take at twice the rate of 16-bit ones. */
static double peak_operations(const struct judge *j, const char *ptx)
{
    struct ptx_peaks p = ptx_device_peaks(j->model);

    return (ptx && strstr(ptx, "mma") ? 2 * p.tensor_fp16 : p.fp16) * 1e-6;
}

void refuse_impossible(const struct judge *j, struct arena *a, const struct trial *t, const struct trial *model,
                       const char *ptx, struct fate *fate)
{
    /* In the L2: what the SMs can take from it, 64 bytes a clock each, over twice what kernels reach. */
    const double dram = j->device->dram_peak_gbs * 1e3,
                 l2 = 64.0 * j->device->sm_count * j->device->sm_clock_mhz,
                 operations_us = peak_operations(j, ptx);

    for (size_t i = 0; i < t->n_workloads; i++)
        for (enum regime regime = 0; regime < N_REGIMES && fate_open(fate); regime++) {
            const struct trial_workload *w = &t->workloads[i];
            const struct trial_time *x = &w->times[regime];
            const char *where = task_dims_text(a, j->task, w->dims), *word = "";
            double us = x->us + fmax(x->neighbours_us, 0), bytes = needed_bytes(j, i, w->dims), rate = dram,
                   flops = i < model->n_workloads && j->about.same_model
                               ? model->workloads[i].times[REGIME_COLD].flops
                               : NAN;
            if (regime != REGIME_COLD) {
                rate = l2;
                word = arena_printf(a, " %s", regime_name(regime));
            }
            if (us < IMPOSSIBLE * bytes / rate)
                fate_isf(fate, a, VERDICT_CHEAT, 0,
                         "%s takes %.2f us%s: to move its %.0f bytes alone takes %.2f us at the peak rate",
                         where, us, word, bytes, bytes / rate);
            else if (us < IMPOSSIBLE * flops / operations_us)
                fate_isf(fate, a, VERDICT_CHEAT, 0,
                         "%s takes %.2f us%s: its own %.4g operations alone take %.2f us at the peak rate",
                         where, us, word, flops, flops / operations_us);
        }
}
