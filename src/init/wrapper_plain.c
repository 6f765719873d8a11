/* What is said in other words than torch's, in torch's: tensors of other classes, several extents in one
 * declaration, lambdas that are called by their name. Tokens become tokens; nothing is understood yet. */
#include "init/wrapper.h"

enum { MOST_TOKENS = 200000, PASSES = 4, MOST_PARAMS = 8 };

struct plain {
    struct init_source *source;
    struct arena *arena;
    const struct token *v;
    size_t n;
    struct tokens out;
};

static void put(struct plain *p, const char *text)
{
    const struct tokens words = init_words(p->source, text);

    for (size_t i = 0; i < words.n; i++)
        vec_add(p->arena, &p->out, words.v[i]);
}

static void copy(struct plain *p, size_t first, size_t last)
{
    for (; first < last; first++)
        vec_add(p->arena, &p->out, p->v[first]);
}

/* Do the tokens from i on say these words? How many they are then, else 0. `.` stands for `->`, too. */
static size_t says(const struct plain *p, size_t i, const char *words)
{
    size_t n = 0;

    for (const char *w = words; *w; n++) {
        const size_t len = strcspn(w, " ");
        const bool dot = *w == '.' && i + n < p->n && token_is(&p->v[i + n], "->");

        if (i + n >= p->n || (!dot && (p->v[i + n].len != len || memcmp(p->v[i + n].s, w, len) != 0)))
            return 0;
        w += len + (w[len] == ' ');
    }
    return n;
}

/* ---- tensors of other classes */

static const struct {
    const char *theirs, *ours;
} members[] = {
    {". data . dptr", ".data_ptr()"},
    {". data . shape . size ( )", ".dim()"},
    {". data . dtype", ".scalar_type()"},
    {". data . numel ( )", ".numel()"},
    {". data . has_data ( )", ".defined()"},
    {". has_data ( )", ".defined()"},
    {". shape . size ( )", ".dim()"},
    {". shape ( ) . size ( )", ".dim()"},
    {". shape ( )", ".sizes()"},
    {". layout ( )", ".sizes()"},
    {". raw_data ( )", ".data_ptr()"},
    {". size ( )", ".numel()"},
};

/* An extent: `.shape[i]`, `.shape(i)`, `.data.shape[i]`. */
static size_t extent(struct plain *p, size_t i)
{
    size_t open = says(p, i, ". data . shape"), behind;

    if (!open)
        open = says(p, i, i + 4 < p->n && token_is(&p->v[i + 4], "[") ? ". shape ( )" : ". shape");
    open += i;
    if (open == i || open >= p->n || !wrapper_sign(&p->v[open], "[ ("))
        return i;
    behind = wrapper_skip(p->v, p->n, open);
    put(p, ".size(");
    copy(p, open + 1, behind - 1);
    put(p, ")");
    return behind;
}

/* `.data_or((T *)nullptr)`, the address or another one. */
static size_t address_or(struct plain *p, size_t i)
{
    const size_t n = says(p, i, ". data_or (");
    size_t behind, close;

    if (!n)
        return i;
    behind = wrapper_skip(p->v, p->n, i + n - 1);
    close = token_is(&p->v[i + n], "(") ? wrapper_skip(p->v, p->n, i + n) - 1 : i + n;
    if (close > i + n + 1 && token_is(&p->v[close - 1], "*")) {
        put(p, ".data_ptr<");
        copy(p, i + n + 1, close - 1);
        put(p, ">()");
    } else
        put(p, ".data_ptr()");
    return behind;
}

/* What a tensor is asked for, at its `.`: behind it, or i. */
static size_t member(struct plain *p, size_t i)
{
    size_t next;

    if (!i || p->v[i - 1].kind != TOK_WORD || !wrapper_sign(&p->v[i], ". ->") ||
        (i > 1 && wrapper_sign(&p->v[i - 2], ". -> ::")))
        return i;
    for (size_t k = 0; k < ARRAY_LEN(members); k++) {
        const size_t n = says(p, i, members[k].theirs);
        if (n) {
            put(p, members[k].ours);
            return i + n;
        }
    }
    if (says(p, i, ". flat_last_dim ( )")) {
        put(p, ".size(-1)");
        return i + says(p, i, ". flat_last_dim ( )");
    }
    if (says(p, i, ". flat_first_dim ( )")) {
        put(p, ".numel() /");
        copy(p, i - 1, i);
        put(p, ".size(-1)");
        return i + says(p, i, ". flat_first_dim ( )");
    }
    next = extent(p, i);
    return next > i ? next : address_or(p, i);
}

