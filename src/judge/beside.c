/* The original as a product that a library computes. cuBLAS takes matrices by columns, of which each may be
 * turned, but not the result: where that lies by rows, it is the turned result, of the operands turned and
 * exchanged. */
#include "beside.h"

#include <limits.h>

bool judge_beside_known(const char *names, struct err *err)
{
    static const char *const known[] = {"cublas"};

    for (const char *p = names; *p; p += *p == ',') {
        size_t n = strcspn(p, ","), i = 0;
        while (i < ARRAY_LEN(known) && !(strlen(known[i]) == n && strncmp(known[i], p, n) == 0))
            i++;
        if (i == ARRAY_LEN(known))
            return err_input(err, "--beside %s: no library \"%.*s\" is known; cublas is", names, (int)n, p);
        p += n;
    }
    return *names || err_input(err, "--beside wants a library's name: cublas");
}

/* ---- types ---- */

struct element {
    const char *names;
    enum kernel_type type;
    int library;
};

static const struct element elements[] = {
    {"float", KT_F32, CUBLAS_F32},
    {"double", KT_F64, CUBLAS_F64},
    {"__half|half", KT_F16, CUBLAS_F16},
    {"__nv_bfloat16|nv_bfloat16", KT_BF16, CUBLAS_BF16},
    {"int8_t|signed char", KT_I8, CUBLAS_I8},
    {"int|int32_t", KT_I32, CUBLAS_I32},
};

static const struct element *element_of(const char *type)
{
    for (size_t i = 0; i < ARRAY_LEN(elements); i++)
        if (str_in(type, elements[i].names))
            return &elements[i];
    return NULL;
}

enum kernel_type beside_type(const struct product_matrix *m)
{
    return element_of(m->type)->type;
}

/* Operands, their sum and the result, in types that the library has together. */
static bool types_of(const struct product *p, struct cublas_product *to, struct err *why)
{
    static const struct {
        int from, to, compute;
        const char *sum;
    } known[] = {
        {CUBLAS_F32, CUBLAS_F32, CUBLAS_COMPUTE_F32, "float"},
        {CUBLAS_F16, CUBLAS_F16, CUBLAS_COMPUTE_F32, "float"},
        {CUBLAS_F16, CUBLAS_F32, CUBLAS_COMPUTE_F32, "float"},
        {CUBLAS_BF16, CUBLAS_BF16, CUBLAS_COMPUTE_F32, "float"},
        {CUBLAS_BF16, CUBLAS_F32, CUBLAS_COMPUTE_F32, "float"},
        {CUBLAS_F64, CUBLAS_F64, CUBLAS_COMPUTE_F64, "double"},
        {CUBLAS_I8, CUBLAS_I32, CUBLAS_COMPUTE_I32, "int"},
    };
    const struct element *a = element_of(p->a.type), *b = element_of(p->b.type), *c = element_of(p->c.type);

    for (size_t i = 0; a && b && c && i < ARRAY_LEN(known); i++)
        if (a->library == known[i].from && b->library == known[i].from && c->library == known[i].to &&
            str_eq(p->sum_type, known[i].sum)) {
            to->compute = known[i].compute;
            to->matrix[0].type = to->matrix[1].type = known[i].from;
            to->matrix[2].type = known[i].to;
            return true;
        }
    return err_input(why, "cuBLAS has no product of %s and %s, added in %s, into %s", p->a.type, p->b.type,
                     p->sum_type, p->c.type);
}

/* ---- places ---- */

/* down x along elements by columns, or the same turned. Where there is one row or one column any step will do.
 */
static bool lies(struct cublas_matrix *m, int64_t down, int64_t along, const int64_t step[2], bool may_turn)
{
    for (int turned = 0; turned < 1 + may_turn; turned++) {
        int64_t rows = turned ? along : down, columns = turned ? down : along;
        int64_t one = step[turned], lead = columns == 1 ? rows : step[!turned];
        if ((one != 1 && rows != 1) || lead < rows || lead > INT_MAX)
            continue;
        m->turned = turned;
        m->lead = (int)lead;
        return true;
    }
    return false;
}

