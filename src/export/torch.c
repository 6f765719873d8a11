/* The PyTorch extension: operators around the launcher, in C++ and, for tensors without content, in Python. */
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

const char *torch_type(enum kernel_type t)
{
    return types[t].python;
}

struct gen {
    const struct op *op;
    const struct task *task;
    struct arena *arena;
    const char *package; /* and the namespace of its operators */
    struct op_plan into, functional;
    bool has_functional; /* some tensor is read: else there is none to take the device from */
    const char **cpp;    /* the dims in C++ */
    size_t first;        /* the first tensor */
    size_t n_written;
};

static const char *keep(struct arena *a, struct str *s)
{
    const char *text = arena_strdup(a, str_text(s));

    str_free(s);
    return text;
}

static void comma(struct str *s)
{
    if (s->len)
        str_add(s, ", ");
}

static bool writes(const struct gen *g, size_t arg)
{
    return g->task->args[arg].role == ROLE_OUT || g->task->args[arg].role == ROLE_INOUT;
}

const char *torch_package(const struct op *o, struct arena *a)
{
    const char *name = o->run->name ? o->run->name : json_text(o->run->kept.result, "task", o->task->entry);

    return arena_printf(a, "astra_%s", op_identifier(a, name));
}

static void gen_open(struct gen *g, const struct op *o, struct arena *a)
{
    const struct task *t = o->task;

    *g = (struct gen){.op = o,
                      .task = t,
                      .arena = a,
                      .package = torch_package(o, a),
                      .first = t->n_args,
                      .cpp = arena_array(a, const char *, t->n_dims)};
    for (size_t d = 0; d < t->n_dims; d++)
        g->cpp[d] = arena_printf(a, "shape.%s", o->dims[d]);
    for (size_t i = t->n_args; i-- > 0;) {
        g->n_written += writes(g, i);
        g->has_functional |= op_is_tensor(o, i) && t->args[i].role != ROLE_OUT;
    }
    for (size_t i = 0; i < t->n_args; i++) /* one that both operators have, where there are both */
        if (op_is_tensor(o, i) && (!g->has_functional || t->args[i].role != ROLE_OUT) && g->first == t->n_args)
            g->first = i;
    op_plan(o, a, true, &g->into);
    op_plan(o, a, false, &g->functional);
}

static bool is_given(const struct op_plan *p, size_t dim)
{
    for (size_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].dim == dim)
            return p->steps[i].value == NULL;
    return false;
}

/* In every signature tensors come first, then dims that no tensor tells, then numbers. */
enum form { FORM_CPP, FORM_SCHEMA, FORM_PYTHON, FORM_NAMES, FORM_SHAPED };

static const char *parameters(const struct gen *g, const struct op_plan *p, bool functional, enum form form)
{
    const struct op *o = g->op;
    struct str s = {0};
    int letter = 0;

    if (form == FORM_SHAPED)
        str_add(&s, "const Shape &shape");
    for (size_t i = 0; i < g->task->n_args; i++) {
        if (!op_is_tensor(o, i) || (functional && g->task->args[i].role == ROLE_OUT))
            continue;
        comma(&s);
        if (form == FORM_CPP || form == FORM_SHAPED)
            str_add(&s, "const at::Tensor &");
        else if (form == FORM_SCHEMA && writes(g, i) && !functional)
            str_addf(&s, "Tensor(a%d!) ", letter++);
        else if (form == FORM_SCHEMA)
            str_add(&s, "Tensor ");
        str_add(&s, o->args[i]);
    }
    for (size_t d = 0; d < g->task->n_dims && form != FORM_SHAPED; d++)
        if (is_given(p, d)) {
            comma(&s);
            str_addf(&s, "%s%s",
                     form == FORM_CPP      ? "int64_t "
                     : form == FORM_SCHEMA ? "SymInt "
                                           : "",
                     o->dims[d]);
        }
    for (size_t i = 0; i < g->task->n_args; i++)
        if (op_is_number(o, i)) {
            const char *value = op_number(g->arena, g->task->args[i].value);
            comma(&s);
            str_addf(&s, "%s%s",
                     form == FORM_CPP || form == FORM_SHAPED ? "double "
                     : form == FORM_SCHEMA                   ? "float "
                                                             : "",
                     o->args[i]);
            if (form == FORM_SCHEMA || form == FORM_PYTHON)
                str_addf(&s, "=%s", value);
        }
    return keep(g->arena, &s);
}

