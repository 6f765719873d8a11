/* Arguments of the task beside the launcher's parameters: which numbers are sizes, which values the others may
 * have, what is known of a buffer from its name, its const and where it is handed to; and what is said of all
 * this. */
#include "init/wrapper.h"

static char *said_once(struct wrapper_reader *r, const char *fmt, va_list ap)
{
    char *text = arena_vprintf(r->arena, fmt, ap);

    if (!r->final || map_has(&r->shown, text))
        return NULL;
    map_put(&r->shown, text, text);
    return text;
}

void wrapper_note(struct wrapper_reader *r, const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    text = said_once(r, fmt, ap);
    va_end(ap);
    if (text)
        vec_add(r->arena, &r->task->notes, text);
}

void wrapper_ask(struct wrapper_reader *r, const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    text = said_once(r, fmt, ap);
    va_end(ap);
    if (text)
        vec_add(r->arena, &r->task->questions, text);
}

void wrapper_lost(struct wrapper_reader *r, const char *fmt, ...)
{
    va_list ap;

    if (r->why || !r->final)
        return;
    va_start(ap, fmt);
    r->why = arena_vprintf(r->arena, fmt, ap);
    va_end(ap);
}

const char *wrapper_listed(struct arena *a, const char *list, size_t which)
{
    const char *p = list;
    int depth = 0;

    for (size_t n = 0; p && *p; n++) {
        const char *end = p;
        while (*end && (*end != ',' || depth)) {
            depth += *end == '<' || *end == '(' ? 1 : 0;
            depth -= *end == '>' || *end == ')' ? 1 : 0;
            end++;
        }
        while (*p == ' ')
            p++;
        if (n == which)
            return arena_strndup(a, p, (size_t)(end - p));
        p = *end ? end + 1 : end;
    }
    return NULL;
}

const char *wrapper_instance_arg(const struct wrapper_reader *r, size_t which)
{
    const char *arg = wrapper_listed(r->arena, r->in->instance, which);

    return arg && *arg ? arg : NULL; /* none is said: a number, where other types are tried */
}

int wrapper_kernel_constant(struct wrapper_reader *r, const char *name)
{
    int result = -1;

    for (size_t i = r->f.body; i + 1 < r->f.body_end; i++) {
        size_t close, item, which = 0;
        if (!token_is(&r->v[i], ">>>") || !token_is(&r->v[i + 1], "("))
            continue;
        close = wrapper_skip(r->v, r->n, i + 1) - 1;
        for (item = i + 2; item < close; which++) {
            size_t end = wrapper_item(r->v, item, close);
            for (size_t k = item; k < end && which < r->kernel.n_list; k++) {
                if (!token_is(&r->v[k], name))
                    continue;
                const struct wrapper_param *p = &r->kernel.list[which];
                struct wrapper_type t = wrapper_type_of(r, r->kernel_tokens.v, p->first, p->last);
                if (t.pointer && (result < 0 || !t.constant))
                    result = t.constant;
            }
            item = end + 1;
        }
    }
    return result;
}

static bool name_has(const char *name, const char *list)
{
    char word[64];

    for (const char *p = list; *p;) {
        size_t len = strcspn(p, "|");
        snprintf(word, sizeof(word), "%.*s", (int)len, p);
        if (strcasestr(name, word))
            return true;
        p += len + (p[len] == '|');
    }
    return false;
}

/* How many devices share the work, and which one this is. */
#define RANKS \
    "cp_size|tp_size|ep_size|dp_size|world_size|cp_rank|tp_rank|ep_rank|dp_rank|local_rank|global_rank|rank_id"

/* The geometry of a convolution or a pooling: a usual value; NULL: it is none. */
static const char *geometry(const char *name)
{
    static const struct {
        const char *names, *value;
    } known[] = {
        {"kernel_h|kernel_w|kernel_d|kernel_t|kernel_size|kernelH|kernelW|kernelT|ksize|kH|kW|kT", "3"},
        {"strideH|strideW|strideT|dH|dW|dT|dilation|dilation_h|dilation_w|"
         "dilation_d|dilationH|dilationW|pad_h|pad_w|pad_d|pad_t|padH|padW|padT|padding_h|padding_w|"
         "padding_d|padding",
         "1"}};

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (str_in(name, known[i].names))
            return known[i].value;
    }
    return NULL;
}

/* Is the number a size, one that shapes are made of? */
bool wrapper_is_size(const char *name, const char *type)
{
    return !str_in(type, "f16|bf16|f32|f64|bool|i8|u8") && !geometry(name) &&
           !name_has(
               name,
               "dtype|flag|use_|is_|has_|enable|with_|seed|step|mode|device|offset|start_|ndim|num_axes|block_size|blocksize|"
               "block_dim|threads|num_thread|block_sz|num_sm|sm_count|multiprocessor|" RANKS);
}

bool wrapper_names_threads(const char *name)
{
    if (name_has(name, "thread_per_block|threads_per_block|threadsperblock|threadperblock"))
        return true;
    return name_has(name, "thread|block_size|blocksize|block_dim|blockdim|block_sz|tpb") &&
           !name_has(name, "per_thread|perthread|per_block|thread_group|thread_id");
}

