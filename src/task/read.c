/* task.yaml read strictly: what is not known is an error at its place, because a key that is silently ignored
 * is a task that silently means something else. */
#include "internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>

struct loader {
    struct arena *arena;
    struct task *task;
    const char *path;
    struct err *err; /* the first fault, and below it the others */
    int n_faults;
    bool misspelt; /* some key is: what is missing may be meant by it, and is no fault of its own */
};

static const char *const task_keys[] = {"name",   "source",     "entry", "reference", "args",    "dims",
                                        "domain", "workloads",  "flags", "regime",    "headers", "tolerance",
                                        "accept", "equivalent", "exact", "weights",   "inputs",  NULL};
static const char *const arg_keys[] = {"name",   "type",  "shape",  "role", "value",
                                       "values", "align", "stable", NULL};
static const char *const values_keys[] = {"kind", "low", "high", "value", "special", NULL};
static const char *const role_names[] = {"in", "out", "inout", "scratch", NULL};
static const char *const value_names[] = {
    "normal",   "uniform",  "zeros",       "ones",   "large",   "tiny", "mixed",  "index",
    "constant", "integers", "cancelling",  "alike",  "faint",   "dim",  "nearly", "range",
    "huge",     "distinct", "permutation", "sorted", "offsets", NULL};
static const char *const type_names[] = {"bool", "i8",  "u8",  "i16",  "u16", "i32", "u32",
                                         "i64",  "u64", "f16", "bf16", "f32", "f64", NULL};

/* One more fault; the others are looked for all the same. */
static bool add_fault(struct loader *l, const struct err *fault)
{
    enum { MOST = 8 };
    char text[sizeof(fault->text) + sizeof(fault->file) + 32];
    size_t used;

    if (!l->err)
        return false;
    if (l->n_faults++ == 0) {
        *l->err = *fault;
        return false;
    }
    used = strlen(l->err->text);
    err_format(fault, text, sizeof(text));
    if (l->n_faults <= MOST && used + strlen(text) + 2 < sizeof(l->err->text))
        snprintf(l->err->text + used, sizeof(l->err->text) - used, "\n%s", text);
    return false;
}

