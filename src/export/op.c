/* The launcher as an operator: its names in other languages, and how its dims follow from the tensors' shapes.
 */
#include "op.h"

#include <ctype.h>

/* Words of C++, Python or TorchScript's schemas, and those that the generated code uses itself. */
static const char *const taken[] = {
    "False",    "None",      "True",     "alignas",  "alignof",  "and",       "as",       "asm",
    "assert",   "async",     "at",       "auto",     "await",    "bool",      "break",    "c10",
    "case",     "catch",     "char",     "class",    "const",    "constexpr", "continue", "decltype",
    "def",      "default",   "del",      "delete",   "do",       "double",    "elif",     "else",
    "enum",     "except",    "explicit", "export",   "device",   "extern",    "finally",  "fit",
    "float",    "for",       "friend",   "from",     "global",   "goto",      "guard",    "if",
    "import",   "in",        "inline",   "int",      "is",       "lambda",    "launch",   "library",
    "long",     "made",      "max",      "min",      "mutable",  "namespace", "new",      "no_gradient",
    "noexcept", "nonlocal",  "not",      "nullptr",  "operator", "or",        "pass",     "placed",
    "private",  "protected", "public",   "raise",    "register", "return",    "room",     "s",
    "shape",    "self",      "short",    "signed",   "sizeof",   "static",    "status",   "std",
    "stream",   "struct",    "switch",   "template", "this",     "throw",     "torch",    "try",
    "typedef",  "typename",  "union",    "unsigned", "using",    "virtual",   "void",     "volatile",
    "while",    "with",      "xor",      "yield",
};

static bool is_taken(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(taken); i++)
        if (str_eq(taken[i], name))
            return true;
    return false;
}

char *op_identifier(struct arena *a, const char *text)
{
    char *name = arena_printf(a, "%s%s", isdigit((unsigned char)text[0]) || !text[0] ? "_" : "", text);

    for (char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) || (unsigned char)*p >= 0x80)
            *p = '_';
    return is_taken(name) ? arena_printf(a, "%s_", name) : name;
}

/* An identifier that none of the n before it is, NULL among them aside. */
static const char *own_name(struct arena *a, const char *text, const char *const *before, size_t n)
{
    const char *name = op_identifier(a, text);

    for (size_t i = 0; i < n; i++)
        if (str_eq(before[i], name)) {
            name = arena_printf(a, "%s_", name);
            i = (size_t)-1;
        }
    return name;
}

bool op_is_tensor(const struct op *o, size_t arg)
{
    return o->task->args[arg].role != ROLE_SCALAR && o->task->args[arg].role != ROLE_SCRATCH;
}

bool op_is_number(const struct op *o, size_t arg)
{
    return o->task->args[arg].role == ROLE_SCALAR && !o->task->args[arg].value_expr;
}

static bool is_known(const struct op_plan *p, size_t dim)
{
    for (size_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].dim == dim)
            return true;
    return false;
}

bool op_is_given(const struct op_plan *p, size_t dim)
{
    for (size_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].dim == dim)
            return p->steps[i].value == NULL;
    return false;
}

/* The extent in which `dim` is the only one that is not known yet. */
static bool find_step(const struct op *o, struct arena *a, const struct op_plan *p, size_t dim, bool outputs,
                      struct op_step *step)
{
    const struct task *t = o->task;

    for (size_t i = 0; i < t->n_args; i++) {
        const struct task_arg *x = &t->args[i];
        if (!op_is_tensor(o, i) || (x->role == ROLE_OUT) != outputs)
            continue;
        for (size_t k = 0; k < x->n_shape; k++) {
            bool alone = dim_uses(x->shape[k], dim);
            for (size_t other = 0; other < t->n_dims; other++)
                alone &= other == dim || !dim_uses(x->shape[k], other) || is_known(p, other);
            *step = (struct op_step){dim, i, k, alone ? dim_invert(a, x->shape[k], dim, t->n_dims) : NULL};
            if (step->value)
                return true;
        }
    }
    return false;
}

void op_plan(const struct op *o, struct arena *a, bool with_outputs, struct op_plan *p)
{
    const struct task *t = o->task;

    *p = (struct op_plan){.steps = arena_array(a, struct op_step, t->n_dims)};
    while (p->n_steps < t->n_dims) {
        struct op_step step = {0};
        bool found = false;
        for (int outputs = 0; !found && outputs <= with_outputs; outputs++)
            for (size_t d = 0; !found && d < t->n_dims; d++)
                found = !is_known(p, d) && find_step(o, a, p, d, outputs, &step);
        if (!found) { /* no shape says what it is: the caller must */
            step = (struct op_step){0};
            while (is_known(p, step.dim))
                step.dim++;
        }
        p->steps[p->n_steps++] = step;
    }
}

bool op_open(struct op *o, const struct export_run *r, struct arena *a, struct err *err)
{
    const struct task *t = r->bundle.task;
    const char **names = arena_array(a, const char *, t->n_args + t->n_dims);
    struct kernel *k = NULL;

    *o = (struct op){
        .run = r, .task = t, .name = op_identifier(a, t->entry), .args = names, .dims = names + t->n_args};
    for (size_t i = 0; i < t->n_args; i++) /* what is computed is in no signature and needs no name */
        if (t->args[i].role != ROLE_SCALAR || op_is_number(o, i))
            names[i] = own_name(a, t->args[i].name, names, i);
    for (size_t i = t->n_args; i < t->n_args + t->n_dims; i++)
        names[i] = own_name(a, t->dims[i - t->n_args], names, i);
    if (!task_kernel_open(&k, a, t, "best.cu", r->bundle.judged, err) || !task_match(t, k, err)) {
        kernel_close(k);
        return false;
    }
    o->params = k->params; /* in the arena, as all of it but the tree */
    o->returns = !str_eq(node_text(a, k->source, node_field(k->launcher, FIELD_TYPE)), "void");
    kernel_close(k);
    for (size_t i = 0; i < t->n_args; i++)
        for (size_t c = 0; op_is_number(o, i) && c < MAX(t->args[i].n_choices, (size_t)1); c++) {
            double v = c ? t->args[i].choices[c] : t->args[i].value;
            if (!isfinite(v))
                return err_input(err, "%s is %g: only finite numbers are handed to an operator",
                                 t->args[i].name, v);
        }
    return true;
}

const char *op_number(struct arena *a, double v)
{
    char text[40];

    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    return arena_printf(a, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

const char *op_numbers(struct arena *a, const struct task_arg *arg)
{
    const char *text = op_number(a, arg->value);

    for (size_t i = 1; i < arg->n_choices; i++)
        text = arena_printf(a, "%s, %s", text, op_number(a, arg->choices[i]));
    return text;
}
