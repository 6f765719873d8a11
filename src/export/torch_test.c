/* The extension's test against the original: the task's arguments and values in Python's words. */
#include "op.h"

enum { SMALL_SHAPES = 6, LARGEST_ELEMENTS = 1 << 27 };

static const char *keep(struct arena *a, struct str *s)
{
    const char *text = arena_strdup(a, str_text(s));

    str_free(s);
    return text;
}

static const char *lambda(const struct op *o, struct arena *a, const char *first)
{
    struct str s = {0};

    str_addf(&s, "lambda %s", first);
    for (size_t d = 0; d < o->task->n_dims; d++)
        str_addf(&s, "%s%s", d || *first ? ", " : "", o->dims[d]);
    str_add(&s, ": ");
    return keep(a, &s);
}

static const char *number(struct arena *a, double v)
{
    if (isnan(v))
        return "float(\"nan\")";
    if (isinf(v))
        return v < 0 ? "float(\"-inf\")" : "float(\"inf\")";
    return op_number(a, v);
}

static bool is_floating(enum kernel_type t)
{
    return t == KT_F16 || t == KT_BF16 || t == KT_F32 || t == KT_F64;
}

/* What a normal distribution is scaled by. */
static double scale_of(const struct task_arg *x)
{
    if (x->values.kind == VALUE_ZEROS)
        return 0;
    if (x->values.kind == VALUE_TINY)
        return x->type == KT_F16 ? 0x1p-16 : 1e-12;
    if (x->values.kind != VALUE_LARGE)
        return 1;
    if (x->type == KT_F16)
        return 1024;
    return is_floating(x->type) ? 1e10 : 1000;
}

/* Small integers, as the arguments of fill_index. */
static const char *integer_range(enum kernel_type t)
{
    if (t == KT_I8)
        return "-128, 128";
    if (t == KT_U8)
        return "0, 256";
    return t == KT_I16 || t == KT_I32 || t == KT_I64 || is_floating(t) ? "-8, 9" : "0, 17";
}

static void add_bound(const struct op *o, const struct dim_expr *e, double v, struct str *to)
{
    if (e)
        dim_write(to, e, o->dims, DIM_PYTHON);
    else
        str_addf(to, "%.0f", v);
}

/* A call that fills a tensor as the task's suite fills its buffers, in distribution if not in every bit. */
static void add_fill(const struct op *o, const struct task_arg *x, struct arena *a, struct str *to)
{
    const struct task_values *v = &x->values;
    const char *type = torch_type(x->type);
    double low = v->low, high = v->high;

    if (x->type == KT_BOOL) {
        str_addf(to, "fill_index(shape, %s, 0, 2)", type);
    } else if (v->kind == VALUE_INDEX) {
        str_addf(to, "fill_index(shape, %s, ", type);
        add_bound(o, v->low_expr, v->low, to);
        str_add(to, ", ");
        add_bound(o, v->high_expr, v->high, to);
        str_addc(to, ')');
    } else if (v->kind == VALUE_INTEGERS || (!is_floating(x->type) && v->kind == VALUE_NORMAL)) {
        str_addf(to, "fill_index(shape, %s, %s)", type, integer_range(x->type));
    } else {
        if (v->kind == VALUE_ONES)
            low = high = 1;
        if (v->kind == VALUE_CONSTANT)
            low = high = v->constant;
        if (v->kind == VALUE_UNIFORM || v->kind == VALUE_CONSTANT || v->kind == VALUE_ONES)
            str_addf(to, "fill_uniform(shape, %s, %s, %s, (", type, number(a, low), number(a, high));
        else
            str_addf(to, "fill_scaled(shape, %s, %s, (", type, number(a, scale_of(x)));
        for (size_t i = 0; i < v->n_special; i++)
            str_addf(to, "%s,%s", number(a, v->special[i]), i + 1 < v->n_special ? " " : "");
        str_add(to, "))");
    }
}

static const char *arguments(const struct op *o, struct arena *a)
{
    static const char *const roles[] = {[ROLE_IN] = "in", [ROLE_OUT] = "out", [ROLE_INOUT] = "inout"};
    struct str s = {0};

    for (size_t i = 0; i < o->task->n_args; i++) {
        const struct task_arg *x = &o->task->args[i];
        if (!op_is_tensor(o, i))
            continue;
        str_addf(&s, "%s    (\"%s\", \"%s\", %s, %s(", s.len ? "\n" : "", o->args[i], roles[x->role],
                 torch_type(x->type), lambda(o, a, ""));
        for (size_t k = 0; k < x->n_shape; k++) {
            dim_write(&s, x->shape[k], o->dims, DIM_PYTHON);
            str_add(&s, k + 1 < x->n_shape ? ", " : x->n_shape == 1 ? "," : "");
        }
        str_add(&s, "), ");
        if (x->role == ROLE_OUT) {
            str_add(&s, "None),");
        } else {
            str_add(&s, lambda(o, a, "shape"));
            add_fill(o, x, a, &s);
            str_add(&s, "),");
        }
    }
    return keep(a, &s);
}

