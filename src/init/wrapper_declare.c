/* Variables that a wrapper declares: names of extents, tensors that it makes or looks at in another way,
 * streams, numbers that are formulas of sizes. */
#include "init/wrapper.h"

bool wrapper_declares(const struct wrapper_reader *r, size_t i, size_t end, struct wrapper_declaration *d)
{
    size_t k = i;
    int words = 0;

    while (k < end && token_in(&r->v[k], "const|constexpr|static|unsigned"))
        k++;
    for (; k < end; k++) {
        if (r->v[k].kind == TOK_WORD) {
            words++;
        } else if (token_is(&r->v[k], "<") && wrapper_angle(r->v, end, k)) {
            k = wrapper_angle(r->v, end, k);
        } else if (!wrapper_sign(&r->v[k], ":: * &"))
            break;
        else if (token_is(&r->v[k], "::"))
            words--;
    }
    if (k >= end || words < 1 || (words < 2 && !token_is(&r->v[i], "unsigned")) ||
        r->v[k - 1].kind != TOK_WORD || !wrapper_sign(&r->v[k], "= ( {"))
        return false;
    if (k < i + 2 || wrapper_sign(&r->v[k - 2], ":: . ->"))
        return false;
    *d = (struct wrapper_declaration){i, k - 1, k + 1, end};
    if (!token_is(&r->v[k], "="))
        d->last = wrapper_skip(r->v, end, k) - 1;
    return token_is(&r->v[k], "=") || d->last + 1 >= end; /* `dim3 grid(1), block(n);` declares two */
}

/* The extent is called so; that of the tensor that it was made after, too. */
static void name_extent(struct wrapper_reader *r, struct wrapper_tensor *t, int k, const char *name,
                        const char *spelled)
{
    if (k < 0 || k >= WRAPPER_RANK || !wrapper_is_unnamed(t, k))
        return;
    t->dim[k] = name;
    map_put(&r->named, name, arena_strdup(r->arena, spelled));
    map_put(&r->locals, name, (void *)name);
    if (t->made_of[k].tensor && wrapper_is_unnamed(t->made_of[k].tensor, t->made_of[k].dim))
        t->made_of[k].tensor->dim[t->made_of[k].dim] = name;
}

/* Behind casts and brackets around it, is the value `t.size(i)` alone, or `t.numel() / y`? Then it names that.
 */
static void learn_name(struct wrapper_reader *r, const struct wrapper_declaration *d, const char *spelled)
{
    size_t i = d->init, last = d->last;
    char *name = token_text(r->arena, &r->v[d->name]);
    struct wrapper_tensor *t;

    while (i < last && !wrapper_tensor_find(r, &r->v[i]) &&
           wrapper_sign(&r->v[i], "( static_cast < > int int64_t "
                                  "uint32_t size_t unsigned long"))
        i++;
    t = i < last ? wrapper_tensor_find(r, &r->v[i]) : NULL;
    if (!t || i + 4 >= last + 0 || !wrapper_sign(&r->v[i + 1], ". ->"))
        return;
    while (last > i + 5 && token_is(&r->v[last - 1], ")") && d->init != i && last > i + 6)
        last--;
    const struct token *m = &r->v[i + 2];
    size_t close = wrapper_skip(r->v, d->last, i + 3);
    if (token_is(m, "size")) {
        char *which = wrapper_expr(r, i + 4, close - 1), *stop;
        long k = strtol(which, &stop, 10);
        if (close < last || *stop || !*which || k >= WRAPPER_RANK || k < -WRAPPER_RANK)
            return;
        wrapper_extent(r, t, (int)k);
        name_extent(r, t, (int)(k < 0 ? t->rank + k : k), name, spelled);
    } else if (token_is(m, "numel") && close < d->last && token_is(&r->v[close], "/") && t->rank <= 2) {
        t->rank = 2;
        name_extent(r, t, 0, name, spelled);
    } else if (token_is(m, "numel") && close >= last && t->rank <= 1) {
        t->rank = 1;
        name_extent(r, t, 0, name, spelled);
    }
}

