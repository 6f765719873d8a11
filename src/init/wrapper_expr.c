/* Expressions of a wrapper, written anew: what asks a tensor becomes its pointer or an extent, what names the
 * framework's types becomes CUDA's, a launch gets its stream. */
#include "init/wrapper.h"

#include <ctype.h>

struct cursor {
    struct wrapper_reader *r;
    size_t i, last;
    struct str out;
};

static const struct token *at(const struct cursor *c, size_t ahead)
{
    static const struct token none = {.kind = TOK_END, .s = ""};

    return c->i + ahead < c->last ? &c->r->v[c->i + ahead] : &none;
}

static void add(struct cursor *c, const char *text)
{
    bool word = isalnum((unsigned char)*text) || *text == '_';
    char before = c->out.len ? c->out.s[c->out.len - 1] : ' ';

    if (word && (isalnum((unsigned char)before) || before == '_'))
        str_addc(&c->out, ' ');
    str_add(&c->out, text);
}

static void add_tokens(struct cursor *c, size_t n)
{
    for (size_t k = 0; k < n && c->i < c->last; k++, c->i++) {
        const struct token *t = at(c, 0);
        if (c->out.len && (t->space_before || t->line_start) && c->out.s[c->out.len - 1] != ' ')
            str_addc(&c->out, ' ');
        add(c, token_text(c->r->arena, t));
    }
}

/* Over one bracketed group. */
static void skip_group(struct cursor *c)
{
    if (wrapper_sign(at(c, 0), "( [ {"))
        c->i = wrapper_skip(c->r->v, c->last, c->i);
    else if (token_is(at(c, 0), "<")) {
        size_t end = wrapper_angle(c->r->v, c->last, c->i);
        c->i = end ? end + 1 : c->i + 1;
    }
}

static char *inner(struct cursor *c) /* of the group that begins here; behind it then */
{
    size_t first = c->i + 1, end = wrapper_skip(c->r->v, c->last, c->i);

    c->i = end;
    return wrapper_expr(c->r, first, end ? end - 1 : first);
}

static bool fold_all(const char *text, long *v); /* what constants come to */

/* ---- tensors */

static void element_type(struct cursor *c, struct wrapper_tensor *t, const char *spelled)
{
    const char *had = t->spelled ? wrapper_type_name(c->r, t->spelled, NULL) : NULL;
    int lanes = 1;
    const char *type = wrapper_type_name(c->r, spelled, &lanes);

    if (type && !had)
        t->spelled = arena_strdup(c->r->arena, spelled);
}

/* The type of the cast around the address that is asked for here: (T *)x.data_ptr(), reinterpret_cast<T *>(...)
 */
static void cast_type(struct cursor *c, struct wrapper_tensor *t, size_t start)
{
    const struct token *v = c->r->v;
    size_t i = start, first;

    while (i && token_is(&v[i - 1], "(") && i > 1 && !wrapper_sign(&v[i - 2], "> )"))
        i--;
    if (i < 3)
        return;
    i--;
    if (token_is(&v[i], "(") && wrapper_sign(&v[i - 1], "> )"))
        i--;
    if (!wrapper_sign(&v[i], "> )"))
        return;
    const char *open = token_is(&v[i], ">") ? "<" : "(";
    first = i;
    while (first && !token_is(&v[first], open))
        first--;
    if (i - first > 12 || (*open == '<' && !token_in(&v[first - 1], "reinterpret_cast|static_cast")))
        return;
    struct wrapper_type k = wrapper_type_of(c->r, v, first + 1, i);
    if (k.type && k.pointer)
        element_type(c, t, k.spelled);
}

static void add_product(struct cursor *c, struct wrapper_tensor *t, int from)
{
    if (from >= t->rank) {
        add(c, "1");
        return;
    }
    if (t->rank - from > 1)
        str_addc(&c->out, '(');
    for (int i = from; i < t->rank; i++) {
        if (i > from)
            str_add(&c->out, " * ");
        add(c, wrapper_extent(c->r, t, i));
    }
    if (t->rank - from > 1)
        str_addc(&c->out, ')');
}

