/* Launches through a function that takes the kernel, its configuration as a struct of grid, block, shared bytes
 * and stream, and the kernel's arguments: written as `kernel<<<grid, block, shared, stream>>>(arguments)`. */
#include "init/wrapper.h"

struct launching {
    const struct token *v;
    size_t n;
    struct arena *arena;
    struct tokens out;
    bool *left_out; /* for each token: of the declaration of a configuration */
};

static bool says_stream(const struct token *v, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        if (v[i].kind == TOK_WORD && memmem(v[i].s, v[i].len, "tream", 5))
            return true;
    }
    return false;
}

/* The bracket of a list of grid, block, shared bytes and stream, the first one in [first, last); 0: none. */
static size_t four(const struct launching *l, size_t first, size_t last)
{
    size_t open = first, item = 0, count = 0, end = 0;

    while (open < last && !wrapper_sign(&l->v[open], "( {"))
        open++;
    if (open == last)
        return 0;
    const size_t close = wrapper_skip(l->v, l->n, open) - 1;
    for (size_t i = open + 1; i < close; i = end + 1) {
        item = i;
        end = wrapper_item(l->v, i, close);
        count++;
    }
    return count == 4 && says_stream(l->v, item, close) ? open : 0;
}

/* The same of a variable that was declared before: `config name(...)`, `config name = {...}`. Its declaration
 * is left out. */
static size_t declared_four(const struct launching *l, size_t use)
{
    const char *name = token_text(l->arena, &l->v[use]);

    for (size_t i = use; i-- > 1;) {
        size_t end = i, open, begin = i;

        if (!token_is(&l->v[i], name) || l->v[i - 1].kind != TOK_WORD || !wrapper_sign(&l->v[i + 1], "( { ="))
            continue;
        while (end < l->n && !token_is(&l->v[end], ";"))
            end++;
        open = four(l, i, end);
        while (begin > 0 && !wrapper_sign(&l->v[begin - 1], "; { }"))
            begin--;
        for (size_t k = begin; open && k <= end; k++)
            l->left_out[k] = true;
        return open;
    }
    return 0;
}

struct launch {
    size_t kernel, kernel_end, open, args,
        close; /* tokens: `open` is the list's bracket, `args` the first one */
};

static bool launch_at(const struct launching *l, size_t i, const char *kernel, struct launch *x)
{
    size_t at = i + 2, config, end;

    if (i + 4 > l->n || l->v[i].kind != TOK_WORD || !token_is(&l->v[i + 1], "("))
        return false;
    while (at + 2 < l->n && token_is(&l->v[at + 1], "::"))
        at += 2;
    if (!token_is(&l->v[at], kernel))
        return false;
    x->kernel = i + 2;
    x->kernel_end = at + 1;
    if (token_is(&l->v[at + 1], "<") && wrapper_angle(l->v, l->n, at + 1))
        x->kernel_end = wrapper_angle(l->v, l->n, at + 1) + 1;
    if (x->kernel_end >= l->n || !token_is(&l->v[x->kernel_end], ","))
        return false;
    config = x->kernel_end + 1;
    x->close = wrapper_skip(l->v, l->n, i + 1) - 1;
    end = wrapper_item(l->v, config, x->close);
    x->args = MIN(end + 1, x->close);
    x->open = end == config + 1 ? declared_four(l, config) : four(l, config, end);
    return x->open != 0;
}

static void copy(struct launching *l, size_t first, size_t last)
{
    for (; first < last; first++) {
        if (!l->left_out[first])
            vec_add(l->arena, &l->out, l->v[first]);
    }
}

static void sign(struct launching *l, struct init_source *s, const char *text)
{
    vec_add(l->arena, &l->out, init_words(s, text).v[0]);
}

struct tokens wrapper_launches(struct init_source *s, const struct init_decl *host, const char *kernel)
{
    struct tokens list = init_expand(s, host->first, host->end);
    struct launching l = {.v = list.v, .n = list.n, .arena = s->arena};
    struct launch x;

    l.left_out = arena_array(s->arena, bool, list.n + 1);
    for (size_t i = 0; i < list.n; i++)
        launch_at(&l, i, kernel, &x);
    for (size_t i = 0; i < list.n; i++) {
        if (!launch_at(&l, i, kernel, &x)) {
            copy(&l, i, i + 1);
            continue;
        }
        copy(&l, x.kernel, x.kernel_end);
        sign(&l, s, "<<<");
        for (size_t k = x.open + 1; k < wrapper_skip(l.v, l.n, x.open) - 1; k++)
            vec_add(l.arena, &l.out, l.v[k]);
        sign(&l, s, ">>>");
        sign(&l, s, "(");
        copy(&l, x.args, x.close + 1);
        i = x.close;
    }
    return wrapper_plain(s, l.out);
}
