/* The tester's reply: shapes and values as data. What lies outside the domain, breaks a promise of the callers
 * or costs too much is dropped and counted; so is a case that is not in the form that was asked for, which is
 * named. When nothing is left, the first of these is complained about. */
#include "internal.h"

enum { MAX_SUM_ELEMENTS = 400 << 10 };

struct cases {
    const struct task *task;
    struct arena *arena;
    struct task_case v[MAX_TESTER_CASES];
    size_t n, dropped;
    int64_t elements;
    struct err *complaint; /* of the case that is read */
    struct err first;      /* of the first one that was dropped for its form */
};

static bool read_dims(struct cases *c, const json_t *list, const char *what, const int64_t **out)
{
    const struct task *t = c->task;
    int64_t *dims = arena_array(c->arena, int64_t, t->n_dims + 1);

    if (json_is_object(list)) { /* {"rows": 1, "d": 8} says the same */
        for (size_t i = 0; i < t->n_dims; i++) {
            const json_t *v = json_object_get(list, t->dims[i]);
            if (!json_is_integer(v))
                return err_input(c->complaint, "%s: the dim %s is missing or no integer", what, t->dims[i]);
            dims[i] = json_integer_value(v);
        }
    } else {
        if (!json_is_array(list) || json_array_size(list) != t->n_dims)
            return err_input(c->complaint, "%s: a list of %zu integers expected, for %s%s%s", what, t->n_dims,
                             t->dims[0], t->n_dims > 1 ? ", " : "", t->n_dims > 1 ? "..." : "");
        for (size_t i = 0; i < t->n_dims; i++) {
            const json_t *v = json_array_get(list, i);
            if (!json_is_integer(v))
                return err_input(c->complaint, "%s: the dim %s is no integer", what, t->dims[i]);
            dims[i] = json_integer_value(v);
        }
    }
    *out = dims;
    return true;
}

double tester_reach(enum kernel_type t)
{
    if (t == KT_F16)
        return 4096;
    return t == KT_BF16 || t == KT_F32 || t == KT_F64 ? 4e10 : 1000;
}

static bool special_number(const json_t *v, double *x)
{
    const char *s = json_string_value(v);

    if (reply_number(v, x))
        return true;
    *x = NAN;
    if (s && strcasestr(s, "inf"))
        *x = *s == '-' ? -INFINITY : INFINITY;
    return s && (isinf(*x) || !strcasecmp(s, "nan"));
}

static bool occurs(const struct task_values *own, double x)
{
    for (size_t i = 0; i < own->n_special; i++)
        if (own->special[i] == x || (isnan(own->special[i]) && isnan(x)))
            return true;
    return false;
}

/* What a declared range promises stays promised: only "any real number" may become other reals. */
static bool keeps_promise(const struct task_arg *arg, const struct task_values *v, const int64_t *dims)
{
    const struct task_values *own = &arg->values;
    int64_t low = 0, high = 0;

    switch (own->kind) {
    case VALUE_NORMAL:
        return v->kind != VALUE_INDEX && v->kind != VALUE_RANGE && v->kind != VALUE_HUGE;
    case VALUE_UNIFORM:
        return (v->kind == VALUE_UNIFORM && v->low >= own->low && v->high <= own->high) ||
               (v->kind == VALUE_CONSTANT && v->constant >= own->low && v->constant < own->high);
    case VALUE_INDEX:
        return v->kind == VALUE_INDEX ||
               (v->kind == VALUE_CONSTANT && (!own->low_expr || dim_eval(own->low_expr, dims, &low)) &&
                dim_eval(own->high_expr, dims, &high) && v->constant >= (double)low &&
                v->constant < (double)high);
    default:
        return v->kind == own->kind && (v->kind != VALUE_CONSTANT || v->constant == own->constant);
    }
}

static bool read_values(struct cases *c, const json_t *o, const struct task_arg *arg, const char *what,
                        struct task_values *v)
{
    const char *kind = json_is_string(o) ? json_string_value(o) : json_text(o, "kind", NULL);
    const json_t *special = json_object_get(o, "special"), *x;
    double *list, reach = tester_reach(arg->type);
    size_t n = json_array_size(special);

