/* task.yaml read strictly: what is not known is an error at its place, because a key that is silently ignored
 * is a task that silently means something else. */
#include "internal.h"

#include <ctype.h>
#include <errno.h>

#define MAX_ELEMENTS ((int64_t)1 << 40)

struct loader {
    struct arena *arena;
    struct task *task;
    const char *path;
    struct err *err;
    const struct yaml_node **arg_nodes;
};

#define fail(l, node, ...) err_at((l)->err, (l)->path, (node)->line, (node)->col, __VA_ARGS__)

static const char *const task_keys[] = {"name",    "source",    "entry",     "reference",  "args",
                                        "dims",    "domain",    "workloads", "flags",      "regime",
                                        "headers", "tolerance", "accept",    "equivalent", NULL};
static const char *const arg_keys[] = {"name", "type", "shape", "role", "value", "values", "align", NULL};
static const char *const values_keys[] = {"kind", "low", "high", "value", "special", NULL};
static const char *const role_names[] = {"in", "out", "inout", "scratch", NULL};
static const char *const value_names[] = {"normal",     "uniform", "zeros", "ones",     "large",
                                          "tiny",       "mixed",   "index", "constant", "integers",
                                          "cancelling", "alike",   "faint", "dim",      NULL};
static const char *const type_names[] = {"bool", "i8",  "u8",  "i16",  "u16", "i32", "u32",
                                         "i64",  "u64", "f16", "bf16", "f32", "f64", NULL};

static int index_of(const char *word, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (!strcmp(word, names[i]))
            return i;
    return -1;
}

const char *task_value_name(enum value_kind kind)
{
    return value_names[kind];
}

bool task_value_parse(const char *name, enum value_kind *kind)
{
    int i = index_of(name, value_names);

    if (i >= 0)
        *kind = (enum value_kind)i;
    return i >= 0;
}

static bool unknown(struct loader *l, const struct yaml_node *at, const char *what, const char *word,
                    const char *const *names)
{
    const char *near = str_nearest(word, names);
    struct str list = {0};

    for (size_t i = 0; names[i]; i++)
        str_addf(&list, "%s%s", i ? ", " : "", names[i]);
    if (near)
        fail(l, at, "unknown %s %s: did you mean %s? (known: %s)", what, word, near, str_text(&list));
    else
        fail(l, at, "unknown %s %s (known: %s)", what, word, str_text(&list));
    str_free(&list);
    return false;
}

static bool check_keys(struct loader *l, const struct yaml_node *map, const char *what,
                       const char *const *known)
{
    if (map->kind != YAML_MAP)
        return fail(l, map, "%s must be a mapping: key: value", what);
    for (size_t i = 0; i < map->n; i++)
        if (index_of(map->keys[i], known) < 0)
            return unknown(l, map->key_nodes[i], "key", map->keys[i], known);
    return true;
}

static bool read_text(struct loader *l, const struct yaml_node *map, const char *key, bool required,
                      const char **out)
{
    const struct yaml_node *n = yaml_get(map, key);

    if (!n)
        return required ? fail(l, map, "%s: is missing", key) : true;
    if (n->kind != YAML_TEXT || !*n->text)
        return fail(l, n, "%s: must be a text", key);
    *out = n->text;
    return true;
}

static bool text_to_number(const char *text, double *v)
{
    char *end;
    static const struct {
        const char *text;
        double v;
    } words[] = {{"inf", INFINITY},  {"+inf", INFINITY},   {"-inf", -INFINITY}, {"nan", NAN},
                 {".inf", INFINITY}, {"-.inf", -INFINITY}, {".nan", NAN}};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (!strcmp(text, words[i].text)) {
            *v = words[i].v;
            return true;
        }
    if (!isdigit((unsigned char)*text) && !strchr("+-.", *text))
        return false;
    *v = strtod(text, &end);
    return end != text && !*end && isfinite(*v);
}

static bool read_number(struct loader *l, const struct yaml_node *n, const char *what, double *v)
{
    if (n->kind != YAML_TEXT || n->quoted || !text_to_number(n->text, v))
        return fail(l, n, "%s: must be a number", what);
    return true;
}

static bool read_list(struct loader *l, const struct yaml_node *map, const char *key, bool required,
                      const struct yaml_node **out)
{
    const struct yaml_node *n = yaml_get(map, key);

    *out = NULL;
    if (!n)
        return required ? fail(l, map, "%s: is missing", key) : true;
    if (n->kind != YAML_LIST)
        return fail(l, n, "%s: must be a list", key);
    if (required && n->n == 0)
        return fail(l, n, "%s: may not be empty", key);
    *out = n;
    return true;
}

