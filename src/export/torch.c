/* The PyTorch extension: operators around the launcher, in C++ and, for tensors without content, in Python. Its
 * files are share/export/torch; here are the values of their slots. */
#include "op.h"

static const struct {
    const char *c, *at, *python; /* the launcher's type, ATen's, PyTorch's */
} types[] = {
    [KT_VOID] = {"void", NULL, NULL},
    [KT_BOOL] = {"bool", "at::kBool", "torch.bool"},
    [KT_I8] = {"int8_t", "at::kChar", "torch.int8"},
    [KT_U8] = {"uint8_t", "at::kByte", "torch.uint8"},
    [KT_I16] = {"int16_t", "at::kShort", "torch.int16"},
    [KT_U16] = {"uint16_t", "at::kUInt16", "torch.uint16"},
    [KT_I32] = {"int32_t", "at::kInt", "torch.int32"},
    [KT_U32] = {"uint32_t", "at::kUInt32", "torch.uint32"},
    [KT_I64] = {"int64_t", "at::kLong", "torch.int64"},
    [KT_U64] = {"uint64_t", "at::kUInt64", "torch.uint64"},
    [KT_F16] = {"__half", "at::kHalf", "torch.float16"},
    [KT_BF16] = {"__nv_bfloat16", "at::kBFloat16", "torch.bfloat16"},
    [KT_F32] = {"float", "at::kFloat", "torch.float32"},
    [KT_F64] = {"double", "at::kDouble", "torch.float64"},
};

struct gen {
    const struct op *op;
    const struct task *task;
    struct arena *arena;
    const char **cpp; /* the dims in C++ */
};

static bool writes(const struct gen *g, size_t arg)
{
    return g->task->args[arg].role == ROLE_OUT || g->task->args[arg].role == ROLE_INOUT;
}

const char *torch_package(const struct op *o, struct arena *a)
{
    const char *name = o->run->name ? o->run->name : json_text(o->run->bundle.result, "task", o->task->entry);

    return arena_printf(a, "astra_%s", op_identifier(a, name));
}

static const char *quoted(struct arena *a, const char *text)
{
    struct str s = {0};

    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\')
            str_addc(&s, '\\');
        str_addc(&s, *p < ' ' ? ' ' : *p);
    }
    return str_take(&s, a);
}

const char *torch_flags(const struct op *o, struct arena *a)
{
    struct str s = {0};

    for (size_t i = 0; i < o->task->n_flags; i++) { /* PyTorch looks for one dash */
        const char *flag = o->task->flags[i];
        str_addf(&s, "\"%s\", ", quoted(a, str_starts(flag, "--std=") ? flag + 1 : flag));
    }
    return str_take(&s, a);
}

static const char *expression(const struct gen *g, const struct dim_expr *e, const char *const *names,
                              enum dim_language language)
{
    struct str s = {0};

    dim_write(&s, e, names, language);
    return str_take(&s, g->arena);
}

/* "shape.rows, 2 * shape.d", each between the two texts. */
static const char *extents(const struct gen *g, const struct task_arg *x, const char *before,
                           const char *behind)
{
    struct str s = {0};

    for (size_t k = 0; k < x->n_shape; k++) {
        str_addf(&s, "%s%s", k ? ", " : "", before);
        dim_write(&s, x->shape[k], g->cpp, DIM_CPP);
        str_add(&s, behind);
    }
    return str_take(&s, g->arena);
}

/* What stands between the brackets of a tuple in Python. */
static const char *python_shape(const struct gen *g, const struct task_arg *x)
{
    struct str s = {0};

    for (size_t k = 0; k < x->n_shape; k++) {
        dim_write(&s, x->shape[k], g->op->dims, DIM_PYTHON);
        str_add(&s, k + 1 < x->n_shape ? ", " : "");
    }
    return arena_printf(g->arena, "%s%s", str_take(&s, g->arena), x->n_shape == 1 ? "," : "");
}

static const char *shape_words(const struct gen *g, const struct task_arg *x)
{
    struct str s = {0};

    for (size_t k = 0; k < x->n_shape; k++)
        str_addf(&s, "%s%s", k ? ", " : "", dim_text(x->shape[k]));
    return quoted(g->arena, str_take(&s, g->arena));
}

