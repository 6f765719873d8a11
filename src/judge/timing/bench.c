#include "bench.h"
#include "../beside.h"

enum {
    IN_PLACE = 32, /* updates of one set in a hot block: their results grow */
    DISTINCT = 64, /* contents made one by one */
    TILE = 524287, /* values made on the host for one buffer; a prime, so that no row is like another */
    BANK_BYTES = 64 << 20,
    COPY_THREADS = 128,
    READ_THREADS = 256,
    FIRST_PLANS = 8,
    SET_STEP = 256, /* bytes: a buffer's least alignment in a set */
};
#define MOST_BANK_BYTES ((uint64_t)2 << 30)
#define LIMIT_S         10.0 /* after it a block counts as endless: the suite has seen every kernel end */
#define SHORT_US        100.0
#define NEIGHBOURS_US   2.0  /* about, at the least */
#define POISON          0xff /* a NaN in every floating type */

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

uint64_t bench_set(const struct bench *b, const struct track *t, size_t set)
{
    return b->sets + set * t->set_bytes;
}

/* ---- the copy kernel ---- */

static bool copy_node(struct bench *b, struct cuda_graph *graph, uint64_t to, uint64_t from, uint64_t bytes,
                      struct err *err)
{
    uint64_t n = bytes / 16;
    const void *args[] = {&to, &from, &n};
    const struct ptx_launch l = {.kernel = "copy16",
                                 .grid = {(uint32_t)((n + COPY_THREADS - 1) / COPY_THREADS), 1, 1},
                                 .block = {COPY_THREADS, 1, 1},
                                 .args = args,
                                 .n_args = 3};

    return cuda_graph_launch(graph, b->copy_kernel, &l, err);
}

/* The median of replays, per node. */
static bool time_graph(struct cuda_graph *graph, size_t nodes, double *us, struct err *err)
{
    enum { REPLAYS = 9 };
    double each[REPLAYS];
    struct ptx_report r;

    if (!cuda_graph_seal(graph, err))
        return false;
    for (int i = 0; i < REPLAYS; i++) {
        if (!cuda_graph_time(graph, 1, LIMIT_S, &each[i], &r, err))
            return false;
        if (r.end != PTX_DONE)
            return err_world(err, "Astra's own copy on the GPU: %s", r.findings[0].words);
    }
    *us = stats_median(each, REPLAYS) / (double)nodes;
    return true;
}

/* Whoever is as fast as the copy has a set of its own for each plan of a block. */
static void cut_windows(struct track *t)
{
    t->n_windows = lap_windows(t->n_sets, t->copy_us[REGIME_COLD]);
    t->window_sets = t->n_sets / t->n_windows;
}

size_t bench_windows(const struct track *t, enum regime regime)
{
    return regime == REGIME_COLD ? t->n_windows : 1;
}

size_t bench_window(const struct track *t, enum regime regime, size_t window)
{
    return regime == REGIME_COLD ? window * t->window_sets : 0;
}

bool bench_light(struct bench *b, struct track *t, struct err *err)
{
    uint64_t half = round_up((uint64_t)MAX(t->traffic, 32) / 2, 16), pair = round_up(2 * half, 256);
    size_t places = (size_t)MIN(MAX(b->sets_bytes / pair, 1), (uint64_t)LAP_MOST_SETS);

    if (t->n_windows)
        return true;
    b->loaded = NULL;
    for (enum regime regime = REGIME_COLD; regime <= REGIME_HOT; regime++) {
        size_t n = regime == REGIME_COLD ? places : 1 + (size_t)(LAP_BLOCK_US / (1 + (double)t->traffic / 4e6));
        struct cuda_graph *graph;
        bool ok;
        if (!cuda_graph_open(&graph, b->gpu, err))
            return false;
        ok = true;
        for (size_t i = 0; ok && i < n; i++) {
            uint64_t from = b->sets + (regime == REGIME_COLD ? i : 0) * pair;
            ok = copy_node(b, graph, from + half, from, half, err);
        }
        ok = ok && time_graph(graph, n, &t->copy_us[regime], err);
        cuda_graph_close(graph);
        if (!ok)
            return false;
    }
    t->copy_us[REGIME_STREAM] = t->copy_us[REGIME_STREAM_PDL] = t->copy_us[REGIME_HOT];
    cut_windows(t);
    return true;
}

