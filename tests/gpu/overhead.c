/* What a launch costs on this GPU, by several ways of launching, of placing buffers, and with graphs that wait
 * uploaded: the table of docs/measuring.md. `gpu_overhead`, of nothing else on the GPU. */
#include "gpu/device.h"

#include <dlfcn.h>

static const char kernels[] =
    "extern \"C\" __global__ void empty() { }\n"
    "extern \"C\" __global__ void copy(uint4 *to, const uint4 *from, unsigned long long n) {\n"
    "  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < n) to[i] = from[i]; }\n";

enum { THREADS = 128, ROUNDS = 15, RELAXED = 2 };

static struct cuda *cuda;
static const struct driver *d;
static struct cuda_module *module;
static CUfunction empty, copy;
static struct arena *arena;
static struct err err;
static int (*begin_capture)(CUstream, int), (*end_capture)(CUstream, CUgraph *); /* NULL: the driver has none */

_Noreturn static void quit(const char *what)
{
    fprintf(stderr, "gpu_overhead: %s: %s\n", what, err.text);
    exit(1);
}

static void must(int code, const char *what)
{
    if (!cuda_check(cuda, code, &err, what))
        quit(what);
}

/* What is launched: the empty kernel (half 0), or copies that go round n sets of 2 x half bytes. */
struct work {
    uint64_t half;
    uint64_t *from, *to;
    int n;
};

struct call {
    CUfunction f;
    unsigned blocks;
    uint64_t to, from, vectors;
    void *params[3];
};

static struct call *call_of(const struct work *w, int i, struct call *c)
{
    *c = (struct call){.f = w->half ? copy : empty, .blocks = 1};
    if (w->half) {
        c->to = w->to[i % w->n];
        c->from = w->from[i % w->n];
        c->vectors = w->half / 16;
        c->blocks = (unsigned)((c->vectors + THREADS - 1) / THREADS);
    }
    c->params[0] = &c->to;
    c->params[1] = &c->from;
    c->params[2] = &c->vectors;
    return c;
}

static void launch(const struct work *w, int i)
{
    struct call c;

    call_of(w, i, &c);
    must(d->launch(c.f, c.blocks, 1, 1, THREADS, 1, 1, 0, cuda->stream, c.params, NULL), "a launch");
}

struct graph {
    CUgraph graph;
    CUgraphExec exec;
};

static struct graph graph_of(const struct work *w, int first, int n, bool captured)
{
    struct graph g;
    CUnode last = NULL, node;
    struct call c;

    must(captured ? begin_capture(cuda->stream, RELAXED) : d->graph_create(&g.graph, 0), "a graph");
    for (int i = first; i < first + n; i++) {
        if (captured) {
            launch(w, i);
            continue;
        }
        call_of(w, i, &c);
        struct kernel_node p = {
            .function = c.f, .grid = {c.blocks, 1, 1}, .block = {THREADS, 1, 1}, .params = c.params};
        must(d->graph_kernel(&node, g.graph, &last, last != NULL, &p), "a node");
        last = node;
    }
    if (captured)
        must(end_capture(cuda->stream, &g.graph), "a capture");
    must(d->graph_instantiate(&g.exec, g.graph, 0), "a graph");
    return g;
}

static void graph_close(struct graph *g)
{
    d->graph_exec_destroy(g->exec);
    d->graph_destroy(g->graph);
}

/* Median of rounds, us a launch: n launches, in graphs of per_graph each, or (0) in the stream. */
static double time_graphs(const struct work *w, const struct graph *graphs, size_t n_graphs, int n)
{
    double us[ROUNDS];

    for (int round = -2; round < ROUNDS; round++) {
        uint64_t late = cuda->flags_addr + 4, limit_ns = 50000000;
        void *params[] = {&cuda->flags_addr, &late, &cuda->ticket, &limit_ns};
        float ms = 0;
        cuda->ticket++;
        if (!helper_launch(cuda, cuda->helpers.gate, 1, 1, 0, params, &err))
            quit("the gate");
        must(d->event_record(cuda->begin, cuda->stream), "an event");
        for (int i = 0; n_graphs == 0 && i < n; i++)
            launch(w, i);
        for (size_t g = 0; g < n_graphs; g++)
            must(d->graph_launch(graphs[g].exec, cuda->stream), "a graph");
        must(d->event_record(cuda->end, cuda->stream), "an event");
        __atomic_store_n(&cuda->flags[0], cuda->ticket, __ATOMIC_RELEASE);
        if (!cuda_sync(cuda, &err))
            quit("waiting");
        must(d->event_elapsed(&ms, cuda->begin, cuda->end), "a time");
        if (cuda->flags[1] == cuda->ticket)
            printf("  the gate gave up: what follows is no time\n");
        if (round >= 0)
            us[round] = ms * 1e3 / n;
    }
    return stats_median(us, ROUNDS);
}

