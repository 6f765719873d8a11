/* Functions found among preprocessed tokens. Nothing is declared and nothing needs to be known: a name,
 * brackets and a body make a function, wherever its types come from. */
#include "init/wrapper.h"

bool wrapper_sign(const struct token *t, const char *list)
{
    for (const char *p = list; *p && t->kind != TOK_END;) {
        size_t len = strcspn(p, " ");

        if (len == t->len && memcmp(p, t->s, len) == 0)
            return true;
        p += len + (p[len] == ' ');
    }
    return false;
}

size_t wrapper_skip(const struct token *v, size_t n, size_t at)
{
    size_t depth = 0;

    for (size_t i = at; i < n; i++) {
        if (wrapper_sign(&v[i], "( [ {"))
            depth++;
        else if (wrapper_sign(&v[i], ") ] }") && depth && --depth == 0)
            return i + 1;
    }
    return n;
}

size_t wrapper_strip(struct token *to, const struct token *v, size_t n)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        bool call = i && (v[i - 1].kind == TOK_WORD || wrapper_sign(&v[i - 1], "> ) ]"));
        if (i + 3 < n && token_is(&v[i], "(") && v[i + 1].kind == TOK_WORD && token_is(&v[i + 2], ")") &&
            wrapper_sign(&v[i + 3], ". ->") && !call) {
            to[k++] = v[++i];
            i++;
        } else
            to[k++] = v[i];
    }
    return k;
}

/* How many lists the sign closes: `>>` closes two. */
static int closes(const struct token *t)
{
    if (token_is(t, ">"))
        return 1;
    if (token_is(t, ">>"))
        return 2;
    return 0;
}

size_t wrapper_angle(const struct token *v, size_t n, size_t at)
{
    int depth = 0;

    for (size_t i = at; i < n && i < at + 400; i++) {
        if (token_is(&v[i], "<"))
            depth++;
        else if (closes(&v[i])) {
            depth -= closes(&v[i]);
            if (depth <= 0)
                return i;
        } else if (wrapper_sign(&v[i], "( [ {"))
            i = wrapper_skip(v, n, i) - 1;
        else if (wrapper_sign(&v[i], "; ) ] } && || <<<") || v[i].kind == TOK_END)
            return 0;
    }
    return 0;
}

char *wrapper_text(struct arena *a, const struct token *v, size_t first, size_t last)
{
    struct str out = {0};

    for (size_t i = first; i < last; i++) {
        bool words = i > first && v[i].kind != TOK_PUNCT && v[i - 1].kind != TOK_PUNCT;
        if (i > first && (v[i].space_before || v[i].line_start || words))
            str_addc(&out, ' ');
        str_addn(&out, v[i].s, v[i].len);
    }
    return out.s ? str_take(&out, a) : arena_strdup(a, "");
}

/* The end of the item that begins at i in a list that ends at `end`: a comma or the end. */
size_t wrapper_item(const struct token *v, size_t i, size_t end)
{
    while (i < end && !token_is(&v[i], ",")) {
        size_t angle = token_is(&v[i], "<") ? wrapper_angle(v, end, i) : 0;
        if (angle)
            i = angle + 1;
        else
            i = wrapper_sign(&v[i], "( [ {") ? wrapper_skip(v, end, i) : i + 1;
    }
    return i;
}

static void read_tparams(struct wrapper_function *f, struct arena *a, const struct token *v, size_t first,
                         size_t end)
{
    VEC(struct wrapper_tparam) list = {0};

    for (size_t i = first; i < end; i++) {
        size_t last = wrapper_item(v, i, end), assign = i;
        struct wrapper_tparam p = {.is_type = token_in(&v[i], "typename|class")};
        while (assign < last && !token_is(&v[assign], "="))
            assign++;
        if (assign > i && v[assign - 1].kind == TOK_WORD && !token_in(&v[assign - 1], "typename|class")) {
            p.name = token_text(a, &v[assign - 1]);
            p.type = wrapper_text(a, v, i, assign - 1);
            if (assign > i + 1 && !v[i].macro && !v[assign - 2].macro)
                p.constraint = (struct init_span){v[i].at, v[assign - 2].at + v[assign - 2].len};
        } else {
            p.name = "";
            p.type = "";
        }
        for (size_t k = i; k + 2 < last; k++) { /* T (*name)(T) */
            if (token_is(&v[k], "(") && wrapper_sign(&v[k + 1], "* &") && v[k + 2].kind == TOK_WORD) {
                p.name = token_text(a, &v[k + 2]);
                p.type = "(*)";
            }
        }
        p.fallback = assign < last ? wrapper_text(a, v, assign + 1, last) : NULL;
        vec_add(a, &list, p);
        i = last;
    }
    f->tparams = list.v;
    f->n_tparams = list.n;
}

