/* A trial as JSON, both ways: what a worker sends, and what the store keeps. */
#include "verdict.h"

/* One table for both directions, so that they cannot drift apart. */
#define TIME_NUMBERS(X) \
    X(us)               \
    X(light_us)         \
    X(base_us)          \
    X(speedup)          \
    X(low)              \
    X(high)             \
    X(pairs)            \
    X(dram_us)          \
    X(l2_us)            \
    X(issue_us)         \
    X(latency_us) X(launch_us) X(sync_us) X(dram_bytes) X(occupancy) X(waves) X(flops) X(compulsory_bytes)
#define LINE_NUMBERS(X) \
    X(share)            \
    X(lanes_active)     \
    X(requests) X(sectors_per_request) X(ideal_sectors_per_request) X(conflicts_per_request) X(warp_insns)
#define TRIAL_NUMBERS(X) \
    X(score)             \
    X(low)               \
    X(high)              \
    X(compile_s) X(verify_s) X(measure_s) X(wall_s) X(gpu_verify_s) X(gpu_measure_s) X(empty_us) X(shadow_lost)
#define TRIAL_COUNTS(X) X(registers) X(spill_bytes) X(stack_bytes) X(shared_bytes) X(dynamic_shared_bytes)
#define TRIAL_TEXTS(X)  X(error_where) X(missing_checks) X(printed) X(counters) X(code) X(exact) X(underived)

static json_t *time_to_json(const struct trial_time *t)
{
    json_t *o = json_object();

#define X(name) json_put_num(o, #name, t->name);
    TIME_NUMBERS(X)
#undef X
    json_put_text(o, "bound", t->bound);
    json_put_flag(o, "extrapolated", t->extrapolated);
    return o;
}

static void time_from_json(const json_t *o, struct arena *a, struct trial_time *t)
{
#define X(name) t->name = json_num(o, #name);
    TIME_NUMBERS(X)
#undef X
    t->bound = arena_strdup(a, json_text(o, "bound", NULL));
    t->extrapolated = json_flag(o, "extrapolated", false);
}

json_t *trial_clocks_to_json(const struct trial_clocks *c)
{
    json_t *o;

    if (!c->known)
        return json_null();
    o = json_object();
    json_put_int(o, "sm_mhz", c->sm_mhz);
    json_put_int(o, "memory_mhz", c->memory_mhz);
    json_put_int(o, "temperature_c", c->temperature_c);
    json_put_int(o, "power_w", c->power_w);
    json_put_int(o, "throttle_reasons", (int64_t)c->throttle_reasons);
    return o;
}

static void clocks_from_json(const json_t *o, struct trial_clocks *c)
{
    if (!json_is_object(o))
        return;
    *c = (struct trial_clocks){.sm_mhz = (unsigned)json_int(o, "sm_mhz", 0),
                               .memory_mhz = (unsigned)json_int(o, "memory_mhz", 0),
                               .temperature_c = (unsigned)json_int(o, "temperature_c", 0),
                               .power_w = (unsigned)json_int(o, "power_w", 0),
                               .throttle_reasons = (uint64_t)json_int(o, "throttle_reasons", 0),
                               .known = true};
}

static json_t *errors_to_json(const struct trial_errors *e)
{
    json_t *o = json_object();

    json_put_num(o, "p50", e->p50);
    json_put_num(o, "p99", e->p99);
    json_put_num(o, "max", e->max);
    return o;
}

static void errors_from_json(const json_t *o, struct trial_errors *e)
{
    *e = (struct trial_errors){json_num(o, "p50"), json_num(o, "p99"), json_num(o, "max")};
}

static json_t *spread_to_json(const struct trial_spread *s)
{
    json_t *o = errors_to_json(&s->at), *histogram = json_array();

    json_put_num(o, "drift", s->drift);
    for (size_t i = 0; i < TRIAL_BUCKETS; i++)
        json_array_append_new(histogram, json_integer((json_int_t)s->histogram[i]));
    json_put(o, "histogram", histogram);
    return o;
}

