/* Launches, sets and copies recorded once and replayed as one graph; the device's time of replays.
 *
 * Behind the gate: a kernel that waits for the host goes first, then the event, the replays and the other event
 * are queued, then the gate opens. So the device never waits for the host within the interval. The queue has a
 * limit: when it is full, the host waits for a device that waits for the host. Then the gate gives up by
 * itself, the interval does not count, and fewer replays are queued at a time. */
#include "device.h"

struct cuda_graph {
    struct cuda *cuda;
    CUgraph graph;
    CUgraphExec exec;
    CUnode last;
    bool last_is_launch;
    size_t n_nodes;
    char first_kernel[128]; /* for findings */
    int chunk;              /* replays queued at a time */
    bool uploaded;
};

enum { QUEUED_NODES = 4096, QUEUED_REPLAYS = 512, GATE_NS = 100000000, MOST_TRIES = 16 };

bool cuda_graph_open(struct cuda_graph **out, struct cuda *c, struct err *err)
{
    struct cuda_graph *t;
    CUgraph graph;

    if (!cuda_usable(c, err) || !cuda_check(c, c->driver->graph_create(&graph, 0), err, "making a graph"))
        return false;
    t = mem_zalloc(sizeof(*t));
    t->cuda = c;
    t->graph = graph;
    *out = t;
    return true;
}

void cuda_graph_close(struct cuda_graph *t)
{
    if (!t)
        return;
    if (!t->cuda->spoilt) {
        if (t->exec)
            t->cuda->driver->graph_exec_destroy(t->exec);
        t->cuda->driver->graph_destroy(t->graph);
    }
    free(t);
}

static bool added(struct cuda_graph *t, CUnode node, bool launch)
{
    t->last = node;
    t->last_is_launch = launch;
    t->n_nodes++;
    return true;
}

static bool set_attribute(struct cuda_graph *t, CUnode node, int id, const union launch_value *v,
                          struct err *err)
{
    struct cuda *c = t->cuda;

    if (!c->driver->graph_attribute)
        return err_world(err, "GPU %d: the driver is too old for cooperative launches and clusters in graphs",
                         c->info.index);
    return cuda_check(c, c->driver->graph_attribute(node, id, v), err, "recording a launch");
}

bool cuda_graph_launch(struct cuda_graph *t, struct cuda_module *m, const struct ptx_launch *l, struct err *err)
{
    struct cuda *c = t->cuda;
    struct kernel_node p = {.shared_bytes = l->shared_bytes, .params = (void **)(uintptr_t)l->args};
    static const struct edge_data early = {.from_port = EDGE_PROGRAMMATIC, .type = EDGE_PROGRAMMATIC};
    /* A driver older than CUDA 12.3 has no such edges: the launch then waits for the end of the one ahead. */
    bool begins_early = l->programmatic && t->last_is_launch && c->driver->graph_edges;
    struct ptx_report r;
    CUnode node;

    BUG_IF(t->exec);
    if (!module_function(m, l->kernel, &p.function, err) || !launch_prepare(m, l, p.function, &r, err))
        return false;
    if (r.end != PTX_DONE)
        return err_world(err, "%s: %s", l->kernel, r.findings[0].words);
    memcpy(p.grid, l->grid, sizeof(p.grid));
    memcpy(p.block, l->block, sizeof(p.block));
    if (!cuda_check(c, c->driver->graph_kernel(&node, t->graph, &t->last, t->last && !begins_early, &p), err,
                    "recording a launch"))
        return false;
    if (begins_early && !cuda_check(c, c->driver->graph_edges(t->graph, &t->last, &node, &early, 1), err,
                                    "recording a launch that may begin early"))
        return false;
    if (l->cooperative &&
        !set_attribute(t, node, LAUNCH_COOPERATIVE, &(union launch_value){.cooperative = 1}, err))
        return false;
    if (l->cluster[0] && !set_attribute(t, node, LAUNCH_CLUSTER,
                                        &(union launch_value){.cluster = {l->cluster[0], MAX(l->cluster[1], 1),
                                                                          MAX(l->cluster[2], 1)}},
                                        err))
        return false;
    if (!*t->first_kernel)
        snprintf(t->first_kernel, sizeof(t->first_kernel), "%s", l->kernel);
    return added(t, node, true);
}