static bool lies_by_columns(const struct product *p, struct beside_call *call)
{
    struct cublas_product *to = &call->product;
    const struct product_matrix *m[] = {&p->a, &p->b, &p->c};

    if (!lies(&to->matrix[2], p->m, p->n, p->c.step, false) ||
        !lies(&to->matrix[0], p->m, p->k, p->a.step, true) ||
        !lies(&to->matrix[1], p->k, p->n, p->b.step, true))
        return false;
    to->m = (int)p->m;
    to->n = (int)p->n;
    to->k = (int)p->k;
    to->batch = (int)p->batch;
    to->scale = p->scale;
    memcpy(call->matrix, m, sizeof(m));
    for (int i = 0; i < 3; i++)
        to->matrix[i].stride = m[i]->batch_step;
    return true;
}

static struct product_matrix turned(const struct product_matrix *m)
{
    struct product_matrix t = *m;

    t.step[0] = m->step[1];
    t.step[1] = m->step[0];
    return t;
}

bool beside_call_of(const struct product *p, struct beside_call *call, struct err *why)
{
    struct product *of = &call->of;

    if (p->m > INT_MAX || p->n > INT_MAX || p->k > INT_MAX || p->batch > INT_MAX)
        return err_input(why, "cuBLAS counts rows and columns in 32 bits");
    *call = (struct beside_call){.of = *p};
    if (!types_of(p, &call->product, why))
        return false;
    if (lies_by_columns(of, call))
        return true;
    *of = (struct product){.m = p->n,
                           .n = p->m,
                           .k = p->k,
                           .batch = p->batch,
                           .a = turned(&p->b),
                           .b = turned(&p->a),
                           .c = turned(&p->c),
                           .sum_type = p->sum_type,
                           .scale = p->scale,
                           .left_out = p->left_out};
    return lies_by_columns(of, call) ||
           err_input(
               why,
               "its matrices do not lie as cuBLAS takes them: neither rows nor columns of each are whole in "
               "memory");
}

/* ---- the judge's ---- */

struct beside_of { /* what is asked, of whom */
    const char *names;
    const struct kernel *kernel;
    const struct kernel_limits *limits;
    struct arena *arena;
};

bool beside_open(struct judge *j, struct err *err)
{
    struct beside *b;

    if (!j->options.beside)
        return true;
    if (!judge_beside_known(j->options.beside, err))
        return false;
    if (!j->gpu)
        return err_input(
            err,
            "--beside %s: a library runs on a GPU alone, and its time cannot be modelled; --device "
            "cuda takes one",
            j->options.beside);
    b = arena_new(j->arena, struct beside);
    if (!cublas_open(&b->cublas, j->gpu, err))
        return err_context(err, "--beside %s", j->options.beside);
    b->library = arena_printf(j->arena, "cuBLAS %s", cublas_version(b->cublas, j->arena));
    j->beside = b;
    return true;
}

void beside_close(struct beside *b)
{
    if (b)
        cublas_close(b->cublas);
}

static bool call_of(const struct beside_of *o, const struct plan *plan, struct beside_call *call,
                    struct err *err)
{
    struct err why = {0};
    struct product p;

    return (product_of_plan(o->kernel, o->limits, plan, o->arena, &p, &why) &&
            beside_call_of(&p, call, &why)) ||
           err_at(
               err, o->kernel->path, 0, 0,
               "--beside %s: the original is no product that cuBLAS computes: %s. What is looked for is one "
               "launch of a kernel whose threads each add x[row, i] * y[i, column] in a loop over i and store the "
               "sum for their row and column",
               o->names, why.text);
}

bool judge_beside_fits(const char *names, const struct kernel *k, const struct kernel_limits *l,
                       const struct plan *plan, struct err *err)
{
    struct beside_of o = {names, k, l, arena_open()};
    struct beside_call call;
    bool ok = call_of(&o, plan, &call, err);

    arena_close(o.arena);
    return ok;
}

bool beside_find(struct judge *j, struct err *err)
{
    const struct task *t = j->task;
    struct beside *b = j->beside;
    const struct beside_of o = {j->options.beside, j->baseline.kernel, &j->limits, j->arena};

    if (!b)
        return true;
    b->calls = arena_array(j->arena, struct beside_call, t->n_workloads + 1);
    for (size_t i = 0; i < t->n_workloads; i++) {
        struct fate fate = {0};
        struct plan plan;
        version_plan_only(&j->baseline, j->arena, t->workloads + i * t->n_dims, &plan, &fate);
        if (!fate_open(&fate))
            return err_at(err, t->source_path, fate.line, fate.col, "the original: %s", fate.words);
        if (!call_of(&o, &plan, &b->calls[i], err))
            return false;
    }
    return true;
}
