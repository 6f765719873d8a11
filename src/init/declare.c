/* The declarations of the list of tokens: where each begins and ends, what it names. Bodies are not read. Where
 * a macro makes a declaration, what it expands to says the names. */
#include "init/internal.h"

#define TOKEN(s, i) (&(s)->tokens.v[i])

struct walk {
    struct init_source *s;
    VEC(const char *) scopes; /* of each brace that is open: its prefix */
    bool extern_c;
    size_t extern_depth;
};

static bool is(const struct init_source *s, size_t i, const char *text)
{
    return token_is(TOKEN(s, i), text);
}

static bool opens(const struct token *t)
{
    return t->kind == TOK_PUNCT && t->len == 1 && strchr("([{", *t->s);
}

static bool closes(const struct token *t)
{
    return t->kind == TOK_PUNCT && t->len == 1 && strchr(")]}", *t->s);
}

/* Not of the branch that the declaration began in: of #if and #else within one, the first counts. */
static bool elsewhere(const struct init_source *s, size_t start, size_t i)
{
    return s->branches.v[i] > s->branches.v[start] && s->branches.v[i] != s->branches.v[start];
}

size_t init_balanced(const struct init_source *s, size_t i, size_t end)
{
    const size_t start = i;
    int depth = 0;

    for (; i < end && TOKEN(s, i)->kind != TOK_END; i++) {
        if (elsewhere(s, start, i))
            continue;
        depth += opens(TOKEN(s, i));
        depth -= closes(TOKEN(s, i));
        if (depth <= 0)
            return i + 1;
    }
    return i;
}

size_t init_angle(const struct init_source *s, size_t i, size_t end)
{
    const size_t start = i;
    int depth = 0;

    if (!is(s, i, "<"))
        return i;
    while (i < end && TOKEN(s, i)->kind != TOK_END) {
        const struct token *t = TOKEN(s, i);

        if (opens(t)) {
            i = init_balanced(s, i, end);
            continue;
        }
        if (closes(t) || token_is(t, ";"))
            return start;
        depth += token_is(t, "<");
        if (token_is(t, ">") || token_is(t, ">>") || token_is(t, ">>>"))
            depth -= (int)t->len;
        i++;
        if (depth <= 0)
            return i;
    }
    return start;
}

char *init_text(const struct init_source *s, size_t first, size_t end)
{
    struct str out = {.arena = s->arena};

    for (size_t i = first; i < end; i++) {
        const struct token *t = TOKEN(s, i);

        if (i > first && (t->space_before || t->line_start))
            str_addc(&out, ' ');
        str_addn(&out, t->s, t->len);
    }
    return arena_strdup(s->arena, str_text(&out));
}

static void add_name(struct init_source *s, struct init_decl *d, const char *name)
{
    VEC(const char *) names = {d->names, d->n_names, d->n_names};

    vec_add(s->arena, &names, name);
    d->names = names.v;
    d->n_names = names.n;
}

static const char *scope_of(const struct walk *w)
{
    return w->scopes.n ? vec_last(&w->scopes) : "";
}

static void keep(struct walk *w, struct init_decl *d, size_t first, size_t end)
{
    struct init_source *s = w->s;

    d->first = first;
    d->end = end;
    d->scope = scope_of(w);
    d->cond = s->conds.v[first];
    d->extern_c |= d->in_extern_c = w->extern_c;
    if (!d->name)
        d->name = d->n_names ? d->names[0] : "";
    if (*d->name && !d->n_names)
        add_name(s, d, d->name);
    for (size_t i = 0; i < d->n_names; i++) {
        struct init_names *names = map_get(&s->names, d->names[i]);

        if (!names) {
            names = arena_new(s->arena, struct init_names);
            map_put(&s->names, d->names[i], names);
        }
        vec_add(s->arena, &names->decls, s->decls.n);
    }
    if (d->kind == INIT_USING && token_is(TOKEN(s, first + 1), "namespace"))
        vec_add(s->arena, &s->usings, s->decls.n);
    vec_add(s->arena, &s->decls, *d);
}

const struct init_names *init_named(const struct init_source *s, const char *name)
{
    return map_get(&s->names, name);
}

/* Words that stand before a `(` and name no function. */
static const char attributes[] =
    "__launch_bounds__|__attribute__|alignas|__align__|decltype|noexcept|explicit|__cluster_dims__|__block_size__|"
    "__maxnreg__|__declspec|C10_LAUNCH_BOUNDS_1|C10_LAUNCH_BOUNDS_2|C10_LAUNCH_BOUNDS_0|requires|sizeof|throw";

