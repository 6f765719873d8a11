/* Graphs: their kernel nodes, read when a graph is made executable, counted when it is launched. */
#include "internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KERNEL = 0, CHILD = 4, DEEPEST = 8 };

struct nodes {
    void *exec;
    uint32_t *records;
    size_t n, cap;
};

static struct {
    pthread_mutex_t lock;
    struct nodes *v;
    size_t n, cap;
} g = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *grown(void *v, size_t n, size_t *cap, size_t bytes)
{
    void *more;

    if (n < *cap)
        return v;
    more = realloc(v, (*cap + 16) * 2 * bytes);
    if (more)
        *cap = (*cap + 16) * 2;
    return more;
}

static bool add_nodes(struct nodes *to, void *graph, int depth)
{
    const struct calls *c = driver_calls();
    void **nodes = NULL, *child;
    size_t n = 0;
    int type, device = 0;
    bool ok = c->graph_nodes(graph, NULL, &n) == 0 && (!n || (nodes = calloc(n, sizeof(*nodes)))) &&
              (!n || c->graph_nodes(graph, nodes, &n) == 0);

    if (c->context_device)
        c->context_device(&device);
    for (size_t i = 0; ok && i < n; i++) {
        struct node_params p = {0};
        if (c->node_type(nodes[i], &type) != 0)
            continue;
        if (type == CHILD && depth < DEEPEST && c->node_child && c->node_child(nodes[i], &child) == 0) {
            ok = add_nodes(to, child, depth + 1);
        } else if (type == KERNEL && c->node_kernel(nodes[i], &p) == 0) {
            struct shape s = {.dynamic_bytes = p.shared, .device = (uint32_t)device, .in_graph = 1};
            memcpy(s.grid, p.grid, sizeof(s.grid));
            memcpy(s.block, p.block, sizeof(s.block));
            uint32_t *more = grown(to->records, to->n, &to->cap, sizeof(*to->records));
            if (!(ok = more != NULL))
                break;
            to->records = more;
            to->records[to->n++] = table_function(p.function ? p.function : p.kernel, &s);
        }
    }
    free(nodes);
    return ok;
}

static struct nodes *find(void *exec)
{
    for (size_t i = 0; i < g.n; i++)
        if (g.v[i].exec == exec)
            return &g.v[i];
    return NULL;
}

void graph_gone(void *exec)
{
    struct nodes *at;

    pthread_mutex_lock(&g.lock);
    if ((at = find(exec))) {
        free(at->records);
        *at = g.v[--g.n];
    }
    pthread_mutex_unlock(&g.lock);
}

void graph_made(void *exec, void *graph)
{
    const struct calls *c = driver_calls();
    struct nodes made = {.exec = exec};

    if (!table() || !c || !c->graph_nodes || !c->node_type || !c->node_kernel)
        return;
    graph_gone(exec);
    if (!add_nodes(&made, graph, 0)) {
        free(made.records);
        return;
    }
    pthread_mutex_lock(&g.lock);
    struct nodes *more = grown(g.v, g.n, &g.cap, sizeof(*g.v));
    if (more) {
        g.v = more;
        g.v[g.n++] = made;
    } else {
        free(made.records);
    }
    pthread_mutex_unlock(&g.lock);
}

void graph_launched(void *exec)
{
    struct capture_file *f = table();
    uint64_t now = now_coarse_ns();
    struct nodes *at;

    if (!f)
        return;
    table_note(&f->graphs, 1);
    pthread_mutex_lock(&g.lock);
    at = find(exec);
    for (size_t i = 0; at && i < at->n && !cupti_counts(); i++)
        table_count(at->records[i], 1, now);
    if (!at)
        table_note(&f->unknown_graph, 1);
    pthread_mutex_unlock(&g.lock);
}
