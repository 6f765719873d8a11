/* A reply that says only what changes: a unified difference, SEARCH/REPLACE blocks, or single functions. It is
 * merged into the file that its writer was shown; what does not fit gets the place and what stands there. */
#include "internal.h"

#include "source/source.h"

#include <ctype.h>
#include <limits.h>

/* ---- differences ---- */

struct line {
    char mark; /* ' ' stays, '-' goes, '+' comes */
    const char *text;
};

struct hunk {
    VEC(struct line) lines;
    long hint; /* the line it says it begins at; 0: it says none */
};

typedef VEC(const char *) line_list;
typedef VEC(struct hunk) hunk_list;

static bool search_begins(const char *line)
{
    return str_starts(line, "<<<<<<<");
}

bool patch_is(const char *text)
{
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n')
        if (search_begins(p) || str_starts(p, "@@"))
            return true;
    return false;
}

static void lines_of(struct arena *a, const char *text, line_list *lines)
{
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "\n");
        vec_push(lines, arena_strndup(a, p, n));
        p += n + (p[n] == '\n');
    }
}

static bool all_space(const char *s)
{
    return s[strspn(s, " \t\r")] == 0;
}

/* Empty lines at either end of a hunk say nothing of its place. */
static void trim(struct hunk *h)
{
    while (h->lines.n && h->lines.v[h->lines.n - 1].mark == ' ' && all_space(h->lines.v[h->lines.n - 1].text))
        h->lines.n--;
}

static void read_search(const line_list *lines, size_t *at, struct hunk *h)
{
    char mark = '-';

    for (++*at; *at < lines->n; ++*at) {
        const char *l = lines->v[*at];
        if (str_starts(l, ">>>>>>>"))
            return;
        if (mark == '-' && str_starts(l, "======="))
            mark = '+';
        else
            vec_push(&h->lines, ((struct line){mark, l}));
    }
}

static void read_hunk(const line_list *lines, size_t *at, struct hunk *h)
{
    sscanf(lines->v[*at], "@@ -%ld", &h->hint);
    for (++*at; *at < lines->n; ++*at) {
        const char *l = lines->v[*at];
        bool header = str_starts(l, "--- ") && *at + 1 < lines->n && str_starts(lines->v[*at + 1], "+++ ");
        if (str_starts(l, "@@") || search_begins(l) || str_starts(l, "diff --git ") || header) {
            --*at;
            break;
        }
        if (*l == '\\') /* "\ No newline at end of file" */
            continue;
        bool marked = *l && strchr(" +-", *l);
        vec_push(&h->lines, ((struct line){marked ? *l : ' ', marked ? l + 1 : l}));
    }
    trim(h);
}

static void read_hunks(const line_list *lines, hunk_list *hunks)
{
    for (size_t i = 0; i < lines->n; i++) {
        struct hunk h = {0};
        if (search_begins(lines->v[i]))
            read_search(lines, &i, &h);
        else if (str_starts(lines->v[i], "@@"))
            read_hunk(lines, &i, &h);
        else
            continue;
        vec_push(hunks, h);
    }
}

/* The same but for white space, which models do not keep. */
static bool like(const char *x, const char *y, bool strictly)
{
    if (strictly)
        return !strcmp(x, y);
    for (;; x++, y++) {
        x += strspn(x, " \t\r");
        y += strspn(y, " \t\r");
        if (*x != *y || !*x)
            return *x == *y;
    }
}

/* How many of its old lines stand in the file from `at` on; *of: how many there are. */
static size_t fits(const struct hunk *h, const line_list *file, size_t at, bool strictly, size_t *of)
{
    size_t fit = 0;

    *of = 0;
    for (size_t i = 0; i < h->lines.n; i++) {
        if (h->lines.v[i].mark == '+')
            continue;
        if (fit == *of && at + fit < file->n && like(h->lines.v[i].text, file->v[at + fit], strictly))
            fit++;
        ++*of;
    }
    return fit;
}

static const char *old_line(const struct hunk *h, size_t n)
{
    for (size_t i = 0; i < h->lines.n; i++)
        if (h->lines.v[i].mark != '+' && n-- == 0)
            return h->lines.v[i].text;
    return "";
}

static bool not_there(struct arena *a, const struct hunk *h, const line_list *file, size_t number,
                      struct err *complaint)
{
    size_t best = 0, at = 0, of;