/* Behind the template heads that begin at i. */
static size_t skip_templates(const struct init_source *s, size_t i, struct init_decl *d)
{
    while (is(s, i, "template") && is(s, i + 1, "<")) {
        size_t next = init_angle(s, i + 1, s->tokens.n);

        if (next == i + 1)
            return i + 1;
        d->is_template = true;
        d->specialised |= next == i + 3;
        i = next;
    }
    return i;
}

static size_t skip_attributes(const struct init_source *s, size_t i)
{
    for (;;) {
        if (token_in(TOKEN(s, i), attributes) && is(s, i + 1, "("))
            i = init_balanced(s, i + 1, s->tokens.n);
        else if (is(s, i, "[") && is(s, i + 1, "["))
            i = init_balanced(s, i, s->tokens.n);
        else
            return i;
    }
}

static void add_enumerators(struct init_source *s, struct init_decl *d, size_t open)
{
    size_t end = init_balanced(s, open, s->tokens.n);
    bool next = true;

    for (size_t i = open + 1; i + 1 < end; i++) {
        if (opens(TOKEN(s, i))) {
            i = init_balanced(s, i, end) - 1;
            continue;
        }
        if (next && TOKEN(s, i)->kind == TOK_WORD)
            add_name(s, d, token_text(s->arena, TOKEN(s, i)));
        next = is(s, i, ",");
    }
}

static size_t to_semicolon(const struct init_source *s, size_t i)
{
    while (TOKEN(s, i)->kind != TOK_END && !is(s, i, ";") && !closes(TOKEN(s, i)))
        i = opens(TOKEN(s, i)) ? init_balanced(s, i, s->tokens.n) : i + 1;
    return is(s, i, ";") ? i + 1 : i;
}

/* struct, class, union, enum with a body or a `;`: 0 when it is something else, such as a variable's type. */
static size_t type_end(struct init_source *s, size_t i, struct init_decl *d)
{
    const bool is_enum = is(s, i, "enum");
    size_t at = skip_attributes(s, i + 1);

    if (is_enum && token_in(TOKEN(s, at), "class|struct"))
        at++;
    at = skip_attributes(s, at);
    while (TOKEN(s, at)->kind == TOK_WORD && TOKEN(s, at + 1)->kind == TOK_WORD &&
           !token_is(TOKEN(s, at + 1), "final"))
        at++; /* a macro that stands for an attribute */
    if (TOKEN(s, at)->kind == TOK_WORD) {
        d->name = token_text(s->arena, TOKEN(s, at));
        d->name_at = at++;
    }
    if (is(s, at, "<")) {
        at = init_angle(s, at, s->tokens.n);
        d->specialised = true;
    }
    at += is(s, at, "final");
    if (is(s, at, ":")) {
        while (TOKEN(s, at)->kind != TOK_END && !is(s, at, "{") && !is(s, at, ";"))
            at++;
    }
    if (is(s, at, ";") && d->name)
        return at + 1;
    if (!is(s, at, "{"))
        return 0;
    d->body = at;
    if (d->name)
        add_name(s, d, d->name);
    if (is_enum)
        add_enumerators(s, d, at);
    at = init_balanced(s, at, s->tokens.n);
    for (; TOKEN(s, at)->kind != TOK_END && !is(s, at, ";"); at++) {
        if (TOKEN(s, at)->kind == TOK_WORD) /* a variable of it, or the name that typedef gives */
            add_name(s, d, token_text(s->arena, TOKEN(s, at)));
    }
    return is(s, at, ";") ? at + 1 : at;
}

static size_t typedef_end(struct init_source *s, size_t i, struct init_decl *d)
{
    size_t end;

    d->kind = INIT_TYPE;
    if (token_in(TOKEN(s, i + 1), "struct|union|enum|class") && (end = type_end(s, i + 1, d)))
        return end;
    end = to_semicolon(s, i);
    for (size_t at = i + 1; at + 1 < end; at++) {
        if (is(s, at, "(") && is(s, at + 1, "*") && TOKEN(s, at + 2)->kind == TOK_WORD) {
            d->name = token_text(s->arena, TOKEN(s, at + 2));
            return end;
        }
        if (TOKEN(s, at)->kind == TOK_WORD && (is(s, at + 1, ";") || is(s, at + 1, "[")))
            d->name = token_text(s->arena, TOKEN(s, at));
    }
    return end;
}

