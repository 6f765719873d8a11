/* What a task says of shapes, traffic and arguments, and whether a kernel file is one of it. */
#include "internal.h"

#define MAX_ELEMENTS ((int64_t)1 << 40)

static bool scalar_fits(const struct task_arg *arg, const int64_t *dims)
{
    static const struct {
        enum kernel_type type;
        int64_t low, high;
    } ranges[] = {{KT_BOOL, 0, 1},         {KT_I8, INT8_MIN, INT8_MAX},
                  {KT_U8, 0, UINT8_MAX},   {KT_I16, INT16_MIN, INT16_MAX},
                  {KT_U16, 0, UINT16_MAX}, {KT_I32, INT32_MIN, INT32_MAX},
                  {KT_U32, 0, UINT32_MAX}, {KT_I64, INT64_MIN, INT64_MAX},
                  {KT_U64, 0, INT64_MAX}};
    int64_t v = 0;
    bool fits = !arg->value_expr || dim_eval(arg->value_expr, dims, &v);

    for (size_t k = 0; fits && arg->value_expr && k < ARRAY_LEN(ranges); k++)
        if (ranges[k].type == arg->type)
            fits = v >= ranges[k].low && v <= ranges[k].high;
    return fits;
}

bool task_dims_fit(const struct task *t, const int64_t *dims, struct err *err)
{
    int64_t n;

    for (size_t i = 0; i < t->n_domain; i++)
        if (!dim_eval(t->domain[i], dims, &n) || !n)
            return err_input(err, "outside the domain: %s does not hold", dim_text(t->domain[i]));
    for (size_t i = 0; i < t->n_args; i++) {
        const struct task_arg *arg = &t->args[i];
        if (arg->role == ROLE_SCALAR) {
            if (!scalar_fits(arg, dims))
                return err_input(err, "%s does not fit %s", arg->name, kernel_type_name(arg->type));
            continue;
        }
        if (!task_shape(t, arg, dims, &n, err))
            return false;
        if (!ordered_fits(&arg->values, dims, n))
            return err_input(err, "%s: its range has too few numbers for %lld %s values", arg->name,
                             (long long)n, task_value_name(arg->values.kind));
    }
    return true;
}

bool task_shape(const struct task *t, const struct task_arg *arg, const int64_t *dims, int64_t *elements,
                struct err *err)
{
    int64_t n = 1, v;

    for (size_t i = 0; i < arg->n_shape; i++) {
        if (!dim_eval(arg->shape[i], dims, &v) || v < 0)
            return err_input(err, "%s: extent %zu of its shape is negative or not a number", arg->name, i + 1);
        if (__builtin_mul_overflow(n, v, &n) || n >= MAX_ELEMENTS)
            return err_input(err, "%s would have 2^40 elements or more", arg->name);
    }
    (void)t;
    *elements = n;
    return true;
}

bool task_in_domain(const struct task *t, const int64_t *dims)
{
    return task_dims_fit(t, dims, NULL);
}

bool task_flushes(const struct task *t)
{
    for (size_t i = 0; i < t->n_flags; i++) {
        const char *name =
            t->flags[i] + strspn(t->flags[i], "-"); /* one dash or two, as gpu_flag_check takes them */
        if (str_eq(name, "use_fast_math") || str_eq(name, "ftz=true"))
            return true;
    }
    return false;
}

bool task_traffic(const struct task *t, const int64_t *dims, int64_t *bytes, struct err *err)
{
    *bytes = 0;
    for (size_t i = 0; i < t->n_args; i++) {
        const struct task_arg *arg = &t->args[i];
        bool both = arg->role == ROLE_INOUT;
        int64_t n, times = (both || arg->role == ROLE_IN) + (both || arg->role == ROLE_OUT);
        if (times == 0)
            continue;
        if (!task_shape(t, arg, dims, &n, err))
            return false;
        *bytes += times * n * (int64_t)kernel_type_size(arg->type); /* below 64 * 2 * 2^43 */
    }
    return true;
}

void task_launch_values(const struct task *t, const int64_t *dims, struct kernel_value *values)
{
    int32_t buffer = 0;

    for (size_t i = 0; i < t->n_args; i++) {
        const struct task_arg *arg = &t->args[i];
        values[i] = (struct kernel_value){.type = arg->type, .pointer = arg->role != ROLE_SCALAR};
        if (arg->role != ROLE_SCALAR) {
            values[i].p.buffer = buffer++;
            values[i].p.offset_bytes = 0;
        } else if (!arg->value_expr && !type_is_floating(arg->type)) {
            values[i].i = (int64_t)arg->value;
        } else if (!arg->value_expr) {
            values[i].f = arg->value;
        } else if (!dim_eval(arg->value_expr, dims, &values[i].i)) {
            BUG("%s has no value: the dims were not checked against the domain", arg->name);
        }
    }
}