static const char *schema(const struct gen *g, bool functional)
{
    struct str s = {0};

    str_addf(&s, "%s%s(%s) -> ", g->op->name, functional ? "" : "_into",
             parameters(g, functional ? &g->functional : &g->into, functional, FORM_SCHEMA));
    if (!functional || g->n_written != 1)
        str_addc(&s, '(');
    for (size_t i = 0, n = 0; functional && i < g->task->n_args; i++)
        if (writes(g, i))
            str_addf(&s, "%sTensor", n++ ? ", " : "");
    if (!functional || g->n_written != 1)
        str_addc(&s, ')');
    return keep(g->arena, &s);
}

/* "s.rows, Int(2) * s.d"; `member`: what stands behind each in C++ */
static const char *extents(const struct gen *g, const struct task_arg *x, enum dim_language language,
                           const char *member)
{
    struct str s = {0};

    for (size_t k = 0; k < x->n_shape; k++) {
        comma(&s);
        if (member)
            str_add(&s, "Int(");
        dim_write(&s, x->shape[k], language == DIM_CPP ? g->cpp : g->op->dims, language);
        if (member)
            str_addf(&s, ")%s", member);
    }
    if (language == DIM_PYTHON && x->n_shape == 1)
        str_addc(&s, ',');
    return keep(g->arena, &s);
}

static const char *shape_words(const struct gen *g, const struct task_arg *x)
{
    struct str s = {0};

    for (size_t k = 0; k < x->n_shape; k++)
        str_addf(&s, "%s%s", k ? ", " : "", dim_text(x->shape[k]));
    return keep(g->arena, &s);
}

static const char *declaration(const struct gen *g)
{
    struct str s = {0};

    for (size_t i = 0; i < g->task->n_args; i++) {
        const struct kernel_param *p = &g->op->params[i];
        str_addf(&s, "%s%s%s, ", p->constant ? "const " : "", types[p->type].c, p->pointer ? " *" : "");
    }
    return arena_printf(g->arena, "extern \"C\" %s %s(%scudaStream_t);", g->op->returns ? "int" : "void",
                        g->task->entry, keep(g->arena, &s));
}

static const char *quoted(struct arena *a, const char *text)
{
    struct str s = {0};

    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\')
            str_addc(&s, '\\');
        str_addc(&s, *p < ' ' ? ' ' : *p);
    }
    return keep(a, &s);
}

static const char *domain(const struct gen *g)
{
    struct str s = {0};

    for (size_t i = 0; i < g->task->n_domain; i++) {
        str_addf(&s, "%s    check_holds(", i ? "\n" : "");
        dim_write(&s, g->task->domain[i], g->cpp, DIM_CPP);
        str_addf(&s, ", \"%s\");", quoted(g->arena, dim_text(g->task->domain[i])));
    }
    if (!s.len)
        str_add(&s, "    (void)shape;");
    return keep(g->arena, &s);
}

/* The ranks of the tensors that the steps look at, then the steps. */
static void add_inference(const struct gen *g, const struct op_plan *p, struct str *to)
{
    const char **names = arena_array(g->arena, const char *, g->task->n_dims + 1);

    memcpy(names, g->cpp, g->task->n_dims * sizeof(*names));
    str_add(to, "    const at::AutoDispatchBelowADInplaceOrView no_gradient;\n    Shape shape;\n\n");
    for (size_t i = 0; i < g->task->n_args; i++)
        for (size_t k = 0; k < p->n_steps; k++)
            if (p->steps[k].value && p->steps[k].arg == i) {
                str_addf(to, "    check_rank(\"%s\", %s, %zu);\n", g->op->args[i], g->op->args[i],
                         g->task->args[i].n_shape);
                break;
            }
    for (size_t k = 0; k < p->n_steps; k++) {
        const struct op_step *x = &p->steps[k];
        str_addf(to, "    %s = ", g->cpp[x->dim]);
        names[g->task->n_dims] = arena_printf(g->arena, "Int(%s.size(%zu))", g->op->args[x->arg], x->axis);
        if (x->value)
            dim_write(to, x->value, names, DIM_CPP);
        else
            str_add(to, g->op->dims[x->dim]);
        str_add(to, ";\n");
    }
}