bool cuda_graph_set(struct cuda_graph *t, uint64_t addr, int byte, size_t n, struct err *err)
{
    struct cuda *c = t->cuda;
    struct set_node p = {
        .to = addr, .value = (unsigned char)byte, .element_bytes = 1, .width = n, .height = 1, .pitch = n};
    CUnode node;

    BUG_IF(t->exec);
    if (n == 0)
        return true;
    if (!cuda_usable(c, err) ||
        !cuda_check(c, c->driver->graph_set(&node, t->graph, &t->last, t->last != NULL, &p, c->context), err,
                    "recording a memset"))
        return false;
    return added(t, node, false);
}

static bool add_copy(struct cuda_graph *t, struct copy_end from, uint64_t to, size_t n, struct err *err)
{
    struct cuda *c = t->cuda;
    struct copy_node p = {.from = from,
                          .to = {.memory = COPY_DEVICE, .device = to, .pitch = n, .height = 1},
                          .width = n,
                          .height = 1,
                          .depth = 1};
    CUnode node;

    BUG_IF(t->exec);
    if (n == 0)
        return true;
    if (!cuda_usable(c, err) ||
        !cuda_check(c, c->driver->graph_copy(&node, t->graph, &t->last, t->last != NULL, &p, c->context), err,
                    "recording a copy"))
        return false;
    return added(t, node, false);
}

bool cuda_graph_copy(struct cuda_graph *t, uint64_t to, uint64_t from, size_t n, struct err *err)
{
    return add_copy(t, (struct copy_end){.memory = COPY_DEVICE, .device = from, .pitch = n, .height = 1}, to, n,
                    err);
}

bool cuda_graph_write(struct cuda_graph *t, struct cuda_module *m, const char *name, uint64_t offset_bytes,
                      const void *from, size_t n, struct err *err)
{
    struct copy_end host = {.memory = COPY_HOST, .host = (void *)(uintptr_t)from, .pitch = n, .height = 1};
    uint64_t addr;

    return module_variable(m, name, &addr, err) && (!addr || add_copy(t, host, addr + offset_bytes, n, err));
}

/* A library may let its first launch begin before the one ahead has ended, which was another plan's. */
static bool wait_for_end(struct cuda_graph *t, CUnode before, struct err *err)
{
    enum { MOST = 8 };
    static const struct edge_data whole = {0};
    const struct driver *d = t->cuda->driver;
    struct edge_data data[MOST] = {0};
    CUnode to[MOST];
    size_t n = MOST;

    if (!cuda_check(t->cuda, d->graph_dependents(before, to, data, &n), err, "reading a graph"))
        return false;
    for (size_t i = 0; i < MIN(n, (size_t)MOST); i++)
        if (data[i].type == EDGE_PROGRAMMATIC &&
            (!cuda_check(t->cuda, d->graph_remove_edges(t->graph, &before, &to[i], &data[i], 1), err,
                         "changing a graph") ||
             !cuda_check(t->cuda, d->graph_edges(t->graph, &before, &to[i], &whole, 1), err,
                         "changing a graph")))
            return false;
    return true;
}

/* The node that what follows waits for: of several, one that waits for them all. */
static bool captured_last(struct cuda_graph *t, CUnode *last, struct err *err)
{
    struct cuda *c = t->cuda;
    const struct edge_data *data;
    const CUnode *nodes;
    uint64_t id;
    size_t n = 0;
    int status;

    *last = t->last;
    if (!cuda_check(c, c->driver->capture_info(c->stream, &status, &id, NULL, &nodes, &data, &n), err,
                    "asking what was captured"))
        return false;
    if (n == 1)
        *last = nodes[0];
    return n <= 1 || cuda_check(c, c->driver->graph_join(last, t->graph, nodes, n), err, "joining a graph");
}

bool graph_capture(struct cuda_graph *t, const char *name, bool (*call)(void *context, struct err *err),
                   void *context, struct err *err)
{
    struct cuda *c = t->cuda;
    const struct driver *d = c->driver;
    CUnode before = t->last, last = NULL;
    CUgraph same;
    bool ok;

    BUG_IF(t->exec);
    if (!cuda_usable(c, err) ||
        !cuda_check(c, d->capture_begin(c->stream, t->graph, &t->last, NULL, t->last != NULL, CAPTURE_RELAXED),
                    err, "beginning a capture"))
        return false;
    ok = call(context, err) && captured_last(t, &last, err);
    int code = d->capture_end(c->stream, &same);
    if (!ok || !cuda_check(c, code, err, "ending a capture") || (before && !wait_for_end(t, before, err)))
        return false;
    if (last == before)
        return err_world(err, "%s launched nothing into the stream that it was given", name);
    if (!*t->first_kernel)
        snprintf(t->first_kernel, sizeof(t->first_kernel), "%s", name);
    return added(t, last, false);
}