    for (size_t i = 0; i < file->n; i++)
        if (fits(h, file, i, false, &of) > best) {
            best = fits(h, file, i, false, &of);
            at = i;
        }
    if (best == 0)
        return err_input(complaint, "change %zu: its first line is not in the file: %s", number,
                         text_line(a, old_line(h, 0), 160));
    return err_input(complaint,
                     "change %zu: it begins like line %zu, but where it has\n%s\nthe file has line %zu:\n%s",
                     number, at + 1, text_line(a, old_line(h, best), 160), at + best + 1,
                     at + best < file->n ? text_line(a, file->v[at + best], 160) : "(its end)");
}

/* Where the hunk belongs: the one place its old lines stand at, or of several the nearest to what it says. */
static bool place_of(struct arena *a, const struct hunk *h, const line_list *file, long moved, size_t number,
                     size_t *place, struct err *complaint)
{
    size_t of, first = 0, second = 0, n = 0;

    fits(h, file, 0, true, &of);
    if (of == 0)
        return err_input(complaint, "change %zu names no line of the file; say a line before and behind it too",
                         number);
    for (int strictly = 1; strictly >= 0 && n == 0; strictly--) {
        long nearest = LONG_MAX;
        for (size_t i = 0; i + of <= file->n; i++) {
            long away = labs((long)i + 1 - (h->hint + moved));
            if (fits(h, file, i, strictly, &of) < of)
                continue;
            if (n++ == 0)
                first = *place = i;
            else if (n == 2)
                second = i;
            if (h->hint && away < nearest) {
                nearest = away;
                *place = i;
            }
        }
    }
    if (n == 0)
        return not_there(a, h, file, number, complaint);
    if (n > 1 && !h->hint)
        return err_input(complaint,
                         "change %zu fits %zu places, lines %zu and %zu among them; say more lines around it",
                         number, n, first + 1, second + 1);
    return true;
}

/* The file with it; what stays keeps the file's own white space. */
static void apply(const struct hunk *h, line_list *file, size_t place, long *moved)
{
    line_list out = {0};
    size_t at = 0;

    for (; at < place; at++)
        vec_push(&out, file->v[at]);
    for (size_t i = 0; i < h->lines.n; i++)
        if (h->lines.v[i].mark == '+')
            vec_push(&out, h->lines.v[i].text);
        else if (h->lines.v[i].mark == ' ')
            vec_push(&out, file->v[at++]);
        else
            at++;
    for (; at < file->n; at++)
        vec_push(&out, file->v[at]);
    *moved += (long)out.n - (long)file->n;
    vec_free(file);
    *file = out;
}

bool patch_apply(struct arena *a, const char *file, const char *patch, char **merged, struct err *complaint)
{
    line_list lines = {0}, said = {0};
    hunk_list hunks = {0};
    struct str out = {.arena = a};
    long moved = 0;
    bool ok = true;

    lines_of(a, file, &lines);
    lines_of(a, patch, &said);
    read_hunks(&said, &hunks);
    for (size_t i = 0; i < hunks.n && ok; i++) {
        size_t place = 0;
        ok = place_of(a, &hunks.v[i], &lines, moved, i + 1, &place, complaint);
        if (ok)
            apply(&hunks.v[i], &lines, place, &moved);
    }
    for (size_t i = 0; i < lines.n && ok; i++)
        str_addf(&out, "%s\n", lines.v[i]);
    if (ok)
        *merged = str_take(&out, a);
    for (size_t i = 0; i < hunks.n; i++)
        vec_free(&hunks.v[i].lines);
    vec_free(&hunks);
    vec_free(&said);
    vec_free(&lines);
    return ok;
}

/* ---- single functions ---- */

struct item { /* of a file's top level: what it defines, and what of the text that is */
    struct node node;
    size_t from, to; /* with the comments right above it, and the one behind it on its line */
    const char *key; /* "f:NAME", "c:constexpr int N", "d:NAME", "i:#include <x>" */
};

typedef VEC(struct item) item_list;

static const char *squeezed(struct arena *a, const char *s, size_t n)
{
    return text_line(a, arena_strndup(a, s, n), 400);
}

