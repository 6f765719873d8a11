/* The textual side of a transform: names, indentation, and where new text goes. */
#include <ctype.h>

#include "rewrite/analysis.h"

char *text_range(const struct function *f, size_t start, size_t end)
{
    return arena_strndup(f->a, f->text + start, end > start ? end - start : 0);
}

char *text_of(const struct function *f, struct node n)
{
    return text_range(f, node_start(n), node_end(n));
}

char *text_compact(struct arena *a, const char *text)
{
    char *out = arena_alloc(a, strlen(text) + 1), *to = out;
    for (const char *p = text; *p; p++) {
        if (p[0] == '/' && p[1] == '/') {
            while (p[1] && p[1] != '\n')
                p++;
        } else if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p + 2, "*/");
            p = end ? end + 1 : p + strlen(p) - 1;
        } else if (!isspace((unsigned char)*p)) {
            *to++ = *p;
        }
    }
    *to = '\0';
    return out;
}

char *text_trim(char *text)
{
    for (size_t len = strlen(text); len > 0 && isspace((unsigned char)text[len - 1]); len--)
        text[len - 1] = '\0';
    return text;
}

char *text_indent(const struct function *f, size_t at)
{
    size_t start = str_line_start(f->text, at), end = start;
    while (f->text[end] == ' ' || f->text[end] == '\t')
        end++;
    return text_range(f, start, MIN(end, at));
}

char *text_reindent(struct arena *a, const char *text, int by)
{
    struct str b = {0};
    for (const char *p = text; *p; p++) {
        str_addc(&b, *p);
        if (*p != '\n')
            continue;
        const char *q = p + 1;
        while (*q == ' ')
            q++;
        bool keep = *q == '\n' || *q == '\0' || *q == '#'; /* empty lines and directives stay at the left */
        for (int i = 0; i < by && !keep; i++)
            str_addc(&b, ' ');
        for (int i = 0; i > by && p[1] == ' '; i--)
            p++;
    }
    return str_take(&b, a);
}

/* Runs of white space, line ends among them, become one space. */
static char *text_line(struct arena *a, const char *text)
{
    char *out = arena_alloc(a, strlen(text) + 1), *to = out;
    if (strstr(text, "//"))
        return arena_strdup(a, text);
    for (const char *p = text; *p; p++) {
        bool space = isspace((unsigned char)*p);
        if (space && (to == out || to[-1] == ' ' || to[-1] == '('))
            continue;
        *to++ = space ? ' ' : *p;
    }
    *to = '\0';
    return out;
}

char *text_wrap(struct arena *a, const char *text, int column)
{
    char *line = text_line(a, text);
    const char *open = strstr(line, ">>>(");
    open = open ? open + 3 : strchr(line, '(');
    if (!open || strchr(line, '\n') || column + (int)strlen(line) <= 110)
        return line;
    struct str b = {0};
    int hang = column + (int)(open - line) + 1, at = column;
    if (hang > 80)
        hang = column + 4;
    for (const char *p = line; *p;) {
        const char *comma = strstr(p, ", ");
        size_t len = comma ? (size_t)(comma - p) + 1 : strlen(p);
        if (at > column && at + (int)len > 110) {
            while (b.len && b.s[b.len - 1] == ' ')
                b.len--;
            str_addf(&b, "\n%*s", hang, "");
            at = hang;
        }
        str_addn(&b, p, len);
        at += (int)len + 1;
        p += len;
        if (comma) {
            str_addc(&b, ' ');
            p++;
        }
    }
    return str_take(&b, a);
}

void edits_parameters(struct edits *e, const struct function *f, const char *const *params, size_t n, int shift)
{
    struct node list = node_parent(f->variables[0].statement);
    size_t open = node_start(list);
    int hang = (int)(open - str_line_start(f->text, open)) + 1 + shift, at = hang;
    struct str b = {0};
    for (size_t i = 0; i < n; i++) {
        int len = (int)strlen(params[i]) + 1;
        if (i > 0 && at + len > 110) {
            str_addf(&b, "\n%*s", hang, "");
            at = hang;
        } else if (i > 0) {
            str_addc(&b, ' ');
            at++;
        }
        str_addf(&b, "%s%s", params[i], i + 1 < n ? "," : "");
        at += len;
    }
    edits_try(e, open + 1, node_end(list) - 1, str_text(&b));
    str_free(&b);
}