static void row(const char *what, const struct work *w, int n, int per_graph, bool captured)
{
    size_t n_graphs = per_graph ? (size_t)(n + per_graph - 1) / (size_t)per_graph : 0;
    struct graph *graphs = mem_zalloc((n_graphs + 1) * sizeof(*graphs));

    if (captured && !begin_capture) {
        free(graphs);
        return;
    }
    for (size_t g = 0; g < n_graphs; g++)
        graphs[g] = graph_of(w, (int)g * per_graph, MIN(per_graph, n - (int)g * per_graph), captured);
    double us = time_graphs(w, graphs, n_graphs, n);
    printf("%-44s %8.3f MB %6d launches, %6d a graph  %8.3f us\n", what, 2e-6 * (double)w->half, n, per_graph,
           us);
    fflush(stdout);
    for (size_t g = 0; g < n_graphs; g++)
        graph_close(&graphs[g]);
    free(graphs);
}

enum place { ONE_SLAB, TWO_SLABS, OWN_EACH };

static struct work place(enum place how, uint64_t half, int n)
{
    struct work w = {
        .half = half, .n = n, .from = arena_array(arena, uint64_t, n), .to = arena_array(arena, uint64_t, n)};
    uint64_t a = 0, b = 0;

    if (how != OWN_EACH)
        must(d->alloc(&a, (how == ONE_SLAB ? 2 : 1) * half * (uint64_t)n), "memory");
    if (how == TWO_SLABS)
        must(d->alloc(&b, half * (uint64_t)n), "memory");
    for (uint64_t i = 0; i < (uint64_t)n; i++) {
        if (how == OWN_EACH) {
            must(d->alloc(&w.from[i], half), "memory");
            must(d->alloc(&w.to[i], half), "memory");
        } else {
            w.from[i] = how == ONE_SLAB ? a + 2 * i * half : a + i * half;
            w.to[i] = how == ONE_SLAB ? w.from[i] + half : b + i * half;
        }
        if (!cuda_set(cuda, w.from[i], (int)i, half, &err))
            quit("a memset");
    }
    return w;
}

static void unplace(const struct work *w, enum place how)
{
    for (int i = 0; i < (how == OWN_EACH ? w->n : 1); i++) {
        d->free(w->from[i]);
        if (how != ONE_SLAB)
            d->free(w->to[i]);
    }
}

/* One graph while another is made, uploaded, run. */
static void waiting(const char *what, const struct work *w, int n)
{
    struct graph a = graph_of(w, 0, n, false), b;

    printf("%-44s alone %.3f", what, time_graphs(w, &a, 1, n));
    b = graph_of(w, 0, n, false);
    printf(", another made %.3f", time_graphs(w, &a, 1, n));
    must(d->graph_upload(b.exec, cuda->stream), "an upload");
    if (!cuda_sync(cuda, &err))
        quit("waiting");
    printf(", uploaded %.3f", time_graphs(w, &a, 1, n));
    time_graphs(w, &b, 1, n);
    printf(", run %.3f us\n", time_graphs(w, &a, 1, n));
    graph_close(&a);
    graph_close(&b);
}

static bool start(void)
{
    static const char *const names[] = {"empty", "copy"};
    struct compile_request q = {.path = "overhead.cu", .text = kernels, .kernels = names, .n_kernels = 2};
    struct cuda_target target;
    struct compile_result r;
    struct nvrtc *n;

    if (!nvrtc_open(&n, &err) || !cuda_open(&cuda, 0, &err) || !cuda_target_find(cuda, n, arena, &target, &err))
        return false;
    q.arch = target.arch;
    d = cuda->driver;
    return gpu_compile(n, arena, &q, &r, &err) &&
           cuda_module_open(&module, cuda, target.ptx ? (const void *)r.image.ptx : r.image.cubin,
                            target.ptx ? r.image.ptx_len : r.image.cubin_len, &err) &&
           module_function(module, "empty", &empty, &err) && module_function(module, "copy", &copy, &err);
}

int main(void)
{
    static const uint64_t halves[] = {43008, 196608, 1572864, 10616832};
    static const char *const names[] = {"copy, one slab", "copy, in and out apart",
                                        "copy, each buffer its own"};
    struct work nothing = {0};

    arena = arena_open();
    if (!start())
        quit("starting");
    void *begin = dlsym(d->library, "cuStreamBeginCapture_v2"), *end = dlsym(d->library, "cuStreamEndCapture");
    memcpy(&begin_capture, &begin, sizeof(begin));
    memcpy(&end_capture, &end, sizeof(end));

    row("empty", &nothing, 1, 1, false);
    row("empty", &nothing, 10, 10, false);
    row("empty", &nothing, 100, 100, false);
    row("empty", &nothing, 1000, 1000, false);
    row("empty, captured", &nothing, 1000, 1000, true);
    row("empty", &nothing, 10000, 10000, false);
    row("empty", &nothing, 1000, 100, false);
    row("empty", &nothing, 1000, 10, false);
    row("empty", &nothing, 500, 1, false);
    row("empty, in the stream", &nothing, 500, 0, false);
    waiting("empty, 200 in a graph:", &nothing, 200);
    for (size_t i = 0; i < ARRAY_LEN(halves); i++) {
        int n = (int)ceil(240e6 / (2 * (double)halves[i]));
        for (enum place p = ONE_SLAB; p <= OWN_EACH; p++) {
            struct work w = place(p, halves[i], n), hot = w;
            hot.n = 1;
            row(names[p], &w, n, n, false);
            if (p == ONE_SLAB) {
                row("copy, captured", &w, n, n, true);
                row("copy, hot", &hot, n, n, false);
                waiting("copy, one slab:", &w, n);
            }
            unplace(&w, p);
        }
    }
    return 0;
}