/* x.size(i), where i may be a variable of a loop over the extents. */
static void add_extent(struct cursor *c, struct wrapper_tensor *t, bool stride)
{
    const char *which = inner(c), *over = wrapper_over_dims(c->r, which);
    long i;

    if (*which && fold_all(over ? over : which, &i)) {
        if (!stride) {
            add(c, wrapper_extent(c->r, t, (int)i));
            return;
        }
        wrapper_extent(c->r, t, (int)i);
        add_product(c, t, (int)(i < 0 ? t->rank + i : i) + 1);
        return;
    }
    if (stride || !t->rank) {
        if (c->r->final)
            wrapper_lost(c->r, "an extent of %s is asked for by a variable", t->name);
        add(c, "1");
        return;
    }
    str_addc(&c->out, '(');
    for (int k = 0; k + 1 < t->rank; k++)
        str_addf(&c->out, "%s == %d ? %s : ", which, k, wrapper_extent(c->r, t, k));
    str_addf(&c->out, "%s)", wrapper_extent(c->r, t, t->rank - 1));
}

static void add_scalar_type(struct cursor *c, struct wrapper_tensor *t)
{
    const char *type = wrapper_type_name(c->r, t->spelled, NULL);
    int dtype = wrapper_dtype_of(type);

    if (dtype < 0)
        dtype = wrapper_dtype_of(wrapper_type_name(c->r, c->r->chosen, NULL));
    str_addf(&c->out, "%d", dtype);
}

/* What a tensor is asked for; the cursor is behind its name. */
static void add_member(struct cursor *c, struct wrapper_tensor *t, size_t start)
{
    const struct token *m = at(c, 1);

    c->i += 2;
    if (token_in(m, "data_ptr|mutable_data_ptr|const_data_ptr|data|DATA_PTR")) {
        if (token_is(at(c, 0), "<")) {
            size_t end = wrapper_angle(c->r->v, c->last, c->i);
            struct wrapper_type k = wrapper_type_of(c->r, c->r->v, c->i + 1, end);
            element_type(c, t, k.spelled);
            c->i = end + 1;
        } else
            cast_type(c, t, start);
        skip_group(c);
        t->used = true;
        for (size_t i = 0; i < c->r->tensors.n; i++) { /* that it is a view of */
            struct wrapper_tensor *base = c->r->tensors.v[i];
            if (!str_eq(base->name, t->pointer))
                continue;
            base->used = true;
            base->spelled = base->spelled ? base->spelled : t->spelled;
        }
        const char *bits = t->spelled ? wrapper_resolved(c->r, t->spelled) : "";
        if (wrapper_is_bits(bits))
            str_addf(&c->out, "reinterpret_cast<%s *>(%s)", bits, t->pointer);
        else
            add(c, t->pointer);
    } else if (token_in(m, "value|contiguous|detach|get")) {
        skip_group(c);
        if (wrapper_sign(at(c, 0), ". ->"))
            add_member(c, t, start);
        else
            wrapper_lost(c->r, "the tensor %s is handed on", t->name);
    } else if (token_in(m, "has_value|defined|is_contiguous|is_cuda|is_non_overlapping_and_dense")) {
        skip_group(c);
        add(c, "true");
    } else if (token_in(m, "numel|nbytes")) {
        skip_group(c);
        if (!t->rank && !c->r->final)
            t->rank = 1;
        add_product(c, t, 0);
        if (token_is(m, "nbytes"))
            str_addf(&c->out, " * sizeof(%s)", t->spelled ? t->spelled : "float");
    } else if (token_in(m, "dim|ndim|ndimension")) {
        skip_group(c);
        str_addf(&c->out, "%d", t->rank);
    } else if (token_in(m, "element_size|itemsize")) {
        skip_group(c);
        str_addf(&c->out, "sizeof(%s)", t->spelled ? t->spelled : "float");
    } else if (token_in(m, "size|stride")) {
        add_extent(c, t, token_is(m, "stride"));
    } else if (token_in(m, "sizes|strides") && token_is(at(c, 2), "[")) {
        c->i += 2;
        add_extent(c, t, token_is(m, "strides"));
    } else if (token_in(m, "sizes") && token_is(at(c, 2), ".") && token_is(at(c, 3), "size")) {
        c->i += 6;
        str_addf(&c->out, "%d", t->rank);
    } else if (token_in(m, "scalar_type|dtype")) {
        skip_group(c);
        if (token_is(at(c, 0), ".")) {
            c->i += 2;
            skip_group(c);
        }
        add_scalar_type(c, t);
    } else if (token_is(m, "options") && token_is(at(c, 2), ".") && token_is(at(c, 3), "dtype")) {
        c->i += 4;
        skip_group(c);
        add_scalar_type(c, t);
    } else if (token_in(m, "get_device|device")) {
        skip_group(c);
        while (token_is(at(c, 0), ".")) {
            c->i += 2;
            skip_group(c);
        }
        add(c, "0");
    } else {
        wrapper_lost(c->r, "`%s.%s` is not understood", t->name, token_text(c->r->arena, m));
        skip_group(c);
        add(c, "0");
    }
}

