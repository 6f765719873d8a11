/* Grid and block of a kernel from its own indexing, where no function that launches it can be read. What is
 * made of blockIdx and threadIdx, and compared with something that the launcher knows (`if (i >= n) return`, a
 * loop up to n), says how many blocks there must be; a number of blocks that nothing bounds is a size of its
 * own. */
#include "init/wrapper.h"

#include <ctype.h>

enum { MOST_DEPTH = 12 };

/* A number made of indices. Block number b of its axis begins at b * step / divided. */
struct index {
    unsigned blocks, threads; /* bits of the axes x, y and z */
    const char *step;         /* NULL: 1 */
    const char *divided;      /* NULL: by nothing */
    const char *by_threads;   /* what the part of threadIdx alone is divided by; NULL: by nothing */
    bool odd;                 /* made in a way that says nothing of how many blocks there are */
    bool loose;               /* the same of threads */
};

struct indexed {
    const char *name;
    struct index as;
};

struct grid_reader {
    struct wrapper_reader *r; /* its function is the kernel */
    struct wrapper_grid *g;
    VEC(struct indexed) vars;
    unsigned blocks, threads, block_dims; /* axes that the kernel says */
    const char *shared[3];                /* extents of shared memory that threads number */
};

static const char *parsed(struct grid_reader *k, size_t first, size_t last, int depth);

static unsigned axis_bit(const struct token *t)
{
    if (token_is(t, "x"))
        return 1;
    return token_is(t, "y") ? 2 : 4;
}

static bool is_builtin(const struct wrapper_reader *r, size_t i, const char *name)
{
    return token_is(&r->v[i], name) && token_is(&r->v[i + 1], ".") && token_in(&r->v[i + 2], "x|y|z");
}

/* ---- what the launcher can say, too */

static const struct wrapper_param *param_named(const struct wrapper_reader *r, const struct token *t)
{
    for (size_t i = 0; i < r->kernel.n_list; i++) {
        if (*r->kernel.list[i].name && token_is(t, r->kernel.list[i].name))
            return &r->kernel.list[i];
    }
    return NULL;
}

static bool is_tparam(const struct wrapper_reader *r, const struct token *t)
{
    for (size_t i = 0; i < r->kernel.n_tparams; i++) {
        if (*r->kernel.tparams[i].name && token_is(t, r->kernel.tparams[i].name))
            return true;
    }
    return false;
}

/* Where the value of a local variable stands: behind the `=` or the `(` of its one declaration. 0: there is
 * none, or something is assigned to it later. */
static size_t local_value(const struct wrapper_reader *r, const struct token *t, size_t *last)
{
    size_t found = 0;

    for (size_t i = r->f.body + 1; i + 1 < r->f.body_end; i++) {
        if (r->v[i].kind != TOK_WORD || r->v[i].len != t->len || memcmp(r->v[i].s, t->s, t->len) != 0 ||
            wrapper_sign(&r->v[i - 1], ". -> ::"))
            continue;
        if (wrapper_sign(&r->v[i + 1], "+= -= *= /= ++ -- <<= >>= &= |= %="))
            return 0;
        if (!token_is(&r->v[i + 1], "="))
            continue;
        if (found || r->v[i - 1].kind != TOK_WORD)
            return 0;
        found = i + 2;
        *last = found;
        while (*last < r->f.body_end && !wrapper_sign(&r->v[*last], "; ,"))
            *last = wrapper_sign(&r->v[*last], "( [ {") ? wrapper_skip(r->v, r->f.body_end, *last) : *last + 1;
    }
    return found;
}

/* A constant of the file: a variable that is constexpr or const, or an enumerator. */
static bool is_file_constant(const struct wrapper_reader *r, const char *word)
{
    const struct init_names *found = init_named(r->source, word);

    for (size_t i = 0; found && i < found->decls.n; i++) {
        const struct init_decl *d = &r->source->decls.v[found->decls.v[i]];
        bool fixed = d->is_constexpr && !d->is_template;
        for (size_t k = d->first; k < d->name_at && d->kind == INIT_VARIABLE && !fixed; k++)
            fixed = token_is(&r->source->tokens.v[k], "const");
        if ((d->kind == INIT_VARIABLE && fixed && !d->is_device) ||
            (d->kind == INIT_TYPE && token_is(&r->source->tokens.v[d->first], "enum")))
            return true;
    }
    return false;
}

