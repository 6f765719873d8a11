/* A trial as JSON, both ways: what a worker sends, and what the store keeps. */
#include "verdict.h"

#define TIME(member)        MEMBER(struct trial_time, member)
#define CLOCKS(member)      MEMBER(struct trial_clocks, member)
#define ERRORS(member)      MEMBER(struct trial_errors, member)
#define LINE(member)        MEMBER(struct trial_line, member)
#define TRIAL(member)       MEMBER(struct trial, member)
#define WORDS(type, member) MEMBER_AS(struct type, member, MEMBER_TEXT)

static const struct member time_members[] = {
    TIME(us),
    MEMBER_NAMED("light_us", struct trial_time, copy_us, MEMBER_NUMBER),
    TIME(base_us),
    TIME(speedup),
    TIME(low),
    TIME(high),
    TIME(pairs),
    TIME(neighbours_us),
    TIME(dram_us),
    TIME(l2_us),
    TIME(issue_us),
    TIME(latency_us),
    TIME(launch_us),
    TIME(sync_us),
    TIME(dram_bytes),
    TIME(occupancy),
    TIME(waves),
    TIME(flops),
    TIME(compulsory_bytes),
    TIME(bound),
    TIME(pipe),
    TIME(extrapolated),
    {0}};

static const struct member clocks_members[] = {CLOCKS(sm_mhz),  CLOCKS(memory_mhz),       CLOCKS(temperature_c),
                                               CLOCKS(power_w), CLOCKS(throttle_reasons), {0}};

static const struct member errors_members[] = {ERRORS(p50), ERRORS(p99), ERRORS(max), {0}};

static const struct member accuracy_members[] = {
    WORDS(trial_accuracy, output),          WORDS(trial_accuracy, values),        WORDS(trial_accuracy, unit),
    MEMBER(struct trial_accuracy, excused), MEMBER(struct trial_accuracy, apart), {0}};

static const struct member line_members[] = {LINE(line),
                                             LINE(share),
                                             LINE(lanes_active),
                                             LINE(requests),
                                             LINE(sectors_per_request),
                                             LINE(ideal_sectors_per_request),
                                             LINE(conflicts_per_request),
                                             LINE(warp_insns),
                                             {0}};

static const struct member beside_members[] = {
    WORDS(trial_beside, library),       WORDS(trial_beside, words),
    WORDS(trial_beside, regime),        MEMBER(struct trial_beside, workload),
    MEMBER(struct trial_beside, us),    MEMBER(struct trial_beside, version_us),
    MEMBER(struct trial_beside, share), MEMBER(struct trial_beside, low),
    MEMBER(struct trial_beside, high),  {0}};

static const struct member trial_members[] = {
    /* its verdict aside, which is a word */
    WORDS(trial, words),
    TRIAL(hidden),
    TRIAL(line),
    TRIAL(col),
    TRIAL(cases),
    TRIAL(identical_cases),
    TRIAL(elements),
    TRIAL(identical_elements),
    TRIAL(bit_identical),
    TRIAL(score),
    TRIAL(low),
    TRIAL(high),
    TRIAL(compile_s),
    TRIAL(verify_s),
    TRIAL(measure_s),
    TRIAL(wall_s),
    TRIAL(gpu_verify_s),
    TRIAL(gpu_measure_s),
    TRIAL(empty_us),
    TRIAL(shadow_lost),
    TRIAL(registers),
    TRIAL(spill_bytes),
    TRIAL(stack_bytes),
    TRIAL(shared_bytes),
    TRIAL(dynamic_shared_bytes),
    TRIAL(unit),
    TRIAL(error_where),
    TRIAL(missing_checks),
    TRIAL(printed),
    TRIAL(counters),
    TRIAL(code),
    TRIAL(exact),
    TRIAL(underived),
    {0}};

struct trial_time trial_time_unknown(void)
{
    struct trial_time t = {0};

    json_get_members(NULL, time_members, NULL, &t);
    return t;
}

