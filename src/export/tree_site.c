/* The launch at the host's site. Statements of the launcher that init wrote are the host's own words where it
 * could take them: a statement that changed is changed where the host has it, a launch where it launches, with
 * the host's own words for the arguments that stayed. All else is said in words. */
#include "tree.h"

#include "kernel/kernel.h"

#include <ctype.h>

struct launch {
    const struct source *source;
    struct node call, statement, host; /* statement, host: none in a macro's arguments */
    struct tree_file *file;            /* of the host's; the launcher's: NULL */
};

struct statement {
    struct node node;
    const char *words; /* normalised, one line */
};

struct site {
    struct tree *t;
    const struct tree_launcher *l;
    VEC(struct launch) launches; /* the host's */
    VEC(struct source *) sources;
    VEC(struct statement) was, now;
};

static char *text_of(const struct site *s, const struct source *src, struct node n)
{
    return node_ok(n) ? node_text(s->t->arena, src, n) : arena_strdup(s->t->arena, "");
}

static const char *words_of(const struct site *s, const struct source *src, struct node n)
{
    char *text = text_of(s, src, n);

    text = kernel_normalise(s->t->arena, text, strlen(text));
    for (char *p = text; *p; p++)
        if (*p == '\n')
            *p = ' ';
    return text;
}

/* "k" of `a::k<T>`. */
static const char *function_name(const struct site *s, const struct source *src, struct node call)
{
    char *text = text_of(s, src, node_field(call, FIELD_FUNCTION));

    text[strcspn(text, "<")] = '\0';
    for (size_t n = strlen(text); n && isspace((unsigned char)text[n - 1]);)
        text[--n] = '\0';
    return tree_last(text);
}

static struct node *launches_in(const struct site *s, struct node in, size_t *n)
{
    struct node *all = node_find_all(s->t->arena, in, NODE_KERNEL_CALL_SYNTAX, n);

    for (size_t i = 0; i < *n; i++)
        all[i] = node_parent(all[i]);
    return all;
}

static struct node configuration(struct node call)
{
    return node_child_of(call, NODE_KERNEL_CALL_SYNTAX);
}

/* Part i of a launch: grid, block, shared memory, stream, then the arguments. */
enum { PARTS_OF_CONFIGURATION = 4 };
static struct node part(struct node call, uint32_t i)
{
    struct node list = i < PARTS_OF_CONFIGURATION ? configuration(call) : node_field(call, FIELD_ARGUMENTS);

    i -= i < PARTS_OF_CONFIGURATION ? 0 : PARTS_OF_CONFIGURATION;
    return i < node_count(list) ? node_child(list, i) : (struct node){0};
}

static void find_launches(struct site *s)
{
    struct tree *t = s->t;

    for (size_t i = 0; i < t->files.n; i++) {
        struct source *src = NULL;
        struct err why;
        size_t n;
        struct node *all;

        if (!strstr(t->files.v[i].text, "<<<") ||
            !source_open(&src, t->files.v[i].path, t->files.v[i].text, strlen(t->files.v[i].text), &why))
            continue;
        vec_add(t->arena, &s->sources, src);
        all = launches_in(s, source_root(src), &n);
        for (size_t k = 0; k < n; k++) {
            struct launch x = {.source = src, .call = all[k], .file = &t->files.v[i]};

            if (!str_eq(function_name(s, src, all[k]), tree_last(t->kernel)))
                continue;
            for (struct node up = node_parent(all[k]); node_ok(up); up = node_parent(up)) {
                if (node_is(up, NODE_EXPRESSION_STATEMENT) && !node_ok(x.statement) &&
                    node_same(node_parent(all[k]), up))
                    x.statement = up;
                if (node_is(up, NODE_FUNCTION_DEFINITION))
                    x.host = up;
            }
            vec_add(t->arena, &s->launches, x);
        }
    }
}

/* The statements of a function's body, blocks without a condition opened. */
static void add_statements(struct site *s, const struct source *src, struct node body, bool now)
{
    for (uint32_t i = 0, n = node_count(body); i < n; i++) {
        struct node c = node_child(body, i);
        struct statement x = {c, NULL};

        if (node_is(c, NODE_COMPOUND_STATEMENT)) {
            add_statements(s, src, c, now);
            continue;
        }
        if (node_is(c, NODE_COMMENT))
            continue;
        x.words = words_of(s, src, c);
        if (now)
            vec_add(s->t->arena, &s->now, x);
        else
            vec_add(s->t->arena, &s->was, x);
    }
}

static int line_of(const struct launch *x)
{
    return node_line(x->source, x->call);
}