/* Adds what is asked of a struct, `p.extent.rows`, `p.dims[0]`, or of a view in one, `p.x.size(0)`; the index
 * behind it, 0: the launcher cannot know it. */
static size_t known_member(const struct wrapper_reader *r, size_t i, size_t last, struct str *out)
{
    struct str path = {.arena = r->arena}, name = {.arena = r->arena};
    size_t at = i + 1;

    str_add(&path, token_text(r->arena, &r->v[i]));
    str_add(&name, token_text(r->arena, &r->v[i]));
    for (; at + 1 < r->f.body_end && token_is(&r->v[at], ".") && r->v[at + 1].kind == TOK_WORD; at += 2) {
        const char *word = token_text(r->arena, &r->v[at + 1]);
        const bool number = at + 4 < r->f.body_end && r->v[at + 3].kind == TOK_NUMBER;

        if (number && str_in(word, "size|sizes|getSize") &&
            wrapper_sign(&r->v[at + 2], "( [")) { /* of a view */
            str_addf(out, "%s_%s", str_text(&name), token_text(r->arena, &r->v[at + 3]));
            return at + 5;
        }
        str_addf(&path, ".%s", word);
        str_addf(&name, "_%s", word);
        if (number && token_is(&r->v[at + 2], "[") && token_is(&r->v[at + 4], "]")) {
            str_addf(&path, "[%s]", token_text(r->arena, &r->v[at + 3]));
            at += 3;
        }
    }
    if (at == i + 1 || at > last || token_is(&r->v[at], "("))
        return 0;
    str_add(out, str_text(&path));
    return at;
}

/* Adds what the word at i stands for; the index behind it, 0: the launcher cannot know it. */
static size_t known_word(struct grid_reader *k, size_t i, size_t last, int depth, struct str *out)
{
    const struct wrapper_reader *r = k->r;
    const char *word = token_text(r->arena, &r->v[i]), *value;
    const struct wrapper_param *p = param_named(r, &r->v[i]);
    size_t first, end;

    if (is_builtin(r, i, "blockDim")) {
        str_addf(out, "(int)launch_block.%s", token_text(r->arena, &r->v[i + 2]));
        return i + 3;
    }
    if (token_in(&r->v[i],
                 "int|long|unsigned|sizeof|size_t|int64_t|int32_t|uint32_t|uint64_t|static_cast|min|max|"
                 "float|double|short|char|const|true|false")) {
        str_add(out, word);
        return i + 1;
    }
    if (p) {
        struct wrapper_type type = wrapper_type_of(k->r, r->v, p->first, p->last);

        if (type.pointer)
            return 0;
        if (type.lanes > 1) { /* extent.x */
            if (!wrapper_is_sizes(&type) || i + 2 >= last || !token_is(&r->v[i + 1], "."))
                return 0;
            str_addf(out, "%s_%s", word, token_text(r->arena, &r->v[i + 2]));
            return i + 3;
        }
        return type.type ? (str_add(out, word), i + 1) : known_member(r, i, last, out);
    }
    if (i + 1 < last && wrapper_sign(&r->v[i + 1], "( . [ -> <"))
        return 0;
    first = local_value(r, &r->v[i], &end);
    if (first) {
        value = depth < MOST_DEPTH ? parsed(k, first, end, depth + 1) : NULL;
        if (value)
            str_addf(out, "(%s)", value);
        return value ? i + 1 : 0;
    }
    if (!is_tparam(r, &r->v[i]) && !is_file_constant(r, word) && !wrapper_type_name(k->r, word, NULL))
        return 0;
    str_add(out, word);
    return i + 1;
}

/* The expression as the launcher says it; NULL: it asks for something that the launcher cannot know. */
static const char *parsed(struct grid_reader *k, size_t first, size_t last, int depth)
{
    const struct wrapper_reader *r = k->r;
    struct str out = {.arena = r->arena};
    bool value = false; /* a type alone is none */

    for (size_t i = first; i < last;) {
        if (out.len && r->v[i].space_before)
            str_addc(&out, ' ');
        if (r->v[i].kind == TOK_WORD) {
            value = value || !wrapper_type_name(k->r, token_text(r->arena, &r->v[i]), NULL);
            i = known_word(k, i, last, depth, &out);
            if (!i)
                return NULL;
            continue;
        }
        value = value || r->v[i].kind == TOK_NUMBER;
        if (r->v[i].kind != TOK_NUMBER && !wrapper_sign(&r->v[i], "+ - * / % ( ) << >> < > ? : , :: == !="))
            return NULL;
        str_addn(&out, r->v[i].s, r->v[i].len);
        i++;
    }
    return value ? arena_strdup(r->arena, str_text(&out)) : NULL;
}