void trial_bounds(const struct trial_time *t, struct trial_bound list[N_BOUNDS])
{
    const struct trial_bound all[N_BOUNDS] = {{"dram", t->dram_us},     {"l2", t->l2_us},
                                              {"issue", t->issue_us},   {"latency", t->latency_us},
                                              {"launch", t->launch_us}, {"sync", t->sync_us}};

    memcpy(list, all, sizeof(all));
}

double trial_bound_us(const struct trial_time *t)
{
    struct trial_bound list[N_BOUNDS];

    trial_bounds(t, list);
    for (size_t i = 0; t->bound && i < N_BOUNDS; i++)
        if (str_eq(list[i].name, t->bound))
            return list[i].us;
    return NAN;
}

const char *trial_bound_words(const struct trial_time *t, struct arena *a)
{
    if (!t->bound)
        return "nothing known";
    if (!t->pipe || !str_eq(t->bound, "issue"))
        return t->bound;
    return arena_printf(a, "issue, %s", str_eq(t->pipe, "scheduler") ? "all pipes" : t->pipe);
}

json_t *trial_clocks_to_json(const struct trial_clocks *c)
{
    return c->known ? json_of_members(clocks_members, c) : json_null();
}

static json_t *spread_to_json(const struct trial_spread *s)
{
    json_t *o = json_of_members(errors_members, &s->at), *histogram = json_array();

    json_put_num(o, "drift", s->drift);
    for (size_t i = 0; i < TRIAL_BUCKETS; i++)
        json_array_append_new(histogram, json_integer((json_int_t)s->histogram[i]));
    json_put(o, "histogram", histogram);
    return o;
}

static void spread_from_json(const json_t *o, struct trial_spread *s)
{
    const json_t *histogram = json_object_get(o, "histogram");

    json_get_members(o, errors_members, NULL, &s->at);
    s->drift = json_num(o, "drift");
    for (size_t i = 0; i < TRIAL_BUCKETS; i++)
        s->histogram[i] = (size_t)json_integer_value(json_array_get(histogram, i));
}

json_t *trial_edges_to_json(void)
{
    json_t *list = json_array();

    for (size_t i = 0; i < TRIAL_BUCKETS - 1; i++)
        json_array_append_new(list, json_real(trial_ulp_edges[i]));
    return list;
}

json_t *trial_accuracy_to_json(const struct trial *t)
{
    json_t *list = json_array();

    for (size_t i = 0; i < t->n_accuracy; i++) {
        const struct trial_accuracy *x = &t->accuracy[i];
        json_t *o = json_of_members(accuracy_members, x),
               *allowed = json_of_members(errors_members, &x->allowed);
        json_put(o, "original", spread_to_json(&x->original));
        json_put(o, "candidate", spread_to_json(&x->candidate));
        json_put_num(allowed, "drift", x->allowed_drift);
        json_put(o, "allowed", allowed);
        json_array_append_new(list, o);
    }
    return list;
}

static void accuracy_from_json(const json_t *list, struct arena *a, struct trial *t)
{
    struct trial_accuracy *x;

    t->n_accuracy = json_array_size(list);
    t->accuracy = x = arena_array(a, struct trial_accuracy, t->n_accuracy + 1);
    for (size_t i = 0; i < t->n_accuracy; i++) {
        const json_t *o = json_array_get(list, i), *allowed = json_object_get(o, "allowed");
        json_get_members(o, accuracy_members, a, &x[i]);
        spread_from_json(json_object_get(o, "original"), &x[i].original);
        spread_from_json(json_object_get(o, "candidate"), &x[i].candidate);
        json_get_members(allowed, errors_members, a, &x[i].allowed);
        x[i].allowed_drift = json_num(allowed, "drift");
    }
}