static bool already(const struct wrapper_reader *r, const char *name)
{
    for (size_t i = 0; i < r->dims.n; i++) {
        if (str_eq(r->dims.v[i].name, name))
            return true;
    }
    return false;
}

/* [rows * d / d] -> rows: what numel() / last leaves. */
static const char *shortened(struct wrapper_reader *r, const char *text)
{
    char *s = arena_strdup(r->arena, text), *by = strstr(s, ") / "), *star;

    if (*s != '(' || !by)
        return text;
    *by = '\0';
    star = strrchr(s, '*');
    if (!star || !str_eq(star + 2, by + 4) || strchr(s + 1, '('))
        return text;
    star[-1] = '\0';
    return strchr(s, '*') ? arena_printf(r->arena, "(%s)", s + 1) : s + 1;
}

/* A tensor's contents under another name: x.view(...), or what a function makes of the tensor alone. */
static bool is_view(struct wrapper_reader *r, const struct wrapper_declaration *d)
{
    const struct token *v = &r->v[d->init];

    return token_in(v + 2, "contiguous|view|reshape|flatten|value|detach|to|get|borrow") ||
           (d->init + 4 == d->last && token_is(v + 1, "(") && wrapper_tensor_find(r, v + 2));
}

static bool makes_tensor(struct wrapper_reader *r, const struct wrapper_declaration *d, const char *spelled)
{
    char *name = token_text(r->arena, &r->v[d->name]);
    struct wrapper_tensor *t, *like = NULL;
    size_t i;

    for (i = d->init; i < d->last; i++) {
        if (token_in(&r->v[i], "empty|zeros|empty_like|zeros_like|new_empty|new_zeros|full|ones|ones_like") ||
            (token_in(&r->v[i], "rand|randn|rand_like|randn_like") && i > d->init &&
             token_is(&r->v[i - 1], "::")))
            break;
        if (!like)
            like = wrapper_tensor_find(r, &r->v[i]);
    }
    if (i == d->last) {
        if (!like || !(strstr(spelled, "Tensor") || str_in(spelled, "auto|auto &|const auto &")) ||
            !is_view(r, d))
            return false;
        t = wrapper_tensor_add(r, name); /* a view of another one */
        t->pointer = like->pointer;
        t->spelled = like->spelled;
        if (!token_in(&r->v[d->init + 2], "view|reshape|flatten")) {
            t->rank = like->rank;
            memcpy(t->dim, like->dim, sizeof(t->dim));
            like->like = t; /* what is learnt of the one is so of the other */
        }
        return true;
    }
    t = wrapper_tensor_add(r, name);
    t->made = true;
    if (token_in(&r->v[i], "rand|randn|rand_like|randn_like"))
        t->drawn = str_starts(token_text(r->arena, &r->v[i]), "randn") ? "" : "{kind: uniform}";
    t->zeroed = str_starts(token_text(r->arena, &r->v[i]), "zeros") || token_is(&r->v[i], "new_zeros");
    size_t open = i + 1, close = wrapper_skip(r->v, d->last, open) - 1,
           item = wrapper_item(r->v, open + 1, close);
    for (size_t k = i; k < d->last && !t->spelled; k++) {
        int dtype = wrapper_dtype(token_text(r->arena, &r->v[k]));
        if (dtype >= 0 && *r->v[k].s == 'k')
            t->spelled = wrapper_dtype_spelled(dtype);
    }
    if (token_is(&r->v[open + 1], "{")) {
        t->rank = 0;
        for (size_t k = open + 2; k + 1 < item + 1 && k < item - 1 && t->rank < WRAPPER_RANK;) {
            size_t e = wrapper_item(r->v, k, item - 1);
            const char *over = wrapper_over_dims(r, shortened(r, wrapper_expr(r, k, e)));
            if (over || !t->dim[t->rank])
                t->dim[t->rank] = over;
            wrapper_extent_at(r, k, e, &t->made_of[t->rank].tensor, &t->made_of[t->rank].dim);
            t->rank++;
            k = e + 1;
        }
        t->shaped = true;
    } else {
        for (size_t k = open + 1; k < item && !like; k++)
            like = wrapper_tensor_find(r, &r->v[k]);
    }
    if (like && !token_is(&r->v[open + 1], "{")) {
        t->rank = like->rank;
        memcpy(t->dim, like->dim, sizeof(t->dim));
        t->shaped = like->shaped;
        if (!t->spelled)
            t->spelled = like->spelled;
    }
    if (t->zeroed) {
        struct str n = {0};
        for (int k = 0; k < t->rank; k++)
            str_addf(&n, "(%s) * ", t->dim[k] ? t->dim[k] : "1");
        wrapper_line(r, "cudaMemsetAsync(%s, 0, %ssizeof(*%s), stream);", name, str_text(&n), name);
        str_free(&n);
    }
    return true;
}