/* A tensor or scratch. */
static void put_buffer(const struct gen *g, struct fill *row, size_t i)
{
    const struct task_arg *x = &g->task->args[i];
    size_t number = 0;

    for (size_t k = 0; k < i; k++)
        number += g->task->args[k].role != ROLE_SCALAR;
    fill_put(row, "name", g->op->args[i]);
    fill_put(row, "at", types[x->type].at);
    fill_put(row, "python", types[x->type].python);
    fill_put(row, "extents", extents(g, x, "", ""));
    fill_put(row, "values", extents(g, x, "Int(", ").value"));
    fill_put(row, "shape", python_shape(g, x));
    fill_put(row, "words", shape_words(g, x));
    fill_putf(row, "rank", "%zu", x->n_shape);
    fill_putf(row, "number", "%zu", number);
    fill_putf(row, "align", "%lld", (long long)x->align_bytes);
    fill_if(row, "scratch", x->role == ROLE_SCRATCH);
    fill_if(row, "updated", x->role == ROLE_INOUT);
}

/* What the launcher takes, and how it is written there. */
static void put_argument(const struct gen *g, struct fill *row, size_t i)
{
    const struct kernel_param *p = &g->op->params[i];
    const struct task_arg *x = &g->task->args[i];
    bool half = p->type == KT_F16 || p->type == KT_BF16, given = !p->pointer && !x->value_expr;

    if (x->role != ROLE_SCALAR)
        put_buffer(g, row, i);
    fill_put(row, "name", g->op->args[i]);
    fill_put(row, "element", types[p->type].c);
    fill_putf(row, "type", "%s%s%s", p->constant ? "const " : "", types[p->type].c, p->pointer ? " *" : "");
    fill_put(row, "with", p->type == KT_F16 ? "__float2half" : "__float2bfloat16");
    fill_if(row, "buffer", p->pointer);
    fill_if(row, "constant", p->constant);
    fill_if(row, "converted", given && half);
    fill_if(row, "cast", given && !half);
    fill_if(row, "computed", !p->pointer && x->value_expr);
    if (x->value_expr) {
        fill_put(row, "value", expression(g, x->value_expr, g->cpp, DIM_CPP));
        fill_put(row, "words", quoted(g->arena, x->name));
    }
}

static struct fill *put_parameter(struct fill *f, const char *section, const char *name, const char *cpp)
{
    struct fill *row = fill_row(f, section);

    fill_put(row, "name", name);
    fill_put(row, "cpp", cpp);
    return row;
}

/* In every signature tensors come first, then dims that no tensor tells, then numbers. */
static void put_parameters(const struct gen *g, struct fill *f, const struct op_plan *p, bool makes)
{
    const struct op *o = g->op;
    struct fill *row;
    int letter = 0;

    for (size_t i = 0; i < g->task->n_args; i++) {
        if (!op_is_tensor(o, i) || (makes && g->task->args[i].role == ROLE_OUT))
            continue;
        row = put_parameter(f, "parameters", o->args[i], "const at::Tensor &");
        fill_put(row, "schema", "Tensor ");
        if (writes(g, i) && !makes)
            fill_putf(row, "schema", "Tensor(a%d!) ", letter++);
        fill_put(row, "default", "");
        put_buffer(g, fill_row(f, "given_tensors"), i);
    }
    fill_section(f, "given");
    for (size_t d = 0; d < g->task->n_dims; d++)
        if (op_is_given(p, d)) {
            row = put_parameter(f, "parameters", o->dims[d], "int64_t ");
            fill_put(row, "schema", "SymInt ");
            fill_put(row, "default", "");
            fill_put(fill_row(f, "given"), "name", o->dims[d]);
        }
    for (size_t i = 0; i < g->task->n_args; i++)
        if (op_is_number(o, i)) {
            row = put_parameter(f, "parameters", o->args[i], "double ");
            fill_put(row, "schema", "float ");
            fill_putf(row, "default", "=%s", op_number(g->arena, g->task->args[i].value));
        }
}