    *v = arg->values;
    if (!kind && !special)
        return err_input(c->complaint, "%s: the values of %s need a \"kind\"", what, arg->name);
    if (kind && !task_value_parse(kind, &v->kind))
        return err_input(
            c->complaint,
            "%s: unknown kind of values \"%s\" for %s (known: normal, uniform, zeros, ones, large, tiny, "
            "mixed, integers, constant)",
            what, text_line(c->arena, kind, 40), arg->name);
    if (kind && v->kind == VALUE_UNIFORM && arg->values.kind != VALUE_UNIFORM)
        v->low = -1, v->high = 1;
    if (((x = json_object_get(o, "low")) && !reply_number(x, &v->low)) ||
        ((x = json_object_get(o, "high")) && !reply_number(x, &v->high)) || !(v->low < v->high) ||
        v->low < -reach || v->high > reach)
        return err_input(c->complaint,
                         "%s: \"low\" and \"high\" of %s must be numbers, low below high, within %g", what,
                         arg->name, reach);
    if (v->kind == VALUE_CONSTANT && arg->values.kind != VALUE_CONSTANT &&
        (!((x = json_object_get(o, "value")) || (x = json_object_get(o, "constant"))) ||
         !reply_number(x, &v->constant) || fabs(v->constant) > reach))
        return err_input(c->complaint, "%s: constant values of %s need a \"value\", within %g", what, arg->name,
                         reach);
    if (n == 0)
        return true;
    list = arena_array(c->arena, double, n);
    v->n_special = 0;
    for (size_t i = 0; i < n; i++) {
        double number;
        if (!special_number(json_array_get(special, i), &number))
            return err_input(c->complaint, "%s: \"special\" of %s holds what is no number, inf, -inf or nan",
                             what, arg->name);
        if (occurs(&arg->values, number))
            list[v->n_special++] = number;
        else
            c->dropped++; /* callers never pass it */
    }
    v->special = v->n_special ? list : arg->values.special;
    v->special_share = v->n_special ? 0.5 : arg->values.special_share;
    v->n_special = v->n_special ? v->n_special : arg->values.n_special;
    return true;
}

static const struct task_arg *arg_of(const struct task *t, const char *name, size_t *at)
{
    for (*at = 0; *at < t->n_args; (*at)++)
        if (!strcmp(t->args[*at].name, name))
            return &t->args[*at];
    return NULL;
}

static bool read_all_values(struct cases *c, const json_t *o, const char *what, const int64_t *dims,
                            const struct task_values **out)
{
    const struct task *t = c->task;
    struct task_values *values = arena_array(c->arena, struct task_values, t->n_args + 1), v;
    const struct task_arg *arg;
    const char *name;
    json_t *item;
    size_t at;

    for (size_t i = 0; i < t->n_args; i++)
        values[i] = t->args[i].values;
    if (o && !json_is_object(o) && !json_is_null(o))
        return err_input(c->complaint, "%s: \"values\" must be an object: {\"ARG\": {\"kind\": \"...\"}}",
                         what);
    json_object_foreach((json_t *)o, name, item)
    {
        arg = arg_of(t, name, &at);
        if (!arg)
            return err_input(c->complaint, "%s: the task has no argument \"%s\"", what,
                             text_line(c->arena, name, 40));
        if (arg->role != ROLE_IN && arg->role != ROLE_INOUT) {
            c->dropped++; /* nobody reads it: harmless */
            continue;
        }
        if (!read_values(c, item, arg, what, &v))
            return false;
        if (keeps_promise(arg, &v, dims))
            values[at] = v;
        else
            c->dropped++;
    }
    *out = values;
    return true;
}

