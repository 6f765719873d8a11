/* The only file that includes tree-sitter. Its tree has no parents and finds a child by going through those
 * before it; transforms ask for both all the time. So it is copied once into an array, in text order. */
#include "source/internal.h"

#include <pthread.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_cuda(void);

struct source_item {
    const struct source_item *parent;
    const struct source_item **named; /* its named children; */
    uint32_t n_named, place;          /* and how many named ones of its parent stand before it */
    uint32_t n_items;                 /* itself and all below it, which follow it in the array */
    uint32_t start, end, line, col;
    TSSymbol symbol;
    TSFieldId field; /* of its parent; 0: none */
    bool is_named, has_error;
};

struct source {
    unsigned users; /* who opened it and has not closed it, and the list below */
    char *path, *text;
    size_t len;
    struct source_item *items; /* the root first */
    const struct source_item **named;
};

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
    /* An error's number is the largest there is. */
    return n.item && n.item->symbol < MAX_SYMBOLS ? symbols[n.item->symbol] : (struct symbol){0};
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

static void item_set(struct source_item *x, const TSTreeCursor *c)
{
    TSNode n = ts_tree_cursor_current_node(c);
    TSPoint at = ts_node_start_point(n);

    x->symbol = ts_node_symbol(n);
    x->field = ts_tree_cursor_current_field_id(c);
    x->is_named = ts_node_is_named(n);
    x->has_error = ts_node_has_error(n);
    x->start = ts_node_start_byte(n);
    x->end = ts_node_end_byte(n);
    x->line = at.row + 1;
    x->col = at.column + 1;
}