static bool time_nothing(struct bench *b, struct err *err)
{
    enum { NODES = 256 };
    const struct ptx_launch l = {.kernel = "nothing", .grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct cuda_graph *graph;
    bool ok = true;

    if (!cuda_graph_open(&graph, b->gpu, err))
        return false;
    for (int i = 0; ok && i < NODES; i++)
        ok = cuda_graph_launch(graph, b->copy_kernel, &l, err);
    ok = ok && time_graph(graph, NODES, &b->empty_us, err);
    cuda_graph_close(graph);
    return ok;
}

/* ---- layout ---- */

/* Where in a set: first what a kernel ahead in a stream writes, then what one behind reads (what is updated in
 * place is both), then the rest. */
enum { PLACE_IN, PLACE_INOUT, PLACE_OUT, PLACE_SCRATCH, PLACE_STABLE, N_PLACES };

static int place_of(const struct task_arg *arg)
{
    static const int places[] = {[ROLE_IN] = PLACE_IN,
                                 [ROLE_INOUT] = PLACE_INOUT,
                                 [ROLE_OUT] = PLACE_OUT,
                                 [ROLE_SCRATCH] = PLACE_SCRATCH};

    return arg->stable ? PLACE_STABLE : places[arg->role];
}

static void place_buffers(struct track *t)
{
    for (int place = 0; place < N_PLACES; place++) {
        if (place == PLACE_INOUT)
            t->behind_at = round_up(t->set_bytes, SET_STEP); /* neighbours move 16 bytes at a time */
        for (size_t k = 0; k < t->n_buffers; k++) {
            uint64_t align = MAX((uint64_t)t->arg[k]->align_bytes, (uint64_t)SET_STEP);
            if (place_of(t->arg[k]) != place)
                continue;
            t->offset[k] = round_up(t->set_bytes, align);
            t->set_bytes = t->offset[k] + t->bytes[k];
            t->align_bytes = MAX(t->align_bytes, align);
        }
        if (place == PLACE_INOUT)
            t->ahead_bytes = t->set_bytes;
        if (place == PLACE_OUT)
            t->behind_bytes = t->set_bytes > t->behind_at ? t->set_bytes - t->behind_at : 0;
    }
}

static bool lay_out(struct bench *b, struct track *t, const int64_t *dims, struct err *err)
{
    const struct task *task = b->judge->task;
    uint64_t l2 = MAX(b->judge->device->l2_bytes, (uint64_t)1);

    *t = (struct track){.dims = dims, .align_bytes = SET_STEP};
    if (!task_traffic(task, dims, &t->traffic, err))
        return false;
    for (size_t i = 0; i < task->n_args; i++) {
        const struct task_arg *arg = &task->args[i];
        int64_t elements;
        if (arg->role == ROLE_SCALAR)
            continue;
        if (!task_shape(task, arg, dims, &elements, err))
            return false;
        t->arg[t->n_buffers] = arg;
        t->bytes[t->n_buffers++] = (uint64_t)elements * kernel_type_size(arg->type);
        t->in_place |= arg->role == ROLE_INOUT;
        t->stable |= arg->stable;
    }
    place_buffers(t);
    t->set_bytes = round_up(MAX(t->set_bytes, (uint64_t)1), t->align_bytes);
    t->n_sets = lap_sets(l2, t->set_bytes);
    t->n_hot = t->in_place ? (size_t)MIN(MAX(l2 / 4 / t->set_bytes, 1), (uint64_t)MIN(IN_PLACE, t->n_sets)) : 1;
    t->n_images = (size_t)MIN(MAX(BANK_BYTES / t->set_bytes, t->set_bytes > MOST_BANK_BYTES / 2 ? 1 : 2),
                              (uint64_t)MAX(t->n_sets, 2));
    t->n_distinct = MIN(t->n_images, DISTINCT);
    return true;
}

/* Values whose places count: an order that the callers promise, or what they stored. */
static bool in_place_only(const struct task_values *v)
{
    return task_value_ordered(v->kind) || v->stored;
}

/* Values of one input: the same generator as the suite's, on a tile that is copied about. Where places count it
 * is whole buffers, one behind the other; images take them in turn. */
static bool make_tile(struct bench *b, struct track *t, size_t k, struct err *err)
{
    const struct task_arg *arg = t->arg[k];
    size_t size = kernel_type_size(arg->type), elements = t->bytes[k] / size, n = TILE, wholes = 1;
    const struct task_values values = timed_values(arg);
    struct cuda_buffer buffer = {.name = "values"};
    uint64_t seed = rng_hash(b->judge->options.seed, 0x74696d65);
    void *tile;
    bool ok = true;

    if ((arg->role != ROLE_IN && arg->role != ROLE_INOUT) || t->bytes[k] == 0)
        return true;
    if (in_place_only(&arg->values)) {
        n = elements;
        wholes = MIN(MAX(TILE / elements, (size_t)2), t->n_distinct);
    }
    t->tile_elements[k] = n * wholes;
    buffer.size_bytes = n * wholes * size;
    if (!(t->tile[k] = cuda_buffers_alloc(b->buffers, &buffer, err)))
        return false;
    tile = mem_alloc(n * size);
    for (size_t i = 0; ok && i < wholes; i++) {
        task_fill(arg, &values, t->dims, i ? rng_hash(seed, i) : seed, 0, (int64_t)n, tile);
        ok = cuda_write(b->gpu, t->tile[k] + i * n * size, tile, n * size, err);
    }
    free(tile);
    return ok;
}

/* ---- contents ---- */

/* One buffer's values in one image: the tile from a place of its own on, and what is there again and again. */
static bool fill(struct bench *b, const struct track *t, size_t k, size_t image, struct err *err)
{
    uint64_t to = b->bank + image * t->set_bytes + t->offset[k], size = kernel_type_size(t->arg[k]->type);
    uint64_t elements = t->bytes[k] / size, place = rng_hash(image, k), first, done;

    if (in_place_only(&t->arg[k]->values))
        first = image * elements % t->tile_elements[k];
    else
        first = elements <= TILE / 2 ? place % (TILE - elements + 1) : place % (TILE / 2);
    done = MIN(elements, t->tile_elements[k] - first) * size;
    bool ok = cuda_copy(b->gpu, to, t->tile[k] + first * size, done, err);
    for (; ok && done < t->bytes[k]; done *= 2)
        ok = cuda_copy(b->gpu, to + done, to, MIN(done, t->bytes[k] - done), err);
    return ok;
}

bool bench_refresh(struct bench *b, struct track *t, size_t first, size_t n, uint64_t pair, struct err *err)
{
    size_t turn = (size_t)(rng_hash(b->judge->options.seed, pair) % t->n_distinct);
    bool ok = true;

    cuda_reset_lines(b->gpu);
    for (size_t i = 0, run; ok && i < n; i += run) {
        size_t image = i == 0 ? turn : (turn + i) % t->n_distinct;
        run = MIN(n - i, t->n_images - image);
        ok = cuda_copy(b->gpu, bench_set(b, t, first + i), b->bank + image * t->set_bytes, run * t->set_bytes,
                       err);
    }
    return ok;
}

static bool read_through(struct bench *b, uint64_t from, uint64_t bytes, struct err *err)
{
    uint64_t n = bytes / 16;
    const void *args[] = {&from, &n, &b->sink};
    const struct ptx_launch l = {.kernel = "read16",
                                 .grid = {(uint32_t)((n + READ_THREADS - 1) / READ_THREADS), 1, 1},
                                 .block = {READ_THREADS, 1, 1},
                                 .args = args,
                                 .n_args = 3};
    struct ptx_report r;

    if (n == 0)
        return true;
    if (!cuda_launch(b->copy_kernel, &l, LIMIT_S, &r, err))
        return false;
    return r.end == PTX_DONE || err_world(err, "Astra's own read on the GPU: %s", r.findings[0].words);
}

bool bench_cool(struct bench *b, struct track *t, size_t first, size_t n, struct err *err)
{
    uint64_t bytes = n * t->set_bytes, before = first * t->set_bytes,
             cold = LAP_COLD_L2 * b->judge->device->l2_bytes, behind;

    if (bytes >= cold)
        return true; /* its own end has pushed out its beginning */
    behind = MIN(cold, b->sets_bytes - before - bytes);
    return read_through(b, b->sets + before + bytes, behind, err) &&
           read_through(b, b->sets, MIN(cold - behind, before), err);
}

bool bench_load(struct bench *b, struct track *t, struct err *err)
{
    bool ok = true;

    if (b->loaded == t)
        return true;
    b->loaded = NULL;
    ok = cuda_set(b->gpu, b->bank, POISON, t->n_images * t->set_bytes, err);
    for (size_t i = 0; ok && i < t->n_distinct; i++)
        for (size_t k = 0; ok && k < t->n_buffers; k++)
            if (t->tile_elements[k])
                ok = fill(b, t, k, i, err);
    for (size_t done = t->n_distinct; ok && done < t->n_images; done *= 2)
        ok = cuda_copy(b->gpu, b->bank + done * t->set_bytes, b->bank,
                       MIN(done, t->n_images - done) * t->set_bytes, err);
    if (!ok || !bench_refresh(b, t, 0, t->n_sets, 0, err))
        return false;
    b->loaded = t;
    return true;
}

/* ---- clocks ---- */

bool bench_disturbed(struct bench *b)
{
    struct trial_clocks before = b->clocks;
    double now_s = time_s();

    if (now_s - b->clocks_last_s < b->clocks_every_s)
        return false;
    b->clocks = clocks_now(b->gpu);
    b->clocks_last_s = time_s();
    b->clocks_every_s = 20 * (b->clocks_last_s - now_s); /* a twentieth of the time at most */
    if (!before.known || !b->clocks.known)
        return false;
    return before.throttle_reasons != b->clocks.throttle_reasons || before.memory_mhz != b->clocks.memory_mhz ||
           fabs((double)before.sm_mhz - b->clocks.sm_mhz) > 0.01 * before.sm_mhz;
}

/* ---- graphs ---- */

void lap_close(struct lap *l)
{
    for (size_t i = 0; i < l->n; i++)
        cuda_graph_close(l->graphs[i]);
    free(l->graphs);
    *l = (struct lap){0};
}

void side_close(struct side *s)
{
    for (enum regime regime = REGIME_COLD; regime < N_REGIMES; regime++)
        lap_close(&s->lap[regime]);
    stage_close(&s->stage);
    arena_close(s->arena);
    *s = (struct side){0};
}

struct recorder {
    struct cuda_graph *graph;
    struct version *version;
    struct arena *arena;
    /* Of the plan, where it waits for the end of the plan before, its own; NULL: it stands in a stream. */
    const struct plan_step *first;
};

static bool record_launch(void *context, const struct plan_step *step, const struct ptx_launch *l,
                          const struct image_kernel *k, struct fate *fate, struct err *err)
{
    struct recorder *r = context;
    struct ptx_launch own = *l;
    struct err why = {0};

    (void)k;
    own.programmatic = l->programmatic && step != r->first;
    if (cuda_graph_launch(r->graph, r->version->loaded, &own, &why))
        return true;
    if (cuda_spoilt(r->version->judge->gpu)) {
        *err = why;
        return false;
    }
    return fate_is(fate, VERDICT_LAUNCH_FAILED, step->line, arena_strdup(r->arena, why.text));
}

/* Where the matrices of a library's product lie in the set whose addresses the stage has. */
static void matrices_at(const struct side *s, uint64_t addr[3])
{
    for (int i = 0; i < 3; i++) {
        const struct product_matrix *m = s->call->matrix[i];
        addr[i] = s->stage.addr[m->buffer] + (uint64_t)m->start_bytes;
    }
}

static bool record_library(struct side *s, struct cuda_graph *graph, struct err *err)
{
    uint64_t addr[3];

    matrices_at(s, addr);
    return cuda_graph_product(graph, s->stage.judge->beside->cublas, &s->call->product, addr, err);
}

struct block { /* of so many plans, from a set on */
    enum regime regime;
    struct cuda_graph *graph;
    size_t first, sets, plans;
};

/* The p-th plan's set, for this buffer. In a stream it counts from the end, so that what the last plan of a
 * block leaves is of the same set and content whatever the number of plans. */
static size_t set_of(const struct track *t, const struct block *block, size_t p, size_t buffer)
{
    if (!regime_is_stream(block->regime))
        return block->first + p % block->sets;
    return t->arg[buffer]->stable ? (block->plans - 1 - p) % t->n_sets : 0;
}

static bool record(struct side *s, struct bench *b, const struct track *t, struct block block,
                   struct fate *fate, struct err *err)
{
    bool ok = true, stream = regime_is_stream(block.regime);
    struct recorder recorder = {block.graph, s->version, s->arena, stream ? NULL : s->plan.steps};
    const struct stage_visitor visitor = {.context = &recorder, .launch = record_launch};

    s->stage.graph = block.graph;
    for (size_t p = 0; ok && fate_open(fate) && p < block.plans; p++) {
        for (size_t k = 0; k < t->n_buffers; k++)
            s->stage.addr[k] = bench_set(b, t, set_of(t, &block, p, k)) + t->offset[k];
        ok = (!stream || neighbours_ahead(b, t, block.regime, block.graph, block.plans - 1 - p, err)) &&
             (s->call ? record_library(s, block.graph, err)
                      : stage_run(&s->stage, s->version, &s->plan, &visitor, s->arena, fate, err)) &&
             (!stream || neighbours_behind(b, t, block.regime, block.graph, err));
    }
    s->stage.graph = NULL;
    return ok && (!fate_open(fate) || cuda_graph_seal(block.graph, err));
}

static bool time_block(struct side *s, const struct track *t, struct cuda_graph *graph, size_t plans,
                       double *us, struct fate *fate, struct err *err)
{
    struct ptx_report r;

    if (!cuda_graph_time(graph, 1, LIMIT_S, us, &r, err))
        return false;
    *us /= (double)plans;
    fate_of_report(s->arena, s->version, &r, task_dims_text(s->arena, s->stage.task, t->dims), fate);
    return true;
}

/* Of a stream: both sides and the neighbours alone have as many plans, whose share of an interval's own time
 * then goes when they are taken off; where the plan is short, so many that one four times as fast makes a long
 * block still. */
static size_t stream_plans(double us)
{
    return lap_plans((us > SHORT_US ? us : us / 4) + NEIGHBOURS_US);
}

/* Going round all sets more than once stays cold, where plans touch all of them, but updates in place. */
static void choose_plans(struct lap *l, const struct track *t, enum regime regime, double us)
{
    size_t plans = lap_plans(us), sets = regime == REGIME_HOT ? t->n_hot : t->window_sets;

    if (regime_is_stream(regime)) {
        *l = (struct lap){.plans = stream_plans(t->original.us), .sets = 1};
        return;
    }
    if (t->in_place)
        plans = MIN(plans, regime == REGIME_HOT ? IN_PLACE * sets : sets);
    else if (regime == REGIME_COLD && plans > sets)
        plans = t->n_windows == 1 ? plans / sets * sets : sets;
    l->plans = plans;
    l->sets = MIN(plans, sets);
}

bool side_record(struct side *s, struct bench *b, struct track *t, enum regime regime, double us,
                 struct fate *fate, struct err *err)
{
    struct lap *l = &s->lap[regime];
    size_t windows = bench_windows(t, regime);
    bool ok = true;

    if (l->n)
        return true;
    choose_plans(l, t, regime, us);
    l->graphs = mem_zalloc(windows * sizeof(*l->graphs));
    for (; ok && fate_open(fate) && l->n < windows; l->n++)
        ok = cuda_graph_open(&l->graphs[l->n], b->gpu, err) &&
             record(s, b, t,
                    (struct block){regime, l->graphs[l->n], bench_window(t, regime, l->n), l->sets, l->plans},
                    fate, err);
    /* The first replay of a graph is a little faster than the next ones, its nodes having just been written. */
    for (size_t w = 0; ok && fate_open(fate) && w < windows; w++)
        ok = time_block(s, t, l->graphs[w], l->plans, &us, fate, err) &&
             bench_refresh(b, t, bench_window(t, regime, w), l->sets, 0, err);
    if (!ok || !fate_open(fate))
        lap_close(l);
    return ok;
}

bool side_block(struct side *s, const struct track *t, enum regime regime, size_t window, double *us,
                struct fate *fate, struct err *err)
{
    const struct lap *l = &s->lap[regime];

    return time_block(s, t, l->graphs[window], l->plans, us, fate, err);
}

static bool first_impression(struct side *s, struct bench *b, struct track *t, struct fate *fate,
                             struct err *err)
{
    size_t plans = MIN(t->n_sets, FIRST_PLANS);
    struct cuda_graph *graph;
    double us;
    bool ok;

    if (!cuda_graph_open(&graph, b->gpu, err))
        return false;
    ok = record(s, b, t, (struct block){REGIME_COLD, graph, 0, plans, plans}, fate, err);
    s->us = INFINITY;
    /* The first replay loads the code. */
    for (int i = 0; ok && fate_open(fate) && i < 2; i++) {
        ok = time_block(s, t, graph, plans, &us, fate, err) && bench_refresh(b, t, 0, plans, 0, err);
        s->us = MIN(s->us, us);
    }
    cuda_graph_close(graph);
    return ok;
}

/* Without a plan, on the first set. */
static bool side_begin(struct side *s, struct bench *b, struct track *t, struct version *v, struct err *err)
{
    struct stage *stage = &s->stage;

    BUG_IF(b->loaded != t);
    *s = (struct side){.version = v, .arena = arena_open()};
    *stage = (struct stage){.ops = &stage_gpu, .judge = b->judge, .task = v->task, .n_buffers = t->n_buffers};
    memcpy(stage->dims, t->dims, v->task->n_dims * sizeof(*t->dims));
    for (size_t k = 0; k < t->n_buffers; k++) {
        stage->addr[k] = bench_set(b, t, 0) + t->offset[k];
        stage->bytes[k] = (int64_t)t->bytes[k];
    }
    return cuda_buffers_open(&stage->buffers, b->gpu, false, 0, err);
}

bool side_open(struct side *s, struct bench *b, struct track *t, struct version *v, struct fate *fate,
               struct err *err)
{
    if (!side_begin(s, b, t, v, err) || !version_plan(v, s->arena, t->dims, s->stage.addr, &s->plan, fate, err))
        return false;
    if (!fate_open(fate))
        return true;
    if (!version_load(v, fate, err))
        return false;
    s->loaded = v->loaded;
    return !fate_open(fate) || first_impression(s, b, t, fate, err);
}

bool side_run(struct side *s, const struct bench *b, const struct track *t, struct err *err)
{
    uint64_t addr[3];

    for (size_t k = 0; k < t->n_buffers; k++)
        s->stage.addr[k] = bench_set(b, t, 0) + t->offset[k];
    matrices_at(s, addr);
    return cublas_run(b->judge->beside->cublas, &s->call->product, addr, err);
}

/* It runs once by itself: what it loads and what it refuses does not show within a graph. */
bool side_open_library(struct side *s, struct bench *b, struct track *t, const struct beside_call *call,
                       struct err *err)
{
    struct fate fate = {0};

    if (!side_begin(s, b, t, &b->judge->baseline, err))
        return false;
    s->call = call;
    return side_run(s, b, t, err) && first_impression(s, b, t, &fate, err) &&
           (fate_open(&fate) || err_world(err, "%s: %s", b->judge->beside->library, fate.words));
}

/* ---- open and close ---- */

static bool allocate(struct bench *b, struct err *err)
{
    struct cuda_buffer sets = {.name = "the sets of buffers to time on",
                               .size_bytes = LAP_COLD_L2 * b->judge->device->l2_bytes,
                               .align_bytes = 256},
                       bank = {.name = "contents for the sets", .align_bytes = 256},
                       sink = {.name = "a word", .size_bytes = 256};

    for (size_t i = 0; i < b->judge->task->n_workloads; i++) {
        const struct track *t = &b->tracks[i];
        sets.size_bytes = MAX(sets.size_bytes, MAX(t->n_sets * t->set_bytes, (uint64_t)t->traffic + 64));
        sets.align_bytes = MAX(sets.align_bytes, (uint32_t)t->align_bytes);
        bank.size_bytes = MAX(bank.size_bytes, t->n_images * t->set_bytes);
    }
    bank.align_bytes = sets.align_bytes;
    b->sets_bytes = sets.size_bytes;
    return (b->sets = cuda_buffers_alloc(b->buffers, &sets, err)) &&
           (b->bank = cuda_buffers_alloc(b->buffers, &bank, err)) &&
           (b->sink = cuda_buffers_alloc(b->buffers, &sink, err));
}

bool bench_open(struct bench **out, struct judge *j, struct err *err)
{
    struct bench *b = mem_zalloc(sizeof(*b));
    const struct task *task = j->task;
    const char *ptx = share_text("cuda/copy_kernel.ptx");
    bool ok;

    *b = (struct bench){.judge = j, .gpu = j->gpu, .arena = arena_open()};
    b->tracks = arena_array(b->arena, struct track, task->n_workloads + 1);
    ok = cuda_buffers_open(&b->buffers, b->gpu, false, 0, err) &&
         cuda_module_open(&b->copy_kernel, b->gpu, ptx, strlen(ptx), err) && neighbours_open(b, err);
    for (size_t i = 0; ok && i < task->n_workloads; i++)
        ok = lay_out(b, &b->tracks[i], task->workloads + i * task->n_dims, err);
    ok = ok && allocate(b, err) && time_nothing(b, err);
    for (size_t i = 0; ok && i < task->n_workloads; i++)
        for (size_t k = 0; ok && k < b->tracks[i].n_buffers; k++)
            ok = make_tile(b, &b->tracks[i], k, err);
    if (!ok) {
        bench_close(b);
        return false;
    }
    *out = b;
    return true;
}

void bench_close(struct bench *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->judge->task->n_workloads; i++) {
        if (b->tracks[i].original.version)
            side_close(&b->tracks[i].original);
        for (enum regime regime = 0; regime < N_REGIMES; regime++)
            lap_close(&b->tracks[i].alone[regime]);
    }
    for (enum regime regime = 0; regime < N_REGIMES; regime++)
        cuda_module_close(b->neighbours[regime]);
    cuda_module_close(b->copy_kernel);
    cuda_buffers_close(b->buffers);
    vec_free(&b->rows);
    arena_close(b->arena);
    free(b);
}
