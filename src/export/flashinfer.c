/* A dataset for flashinfer-bench 0.1: a Definition, its workloads, the best version as a Solution, and Traces
 * of what was measured. A Definition's axis is a name, and one that varies must be an extent of an input. So an
 * extent such as 2 * d is an axis of its own, and a dim that no input shows is a constant: a Definition for
 * each of its values. */
#include "op.h"

struct axis {
    const char *name, *text;
    const struct dim_expr *value;
    bool fixed, derived; /* one value in a Definition; no dim itself */
};

struct set {
    const struct op *op;
    const struct task *task;
    struct arena *arena;
    struct export_files *out;
    struct op_plan plan;
    bool *fixed; /* by dim */
    VEC(struct axis) axes;
    const char *timestamp;
};

static const char *type_name(enum kernel_type t)
{
    static const char *const names[] = {
        [KT_BOOL] = "bool",   [KT_I8] = "int8",       [KT_I16] = "int16",
        [KT_I32] = "int32",   [KT_I64] = "int64",     [KT_F16] = "float16",
        [KT_F32] = "float32", [KT_BF16] = "bfloat16", [KT_F64] = NULL,
    };

    return names[t];
}

static bool is_dim(const struct set *s, const struct dim_expr *e, size_t d)
{
    return str_eq(dim_text(e), s->task->dims[d]);
}

/* Is this extent one of an input's too? Its axis is then bound by it. */
static bool in_input(const struct set *s, const char *text)
{
    for (size_t i = 0; i < s->task->n_args; i++)
        for (size_t k = 0;
             op_is_tensor(s->op, i) && s->task->args[i].role != ROLE_OUT && k < s->task->args[i].n_shape; k++)
            if (str_eq(dim_text(s->task->args[i].shape[k]), text))
                return true;
    return false;
}

static void fix_dims(struct set *s)
{
    const struct task *t = s->task;

    s->fixed = arena_array(s->arena, bool, t->n_dims);
    for (size_t d = 0; d < t->n_dims; d++)
        s->fixed[d] = !in_input(s, t->dims[d]);
    for (size_t i = 0; i < t->n_args; i++)
        for (size_t k = 0; t->args[i].role == ROLE_OUT && k < t->args[i].n_shape; k++)
            for (size_t d = 0; d < t->n_dims && !in_input(s, dim_text(t->args[i].shape[k])); d++)
                s->fixed[d] |= dim_uses(t->args[i].shape[k], d);
}