static size_t using_end(struct init_source *s, size_t i, struct init_decl *d)
{
    size_t end = to_semicolon(s, i);

    d->kind = is(s, i + 2, "=") || is(s, i + 2, "[") ? INIT_TYPE : INIT_USING;
    if (d->kind == INIT_TYPE)
        d->name = token_text(s->arena, TOKEN(s, i + 1));
    else if (!is(s, i + 1, "namespace") && end > i + 1 && TOKEN(s, end - 2)->kind == TOK_WORD)
        d->name = token_text(s->arena, TOKEN(s, end - 2));
    return end;
}

/* What the words before a name say, macros expanded. */
static void read_specifiers(struct init_source *s, struct init_decl *d, size_t first, size_t end)
{
    struct tokens v = init_expand(s, first, end);

    for (size_t i = 0; i < v.n; i++) {
        d->is_global |= token_is(&v.v[i], "__global__");
        d->is_device |= token_is(&v.v[i], "__device__") || token_is(&v.v[i], "__constant__");
        d->is_host |= token_is(&v.v[i], "__host__");
        d->is_constexpr |= token_is(&v.v[i], "constexpr");
        d->extern_c |= token_is(&v.v[i], "extern") && i + 1 < v.n && v.v[i + 1].kind == TOK_STRING;
    }
}

/* Behind a function's parameters that end before i: its body or its `;`. 0: that was no function's. */
static size_t function_end(struct init_source *s, size_t i, struct init_decl *d)
{
    for (;;) {
        if (token_in(TOKEN(s, i), "const|volatile|override|final|mutable"))
            i++;
        else if (token_in(TOKEN(s, i), "noexcept|__attribute__|requires|throw"))
            i = is(s, i + 1, "(") ? init_balanced(s, i + 1, s->tokens.n) : i + 1;
        else if (is(s, i, "->") || is(s, i, ":")) /* the result's type; members' first values */
            for (i++; TOKEN(s, i)->kind != TOK_END && !is(s, i, "{") && !is(s, i, ";");)
                i = is(s, i, "(") ? init_balanced(s, i, s->tokens.n) : i + 1;
        else
            break;
    }
    if (is(s, i, "{")) {
        d->body = i;
        return init_balanced(s, i, s->tokens.n);
    }
    if (is(s, i, "="))
        return to_semicolon(s, i);
    return is(s, i, ";") ? i + 1 : 0;
}

static void set_function(struct init_source *s, struct init_decl *d, size_t first, size_t name, size_t open)
{
    d->kind = INIT_FUNCTION;
    d->name_at = name;
    d->params = open;
    d->name = token_text(s->arena, TOKEN(s, name));
    if (name > first && is(s, name - 1, "::") && name > first + 1) {
        size_t at = name - 2;

        if (is(s, at, ">")) {
            while (at > first && !is(s, at, "<"))
                at--;
            at -= at > first;
        }
        if (TOKEN(s, at)->kind == TOK_WORD)
            d->owner = token_text(s->arena, TOKEN(s, at));
    }
    read_specifiers(s, d, first, name);
}

/* Behind a bracket's end, the arguments of a template, or a word, of a variable's first value. */
static size_t behind_part(const struct init_source *s, size_t i)
{
    size_t end;

    if (opens(TOKEN(s, i)))
        return init_balanced(s, i, s->tokens.n);
    end = is(s, i, "<") && TOKEN(s, i - 1)->kind == TOK_WORD ? init_angle(s, i, s->tokens.n) : i;
    return end > i ? end : i + 1;
}