static void put_beside(json_t *o, const struct trial *t)
{
    json_t *list = t->n_beside ? json_array() : NULL;

    for (size_t i = 0; i < t->n_beside; i++)
        json_array_append_new(list, json_of_members(beside_members, &t->beside[i]));
    if (list)
        json_put(o, "beside", list);
}

static void beside_from_json(const json_t *list, struct arena *a, struct trial *t)
{
    struct trial_beside *x;

    t->n_beside = json_array_size(list);
    t->beside = x = arena_array(a, struct trial_beside, t->n_beside + 1);
    for (size_t i = 0; i < t->n_beside; i++)
        json_get_members(json_array_get(list, i), beside_members, a, &x[i]);
}

json_t *trial_to_json(const struct trial *t)
{
    json_t *o = json_object(), *workloads = json_array(), *lines = json_array();

    json_put_text(o, "verdict", verdict_name(t->verdict));
    json_put_members(o, trial_members, t);
    json_put(o, "clocks", trial_clocks_to_json(&t->clocks));
    json_put(o, "shipped", trial_shipped_to_json(&t->shipped));
    json_put(o, "error", json_of_members(errors_members, &t->error));
    json_put(o, "original_error", json_of_members(errors_members, &t->original_error));
    json_put(o, "allowed_error", json_of_members(errors_members, &t->allowed_error));
    json_put(o, "errors", trial_accuracy_to_json(t));
    json_put(o, "dim_names", json_texts(t->dim_names, t->n_dims));
    for (size_t i = 0; i < t->n_workloads; i++) {
        const struct trial_workload *w = &t->workloads[i];
        json_t *x = json_object(), *dims = json_array();
        for (size_t k = 0; k < t->n_dims; k++)
            json_array_append_new(dims, json_integer(w->dims[k]));
        json_put(x, "dims", dims);
        if (w->weight > 0)
            json_put_num(x, "weight", w->weight);
        for (enum regime r = 0; r < N_REGIMES; r++)
            json_put(x, regime_name(r), json_of_members(time_members, &w->times[r]));
        json_array_append_new(workloads, x);
    }
    for (size_t i = 0; i < t->n_lines; i++)
        json_array_append_new(lines, json_of_members(line_members, &t->lines[i]));
    json_put(o, "workloads", workloads);
    json_put(o, "lines", lines);
    json_put(o, "coverage", trial_coverage_to_json(&t->coverage));
    json_put(o, "redundant_traffic", trial_waste_to_json(t));
    put_beside(o, t);
    return o;
}

bool trial_from_json(const json_t *o, struct arena *a, struct trial *t, struct err *err)
{
    const json_t *workloads = json_object_get(o, "workloads"), *lines = json_object_get(o, "lines"),
                 *dim_names = json_object_get(o, "dim_names"), *clocks = json_object_get(o, "clocks");
    const char **names;
    struct trial_workload *w;
    struct trial_line *l;

    *t = (struct trial){0};
    if (!verdict_parse(json_text(o, "verdict", ""), &t->verdict))
        return err_world(err, "not a trial: unknown verdict \"%s\"", json_text(o, "verdict", ""));
    json_get_members(o, trial_members, a, t);
    t->clocks.known = json_is_object(clocks);
    json_get_members(clocks, clocks_members, a, &t->clocks);
    json_get_members(json_object_get(o, "error"), errors_members, a, &t->error);
    json_get_members(json_object_get(o, "original_error"), errors_members, a, &t->original_error);
    json_get_members(json_object_get(o, "allowed_error"), errors_members, a, &t->allowed_error);
    trial_shipped_from_json(json_object_get(o, "shipped"), a, &t->shipped);
    accuracy_from_json(json_object_get(o, "errors"), a, t);
    trial_coverage_from_json(json_object_get(o, "coverage"), a, &t->coverage);
    trial_waste_from_json(json_object_get(o, "redundant_traffic"), a, t);
    beside_from_json(json_object_get(o, "beside"), a, t);
    t->n_dims = json_array_size(dim_names);
    t->dim_names = names = arena_array(a, const char *, t->n_dims + 1);
    for (size_t i = 0; i < t->n_dims; i++) {
        const char *name = json_string_value(json_array_get(dim_names, i));
        names[i] = arena_strdup(a, name ? name : "?");
    }
    t->n_workloads = json_array_size(workloads);
    t->workloads = w = arena_array(a, struct trial_workload, t->n_workloads + 1);
    for (size_t i = 0; i < t->n_workloads; i++) {
        const json_t *x = json_array_get(workloads, i), *dims = json_object_get(x, "dims");
        if (json_array_size(dims) != t->n_dims)
            return err_world(err, "not a trial: a workload of %zu dims, not of %zu", json_array_size(dims),
                             t->n_dims);
        int64_t *to = arena_array(a, int64_t, t->n_dims + 1);
        for (size_t k = 0; k < t->n_dims; k++)
            to[k] = json_integer_value(json_array_get(dims, k));
        w[i].dims = to;
        w[i].weight = json_object_get(x, "weight") ? json_num(x, "weight") : 0;
        for (enum regime r = 0; r < N_REGIMES; r++)
            json_get_members(json_object_get(x, regime_name(r)), time_members, a, &w[i].times[r]);
    }
    t->n_lines = json_array_size(lines);
    t->lines = l = arena_array(a, struct trial_line, t->n_lines + 1);
    for (size_t i = 0; i < t->n_lines; i++)
        json_get_members(json_array_get(lines, i), line_members, a, &l[i]);
    return true;
}