/* "2 * d" as "axis_2_times_d" */
static const char *axis_name(struct set *s, const char *text)
{
    static const struct {
        char sign;
        const char *word;
    } words[] = {{'*', "times"}, {'+', "plus"}, {'-', "minus"}, {'/', "over"}, {'%', "modulo"}};
    struct str name = {0};
    bool apart = true;

    str_add(&name, "axis");
    for (const char *p = text; *p; p++) {
        const char *word = NULL;
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
            if (*p == words[i].sign)
                word = words[i].word;
        bool letter =
            (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_';
        if (word || (letter && apart))
            str_addf(&name, "_%s", word ? word : "");
        if (letter)
            str_addc(&name, *p);
        apart = !letter;
    }
    for (size_t i = 0; i < s->axes.n; i++)
        if (str_eq(s->axes.v[i].name, str_text(&name))) {
            str_addc(&name, '_');
            i = (size_t)-1;
        }
    return str_take(&name, s->arena);
}

static const char *axis_of(struct set *s, const struct dim_expr *e)
{
    const char *text = dim_text(e);
    struct axis x = {.text = text, .value = e, .fixed = true};

    for (size_t i = 0; i < s->axes.n; i++)
        if (str_eq(s->axes.v[i].text, text))
            return s->axes.v[i].name;
    for (size_t d = 0; d < s->task->n_dims; d++) {
        if (dim_uses(e, d))
            x.fixed &= s->fixed[d];
        if (is_dim(s, e, d))
            x.name = s->op->dims[d];
    }
    x.derived = !x.name;
    if (x.derived)
        x.name = axis_name(s, text);
    vec_add(s->arena, &s->axes, x);
    return x.name;
}

static json_t *tensor(struct set *s, const struct task_arg *x)
{
    json_t *o = json_object(), *shape = json_array();

    for (size_t k = 0; k < x->n_shape; k++)
        json_array_append_new(shape, json_string(axis_of(s, x->shape[k])));
    json_put(o, "shape", x->role == ROLE_SCALAR ? json_null() : json_incref(shape));
    json_put_text(o, "dtype", type_name(x->type));
    json_decref(shape);
    return o;
}

static const char *output_name(const struct set *s, size_t i)
{
    return s->task->args[i].role == ROLE_INOUT ? arena_printf(s->arena, "%s_out", s->op->args[i])
                                               : s->op->args[i];
}

/* Inputs stand in the operator's order: tensors, then numbers. */
static void put_tensors(struct set *s, json_t *inputs, json_t *outputs)
{
    for (size_t i = 0; i < s->task->n_args; i++) {
        enum task_role role = s->task->args[i].role;
        if (op_is_tensor(s->op, i) && role != ROLE_OUT)
            json_put(inputs, s->op->args[i], tensor(s, &s->task->args[i]));
        if (role == ROLE_OUT || role == ROLE_INOUT)
            json_put(outputs, output_name(s, i), tensor(s, &s->task->args[i]));
    }
    for (size_t i = 0; i < s->task->n_args; i++)
        if (op_is_number(s->op, i))
            json_put(inputs, s->op->args[i], tensor(s, &s->task->args[i]));
}

static bool same_group(const struct set *s, const int64_t *a, const int64_t *b)
{
    for (size_t d = 0; d < s->task->n_dims; d++)
        if (s->fixed[d] && a[d] != b[d])
            return false;
    return true;
}

/* The program that both the Definition and the Solution are; sources: a Python expression. */
static const char *program(const struct set *s, const char *what, const char *sources, const int64_t *dims)
{
    struct str parameters = {.arena = s->arena}, call = parameters, words = parameters;
    const char *flags = torch_flags(s->op, s->arena);

    for (size_t i = 0; i < s->task->n_flags; i++)
        str_addf(&words, " %s", s->task->flags[i]);

    for (int numbers = 0; numbers < 2; numbers++) {
        for (size_t i = 0; i < s->task->n_args; i++)
            if (numbers ? op_is_number(s->op, i)
                        : op_is_tensor(s->op, i) && s->task->args[i].role != ROLE_OUT) {
                str_addf(&parameters, "%s%s", parameters.len ? ", " : "", s->op->args[i]);
                str_addf(&call, "%s%s", call.len ? ", " : "", s->op->args[i]);
            }
        for (size_t k = 0; !numbers && k < s->task->n_dims; k++) /* in the order of the dims */
            for (size_t i = 0; i < s->plan.n_steps; i++)
                if (s->plan.steps[i].dim == k && !s->plan.steps[i].value)
                    str_addf(&call, "%s%lld", call.len ? ", " : "", (long long)dims[k]);
    }
    const struct fill_slot slots[] = {
        {"what", what},
        {"flag_words", str_text(&words)},
        {"sources", sources},
        {"flags", flags},
        {"op", s->op->name},
        {"call", str_text(&call)},
        {"parameters", str_text(&parameters)},
    };
    return arena_printf(s->arena, "%s\n",
                        fill_share(s->arena, "export/flashinfer/run.py", slots, ARRAY_LEN(slots)));
}

static bool add_literal(struct str *to, const char *name, const char *text, struct err *err)
{
    json_t *words = json_string(text);
    char *literal = words ? json_dumps(words, JSON_ENCODE_ANY) : NULL; /* Python reads it as JSON does */

    json_decref(words);
    if (!literal)
        return err_input(err, "%s is not UTF-8, and JSON can hold nothing else", name);
    str_addf(to, "    \"%s\": %s,\n", name, literal);
    free(literal);
    return true;
}

/* The files that an extension is built of, around this kernel. */
static bool sources(const struct set *s, const char *kernel, struct export_files *files, struct err *err)
{
    export_add(files, "kernel.cu", kernel);
    export_add(files, "binding.cpp", torch_binding(s->op, s->arena));
    export_add(files, "check.h", share_text("export/torch/check.h"));
    return export_headers(s->op->run, NULL, files, err);
}

static bool reference(const struct set *s, const int64_t *dims, const char **text, struct err *err)
{
    struct export_files files = {.arena = s->arena};
    struct str literal = {.arena = s->arena};
    bool ok = sources(s, s->op->run->bundle.original, &files, err);

    str_add(&literal, "{\n");
    for (size_t i = 0; ok && i < files.list.n; i++)
        ok = add_literal(&literal, files.list.v[i].name, files.list.v[i].text, err);
    str_add(&literal, "}");
    if (ok)
        *text = program(
            s,
            "The reference is the original kernel itself: no specification of it in PyTorch's words is known.",
            str_text(&literal), dims);
    return ok;
}

static const char *description(const struct set *s)
{
    struct facts f;
    struct str text = {0};

    facts_read(&f, s->op->run, s->arena);
    str_add(&text, f.title);
    for (size_t i = 0; i < f.list.n; i++)
        str_addf(&text, "\n%-9s %s", f.list.v[i].name, f.list.v[i].text);
    return str_take(&text, s->arena);
}

static const char *hardware(const struct set *s)
{
    char *name = arena_strdup(s->arena, json_text(s->op->run->bundle.device, "name", "unknown"));

    for (char *p = name; *p; p++)
        if (*p == ' ')
            *p = '_';
    return name;
}

static void add_json(const struct set *s, const char *path, json_t *o)
{
    export_add(s->out, path, arena_printf(s->arena, "%s\n", json_pretty(s->arena, o)));
    json_decref(o);
}

static bool add_definition(struct set *s, const char *name, const int64_t *dims, struct err *err)
{
    json_t *o = json_object(), *axes = json_object(), *inputs = json_object(), *outputs = json_object(),
           *constraints = json_array();
    struct str text = {.arena = s->arena};
    const char *code;
    int64_t v;

    if (!reference(s, dims, &code, err))
        return false;
    put_tensors(s, inputs, outputs);
    for (size_t i = 0; i < s->axes.n; i++) {
        const struct axis *x = &s->axes.v[i];
        json_t *axis = json_object();
        json_put_text(axis, "type", x->fixed ? "const" : "var");
        if (x->fixed && dim_eval(x->value, dims, &v))
            json_put_int(axis, "value", v);
        json_put_text(axis, "description", x->text);
        json_put(axes, x->name, axis);
    }
    for (size_t i = 0; i < s->task->n_domain; i++) {
        str_clear(&text);
        dim_write(&text, s->task->domain[i], s->op->dims, DIM_PYTHON);
        json_array_append_new(constraints, json_string(str_text(&text)));
    }
    for (size_t i = 0; i < s->axes.n; i++)
        if (!s->axes.v[i].fixed && s->axes.v[i].derived) {
            str_clear(&text);
            str_addf(&text, "%s == ", s->axes.v[i].name);
            dim_write(&text, s->axes.v[i].value, s->op->dims, DIM_PYTHON);
            json_array_append_new(constraints, json_string(str_text(&text)));
        }
    json_put_text(o, "name", name);
    json_put_text(o, "op_type", s->op->name);
    json_put(o, "axes", axes);
    json_put(o, "inputs", inputs);
    json_put(o, "outputs", outputs);
    json_put(o, "constraints", constraints);
    json_put_text(o, "description",
                  "The reference is the original kernel, compiled with nvcc when it is first called; it is no "
                  "mathematical specification.");
    json_put_text(o, "reference", code);
    add_json(s, arena_printf(s->arena, "definitions/%s/%s.json", s->op->name, name), o);
    return true;
}

static const struct member file_members[] = {MEMBER_NAMED("path", struct export_file, name, MEMBER_TEXT),
                                             MEMBER_NAMED("content", struct export_file, text, MEMBER_TEXT),
                                             {0}};

static bool add_solution(const struct set *s, const char *name, const int64_t *dims, struct err *err)
{
    struct export_files files = {.arena = s->arena};
    json_t *o = json_object(), *list = json_array();
    struct str names = {.arena = s->arena};
    bool ok = sources(s, export_kernel(s->op->run, s->arena), &files, err);

    for (size_t i = 0; ok && i < files.list.n; i++)
        str_addf(&names, "%s\"%s\"", i ? ", " : "", files.list.v[i].name);
    export_add(
        &files, "main.py",
        program(s, "Astra's version of the kernel.",
                arena_printf(
                    s->arena,
                    "{name: open(os.path.join(os.path.dirname(__file__), name), encoding=\"utf-8\").read()\n"
                    "           for name in (%s)}",
                    str_text(&names)),
                dims));
    for (size_t i = 0; ok && i < files.list.n; i++)
        json_array_append_new(list, json_of_members(file_members, &files.list.v[i]));
    json_put_text(o, "name", arena_printf(s->arena, "astra_%s", name));
    json_put_text(o, "definition", name);
    json_put_text(o, "author", "astra");
    json_put(o, "spec",
             json_pack("{s:s, s:[s], s:s, s:[s], s:b}", "language", "python", "target_hardware", hardware(s),
                       "entry_point", "main.py::run", "dependencies", "torch", "destination_passing_style", 0));
    json_put(o, "sources", list);
    json_put_text(o, "description", description(s));
    if (ok)
        add_json(s, arena_printf(s->arena, "solutions/astra/%s/%s/astra_%s.json", s->op->name, name, name), o);
    return ok;
}

/* ---- workloads and what was measured on them ---- */

static json_t *workload(const struct set *s, size_t index)
{
    const int64_t *dims = s->task->workloads + index * s->task->n_dims;
    json_t *o = json_object(), *axes = json_object(), *inputs = json_object();
    char hex[65];
    int64_t v;

    for (size_t i = 0; i < s->axes.n; i++)
        if (!s->axes.v[i].fixed && dim_eval(s->axes.v[i].value, dims, &v))
            json_put_int(axes, s->axes.v[i].name, v);
    for (size_t i = 0; i < s->task->n_args; i++) {
        json_t *input = json_object();
        json_put_text(input, "type", op_is_number(s->op, i) ? "scalar" : "random");
        if (op_is_number(s->op, i))
            json_put_num(input, "value", s->task->args[i].value);
        if (op_is_number(s->op, i) || (op_is_tensor(s->op, i) && s->task->args[i].role != ROLE_OUT))
            json_put(inputs, s->op->args[i], input);
        else
            json_decref(input);
    }
    const char *key =
        arena_printf(s->arena, "%s %zu", json_text(s->op->run->bundle.provenance, "digest", ""), index);
    hash_sha256_hex(key, strlen(key), hex);
    json_put(o, "axes", axes);
    json_put(o, "inputs", inputs);
    json_put_text(
        o, "uuid",
        arena_printf(s->arena, "%.8s-%.4s-4%.3s-8%.3s-%.12s", hex, hex + 8, hex + 12, hex + 15, hex + 18));
    return o;
}

/* The schema wants relative and absolute errors; what is known is ulps, and NaN is how it says unknown. */
static json_t *evaluation(const struct set *s, size_t index)
{
    const struct export_run *r = s->op->run;
    const json_t *v = json_object_get(r->bundle.result, "verification"),
                 *w = json_array_get(json_object_get(r->bundle.result, "workloads"), index);
    const json_t *device = r->bundle.device;
    const char *log =
        arena_printf(s->arena, "Timed by Astra, caches %s; errors over all of its cases, in ulps: see extra.",
                     json_text(w, "regime", "?"));
    json_t *libs = json_pack("{s:s, s:s, s:s}", "astra", json_text(r->bundle.result, "astra", "?"), "nvrtc",
                             json_text(device, "nvrtc", "?"), "driver", json_text(device, "driver", "?")),
           *extra = json_object(), *performance = json_object();

    json_put_num(extra, "max_error_ulp", json_num(v, "max_error"));
    json_put_num(extra, "original_error_ulp", json_num(v, "original_error"));
    json_put_num(extra, "allowed_error_ulp", json_num(v, "allowed_error"));
    json_put_int(extra, "cases", json_int(v, "cases", 0));
    json_put_int(extra, "hidden_cases", json_int(v, "hidden", 0));
    json_put_num(performance, "latency_ms", json_num(w, "best_us") / 1000);
    json_put_num(performance, "reference_latency_ms", json_num(w, "baseline_us") / 1000);
    json_put_num(performance, "speedup_factor", json_num(w, "speedup"));
    return json_pack("{s:s, s:{s:s, s:o}, s:s, s:s, s:{s:s, s:s, s:o}, s:o}", "status", "PASSED", "environment",
                     "hardware", hardware(s), "libs", libs, "timestamp", s->timestamp, "log", log,
                     "correctness", "max_relative_error", "NaN", "max_absolute_error", "NaN", "extra", extra,
                     "performance", performance);
}

static void add_lines(const struct set *s, const char *name, const int64_t *dims, bool measured)
{
    const struct task *t = s->task;
    struct str workloads = {.arena = s->arena}, traces = workloads;

    for (size_t i = 0; i < t->n_workloads; i++) {
        json_t *o = json_object();
        if (same_group(s, t->workloads + i * t->n_dims, dims)) {
            json_put_text(o, "definition", name);
            json_put(o, "workload", workload(s, i));
            json_put(o, "solution", json_null());
            json_put(o, "evaluation", json_null());
            str_addf(&workloads, "%s\n", json_line(s->arena, o));
            json_put_text(o, "solution", arena_printf(s->arena, "astra_%s", name));
            json_put(o, "evaluation", evaluation(s, i));
            str_addf(&traces, "%s\n", json_line(s->arena, o));
        }
        json_decref(o);
    }
    export_add(s->out, arena_printf(s->arena, "workloads/%s/%s.jsonl", s->op->name, name),
               str_take(&workloads, s->arena));
    if (measured)
        export_add(s->out, arena_printf(s->arena, "traces/astra/%s/%s.jsonl", s->op->name, name),
                   str_take(&traces, s->arena));
}

static bool expressible(const struct set *s, struct err *err)
{
    bool reads = false;

    for (size_t i = 0; i < s->task->n_args; i++) {
        const struct task_arg *x = &s->task->args[i];
        if (!op_is_tensor(s->op, i) && !op_is_number(s->op, i))
            continue;
        reads |= op_is_tensor(s->op, i) && x->role != ROLE_OUT;
        if (!type_name(x->type))
            return err_input(err, "%s is of type %s, which flashinfer-bench has no word for", x->name,
                             kernel_type_name(x->type));
        if (op_is_tensor(s->op, i) && x->role != ROLE_OUT &&
            (x->values.kind == VALUE_INDEX || task_value_ordered(x->values.kind)))
            return err_input(err, "%s holds indices in a range, and flashinfer-bench's random inputs keep none",
                             x->name);
    }
    return reads || err_input(err, "no tensor is read, and flashinfer-bench takes a shape from nowhere else");
}

static bool add_groups(struct set *s, bool measured, struct err *err)
{
    const struct task *t = s->task;

    for (size_t i = 0; i < t->n_workloads; i++) {
        const int64_t *dims = t->workloads + i * t->n_dims;
        const char *name = s->op->name;
        bool is_new = true;
        for (size_t k = 0; k < i; k++)
            is_new &= !same_group(s, dims, t->workloads + k * t->n_dims);
        for (size_t d = 0; d < t->n_dims; d++)
            if (s->fixed[d])
                name = arena_printf(s->arena, "%s_%s%lld", name, s->op->dims[d], (long long)dims[d]);
        if (!is_new)
            continue;
        if (!add_definition(s, name, dims, err) || !add_solution(s, name, dims, err))
            return false;
        add_lines(s, name, dims, measured);
    }
    return true;
}

/* When the run ended, which its store knows. */
static const char *ended(const struct export_run *r, struct arena *a)
{
    struct store_run run;

    return export_stored(r, a, &run) && run.ended ? run.ended : "unknown";
}

bool make_flashinfer(const struct export_run *r, struct export_files *out, struct err *err)
{
    struct op o;
    struct set s = {.op = &o, .arena = out->arena, .out = out};
    bool measured = str_eq(json_text(r->bundle.device, "basis", ""), "measured");

    if (!op_open(&o, r, out->arena, err))
        return false;
    s.task = o.task;
    if (!expressible(&s, err))
        return false;
    s.timestamp = ended(r, out->arena);
    op_plan(&o, out->arena, false, &s.plan);
    fix_dims(&s);
    if (!measured)
        out->note = "no traces were written: the run's times are modelled, and a trace is of what was measured";
    return add_groups(&s, measured, err);
}