/* Is every name of the text one that the host's function says, or one of the kernels' file? */
static bool names_known(const struct site *s, const struct launch *x, const char *text, const char **stranger)
{
    const char *host = text_of(s, x->source, x->host);

    for (const char *p = text; *p;) {
        size_t n = str_word(p);

        if (n && !isdigit((unsigned char)*p)) {
            const char *word = arena_strndup(s->t->arena, p, n);
            bool buffer = false;
            struct node params = s->l->was_node;

            /* a pointer of the launcher's is a tensor of the host's, or the like */
            for (params = node_field(s->l->was_node, FIELD_DECLARATOR); node_ok(params);
                 params = node_field(params, FIELD_DECLARATOR))
                if (node_ok(node_field(params, FIELD_PARAMETERS)))
                    break;
            params = node_field(params, FIELD_PARAMETERS);
            for (uint32_t i = 0; i < node_count(params); i++) {
                const char *one = text_of(s, s->l->was, node_child(params, i)), *at = strrchr(one, '*');

                if (at && str_eq(at + 1 + strspn(at + 1, " "), word))
                    buffer = true;
            }
            if (buffer || (!strstr(host, word) && strstr(text_of(s, s->l->was, s->l->was_node), word) &&
                           !str_in(word, "dim3|cudaStream_t|stream"))) {
                *stranger = word;
                return false;
            }
        }
        p += n ? n : 1;
    }
    return true;
}

/* One launch of the version in the host's words; NULL: an argument is not known there. */
static char *in_host_words(const struct site *s, const struct source *src, struct node call, struct node was,
                           const struct launch *x, const char **stranger)
{
    struct arena *a = s->t->arena;
    struct str out = {.arena = a};
    const char *name = text_of(s, src, node_field(call, FIELD_FUNCTION));
    uint32_t n_args = node_count(node_field(call, FIELD_ARGUMENTS)),
             n_was = node_count(node_field(was, FIELD_ARGUMENTS)), n_conf = node_count(configuration(call)),
             host_conf = node_count(configuration(x->call));
    bool kept_name = tree_same(a, name, text_of(s, s->l->was, node_field(was, FIELD_FUNCTION)));

    str_add(&out, kept_name ? text_of(s, x->source, node_field(x->call, FIELD_FUNCTION)) : name);
    str_add(&out, "<<<");
    for (uint32_t i = 0; i < PARTS_OF_CONFIGURATION + n_args; i++) {
        struct node now = part(call, i), old, host = {0};
        const char *text = text_of(s, src, now);
        bool found = false;

        if (i == PARTS_OF_CONFIGURATION)
            str_add(&out, ">>>(");
        if (i < PARTS_OF_CONFIGURATION && i >= n_conf)
            continue;
        for (uint32_t k = i; !found && k < PARTS_OF_CONFIGURATION + n_was;
             k++) { /* an equal one, its own first */
            uint32_t j = i < PARTS_OF_CONFIGURATION ? i : k;

            old = part(was, j);
            found = node_ok(old) && tree_same(a, text, text_of(s, s->l->was, old));
            host = found ? part(x->call, j) : host;
            if (i < PARTS_OF_CONFIGURATION)
                break;
        }
        for (uint32_t k = PARTS_OF_CONFIGURATION; !found && i >= PARTS_OF_CONFIGURATION && k < i; k++) {
            found = tree_same(a, text, text_of(s, s->l->was, part(was, k)));
            host = found ? part(x->call, k) : host;
        }
        if (found && !node_ok(host) && i < PARTS_OF_CONFIGURATION && i >= host_conf)
            continue; /* the default, which the host leaves out */
        if (found && node_ok(host))
            text = text_of(s, x->source, host);
        else if (!names_known(s, x, text, stranger))
            return NULL;
        str_addf(&out, "%s%s", i == 0 || i == PARTS_OF_CONFIGURATION ? "" : ", ", text);
    }
    str_add(&out, n_args ? ")" : ">>>()");
    return str_take(&out, a);
}

/* What the host hands over where the launcher's launch hands over that name; NULL: it does nowhere. */
static const char *host_argument(const struct site *s, const struct launch *x, struct node was,
                                 const char *name)
{
    for (uint32_t i = PARTS_OF_CONFIGURATION; node_ok(part(was, i)); i++)
        if (str_eq(text_of(s, s->l->was, part(was, i)), name) && node_ok(part(x->call, i)))
            return text_of(s, x->source, part(x->call, i));
    return NULL;
}

/* The names in a text that the launch hands over, guards on buffers above all, as the host has them; what
 * became of the host's is blank in the text. */
