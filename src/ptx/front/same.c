/* Two texts of PTX compared word for word, whatever their symbols are called: the one is the other with other
 * names, or it is not the same. Names of what only a file sees hold a hash, and every compiler has its own
 * order of declarations. What is not sure to be the same is different: then somebody runs it. */
#include "parse.h"

struct word {
    const char *s;
    uint32_t n;
};

struct item { /* a function or variable: its words, up to its ; or } */
    size_t first, n;
    char *name;
    bool is_extern, is_function, has_body; /* a variable's: it is here that it lies */
    struct item *other;                    /* of the other text, that stands where this one does */
};

struct side {
    const char *s, *end;
    struct arena *arena;
    VEC(struct word) words;
    struct map by_name; /* the definition, where there is one */
    struct word target;
    struct str key; /* a word with its zero */
};

struct pairing {
    struct side a, b;
    VEC(struct item *) left; /* of a, paired, still to be compared */
};

/* ---- words */

static bool is_letter(int c)
{
    return char_is_word(c) || c == '.';
}

static void skip_line(struct side *x)
{
    const char *newline = memchr(x->s, '\n', (size_t)(x->end - x->s));
    x->s = newline ? newline : x->end;
}

static bool begins(const struct side *x, const char *with)
{
    size_t n = strlen(with);
    return (size_t)(x->end - x->s) >= n && !memcmp(x->s, with, n);
}

static void skip_blanks(struct side *x)
{
    for (;;) {
        while (x->s < x->end && isspace((unsigned char)*x->s))
            x->s++;
        if (begins(x, "//") || begins(x, ".loc\t") || begins(x, ".loc ") || begins(x, ".file\t") ||
            begins(x, ".file ") || begins(x, ".version") || begins(x, ".address_size")) {
            skip_line(x);
        } else if (begins(x, "/*")) {
            const char *close = memmem(x->s, (size_t)(x->end - x->s), "*/", 2);
            x->s = close ? close + 2 : x->end;
        } else if (begins(x, ".section")) {
            const char *close = memchr(x->s, '}', (size_t)(x->end - x->s));
            x->s = close ? close + 1 : x->end;
        } else {
            return;
        }
    }
}

static bool take_word(struct side *x, struct word *w)
{
    skip_blanks(x);
    *w = (struct word){x->s, 0};
    if (x->s >= x->end)
        return false;
    if (*x->s == '"') {
        for (x->s++; x->s < x->end && *x->s != '"' && *x->s != '\n'; x->s++)
            ;
        x->s += x->s < x->end;
    } else if (is_letter(*x->s)) {
        while (x->s < x->end && is_letter(*x->s))
            x->s++;
    } else {
        x->s++;
    }
    w->n = (uint32_t)(x->s - w->s);
    return true;
}

static bool word_is(const struct word *w, const char *text)
{
    return w->n == strlen(text) && !memcmp(w->s, text, w->n);
}

static bool word_same(const struct word *x, const struct word *y)
{
    return x->n == y->n && !memcmp(x->s, y->s, x->n);
}

/* No opcode has one of these but behind a dot. */
static bool is_symbol(const struct word *w)
{
    const char c = w->s[0];

    return (isalpha((unsigned char)c) || c == '_' || c == '$') && !memchr(w->s, '.', w->n) &&
           (memchr(w->s, '_', w->n) || memchr(w->s, '$', w->n));
}

static bool is_name(const struct word *w)
{
    return (isalpha((unsigned char)w->s[0]) || w->s[0] == '_' || w->s[0] == '$') && !memchr(w->s, '.', w->n);
}

/* ---- items */

/* The function's: behind .entry or .func and what it returns; a variable's: the last before [, = or ;. */
static bool find_name(const struct side *x, struct item *it)
{
    const struct word *name = NULL;
    int depth = 0;

    for (size_t i = it->first; i < it->first + it->n; i++) {
        const struct word *w = &x->words.v[i];
        depth += word_is(w, "(") - word_is(w, ")");
        if (word_is(w, ".func") || word_is(w, ".entry"))
            it->is_function = true;
        it->is_extern |= depth == 0 && word_is(w, ".extern");
        it->has_body |= word_is(w, "{") && it->is_function;
        if (name && it->is_function)
            continue;
        if (!it->is_function && depth == 0 && word_is(w, ","))
            return false;
        if (!it->is_function && (word_is(w, "[") || word_is(w, "=")))
            break;
        if (depth == 0 && is_name(w))
            name = w;
    }
    it->has_body |= !it->is_function && !it->is_extern;
    it->name = name ? arena_strndup(x->arena, name->s, name->n) : NULL;
    return name != NULL;
}

static bool may_begin(const struct word *w)
{
    static const char list[] = ".visible|.weak|.extern|.common|.entry|.func|.global|.const|.shared";

    return str_in_n(w->s, w->n, list);
}