char *trial_to_text(struct arena *a, const struct trial *t)
{
    return json_take_line(a, trial_to_json(t));
}

bool trial_from_text(const char *text, struct arena *a, struct trial *t, struct err *err)
{
    json_t *o = json_parse(text, strlen(text), "stored trial", err);
    bool ok = o && trial_from_json(o, a, t, err);

    json_decref(o);
    return ok;
}

/* ---- rows of a result ---- */

char *trial_dims_text(struct arena *a, const struct trial *t, size_t i)
{
    struct str s = {0};

    for (size_t k = 0; k < t->n_dims; k++)
        str_addf(&s, "%s%s=%lld", k ? " " : "", t->dim_names[k], (long long)t->workloads[i].dims[k]);
    return str_take(&s, a);
}

json_t *trial_row_to_json(const struct trial *t, size_t i, const struct trial_time *best, enum regime regime)
{
    const struct trial_time *original = &t->workloads[i].times[regime];
    json_t *o = json_object(), *dims = json_object();
    /* The original's time beside the best's in the same pairs, where there were pairs. */
    double base_us = best && isfinite(best->base_us) ? best->base_us : original->us;
    double speedup = NAN;

    if (best)
        speedup = isfinite(best->speedup) ? best->speedup : base_us / best->us;
    for (size_t k = 0; k < t->n_dims; k++)
        json_put_int(dims, t->dim_names[k], t->workloads[i].dims[k]);
    json_put(o, "dims", dims);
    json_put_num(o, "baseline_us", base_us);
    json_put_num(o, "best_us", best ? best->us : NAN);
    json_put_num(o, "speedup", speedup);
    json_put_num(o, "low", best ? best->low : NAN);
    json_put_num(o, "high", best ? best->high : NAN);
    if (regime_is_stream(regime))
        json_put_num(o, "neighbours_us", best ? best->neighbours_us : NAN);
    json_put_num(o, "light_us", original->copy_us);
    json_put_num(o, "compulsory_bytes", original->compulsory_bytes);
    json_put_num(o, "baseline_flops", original->flops);
    json_put_num(o, "best_flops", best ? best->flops : NAN);
    json_put_num(o, "baseline_dram_bytes", original->dram_bytes);
    json_put_num(o, "best_dram_bytes", best ? best->dram_bytes : NAN);
    json_put_text(o, "regime", regime_name(regime));
    json_put_text(o, "bound_by", best ? best->bound : NULL);
    if (t->workloads[i].weight > 0)
        json_put_num(o, "weight", t->workloads[i].weight);
    return o;
}