static void in_host_names(const struct site *s, const struct launch *x, struct node was, char *text,
                          struct edits *e)
{
    for (char *p = text; *p;) {
        size_t n = str_word(p);
        const char *name = arena_strndup(s->t->arena, p, n), *host = n ? host_argument(s, x, was, name) : NULL;

        if (host && !str_eq(host, name)) {
            edits_replace(e, (size_t)(p - text), (size_t)(p - text) + n,
                          str_is_name(host) ? host : arena_printf(s->t->arena, "(%s)", host));
            memset(p, ' ', n);
        }
        p += n ? n : 1;
    }
}

/* A statement of the version with its launches in the host's words. */
static char *translated(const struct site *s, const struct statement *now, struct node was,
                        const struct launch *x, const char **stranger)
{
    struct arena *a = s->t->arena;
    struct edits e = {.arena = a};
    size_t n, start = node_start(now->node);
    struct node *calls = launches_in(s, now->node, &n);
    char *text = text_of(s, s->l->now, now->node), *rest = arena_strdup(a, text);

    for (size_t i = 0; i < n; i++) {
        char *call = in_host_words(s, s->l->now, calls[i], was, x, stranger);

        if (!call)
            return NULL;
        edits_replace(&e, node_start(calls[i]) - start, node_end(calls[i]) - start, call);
        memset(rest + node_start(calls[i]) - start, ' ', node_end(calls[i]) - node_start(calls[i]));
    }
    in_host_names(s, x, was, rest, &e);
    return names_known(s, x, rest, stranger) ? edits_apply(&e, a, text, strlen(text)) : NULL;
}

static struct node host_statement(const struct site *s, const struct launch *x, const char *words)
{
    static const enum node_kind kinds[] = {NODE_DECLARATION, NODE_EXPRESSION_STATEMENT, NODE_IF_STATEMENT};
    struct node found = {0};
    size_t n, times = 0;

    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        struct node *all = node_find_all(s->t->arena, x->host, kinds[k], &n);

        for (size_t i = 0; i < n; i++)
            if (str_eq(words_of(s, x->source, all[i]), words)) {
                found = all[i];
                times++;
            }
    }
    return times == 1 ? found : (struct node){0};
}

static void by_hand(struct site *s, const struct launch *x, const struct statement *was,
                    const struct statement *now, const char *stranger)
{
    struct str w = {.arena = s->t->arena};

    str_addf(&w, "By hand, at %s:%d: ", x->file->path, line_of(x));
    if (was && now)
        str_addf(&w, "what says `%s` has to say `%s`", was->words, words_of(s, s->l->now, now->node));
    else if (now)
        str_addf(&w, "before the launch has to come `%s`", words_of(s, s->l->now, now->node));
    else
        str_addf(&w, "`%s` is not needed any more", was->words);
    if (stranger)
        str_addf(&w, " (`%s` is a name of the task's launcher)", stranger);
    tree_say(s->t, "%s.", str_text(&w));
}

/* The first launch in it; no node: none. */
static struct node launch_of(const struct site *s, struct node in)
{
    size_t n = 0;
    struct node *all = node_ok(in) ? launches_in(s, in, &n) : NULL;

    return n ? all[0] : (struct node){0};
}

/* On a line of its own before the host's launch; false: that changes as a part of something else. */
static bool insert_before(const struct site *s, const struct launch *x, const char *text)
{
    const char *own = source_text(x->source);
    size_t at = node_start(x->statement), line = at;

    while (line > 0 && (own[line - 1] == ' ' || own[line - 1] == '\t'))
        line--;
    return edits_try(&x->file->edits, at, at,
                     arena_printf(s->t->arena, "%s\n%.*s", text, (int)(at - line), own + line));
}

static void change(struct site *s, const struct launch *x, const struct statement *was,
                   const struct statement *now)
{
    struct node old = launch_of(s, was ? was->node : (struct node){0}), place;
    const struct node first = launch_of(s, s->l->was_node);
    const char *stranger = NULL;
    char *text;

    if (node_ok(old)) {
        text = now ? translated(s, now, old, x, &stranger) : NULL;
        place = node_ok(x->statement) ? x->statement : x->call;
        if (text && !node_ok(x->statement)) {
            if (node_is(now->node, NODE_EXPRESSION_STATEMENT))
                text[strlen(text) - 1] = '\0';
            else
                text = NULL;
        }
    } else {
        place = was ? host_statement(s, x, was->words) : x->statement;
        text = now ? translated(s, now, first, x, &stranger) : arena_strdup(s->t->arena, "");
    }
    if (!text || !node_ok(place)) {
        by_hand(s, x, was, now, stranger);
        return;
    }
    if (was ? !edits_try(&x->file->edits, node_start(place), node_end(place), text)
            : !insert_before(s, x, text))
        by_hand(s, x, was, now, NULL);
}

