/* The only file that includes tree-sitter. struct node is TSNode under another name, so that no other header
 * needs it. */
#include "source/internal.h"

#include <pthread.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_cuda(void);

_Static_assert(sizeof(struct node) == sizeof(TSNode), "struct node must have TSNode's layout");

struct source {
    char *path, *text;
    size_t len;
    TSTree *tree;
};

static TSNode to_ts(struct node n)
{
    TSNode t;

    memcpy(&t, &n, sizeof(t));
    return t;
}

static struct node from_ts(TSNode t)
{
    struct node n;

    memcpy(&n, &t, sizeof(n));
    return n;
}

/* ---- the grammar's words ---- */

struct symbol {
    uint8_t kind;
    bool statement, expression, declarator, directive;
};

enum { MAX_SYMBOLS = 1024 };
static struct symbol symbols[MAX_SYMBOLS]; /* by the grammar's number; several have the same word */
static TSFieldId field_ids[NODE_FIELDS];

static void words_resolve(void)
{
    static const char *const kinds[] = {
        "",
#define KIND(name, word) word,
#define FIELD(name, word)
#include "source/node.def"
#undef KIND
#undef FIELD
    };
    static const char *const fields[] = {
#define KIND(name, word)
#define FIELD(name, word) word,
#include "source/node.def"
#undef KIND
#undef FIELD
    };
    const TSLanguage *language = tree_sitter_cuda();
    uint32_t n = ts_language_symbol_count(language);
    bool found[NODE_KINDS] = {true};

    BUG_IF(n > MAX_SYMBOLS);
    for (uint32_t i = 0; i < n; i++) {
        const char *word = ts_language_symbol_name(language, (TSSymbol)i);
        if (ts_language_symbol_type(language, (TSSymbol)i) != TSSymbolTypeRegular)
            continue;
        symbols[i] = (struct symbol){.statement = str_ends(word, "_statement"),
                                     .expression = str_ends(word, "_expression"),
                                     .declarator = str_ends(word, "declarator"),
                                     .directive = str_starts(word, "preproc_")};
        for (int k = 1; k < NODE_KINDS; k++)
            if (str_eq(word, kinds[k])) {
                symbols[i].kind = (uint8_t)k;
                found[k] = true;
            }
    }
    for (int k = 0; k < NODE_KINDS; k++)
        if (!found[k])
            BUG("the grammar has no node \"%s\"", kinds[k]);
    for (int k = 0; k < NODE_FIELDS; k++) {
        field_ids[k] = ts_language_field_id_for_name(language, fields[k], (uint32_t)strlen(fields[k]));
        if (!field_ids[k])
            BUG("the grammar has no field \"%s\"", fields[k]);
    }
}

static struct symbol symbol_of(struct node n)
{
    TSSymbol s = n.id ? ts_node_symbol(to_ts(n)) : 0;

    return n.id && s < MAX_SYMBOLS ? symbols[s]
                                   : (struct symbol){0}; /* an error's number is the largest there is */
}

/* ---- a text parsed ---- */

struct text_input {
    const char *text;
    size_t len;
    uint64_t checks, max_checks;
};

static const char *read_text(void *payload, uint32_t at, TSPoint point, uint32_t *n)
{
    struct text_input *in = payload;

    (void)point;
    *n = at < in->len ? (uint32_t)(in->len - at) : 0;
    return at < in->len ? in->text + at : "";
}

/* Called every hundred parse steps. Counting them, not the time, makes the same text fail or pass everywhere.
 */
static bool too_many_steps(TSParseState *state)
{
    struct text_input *in = state->payload;

    return ++in->checks > in->max_checks;
}