static bool read_texts(struct loader *l, const struct yaml_node *map, const char *key, const char ***out,
                       size_t *n)
{
    const struct yaml_node *list;

    if (!read_list(l, map, key, false, &list))
        return false;
    *n = list ? list->n : 0;
    *out = arena_array(l->arena, const char *, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        if (list->items[i]->kind != YAML_TEXT || !*list->items[i]->text)
            return fail(l, list->items[i], "%s: must be a list of texts", key);
        (*out)[i] = list->items[i]->text;
    }
    return true;
}

static bool is_word(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_')
        return false;
    while (isalnum((unsigned char)*s) || *s == '_')
        s++;
    return !*s;
}

static bool read_dims(struct loader *l, const struct yaml_node *root)
{
    const struct yaml_node *list = yaml_get(root, "dims");
    struct task *t = l->task;

    if (!read_list(l, root, "dims", true, &list) || !read_texts(l, root, "dims", &t->dims, &t->n_dims))
        return false;
    if (t->n_dims > 16)
        return fail(l, list, "at most 16 dims");
    for (size_t i = 0; i < t->n_dims; i++) {
        if (!is_word(t->dims[i]) || !strcmp(t->dims[i], "min") || !strcmp(t->dims[i], "max"))
            return fail(l, list->items[i], "%s is no name for a dim: a word of letters, digits and _",
                        t->dims[i]);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(t->dims[i], t->dims[k]))
                return fail(l, list->items[i], "dim %s is named twice", t->dims[i]);
    }
    return true;
}

static bool read_exprs(struct loader *l, const struct yaml_node *list, const struct dim_expr ***out, size_t *n)
{
    *n = list ? list->n : 0;
    *out = arena_array(l->arena, const struct dim_expr *, *n + 1);
    for (size_t i = 0; i < *n; i++)
        if (!dim_parse(l->arena, l->path, list->items[i], l->task->dims, l->task->n_dims, &(*out)[i], l->err))
            return false;
    return true;
}

static bool type_floating(enum kernel_type t)
{
    return t == KT_F16 || t == KT_BF16 || t == KT_F32 || t == KT_F64;
}

static bool read_values(struct loader *l, const struct yaml_node *n, struct task_arg *arg)
{
    struct task_values *v = &arg->values;
    const struct yaml_node *item;
    double *special;
    int kind;

    *v = (struct task_values){.kind = type_floating(arg->type) ? VALUE_NORMAL : VALUE_INTEGERS,
                              .low = 0,
                              .high = 1,
                              .special_share = 1.0 / 16};
    if (!n)
        return true;
    if (n->kind == YAML_TEXT) { /* `values: uniform` for `values: {kind: uniform}` */
        if ((kind = index_of(n->text, value_names)) < 0)
            return unknown(l, n, "kind of values", n->text, value_names);
        v->kind = (enum value_kind)kind;
    } else {
        const char *text = NULL;
        if (!check_keys(l, n, "values", values_keys) || !read_text(l, n, "kind", false, &text))
            return false;
        if (text) {
            if ((kind = index_of(text, value_names)) < 0)
                return unknown(l, yaml_get(n, "kind"), "kind of values", text, value_names);
            v->kind = (enum value_kind)kind;
        }
    }
    bool index = v->kind == VALUE_INDEX;
    if (index && type_floating(arg->type))
        return fail(l, n, "values of kind index need an integer type");
    if (!index && v->kind != VALUE_UNIFORM && (yaml_get(n, "low") || yaml_get(n, "high")))
        return fail(l, n, "low: and high: belong to the kinds uniform and index");
    if (index && !yaml_get(n, "high"))
        return fail(l, n, "values of kind index need high:, the first number that is no index");
    if ((v->kind == VALUE_CONSTANT) != (yaml_get(n, "value") != NULL))
        return fail(l, n,
                    v->kind == VALUE_CONSTANT ? "values of kind constant need value:"
                                              : "value: belongs to the kind constant");
    for (int high = 0; high < 2; high++) {
        if (!(item = yaml_get(n, high ? "high" : "low")))
            continue;
        if (index ? !dim_parse(l->arena, l->path, item, l->task->dims, l->task->n_dims,
                               high ? &v->high_expr : &v->low_expr, l->err)
                  : !read_number(l, item, high ? "high" : "low", high ? &v->high : &v->low))
            return false;
    }
    if (v->kind == VALUE_UNIFORM && !(isfinite(v->low) && isfinite(v->high) && v->low < v->high))
        return fail(l, n, "low: must be below high:");
    if ((item = yaml_get(n, "value")) && !read_number(l, item, "value", &v->constant))
        return false;
    if (n->kind != YAML_MAP)
        return true;
    if (!read_list(l, n, "special", false, &item))
        return false;
    if (item && item->n && !type_floating(arg->type))
        return fail(l, item, "special: belongs to floating types");
    v->n_special = item ? item->n : 0;
    v->special = special = arena_array(l->arena, double, v->n_special + 1);
    for (size_t i = 0; i < v->n_special; i++)
        if (!read_number(l, item->items[i], "special", &special[i]))
            return false;
    return true;
}