static void follow(struct site *s, const struct launch *x)
{
    struct arena *a = s->t->arena;
    struct diff_line *w = arena_array(a, struct diff_line, s->was.n + 1),
                     *n = arena_array(a, struct diff_line, s->now.n + 1);
    const int *match;
    size_t i = 0, j = 0;

    for (size_t k = 0; k < s->was.n; k++)
        w[k] = (struct diff_line){s->was.v[k].words, strlen(s->was.v[k].words)};
    for (size_t k = 0; k < s->now.n; k++)
        n[k] = (struct diff_line){s->now.v[k].words, strlen(s->now.v[k].words)};
    match = diff_match(a, w, s->was.n, n, s->now.n);
    while (i < s->was.n || j < s->now.n) {
        size_t until = i, to;

        while (until < s->was.n && match[until] < 0)
            until++;
        to = until < s->was.n ? (size_t)match[until] : s->now.n;
        /* the last ones belong together, for a launch stands last; what is before them is new, or gone */
        while (i < until || j < to) {
            const struct statement *old = i < until && until - i >= to - j ? &s->was.v[i] : NULL;
            const struct statement *new = j < to &&to - j >= until - i ? &s->now.v[j] : NULL;

            change(s, x, old, new);
            i += old != NULL;
            j += new != NULL;
        }
        i += until < s->was.n;
        j += i > until;
    }
}

void tree_place_launch(struct tree *t, const struct tree_launcher *l)
{
    struct site s = {.t = t, .l = l};
    const char *was, *now;

    was = text_of(&s, l->was, l->was_node);
    now = text_of(&s, l->now, l->now_node);
    if (tree_same(t->arena, was, now))
        return;
    add_statements(&s, l->was, node_field(l->was_node, FIELD_BODY), false);
    add_statements(&s, l->now, node_field(l->now_node, FIELD_BODY), true);
    find_launches(&s);
    if (!s.launches.n)
        tree_say(t, "No file that init read launches %s: its launch has to become that of the run's best.cu.",
                 t->kernel);
    for (size_t i = 0; i < s.launches.n; i++)
        follow(&s, &s.launches.v[i]);
    for (size_t i = 0; i < s.sources.n; i++)
        source_close(s.sources.v[i]);
}

/* ---- guards ---- */

static bool host_knows(const struct site *s, const struct launch *x, const char *condition)
{
    const char *before = arena_strndup(s->t->arena, source_text(x->source) + node_start(x->host),
                                       node_start(x->call) - node_start(x->host));

    for (const char *p = condition; *p;) {
        size_t n = str_word(p);

        if (n && !isdigit((unsigned char)*p) && !str_has_word(before, arena_strndup(s->t->arena, p, n)))
            return false;
        p += n ? n : 1;
    }
    return true;
}

static void guard(struct site *s, const struct launch *x, const char *condition)
{
    struct arena *a = s->t->arena;
    const char *host = text_of(s, x->source, x->host), *text = NULL, *all = source_text(x->source);

    if (strstr(kernel_normalise(a, host, strlen(host)), kernel_normalise(a, condition, strlen(condition))))
        return;
    if (str_has_word(all, "TORCH_CHECK"))
        text =
            arena_printf(a, "TORCH_CHECK(%s, \"%s needs %s\");", condition, tree_last(s->t->kernel), condition);
    else if (str_has_word(all, "GGML_ASSERT"))
        text = arena_printf(a, "GGML_ASSERT(%s);", condition);
    else if (str_starts(host, "cudaError_t"))
        text = arena_printf(a, "if (!(%s)) return cudaErrorInvalidValue;", condition);
    else if (strstr(all, "<cassert>") || strstr(all, "<assert.h>"))
        text = arena_printf(a, "assert(%s);", condition);
    if (!text || !node_ok(x->statement) || !host_knows(s, x, condition) || !insert_before(s, x, text)) {
        tree_say(s->t,
                 "By hand, at %s:%d: the launch was judged only where %s; refuse what lies outside, or launch "
                 "the kernel as it was there.",
                 x->file->path, line_of(x), condition);
    }
}

void tree_guard(struct tree *t, const char *const *conditions, size_t n)
{
    struct site s = {.t = t};

    find_launches(&s);
    for (size_t i = 0; i < s.launches.n; i++)
        for (size_t k = 0; k < n; k++)
            guard(&s, &s.launches.v[i], conditions[k]);
    for (size_t i = 0; !s.launches.n && i < n; i++)
        tree_say(t, "The kernel was judged only where %s.", conditions[i]);
    for (size_t i = 0; i < s.sources.n; i++)
        source_close(s.sources.v[i]);
}