static const char *times(struct arena *a, const char *left, const char *right)
{
    if (!left || !right)
        return left ? left : right;
    return arena_printf(a, "%s * %s", left, right);
}

static const char *in_brackets(struct arena *a, const char *text)
{
    return strpbrk(text, " +-*/%<>?") ? arena_printf(a, "(%s)", text) : text;
}

/* ---- what is made of indices */

static struct index index_sum(struct grid_reader *k, size_t first, size_t last, int depth);

static bool has_index(const struct index *x)
{
    return x->blocks || x->threads;
}

/* The indices among the tokens, whatever is made of them. */
static struct index scattered(const struct grid_reader *k, size_t first, size_t last)
{
    const struct wrapper_reader *r = k->r;
    struct index x = {.odd = true};

    for (size_t i = first; i < last; i++) {
        if (is_builtin(r, i, "blockIdx"))
            x.blocks |= axis_bit(&r->v[i + 2]);
        if (is_builtin(r, i, "threadIdx"))
            x.threads |= axis_bit(&r->v[i + 2]);
        for (size_t n = 0; n < k->vars.n; n++) {
            if (token_is(&r->v[i], k->vars.v[n].name) && !wrapper_sign(&r->v[i - 1], ". ->")) {
                x.blocks |= k->vars.v[n].as.blocks;
                x.threads |= k->vars.v[n].as.threads;
            }
        }
    }
    return x;
}

/* One factor: an index, a variable, something in brackets or behind a cast. */
static struct index index_factor(struct grid_reader *k, size_t first, size_t last, int depth)
{
    const struct wrapper_reader *r = k->r;
    struct index x = {0};

    while (first + 1 < last && token_is(&r->v[first], "(") && wrapper_skip(r->v, last, first) < last)
        first = wrapper_skip(r->v, last, first); /* a cast */
    if (first >= last || depth > MOST_DEPTH)
        return scattered(k, first, last);
    if (last == first + 3 && is_builtin(r, first, "blockIdx"))
        x.blocks = axis_bit(&r->v[first + 2]);
    else if (last == first + 3 && is_builtin(r, first, "threadIdx"))
        x.threads = axis_bit(&r->v[first + 2]);
    else if (last == first + 1) {
        for (size_t n = 0; n < k->vars.n; n++) {
            if (token_is(&r->v[first], k->vars.v[n].name))
                return k->vars.v[n].as;
        }
    } else if (token_is(&r->v[first], "("))
        return index_sum(k, first + 1, last - 1, depth + 1);
    else if (token_is(&r->v[first], "static_cast") && token_is(&r->v[last - 1], ")")) {
        size_t open = wrapper_angle(r->v, last, first + 1) + 1;
        return index_sum(k, open + 1, last - 1, depth + 1);
    } else if (token_is(&r->v[first + 1], "(") && wrapper_skip(r->v, last, first + 1) == last &&
               wrapper_type_name(k->r, token_text(r->arena, &r->v[first]), NULL))
        return index_sum(k, first + 2, last - 1, depth + 1);
    else
        return scattered(k, first, last);
    return x;
}

/* The `sign` of these at or behind i outside of brackets; last: none. */
static size_t find_sign(const struct wrapper_reader *r, size_t i, size_t last, const char *signs)
{
    while (i < last && !wrapper_sign(&r->v[i], signs)) {
        size_t angle = token_is(&r->v[i], "<") && i && token_is(&r->v[i - 1], "static_cast")
                           ? wrapper_angle(r->v, last, i)
                           : 0;
        if (angle)
            i = angle + 1;
        else
            i = wrapper_sign(&r->v[i], "( [ {") ? wrapper_skip(r->v, last, i) : i + 1;
    }
    return MIN(i, last);
}

static void divide(struct grid_reader *k, struct index *x, const char *by)
{
    struct arena *a = k->r->arena;

    if (!by)
        x->odd = true;
    else if (x->blocks)
        x->divided = times(a, x->divided, in_brackets(a, by));
    else
        x->by_threads = times(a, x->by_threads, in_brackets(a, by));
}

static struct index index_product(struct grid_reader *k, size_t first, size_t last, int depth)
{
    static const char *const signs = "* / % >> << &";
    const struct wrapper_reader *r = k->r;
    struct index x = {0};
    const char *step = NULL;

