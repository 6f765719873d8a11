/* Launches through a function that takes the kernel, its configuration, as a struct of grid, block, shared
 * bytes and stream or as these four, and the kernel's arguments: written as `kernel<<<grid, block, shared,
 * stream>>>(arguments)`. */
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

struct launch { /* tokens: of the kernel, of its configuration, the first of its arguments, the closing bracket
                 */
    size_t kernel, kernel_end, config, config_end, args, close;
};

/* Grid, block, shared bytes and stream as arguments of their own: `LaunchKernel(k, grid, block, 0, stream, x)`.
 */
static bool four_in_turn(const struct launching *l, size_t callee, struct launch *x)
{
    size_t item = x->kernel_end + 1, end = item;

    if (!strcasestr(token_text(l->arena, &l->v[callee]), "launch"))
        return false;
    for (int i = 0; i < 4 && item < x->close; i++) {
        end = wrapper_item(l->v, item, x->close);
        if (i < 3 ? end == item : !says_stream(l->v, item, end))
            return false;
        item = i < 3 ? end + 1 : item;
    }
    if (item >= x->close)
        return false;
    x->config = x->kernel_end + 1;
    x->config_end = end;
    x->args = MIN(end + 1, x->close);
    return true;
}

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
    if (four_in_turn(l, i, x))
        return true;
    end = wrapper_item(l->v, config, x->close);
    x->args = MIN(end + 1, x->close);
    const size_t open = end == config + 1 ? declared_four(l, config) : four(l, config, end);
    x->config = open + 1;
    x->config_end = open ? wrapper_skip(l->v, l->n, open) - 1 : 0;
    return open != 0;
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

/* What stands around the call that launches is no part of the launch: a namespace, `return`, and a check of
 * what it gives, `CHECK(a::launch(...));`. Gives the last token of it. */
static size_t bare(struct launching *l, size_t close)
{
    struct tokens *out = &l->out;

    for (;;) {
        const size_t n = out->n;
        if (n > 1 && token_is(&out->v[n - 1], "::") && out->v[n - 2].kind == TOK_WORD)
            out->n -= 2;
        else if (n > 0 && token_in(&out->v[n - 1], "::|return"))
            out->n--;
        else if (n > 2 && token_is(&out->v[n - 1], "(") && out->v[n - 2].kind == TOK_WORD &&
                 wrapper_sign(&out->v[n - 3], "; { } :: return") && close + 2 < l->n &&
                 token_is(&l->v[close + 1], ")") && !token_in(&out->v[n - 2], "if|while|for|switch")) {
            out->n -= 2;
            close++;
        } else
            return close;
    }
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
        const size_t last = bare(&l, x.close);
        copy(&l, x.kernel, x.kernel_end);
        sign(&l, s, "<<<");
        for (size_t k = x.config; k < x.config_end; k++)
            vec_add(l.arena, &l.out, l.v[k]);
        sign(&l, s, ">>>");
        sign(&l, s, "(");
        copy(&l, x.args, x.close + 1);
        i = last;
    }
    return wrapper_plain(s, l.out);
}