static void add_tensor(struct cursor *c, struct wrapper_tensor *t)
{
    size_t start = c->i++;
    const struct token *before = start ? &c->r->v[start - 1] : NULL, *next = at(c, 0);

    if (wrapper_sign(next, ". ->")) {
        add_member(c, t, start);
    } else if (wrapper_sign(next, "? && || == !=") || (before && wrapper_sign(before, "! && ||")) ||
               (start > 1 && token_is(before, "(") && token_in(before - 1, "if|while") &&
                token_is(next, ")"))) {
        if (wrapper_sign(next, "== !=")) {
            add(c, token_is(next, "==") ? "false" : "true");
            c->i += 2;
        } else
            add(c, "true");
    } else {
        wrapper_lost(c->r, "the tensor %s is handed on", t->name);
        add(c, t->pointer);
    }
}

/* ---- names of the framework */

static const struct {
    const char *name, *text;
} replaced[] = {
    {"Half", "__half"},
    {"BFloat16", "__nv_bfloat16"},
    {"SymInt", "int64_t"},
    {"opmath_type", "float"},
};

/* Does the function that is called here read the environment, which no launcher may? It gives 0 then: what it
 * gives where nothing is set, mostly. */
static bool add_environment(struct cursor *c, const char *name, size_t n)
{
    const struct init_source *s = c->r->source;
    const struct init_names *found = token_is(at(c, n), "(") ? init_named(s, name) : NULL;
    bool reads = false;

    for (size_t k = 0; found && k < found->decls.n; k++) {
        const struct init_decl *d = &s->decls.v[found->decls.v[k]];
        for (size_t i = d->body; d->kind == INIT_FUNCTION && d->body && i < d->end; i++)
            reads = reads || token_is(&s->tokens.v[i], "getenv");
    }
    if (!reads)
        return false;
    c->i += n;
    skip_group(c);
    wrapper_note(c->r, "%s reads the environment; it is 0 here", name);
    add(c, "0");
    return true;
}