    for (size_t i = first, sign = first; i < last; sign = i, i = find_sign(r, i, last, signs) + 1) {
        size_t end;
        if (i > first)
            sign = i - 1;
        end = find_sign(r, i, last, signs);
        struct index f = index_factor(k, i, end, depth);
        const char *value = has_index(&f) ? NULL : parsed(k, i, end, 0);
        bool first_factor = i == first;

        if (has_index(&f)) {
            if (has_index(&x) || (!first_factor && !token_is(&r->v[sign], "*")))
                return scattered(k, first, last);
            x = f;
        } else if (!first_factor && token_is(&r->v[sign], "/"))
            divide(k, &x, value);
        else if (!first_factor && token_is(&r->v[sign], ">>"))
            divide(k, &x, value ? arena_printf(r->arena, "(1 << %s)", value) : NULL);
        else if (first_factor || token_is(&r->v[sign], "*")) {
            x.odd = x.odd || !value;
            step = value ? times(r->arena, step, in_brackets(r->arena, value)) : step;
        } else if (token_is(&r->v[sign], "<<") && value)
            step = times(r->arena, step, arena_printf(r->arena, "(1 << %s)", value));
        else
            x.odd = true;
        if (end == last)
            break;
    }
    if (x.blocks && step)
        x.step = times(r->arena, x.step, step);
    return has_index(&x) ? x : (struct index){0};
}

static struct index index_sum(struct grid_reader *k, size_t first, size_t last, int depth)
{
    struct index sum = {0};

    for (size_t i = first, end; i < last; i = end + 1) {
        end = find_sign(k->r, i, last, "+ -");
        struct index x = index_product(k, i, end, depth);
        if (!has_index(&x))
            continue;
        sum.odd = sum.odd || (x.odd && x.blocks) || (sum.blocks && x.blocks);
        sum.loose = sum.loose || x.loose || (x.odd && !x.blocks);
        sum.step = sum.step ? sum.step : x.step;
        sum.divided = sum.divided ? sum.divided : x.divided;
        sum.by_threads = sum.by_threads ? sum.by_threads : x.by_threads;
        sum.blocks |= x.blocks;
        sum.threads |= x.threads;
    }
    return sum;
}

/* The number of the one axis; -1: there are several, or none. */
static int one_axis(unsigned bits)
{
    for (int axis = 0; axis < 3; axis++) {
        if (bits == 1u << axis)
            return axis;
    }
    return -1;
}

/* `b * 64 + t`: there are 64 threads. */
static void learn_threads(struct grid_reader *k, const struct index *x)
{
    const int axis = one_axis(x->threads);
    const bool others = x->step && isdigit((unsigned char)x->step[strspn(x->step, "(")]); /* `row * 32 + t` */

    if (x->odd || x->loose || axis < 0 || (x->blocks != x->threads && !others) || !x->step || x->divided ||
        k->g->threads[axis] || strstr(x->step, "launch_block."))
        return;
    k->g->threads[axis] = times(k->r->arena, x->step, x->by_threads);
}

static void read_variables(struct grid_reader *k)
{
    const struct wrapper_reader *r = k->r;

    for (size_t i = r->f.body + 1; i + 1 < r->f.body_end; i++) {
        size_t end;
        struct indexed v;
        bool there = false;

        k->blocks |= is_builtin(r, i, "blockIdx") ? axis_bit(&r->v[i + 2]) : 0;
        k->threads |= is_builtin(r, i, "threadIdx") ? axis_bit(&r->v[i + 2]) : 0;
        k->block_dims |= is_builtin(r, i, "blockDim") ? axis_bit(&r->v[i + 2]) : 0;
        if (r->v[i].kind != TOK_WORD || !token_is(&r->v[i + 1], "=") || wrapper_sign(&r->v[i - 1], ". -> ]"))
            continue;
        for (end = i + 2; end < r->f.body_end && !wrapper_sign(&r->v[end], "; , )");)
            end = wrapper_sign(&r->v[end], "( [ {") ? wrapper_skip(r->v, r->f.body_end, end) : end + 1;
        v = (struct indexed){token_text(r->arena, &r->v[i]), index_sum(k, i + 2, end, 0)};
        for (size_t n = 0; n < k->vars.n; n++)
            there = there || str_eq(k->vars.v[n].name, v.name);
        if (there || !has_index(&v.as))
            continue;
        vec_add(r->arena, &k->vars, v);
        learn_threads(k, &v.as);
    }
}