bool cuda_graph_seal(struct cuda_graph *t, struct err *err)
{
    struct cuda *c = t->cuda;
    int nodes = (int)MIN(MAX(t->n_nodes, 1), (size_t)QUEUED_NODES);

    t->chunk = MAX(1, MIN(QUEUED_REPLAYS, QUEUED_NODES / nodes));
    return cuda_usable(c, err) &&
           cuda_check(c, c->driver->graph_instantiate(&t->exec, t->graph, 0), err, "making a graph executable");
}

static bool gate_close(struct cuda *c, struct err *err)
{
    uint64_t late = c->flags_addr + 4, limit_ns = GATE_NS;
    void *params[] = {&c->flags_addr, &late, &c->ticket, &limit_ns};

    c->ticket++;
    return helper_launch(c, c->helpers.gate, 1, 1, 0, params, err);
}

/* n replays; *late: the gate gave up, the time is of no use. */
static bool time_chunk(struct cuda_graph *t, int n, double limit_s, double *us, bool *late,
                       struct ptx_report *r, struct err *err)
{
    struct cuda *c = t->cuda;
    const struct driver *d = c->driver;
    const struct ptx_launch any = {.kernel = t->first_kernel};
    bool ended;
    float ms = 0;
    int code;

    if (!gate_close(c, err))
        return false;
    code = d->event_record(c->begin, c->stream);
    for (int i = 0; code == CUDA_OK && i < n; i++)
        code = d->graph_launch(t->exec, c->stream);
    if (code == CUDA_OK)
        code = d->event_record(c->end, c->stream);
    __atomic_store_n(&c->flags[0], c->ticket, __ATOMIC_RELEASE);
    if (code != CUDA_OK)
        return cuda_fault(c, code, &any, r, err);
    cuda_wait(c, limit_s, &ended, &code);
    if (!ended) {
        cuda_spoil(c, "%d replays that begin with %s did not end within %g s", n, t->first_kernel, limit_s);
        return cuda_finding(r, PTX_HUNG, PTX_LOOP, &any, "%d replay%s did not end within %.3g s", n,
                            n == 1 ? "" : "s", limit_s);
    }
    if (code != CUDA_OK)
        return cuda_fault(c, code, &any, r, err);
    if (!cuda_check(c, d->event_elapsed(&ms, c->begin, c->end), err, "reading a time"))
        return false;
    *us = ms * 1e3;
    *late = c->flags[1] == c->ticket;
    return true;
}

bool cuda_graph_time(struct cuda_graph *t, int times, double limit_s, double *us, struct ptx_report *r,
                     struct err *err)
{
    struct cuda *c = t->cuda;
    double until = time_s() + limit_s;

    BUG_IF(!t->exec || times < 1);
    *us = 0;
    *r = (struct ptx_report){.end = PTX_DONE};
    if (!cuda_usable(c, err) || !spaces_hash(c, err))
        return false;
    if (!t->uploaded) {
        if (!cuda_check(c, c->driver->graph_upload(t->exec, c->stream), err, "uploading a graph") ||
            !cuda_sync(c, err))
            return false;
        t->uploaded = true;
    }
    for (int done = 0, tries = 0; done < times && r->end == PTX_DONE;) {
        int n = MIN(t->chunk, times - done);
        double piece = 0;
        bool late = false;
        if (!time_chunk(t, n, MAX(until - time_s(), 0.001), &piece, &late, r, err))
            return false;
        if (late) { /* the queue was full, or this machine had no time for us */
            if (++tries == MOST_TRIES)
                return err_world(
                    err,
                    "GPU %d: %zu launches could not be queued within %g s, %d times: this machine has too much "
                    "else to do",
                    c->info.index, n * t->n_nodes, GATE_NS * 1e-9, tries);
            t->chunk = MAX(1, n / 2);
            continue;
        }
        *us += piece;
        done += n;
    }
    return true;
}