const char *task_below(const struct task *t, const char *path)
{
    size_t n = strlen(t->dir);

    return str_starts(path, t->dir) && path[n] == '/' && !strstr(path + n, "/../") ? path + n + 1 : NULL;
}

bool task_files(const struct task *t, struct arena *a, const char ***names, size_t *n, struct err *err)
{
    const char **list = arena_array(a, const char *, t->n_headers + 4);

    *names = list;
    *n = 0;
    for (size_t i = 0; i < t->n_headers; i++)
        list[(*n)++] = t->headers[i];
    list[(*n)++] = "task.yaml";
    list[(*n)++] = t->source_path;
    if (t->reference_path)
        list[(*n)++] = t->reference_path;
    for (size_t i = 0; i < *n; i++) {
        const char *name = task_below(t, fs_join(a, t->dir, list[i]));
        if (!name)
            return err_input(err, "%s lies outside the task's folder: a run keeps what its task is made of",
                             list[i]);
        list[i] = name;
    }
    return true;
}

bool task_kernel_open(struct kernel **out, struct arena *a, const struct task *t, const char *path,
                      const char *text, struct err *err)
{
    struct kernel_header *headers = arena_array(a, struct kernel_header, t->n_headers + 1);

    for (size_t i = 0; i < t->n_headers; i++) {
        char *own;
        if (!fs_read(a, fs_join(a, t->dir, t->headers[i]), &own, &headers[i].len, err))
            return false;
        headers[i].name = t->headers[i];
        headers[i].text = own;
    }
    return kernel_open_file(
        out, a,
        &(struct kernel_file){path, text, strlen(text), t->entry, headers, t->n_headers, t->flags, t->n_flags},
        err);
}

bool task_match(const struct task *t, const struct kernel *k, struct err *err)
{
    int line = k->source ? node_line(k->source, k->launcher) : 0;

    for (size_t i = 0; i < MIN(t->n_args, k->n_params); i++) {
        const struct task_arg *arg = &t->args[i];
        const struct kernel_param *p = &k->params[i];
        bool buffer = arg->role != ROLE_SCALAR;
        if (buffer != p->pointer || arg->type != p->type)
            return err_at(err, k->path, line, 1,
                          "parameter %zu of %s, %s, is %s%s, but the task's argument %s is %s%s", i + 1,
                          k->entry, p->name, kernel_type_name(p->type), p->pointer ? "*" : "", arg->name,
                          kernel_type_name(arg->type), buffer ? "*" : "");
        if (buffer && p->constant && arg->role != ROLE_IN)
            return err_at(err, k->path, line, 1,
                          "parameter %zu of %s, %s, points to const, but %s is an output in the task", i + 1,
                          k->entry, p->name, arg->name);
    }
    if (t->n_args != k->n_params)
        return err_at(err, k->path, line, 1, "%s has %zu parameters before the stream, the task has %zu args",
                      k->entry, k->n_params, t->n_args);
    return true;
}

struct task *task_reference(struct arena *a, const struct task *t)
{
    struct task *r = arena_copy(a, t, sizeof(*t));
    struct task_arg *args = arena_copy(a, t->args, t->n_args * sizeof(*args));

    for (size_t i = 0; i < t->n_args; i++)
        if (args[i].role != ROLE_SCALAR && type_is_floating(args[i].type))
            args[i].type = KT_F64;
    r->args = args;
    return r;
}

char *task_dims_text(struct arena *a, const struct task *t, const int64_t *dims)
{
    struct str s = {.arena = a};

    for (size_t i = 0; i < t->n_dims; i++)
        str_addf(&s, "%s%s=%lld", i ? " " : "", t->dims[i], (long long)dims[i]);
    return str_take(&s, a);
}

int64_t task_slice(const struct task_arg *arg, const int64_t *dims)
{
    int64_t slice = 1, extent;

    for (size_t i = arg->n_shape > 1; i < arg->n_shape; i++)
        slice *= dim_eval(arg->shape[i], dims, &extent) ? extent : 1;
    return MAX(slice, (int64_t)1);
}