static bool fail(struct loader *l, const struct yaml_node *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail(struct loader *l, const struct yaml_node *at, const char *fmt, ...)
{
    struct err fault = {0};
    va_list ap;

    va_start(ap, fmt);
    err_set(&fault, ERR_INPUT, l->path, at->line, at->col, fmt, ap);
    va_end(ap);
    return add_fault(l, &fault);
}

static bool missing(struct loader *l, const struct yaml_node *map, const char *key)
{
    return l->misspelt ? false : fail(l, map, "%s: is missing", key);
}

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

/* What other languages call these types. */
static const char *type_meant(const char *word)
{
    static const struct {
        const char *word, *type;
    } others[] = {{"int", "i32"},          {"signed", "i32"},
                  {"unsigned", "u32"},     {"uint", "u32"},
                  {"long", "i64"},         {"long long", "i64"},
                  {"size_t", "u64"},       {"short", "i16"},
                  {"ushort", "u16"},       {"char", "i8"},
                  {"uchar", "u8"},         {"byte", "u8"},
                  {"int8", "i8"},          {"uint8", "u8"},
                  {"int16", "i16"},        {"uint16", "u16"},
                  {"int32", "i32"},        {"uint32", "u32"},
                  {"int64", "i64"},        {"uint64", "u64"},
                  {"int8_t", "i8"},        {"uint8_t", "u8"},
                  {"int16_t", "i16"},      {"uint16_t", "u16"},
                  {"int32_t", "i32"},      {"uint32_t", "u32"},
                  {"int64_t", "i64"},      {"uint64_t", "u64"},
                  {"half", "f16"},         {"__half", "f16"},
                  {"float16", "f16"},      {"fp16", "f16"},
                  {"bfloat16", "bf16"},    {"__nv_bfloat16", "bf16"},
                  {"nv_bfloat16", "bf16"}, {"float", "f32"},
                  {"float32", "f32"},      {"fp32", "f32"},
                  {"double", "f64"},       {"float64", "f64"},
                  {"fp64", "f64"}};

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (str_eq(others[i].word, word))
            return others[i].type;
    return NULL;
}

static bool unknown(struct loader *l, const struct yaml_node *at, const char *what, const char *word,
                    const char *const *names)
{
    const char *meant = names == type_names ? type_meant(word) : NULL;
    const char *near = meant ? meant : str_nearest(word, names);
    struct str list = {.arena = l->arena};

    for (size_t i = 0; names[i]; i++)
        str_addf(&list, "%s%s", i ? ", " : "", names[i]);
    if (near)
        return fail(l, at, "unknown %s %s: did you mean %s? (known: %s)", what, word, near, str_text(&list));
    return fail(l, at, "unknown %s %s (known: %s)", what, word, str_text(&list));
}

static bool check_keys(struct loader *l, const struct yaml_node *map, const char *what,
                       const char *const *known)
{
    if (map->kind != YAML_MAP)
        return fail(l, map, "%s must be a mapping: key: value", what);
    bool ok = true;
    for (size_t i = 0; i < map->n; i++)
        if (index_of(map->keys[i], known) < 0)
            ok = unknown(l, map->key_nodes[i], "key", map->keys[i], known);
    l->misspelt = l->misspelt || !ok;
    return ok;
}

static bool read_text(struct loader *l, const struct yaml_node *map, const char *key, bool required,
                      const char **out)
{
    const struct yaml_node *n = yaml_get(map, key);

    if (!n)
        return required ? missing(l, map, key) : true;
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
        return required ? missing(l, map, key) : true;
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

/* true or false; *out stays as it is where the key is not there. */
static bool read_switch(struct loader *l, const struct yaml_node *map, const char *key, bool *out)
{
    const struct yaml_node *n = yaml_get(map, key);
    bool yes = n && n->kind == YAML_TEXT && str_eq(n->text, "true");

    if (n && !yes && !(n->kind == YAML_TEXT && str_eq(n->text, "false")))
        return fail(l, n, "%s: must be true or false", key);
    *out = n ? yes : *out;
    return true;
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
        if (!str_is_name(t->dims[i]) || !strcmp(t->dims[i], "min") || !strcmp(t->dims[i], "max"))
            return fail(l, list->items[i], "%s is no name for a dim: a word of letters, digits and _",
                        t->dims[i]);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(t->dims[i], t->dims[k]))
                return fail(l, list->items[i], "dim %s is named twice", t->dims[i]);
    }
    return true;
}

static bool read_expr(struct loader *l, const struct yaml_node *at, const struct dim_expr **out)
{
    struct err fault = {0};

    return dim_parse(l->arena, l->path, at, l->task->dims, l->task->n_dims, out, &fault) ||
           add_fault(l, &fault);
}

static bool read_exprs(struct loader *l, const struct yaml_node *list, const struct dim_expr ***out, size_t *n)
{
    *n = list ? list->n : 0;
    *out = arena_array(l->arena, const struct dim_expr *, *n + 1);
    bool ok = true;
    for (size_t i = 0; i < *n; i++)
        ok &= read_expr(l, list->items[i], &(*out)[i]);
    return ok;
}

