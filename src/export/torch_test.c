/* The extension's test against the original: the task's arguments and values in Python's words. */
#include "op.h"

enum { SMALL_SHAPES = 6, LARGEST_ELEMENTS = 1 << 27 };

static const char *number(struct arena *a, double v)
{
    if (isnan(v))
        return "float(\"nan\")";
    if (isinf(v))
        return v < 0 ? "float(\"-inf\")" : "float(\"inf\")";
    return op_number(a, v);
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
    return type_is_floating(x->type) ? 1e10 : 1000;
}

/* Small integers, as the arguments of fill_index. */
static const char *integer_range(enum kernel_type t)
{
    if (t == KT_I8)
        return "-128, 128";
    if (t == KT_U8)
        return "0, 256";
    return t == KT_I16 || t == KT_I32 || t == KT_I64 || type_is_floating(t) ? "-8, 9" : "0, 17";
}

static const char *bound(const struct op *o, const struct dim_expr *e, double v, struct arena *a)
{
    struct str s = {0};

    if (!e)
        return arena_printf(a, "%.0f", v);
    dim_write(&s, e, o->dims, DIM_PYTHON);
    return str_take(&s, a);
}

/* A tensor filled as the task's suite fills its buffers, in distribution if not in every bit. */
void torch_test_content(const struct op *o, struct fill *row, size_t arg)
{
    static const char *const roles[] = {[ROLE_IN] = "in", [ROLE_OUT] = "out", [ROLE_INOUT] = "inout"};
    const struct task_arg *x = &o->task->args[arg];
    const struct task_values *v = &x->values;
    struct arena *a = fill_arena(row);
    double low = v->low, high = v->high;
    bool is_index = v->kind == VALUE_INDEX || task_value_ordered(v->kind),
         is_integer = v->kind == VALUE_INTEGERS || (!type_is_floating(x->type) && v->kind == VALUE_NORMAL),
         is_listed = x->type != KT_BOOL && !is_index && !is_integer;

    if (v->kind == VALUE_ONES)
        low = high = 1;
    if (v->kind == VALUE_CONSTANT)
        low = high = v->constant;
    fill_put(row, "role", roles[x->role]);
    fill_if(row, "filled", x->role != ROLE_OUT);
    fill_put(row, "how", "index");
    fill_if(row, "listed", is_listed);
    fill_section(row, "special");
    if (x->type == KT_BOOL) {
        fill_put(row, "bounds", "0, 2");
    } else if (task_value_ordered(v->kind)) {
        fill_put(row, "how", task_value_name(v->kind));
        fill_putf(row, "bounds", "%s, %s", bound(o, v->low_expr, v->low, a),
                  v->high_expr ? bound(o, v->high_expr, v->high, a) : "0");
    } else if (is_index) {
        fill_putf(row, "bounds", "%s, %s", bound(o, v->low_expr, v->low, a),
                  bound(o, v->high_expr, v->high, a));
    } else if (is_integer) {
        fill_put(row, "bounds", integer_range(x->type));
    } else if (v->kind == VALUE_UNIFORM || v->kind == VALUE_CONSTANT || v->kind == VALUE_ONES) {
        fill_put(row, "how", "uniform");
        fill_putf(row, "bounds", "%s, %s", number(a, low), number(a, high));
    } else {
        fill_put(row, "how", "scaled");
        fill_put(row, "bounds", number(a, scale_of(x)));
    }
    for (size_t i = 0; i < v->n_special; i++)
        fill_putf(fill_row(row, "special"), "value", "%s%s", i ? " " : "", number(a, v->special[i]));
}

/* Small shapes first, for what only needs one; then every workload that is not too large. */
void torch_test_shapes(const struct op *o, struct fill *f, struct arena *a)
{
    const struct task *t = o->task;
    uint64_t seed = (uint64_t)json_int(o->run->bundle.provenance, "seed", 0);
    const struct task_case *cases;
    const int64_t **taken;
    size_t n, n_taken = 0;

    task_suite(t, a, seed, &cases, &n);
    taken = arena_array(a, const int64_t *, SMALL_SHAPES + t->n_workloads);
    for (size_t i = 0; i < n + t->n_workloads; i++) {
        const int64_t *dims = i < n ? cases[i].dims : t->workloads + (i - n) * t->n_dims;
        bool is_new = i < n ? n_taken < SMALL_SHAPES : task_case_elements(t, dims) <= LARGEST_ELEMENTS;
        struct fill *row;
        for (size_t k = 0; k < n_taken; k++)
            is_new &= memcmp(taken[k], dims, t->n_dims * sizeof(*dims)) != 0;
        if (!is_new)
            continue;
        taken[n_taken++] = dims;
        row = fill_row(f, "shapes");
        for (size_t d = 0; d < t->n_dims; d++)
            fill_putf(fill_row(row, "extents"), "extent", "%lld", (long long)dims[d]);
        fill_if(row, "single", t->n_dims == 1);
    }
}

/* Of the cases with the task's own values, where the run kept errors by their kind; else of all. Equal to the
 * bit where the run saw nothing else; else what it saw, with room for other values, and never more than the
 * errors of both together. */
static double allowed(const struct op *o, const struct task_arg *x)
{
    const json_t *v = json_object_get(o->run->bundle.result, "verification"), *row;
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

void torch_test_error(const struct op *o, struct fill *row, size_t arg)
{
    fill_put(row, "ulps", number(fill_arena(row), allowed(o, &o->task->args[arg])));
}