/* a::b::c at the cursor: true when it was written. */
static bool add_qualified(struct cursor *c)
{
    struct wrapper_reader *r = c->r;
    size_t n = token_is(at(c, 0), "::") ? 1 : 0;
    const struct token *head = at(c, n), *last = head;
    int dtype;
    char *name;

    while (at(c, n)->kind == TOK_WORD && token_is(at(c, n + 1), "::") && at(c, n + 2)->kind == TOK_WORD)
        n += 2;
    last = at(c, n++);
    name = token_text(r->arena, last);
    if (str_in(name, "getCurrentCUDAStream|getDefaultCUDAStream|getStreamFromPool|get_stream") &&
        token_is(at(c, n), "(")) {
        c->i += n;
        skip_group(c);
        if (token_is(at(c, 0), ".") && token_is(at(c, 1), "stream")) {
            c->i += 2;
            skip_group(c);
        }
        add(c, "stream");
        return true;
    }
    if (str_eq(name, "getCurrentDeviceProperties") || str_eq(name, "getDeviceProperties")) {
        c->i += n;
        skip_group(c);
        if (token_is(at(c, 0), "->"))
            c->i++;
        if (token_is(at(c, 0), "maxGridSize")) {
            add(c, token_is(at(c, 2), "0") ? "2147483647" : "65535");
            c->i++;
            skip_group(c);
            return true;
        }
        r->uses_properties = true;
        add(c, "properties.");
        return true;
    }
    if (str_eq(name, "duration_cast")) { /* a seed, mostly */
        c->i += n;
        if (token_is(at(c, 0), "<"))
            c->i = wrapper_angle(r->v, c->last, c->i) + 1;
        skip_group(c);
        while (token_is(at(c, 0), ".")) {
            c->i += 2;
            skip_group(c);
        }
        wrapper_note(r, "the time of day is 0 here");
        add(c, "0");
        return true;
    }
    if (str_eq(name, "gcd") && token_is(at(c, n), "(") &&
        (token_is(head, "std") || !init_named(r->source, "gcd"))) {
        c->i += n;
        r->uses_gcd = true;
        add(c, "common_divisor");
        return true;
    }
    if (str_in(name, "min|max") && token_is(head, "std") && token_is(at(c, n), "(") && r->tensors.n) {
        c->i += n; /* extents are 64 bits wide here */
        str_addf(&c->out, "std::%s<int64_t>", name);
        return true;
    }
    if (add_environment(c, name, n))
        return true;
    if (str_in(name, "ceil_div|ceilDiv|CeilDiv|cdiv|divUp|DivUp|iDivUp|div_up|DIVUP|DIV_UP|CEIL_DIV") &&
        token_is(at(c, n), "(") && !token_in(head, "at|c10|torch") &&
        (token_is(head, "cuda") || !init_named(r->source, name)) &&
        !map_has(&r->source->macro_names, name)) { /* of a library's */
        c->i += n;
        r->divides = true;
        add(c, "ceil_div<int64_t>");
        return true;
    }
    if (token_is(head, "cuda") && str_eq(name, "ceil_div") && n > 2 &&
        token_is(at(c, n), "<")) { /* of libcu++ */
        const size_t end = str_ends(str_text(&c->out), "::") ? c->out.len - 2 : c->out.len;
        c->out.len = end;
        if (c->out.s)
            c->out.s[end] = '\0';
        c->i += n;
        skip_group(c);
        r->divides = true;
        add(c, "ceil_div<int64_t>");
        return true;
    }
    if (!token_in(head, "at|c10|torch|caffe2") || n < 2)
        return false;
    dtype = wrapper_dtype(name);
    if (dtype >= 0 && (*name == 'k' || strstr(wrapper_text(r->arena, r->v, c->i, c->i + n), "ScalarType"))) {
        c->i += n;
        str_addf(&c->out, "%s%d",
                 isalnum((unsigned char)(c->out.len ? c->out.s[c->out.len - 1] : ' ')) ? " " : "", dtype);
        return true;
    }
    if (str_in(name, "acc_type|opmath_type|acc_type_device")) {
        c->i += n;
        skip_group(c);
        if (token_is(at(c, 0), "::"))
            c->i += 2;
        add(c, "float");
        return true;
    }
    if (str_eq(name, "elementSize")) {
        c->i += n;
        skip_group(c);
        str_addf(&c->out, "sizeof(%s)", r->chosen ? r->chosen : "__half");
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(replaced); i++) {
        if (str_eq(name, replaced[i].name)) {
            c->i += n;
            add(c, replaced[i].text);
            return true;
        }
    }
    if (str_in(name, "ATenCeilDiv|ceil_div|CeilDiv")) {
        c->i += n;
        skip_group((token_is(at(c, 0), "<")) ? c : &(struct cursor){.r = r});
        r->divides = true;
        add(c, "ceil_div");
        return true;
    }
    wrapper_lost(r, "`%s` is not understood", wrapper_text(r->arena, r->v, c->i, c->i + n));
    return false;
}