struct trial_time trial_row_from_json(const json_t *row)
{
    return (struct trial_time){.us = json_num(row, "best_us"),
                               .copy_us = json_num(row, "light_us"),
                               .base_us = json_num(row, "baseline_us"),
                               .speedup = json_num(row, "speedup"),
                               .low = json_num(row, "low"),
                               .high = json_num(row, "high"),
                               .neighbours_us = json_num(row, "neighbours_us"),
                               .bound = json_text(row, "bound_by", NULL)};
}

/* ---- the device ---- */

#define DEVICE(member) MEMBER(struct trial_device, member)
#define LIMIT(member)  MEMBER(struct kernel_limits, member)
#define PEAK(member)   MEMBER(struct trial_peaks, member)

static const struct member device_members[] = {
    DEVICE(kind), DEVICE(name), DEVICE(validated), DEVICE(model), DEVICE(model_name), DEVICE(nvrtc), {0}};

static const struct member gpu_members[] = {DEVICE(same_model), DEVICE(index),       DEVICE(uuid),
                                            DEVICE(driver),     DEVICE(driver_cuda), {0}};

static const struct member limits_members[] = {LIMIT(sm_count),
                                               LIMIT(cc_major),
                                               LIMIT(cc_minor),
                                               LIMIT(max_threads_per_block),
                                               LIMIT(max_threads_per_sm),
                                               LIMIT(max_blocks_per_sm),
                                               LIMIT(warp_size),
                                               LIMIT(shared_per_block),
                                               LIMIT(shared_per_block_optin),
                                               LIMIT(shared_per_sm),
                                               LIMIT(l2_bytes),
                                               LIMIT(registers_per_sm),
                                               LIMIT(sm_clock_khz),
                                               LIMIT(memory_clock_khz),
                                               {0}};

static const struct member peaks_members[] = {PEAK(dram_bytes), PEAK(l2_bytes),    PEAK(fp64), PEAK(fp32),
                                              PEAK(fp16),       PEAK(tensor_fp16), {0}};

json_t *trial_device_to_json(const struct trial_device *d)
{
    json_t *o = json_of_members(device_members, d);
    bool measures = trial_device_measures(d);

    json_put_text(o, "basis", measures ? "measured" : "modelled");
    json_put_flag(o, "validated", measures || d->validated);
    json_put_int(o, "compute_capability", 10 * d->limits.cc_major + d->limits.cc_minor);
    if (measures)
        json_put_members(o, gpu_members, d);
    json_put(o, "limits", json_of_members(limits_members, &d->limits));
    json_put(o, "peaks", json_of_members(peaks_members, &d->peaks));
    return o;
}

bool trial_device_from_json(const json_t *o, struct arena *a, struct trial_device *d, struct err *err)
{
    const json_t *limits = json_object_get(o, "limits"), *peaks = json_object_get(o, "peaks");

    *d = (struct trial_device){.same_model = true, .index = -1};
    json_get_members(o, device_members, a, d);
    json_get_members(o, gpu_members, a, d);
    json_get_members(limits, limits_members, a, &d->limits);
    if (json_is_object(peaks))
        json_get_members(peaks, peaks_members, a, &d->peaks);
    if (!d->kind || !d->name || !d->model)
        return err_world(err, "not a device");
    d->limits.device_name = d->name;
    return true;
}

bool trial_device_from_text(const char *text, struct arena *a, struct trial_device *d, struct err *err)
{
    json_t *o = json_parse(text, strlen(text), "stored device", err);
    bool ok = o && trial_device_from_json(o, a, d, err);

    json_decref(o);
    return ok;
}

char *trial_device_id(struct arena *a, const struct trial_device *d)
{
    return trial_device_measures(d) ? arena_printf(a, "cuda:%d", d->index) : arena_strdup(a, d->model);
}