char *text_times(struct arena *a, const struct function *f, struct node e, int by)
{
    char *text = text_of(f, e);
    bool simple = node_is(e, NODE_IDENTIFIER) || node_is(e, NODE_FIELD_EXPRESSION) ||
                  node_is(e, NODE_NUMBER_LITERAL) || node_is(e, NODE_PARENTHESIZED_EXPRESSION) ||
                  node_is(e, NODE_CALL_EXPRESSION);
    if (!simple && node_is_binary(f, e, "*"))
        simple = true;
    return simple ? arena_printf(a, "%s * %d", text, by) : arena_printf(a, "(%s) * %d", text, by);
}

const char *text_behind_literal(const char *text, const char *p)
{
    if (p[0] == '/' && p[1] == '/')
        return p + strcspn(p, "\n");
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    if (*p != '"' && (*p != '\'' || (p > text && str_in_word(p[-1]))))
        return p;
    const char *q = p + 1;
    while (*q && *q != *p && *q != '\n')
        q += q[0] == '\\' && q[1] ? 2 : 1;
    return *q ? q + 1 : q;
}

/* The file without its comments: a word in a comment takes no name. */
static char *code_of(const struct function *f)
{
    char *text = arena_strdup(f->a, f->text);
    for (char *p = text, *end; *p; p = end) {
        size_t n = (size_t)(text_behind_literal(text, p) - p);
        end = p + MAX(n, 1);
        if (*p == '/' && n > 0)
            memset(p, ' ', n);
    }
    return text;
}

char *fresh_name(const struct function *f, const char *base)
{
    char *name = arena_strdup(f->a, base), *code = code_of(f);
    for (int i = 2; str_has_word(code, name) && i < 1000; i++)
        name = arena_printf(f->a, isdigit((unsigned char)base[strlen(base) - 1]) ? "%s_%d" : "%s%d", base, i);
    return name;
}

char *fresh_local(const struct function *f, const char *base)
{
    char *whole = text_of(f, f->whole), *name = arena_strdup(f->a, base);
    for (int i = 2; i < 1000; i++) {
        bool taken = str_has_word(whole, name);
        for (struct node *item = file_items(f, NULL); node_ok(*item) && !taken; item++)
            taken = node_is_directive(*item) && str_has_word(text_of(f, *item), name);
        if (!taken)
            break;
        name = arena_printf(f->a, "%s%d", base, i);
    }
    return name;
}

static size_t comments_above(const char *text, size_t at)
{
    at = str_line_start(text, at);
    while (at > 0) {
        size_t above = str_line_start(text, at - 1), p = above;
        while (text[p] == ' ' || text[p] == '\t')
            p++;
        if (text[p] != '/' || text[p + 1] != '/')
            break;
        at = above;
    }
    return at;
}

size_t function_head(const struct function *f)
{
    return comments_above(f->text, node_start(f->whole));
}

char *edits_range(const struct edits *e, const struct function *f, size_t start, size_t end)
{
    struct edits inside = {.arena = f->a};
    for (const struct edit *one = e->list.v; one < e->list.v + e->list.n; one++)
        if (one->start >= start && one->end <= end)
            edits_try(&inside, one->start - start, one->end - start, one->text);
    return edits_apply(&inside, f->a, f->text + start, end - start);
}

char *edits_finish(struct edits *e, const struct function *f)
{
    return edits_apply(e, f->a, f->text, strlen(f->text));
}

void edits_remove(struct edits *e, const struct function *f, struct node statement)
{
    size_t start = node_start(statement), line = str_line_start(f->text, start), end = node_end(statement);

    if (f->text[end] == '\n' && strspn(f->text + line, " \t") == start - line)
        edits_try(e, line, end + 1, "");
    else
        edits_node(e, statement, "");
}

/* A pragma that was put in front of a statement in the middle of a line begins a line. */
static char *pragmas_apart(struct arena *a, const char *text)
{
    struct str b = {.arena = a};
    size_t line = 0;
    for (const char *p = text; *p; p++) {
        bool apart = str_starts(p, "#pragma unroll") && strspn(str_text(&b) + line, " \t") < b.len - line;
        if (apart && !strstr(str_text(&b) + line, "//"))
            str_addc(&b, '\n');
        str_addc(&b, *p);
        line = *p == '\n' ? b.len : line;
    }
    return str_take(&b, a);
}