/* How the dims follow: the ranks of the tensors that the steps look at, then the steps. */
static void put_steps(const struct gen *g, struct fill *f, const struct op_plan *p)
{
    const struct op *o = g->op;
    size_t n_dims = g->task->n_dims;
    const char **cpp = arena_array(g->arena, const char *, n_dims + 1),
               **python = arena_array(g->arena, const char *, n_dims + 1);

    memcpy(cpp, g->cpp, n_dims * sizeof(*cpp));
    memcpy(python, o->dims, n_dims * sizeof(*python));
    fill_section(f, "ranked");
    fill_section(f, "steps");
    for (size_t i = 0; i < g->task->n_args; i++) {
        bool used = false;
        for (size_t k = 0; k < p->n_steps; k++)
            used |= p->steps[k].value && p->steps[k].arg == i;
        if (used)
            put_buffer(g, fill_row(f, "ranked"), i);
    }
    for (size_t k = 0; k < p->n_steps; k++) {
        const struct op_step *x = &p->steps[k];
        struct fill *row = fill_row(f, "steps");
        const char *name = o->args[x->arg];
        cpp[n_dims] = arena_printf(g->arena, "Int(%s.size(%zu))", name, x->axis);
        python[n_dims] = arena_printf(g->arena, "%s.size(%zu)", name, x->axis);
        fill_put(row, "dim", o->dims[x->dim]);
        fill_put(row, "cpp", x->value ? expression(g, x->value, cpp, DIM_CPP) : o->dims[x->dim]);
        fill_if(row, "told", x->value);
        if (x->value)
            fill_put(row, "python", expression(g, x->value, python, DIM_PYTHON));
    }
}

/* The operator that writes in place, or the one that makes what is written: outputs without content, what is
 * updated as a copy. */
static void put_operator(const struct gen *g, struct fill *f, bool makes)
{
    struct op_plan plan;
    size_t n = 0;

    op_plan(g->op, g->arena, !makes, &plan);
    fill_put(f, "suffix", makes ? "" : "_into");
    fill_put(f, "function", makes ? "functional" : "into");
    fill_put(f, "key", makes ? "new" : "into");
    fill_if(f, "makes", makes);
    put_parameters(g, f, &plan, makes);
    put_steps(g, f, &plan);
    for (int numbers = 0; numbers < 2; numbers++)
        for (size_t i = 0; i < g->task->n_args; i++)
            if (numbers ? op_is_number(g->op, i) : op_is_tensor(g->op, i)) {
                struct fill *row = fill_row(f, "handed");
                fill_put(row, "name", g->op->args[i]);
                if (makes && writes(g, i))
                    fill_putf(row, "name", "made[%zu]", n++);
            }
    fill_put(f, "schema", fill_file(f, "export/torch/schema.txt"));
}

static void put_tensors(const struct gen *g, struct fill *f)
{
    const struct op *o = g->op;
    const struct task *t = g->task;
    size_t n_written = 0;

    fill_section(f, "pairs");
    fill_section(f, "numbers");
    for (size_t i = 0; i < t->n_args; i++) {
        put_argument(g, fill_row(f, "args"), i);
        if (t->args[i].role != ROLE_SCALAR)
            put_buffer(g, fill_row(f, "buffers"), i);
        if (writes(g, i)) {
            struct fill *row = fill_row(f, "written");
            put_buffer(g, row, i);
            torch_test_error(o, row, i);
            n_written++;
        }
        if (op_is_tensor(o, i)) {
            struct fill *row = fill_row(f, "tensors");
            put_buffer(g, row, i);
            torch_test_content(o, row, i);
            put_parameter(f, "operands", o->args[i], "const at::Tensor &");
        }
        for (size_t k = i + 1; k < t->n_args; k++)
            if (op_is_tensor(o, i) && op_is_tensor(o, k) && (writes(g, i) || writes(g, k))) {
                struct fill *row = fill_row(f, "pairs");
                fill_put(row, "a", o->args[i]);
                fill_put(row, "b", o->args[k]);
            }
    }
    for (size_t i = 0; i < t->n_args; i++)
        if (op_is_number(o, i)) {
            struct fill *row = fill_row(f, "numbers");
            fill_put(row, "name", o->args[i]);
            fill_put(row, "value", op_number(g->arena, t->args[i].value));
            fill_put(row, "values", op_numbers(g->arena, &t->args[i]));
            put_parameter(f, "operands", o->args[i], "double ");
        }
    fill_putf(f, "n_written", "%zu", n_written);
    fill_if(f, "single", n_written == 1);
}

