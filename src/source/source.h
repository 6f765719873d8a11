/* source: C++/CUDA text as a syntax tree, and edits to it. The only folder that knows tree-sitter; nodes are
 * passed by value and live as long as their source. Names of node kinds and fields are the grammar's
 * (tree-sitter-cuda: "call_expression", "kernel_call_syntax", "for_statement", ...). Text that the grammar
 * cannot take
 * (__align__(n), three-argument __launch_bounds__, device lambdas ...) is masked, length-preserving, before
 * parsing, so byte offsets, lines and columns always refer to the text as given. ERROR nodes are normal and
 * local. */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include "base/base.h"

struct source;

struct node { /* item == NULL is "no node" */
    const struct source_item *item;
};

/* path is for messages. The text is copied. Never fails on content; deeply nested or huge text is an error. */
bool source_open(struct source **out, const char *path, const char *text, size_t len, struct err *err);
void source_close(struct source *s);
const char *source_path(const struct source *s);
const char *source_text(const struct source *s); /* the unmasked text, NUL-terminated */
size_t source_len(const struct source *s);
struct node source_root(const struct source *s);

static inline bool node_ok(struct node n)
{
    return n.item != NULL;
}

/* Kinds and fields that anybody asks for stand in node.def; the grammar's symbols are looked up once. */
enum node_kind {
    NODE_OTHER, /* and no node */
#define KIND(name, word) NODE_##name,
#define FIELD(name, word)
#include "source/node.def"
#undef KIND
#undef FIELD
    NODE_KINDS
};
enum node_field {
#define KIND(name, word)
#define FIELD(name, word) FIELD_##name,
#include "source/node.def"
#undef KIND
#undef FIELD
    NODE_FIELDS
};
enum node_kind node_kind(struct node n);
const char *node_word(struct node n); /* the grammar's word for its kind, "" for no node */
static inline bool node_is(struct node n, enum node_kind kind)
{
    return n.item != NULL && node_kind(n) == kind;
}
/* By how the grammar's word for the kind begins or ends. */
bool node_is_statement(struct node n), node_is_expression(struct node n), node_is_declarator(struct node n);
bool node_is_directive(struct node n); /* of the preprocessor */
bool node_same(struct node a, struct node b);
size_t node_start(struct node n), node_end(struct node n); /* byte offsets, end exclusive */
int node_line(const struct source *s, struct node n);      /* 1-based */
int node_col(const struct source *s, struct node n);       /* 1-based, in bytes */
struct node node_parent(struct node n);
struct node node_field(struct node n, enum node_field field);
uint32_t node_count(struct node n); /* named children, comments included */
struct node node_child(struct node n, uint32_t i);
struct node node_child_of(struct node n, enum node_kind kind);  /* the first of this kind, or no node */
struct node node_next(struct node n), node_prev(struct node n); /* named siblings */
struct node node_at(const struct source *s, size_t start,
                    size_t end); /* smallest named node that spans the bytes */
bool node_has_error(struct node n);
/* The node's text: a copy in the arena, or a comparison without one. */
char *node_text(struct arena *a, const struct source *s, struct node n);
bool node_text_is(const struct source *s, struct node n, const char *text);
/* Depth-first walk over named nodes. visit returns false to skip a node's children. */
void node_walk(struct node n, bool (*visit)(void *context, struct node n), void *context);
/* All descendants (not n itself) of a kind, in text order, in the arena; behind the last stands no node. *count
 * of them; count may be NULL. */
struct node *node_find_all(struct arena *a, struct node n, enum node_kind kind, size_t *count);

/* Edits: replacements of byte ranges of one text, kept in order, applied at once. Overlap is a BUG. */
struct edit {
    size_t start, end;
    char *text;
};

struct edits {
    struct arena *arena;
    VEC(struct edit) list;
    bool clash; /* edits_try met another edit and left its own out */
};

void edits_replace(struct edits *e, size_t start, size_t end, const char *text); /* copied into the arena */
bool edits_try(struct edits *e, size_t start, size_t end, const char *text); /* overlap sets clash, no BUG */
void edits_insert(struct edits *e, size_t at, const char *text); /* several at one place keep their order */
char *edits_apply(const struct edits *e, struct arena *a, const char *text, size_t len);

#endif