static bool take_item(struct side *x, struct item *it)
{
    int depth = 0;
    bool function = false;
    struct word w;

    *it = (struct item){.first = x->words.n};
    while (take_word(x, &w)) {
        if (word_is(&w, ".target") && x->words.n == it->first) {
            if (!take_word(x, &x->target))
                return false;
            skip_line(x);
            continue;
        }
        if (x->words.n == it->first && !may_begin(&w))
            return false;
        vec_push(&x->words, w);
        function |= word_is(&w, ".func") || word_is(&w, ".entry");
        depth += word_is(&w, "{") - word_is(&w, "}");
        if (depth == 0 && (word_is(&w, ";") || (function && word_is(&w, "}"))))
            break;
    }
    it->n = x->words.n - it->first;
    return it->n == 0 || (depth == 0 && find_name(x, it));
}

static bool read_side(struct side *x, struct arena *a, const char *text, size_t len)
{
    struct item it;

    *x = (struct side){.s = text, .end = text + len, .arena = a};
    for (;;) {
        if (!take_item(x, &it))
            return false;
        if (!it.n)
            return true;
        struct item *known = map_get(&x->by_name, it.name);
        if (known && known->has_body && it.has_body)
            return false;
        if (known && known->has_body)
            continue;
        struct item *kept = arena_copy(a, &it, sizeof(it));
        map_put(&x->by_name, kept->name, kept);
    }
}

static const char *key_of(struct side *x, const struct word *w)
{
    str_clear(&x->key);
    str_addn(&x->key, w->s, w->n);
    return str_text(&x->key);
}

static struct item *item_of(struct side *x, const struct word *w)
{
    return is_name(w) ? map_get(&x->by_name, key_of(x, w)) : NULL;
}

/* ---- beside each other */

static bool pair(struct pairing *p, struct item *x, struct item *y)
{
    if (x->other || y->other)
        return x->other == y;
    x->other = y;
    y->other = x;
    vec_push(&p->left, x);
    return true;
}

/* Of a name of the item's own: where in it that stood first. */
static size_t first_place(struct side *x, struct map *places, const struct word *w, size_t at)
{
    const char *name = key_of(x, w);

    if (!map_has(places, name))
        map_put(places, name, (void *)(uintptr_t)(at + 1));
    return (size_t)(uintptr_t)map_get(places, name);
}

/* Linkage says nothing of what is computed. */
static size_t skip_linkage(const struct side *x, const struct item *it, size_t at)
{
    while (at < it->n && str_in_n(x->words.v[it->first + at].s, x->words.v[it->first + at].n,
                                  ".visible|.weak|.extern|.common"))
        at++;
    return at;
}

static bool same_item(struct pairing *p, const struct item *x, const struct item *y)
{
    struct map places[2] = {{0}, {0}};
    size_t i = skip_linkage(&p->a, x, 0), k = skip_linkage(&p->b, y, 0);
    bool same = x->is_extern == y->is_extern && x->has_body == y->has_body && x->n - i == y->n - k;

    /* What neither defines is known by its name; but all extern arrays in shared memory are one. */
    if (same && !x->has_body)
        same = str_eq(x->name, y->name) || word_is(&p->a.words.v[x->first + i], ".shared");
    for (; same && i < x->n; i++, k++) {
        const struct word *v = &p->a.words.v[x->first + i], *w = &p->b.words.v[y->first + k];
        struct item *to = item_of(&p->a, v), *its = item_of(&p->b, w);
        if (to || its)
            same = to && its && pair(p, to, its);
        else if (is_symbol(v) && is_symbol(w))
            same = first_place(&p->a, &places[0], v, i) == first_place(&p->b, &places[1], w, i);
        else
            same = word_same(v, w);
    }
    map_free(&places[0]);
    map_free(&places[1]);
    return same;
}

static void side_close(struct side *x)
{
    vec_free(&x->words);
    str_free(&x->key);
    map_free(&x->by_name);
}

bool ptx_same(const struct ptx_text *x, const struct ptx_text *y, const struct ptx_kernel_pair *kernels,
              size_t n)
{
    struct arena *a = arena_open();
    struct pairing p = {0};
    bool same = read_side(&p.a, a, x->text, x->len) && read_side(&p.b, a, y->text, y->len) &&
                word_same(&p.a.target, &p.b.target);

    for (size_t i = 0; same && i < n; i++) {
        struct item *k = map_get(&p.a.by_name, kernels[i].x), *its = map_get(&p.b.by_name, kernels[i].y);
        same = k && its && k->has_body && its->has_body && pair(&p, k, its);
    }
    while (same && p.left.n) {
        struct item *k = p.left.v[--p.left.n];
        same = same_item(&p, k, k->other);
    }
    vec_free(&p.left);
    side_close(&p.a);
    side_close(&p.b);
    arena_close(a);
    return same;
}