/* ---- comparisons */

/* `made` is below `bound` wherever the kernel does something. */
static void learn_bound(struct grid_reader *k, const struct index *made, const char *bound, bool inclusive)
{
    struct arena *a = k->r->arena;
    const int axis = one_axis(made->blocks);
    const char *items = in_brackets(a, bound);

    if (made->odd ||
        (made->blocks && strstr(bound, "launch_block."))) /* a block's own loop, of that name again */
        return;
    if (inclusive)
        items = arena_printf(a, "(%s + 1)", items);
    if (isdigit((unsigned char)*bound) && made->blocks && !made->threads)
        return;
    if (!made->blocks) {
        const int thread = one_axis(made->threads);
        if (thread >= 0 && !made->by_threads && !made->loose && !k->g->bounded[thread])
            k->g->bounded[thread] = items;
        return;
    }
    if (axis < 0 || k->g->blocks[axis])
        return;
    if (axis == 0 && made->threads == 1 && !inclusive && !made->divided)
        k->g->bound =
            bound[0] == '(' && bound[strlen(bound) - 1] == ')' && str_word(bound + 1) + 2 == strlen(bound)
                ? arena_strndup(a, bound + 1, strlen(bound) - 2)
                : bound;
    items = times(a, items, made->divided);
    k->g->blocks[axis] =
        made->step ? arena_printf(a, "(%s + %s - 1) / (%s)", items, in_brackets(a, made->step), made->step)
                   : items;
}

static size_t statement_first(const struct wrapper_reader *r, size_t i)
{
    while (i > r->f.body + 1 && !wrapper_sign(&r->v[i - 1], "; { }"))
        i--;
    return i;
}

/* Does a thread for which the condition before i holds do nothing? */
static bool leaves(const struct wrapper_reader *r, size_t i)
{
    while (i < r->f.body_end && token_is(&r->v[i], "||")) { /* or something else */
        while (i < r->f.body_end && !wrapper_sign(&r->v[i], "&& ) ; {"))
            i = wrapper_sign(&r->v[i], "( [") ? wrapper_skip(r->v, r->f.body_end, i) : i + 1;
    }
    while (i < r->f.body_end && wrapper_sign(&r->v[i], ") {"))
        i++;
    return token_in(&r->v[i], "return|continue|break");
}

static void read_comparison(struct grid_reader *k, size_t sign)
{
    static const char *const ends = "( [ && || ; , ? { } = return ! : += <= >= < >";
    const struct wrapper_reader *r = k->r;
    size_t first = sign, last;
    bool less = wrapper_sign(&r->v[sign], "< <=");
    struct index left, right;
    const char *bound;

    while (first > r->f.body + 1 && !wrapper_sign(&r->v[first - 1], ends)) {
        int depth = 0;
        do { /* back over what stands in brackets */
            first--;
            depth += wrapper_sign(&r->v[first], ") ]");
            depth -= wrapper_sign(&r->v[first], "( [");
        } while (depth > 0 && first > r->f.body + 1);
    }
    for (last = sign + 1; last < r->f.body_end && !wrapper_sign(&r->v[last], "&& || ; ? ) ] } , < >");) {
        if (token_is(&r->v[last], "static_cast") && wrapper_angle(r->v, r->f.body_end, last + 1))
            last = wrapper_angle(r->v, r->f.body_end, last + 1) + 1;
        else
            last = wrapper_sign(&r->v[last], "( [ {") ? wrapper_skip(r->v, r->f.body_end, last) : last + 1;
    }
    left = index_sum(k, first, sign, 0);
    right = index_sum(k, sign + 1, last, 0);
    if (has_index(&left) == has_index(&right))
        return;
    bound = has_index(&left) ? parsed(k, sign + 1, last, 0) : parsed(k, first, sign, 0);
    /* `i < n` and `i >= n` bound it by n, `i <= n` and `i > n` by n + 1 */
    less = has_index(&left) ? less : !less;
    const bool equal = wrapper_sign(&r->v[sign], "<= >=");
    if (bound && (less || leaves(r, last)))
        learn_bound(k, has_index(&left) ? &left : &right, bound, less == equal);
}