static void read_params(struct wrapper_function *f, struct arena *a, const struct token *v)
{
    VEC(struct wrapper_param) list = {0};

    for (size_t i = f->params + 1; i < f->params_end; i++) {
        size_t last = wrapper_item(v, i, f->params_end), name = i;
        struct wrapper_param p = {.first = i, .end = last, .name = ""};
        while (name < last && !wrapper_sign(&v[name], "= ["))
            name++;
        p.last = name;
        if (name > i + 1 && v[name - 1].kind == TOK_WORD && !token_is(&v[name - 2], "::")) {
            p.last = name - 1;
            p.name = token_text(a, &v[name - 1]);
        }
        if (last > i && !(last == i + 1 && token_is(&v[i], "void")))
            vec_add(a, &list, p);
        i = last;
    }
    f->list = list.v;
    f->n_list = list.n;
}

/* Names before brackets that are no function's. */
static bool no_name(const struct token *t)
{
    return t->kind != TOK_WORD ||
           token_in(t, "__launch_bounds__|__attribute__|__align__|alignas|noexcept|decltype|__declspec|sizeof|"
                       "__cluster_dims__|__maxnreg__|static_assert|asm|if|while|for|switch|defined|explicit");
}

/* Is the parameter constrained by a concept? The name is a type of the function's parameters then. */
static bool is_constrained(const struct wrapper_function *f, const struct token *v, const char *name)
{
    for (size_t i = 0; i < f->n_list; i++) {
        size_t k = f->list[i].first;
        while (wrapper_sign(&v[k], "const volatile"))
            k++;
        if (k < f->list[i].last && token_is(&v[k], name) && !wrapper_sign(&v[k + 1], ":: <"))
            return true;
    }
    return false;
}

static void read_function(struct wrapper_function *f, struct arena *a, const struct token *v, size_t open,
                          size_t n)
{
    f->params = open;
    f->name = token_text(a, &v[f->name_at]);
    f->params_end = wrapper_skip(v, n, open) - 1;
    f->body_end = wrapper_skip(v, n, f->body) - 1;
    if (token_is(&v[f->first], "template") && token_is(&v[f->first + 1], "<")) {
        size_t end = wrapper_angle(v, n, f->first + 1);
        if (end)
            read_tparams(f, a, v, f->first + 2, end);
    }
    read_params(f, a, v);
    for (size_t i = 0; i < f->n_tparams; i++) {
        struct wrapper_tparam *p = &f->tparams[i];
        if (p->is_type || !str_is_name(p->name) || !is_constrained(f, v, p->name))
            p->constraint.end = 0;
        p->is_type = p->is_type || p->constraint.end;
    }
}

bool wrapper_scan(struct wrapper_function *f, struct arena *a, const struct token *v, size_t n)
{
    size_t open = 0;

    *f = (struct wrapper_function){0};
    for (size_t i = 0; i < n && v[i].kind != TOK_END;) {
        const struct token *t = &v[i];

        if (token_is(t, "template") && i + 1 < n && token_is(&v[i + 1], "<")) {
            size_t end = wrapper_angle(v, n, i + 1);
            i = end ? end + 1 : i + 1;
        } else if (token_is(t, "(")) {
            if (!open && i > f->first && !no_name(&v[i - 1])) {
                open = i;
                f->name_at = i - 1;
            }
            i = wrapper_skip(v, n, i);
        } else if (!open && !no_name(t) && i + 1 < n && token_is(&v[i + 1], "<")) { /* name<float>(...) */
            size_t end = wrapper_angle(v, n, i + 1);
            if (end && end + 1 < n && token_is(&v[end + 1], "(")) {
                open = end + 1;
                f->name_at = i;
                i = wrapper_skip(v, n, open);
            } else
                i++;
        } else if (token_is(t, "{") && open) {
            f->body = i;
            read_function(f, a, v, open, n);
            return true;
        } else if (wrapper_sign(t, "; { }")) {
            f->first = ++i;
            open = 0;
        } else
            i++;
    }
    return false;
}