static bool read_buffer(struct loader *l, const struct yaml_node *n, struct task_arg *arg)
{
    const struct yaml_node *shape, *item;
    const char *text = NULL;
    int role;

    if (!read_list(l, n, "shape", true, &shape) || !read_text(l, n, "role", true, &text) ||
        !read_exprs(l, shape, &arg->shape, &arg->n_shape))
        return false;
    if ((role = index_of(text, role_names)) < 0)
        return unknown(l, yaml_get(n, "role"), "role", text, role_names);
    arg->role = (enum task_role)role;
    if (yaml_get(n, "value"))
        return fail(l, yaml_get(n, "value"), "value: belongs to scalars; a buffer has values:");
    item = yaml_get(n, "values");
    if (item && (arg->role == ROLE_OUT || arg->role == ROLE_SCRATCH))
        return fail(l, item, "values: belongs to buffers that are read; %s is %s", arg->name, text);
    if (!read_values(l, item, arg))
        return false;
    arg->align_bytes = 256;
    if ((item = yaml_get(n, "align"))) {
        double v;
        if (!read_number(l, item, "align", &v))
            return false;
        arg->align_bytes = v >= 1 && v <= 4096 ? (int64_t)v : 0;
        if ((double)arg->align_bytes != v || (arg->align_bytes & (arg->align_bytes - 1)) != 0)
            return fail(l, item, "align: must be a power of two, at most 4096");
        if (arg->align_bytes < (int64_t)kernel_type_size(arg->type))
            return fail(l, item, "align: must be at least the %zu bytes of an element",
                        kernel_type_size(arg->type));
    }
    return true;
}

static bool read_scalar(struct loader *l, const struct yaml_node *n, struct task_arg *arg)
{
    const struct yaml_node *value = yaml_get(n, "value");
    static const char *const buffer_only[] = {"role", "values", "align"};

    arg->role = ROLE_SCALAR;
    for (size_t i = 0; i < ARRAY_LEN(buffer_only); i++)
        if (yaml_get(n, buffer_only[i]))
            return fail(l, yaml_get(n, buffer_only[i]),
                        "%s: belongs to buffers, and %s has no shape:", buffer_only[i], arg->name);
    if (!value)
        return fail(l, n, "%s needs shape: (a buffer) or value: (a scalar)", arg->name);
    if (type_floating(arg->type))
        return read_number(l, value, "value", &arg->value);
    return dim_parse(l->arena, l->path, value, l->task->dims, l->task->n_dims, &arg->value_expr, l->err);
}

static bool read_args(struct loader *l, const struct yaml_node *root)
{
    const struct yaml_node *list;
    struct task_arg *args;
    bool writes = false;

    if (!read_list(l, root, "args", true, &list))
        return false;
    args = arena_array(l->arena, struct task_arg, list->n);
    l->task->args = args;
    l->task->n_args = list->n;
    l->arg_nodes = list->items;
    if (list->n > 64)
        return fail(l, list, "at most 64 args");
    for (size_t i = 0; i < list->n; i++) {
        const struct yaml_node *n = list->items[i];
        const char *type = NULL;
        if (!check_keys(l, n, "an argument", arg_keys) || !read_text(l, n, "name", true, &args[i].name) ||
            !read_text(l, n, "type", true, &type))
            return false;
        if (index_of(type, type_names) < 0 || !kernel_type_parse(type, &args[i].type))
            return unknown(l, yaml_get(n, "type"), "type", type, type_names);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(args[i].name, args[k].name))
                return fail(l, yaml_get(n, "name"), "argument %s is named twice", args[i].name);
        if (!(yaml_get(n, "shape") ? read_buffer : read_scalar)(l, n, &args[i]))
            return false;
        writes |= args[i].role == ROLE_OUT || args[i].role == ROLE_INOUT;
    }
    return writes ? true : fail(l, list, "no argument has role out or inout: nothing would be computed");
}