/* A tensor that tells the device: one that both operators have, where there are both. */
static const char *first_tensor(const struct op *o, bool has_functional)
{
    for (size_t i = 0; i < o->task->n_args; i++)
        if (op_is_tensor(o, i) && (!has_functional || o->task->args[i].role != ROLE_OUT))
            return o->args[i];
    return NULL;
}

static struct fill *slots(const struct op *o, struct arena *a)
{
    const struct task *t = o->task;
    struct gen g = {o, t, a, arena_array(a, const char *, t->n_dims)};
    struct fill *f = fill_open(a);
    bool has_functional = false; /* some tensor is read: else there is none to take the device from */
    int cc = (int)json_int(o->run->bundle.device, "compute_capability", 90);

    for (size_t i = 0; i < t->n_args; i++)
        has_functional |= op_is_tensor(o, i) && t->args[i].role != ROLE_OUT;
    fill_put(f, "package", torch_package(o, a));
    fill_put(f, "op", o->name);
    fill_put(f, "entry", t->entry);
    fill_put(f, "first", first_tensor(o, has_functional));
    fill_put(f, "flags", torch_flags(o, a));
    fill_putf(f, "arch", "%d.%d+PTX", cc / 10, cc % 10);
    fill_if(f, "returns", o->returns);
    fill_if(f, "functional", has_functional);
    for (size_t d = 0; d < t->n_dims; d++) {
        g.cpp[d] = arena_printf(a, "shape.%s", o->dims[d]);
        fill_put(fill_row(f, "dims"), "name", o->dims[d]);
    }
    fill_section(f, "domain");
    for (size_t i = 0; i < t->n_domain; i++) {
        struct fill *row = fill_row(f, "domain");
        fill_put(row, "holds", expression(&g, t->domain[i], g.cpp, DIM_CPP));
        fill_put(row, "words", quoted(a, dim_text(t->domain[i])));
    }
    put_tensors(&g, f);
    put_operator(&g, fill_row(f, "operators"), false);
    if (has_functional)
        put_operator(&g, fill_row(f, "operators"), true);
    return f;
}

static const char *filled(const struct fill *f, struct arena *a, const char *file)
{
    return arena_printf(a, "%s\n", fill_file(f, arena_printf(a, "export/torch/%s", file)));
}

static const char *binding(const struct fill *f, struct arena *a)
{
    const char *text = filled(f, a, "binding.cpp"), *neat = export_formatted(a, text);

    return neat ? neat : text;
}

const char *torch_binding(const struct op *o, struct arena *a)
{
    return binding(slots(o, a), a);
}

bool make_torch(const struct export_run *r, struct export_files *out, struct err *err)
{
    struct arena *a = out->arena;
    struct facts facts;
    struct fill *f;
    struct op o;

    if (!op_open(&o, r, a, err))
        return false;
    f = slots(&o, a);
    facts_read(&facts, r, a);
    fill_put(f, "title", facts.title);
    fill_put(f, "quoted_title", quoted(a, facts.title));
    for (size_t i = 0; i < facts.list.n; i++)
        fill_putf(fill_row(f, "facts"), "fact", "%-9s %s", facts.list.v[i].name, facts.list.v[i].text);
    torch_test_shapes(&o, f, a);
    export_add(out, "README.md", filled(f, a, "README.md"));
    export_add(out, "pyproject.toml", share_text("export/torch/pyproject.toml"));
    export_add(out, "setup.py", filled(f, a, "setup.py"));
    export_add(out, arena_printf(a, "%s/__init__.py", torch_package(&o, a)), filled(f, a, "__init__.py"));
    export_add(out, "csrc/kernel.cu", export_kernel(r, a));
    export_add(out, "csrc/binding.cpp", binding(f, a));
    export_add(out, "csrc/check.h", share_text("export/torch/check.h"));
    export_add(out, "test/original.cu", r->bundle.original);
    export_add(out, "test/original_binding.cpp", filled(f, a, "original_binding.cpp"));
    export_add(out, "test/test_op.py", filled(f, a, "test.py"));
    return export_headers(r, "csrc", out, err);
}