static struct node function_in(struct node n)
{
    while (node_is(n, NODE_TEMPLATE_DECLARATION) || node_is(n, NODE_LINKAGE_SPECIFICATION)) {
        struct node inner = node_child_of(n, NODE_FUNCTION_DEFINITION);
        if (!node_ok(inner))
            inner = node_child_of(n, NODE_TEMPLATE_DECLARATION);
        if (!node_ok(inner))
            return inner;
        n = inner;
    }
    return n;
}

static const char *key_of(struct arena *a, const struct source *s, struct node n)
{
    const char *text = node_text(a, s, n);
    struct node f = function_in(n);

    if (node_is(f, NODE_FUNCTION_DEFINITION)) {
        struct node d = node_field(f, FIELD_DECLARATOR);
        while (node_ok(d) && node_ok(node_field(d, FIELD_DECLARATOR)))
            d = node_field(d, FIELD_DECLARATOR);
        return node_ok(d) ? arena_printf(a, "f:%s", node_text(a, s, d)) : NULL;
    }
    if (node_is(n, NODE_PREPROC_INCLUDE))
        return arena_printf(a, "i:%s", squeezed(a, text, strlen(text)));
    if (node_is(n, NODE_PREPROC_DEF) || node_is(n, NODE_PREPROC_FUNCTION_DEF)) {
        const char *name = text + strcspn(text, " \t");
        name += strspn(name, " \t");
        return arena_printf(a, "d:%.*s", (int)strcspn(name, " \t\n("), name);
    }
    if (node_is(n, NODE_DECLARATION) && text[strcspn(text, "=")])
        return arena_printf(a, "c:%s", squeezed(a, text, strcspn(text, "=")));
    return arena_printf(a, "t:%s", squeezed(a, text, strlen(text)));
}

static size_t lines_between(const char *text, size_t from, size_t to)
{
    size_t n = 0;

    for (size_t i = from; i < to; i++)
        n += text[i] == '\n';
    return n;
}

/* A directive's node has the end of its line in it. */
static bool ends_line(const char *text, size_t at)
{
    return at > 0 && text[at - 1] == '\n';
}

/* A child that is defined, with its comments: `// astra: tune` is one. */
static struct item item_of(const char *text, struct node parent, uint32_t at, const char *key)
{
    struct node n = node_child(parent, at);
    struct item x = {n, node_start(n), node_end(n), key};

    for (uint32_t i = at; i-- > 0;) {
        struct node before = node_child(parent, i);
        size_t ahead = i ? node_end(node_child(parent, i - 1)) : 0;
        bool own_line =
            ahead == 0 || ends_line(text, ahead) || lines_between(text, ahead, node_start(before)) > 0;
        if (!node_is(before, NODE_COMMENT) || !own_line || lines_between(text, node_end(before), x.from) != 1)
            break;
        x.from = node_start(before);
    }
    if (at + 1 < node_count(parent)) {
        struct node behind = node_child(parent, at + 1);
        if (node_is(behind, NODE_COMMENT) && !ends_line(text, x.to) &&
            lines_between(text, x.to, node_start(behind)) == 0)
            x.to = node_end(behind);
    }
    return x;
}

static void items_of(struct arena *a, const struct source *s, const char *text, struct node parent,
                     item_list *items)
{
    for (uint32_t i = 0; i < node_count(parent); i++) {
        struct node n = node_child(parent, i), list;
        const char *key;
        if (node_is(n, NODE_COMMENT))
            continue;
        list = node_child_of(n, NODE_DECLARATION_LIST);
        if ((node_is(n, NODE_LINKAGE_SPECIFICATION) || node_is(n, NODE_NAMESPACE_DEFINITION)) &&
            node_ok(list)) {
            items_of(a, s, text, list, items);
        } else if ((key = key_of(a, s, n))) {
            vec_push(items, item_of(text, parent, i, key));
        }
    }
}

static size_t how_many(const item_list *items, const char *key, const struct item **first)
{
    size_t n = 0;

    for (size_t i = items->n; i-- > 0;)
        if (!strcmp(items->v[i].key, key)) {
            *first = &items->v[i];
            n++;
        }
    return n;
}

/* A reply that was cut ends within a function. */
static bool whole(const char *text)
{
    long depth = 0;

    for (const char *p = text; *p; p++)
        depth += (*p == '{') - (*p == '}');
    return depth == 0;
}