/* Why these dims cannot be: into words (of size), or NULL with all fine. */
static const char *dims_fault(const struct task *t, const int64_t *dims, char *words, size_t size)
{
    struct err err;
    int64_t v;

    for (size_t i = 0; i < t->n_domain; i++)
        if (!dim_eval(t->domain[i], dims, &v) || !v) {
            snprintf(words, size, "outside the domain (condition %zu does not hold)", i + 1);
            return words;
        }
    for (size_t i = 0; i < t->n_args; i++) {
        const struct task_arg *arg = &t->args[i];
        static const struct {
            enum kernel_type type;
            int64_t low, high;
        } ranges[] = {{KT_BOOL, 0, 1},         {KT_I8, INT8_MIN, INT8_MAX},
                      {KT_U8, 0, UINT8_MAX},   {KT_I16, INT16_MIN, INT16_MAX},
                      {KT_U16, 0, UINT16_MAX}, {KT_I32, INT32_MIN, INT32_MAX},
                      {KT_U32, 0, UINT32_MAX}, {KT_I64, INT64_MIN, INT64_MAX},
                      {KT_U64, 0, INT64_MAX}};
        if (arg->role != ROLE_SCALAR) {
            if (task_shape(t, arg, dims, &v, &err))
                continue;
            snprintf(words, size, "%s", err.text);
            return words;
        }
        if (!arg->value_expr)
            continue;
        bool fits = dim_eval(arg->value_expr, dims, &v);
        for (size_t k = 0; fits && k < ARRAY_LEN(ranges); k++)
            if (ranges[k].type == arg->type)
                fits = v >= ranges[k].low && v <= ranges[k].high;
        if (!fits) {
            snprintf(words, size, "%s does not fit %s", arg->name, kernel_type_name(arg->type));
            return words;
        }
    }
    return NULL;
}

static bool read_workloads(struct loader *l, const struct yaml_node *root)
{
    const struct yaml_node *list;
    struct task *t = l->task;
    int64_t *dims;

    if (!read_list(l, root, "workloads", true, &list))
        return false;
    t->n_workloads = list->n;
    t->workloads = dims = arena_array(l->arena, int64_t, list->n * t->n_dims);
    for (size_t w = 0; w < list->n; w++, dims += t->n_dims) {
        const struct yaml_node *row = list->items[w];
        char words[512];
        if (row->kind != YAML_LIST || row->n != t->n_dims)
            return fail(l, row, "a workload is a list of %zu numbers, one for each of the dims", t->n_dims);
        for (size_t i = 0; i < row->n; i++) {
            const struct yaml_node *n = row->items[i];
            char *end = NULL;
            errno = 0;
            if (n->kind == YAML_TEXT && isdigit((unsigned char)*n->text))
                dims[i] = strtoll(n->text, &end, 10);
            if (!end || *end || errno)
                return fail(l, n, "%s must be a whole number, not negative", t->dims[i]);
        }
        if (dims_fault(t, dims, words, sizeof(words)))
            return fail(l, row, "workload %zu: %s", w + 1, words);
    }
    return true;
}

static const char *const regimes[] = {[REGIME_COLD] = "cold", [REGIME_HOT] = "hot", NULL};

const char *regime_name(enum regime regime)
{
    return regimes[regime];
}

bool regime_parse(const char *name, enum regime *regime)
{
    for (size_t i = 0; i < N_REGIMES; i++)
        if (str_eq(name, regimes[i])) {
            *regime = (enum regime)i;
            return true;
        }
    return false;
}

static bool read_choices(struct loader *l, const struct yaml_node *root)
{
    static const char *const accepts[] = {"race", "nondeterminism", NULL};
    struct task *t = l->task;
    const struct yaml_node *n = yaml_get(root, "tolerance");
    const char *regime = "cold", **accept;
    size_t n_accept;

    t->tolerance = NAN;
    if (n && (!read_number(l, n, "tolerance", &t->tolerance)))
        return false;
    if (n && !(t->tolerance > 0 && t->tolerance <= 1e6))
        return fail(l, n, "tolerance: must be above 0: ulps of the output type");
    if (!read_text(l, root, "regime", false, &regime) || !read_texts(l, root, "accept", &accept, &n_accept))
        return false;
    if (!regime_parse(regime, &t->regime))
        return unknown(l, yaml_get(root, "regime"), "regime", regime, regimes);
    for (size_t i = 0; i < n_accept; i++) {
        if (index_of(accept[i], accepts) < 0)
            return unknown(l, yaml_get(root, "accept")->items[i], "thing to accept", accept[i], accepts);
        *(index_of(accept[i], accepts) ? &t->accept_nondeterminism : &t->accept_race) = true;
    }
    return true;
}