/* <<<grid, block, shared, stream>>>, always all four. */
static void add_launch(struct cursor *c)
{
    size_t i = c->i + 1, end = i, n = 0;

    while (end < c->last && !token_is(&c->r->v[end], ">>>"))
        end = wrapper_sign(&c->r->v[end], "( [ {") ? wrapper_skip(c->r->v, c->last, end) : end + 1;
    str_add(&c->out, "<<<");
    while (i < end && n < 4) {
        size_t item = wrapper_item(c->r->v, i, end);
        if (n)
            str_add(&c->out, ", ");
        str_add(&c->out, n == 3 ? "stream" : wrapper_expr(c->r, i, item));
        i = item + 1;
        n++;
    }
    if (n == 2)
        str_add(&c->out, ", 0");
    if (n < 4)
        str_add(&c->out, ", stream");
    str_add(&c->out, ">>>");
    c->i = end + 1;
}

static bool is_stream(const struct wrapper_reader *r, const struct token *t)
{
    for (size_t i = 0; i < r->streams.n; i++) {
        if (token_is(t, r->streams.v[i]))
            return true;
    }
    return false;
}

/* `stream == 0`: is it the default one? A launcher's is none. */
static bool is_no_stream(struct cursor *c)
{
    return wrapper_sign(at(c, 1), "== !=") && (token_is(at(c, 2), "0") || token_in(at(c, 2), "NULL|nullptr"));
}

/* `c.first` and `c.second` of the device's compute capability: H200's, as the simulator's. */
static bool add_capability(struct cursor *c)
{
    for (size_t i = 0; i < c->r->capabilities.n; i++) {
        if (!token_is(at(c, 0), c->r->capabilities.v[i]) || !token_is(at(c, 1), ".") ||
            !token_in(at(c, 2), "first|second"))
            continue;
        add(c, token_is(at(c, 2), "first") ? "9" : "0");
        c->i += 3;
        return true;
    }
    return false;
}

/* `c ? a : b` whose condition the rank of a tensor decides: the item that is left of [*first, *last). */
static void decide(struct wrapper_reader *r, size_t *first, size_t *last)
{
    size_t question = *first, colon;
    int inner = 0; /* a ? b ? c : d : e */
    const char *over;
    int holds;

    while (question < *last && !token_is(&r->v[question], "?"))
        question = wrapper_sign(&r->v[question], "( [ {") ? wrapper_skip(r->v, *last, question) : question + 1;
    for (colon = question + 1; colon < *last && (inner || !token_is(&r->v[colon], ":"));) {
        inner += token_is(&r->v[colon], "?");
        inner -= token_is(&r->v[colon], ":");
        colon = wrapper_sign(&r->v[colon], "( [ {") ? wrapper_skip(r->v, *last, colon) : colon + 1;
    }
    if (colon >= *last)
        return;
    over = wrapper_over_dims(r, wrapper_expr(r, *first, question));
    holds = over ? wrapper_constant(over) : -1;
    if (holds >= 0)
        *first = holds ? question + 1 : colon + 1;
    if (holds > 0)
        *last = colon;
}

/* `static_cast<T *>(x.data_ptr())` of a pointer to void, which is none here. */
static bool casts_address(struct cursor *c)
{
    const size_t end = token_is(at(c, 0), "static_cast") && token_is(at(c, 1), "<")
                           ? wrapper_angle(c->r->v, c->last, c->i + 1)
                           : 0;

    return end && end + 4 < c->last && token_is(&c->r->v[end - 1], "*") &&
           wrapper_tensor_find(c->r, &c->r->v[end + 2]) && wrapper_sign(&c->r->v[end + 3], ". ->") &&
           token_in(&c->r->v[end + 4], "data_ptr|mutable_data_ptr|const_data_ptr|data");
}