static void spread_from_json(const json_t *o, struct trial_spread *s)
{
    const json_t *histogram = json_object_get(o, "histogram");

    errors_from_json(o, &s->at);
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
        json_t *o = json_object(), *allowed = errors_to_json(&x->allowed);
        json_put_text(o, "output", x->output);
        json_put_text(o, "values", x->values);
        json_put_text(o, "unit", "ulp");
        json_put(o, "original", spread_to_json(&x->original));
        json_put(o, "candidate", spread_to_json(&x->candidate));
        json_put_num(allowed, "drift", x->allowed_drift);
        json_put(o, "allowed", allowed);
        json_put_int(o, "excused", (int64_t)x->excused);
        json_put_num(o, "apart", x->apart);
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
        x[i].output = arena_strdup(a, json_text(o, "output", ""));
        x[i].values = arena_strdup(a, json_text(o, "values", ""));
        spread_from_json(json_object_get(o, "original"), &x[i].original);
        spread_from_json(json_object_get(o, "candidate"), &x[i].candidate);
        errors_from_json(allowed, &x[i].allowed);
        x[i].allowed_drift = json_num(allowed, "drift");
        x[i].excused = (size_t)json_int(o, "excused", 0);
        x[i].apart = json_num(o, "apart");
    }
}

json_t *trial_to_json(const struct trial *t)
{
    json_t *o = json_object(), *names = json_array(), *workloads = json_array(), *lines = json_array();

    json_put_text(o, "verdict", verdict_name(t->verdict));
    json_put_text(o, "words", t->words);
    json_put_flag(o, "hidden", t->hidden);
    json_put_int(o, "line", t->line);
    json_put_int(o, "col", t->col);
    json_put_int(o, "cases", (int64_t)t->cases);
    json_put_int(o, "identical_cases", (int64_t)t->identical_cases);
    json_put_int(o, "elements", (int64_t)t->elements);
    json_put_int(o, "identical_elements", (int64_t)t->identical_elements);
    json_put(o, "bit_identical", json_boolean(t->bit_identical));
#define X(name) json_put_num(o, #name, t->name);
    TRIAL_NUMBERS(X)
#undef X
#define X(name) json_put_int(o, #name, t->name);
    TRIAL_COUNTS(X)
#undef X
#define X(name) json_put_text(o, #name, t->name);
    TRIAL_TEXTS(X)
#undef X
    json_put(o, "clocks", trial_clocks_to_json(&t->clocks));
    json_put(o, "error", errors_to_json(&t->error));
    json_put(o, "original_error", errors_to_json(&t->original_error));
    json_put(o, "allowed_error", errors_to_json(&t->allowed_error));
    json_put(o, "errors", trial_accuracy_to_json(t));
    for (size_t i = 0; i < t->n_dims; i++)
        json_array_append_new(names, json_string(t->dim_names[i]));
    json_put(o, "dim_names", names);
    for (size_t i = 0; i < t->n_workloads; i++) {
        const struct trial_workload *w = &t->workloads[i];
        json_t *x = json_object(), *dims = json_array();
        for (size_t k = 0; k < t->n_dims; k++)
            json_array_append_new(dims, json_integer(w->dims[k]));
        json_put(x, "dims", dims);
        for (enum regime r = 0; r < N_REGIMES; r++)
            json_put(x, regime_name(r), time_to_json(&w->times[r]));
        json_array_append_new(workloads, x);
    }
    for (size_t i = 0; i < t->n_lines; i++) {
        json_t *x = json_object();
        json_put_int(x, "line", t->lines[i].line);
#define X(name) json_put_num(x, #name, t->lines[i].name);
        LINE_NUMBERS(X)
#undef X
        json_array_append_new(lines, x);
    }
    json_put(o, "workloads", workloads);
    json_put(o, "lines", lines);
    return o;
}