static bool says_part(const struct wrapper_reader *r, size_t i, size_t end, const char *part)
{
    for (; i < end; i++) {
        if (r->v[i].kind == TOK_WORD && memmem(r->v[i].s, r->v[i].len, part, strlen(part)))
            return true;
    }
    return false;
}

bool wrapper_declaration(struct wrapper_reader *r, const struct wrapper_declaration *d)
{
    char *name = token_text(r->arena, &r->v[d->name]), *type = wrapper_text(r->arena, r->v, d->first, d->name);
    struct wrapper_type k = wrapper_type_of(r, r->v, d->first, d->name);
    const char *text, *over;

    if (strstr(type, "Tensor>")) { /* std::vector<at::Tensor> made = {x, y} */
        wrapper_give_back(r, d->init, d->last);
        return true;
    }
    if (k.stream ||
        wrapper_has_word(r, d->init, d->last,
                         "getCurrentCUDAStream|getStreamFromPool|getDefaultCUDAStream|get_stream")) {
        vec_add(r->arena, &r->streams, name);
        return true;
    }
    if (says_part(r, d->init, d->last, "ComputeCapability") ||
        says_part(r, d->init, d->last, "compute_capability")) {
        vec_add(r->arena, &r->capabilities, name);
        return true;
    }
    if (strcasestr(type, "guard") || strcasestr(type, "nvtx") || strstr(type, "TensorOptions") ||
        strcasestr(type, "string"))
        return true;
    if (wrapper_has_word(r, d->init, d->last, "options|TensorOptions|device_of") && str_eq(type, "auto") &&
        !wrapper_has_word(
            r, d->init, d->last,
            "empty|zeros|new_empty|data_ptr|full|empty_like|zeros_like|ones_like|new_zeros|ones|rand|"
            "randn|rand_like|randn_like"))
        return true;
    if (makes_tensor(r, d, type))
        return true;
    if (wrapper_has_word(r, d->init, d->last, "scalar_type|dtype") &&
        str_in(type, "auto|const auto|at::ScalarType|"
                     "torch::ScalarType|auto &|const auto &|"
                     "const at::ScalarType")) {
        text = wrapper_expr(r, d->init, d->last);
        wrapper_line(r, "const int %s = %s;", name, text);
        return true;
    }
    learn_name(r, d, k.type && !k.pointer ? k.spelled : "int64_t");
    text = shortened(r, wrapper_expr(r, d->init, d->last));
    if (str_eq(text, name) && already(r, name))
        return true;
    if (!r->final)
        map_put(&r->clash, name, name);
    over = k.pointer || (!k.type && !strstr(type, "auto")) ? NULL : wrapper_over_dims(r, text);
    if (over && *over && r->depth <= 2)
        map_put(&r->locals, name,
                arena_strdup(r->arena, strpbrk(over, " ") ? arena_printf(r->arena, "(%s)", over) : over));
    if (token_is(&r->v[d->name + 1], "="))
        wrapper_line(r, "%s %s = %s;", wrapper_expr(r, d->first, d->name), name, text);
    else {
        char open = *r->v[d->name + 1].s;
        wrapper_line(r, "%s %s%c%s%c;", wrapper_expr(r, d->first, d->name), name, open, text,
                     open == '(' ? ')' : '}');
    }
    return true;
}