char *wrapper_expr(struct wrapper_reader *r, size_t first, size_t last)
{
    decide(r, &first, &last);
    struct cursor c = {.r = r, .i = first, .last = last};

    while (c.i < last) {
        const struct token *t = at(&c, 0), *before = c.i ? &r->v[c.i - 1] : NULL;
        bool member = before && wrapper_sign(before, ". -> ::") && c.i > first;
        struct wrapper_tensor *tensor = member ? NULL : wrapper_tensor_find(r, t);

        if (c.out.len && (t->space_before || t->line_start) && c.out.s[c.out.len - 1] != ' ')
            str_addc(&c.out, ' ');
        if (tensor)
            add_tensor(&c, tensor);
        else if (!member && add_capability(&c))
            continue;
        else if (token_is(t, "<<<"))
            add_launch(&c);
        else if (!member && casts_address(&c)) {
            c.i++;
            add(&c, "reinterpret_cast");
        } else if (!member && token_in(t, "cudaMemset|cudaMemcpy") && token_is(at(&c, 1), "(")) {
            c.i++;
            add(&c, token_text(r->arena, t));
            str_addf(&c.out, "Async(%s, stream)", inner(&c));
        } else if (!member && is_stream(r, t) && is_no_stream(&c)) {
            add(&c, token_is(at(&c, 1), "==") ? "false" : "true");
            c.i += 3;
        } else if (!member && is_stream(r, t)) {
            c.i++;
            if (token_is(at(&c, 0), ".") && token_is(at(&c, 1), "stream"))
                c.i += 4;
            add(&c, "stream");
        } else if (!member && (t->kind == TOK_WORD || token_is(t, "::")) && add_qualified(&c))
            continue;
        else
            add_tokens(&c, 1);
    }
    return c.out.s ? str_take(&c.out, r->arena) : arena_strdup(r->arena, "");
}

/* ---- constants: what a dispatch over types leaves of its conditions */

struct folder {
    const char *p;
    bool known;
};

static long fold_or(struct folder *f);

static void blanks(struct folder *f)
{
    while (*f->p == ' ')
        f->p++;
}

static long fold_first(struct folder *f)
{
    char *end;
    long v;

    blanks(f);
    if (*f->p == '!' && f->p[1] != '=') {
        f->p++;
        return !fold_first(f);
    }
    if (*f->p == '(') {
        f->p++;
        v = fold_or(f);
        blanks(f);
        f->known = f->known && *f->p == ')';
        f->p += *f->p == ')';
        return v;
    }
    if (str_starts(f->p, "true") && !isalnum((unsigned char)f->p[4])) {
        f->p += 4;
        return 1;
    }
    if (str_starts(f->p, "false") && !isalnum((unsigned char)f->p[5])) {
        f->p += 5;
        return 0;
    }
    v = strtol(f->p, &end, 0);
    f->known = f->known && end > f->p && !isalnum((unsigned char)*end) && *end != '.';
    f->p = end;
    return v;
}

static long fold_sum(struct folder *f)
{
    long v = fold_first(f);

    for (blanks(f); f->known && (*f->p == '+' || *f->p == '-'); blanks(f)) {
        bool plus = *f->p++ == '+';
        long w = fold_first(f);
        f->known &= !(plus ? __builtin_add_overflow(v, w, &v) : __builtin_sub_overflow(v, w, &v));
    }
    return v;
}

static long fold_compare(struct folder *f)
{
    static const char *const signs[] = {"==", "!=", "<=", ">=", "<", ">"};
    long v = fold_sum(f);

    blanks(f);
    for (size_t i = 0; f->known && i < ARRAY_LEN(signs); i++) {
        if (!str_starts(f->p, signs[i]))
            continue;
        f->p += strlen(signs[i]);
        long w = fold_sum(f);
        const bool results[] = {v == w, v != w, v <= w, v >= w, v<w, v> w};
        blanks(f);
        return results[i];
    }
    return v;
}

static long fold_and(struct folder *f)
{
    long v = fold_compare(f);

    while (f->known && str_starts(f->p, "&&")) {
        f->p += 2;
        long w = fold_compare(f);
        v = v && w;
    }
    return v;
}

static long fold_or(struct folder *f)
{
    long v = fold_and(f);

    while (f->known && str_starts(f->p, "||")) {
        f->p += 2;
        long w = fold_and(f);
        v = v || w;
    }
    return v;
}

static bool fold_all(const char *text, long *v)
{
    struct folder f = {text, true};

    *v = fold_or(&f);
    blanks(&f);
    return f.known && !*f.p;
}

int wrapper_constant(const char *text)
{
    long v;

    return fold_all(text, &v) ? v != 0 : -1;
}