static void add_checks(const struct gen *g, struct str *to)
{
    const struct op *o = g->op;
    const struct task *t = g->task;

    str_addf(to, "    const c10::Device device = %s.device();\n\n    check_domain(shape);\n",
             o->args[g->first]);
    for (size_t i = 0; i < t->n_args; i++)
        if (op_is_tensor(o, i))
            str_addf(to, "    check_tensor(\"%s\", %s, device, %s, {%s}, \"[%s]\");\n", o->args[i], o->args[i],
                     types[t->args[i].type].at, extents(g, &t->args[i], DIM_CPP, NULL),
                     quoted(g->arena, shape_words(g, &t->args[i])));
    for (size_t i = 0; i < t->n_args; i++)
        for (size_t k = i + 1; k < t->n_args; k++)
            if (op_is_tensor(o, i) && op_is_tensor(o, k) && (writes(g, i) || writes(g, k)))
                str_addf(to, "    check_apart(\"%s\", %s, \"%s\", %s);\n", o->args[i], o->args[i], o->args[k],
                         o->args[k]);
    for (size_t i = 0; i < t->n_args; i++)
        if (op_is_number(o, i))
            str_addf(to, "    check_number(%s, {%s}, \"%s\");\n", o->args[i], op_numbers(g->arena, &t->args[i]),
                     o->args[i]);
}

static size_t nth_buffer(const struct gen *g, size_t arg)
{
    size_t n = 0;

    for (size_t i = 0; i < arg; i++)
        n += g->task->args[i].role != ROLE_SCALAR;
    return n;
}

/* Every buffer where the version was verified to find it. */
static void add_placed(const struct gen *g, struct str *to)
{
    const struct op *o = g->op;

    str_add(to, "    const Placed placed[] = {");
    for (size_t i = 0; i < g->task->n_args; i++) {
        const struct task_arg *x = &g->task->args[i];
        if (x->role == ROLE_SCALAR)
            continue;
        str_addf(to, "%s{\"%s\", ", nth_buffer(g, i) ? ", " : "", o->args[i]);
        if (x->role == ROLE_SCRATCH)
            str_addf(to, "room({%s}, %s.options().dtype(%s), %lld)", extents(g, x, DIM_CPP, ".value"),
                     o->args[g->first], types[x->type].at, (long long)x->align_bytes);
        else
            str_add(to, o->args[i]);
        str_addf(to, ", %lld}", (long long)x->align_bytes);
    }
    str_add(to, "};\n");
}

static void add_value(const struct gen *g, size_t i, struct str *to)
{
    const struct kernel_param *p = &g->op->params[i];
    const struct task_arg *x = &g->task->args[i];
    const char *name = g->op->args[i], *type = types[p->type].c;

    if (p->pointer)
        str_addf(to, "placed[%zu].%s<%s>()", nth_buffer(g, i), p->constant ? "read" : "written", type);
    else if (!x->value_expr && (p->type == KT_F16 || p->type == KT_BF16))
        str_addf(to, "%s(static_cast<float>(%s))", p->type == KT_F16 ? "__float2half" : "__float2bfloat16",
                 name);
    else if (!x->value_expr)
        str_addf(to, "static_cast<%s>(%s)", type, name);
    else {
        str_addf(to, "fit<%s>(", type);
        dim_write(to, x->value_expr, g->cpp, DIM_CPP);
        str_addf(to, ", \"%s\")", quoted(g->arena, x->name));
    }
}