char *function_copy(struct edits *e, const struct function *f, const char *name, struct err *why_not)
{
    edits_node(e, f->declared, name);
    size_t start = node_start(f->special ? f->definition : f->whole), params = node_end(f->declared),
           body = node_start(f->body);
    int longer = (int)strlen(name) - (int)strlen(f->name);
    for (size_t at = params; at < body; at++) { /* continuation lines follow the opening parenthesis */
        bool rewritten = false;
        for (size_t i = 0; i < e->list.n; i++)
            rewritten = rewritten || (e->list.v[i].start <= at + 1 && e->list.v[i].end > at + 1);
        if (f->text[at] == '\n' && f->text[at + 1] == ' ' && longer > 0 && !rewritten)
            edits_at(e, at + 1, arena_printf(f->a, "%*s", longer, ""));
    }
    if (e->clash) {
        err_input(why_not, "the changes to %s meet", f->name);
        return NULL;
    }
    return pragmas_apart(f->a, edits_range(e, f, start, node_end(f->whole)));
}

void edits_beside(struct edits *e, const struct function *f, const char *how, const char *copy)
{
    edits_at(e, node_end(f->whole), arena_printf(f->a, "\n\n// As %s, %s.\n%s", f->name, how, copy));
}

bool edits_copy(struct edits *e, struct edits *inside, const struct function *f, const char *name,
                const char *how, struct err *why_not)
{
    char *copy = function_copy(inside, f, name, why_not);
    if (copy) {
        edits_attributes(e, f, name);
        edits_beside(e, f, how, copy);
    }
    return copy != NULL;
}

/* Before the first function and its comment; a comment that begins the file is the file's and stays on top. */
static size_t below_head(const struct function *f, struct node n)
{
    size_t at = comments_above(f->text, node_start(n));

    return at ? at : str_line_start(f->text, node_start(n));
}

/* The first byte after the file's includes, macros and opening comment: helpers stand there. */
static size_t helpers_place(const struct function *f)
{
    struct node root = source_root(f->s);
    for (uint32_t i = 0, all = node_count(root); i < all; i++) {
        struct node n = node_child(root, i);
        if (node_is(n, NODE_FUNCTION_DEFINITION) || node_is(n, NODE_TEMPLATE_DECLARATION) ||
            node_is(n, NODE_LINKAGE_SPECIFICATION) ||
            (node_is(n, NODE_NAMESPACE_DEFINITION) && node_has(f, n, NODE_FUNCTION_DEFINITION)))
            return below_head(f, n);
    }
    return below_head(f, f->whole);
}

/* A blank line keeps what is put there from the comment above it. */
static void put_helper(struct edits *e, const struct function *f, size_t at, const char *text)
{
    bool first = true;

    for (size_t i = 0; i < e->list.n; i++)
        first = first && e->list.v[i].start != at;
    bool touches = first && at > 0 && comments_above(f->text, at) == 0;
    edits_at(e, at, arena_printf(f->a, "%s%s\n", touches ? "\n" : "", text));
}

void edits_helper(struct edits *e, const struct function *f, const char *text)
{
    if (strstr(f->text, text))
        return;
    size_t at = helpers_place(f);
    for (size_t i = 0; i < e->list.n; i++)
        if (e->list.v[i].start == at && strstr(e->list.v[i].text, text))
            return;
    put_helper(e, f, at, text);
}

void edits_packed(struct edits *e, const struct function *f, const char *helper)
{
    const char *packed = share_text("cuda/rewrite/packed.cuh"), *at = strstr(f->text, packed);
    if (!at) {
        edits_helper(e, f, packed);
        edits_helper(e, f, helper);
    } else if (!strstr(f->text, helper)) {
        edits_at(e, (size_t)(at - f->text) + strlen(packed), arena_printf(f->a, "\n%s", helper));
    }
}

void edits_include(struct edits *e, const struct function *f, const char *header, const char *alternative)
{
    struct node root = source_root(f->s);
    size_t at = 0;
    bool found = false;
    for (uint32_t i = 0, all = node_count(root); i < all && !found; i++) {
        struct node n = node_child(root, i);
        if (!node_is(n, NODE_PREPROC_INCLUDE))
            continue;
        char *path = text_of(f, node_field(n, FIELD_PATH));
        if (str_eq(path, header) || str_eq(path, alternative))
            return;
        if (!at)
            at = str_line_start(f->text, node_start(n)) + 1;
    }
    char *line = arena_printf(f->a, "#include %s\n", header);
    if (at)
        edits_at(e, at - 1, line);
    else
        put_helper(e, f, helpers_place(f), line);
}