static bool check_file(struct loader *l, const struct yaml_node *at, const char *path)
{
    if (fs_is_dir(path))
        return fail(l, at, "%s is a folder", path);
    return fs_exists(path) ? true : fail(l, at, "no such file: %s", path);
}

static bool read_files(struct loader *l, const struct yaml_node *root)
{
    struct task *t = l->task;
    const char *source = NULL, *reference = NULL;

    if (!read_text(l, root, "name", true, &t->name) || !read_text(l, root, "source", true, &source) ||
        !read_text(l, root, "entry", true, &t->entry) || !read_text(l, root, "reference", false, &reference) ||
        !read_texts(l, root, "flags", &t->flags, &t->n_flags) ||
        !read_texts(l, root, "headers", &t->headers, &t->n_headers) ||
        !read_texts(l, root, "equivalent", &t->equivalent, &t->n_equivalent))
        return false;
    if (!is_word(t->entry))
        return fail(l, yaml_get(root, "entry"), "entry: must be the name of the launcher");
    t->source_path = fs_join(l->arena, t->dir, source);
    if (!check_file(l, yaml_get(root, "source"), t->source_path))
        return false;
    if (reference) {
        t->reference_path = fs_join(l->arena, t->dir, reference);
        if (!check_file(l, yaml_get(root, "reference"), t->reference_path))
            return false;
    }
    for (size_t i = 0; i < t->n_headers; i++) {
        const struct yaml_node *at = yaml_get(root, "headers")->items[i];
        if (t->headers[i][0] == '/' || strstr(t->headers[i], ".."))
            return fail(l, at, "headers: are named as the source includes them, below the task's folder");
        if (!check_file(l, at, fs_join(l->arena, t->dir, t->headers[i])))
            return false;
    }
    return true;
}

bool task_read(struct task **out, struct arena *a, const char *dir, const char *path, const char *text,
               size_t len, struct err *err)
{
    struct loader l = {.arena = a, .err = err, .path = path, .task = arena_new(a, struct task)};
    const struct yaml_node *root, *domain;

    l.task->dir = dir;
    l.task->path = path;
    if (len > (1u << 20))
        return err_at(err, path, 1, 1, "larger than 1 MiB");
    if (!yaml_parse(a, path, text, len, &root, err) || !check_keys(&l, root, "a task", task_keys) ||
        !read_files(&l, root) || !read_dims(&l, root) || !read_args(&l, root) ||
        !read_list(&l, root, "domain", false, &domain) ||
        !read_exprs(&l, domain, &l.task->domain, &l.task->n_domain) || !read_workloads(&l, root) ||
        !read_choices(&l, root))
        return false;
    *out = l.task;
    return true;
}

bool task_open(struct task **out, struct arena *a, const char *dir, struct err *err)
{
    char *path, *text;
    size_t len;

    if (!fs_exists(dir))
        return err_input(err, "no such folder: %s", dir);
    if (!fs_is_dir(dir))
        return err_input(err, "%s is a file; a task is a folder with a task.yaml", dir);
    path = fs_join(a, dir, "task.yaml");
    if (!fs_exists(path))
        return err_input(
            err, "%s has no task.yaml: a task is a folder with a kernel file and a task.yaml (docs/task.md)",
            dir);
    return fs_read(a, path, &text, &len, err) && task_read(out, a, fs_absolute(a, dir), path, text, len, err);
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
    char words[512];

    return !dims_fault(t, dims, words, sizeof(words));
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
        int64_t n, times = arg->role == ROLE_INOUT ? 2 : arg->role == ROLE_IN || arg->role == ROLE_OUT ? 1 : 0;
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
        } else if (!arg->value_expr) {
            values[i].f = arg->value;
        } else if (!dim_eval(arg->value_expr, dims, &values[i].i)) {
            BUG("%s has no value: the dims were not checked against the domain", arg->name);
        }
    }
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
    return kernel_open_with_headers(out, a, path, text, strlen(text), t->entry, headers, t->n_headers, err);
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
        if (args[i].role != ROLE_SCALAR && type_floating(args[i].type))
            args[i].type = KT_F64;
    r->args = args;
    return r;
}

char *task_dims_text(struct arena *a, const struct task *t, const int64_t *dims)
{
    struct str s = {0};

    for (size_t i = 0; i < t->n_dims; i++)
        str_addf(&s, "%s%s=%lld", i ? " " : "", t->dims[i], (long long)dims[i]);
    char *text = arena_strdup(a, str_text(&s));
    str_free(&s);
    return text;
}