/* `i += 64` of a loop that begins at the thread's number: there are 64 threads. */
static void read_stride(struct grid_reader *k, size_t sign)
{
    const struct wrapper_reader *r = k->r;
    const size_t end = find_sign(r, sign + 1, r->f.body_end, "; , )");
    const char *step;

    for (size_t n = 0; n < k->vars.n; n++) {
        const struct index *x = &k->vars.v[n].as;
        const int axis = one_axis(x->threads);
        if (!token_is(&r->v[sign - 1], k->vars.v[n].name) || x->odd || x->loose || x->blocks || axis < 0 ||
            x->by_threads)
            continue;
        step = parsed(k, sign + 1, end, 0);
        if (step && !strstr(step, "launch_block.") && !k->g->threads[axis])
            k->g->threads[axis] = step;
        return;
    }
}

/* A loop of a library that is not read: CUDA_KERNEL_LOOP(i, n). */
static void read_loop_macro(struct grid_reader *k, size_t i)
{
    const struct wrapper_reader *r = k->r;
    const size_t close = wrapper_skip(r->v, r->f.body_end, i + 1) - 1,
                 item = wrapper_item(r->v, i + 2, close) + 1;
    const char *bound = item < close ? parsed(k, item, wrapper_item(r->v, item, close), 0) : NULL;

    k->blocks |= 1;
    k->threads |= 1;
    k->block_dims |= 1;
    if (bound)
        learn_bound(k, &(struct index){.blocks = 1, .threads = 1, .step = "(int)launch_block.x"}, bound, false);
}

static bool is_loop_macro(const struct wrapper_reader *r, size_t i)
{
    return r->v[i].kind == TOK_WORD && memmem(r->v[i].s, r->v[i].len, "KERNEL_LOOP", 11) &&
           token_is(&r->v[i + 1], "(");
}

/* Is it the list of a template's arguments: `<` of static_cast<int>(...) and traits<T>::value? */
static bool is_list(const struct wrapper_reader *r, size_t i)
{
    const size_t close = wrapper_angle(r->v, r->f.body_end, i);

    return close && wrapper_sign(&r->v[close + 1], "( :: > , {");
}

/* A size by which the number of a thread is divided, or of which it is the rest: the thread's number is made of
 * several. */
static void read_division(struct grid_reader *k, size_t sign)
{
    const struct wrapper_reader *r = k->r;
    const struct index x = scattered(k, statement_first(r, sign), sign);
    const size_t end = token_is(&r->v[sign + 1], "(") ? wrapper_skip(r->v, r->f.body_end, sign + 1) : sign + 2;
    const char *by = x.blocks ? parsed(k, sign + 1, end, 0) : NULL;
    struct wrapper_names *to = x.threads ? &k->g->divisors : &k->g->block_divisors;

    for (size_t i = 0; i < r->kernel.n_list && by && !strpbrk(by, "+-<>?"); i++) {
        const char *name = r->kernel.list[i].name;
        bool there = !*name || !str_has_word(by, name);
        for (size_t n = 0; n < to->n; n++)
            there = there || str_eq(to->v[n], name);
        if (!there)
            vec_add(r->arena, to, name);
    }
}

/* `s[threadIdx.x]`: the extents behind the [ at `extent`, beside the indices behind the one at `index`. */
static void learn_extents(struct grid_reader *k, size_t extent, size_t index)
{
    const struct wrapper_reader *r = k->r;

    while (token_is(&r->v[extent], "[") && token_is(&r->v[index], "[")) {
        const size_t behind = wrapper_skip(r->v, r->f.body_end, extent),
                     next = wrapper_skip(r->v, r->f.body_end, index);
        const struct index x = index_sum(k, index + 1, next - 1, 0);
        const int axis = one_axis(x.threads);
        if (axis >= 0 && !x.blocks && !x.odd && !x.loose && !x.by_threads && !k->shared[axis]) /* no padding */
            k->shared[axis] = parsed(k, extent + 1, find_sign(r, extent + 1, behind - 1, "+ -"), 0);
        extent = behind;
        index = next;
    }
}

/* `x[row * 32 + t]`: as a variable of that value. */
static void read_place(struct grid_reader *k, size_t open)
{
    const struct index x = index_sum(k, open + 1, wrapper_skip(k->r->v, k->r->f.body_end, open) - 1, 0);

    if (x.step && isdigit((unsigned char)x.step[strspn(x.step, "(")]))
        learn_threads(k, &x);
}

/* An array of shared memory of which each thread has an element: there are no more threads, and mostly as many.
 */