static const char *launch_body(const struct gen *g)
{
    const struct op *o = g->op;
    struct str s = {0};

    add_checks(g, &s);
    str_add(&s, "\n    const c10::cuda::CUDAGuard guard(device);\n"
                "    const cudaStream_t stream = c10::cuda::getCurrentCUDAStream().stream();\n");
    add_placed(g, &s);
    str_addf(&s, "    %s::%s(", o->returns ? "const int status = " : "", g->task->entry);
    for (size_t i = 0; i < g->task->n_args; i++) {
        add_value(g, i, &s);
        str_add(&s, ", ");
    }
    str_add(&s, "stream);\n");
    if (o->returns)
        str_add(&s,
                "    TORCH_CHECK(status == 0, said(\"the launcher returned \", std::to_string(status)));\n");
    str_add(&s, "    C10_CUDA_KERNEL_LAUNCH_CHECK();");
    for (size_t i = 0; i < g->task->n_args; i++)
        if (writes(g, i))
            str_addf(&s, "\n    placed[%zu].write_back();", nth_buffer(g, i));
    return keep(g->arena, &s);
}

static const char *into_body(const struct gen *g)
{
    struct str s = {0};

    add_inference(g, &g->into, &s);
    str_add(&s, "    launch(shape");
    for (size_t i = 0; i < g->task->n_args; i++)
        if (op_is_tensor(g->op, i))
            str_addf(&s, ", %s", g->op->args[i]);
    for (size_t i = 0; i < g->task->n_args; i++)
        if (op_is_number(g->op, i))
            str_addf(&s, ", %s", g->op->args[i]);
    str_add(&s, ");");
    return keep(g->arena, &s);
}

/* What is written is made new: outputs without content, what is updated as a copy. */
static const char *functional(const struct gen *g)
{
    const struct op *o = g->op;
    struct str s = {0};
    size_t n = 0;

    if (!g->has_functional)
        return "";
    if (g->n_written == 1)
        str_add(&s, "at::Tensor");
    for (size_t i = 0; g->n_written != 1 && i < g->n_written; i++)
        str_addf(&s, "%sat::Tensor%s", i ? ", " : "std::tuple<", i + 1 == g->n_written ? ">" : "");
    str_addf(&s, " functional(%s)\n{\n", parameters(g, &g->functional, true, FORM_CPP));
    add_inference(g, &g->functional, &s);
    str_addf(&s, "    check_domain(shape);\n    at::Tensor made[%zu];\n", g->n_written);
    for (size_t i = 0; i < g->task->n_args; i++) {
        const struct task_arg *x = &g->task->args[i];
        if (x->role == ROLE_INOUT)
            str_addf(&s, "    made[%zu] = %s.clone(at::MemoryFormat::Contiguous);\n", n++, o->args[i]);
        else if (x->role == ROLE_OUT)
            str_addf(&s, "    made[%zu] = at::empty({%s}, %s.options().dtype(%s));\n", n++,
                     extents(g, x, DIM_CPP, ".value"), o->args[g->first], types[x->type].at);
    }
    str_add(&s, "    launch(shape");
    n = 0;
    for (size_t i = 0; i < g->task->n_args; i++)
        if (op_is_tensor(o, i))
            str_add(&s, writes(g, i) ? arena_printf(g->arena, ", made[%zu]", n++)
                                     : arena_printf(g->arena, ", %s", o->args[i]));
    for (size_t i = 0; i < g->task->n_args; i++)
        if (op_is_number(o, i))
            str_addf(&s, ", %s", o->args[i]);
    str_add(&s, g->n_written == 1 ? ");\n    return made[0]" : ");\n    return {");
    for (size_t i = 0; g->n_written != 1 && i < g->n_written; i++)
        str_addf(&s, "%smade[%zu]%s", i ? ", " : "", i, i + 1 == g->n_written ? "}" : "");
    str_add(&s, ";\n}\n");
    return keep(g->arena, &s);
}