/* Depth of the tree, without recursion; stops counting above the limit. */
static int tree_depth(TSTree *tree)
{
    TSTreeCursor c = ts_tree_cursor_new(ts_tree_root_node(tree));
    int depth = 1, deepest = 1;

    for (;;) {
        if (depth <= SOURCE_MAX_DEPTH && ts_tree_cursor_goto_first_child(&c)) {
            depth++;
            deepest = MAX(deepest, depth);
            continue;
        }
        while (!ts_tree_cursor_goto_next_sibling(&c)) {
            if (!ts_tree_cursor_goto_parent(&c)) {
                ts_tree_cursor_delete(&c);
                return deepest;
            }
            depth--;
        }
    }
}

static void place_of(const char *text, size_t at, int *line, int *col)
{
    *line = *col = 1;
    for (size_t i = 0; i < at; i++) {
        if (text[i] == '\n') {
            ++*line;
            *col = 1;
        } else {
            ++*col;
        }
    }
}

bool source_open(struct source **out, const char *path, const char *text, size_t len, struct err *err)
{
    static pthread_once_t resolved = PTHREAD_ONCE_INIT;
    const void *nul = memchr(text, 0, len);
    TSParser *parser;
    struct source *s;
    char *masked;
    size_t at = 0;
    int line, col;

    pthread_once(&resolved, words_resolve);
    if (len > SOURCE_MAX_BYTES)
        return err_at(err, path, 1, 1, "the file has %zu bytes; the largest that is read has %d", len,
                      SOURCE_MAX_BYTES);
    if (nul) {
        place_of(text, (size_t)((const char *)nul - text), &line, &col);
        return err_at(err, path, line, col, "a NUL byte in the text; is this a CUDA source file?");
    }
    masked = mem_alloc(len + 1);
    memcpy(masked, text, len);
    masked[len] = 0;
    if (!source_mask(masked, len, &at)) {
        free(masked);
        place_of(text, at, &line, &col);
        return err_at(err, path, line, col, "brackets nest deeper than %d levels", SOURCE_MAX_BRACKETS);
    }

    s = mem_zalloc(sizeof(*s));
    s->path = mem_strdup(path);
    s->text = mem_alloc(len + 1);
    memcpy(s->text, text, len);
    s->text[len] = 0;
    s->len = len;
    parser = ts_parser_new();
    BUG_IF(!ts_parser_set_language(parser, tree_sitter_cuda()));
    struct text_input in = {masked, len, 0, 10000 + 2 * (uint64_t)len};
    TSInput input = {.payload = &in, .read = read_text, .encoding = TSInputEncodingUTF8};
    s->tree = ts_parser_parse_with_options(parser, NULL, input, (TSParseOptions){&in, too_many_steps});
    ts_parser_delete(parser);
    free(masked);
    if (!s->tree || tree_depth(s->tree) > SOURCE_MAX_DEPTH) {
        err_at(err, path, 1, 1,
               s->tree ? "the syntax nests deeper than %d levels" : "the text takes too long to parse",
               SOURCE_MAX_DEPTH);
        source_close(s);
        return false;
    }
    *out = s;
    return true;
}

void source_close(struct source *s)
{
    if (!s)
        return;
    if (s->tree)
        ts_tree_delete(s->tree);
    free(s->path);
    free(s->text);
    free(s);
}

const char *source_path(const struct source *s)
{
    return s->path;
}

const char *source_text(const struct source *s)
{
    return s->text;
}

size_t source_len(const struct source *s)
{
    return s->len;
}

struct node source_root(const struct source *s)
{
    return from_ts(ts_tree_root_node(s->tree));
}

const char *node_word(struct node n)
{
    return n.id ? ts_node_type(to_ts(n)) : "";
}

enum node_kind node_kind(struct node n)
{
    return (enum node_kind)symbol_of(n).kind;
}

bool node_is_statement(struct node n)
{
    return symbol_of(n).statement;
}

bool node_is_expression(struct node n)
{
    return symbol_of(n).expression;
}

bool node_is_declarator(struct node n)
{
    return symbol_of(n).declarator;
}

bool node_is_directive(struct node n)
{
    return symbol_of(n).directive;
}