/* Functions and variables. 0: neither. */
static size_t entity_end(struct init_source *s, size_t first, size_t i, struct init_decl *d)
{
    const size_t head = i;
    size_t last_word = 0;

    while (TOKEN(s, i)->kind != TOK_END) {
        const struct token *t = TOKEN(s, i);

        if (elsewhere(s, first, i)) {
            i++;
        } else if (token_in(t, attributes) && is(s, i + 1, "(")) {
            i = init_balanced(s, i + 1, s->tokens.n);
        } else if (token_is(t, "operator")) {
            size_t open = i + 1;

            while (TOKEN(s, open)->kind != TOK_END &&
                   (!is(s, open, "(") || (open == i + 1 && is(s, open + 1, ")"))))
                open += is(s, open, "(") ? 2 : 1;
            set_function(s, d, head, i, open);
            d->name = init_text(s, i, open);
            size_t end = function_end(s, init_balanced(s, open, s->tokens.n), d);
            return end ? end : to_semicolon(s, open);
        } else if (token_is(t, "<") && last_word == i - 1 && i > head) {
            size_t next = init_angle(s, i, s->tokens.n);

            if (next == i)
                return 0;
            last_word = is(s, next, "(") ? last_word : 0;
            if (is(s, next, "(") && i > head) {
                size_t end = function_end(s, init_balanced(s, next, s->tokens.n), d);

                if (end) { /* a function specialised */
                    d->specialised = true;
                    set_function(s, d, head, i - 1, next);
                    return end;
                }
            }
            i = next;
        } else if (t->kind == TOK_WORD) {
            last_word = i++;
        } else if (token_is(t, "(")) {
            size_t next = init_balanced(s, i, s->tokens.n), end;

            if (last_word == i - 1 && i > head && (end = function_end(s, next, d))) {
                set_function(s, d, head, last_word, i);
                return end;
            }
            i = next;
        } else if (token_is(t, "=") || token_is(t, ";") || token_is(t, "[") || token_is(t, "{") ||
                   token_is(t, ",")) {
            bool ends = token_is(t, ";");

            if (!last_word)
                return 0;
            d->kind = INIT_VARIABLE;
            if (!d->n_names) {
                d->name_at = last_word;
                read_specifiers(s, d, head, last_word);
            }
            add_name(s, d, token_text(s->arena, TOKEN(s, last_word)));
            if (ends)
                return i + 1;
            while (TOKEN(s, i)->kind != TOK_END && !is(s, i, ",") && !is(s, i, ";") && !closes(TOKEN(s, i)))
                i = behind_part(s, i);
            if (!is(s, i, ","))
                return is(s, i, ";") ? i + 1 : 0;
            i++;
        } else if (closes(t)) {
            return 0;
        } else {
            i++;
        }
    }
    return 0;
}

static int opened(const struct tokens *v) /* and not closed */
{
    int depth = 0;

    for (size_t k = 0; k < v->n; k++)
        depth += token_is(&v->v[k], "{") - token_is(&v->v[k], "}");
    return depth;
}

/* NS_BEGIN(a): what stands behind it stands for itself. */
static bool opens_scope(const struct tokens *v)
{
    return v->n > 1 && (token_in(&v->v[0], "namespace|inline") ||
                        (token_is(&v->v[0], "extern") && v->v[1].kind == TOK_STRING));
}

/* TABLE_BEGIN(int, x) 1, 2, 3 TABLE_END(): behind what closes the braces that the call before `end` opens. */
static size_t behind_braces(struct init_source *s, size_t end, int depth)
{
    size_t i = end;

    while (depth > 0 && TOKEN(s, i)->kind != TOK_END) {
        bool call = is(s, i + 1, "(") && TOKEN(s, i)->kind == TOK_WORD && init_macro_at(s, i);
        size_t next = call ? init_balanced(s, i + 1, s->tokens.n) : i + 1;
        struct tokens v = call ? init_expand(s, i, next) : (struct tokens){.v = s->tokens.v + i, .n = 1};

        depth += opened(&v);
        i = next;
    }
    return depth ? end : i;
}

/* A macro of the file called where a declaration stands: what it makes says what it declares. */
static size_t call_end(struct walk *w, size_t i, struct init_decl *d)
{
    struct init_source *s = w->s;
    const struct macro *m = init_macro_at(s, i);
    size_t end;
    struct tokens v;

    if (!is(s, i + 1, "("))
        return 0;
    end = init_balanced(s, i + 1, s->tokens.n);
    if (is(s, end, "{")) { /* TEST(a, b) { ... }, PYBIND11_MODULE(...) { ... } */
        if (!m) {
            d->kind = INIT_OTHER;
            return init_balanced(s, end, s->tokens.n);
        }
        return 0;
    }
    if (!m && !is(s, end, ";") && !TOKEN(s, end)->line_start)
        return 0;
    d->kind = m ? INIT_CALL : INIT_OTHER;
    if (m) {
        v = init_expand(s, i, end);
        if (v.n && token_in(&v.v[0], "__attribute__|__declspec|[")) /* of the declaration behind it */
            return 0;
        if (!opens_scope(&v))
            end = behind_braces(s, end, opened(&v));
        for (size_t k = 0; k < v.n; k++) {
            d->is_global |= token_is(&v.v[k], "__global__");
            d->is_device |= token_is(&v.v[k], "__device__");
            if (v.v[k].kind == TOK_WORD && k + 1 < v.n &&
                (token_in(&v.v[k - (k > 0)], "struct|class|enum|union|using") || token_is(&v.v[k + 1], "(") ||
                 token_is(&v.v[k + 1], "[")) &&
                !token_in(&v.v[k], attributes) && !token_in(&v.v[k], "if|for|while|return|switch"))
                add_name(s, d, token_text(s->arena, &v.v[k]));
            d->body |= token_is(&v.v[k], "{"); /* it defines something */
            if (token_is(&v.v[k], "{")) {      /* what stands in a body declares nothing */
                int depth = 0;

                for (; k < v.n; k++) {
                    depth += token_is(&v.v[k], "{");
                    depth -= token_is(&v.v[k], "}");
                    if (depth == 0)
                        break;
                }
            }
        }
    }
    return is(s, end, ";") ? end + 1 : end;
}