static const char *binding(const struct gen *g)
{
    const char *name = g->op->name;
    struct str members = {0};

    for (size_t d = 0; d < g->task->n_dims; d++)
        str_addf(&members, "%s%s", d ? ", " : "", g->op->dims[d]);
    const struct fill_slot slots[] = {
        {"op", name},
        {"namespace", g->package},
        {"declaration", declaration(g)},
        {"members", keep(g->arena, &members)},
        {"domain", domain(g)},
        {"launch_parameters", parameters(g, &g->into, false, FORM_SHAPED)},
        {"launch_body", launch_body(g)},
        {"into_parameters", parameters(g, &g->into, false, FORM_CPP)},
        {"into_body", into_body(g)},
        {"functional", functional(g)},
        {"schemas",
         arena_printf(g->arena, "    m.def(\"%s\");%s", schema(g, false),
                      g->has_functional ? arena_printf(g->arena, "\n    m.def(\"%s\");", schema(g, true))
                                        : "")},
        {"implementations",
         arena_printf(g->arena, "    m.impl(\"%s_into\", &astra_op::into);%s", name,
                      g->has_functional
                          ? arena_printf(g->arena, "\n    m.impl(\"%s\", &astra_op::functional);", name)
                          : "")},
    };
    const char *text = arena_printf(g->arena, "%s\n",
                                    fill_share(g->arena, "export/torch/binding.cpp", slots, ARRAY_LEN(slots)));
    const char *neat = export_formatted(g->arena, text);
    return neat ? neat : text;
}

/* ---- Python ---- */

static void add_fake(const struct gen *g, bool is_functional, struct str *to)
{
    const struct op *o = g->op;
    const struct op_plan *p = is_functional ? &g->functional : &g->into;
    const char **names = arena_array(g->arena, const char *, g->task->n_dims + 1);
    size_t n = 0;

    memcpy(names, o->dims, g->task->n_dims * sizeof(*names));
    str_addf(to, "@library.register_fake(\"%s::%s%s\")\ndef _(%s):\n", g->package, o->name,
             is_functional ? "" : "_into", parameters(g, p, is_functional, FORM_PYTHON));
    for (size_t k = 0; k < p->n_steps; k++) {
        const struct op_step *x = &p->steps[k];
        if (!x->value)
            continue;
        names[g->task->n_dims] = arena_printf(g->arena, "%s.size(%zu)", o->args[x->arg], x->axis);
        str_addf(to, "    %s = ", o->dims[x->dim]);
        dim_write(to, x->value, names, DIM_PYTHON);
        str_addc(to, '\n');
    }
    for (size_t i = 0; i < g->task->n_args; i++)
        if (op_is_tensor(o, i) && (!is_functional || g->task->args[i].role != ROLE_OUT))
            str_addf(to, "    _check(\"%s\", %s, %s, (%s))\n", o->args[i], o->args[i],
                     types[g->task->args[i].type].python, extents(g, &g->task->args[i], DIM_PYTHON, NULL));
    if (!is_functional)
        return;
    str_add(to, "    return ");
    for (size_t i = 0; i < g->task->n_args; i++)
        if (writes(g, i))
            str_addf(to, "%s%s.new_empty((%s), dtype=%s)", n++ ? ", " : "", o->args[g->first],
                     extents(g, &g->task->args[i], DIM_PYTHON, NULL), types[g->task->args[i].type].python);
    str_addc(to, '\n');
}

static const char *package_init(const struct gen *g, const char *title)
{
    const char *name = g->op->name, *package = g->package;
    struct str fakes = {0};

    add_fake(g, false, &fakes);
    if (g->has_functional) {
        str_add(&fakes, "\n\n");
        add_fake(g, true, &fakes);
    }
    const struct fill_slot slots[] = {
        {"title", quoted(g->arena, title)},
        {"op", name},
        {"and_into",
         g->has_functional ? arena_printf(g->arena, " and torch.ops.%s.%s_into", package, name) : "_into"},
        {"signatures", arena_printf(g->arena, "%s%s%s", schema(g, false), g->has_functional ? "\n" : "",
                                    g->has_functional ? schema(g, true) : "")},
        {"package", package},
        {"fakes", str_text(&fakes)},
        {"exports",
         arena_printf(g->arena, "%s_into = torch.ops.%s.%s_into%s", name, package, name,
                      g->has_functional ? arena_printf(g->arena, "\n%s = torch.ops.%s.%s", name, package, name)
                                        : "")},
    };
    char *text = arena_printf(g->arena, "%s\n",
                              fill_share(g->arena, "export/torch/__init__.py", slots, ARRAY_LEN(slots)));
    str_free(&fakes);
    return text;
}