/* `auto [a, b] = x.shapes(0, 1);` at i: a declaration for each. */
static size_t extents(struct plain *p, size_t i)
{
    const size_t names = i + 2, end = token_is(&p->v[i], "auto") ? wrapper_skip(p->v, p->n, i + 1) : i;
    size_t open, item;
    bool strides;

    if (end == i || end + 5 >= p->n || !token_is(&p->v[i + 1], "[") || !token_is(&p->v[end], "=") ||
        !wrapper_sign(&p->v[end + 2], ". ->") || !token_in(&p->v[end + 3], "shapes|strides"))
        return i;
    strides = token_is(&p->v[end + 3], "strides");
    open = end + 4;
    item = open + 1;
    for (size_t name = names; name + 1 < end; name += 2) {
        const size_t close = wrapper_skip(p->v, p->n, open) - 1, next = wrapper_item(p->v, item, close);

        put(p, "auto ");
        copy(p, name, name + 1);
        put(p, " = ");
        copy(p, end + 1, end + 2);
        put(p, strides ? ".stride(" : ".size(");
        copy(p, item, next);
        put(p, ");");
        item = next + 1;
    }
    return wrapper_skip(p->v, p->n, open) + 1;
}

/* `auto shape = x.sizes();` at i: the tensor's place, for what asks the shape later; i: it is something else.
 */
static bool names_shape(const struct plain *p, size_t i, size_t *tensor)
{
    size_t n;

    if (i + 6 >= p->n || p->v[i].kind != TOK_WORD || !token_is(&p->v[i + 1], "=") ||
        p->v[i + 2].kind != TOK_WORD)
        return false;
    n = says(p, i + 3, ". sizes ( ) ;");
    n = n ? n : says(p, i + 3, ". shape ( ) ;");
    n = n ? n : says(p, i + 3, ". data . shape ;");
    *tensor = i + 2;
    return n != 0;
}

/* All that asks such a variable asks the tensor: shape[0] is x.size(0). */
static void put_shape(struct plain *p, size_t tensor, size_t *i)
{
    const size_t open = *i + 1;

    if (open + 1 >= p->n || !token_is(&p->v[open], "[")) {
        copy(p, *i, open);
        return;
    }
    copy(p, tensor, tensor + 1);
    put(p, ".size(");
    *i = wrapper_skip(p->v, p->n, open);
    copy(p, open + 1, *i - 1);
    put(p, ")");
    --*i;
}

static void without_shapes(struct plain *p)
{
    for (size_t at = 0, tensor; at < p->n; at++) {
        if (!names_shape(p, at, &tensor))
            continue;
        const char *name = token_text(p->arena, &p->v[at]);
        p->out = (struct tokens){0};
        size_t begin = at, end = tensor;
        while (begin && !wrapper_sign(&p->v[begin - 1], "; { }"))
            begin--;
        while (!token_is(&p->v[end], ";"))
            end++;
        copy(p, 0, begin);
        for (size_t i = end + 1; i < p->n; i++) {
            if (token_is(&p->v[i], name) && !wrapper_sign(&p->v[i - 1], ". -> ::"))
                put_shape(p, tensor, &i);
            else
                copy(p, i, i + 1);
        }
        p->v = p->out.v;
        p->n = p->out.n;
        at = begin;
    }
    p->out = (struct tokens){0};
}

/* ---- checks */

static const struct {
    const char *part, *sign;
} comparisons[] = {{"_EQ", "=="}, {"_NE", "!="}, {"_LE", "<="}, {"_LT", "<"}, {"_GE", ">="}, {"_GT", ">"}};

/* `if (auto failed = Check_EQImpl(a, b); ...) report;`, as macros compare two numbers: CHECK(a == b). */
static size_t compared_by(struct plain *p, size_t i)
{
    size_t close, call;

    if (i + 8 >= p->n || !token_in(&p->v[i], "if|while") || !token_is(&p->v[i + 1], "("))
        return i;
    close = wrapper_skip(p->v, p->n, i + 1) - 1;
    for (call = i + 2; call + 1 < close; call++) {
        const char *name = token_text(p->arena, &p->v[call]);
        if (!token_is(&p->v[call + 1], "(") || !strcasestr(name, "check") || !str_ends(name, "Impl"))
            continue;
        for (size_t k = 0; k < ARRAY_LEN(comparisons); k++) {
            const size_t end = wrapper_skip(p->v, p->n, call + 1) - 1,
                         comma = wrapper_item(p->v, call + 2, end);
            if (!strstr(name, comparisons[k].part) || comma >= end)
                continue;
            put(p, "CHECK(");
            copy(p, call + 2, comma);
            put(p, comparisons[k].sign);
            copy(p, comma + 1, wrapper_item(p->v, comma + 1, end));
            put(p, ");");
            while (close < p->n && !token_is(&p->v[close], ";"))
                close = wrapper_sign(&p->v[close], "( [ {") ? wrapper_skip(p->v, p->n, close) : close + 1;
            return close + 1;
        }
    }
    return i;
}