bool trial_from_json(const json_t *o, struct arena *a, struct trial *t, struct err *err)
{
    const json_t *workloads = json_object_get(o, "workloads"), *lines = json_object_get(o, "lines"),
                 *dim_names = json_object_get(o, "dim_names");
    const char **names;
    struct trial_workload *w;
    struct trial_line *l;

    *t = (struct trial){0};
    if (!verdict_parse(json_text(o, "verdict", ""), &t->verdict))
        return err_world(err, "not a trial: unknown verdict \"%s\"", json_text(o, "verdict", ""));
    t->words = arena_strdup(a, json_text(o, "words", ""));
    t->hidden = json_flag(o, "hidden", false);
    t->line = (int)json_int(o, "line", 0);
    t->col = (int)json_int(o, "col", 0);
    t->cases = (size_t)json_int(o, "cases", 0);
    t->identical_cases = (size_t)json_int(o, "identical_cases", 0);
    t->elements = (size_t)json_int(o, "elements", 0);
    t->identical_elements = (size_t)json_int(o, "identical_elements", 0);
    t->bit_identical = json_is_true(json_object_get(o, "bit_identical"));
#define X(name) t->name = json_num(o, #name);
    TRIAL_NUMBERS(X)
#undef X
#define X(name) t->name = (unsigned)json_int(o, #name, 0);
    TRIAL_COUNTS(X)
#undef X
#define X(name) t->name = arena_strdup(a, json_text(o, #name, NULL));
    TRIAL_TEXTS(X)
#undef X
    clocks_from_json(json_object_get(o, "clocks"), &t->clocks);
    errors_from_json(json_object_get(o, "error"), &t->error);
    errors_from_json(json_object_get(o, "original_error"), &t->original_error);
    errors_from_json(json_object_get(o, "allowed_error"), &t->allowed_error);
    accuracy_from_json(json_object_get(o, "errors"), a, t);
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
        for (enum regime r = 0; r < N_REGIMES; r++)
            time_from_json(json_object_get(x, regime_name(r)), a, &w[i].times[r]);
    }
    t->n_lines = json_array_size(lines);
    t->lines = l = arena_array(a, struct trial_line, t->n_lines + 1);
    for (size_t i = 0; i < t->n_lines; i++) {
        const json_t *x = json_array_get(lines, i);
        l[i].line = (int)json_int(x, "line", 0);
#define X(name) l[i].name = json_num(x, #name);
        LINE_NUMBERS(X)
#undef X
    }
    return true;
}

char *trial_to_text(struct arena *a, const struct trial *t)
{
    json_t *o = trial_to_json(t);
    char *text = json_line(a, o);

    json_decref(o);
    return text;
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
    char *text;

    for (size_t k = 0; k < t->n_dims; k++)
        str_addf(&s, "%s%s=%lld", k ? " " : "", t->dim_names[k], (long long)t->workloads[i].dims[k]);
    text = arena_strdup(a, str_text(&s));
    str_free(&s);
    return text;
}

json_t *trial_row_to_json(const struct trial *t, size_t i, const struct trial_time *best, enum regime regime)
{
    const struct trial_time *original = &t->workloads[i].times[regime];
    json_t *o = json_object(), *dims = json_object();
    /* The original's time beside the best's in the same pairs, where there were pairs. */
    double base_us = best && isfinite(best->base_us) ? best->base_us : original->us;
    double speedup = !best ? NAN : isfinite(best->speedup) ? best->speedup : base_us / best->us;

    for (size_t k = 0; k < t->n_dims; k++)
        json_put_int(dims, t->dim_names[k], t->workloads[i].dims[k]);
    json_put(o, "dims", dims);
    json_put_num(o, "baseline_us", base_us);
    json_put_num(o, "best_us", best ? best->us : NAN);
    json_put_num(o, "speedup", speedup);
    json_put_num(o, "low", best ? best->low : NAN);
    json_put_num(o, "high", best ? best->high : NAN);
    json_put_num(o, "light_us", original->light_us);
    json_put_num(o, "compulsory_bytes", original->compulsory_bytes);
    json_put_num(o, "baseline_flops", original->flops);
    json_put_num(o, "best_flops", best ? best->flops : NAN);
    json_put_num(o, "baseline_dram_bytes", original->dram_bytes);
    json_put_num(o, "best_dram_bytes", best ? best->dram_bytes : NAN);
    json_put_text(o, "regime", regime_name(regime));
    json_put_text(o, "bound_by", best ? best->bound : NULL);
    return o;
}