static void read_shared(struct grid_reader *k, size_t i)
{
    const struct wrapper_reader *r = k->r;
    size_t open = i + 1;

    while (open < r->f.body_end && !wrapper_sign(&r->v[open], "[ ; ( = ,"))
        open++;
    if (!token_is(&r->v[open], "["))
        return;
    const char *name = token_text(r->arena, &r->v[open - 1]);
    for (size_t at = open; at + 1 < r->f.body_end; at++) {
        if (token_is(&r->v[at], name) && token_is(&r->v[at + 1], "["))
            learn_extents(k, open, at + 1);
    }
}

/* `blockDim.x == BLOCK`, as an assertion says it: so many threads. */
static void read_equal(struct grid_reader *k, size_t i)
{
    const struct wrapper_reader *r = k->r;
    size_t end = i + 1;

    if (!token_in(&r->v[i - 1], "x|y|z") || !token_is(&r->v[i - 3], "blockDim"))
        return;
    while (end < r->f.body_end && !wrapper_sign(&r->v[end], ") && || ; , ? {"))
        end = token_is(&r->v[end], "(") ? wrapper_skip(r->v, r->f.body_end, end) : end + 1;
    const int axis = r->v[i - 1].s[0] - 'x';
    if (!k->g->threads[axis])
        k->g->threads[axis] = parsed(k, i + 1, end, 0);
}

/* ---- the launch */

/* The bound that __launch_bounds__ says. */
static const char *launch_bound(struct grid_reader *k)
{
    const struct wrapper_reader *r = k->r;

    for (size_t i = r->f.first; i + 1 < r->f.params; i++) {
        if (token_is(&r->v[i], "__launch_bounds__") && token_is(&r->v[i + 1], "("))
            return parsed(k, i + 2, wrapper_item(r->v, i + 2, wrapper_skip(r->v, r->f.params, i + 1) - 1), 0);
    }
    return NULL;
}

/* A template parameter that is called so: of the axis, or of all of a block. */
static const char *thread_tparam(const struct wrapper_reader *r, int axis)
{
    static const char axes[] = "xyz";

    for (size_t i = 0; i < r->kernel.n_tparams; i++) {
        const char *name = r->kernel.tparams[i].name;
        const size_t len = strlen(name);
        const char last = len ? (char)tolower((unsigned char)name[len - 1]) : 'a';
        if (!r->kernel.tparams[i].is_type && wrapper_names_threads(name) &&
            (axis < 0 ? last < 'x' : last == axes[axis]))
            return name;
    }
    return NULL;
}

static void choose_threads(struct grid_reader *k)
{
    enum { MOST_THREADS = 1024 };
    static const char *const alone[][3] = {
        {"256", "1", "1"}, {"128", "1", "1"}, {"32", "1", "1"}, {"1024", "1", "1"}, {"64", "1", "1"}};
    static const char *const many[][3] = {
        {"32", "8", "1"}, {"32", "4", "1"}, {"16", "16", "1"}, {"32", "32", "1"}, {"32", "16", "1"}};
    struct wrapper_grid *g = k->g;
    const int block = k->r->in->block;
    const bool flat = k->threads < 2 && k->block_dims < 2;
    const char *said = thread_tparam(k->r, -1);

    if (!said)
        said = launch_bound(k);
    for (int i = 0; i < 3; i++) {
        if (g->threads[i] && atoi(g->threads[i]) > MOST_THREADS) /* several elements for each */
            g->threads[i] = NULL;
        g->threads[i] = g->threads[i] && !block ? g->threads[i] : thread_tparam(k->r, i);
    }
    if (!g->threads[0] && flat)
        g->threads[0] = said;
    for (int i = 0; i < 3; i++) {
        if (!g->threads[i] && !block && k->shared[i] && !strstr(k->shared[i], "launch_block.") &&
            atoi(k->shared[i]) <= MOST_THREADS) {
            g->threads[i] = k->shared[i];
            g->guessed = true;
        }
        /* a thread for each, where no loop takes more of them */
        if (!g->threads[i] && g->bounded[i] && !(k->block_dims & 1u << i) &&
            !strstr(g->bounded[i], "launch_block."))
            g->threads[i] = g->bounded[i];
        if (g->threads[i])
            continue;
        g->guessed = g->guessed || ((k->threads | k->block_dims) & 1u << i);
        g->threads[i] = flat || !((k->threads | k->block_dims) & 1u << i) ? alone[block][i] : many[block][i];
    }
    if (!flat && !((k->threads | k->block_dims) & 1) && str_eq(g->threads[0], alone[block][0]))
        g->threads[0] = "1";
}