bool node_same(struct node a, struct node b)
{
    return a.id == b.id && (!a.id || ts_node_eq(to_ts(a), to_ts(b)));
}

size_t node_start(struct node n)
{
    return n.id ? ts_node_start_byte(to_ts(n)) : 0;
}

size_t node_end(struct node n)
{
    return n.id ? ts_node_end_byte(to_ts(n)) : 0;
}

int node_line(const struct source *s, struct node n)
{
    (void)s;
    return n.id ? (int)ts_node_start_point(to_ts(n)).row + 1 : 0;
}

int node_col(const struct source *s, struct node n)
{
    (void)s;
    return n.id ? (int)ts_node_start_point(to_ts(n)).column + 1 : 0;
}

struct node node_parent(struct node n)
{
    return n.id ? from_ts(ts_node_parent(to_ts(n))) : n;
}

struct node node_field(struct node n, enum node_field field)
{
    return n.id ? from_ts(ts_node_child_by_field_id(to_ts(n), field_ids[field])) : n;
}

uint32_t node_count(struct node n)
{
    return n.id ? ts_node_named_child_count(to_ts(n)) : 0;
}

struct node node_child(struct node n, uint32_t i)
{
    return n.id ? from_ts(ts_node_named_child(to_ts(n), i)) : n;
}

struct node node_child_of(struct node n, enum node_kind kind)
{
    for (uint32_t i = 0, all = node_count(n); i < all; i++)
        if (node_is(node_child(n, i), kind))
            return node_child(n, i);
    return (struct node){0};
}

struct node node_next(struct node n)
{
    return n.id ? from_ts(ts_node_next_named_sibling(to_ts(n))) : n;
}

struct node node_prev(struct node n)
{
    return n.id ? from_ts(ts_node_prev_named_sibling(to_ts(n))) : n;
}

struct node node_at(const struct source *s, size_t start, size_t end)
{
    return from_ts(
        ts_node_named_descendant_for_byte_range(ts_tree_root_node(s->tree), (uint32_t)start, (uint32_t)end));
}

bool node_has_error(struct node n)
{
    return n.id && ts_node_has_error(to_ts(n));
}

char *node_text(struct arena *a, const struct source *s, struct node n)
{
    return arena_strndup(a, s->text + node_start(n), node_end(n) - node_start(n));
}

bool node_text_is(const struct source *s, struct node n, const char *text)
{
    size_t len = strlen(text);

    return n.id && node_end(n) - node_start(n) == len && memcmp(s->text + node_start(n), text, len) == 0;
}

void node_walk(struct node n, bool (*visit)(void *context, struct node n), void *context)
{
    TSTreeCursor c;

    if (!n.id)
        return;
    c = ts_tree_cursor_new(to_ts(n));
    for (;;) {
        TSNode at = ts_tree_cursor_current_node(&c);

        if (ts_node_is_named(at) && visit(context, from_ts(at)) && ts_tree_cursor_goto_first_child(&c))
            continue;
        while (!ts_tree_cursor_goto_next_sibling(&c)) {
            if (!ts_tree_cursor_goto_parent(&c)) {
                ts_tree_cursor_delete(&c);
                return;
            }
        }
    }
}

struct find {
    struct node top;
    enum node_kind kind;
    VEC(struct node) found;
};

static bool find_visit(void *context, struct node n)
{
    struct find *f = context;

    if (node_is(n, f->kind) && !node_same(n, f->top))
        vec_push(&f->found, n);
    return true;
}

struct node *node_find_all(struct arena *a, struct node n, enum node_kind kind, size_t *count)
{
    struct find f = {.top = n, .kind = kind};
    struct node *nodes;

    node_walk(n, find_visit, &f);
    if (count)
        *count = f.found.n;
    vec_push(&f.found, (struct node){0});
    nodes = arena_copy(a, f.found.v, f.found.n * sizeof(*nodes));
    vec_free(&f.found);
    return nodes;
}