struct merge {
    struct arena *a;
    struct source *file, *block;
    const char *old_text, *reply;
    item_list old, new;
    struct edits edits;
};

static bool any_known(const struct merge *m)
{
    for (size_t i = 0; i < m->new.n; i++)
        if (str_starts(m->new.v[i].key, "f:") && how_many(&m->old, m->new.v[i].key, &(const struct item *){0}))
            return true;
    return false;
}

/* Where what the file lacks goes: before what comes next in the reply and is the file's, so that it stands
 * behind what it may call; else behind what came before it. */
static size_t place_of_new(const struct merge *m, size_t at)
{
    const struct item *known = NULL;

    for (size_t i = at; i < m->new.n; i++)
        if (!str_starts(m->new.v[i].key, "i:") && how_many(&m->old, m->new.v[i].key, &known))
            return known->from;
    for (size_t i = at; i-- > 0;)
        if (!str_starts(m->new.v[i].key, "i:") && how_many(&m->old, m->new.v[i].key, &known))
            return known->to;
    return 0;
}

static void put_new(struct merge *m, size_t place, const char *text)
{
    bool behind = place > 0 && m->old_text[place - 1] != '\n';

    edits_insert(&m->edits, place, arena_printf(m->a, behind ? "\n%s" : "%s\n", text));
}

static bool merge_item(struct merge *m, size_t at, struct err *complaint)
{
    const struct item *x = &m->new.v[at], *known = NULL;
    size_t there = how_many(&m->old, x->key, &known),
           here = how_many(&m->new, x->key, &(const struct item *){0});
    const char *text = arena_strndup(m->a, m->reply + x->from, x->to - x->from);

    if (str_starts(x->key, "f:") && !whole(node_text(m->a, m->block, x->node)))
        return err_input(complaint, "the function %s does not end", x->key + 2);
    if (there > 1 || (here > 1 && there))
        return err_input(complaint, "%s is defined more than once; answer with a patch or the whole file",
                         x->key + 2);
    if (there) { /* comments give way to comments alone */
        size_t from = x->from < node_start(x->node) ? known->from : node_start(known->node),
               to = x->to > node_end(x->node) ? known->to : node_end(known->node);
        if (!edits_try(&m->edits, from, to, text))
            return err_input(complaint, "%s is defined twice in the reply", x->key + 2);
    } else
        put_new(m, str_starts(x->key, "i:") ? 0 : place_of_new(m, at), text);
    return true;
}

static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = text; (p = strstr(p, word)); p += n)
        if ((p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '_')) && !isalnum((unsigned char)p[n]) &&
            p[n] != '_')
            return true;
    return false;
}

bool functions_lack(struct arena *a, const char *file, const char *block)
{
    struct merge m = {.a = a};
    bool lack = false;

    if (source_open(&m.file, "file", file, strlen(file), NULL) &&
        source_open(&m.block, "reply", block, strlen(block), NULL)) {
        items_of(a, m.file, file, source_root(m.file), &m.old);
        items_of(a, m.block, block, source_root(m.block), &m.new);
    }
    for (size_t i = 0; i < m.old.n && !lack; i++) {
        const struct item *here = NULL;
        const char *key = m.old.v[i].key;
        lack = str_starts(key, "f:") && !how_many(&m.new, key, &here) && has_word(block, key + 2);
    }
    vec_free(&m.old);
    vec_free(&m.new);
    source_close(m.block);
    source_close(m.file);
    return lack;
}

bool functions_merge(struct arena *a, const char *file, const char *block, char **merged, struct err *complaint)
{
    struct merge m = {.a = a, .old_text = file, .reply = block, .edits.arena = a};
    bool ok = source_open(&m.file, "file", file, strlen(file), complaint) &&
              source_open(&m.block, "reply", block, strlen(block), complaint);

    if (ok) {
        items_of(a, m.file, file, source_root(m.file), &m.old);
        items_of(a, m.block, block, source_root(m.block), &m.new);
        ok = any_known(&m) || err_input(complaint, "none of its functions is one of the file's");
    }
    for (size_t i = 0; i < m.new.n &&ok; i++)
        ok = merge_item(&m, i, complaint);
    if (ok)
        *merged = edits_apply(&m.edits, a, file, strlen(file));
    vec_free(&m.old);
    vec_free(&m.new);
    source_close(m.block);
    source_close(m.file);
    return ok;
}