/* `__builtin_expect(x, 0)` and `bool(x)` are x. */
static size_t expected(struct plain *p, size_t i)
{
    size_t close;

    if (i + 2 >= p->n || !token_in(&p->v[i], "__builtin_expect|bool") || !token_is(&p->v[i + 1], "(") ||
        (i && wrapper_sign(&p->v[i - 1], "< ,")))
        return i;
    close = wrapper_skip(p->v, p->n, i + 1) - 1;
    const size_t end = wrapper_item(p->v, i + 2, close);
    put(p, "(");
    for (size_t k = i + 2; k < end;) {
        const size_t next = expected(p, k);
        if (next == k)
            copy(p, k, k + 1);
        k = next > k ? next : k + 1;
    }
    put(p, ")");
    return close + 1;
}

/* ---- lambdas */

struct lambda {
    size_t name, end; /* tokens: its name; behind its `;` */
    size_t body, body_end;
    struct wrapper_param params[MOST_PARAMS];
    size_t n;
};

static bool is_generic(const struct plain *p, const struct wrapper_param *q)
{
    for (size_t i = q->first; i < q->last; i++) {
        if (token_is(&p->v[i], "auto"))
            return true;
    }
    return false;
}

/* Is the name only ever called, by statements? */
static bool is_called_only(const struct plain *p, const struct lambda *l)
{
    const char *name = token_text(p->arena, &p->v[l->name]);

    for (size_t i = l->end; i + 1 < p->n; i++) {
        if (token_is(&p->v[i], name) &&
            (!token_is(&p->v[i + 1], "(") || !wrapper_sign(&p->v[i - 1], "; { } ) : else") ||
             !token_is(&p->v[wrapper_skip(p->v, p->n, i + 1)], ";")))
            return false;
    }
    return true;
}

/* `auto name = [...](...) {...};` at i, which returns nothing. */
static bool lambda_at(const struct plain *p, size_t i, struct lambda *l)
{
    size_t open, close;

    if (i + 6 >= p->n || !token_is(&p->v[i], "auto") || p->v[i + 1].kind != TOK_WORD ||
        !token_is(&p->v[i + 2], "=") || !token_is(&p->v[i + 3], "["))
        return false;
    *l = (struct lambda){.name = i + 1};
    open = wrapper_skip(p->v, p->n, i + 3);
    if (open >= p->n || !token_is(&p->v[open], "("))
        return false;
    close = wrapper_skip(p->v, p->n, open) - 1;
    l->body = close + 1 < p->n && token_is(&p->v[close + 1], "mutable") ? close + 2 : close + 1;
    if (l->body >= p->n || !token_is(&p->v[l->body], "{"))
        return false;
    l->body_end = wrapper_skip(p->v, p->n, l->body) - 1;
    l->end = l->body_end + 2;
    for (size_t k = l->body; k < l->body_end; k++) {
        if (token_is(&p->v[k], "return"))
            return false;
    }
    for (size_t item = open + 1; item < close; l->n++) {
        const size_t next = wrapper_item(p->v, item, close);
        if (l->n == MOST_PARAMS || next < item + 2)
            return false;
        l->params[l->n] = (struct wrapper_param){token_text(p->arena, &p->v[next - 1]), item, next - 1, next};
        item = next + 1;
    }
    return l->end < p->n && token_is(&p->v[l->end - 1], ";") && is_called_only(p, l);
}

/* The value in the type `constant<true>`, `std::integral_constant<int, 4>` of [first, last): its last argument.
 */