struct called { /* what functions that are called say; each is read once */
    struct map seen;
    bool shared; /* they declare dynamic shared memory */
    unsigned blocks, threads, block_dims;
};

static void read_called(struct called *c, const struct init_source *s, const struct token *v, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++) {
        const struct init_names *found = NULL;
        const char *name = NULL;

        c->shared = c->shared || (token_is(&v[i], "extern") && token_is(&v[i + 1], "__shared__"));
        if (i + 2 < n && token_is(&v[i + 1], ".") && token_in(&v[i + 2], "x|y|z")) {
            c->blocks |= token_is(&v[i], "blockIdx") ? axis_bit(&v[i + 2]) : 0;
            c->threads |= token_is(&v[i], "threadIdx") ? axis_bit(&v[i + 2]) : 0;
            c->block_dims |= token_is(&v[i], "blockDim") ? axis_bit(&v[i + 2]) : 0;
        }
        if (v[i].kind == TOK_WORD && (token_is(&v[i + 1], "(") || token_is(&v[i + 1], "<")))
            name = token_text(s->arena, &v[i]);
        if (name && !map_has(&c->seen, name)) {
            map_put(&c->seen, name, (void *)name);
            found = init_named(s, name);
        }
        for (size_t k = 0; found && k < found->decls.n; k++) {
            const struct init_decl *d = &s->decls.v[found->decls.v[k]];
            if (d->kind == INIT_FUNCTION && d->is_device && d->body)
                read_called(c, s, s->tokens.v + d->body, d->end - d->body);
            for (size_t at = d->first; d->kind == INIT_TYPE && at + 1 < d->end; at++) /* in its methods */
                c->shared = c->shared || (token_is(&s->tokens.v[at], "extern") &&
                                          token_is(&s->tokens.v[at + 1], "__shared__"));
        }
    }
}

/* Does the kernel say dynamic shared memory that the file declares outside of it? */
static bool says_outer_shared(const struct wrapper_reader *r)
{
    const struct token *v = r->source->tokens.v;

    for (size_t i = r->f.body; i < r->f.body_end; i++) {
        const struct init_names *found =
            r->v[i].kind == TOK_WORD ? init_named(r->source, token_text(r->arena, &r->v[i])) : NULL;
        for (size_t k = 0; found && k < found->decls.n; k++) {
            const struct init_decl *d = &r->source->decls.v[found->decls.v[k]];
            if (d->kind == INIT_VARIABLE && token_is(&v[d->first], "extern") &&
                token_is(&v[d->first + 1], "__shared__"))
                return true;
        }
    }
    return false;
}

void wrapper_grid(struct wrapper_reader *r, struct wrapper_grid *g)
{
    struct grid_reader k = {.r = r, .g = g};
    struct called called = {0};

    read_variables(&k);
    for (size_t i = r->f.body + 1; i + 1 < r->f.body_end; i++) {
        if (token_is(&r->v[i], "<") && is_list(r, i))
            i = wrapper_angle(r->v, r->f.body_end, i);
        else if (wrapper_sign(&r->v[i], "< <= > >="))
            read_comparison(&k, i);
        else if (wrapper_sign(&r->v[i], "/ % /= %="))
            read_division(&k, i);
        else if (token_is(&r->v[i], "+="))
            read_stride(&k, i);
        else if (token_is(&r->v[i], "=="))
            read_equal(&k, i);
        else if (is_loop_macro(r, i))
            read_loop_macro(&k, i);
        else if (token_is(&r->v[i], "__shared__"))
            read_shared(&k, i);
        else if (token_is(&r->v[i], "["))
            read_place(&k, i);
    }
    read_called(&called, r->source, r->v + r->f.body, r->f.body_end - r->f.body);
    map_free(&called.seen);
    g->shared = called.shared || says_outer_shared(r);
    if (!k.blocks && !k.threads) { /* the kernel leaves its indices to others */
        k.blocks = called.blocks & 1;
        k.threads = called.threads;
        k.block_dims = called.block_dims;
    }
    choose_threads(&k);
    for (int i = 0; i < 3; i++) {
        g->open[i] = (k.blocks & 1u << i) && !g->blocks[i];
        if (!g->blocks[i])
            g->blocks[i] = "1";
    }
    g->says = k.blocks || k.threads;
}