static void push(struct walk *w, const char *scope)
{
    struct init_source *s = w->s;
    bool known = !*scope;

    vec_add(s->arena, &w->scopes, scope);
    for (size_t i = 0; i < s->namespaces.n; i++)
        known |= strcmp(s->namespaces.v[i], scope) == 0;
    if (!known)
        vec_add(s->arena, &s->namespaces, scope);
}

/* namespace a::b {, extern "C" {, }: the token behind; i: none of them. */
static size_t block(struct walk *w, size_t i)
{
    struct init_source *s = w->s;
    size_t at = i + (is(s, i, "inline") && is(s, i + 1, "namespace"));
    const char *scope = scope_of(w);

    if (is(s, i, "}")) {
        w->scopes.n -= w->scopes.n > 0;
        if (w->extern_c && w->scopes.n < w->extern_depth)
            w->extern_c = false;
        return i + 1;
    }
    if (is(s, i, "extern") && TOKEN(s, i + 1)->kind == TOK_STRING && is(s, i + 2, "{")) {
        push(w, scope);
        w->extern_c = true;
        w->extern_depth = w->scopes.n;
        return i + 3;
    }
    if (!is(s, at, "namespace"))
        return i;
    at++;
    if (is(s, at, "{"))
        scope = arena_printf(s->arena, "%s{}::", scope);
    for (; TOKEN(s, at)->kind == TOK_WORD || is(s, at, "::"); at++) {
        if (TOKEN(s, at)->kind == TOK_WORD && !is(s, at, "inline") &&
            TOKEN(s, at + 1)->kind != TOK_WORD) /* namespace EXPORT_MACRO a */
            scope = arena_printf(s->arena, "%s%.*s::", scope, (int)TOKEN(s, at)->len, TOKEN(s, at)->s);
    }
    if (!is(s, at, "{"))
        return i;
    push(w, scope);
    return at + 1;
}

static size_t declaration(struct walk *w, size_t i)
{
    struct init_source *s = w->s;
    struct init_decl d = {.kind = INIT_OTHER};
    size_t at = skip_templates(s, i, &d), end = 0;

    at = skip_attributes(s, at);
    if (is(s, at, "namespace")) { /* an alias */
        d.kind = INIT_ALIAS_NAMESPACE;
        d.name = token_text(s->arena, TOKEN(s, at + 1));
        end = to_semicolon(s, at);
    } else if (is(s, at, "using")) {
        end = using_end(s, at, &d);
    } else if (is(s, at, "typedef")) {
        end = typedef_end(s, at, &d);
    } else if (is(s, at, "static_assert") || is(s, at, "asm") ||
               (is(s, at, "template") && !is(s, at + 1, "<"))) {
        end = to_semicolon(s, at);
        d.name = ""; /* an explicit instantiation */
    } else if (is(s, at, "extern") && is(s, at + 1, "template")) {
        end = to_semicolon(s, at);
        d.name = "";
    }
    if (!end && token_in(TOKEN(s, at), "struct|class|union|enum") && (end = type_end(s, at, &d)))
        d.kind = INIT_TYPE;
    if (!end && at == i && TOKEN(s, at)->kind == TOK_WORD)
        end = call_end(w, at, &d);
    if (!end) {
        struct init_decl fresh = {
            .kind = INIT_OTHER, .is_template = d.is_template, .specialised = d.specialised};

        d = fresh;
        end = entity_end(s, i, at, &d);
    }
    if (!end) { /* not understood: to its end */
        d = (struct init_decl){.kind = INIT_OTHER};
        end = to_semicolon(s, i);
        if (end == i)
            end = i + 1;
        return end;
    }
    keep(w, &d, i, end);
    return end;
}

void init_declare(struct init_source *s, size_t from)
{
    struct walk w = {.s = s};
    size_t i = from;

    while (TOKEN(s, i)->kind != TOK_END) {
        size_t next = is(s, i, ";") ? i + 1 : block(&w, i);

        i = next > i ? next : declaration(&w, i);
    }
}