static void add(struct cases *c, const int64_t *dims, const struct task_values *values,
                const char *distribution, const char *why)
{
    int64_t cost = task_case_elements(c->task, dims);

    for (size_t i = 0; i < c->n; i++)
        if (!memcmp(c->v[i].dims, dims, c->task->n_dims * sizeof(*dims)) && str_eq(c->v[i].why, why))
            cost = INT64_MAX;
    if (cost > MAX_CASE_ELEMENTS || c->elements + cost > MAX_SUM_ELEMENTS || c->n == MAX_TESTER_CASES) {
        c->dropped++;
        return;
    }
    c->elements += cost;
    c->v[c->n] = (struct task_case){.dims = dims,
                                    .seed = rng_hash(0x746573746572, c->n),
                                    .values = values,
                                    .distribution = distribution,
                                    .why = why};
    c->n++;
}

/* A case that was complained about is left out, and the others stand. */
static void leave_out(struct cases *c)
{
    if (c->first.kind == ERR_NONE)
        c->first = *c->complaint;
    *c->complaint = (struct err){0};
    c->dropped++;
}

static bool read_workloads(struct cases *c, const json_t *list)
{
    const int64_t *dims;
    const struct task_values *values;

    if (list && !json_is_null(list) && !json_is_array(list))
        return err_input(c->complaint, "\"workloads\" must be a list of lists of integers");
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!read_dims(c, json_array_get(list, i), arena_printf(c->arena, "workload %zu", i + 1), &dims) ||
            !read_all_values(c, NULL, "", dims, &values))
            leave_out(c);
        else
            add(c, dims, values, "the tester's shapes", "the tester's shape");
    }
    return true;
}

/* Each case is its own distribution: what is allowed there follows from the original's own error there, and no
 * case of a model's can loosen what is allowed elsewhere. */
static bool read_cases(struct cases *c, const json_t *list)
{
    if (list && !json_is_null(list) && !json_is_array(list))
        return err_input(c->complaint, "\"cases\" must be a list of objects");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        const char *what = arena_printf(c->arena, "case %zu", i + 1), *why;
        const struct task_values *values;
        const int64_t *dims;
        if (!json_is_object(o))
            err_input(c->complaint, "%s is no object", what);
        if (!json_is_object(o) || !read_dims(c, json_object_get(o, "dims"), what, &dims) ||
            !read_all_values(c, json_object_get(o, "values"), what, dims, &values)) {
            leave_out(c);
            continue;
        }
        why = reply_text(c->arena, o, "why", 120);
        add(c, dims, values, arena_printf(c->arena, "the tester's case %zu", i + 1), *why ? why : what);
    }
    return true;
}

bool agent_read_tester(const char *reply, const struct task *t, struct arena *a, struct agent_suite *s,
                       size_t *dropped, struct err *complaint)
{
    static const char *const keys[] = {"cases", "workloads", NULL};
    struct cases *c = arena_new(a, struct cases);
    json_t *o = reply_json(a, reply, keys, complaint);
    struct str text = {.arena = a};
    bool ok;

    if (!o)
        return false;
    *c = (struct cases){.task = t, .arena = a, .complaint = complaint};
    ok = read_cases(c, json_object_get(o, "cases")) && read_workloads(c, json_object_get(o, "workloads"));
    json_decref(o);
    if (!ok)
        return false;
    if (c->n == 0 && c->first.kind != ERR_NONE) {
        *complaint = c->first;
        return false;
    }
    if (c->n == 0 && c->dropped > 0)
        return err_input(
            complaint,
            "none of them can be used: dims must lie in the domain, and the buffers of a case may hold at "
            "most %d elements together",
            MAX_CASE_ELEMENTS);
    str_addf(&text, "%zu cases by the tester:", c->n);
    for (size_t i = 0; i < c->n; i++)
        str_addf(&text, "%s %s (%s)", i ? ";" : "", task_dims_text(a, t, c->v[i].dims), c->v[i].why);
    if (c->first.kind != ERR_NONE)
        str_addf(&text, "; left out: %s", c->first.text);
    *s = (struct agent_suite){c->v, c->n, str_take(&text, a)};
    *dropped = c->dropped;
    return true;
}