static bool constant_of(const struct plain *p, size_t *first, size_t *last)
{
    size_t name = *first, end, item;

    while (name + 2 < *last && token_is(&p->v[name + 1], "::"))
        name += 2;
    end = *last - 1;
    if (name + 3 > end || !token_in(&p->v[name], "constant|integral_constant|bool_constant|Int|C") ||
        !token_is(&p->v[name + 1], "<") || wrapper_angle(p->v, p->n, name + 1) != end)
        return false;
    item = name + 2;
    while (wrapper_item(p->v, item, end) < end)
        item = wrapper_item(p->v, item, end) + 1;
    *first = item;
    *last = end;
    return true;
}

/* The body once, with the arguments of a call: `open` is its `(`. */
static void inlined(struct plain *p, const struct lambda *l, size_t open)
{
    const size_t close = wrapper_skip(p->v, p->n, open) - 1;
    size_t first[MOST_PARAMS], last[MOST_PARAMS], item = open + 1;
    bool typed[MOST_PARAMS] = {0}, valued[MOST_PARAMS] = {0};

    put(p, "{");
    for (size_t i = 0; i < l->n; i++) {
        const struct wrapper_param *q = &l->params[i];
        const size_t next = wrapper_item(p->v, item, close);

        first[i] = item;
        last[i] = next;
        item = next + 1;
        if (!is_generic(p, q)) {
            copy(p, q->first, q->end);
            put(p, "=");
            copy(p, first[i], last[i]);
            put(p, ";");
        } else if (last[i] > first[i] + 2 && wrapper_sign(&p->v[last[i] - 1], "} )") &&
                   wrapper_sign(&p->v[last[i] - 2], "{ (")) { /* T{} */
            typed[i] = true;
            last[i] -= 2;
            valued[i] = constant_of(p, &first[i], &last[i]);
        }
    }
    for (size_t k = l->body + 1; k < l->body_end; k++) {
        size_t i = 0, asked = says(p, k, "decltype (");

        for (; i < l->n; i++) {
            if (is_generic(p, &l->params[i]) && token_is(&p->v[k + asked], l->params[i].name) &&
                (asked || !wrapper_sign(&p->v[k - 1], ". -> ::")))
                break;
        }
        if (i == l->n || (asked && !token_is(&p->v[k + 3], ")"))) {
            copy(p, k, k + 1);
            continue;
        }
        if (asked && !typed[i])
            put(p, "decltype(");
        copy(p, first[i], last[i]);
        if (asked && !typed[i])
            put(p, ")");
        else if (!asked && typed[i] && !valued[i])
            put(p, "{}");
        k += asked ? asked + 1 : 0;
        if (valued[i] && says(p, k + 1, ":: value")) /* decltype(x)::value, x.value */
            k += 2;
        else if (valued[i] && says(p, k + 1, ". value"))
            k += 2;
    }
    put(p, "}");
}

/* One pass over all tokens: the first lambda of each block is written where it is called. */
static bool without_lambdas(struct plain *p)
{
    struct lambda l = {0};
    size_t i = 0;

    while (i < p->n && !lambda_at(p, i, &l))
        i++;
    if (i == p->n || p->n > MOST_TOKENS)
        return false;
    copy(p, 0, i);
    const char *name = token_text(p->arena, &p->v[l.name]);
    for (i = l.end; i < p->n; i++) {
        if (!token_is(&p->v[i], name) || i + 1 >= p->n || !token_is(&p->v[i + 1], "(")) {
            copy(p, i, i + 1);
            continue;
        }
        inlined(p, &l, i + 1);
        i = wrapper_skip(p->v, p->n, i + 1); /* its `;` */
    }
    return true;
}

/* All places where the function writes something else. */
static void rewritten(struct plain *p, size_t (*at)(struct plain *, size_t))
{
    p->out = (struct tokens){0};
    for (size_t i = 0; i < p->n;) {
        const size_t next = at(p, i);
        if (next == i)
            copy(p, i, i + 1);
        i = next > i ? next : i + 1;
    }
    p->v = p->out.v;
    p->n = p->out.n;
}

struct tokens wrapper_plain(struct init_source *s, struct tokens list)
{
    struct plain p = {.source = s, .arena = s->arena, .v = list.v, .n = list.n};

    for (int pass = 0; pass < PASSES && without_lambdas(&p); pass++) {
        p.v = p.out.v;
        p.n = p.out.n;
        p.out = (struct tokens){0};
    }
    without_shapes(&p);
    rewritten(&p, expected);
    rewritten(&p, compared_by);
    rewritten(&p, extents);
    rewritten(&p, member);
    return (struct tokens){.v = (struct token *)p.v, .n = p.n};
}