static bool read_values(struct loader *l, const struct yaml_node *n, struct task_arg *arg)
{
    struct task_values *v = &arg->values;
    const struct yaml_node *item, *named = n;
    double *special;

    *v = (struct task_values){.kind = type_is_floating(arg->type) ? VALUE_NORMAL : VALUE_INTEGERS,
                              .low = 0,
                              .high = 1,
                              .special_share = 1.0 / 16};
    if (!n)
        return true;
    if (n->kind != YAML_TEXT) { /* `values: uniform` for `values: {kind: uniform}` */
        const char *text;
        if (!check_keys(l, n, "values", values_keys) || !read_text(l, n, "kind", false, &text))
            return false;
        named = yaml_get(n, "kind");
    }
    if (named && !task_value_parse(named->text, &v->kind))
        return unknown(l, named, "kind of values", named->text, value_names);
    bool permutation = v->kind == VALUE_PERMUTATION;
    bool index = v->kind == VALUE_INDEX || (task_value_ordered(v->kind) && !permutation);
    v->declared = named;
    if (v->kind == VALUE_RANGE && type_is_floating(arg->type))
        return fail(l, n, "values of kind range need an integer type");
    if (v->kind == VALUE_HUGE && !type_is_floating(arg->type))
        return fail(l, n, "values of kind huge need a floating type");
    if ((index || permutation) && (type_is_floating(arg->type) || arg->type == KT_BOOL))
        return fail(l, n, "values of kind %s need an integer type", task_value_name(v->kind));
    if (permutation && (yaml_get(n, "low") || yaml_get(n, "high")))
        return fail(l, n, "low: and high: are not for permutations: each row has 0 to its length - 1");
    if (!index && v->kind != VALUE_UNIFORM && (yaml_get(n, "low") || yaml_get(n, "high")))
        return fail(l, n, "low: and high: belong to the kinds uniform, index, distinct, sorted and offsets");
    if (index && !yaml_get(n, "high"))
        return fail(l, n, "values of kind %s need high:, %s", task_value_name(v->kind),
                    v->kind == VALUE_OFFSETS ? "the last of them" : "the first number that is no index");
    if ((v->kind == VALUE_CONSTANT) != (yaml_get(n, "value") != NULL))
        return fail(l, n,
                    v->kind == VALUE_CONSTANT ? "values of kind constant need value:"
                                              : "value: belongs to the kind constant");
    for (int high = 0; high < 2; high++) {
        const char *end = high ? "high" : "low";
        item = yaml_get(n, end);
        if (item && index && !read_expr(l, item, high ? &v->high_expr : &v->low_expr))
            return false;
        if (item && !index && !read_number(l, item, end, high ? &v->high : &v->low))
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
    if (item && item->n && !type_is_floating(arg->type))
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
    if (!read_switch(l, n, "stable", &arg->stable))
        return false;
    if (arg->stable && arg->role != ROLE_IN)
        return fail(l, yaml_get(n, "stable"),
                    "stable: belongs to buffers of role in; %s is %s, and the call before may write it",
                    arg->name, text);
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

/* `values: [1e-5, 1e-6]`: the callers pass any of these. */
static bool read_choices_of(struct loader *l, const struct yaml_node *n, struct task_arg *arg)
{
    const struct yaml_node *list = yaml_get(n, "values");
    double *choices = arena_array(l->arena, double, list->n + 1);
    bool ok = true;

    if (!type_is_floating(arg->type))
        return fail(l, list, "values: of a scalar belongs to floating types; %s is %s: make it a dim",
                    arg->name, kernel_type_name(arg->type));
    if (yaml_get(n, "value"))
        return fail(l, list, "values: or value:, not both");
    if (list->kind != YAML_LIST || list->n == 0)
        return fail(l, list, "values: of a scalar is a list of numbers: [1e-5, 1e-6]");
    for (size_t i = 0; i < list->n; i++)
        ok &= read_number(l, list->items[i], "values", &choices[i]);
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; ok && k < i; k++)
            if (choices[i] == choices[k])
                ok = fail(l, list->items[i], "%g is named twice", choices[i]);
    arg->choices = choices;
    arg->n_choices = list->n;
    arg->value = choices[0];
    return ok;
}

static bool read_scalar(struct loader *l, const struct yaml_node *n, struct task_arg *arg)
{
    const struct yaml_node *value = yaml_get(n, "value");
    static const char *const buffer_only[] = {"role", "align", "stable"};

    arg->role = ROLE_SCALAR;
    for (size_t i = 0; i < ARRAY_LEN(buffer_only); i++)
        if (yaml_get(n, buffer_only[i]))
            return fail(l, yaml_get(n, buffer_only[i]),
                        "%s: belongs to buffers, and %s has no shape:", buffer_only[i], arg->name);
    if (yaml_get(n, "values"))
        return read_choices_of(l, n, arg);
    if (!value)
        return l->misspelt ? false : fail(l, n, "%s needs shape: (a buffer) or value: (a scalar)", arg->name);
    if (type_is_floating(arg->type))
        return read_number(l, value, "value", &arg->value);
    return read_expr(l, value, &arg->value_expr);
}

static bool read_arg(struct loader *l, const struct yaml_node *n, struct task_arg *args, size_t i)
{
    const char *type = NULL;

    if (!check_keys(l, n, "an argument", arg_keys) || !read_text(l, n, "name", true, &args[i].name) ||
        !read_text(l, n, "type", true, &type))
        return false;
    if (index_of(type, type_names) < 0 || !kernel_type_parse(type, &args[i].type))
        return unknown(l, yaml_get(n, "type"), "type", type, type_names);
    for (size_t k = 0; k < i; k++)
        if (str_eq(args[i].name, args[k].name))
            return fail(l, yaml_get(n, "name"), "argument %s is named twice", args[i].name);
    return (yaml_get(n, "shape") ? read_buffer : read_scalar)(l, n, &args[i]);
}

static bool read_args(struct loader *l, const struct yaml_node *root)
{
    const struct yaml_node *list;
    struct task_arg *args;
    bool ok = true, writes = false;

    if (!read_list(l, root, "args", true, &list))
        return false;
    args = arena_array(l->arena, struct task_arg, list->n);
    l->task->args = args;
    l->task->n_args = list->n;
    if (list->n > 64)
        return fail(l, list, "at most 64 args");
    for (size_t i = 0; i < list->n; i++) {
        ok &= read_arg(l, list->items[i], args, i);
        writes |= args[i].role == ROLE_OUT || args[i].role == ROLE_INOUT;
    }
    if (ok && !writes)
        return fail(l, list, "no argument has role out or inout: nothing would be computed");
    return ok;
}

static bool read_workload(struct loader *l, const struct yaml_node *row, size_t w, int64_t *dims)
{
    const struct task *t = l->task;
    struct err err;

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
    if (!task_dims_fit(t, dims, &err))
        return fail(l, row, "workload %zu: %s", w + 1, err.text);
    return true;
}

static bool read_workloads(struct loader *l, const struct yaml_node *root)
{
    const struct yaml_node *list;
    struct task *t = l->task;
    int64_t *dims;
    bool ok = true;

    if (!read_list(l, root, "workloads", true, &list))
        return false;
    t->n_workloads = list->n;
    t->workloads = dims = arena_array(l->arena, int64_t, list->n * t->n_dims);
    for (size_t w = 0; w < list->n; w++)
        ok &= read_workload(l, list->items[w], w, dims + w * t->n_dims);
    return ok;
}

static bool read_weights(struct loader *l, const struct yaml_node *root)
{
    const struct yaml_node *list = yaml_get(root, "weights");
    struct task *t = l->task;
    double *v, sum = 0;

    if (!list)
        return true;
    if (list->kind != YAML_LIST || list->n != t->n_workloads)
        return fail(l, list, "weights: must be a list of %zu numbers, one for each of the workloads",
                    t->n_workloads);
    t->weights = v = arena_array(l->arena, double, list->n);
    for (size_t i = 0; i < list->n; i++) {
        if (!read_number(l, list->items[i], "weights", &v[i]))
            return false;
        if (!(v[i] > 0) || !isfinite(v[i]))
            return fail(l, list->items[i], "weights: each must be above 0");
        sum += v[i];
    }
    for (size_t i = 0; i < list->n; i++)
        v[i] /= sum;
    return true;
}

static size_t arg_named(const struct task *t, const char *name)
{
    size_t i = 0;

    while (i < t->n_args && !str_eq(t->args[i].name, name))
        i++;
    return i;
}

static bool read_input(struct loader *l, const struct yaml_node *row, struct task_input *to)
{
    static const char *const keys[] = {"dims", "files", NULL};
    const struct yaml_node *dims = yaml_get(row, "dims"), *files = yaml_get(row, "files");
    const struct task *t = l->task;
    int64_t *numbers = arena_array(l->arena, int64_t, t->n_dims + 1);
    const char **paths = arena_array(l->arena, const char *, t->n_args + 1);

    *to = (struct task_input){numbers, paths};
    if (!check_keys(l, row, "an input", keys))
        return false;
    if (!dims || !files || files->kind != YAML_MAP)
        return fail(l, row, "inputs: each needs dims and files, a file for some of the buffers");
    if (!read_workload(l, dims, 0, numbers))
        return false;
    for (size_t i = 0; i < files->n; i++) {
        const struct yaml_node *file = files->items[i];
        size_t arg = arg_named(t, files->keys[i]);
        if (arg == t->n_args || (t->args[arg].role != ROLE_IN && t->args[arg].role != ROLE_INOUT))
            return fail(l, file, "inputs: %s is no buffer that is read", files->keys[i]);
        if (file->kind != YAML_TEXT || file->text[0] == '/' || strstr(file->text, ".."))
            return fail(l, file, "inputs: files lie below the task's folder");
        paths[arg] = fs_join(l->arena, t->dir, file->text);
    }
    return true;
}

static bool read_inputs(struct loader *l, const struct yaml_node *root)
{
    const struct yaml_node *list = NULL;
    struct task_input *to;
    bool ok = read_list(l, root, "inputs", false, &list);

    if (!ok || !list)
        return ok;
    l->task->inputs = to = arena_array(l->arena, struct task_input, list->n + 1);
    l->task->n_inputs = list->n;
    for (size_t i = 0; ok && i < list->n; i++)
        ok = read_input(l, list->items[i], &to[i]);
    return ok;
}

static const char *const regimes[] = {[REGIME_COLD] = "cold",
                                      [REGIME_HOT] = "hot",
                                      [REGIME_STREAM] = "stream",
                                      [REGIME_STREAM_PDL] = "stream-pdl",
                                      [N_REGIMES] = NULL};

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

/* A number: ulps of the output; or {terms: N}: last places of the terms of a sum. */
static bool read_tolerance(struct loader *l, const struct yaml_node *n)
{
    struct task *t = l->task;
    bool in_terms = n && n->kind == YAML_MAP;
    double *to = in_terms ? &t->tolerance_terms : &t->tolerance;

    t->tolerance = t->tolerance_terms = NAN;
    if (in_terms && (n->n != 1 || !yaml_get(n, "terms")))
        return fail(l, n, "tolerance: must be a number or {terms: a number}");
    if (n && !read_number(l, in_terms ? yaml_get(n, "terms") : n, "tolerance", to))
        return false;
    return !n || (*to > 0 && *to <= 1e6) ||
           fail(l, n, "tolerance: must be above 0: ulps of the output type, or of the terms of its sums");
}

static bool read_choices(struct loader *l, const struct yaml_node *root)
{
    static const char *const accepts[] = {"race", "nondeterminism", NULL};
    struct task *t = l->task;
    const char *regime = "cold", **accept;
    size_t n_accept;

    if (!read_tolerance(l, yaml_get(root, "tolerance")) || !read_text(l, root, "regime", false, &regime) ||
        !read_texts(l, root, "accept", &accept, &n_accept) || !read_switch(l, root, "exact", &t->exact))
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

/* Headers are named as the source includes them, below the task's folder. */
static bool check_header(struct loader *l, const struct yaml_node *at, const char *name)
{
    if (name[0] == '/' || strstr(name, ".."))
        return fail(l, at, "headers: are named as the source includes them, below the task's folder");
    return check_file(l, at, fs_join(l->arena, l->task->dir, name));
}

static bool read_files(struct loader *l, const struct yaml_node *root)
{
    struct task *t = l->task;
    const char *source = NULL, *reference = NULL;
    bool ok = read_text(l, root, "name", true, &t->name);

    ok &= read_text(l, root, "source", true, &source);
    ok &= read_text(l, root, "entry", true, &t->entry);
    ok &= read_text(l, root, "reference", false, &reference);
    ok &= read_texts(l, root, "flags", &t->flags, &t->n_flags);
    ok &= read_texts(l, root, "equivalent", &t->equivalent, &t->n_equivalent);
    if (t->entry && !str_is_name(t->entry))
        ok = fail(l, yaml_get(root, "entry"), "entry: must be the name of the launcher");
    if (source) {
        t->source_path = fs_join(l->arena, t->dir, source);
        ok &= check_file(l, yaml_get(root, "source"), t->source_path);
    }
    if (reference) {
        t->reference_path = fs_join(l->arena, t->dir, reference);
        ok &= check_file(l, yaml_get(root, "reference"), t->reference_path);
    }
    if (!read_texts(l, root, "headers", &t->headers, &t->n_headers))
        return false;
    for (size_t i = 0; i < t->n_headers; i++)
        ok &= check_header(l, yaml_get(root, "headers")->items[i], t->headers[i]);
    return ok;
}

/* ---- is the launcher there? ---- */

/* What is declared extern "C", one after the other; NULL: no more. */
static const char *next_launcher(struct arena *a, const char **text)
{
    const char *at = strstr(*text, "extern \"C\""), *open = at ? strpbrk(at, "(;{}") : NULL;

    if (!open)
        return NULL;
    *text = open;
    if (*open != '(')
        return next_launcher(a, text);
    while (open > at && !str_in_word(open[-1]))
        open--;
    for (at = open; str_in_word(at[-1]);)
        at--;
    return arena_strndup(a, at, (size_t)(open - at));
}

/* A launcher of which no file of the task has the name is misspelt here, not there. A name that macros put
 * together is in no file. */
static bool check_entry(struct loader *l, const struct yaml_node *root)
{
    const struct task *t = l->task;
    const char *names[17], *name;
    struct str list = {.arena = l->arena};
    size_t n = 0;
    char *text;

    for (size_t i = 0; i <= t->n_headers; i++) {
        const char *path = i ? fs_join(l->arena, t->dir, t->headers[i - 1]) : t->source_path;
        if (!fs_read(l->arena, path, &text, NULL, NULL) || str_has_word(text, t->entry) || strstr(text, "##"))
            return true;
        for (const char *at = text; n + 1 < ARRAY_LEN(names) && (name = next_launcher(l->arena, &at));) {
            str_addf(&list, "%s%s", n ? ", " : "", name);
            names[n++] = name;
        }
    }
    if (n == 0)
        return true; /* the file is broken, and its own fault */
    names[n] = NULL;
    name = str_nearest(t->entry, names);
    return fail(l, yaml_get(root, "entry"), "entry: there is no %s in %s%s%s%s%s%s%s", t->entry,
                fs_basename(t->source_path), name ? "; did you mean " : "", name ? name : "", name ? "?" : "",
                " (extern \"C\" there: ", str_text(&list), ")");
}

bool task_read(struct task **out, struct arena *a, const char *dir, const char *path, const char *text,
               size_t len, struct err *err)
{
    struct loader l = {.arena = a, .err = err, .path = path, .task = arena_new(a, struct task)};
    const struct yaml_node *root, *domain;
    bool ok;

    l.task->dir = dir;
    l.task->path = path;
    if (len > (1u << 20))
        return err_at(err, path, 1, 1, "larger than 1 MiB");
    if (!yaml_parse(a, path, text, len, &root, err))
        return false;
    if (root->kind != YAML_MAP)
        return check_keys(&l, root, "a task", task_keys);
    ok = check_keys(&l, root, "a task", task_keys);
    ok &= read_files(&l, root);
    ok = ok && check_entry(&l, root);
    ok &= read_choices(&l, root);
    if (!read_dims(&l, root)) /* which all that follows may use */
        return false;
    ok &= read_args(&l, root);
    ok &= read_list(&l, root, "domain", false, &domain) &&
          read_exprs(&l, domain, &l.task->domain, &l.task->n_domain);
    ok = ok && read_workloads(&l, root) && read_weights(&l, root) && read_inputs(&l, root);
    *out = l.task;
    return ok;
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
