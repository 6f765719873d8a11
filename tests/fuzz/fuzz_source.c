/* Any text as a syntax tree: every node's text, place and kin, and an edit at each of the first of them. */
#include "source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct visit {
    struct source *source;
    struct arena *arena;
    struct edits edits;
    size_t n;
};

static bool visit(void *context, struct node n)
{
    struct visit *v = context;

    if (node_start(n) > node_end(n) || node_end(n) > source_len(v->source) || node_line(v->source, n) < 1 ||
        node_col(v->source, n) < 1)
        BUG("node out of its text");
    if (++v->n <= 64)
        edits_insert(&v->edits, node_start(n), "/**/");
    return node_ok(node_parent(n)) || node_same(n, source_root(v->source));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_open();
    struct visit v = {.arena = a, .edits = {.arena = a}};
    char *text = arena_copy(a, data, size);
    struct err err;

    if (source_open(&v.source, "fuzz.cu", size ? text : "", size, &err)) {
        node_walk(source_root(v.source), visit, &v);
        edits_apply(&v.edits, a, source_text(v.source), source_len(v.source));
        source_close(v.source);
    }
    arena_close(a);
    return 0;
}