static void add_shape(const struct task *t, const int64_t *dims, struct str *to)
{
    str_addf(to, "%s    (", to->len ? "\n" : "");
    for (size_t d = 0; d < t->n_dims; d++)
        str_addf(to, "%lld%s", (long long)dims[d], d + 1 < t->n_dims ? ", " : t->n_dims == 1 ? ",)," : "),");
}

/* Small shapes first, for what only needs one; then every workload that is not too large. */
static const char *shapes(const struct op *o, struct arena *a)
{
    const struct task *t = o->task;
    uint64_t seed = (uint64_t)json_int(o->run->kept.provenance, "seed", 0);
    const struct task_case *cases;
    const int64_t **taken;
    struct str s = {0};
    size_t n, n_taken = 0;

    task_suite(t, a, seed, &cases, &n);
    taken = arena_array(a, const int64_t *, SMALL_SHAPES + t->n_workloads);
    for (size_t i = 0; i < n + t->n_workloads; i++) {
        const int64_t *dims = i < n ? cases[i].dims : t->workloads + (i - n) * t->n_dims;
        bool is_new = i < n ? n_taken < SMALL_SHAPES : task_case_elements(t, dims) <= LARGEST_ELEMENTS;
        for (size_t k = 0; k < n_taken; k++)
            is_new &= memcmp(taken[k], dims, t->n_dims * sizeof(*dims)) != 0;
        if (is_new)
            add_shape(t, taken[n_taken++] = dims, &s);
    }
    return keep(a, &s);
}

static const char *given(const struct op *o, const struct op_plan *p, struct arena *a)
{
    struct str s = {0};

    for (size_t d = 0; p && d < o->task->n_dims; d++)
        for (size_t k = 0; k < p->n_steps; k++)
            if (p->steps[k].dim == d && !p->steps[k].value)
                str_addf(&s, "%s\"%s\"", s.len ? ", " : "", o->dims[d]);
    return arena_printf(a, "[%s]", keep(a, &s));
}

/* Of the cases with the task's own values, where the run kept errors by their kind; else of all. Equal to the
 * bit where the run saw nothing else; else what it saw, with room for other values, and never more than the
 * errors of both together. */
static double allowed(const struct op *o, const struct task_arg *x)
{
    const json_t *v = json_object_get(o->run->kept.result, "verification"), *row;
    double own = json_num(v, "original_error"), most = json_num(v, "allowed_error"), apart = NAN;
    size_t i;

    json_array_foreach(json_object_get(v, "errors"), i,
                       row) if (str_eq(json_text(row, "output", ""), x->name) &&
                                str_eq(json_text(row, "values", ""), "as the task says"))
    {
        own = json_num(json_object_get(row, "original"), "max");
        most = json_num(json_object_get(row, "allowed"), "max");
        apart = json_num(row, "apart");
    }
    if (report_identical(v) || apart == 0 || !isfinite(own + most))
        return 0;
    return isfinite(apart) ? fmin(own + most + 1, fmax(4 * apart, 4)) : own + most + 1;
}

const char *torch_test(const struct op *o, const struct op_plan *into, const struct op_plan *functional,
                       struct arena *a)
{
    const char *package = torch_package(o, a);
    struct str dims = {0}, numbers = {0}, quoted = {0}, ulps = {0};

    for (size_t d = 0; d < o->task->n_dims; d++) {
        str_addf(&dims, "%s%s", d ? ", " : "", o->dims[d]);
        str_addf(&quoted, "%s\"%s\"", d ? ", " : "", o->dims[d]);
    }
    for (size_t i = 0; i < o->task->n_args; i++) {
        if (o->task->args[i].role == ROLE_OUT || o->task->args[i].role == ROLE_INOUT)
            str_addf(&ulps, "%s\"%s\": %s", ulps.len ? ", " : "", o->args[i],
                     number(a, allowed(o, &o->task->args[i])));
        if (op_is_number(o, i))
            str_addf(&numbers, "%s%s", numbers.len ? ", " : "", op_number(a, o->task->args[i].value));
    }
    const struct fill_slot slots[] = {
        {"package", package},
        {"op", o->name},
        {"new", functional ? arena_printf(a, "NEW = torch.ops.%s.%s", package, o->name) : "NEW = None"},
        {"ulps", arena_printf(a, "{%s}", keep(a, &ulps))},
        {"dims", keep(a, &dims)},
        {"dim_names", arena_printf(a, "[%s]", keep(a, &quoted))},
        {"shapes", shapes(o, a)},
        {"given", arena_printf(a, "{\"into\": %s, \"new\": %s}", given(o, into, a), given(o, functional, a))},
        {"numbers", arena_printf(a, "[%s]", keep(a, &numbers))},
        {"args", arguments(o, a)},
    };
    return arena_printf(a, "%s\n", fill_share(a, "export/torch/test.py", slots, ARRAY_LEN(slots)));
}