/* Does the function compare the number with others, as `n == 64` or `switch (n)`? What it decides then is
 * looked for as a size's value is. */
static bool is_compared(const struct wrapper_reader *r, const struct init_arg *a)
{
    for (size_t i = r->f.body + 2; i + 2 < r->f.body_end && !str_in(a->type, "f16|bf16|f32|f64|bool|i8|u8");
         i++) {
        if (!token_is(&r->v[i], a->name))
            continue;
        if (token_is(&r->v[i + 1], "==") && r->v[i + 2].kind == TOK_NUMBER)
            return true;
        if (token_is(&r->v[i - 1], "(") && token_is(&r->v[i - 2], "switch"))
            return true;
    }
    return false;
}

void wrapper_scalar(struct wrapper_reader *r, struct init_arg *a)
{
    struct arena *m = r->arena;

    if (wrapper_is_size(a->name, a->type) || is_compared(r, a)) {
        a->value = a->name;
        vec_add(m, &r->task->dims, a->name);
        return;
    }
    if (str_in(a->type, "f16|bf16|f32|f64")) {
        if (name_has(a->name, "eps"))
            a->value = "1.0e-5";
        else if (name_has(a->name, "beta1|beta2|momentum|decay"))
            a->value = "0.9";
        else
            a->value = name_has(a->name, "lr|learning_rate|dropout|ratio|prob") ? "0.1" : "1.0";
    } else if (geometry(a->name))
        a->value = geometry(a->name);
    else
        a->value = name_has(a->name, "num_sm|sm_count|multiprocessor") ? "132" : "1";
    if (name_has(a->name, "offset|start_|_rank|rank_") && str_eq(a->value, "1"))
        a->value = "0";
    if (name_has(a->name, "block|thread") && str_eq(a->value, "1") && !str_eq(a->type, "bool"))
        a->value = "256";
    if (!name_has(a->name, "eps"))
        init_ask(a, arena_printf(m, "which values of %s do callers pass?", a->name));
}

bool wrapper_is_sizes(const struct wrapper_type *k)
{
    return k->lanes > 1 && k->lanes < 4 && str_in(k->type, "i16|u16|i32|u32");
}

const char *wrapper_give_vector(struct wrapper_reader *r, const char *name, const struct wrapper_type *k,
                                struct str *params)
{
    static const char *const axes[] = {"x", "y", "z"};
    struct str value = {.arena = r->arena};
    const bool sizes = wrapper_is_sizes(k);

    str_addf(&value, "%s%s(", str_eq(k->spelled, "dim3") ? "" : "make_", k->spelled);
    for (int i = 0; i < k->lanes; i++) {
        struct init_arg a = {.type = "i32"};
        if (sizes) {
            a.name = a.value = arena_printf(r->arena, "%s_%s", name, axes[i]);
            wrapper_add_param(params, "int %s", a.name);
            vec_add(r->arena, &r->task->dims, a.name);
            vec_add(r->arena, &r->task->args, a);
        }
        str_addf(&value, "%s%s", i ? ", " : "", sizes ? a.name : arena_printf(r->arena, "%d", i + 1));
    }
    if (!sizes)
        wrapper_ask(r, "%s is a %s of 1, 2, ... here; which values do callers pass?", name, k->spelled);
    return arena_printf(r->arena, "%s)", str_text(&value));
}

void wrapper_buffer(struct wrapper_reader *r, struct init_arg *a, bool constant)
{
    int handed = wrapper_kernel_constant(r, a->name);

    if (constant || handed == 1)
        a->role = "in";
    else if (!a->role && name_has(a->name, "out|dst|result"))
        a->role = "out";
    if (!a->shape)
        init_ask(a, arena_printf(r->arena, "which shape has %s?", a->name));
    if (a->role && str_eq(a->role, "in") && !a->values && str_in(a->type, "i32|i64|u32|u64") &&
        name_has(a->name, "stride|shape|_dims|dims_|extents")) {
        a->values = "{kind: constant, value: 1}"; /* the kernel divides by them, or takes products of them */
        init_guess(a, arena_printf(r->arena, "the numbers in %s are 1 here; which do callers pass?", a->name));
    }
    if (!a->role) {
        a->role = "inout";
        init_ask(a,
                 arena_printf(r->arena, "%s%sis %s read before it is written (inout), or written whole (out)?",
                              a->todo ? a->todo : "", a->todo ? " " : "", a->name));
    }
}

void wrapper_add_param(struct str *list, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str_vaddf(list, fmt, ap);
    va_end(ap);
    str_add(list, ", ");
}

/* The namespaces "a::b::" opened, as the wrapper stands in them. */
void wrapper_add_using(struct str *out, struct arena *a, const char *scope)
{
    for (const char *p = strstr(scope, "::"); p; p = strstr(p + 2, "::"))
        str_addf(out, "using namespace %s;\n", arena_strndup(a, scope, (size_t)(p - scope)));
}