struct trial_time trial_row_from_json(const json_t *row)
{
    return (struct trial_time){.us = json_num(row, "best_us"),
                               .light_us = json_num(row, "light_us"),
                               .base_us = json_num(row, "baseline_us"),
                               .speedup = json_num(row, "speedup"),
                               .low = json_num(row, "low"),
                               .high = json_num(row, "high"),
                               .bound = json_text(row, "bound_by", NULL)};
}

/* ---- the device ---- */

#define LIMITS(X)             \
    X(sm_count)               \
    X(cc_major)               \
    X(cc_minor)               \
    X(max_threads_per_block)  \
    X(max_threads_per_sm)     \
    X(max_blocks_per_sm)      \
    X(warp_size)              \
    X(shared_per_block)       \
    X(shared_per_block_optin) \
    X(shared_per_sm) X(l2_bytes) X(registers_per_sm) X(sm_clock_khz) X(memory_clock_khz)

#define PEAKS(X)  \
    X(dram_bytes) \
    X(l2_bytes)   \
    X(fp64) X(fp32) X(fp16) X(tensor_fp16)

json_t *trial_device_to_json(const struct trial_device *d)
{
    json_t *o = json_object(), *limits = json_object(), *peaks = json_object();
    bool measures = trial_device_measures(d);

    json_put_text(o, "kind", d->kind);
    json_put_text(o, "name", d->name);
    json_put_text(o, "basis", measures ? "measured" : "modelled");
    json_put_flag(o, "validated", measures || d->validated);
    json_put_text(o, "model", d->model);
    json_put_text(o, "model_name", d->model_name);
    json_put_int(o, "compute_capability", 10 * d->limits.cc_major + d->limits.cc_minor);
    json_put_text(o, "nvrtc", d->nvrtc);
    if (measures) {
        json_put_flag(o, "same_model", d->same_model);
        json_put_int(o, "index", d->index);
        json_put_text(o, "uuid", d->uuid);
        json_put_text(o, "driver", d->driver);
        json_put_int(o, "driver_cuda", d->driver_cuda);
    }
#define X(name) json_put_int(limits, #name, (int64_t)d->limits.name);
    LIMITS(X)
#undef X
    json_put(o, "limits", limits);
#define X(name) json_put_num(peaks, #name, d->peaks.name);
    PEAKS(X)
#undef X
    json_put(o, "peaks", peaks);
    return o;
}

bool trial_device_from_json(const json_t *o, struct arena *a, struct trial_device *d, struct err *err)
{
    const json_t *limits = json_object_get(o, "limits"), *peaks = json_object_get(o, "peaks");

    *d = (struct trial_device){.kind = arena_strdup(a, json_text(o, "kind", NULL)),
                               .name = arena_strdup(a, json_text(o, "name", NULL)),
                               .model = arena_strdup(a, json_text(o, "model", NULL)),
                               .model_name = arena_strdup(a, json_text(o, "model_name", NULL)),
                               .same_model = json_flag(o, "same_model", true),
                               .validated = json_flag(o, "validated", false),
                               .uuid = arena_strdup(a, json_text(o, "uuid", NULL)),
                               .driver = arena_strdup(a, json_text(o, "driver", NULL)),
                               .nvrtc = arena_strdup(a, json_text(o, "nvrtc", NULL)),
                               .index = (int)json_int(o, "index", -1),
                               .driver_cuda = (int)json_int(o, "driver_cuda", 0)};
    if (!d->kind || !d->name || !d->model)
        return err_world(err, "not a device");
    d->limits.device_name = d->name;
#define X(name) d->limits.name = (__typeof__(d->limits.name))json_int(limits, #name, 0);
    LIMITS(X)
#undef X
#define X(name) d->peaks.name = json_is_object(peaks) ? json_num(peaks, #name) : 0;
    PEAKS(X)
#undef X
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