/* The array of a tree, without recursion; false: it is deeper than is read. */
static bool items_copy(struct source *s, const TSTree *tree)
{
    TSNode root = ts_tree_root_node(tree);
    size_t n = 0, n_named = 0, most = ts_node_descendant_count(root);
    struct source_item *path[SOURCE_MAX_DEPTH], *x;
    TSTreeCursor c = ts_tree_cursor_new(root);
    int depth = 0;

    s->items = mem_zalloc(most * sizeof(*s->items));
    s->named = mem_zalloc(most * sizeof(*s->named));
    for (bool more = true; more && depth < SOURCE_MAX_DEPTH;) {
        BUG_IF(n == most);
        x = path[depth] = &s->items[n++];
        item_set(x, &c);
        if (depth > 0) {
            x->parent = path[depth - 1];
            x->place = path[depth - 1]->n_named;
            path[depth - 1]->n_named += x->is_named;
        }
        if (ts_tree_cursor_goto_first_child(&c)) {
            depth++;
            continue;
        }
        while (more && !ts_tree_cursor_goto_next_sibling(&c)) {
            more = ts_tree_cursor_goto_parent(&c);
            depth -= more;
            path[depth]->n_items = (uint32_t)(&s->items[n] - path[depth]);
        }
        x->n_items = MAX(x->n_items, 1);
    }
    ts_tree_cursor_delete(&c);
    for (size_t i = 0; i < n; i++) {
        x = &s->items[i];
        x->named = s->named + n_named;
        n_named += x->n_named;
        if (x->parent && x->is_named)
            x->parent->named[x->place] = x;
    }
    return depth < SOURCE_MAX_DEPTH;
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

/* The last texts of a thread, newest first: steps of a version open the file that the step before them left,
 * and parsing is most of what they cost. A tree is never changed. */
enum { REMEMBERED = 4 };
static _Thread_local struct source *remembered[REMEMBERED];

static void source_drop(struct source *s)
{
    if (!s || --s->users > 0)
        return;
    free(s->named);
    free(s->items);
    free(s->path);
    free(s->text);
    free(s);
}

static void remember_first(struct source *s, size_t from)
{
    memmove(remembered + 1, remembered, from * sizeof(*remembered));
    remembered[0] = s;
}

static struct source *source_again(const char *path, const char *text, size_t len)
{
    for (size_t i = 0; i < REMEMBERED && remembered[i]; i++) {
        struct source *s = remembered[i];
        if (s->len == len && memcmp(s->text, text, len) == 0 && str_eq(s->path, path)) {
            remember_first(s, i);
            s->users++;
            return s;
        }
    }
    return NULL;
}

static void source_remember(struct source *s)
{
    source_drop(remembered[REMEMBERED - 1]);
    remember_first(s, REMEMBERED - 1);
    s->users++;
}

bool source_open(struct source **out, const char *path, const char *text, size_t len, struct err *err)
{
    static pthread_once_t resolved = PTHREAD_ONCE_INIT;
    const void *nul = memchr(text, 0, len);
    TSParser *parser;
    TSTree *tree;
    struct source *s;
    char *masked;
    size_t at = 0;
    int line, col;

    pthread_once(&resolved, words_resolve);
    *out = source_again(path, text, len);
    if (*out)
        return true;
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
    s->users = 1;
    s->path = mem_strdup(path);
    s->text = mem_alloc(len + 1);
    memcpy(s->text, text, len);
    s->text[len] = 0;
    s->len = len;
    parser = ts_parser_new();
    BUG_IF(!ts_parser_set_language(parser, tree_sitter_cuda()));
    struct text_input in = {masked, len, 0, 10000 + 2 * (uint64_t)len};
    TSInput input = {.payload = &in, .read = read_text, .encoding = TSInputEncodingUTF8};
    tree = ts_parser_parse_with_options(parser, NULL, input, (TSParseOptions){&in, too_many_steps});
    ts_parser_delete(parser);
    free(masked);
    if (tree && items_copy(s, tree)) {
        source_remember(s);
        *out = s;
    } else {
        err_at(err, path, 1, 1,
               tree ? "the syntax nests deeper than %d levels" : "the text takes too long to parse",
               SOURCE_MAX_DEPTH);
        source_close(s);
        s = NULL;
    }
    ts_tree_delete(tree);
    return s != NULL;
}

void source_close(struct source *s)
{
    source_drop(s);
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
    return (struct node){s->items};
}

const char *node_word(struct node n)
{
    return n.item ? ts_language_symbol_name(tree_sitter_cuda(), n.item->symbol) : "";
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
    return a.item == b.item;
}

size_t node_start(struct node n)
{
    return n.item ? n.item->start : 0;
}

size_t node_end(struct node n)
{
    return n.item ? n.item->end : 0;
}

int node_line(const struct source *s, struct node n)
{
    (void)s;
    return n.item ? (int)n.item->line : 0;
}

int node_col(const struct source *s, struct node n)
{
    (void)s;
    return n.item ? (int)n.item->col : 0;
}

struct node node_parent(struct node n)
{
    return (struct node){n.item ? n.item->parent : NULL};
}

struct node node_field(struct node n, enum node_field field)
{
    if (!n.item)
        return n;
    for (const struct source_item *x = n.item + 1; x < n.item + n.item->n_items; x += x->n_items)
        if (x->field == field_ids[field])
            return (struct node){x};
    return (struct node){0};
}

uint32_t node_count(struct node n)
{
    return n.item ? n.item->n_named : 0;
}

struct node node_child(struct node n, uint32_t i)
{
    return (struct node){i < node_count(n) ? n.item->named[i] : NULL};
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
    return n.item ? node_child(node_parent(n), n.item->place + n.item->is_named) : n;
}

struct node node_prev(struct node n)
{
    return n.item && n.item->place > 0 ? node_child(node_parent(n), n.item->place - 1) : (struct node){0};
}

struct node node_at(const struct source *s, size_t start, size_t end)
{
    const struct source_item *at = s->items, *found = at, *x = at + 1;

    while (x < at + at->n_items)
        if (x->start <= start && x->end >= MAX(end, x->start < x->end ? start + 1 : start)) {
            at = x++;
            found = at->is_named ? at : found;
        } else {
            x += x->n_items;
        }
    return (struct node){found};
}

bool node_has_error(struct node n)
{
    return n.item && n.item->has_error;
}

char *node_text(struct arena *a, const struct source *s, struct node n)
{
    return arena_strndup(a, s->text + node_start(n), node_end(n) - node_start(n));
}

bool node_text_is(const struct source *s, struct node n, const char *text)
{
    size_t len = strlen(text);

    return n.item && node_end(n) - node_start(n) == len && memcmp(s->text + node_start(n), text, len) == 0;
}

void node_walk(struct node n, bool (*visit)(void *context, struct node n), void *context)
{
    const struct source_item *end = n.item ? n.item + n.item->n_items : NULL;

    for (const struct source_item *x = n.item; x < end;)
        x += x->is_named && visit(context, (struct node){x}) ? 1 : x->n_items;
}

struct node *node_find_all(struct arena *a, struct node n, enum node_kind kind, size_t *count)
{
    const struct source_item *end = n.item ? n.item + n.item->n_items : NULL;
    VEC(struct node) found = {0};

    for (const struct source_item *x = n.item ? n.item + 1 : NULL; x < end;) {
        if (x->is_named && node_is((struct node){x}, kind))
            vec_add(a, &found, (struct node){x});
        x += x->is_named ? 1 : x->n_items;
    }
    if (count)
        *count = found.n;
    vec_add(a, &found, (struct node){0});
    return found.v;
}
