/* The neighbours of a plan in a stream: two kernels of our own (share/cuda/neighbours.ptx), the same for both
 * sides, with as many blocks as find room beside others. One writes the plan's inputs, so that they lie in the
 * L2 where they fit, with the suite's values; the other reads its outputs. In the regime stream neither knows
 * of programmatic dependent launch. In stream-pdl the one ahead triggers at its start, and the one behind
 * begins early and waits at its start. The next one ahead waits for the end of the one behind. */
#include "bench.h"

enum { THREADS = 256, BLOCKS_AN_SM = 2, MOST_CONTENTS = 8 };
#define LIMIT_S 10.0

static bool open_module(struct bench *b, enum regime regime, bool pdl, struct err *err)
{
    const struct fill_slot slots[] = {{"version", pdl ? "7.8" : "7.0"},
                                      {"target", pdl ? "sm_90" : "sm_70"},
                                      {"trigger", pdl ? "griddepcontrol.launch_dependents;" : ""},
                                      {"wait", pdl ? "griddepcontrol.wait;" : ""}};
    const char *ptx = fill_share(b->arena, "cuda/neighbours.ptx", slots, ARRAY_LEN(slots));

    return cuda_module_open(&b->neighbours[regime], b->gpu, ptx, strlen(ptx), err);
}

bool neighbours_open(struct bench *b, struct err *err)
{
    bool pdl = b->judge->device->cc_major >= 9;

    if (!pdl && b->judge->task->regime == REGIME_STREAM_PDL)
        return err_input(err,
                         "the task scores stream-pdl, and %s has no programmatic dependent launch (compute "
                         "capability 9.0 has it): regime: stream scores there",
                         b->judge->device->full_name);
    return open_module(b, REGIME_STREAM, false, err) && (!pdl || open_module(b, REGIME_STREAM_PDL, true, err));
}

static bool add(struct bench *b, enum regime regime, struct cuda_graph *graph, const char *kernel,
                const void *const *args, uint64_t n, struct err *err)
{
    const struct ptx_launch l = {.kernel = kernel,
                                 .grid = {(uint32_t)MIN(MAX((n + THREADS - 1) / THREADS, 1),
                                                        (uint64_t)BLOCKS_AN_SM * b->judge->device->sm_count),
                                          1, 1},
                                 .block = {THREADS, 1, 1},
                                 .programmatic = regime == REGIME_STREAM_PDL && str_eq(kernel, "behind"),
                                 .args = args,
                                 .n_args = 3};

    return cuda_graph_launch(graph, b->neighbours[regime], &l, err);
}

/* Contents that stay in the L2 beside the set; so many that a plan does not find those of the plan before. */
static size_t contents(const struct bench *b, const struct track *t)
{
    uint64_t fit = b->judge->device->l2_bytes / 4 / t->set_bytes;

    return (size_t)MAX(MIN(fit, (uint64_t)MIN(t->n_distinct, MOST_CONTENTS)), 1);
}

bool neighbours_ahead(struct bench *b, const struct track *t, enum regime regime, struct cuda_graph *graph,
                      size_t turn, struct err *err)
{
    uint64_t to = bench_set(b, t, 0), from = b->bank + turn % contents(b, t) * t->set_bytes,
             n = (t->ahead_bytes + 15) / 16;

    return add(b, regime, graph, "ahead", (const void *[]){&to, &from, &n}, n, err);
}

bool neighbours_behind(struct bench *b, const struct track *t, enum regime regime, struct cuda_graph *graph,
                       struct err *err)
{
    uint64_t from = bench_set(b, t, 0) + t->behind_at, n = (t->behind_bytes + 15) / 16;

    return add(b, regime, graph, "behind", (const void *[]){&from, &n, &b->sink}, n, err);
}

bool neighbours_block(const struct track *t, enum regime regime, double *us, struct err *err)
{
    const struct lap *l = &t->alone[regime];
    struct ptx_report r;

    if (!cuda_graph_time(l->graphs[0], 1, LIMIT_S, us, &r, err))
        return false;
    *us /= (double)l->plans;
    return r.end == PTX_DONE || err_world(err, "Astra's own kernels on the GPU: %s", r.findings[0].words);
}

bool neighbours_record(struct bench *b, struct track *t, enum regime regime, struct err *err)
{
    struct lap *l = &t->alone[regime];
    size_t plans = t->original.lap[regime].plans;
    double us;
    bool ok;

    if (l->n && l->plans == plans)
        return true;
    lap_close(l);
    *l = (struct lap){.plans = plans, .sets = 1, .graphs = mem_zalloc(sizeof(*l->graphs))};
    if (!cuda_graph_open(&l->graphs[0], b->gpu, err))
        return false;
    l->n = 1;
    ok = true;
    for (size_t p = 0; ok && p < plans; p++)
        ok = neighbours_ahead(b, t, regime, l->graphs[0], plans - 1 - p, err) &&
             neighbours_behind(b, t, regime, l->graphs[0], err);
    /* As with the sides' graphs, the first replay does not count. */
    return ok && cuda_graph_seal(l->graphs[0], err) && neighbours_block(t, regime, &us, err);
}