const char *torch_flags(const struct op *o, struct arena *a)
{
    struct str s = {0};

    for (size_t i = 0; i < o->task->n_flags; i++) { /* PyTorch looks for one dash */
        const char *flag = o->task->flags[i];
        str_addf(&s, "\"%s\", ", quoted(a, str_starts(flag, "--std=") ? flag + 1 : flag));
    }
    return keep(a, &s);
}

static const char *readme(const struct gen *g, const struct facts *f)
{
    struct str s = {0};

    for (size_t i = 0; i < f->list.n; i++)
        str_addf(&s, "%s    %-9s %s", i ? "\n" : "", f->list.v[i].name, f->list.v[i].text);
    const struct fill_slot slots[] = {
        {"package", g->package},
        {"title", f->title},
        {"op", g->op->name},
        {"flags", torch_flags(g->op, g->arena)},
        {"signature_lines",
         arena_printf(g->arena, "%s%s%s", schema(g, false), g->has_functional ? "\n    " : "",
                      g->has_functional ? schema(g, true) : "")},
        {"functional_words", g->has_functional ? ", the second makes them new" : ""},
        {"into_call", parameters(g, &g->into, false, FORM_NAMES)},
        {"facts", str_text(&s)},
    };
    char *text =
        arena_printf(g->arena, "%s\n", fill_share(g->arena, "export/torch/README.md", slots, ARRAY_LEN(slots)));
    str_free(&s);
    return text;
}

/* The architecture of the device that the run was for. */
static const char *arch(const struct gen *g)
{
    int cc = (int)json_int(g->op->run->kept.device, "compute_capability", 90);

    return arena_printf(g->arena, "%d.%d+PTX", cc / 10, cc % 10);
}

static const char *setup(const struct gen *g)
{
    const struct fill_slot slots[] = {
        {"package", g->package}, {"flags", torch_flags(g->op, g->arena)}, {"arch", arch(g)}};

    return arena_printf(g->arena, "%s\n",
                        fill_share(g->arena, "export/torch/setup.py", slots, ARRAY_LEN(slots)));
}

const char *torch_binding(const struct op *o, struct arena *a)
{
    struct gen g;

    gen_open(&g, o, a);
    return binding(&g);
}

bool make_torch(const struct export_run *r, struct export_files *out, struct err *err)
{
    struct arena *a = out->arena;
    struct facts f;
    struct op o;
    struct gen g;

    if (!op_open(&o, r, a, err))
        return false;
    gen_open(&g, &o, a);
    facts_read(&f, r, a);
    export_add(out, "README.md", readme(&g, &f));
    export_add(out, "pyproject.toml", share_text("export/torch/pyproject.toml"));
    export_add(out, "setup.py", setup(&g));
    export_add(out, arena_printf(a, "%s/__init__.py", g.package), package_init(&g, f.title));
    export_add(out, "csrc/kernel.cu", export_kernel(r, a));
    export_add(out, "csrc/binding.cpp", binding(&g));
    export_add(out, "csrc/check.h", share_text("export/torch/check.h"));
    export_add(out, "test/original.cu", r->kept.original);
    export_add(out, "test/original_binding.cpp",
               arena_printf(a, "%s\n",
                            fill_share(a, "export/torch/original_binding.cpp",
                                       (const struct fill_slot[]){{"package", g.package}}, 1)));
    export_add(out, "test/test_op.py", torch_test(&o, &g.into, g.has_functional ? &g.functional : NULL, a));
    facts_free(&f);
    return export_headers(r, "csrc", out, err);
}
