/* Values that are nearly always the same: of a comparison, a bound, an upper part, computed from the extents or
 * from what is read. A version's arithmetic on these is run by itself (ptx_flat) for tens of thousands of
 * shapes and values, and a shape or a value at which such a result is another one becomes a case. So is found
 * what goes another way for one size in thousands, by a hash and without a branch. Nothing is held against a
 * version for such a result; the case says whether it is right there. All bounds are counts. */
#include "workloads.h"

enum {
    SHAPES = 16384,  /* planned */
    STEPS = 4000000, /* of the interpreter */
    BLOCK = 128,     /* of the flat kernel */
    ROUNDS = 16,     /* of SHAPES lanes, each with other values */
    LANES = ROUNDS * SHAPES,
    RARE = 64,              /* one lane in so many is rare, or fewer */
    MOST_KERNELS = 8,       /* with the most shapes first met */
    MOST_INSNS = 16000000,  /* warp instructions of one of them */
    CASE_ELEMENTS = 400000, /* of a shape */
    SUM_ELEMENTS = 1600000, /* of all that are run */
    MOST_CASES = 6,
    MOST_TYPES = 4,
    PARAM_BYTES = 8,
};
#define POINTER    0x7f0000000000ull /* what any of them is */
#define MOST_VALUE 1e10              /* as large as the suite draws them */

struct planned { /* what is kept of a shape's plan */
    const int64_t *dims;
    const char *const *kernels; /* of its launches, each a version's own word */
    const struct kernel_value *const *args;
    const size_t *n_args;
    size_t n_launches;
};

struct met { /* an operator's result in the launcher */
    uint64_t mark;
    size_t n;
    const int64_t *least; /* the smallest shape that has it */
    bool in_suite;
};

struct rare {
    struct version *version;
    struct judge *judge;
    struct arena *arena; /* of one kernel */
    struct planned *shapes;
    size_t n_shapes;
    VEC(struct met) met;
    enum kernel_type types[MOST_TYPES]; /* of what is read and may be any number */
    size_t n_types;
    size_t cases;
    int64_t elements;
    struct fate *fate;
};

/* ---- values ---- */

static bool may_hold(const struct task_arg *arg, double x)
{
    const struct task_values *v = &arg->values;

    if ((arg->role != ROLE_IN && arg->role != ROLE_INOUT) || !isfinite(x))
        return false;
    if (v->kind == VALUE_UNIFORM)
        return x >= v->low && x < v->high && !v->low_expr && !v->high_expr;
    return (v->kind == VALUE_NORMAL || (v->kind == VALUE_INTEGERS && !v->declared)) && fabs(x) <= MOST_VALUE;
}

static void find_types(struct rare *r)
{
    const struct task *t = r->judge->task;

    for (size_t i = 0; i < t->n_args; i++) {
        bool known = t->args[i].role == ROLE_SCALAR || r->n_types == MOST_TYPES || !may_hold(&t->args[i], 0);
        for (size_t k = 0; k < r->n_types; k++)
            known |= r->types[k] == t->args[i].type;
        if (!known)
            r->types[r->n_types++] = t->args[i].type;
    }
}

/* The value of a lane: all that its type has where these are few, else of every magnitude near one. */
static double lane_value(const struct rare *r, size_t lane, enum kernel_type *type)
{
    uint64_t bits = rng_hash(r->judge->options.seed ^ 0x72617265, lane);
    double x;

    *type = r->types[lane % r->n_types];
    switch (*type) {
    case KT_F32:
        bits = (bits & 0x807fffffu) | (127 - 20 + (bits >> 32) % 40) << 23;
        break;
    case KT_F64:
        bits = (bits & 0x800fffffffffffffu) | (1023 - 20 + rng_mix(bits) % 40) << 52;
        break;
    case KT_F16:
    case KT_BF16:
        bits = lane / r->n_types;
        break;
    default:
        bits >>= bits % 32;
    }
    x = task_to_double(*type, &bits);
    for (size_t i = 0; i < r->judge->task->n_args; i++)
        if (r->judge->task->args[i].type == *type && may_hold(&r->judge->task->args[i], x))
            return x;
    return 1;
}

static uint64_t lane_pattern(const struct rare *r, size_t lane)
{
    enum kernel_type type;
    unsigned char bytes[8] = {0};
    uint64_t pattern;

    if (!r->n_types)
        return 0;
    double x = lane_value(r, lane, &type);
    for (size_t at = 0, size = kernel_type_size(type); at < sizeof(bytes); at += size)
        task_from_double(type, x, bytes + at);
    memcpy(&pattern, bytes, sizeof(pattern));
    return pattern;
}

/* ---- a kernel's arithmetic by itself ---- */

static uint64_t argument_bits(const struct kernel_value *v, uint32_t offset)
{
    unsigned char bytes[PARAM_BYTES] = {0};
    uint64_t bits;

    for (size_t i = 0; i < v->n_members; i++)
        if (v->members[i].offset == offset)
            return argument_bits(&v->members[i].value, 0);
    if (v->struct_bytes)
        return 0;
    if (v->pointer)
        return POINTER + (uint64_t)v->p.offset_bytes;
    if (!type_is_floating(v->type))
        return (uint64_t)v->i;
    task_from_double(v->type, v->f, bytes);
    memcpy(&bits, bytes, sizeof(bits));
    return bits;
}

/* Its arguments in the first launch of that kernel; NULL: there is none. */
static const struct kernel_value *launch_of(const struct planned *p, const char *kernel, size_t *n_args)
{
    for (size_t i = 0; i < p->n_launches; i++)
        if (p->kernels[i] == kernel) {
            *n_args = p->n_args[i];
            return p->args[i];
        }
    return NULL;
}

struct flat_run {
    struct ptx_flat flat;
    unsigned *types;        /* of each result: which of rare.types it may have read, a mask */
    const uint32_t *shapes; /* on which the kernel is launched */
    size_t n_shapes;
    uint64_t *in, *out; /* of a round */
    uint8_t *is_rare;   /* results x LANES bits */
    uint64_t *usual;    /* the value of most lanes, by result */
    int64_t *lead;      /* how far it leads */
    size_t *n_rare;
};

static bool is_rare_at(const struct flat_run *f, size_t result, size_t lane)
{
    return f->is_rare[(result * LANES + lane) / 8] >> lane % 8 & 1;
}

static void fill_inputs(const struct rare *r, struct flat_run *f, const char *kernel, size_t round)
{
    for (size_t l = 0; l < SHAPES; l++) {
        size_t n_args = 0;
        const struct kernel_value *args = launch_of(&r->shapes[f->shapes[l % f->n_shapes]], kernel, &n_args);
        f->in[l] = lane_pattern(r, round * SHAPES + l);
        for (size_t i = 0; i < f->flat.n_inputs; i++) {
            const struct ptx_flat_input *x = &f->flat.inputs[i];
            f->in[(1 + i) * SHAPES + l] = x->param < n_args ? argument_bits(&args[x->param], x->offset) : 0;
        }
    }
}

static bool run_round(const struct rare *r, struct ptx_module *m, struct flat_run *f, struct err *err)
{
    size_t in_bytes = (1 + f->flat.n_inputs) * SHAPES * sizeof(*f->in),
           out_bytes = f->flat.n_results * SHAPES * sizeof(*f->out);
    struct ptx_mem *mem = ptx_mem_open(1);
    uint64_t in = ptx_mem_alloc(mem, &(struct ptx_buffer){.name = "in", .size_bytes = in_bytes, .dense = true},
                                err),
             out = ptx_mem_alloc(
                 mem, &(struct ptx_buffer){.name = "out", .size_bytes = out_bytes, .dense = true}, err);
    const void *args[] = {&in, &out};
    const struct ptx_launch l = {
        .kernel = "flat", .grid = {SHAPES / BLOCK, 1, 1}, .block = {BLOCK, 1, 1}, .args = args, .n_args = 2};
    const struct ptx_options o = {.device = r->judge->device};
    struct ptx_report report = {0};
    bool ok =
        in && out && ptx_mem_write(mem, in, f->in, in_bytes, true) && ptx_run(m, mem, &l, &o, &report, err);

    /* What the simulator lacks, or divides by zero, is no affair of a version here. */
    ok = ok && report.end == PTX_DONE && ptx_mem_read(mem, out, f->out, out_bytes);
    ptx_report_clear(&report);
    ptx_mem_close(mem);
    return ok;
}

/* The first round says which value most lanes have; all say who has another. */
static void find_usual(struct flat_run *f)
{
    for (size_t k = 0; k < f->flat.n_results; k++)
        for (size_t l = 0; l < SHAPES; l++) {
            uint64_t x = f->out[k * SHAPES + l];
            if (f->lead[k] == 0)
                f->usual[k] = x;
            f->lead[k] += x == f->usual[k] ? 1 : -1;
        }
}

static void note_rare(struct flat_run *f, size_t round)
{
    for (size_t k = 0; k < f->flat.n_results; k++)
        for (size_t l = 0; l < SHAPES; l++) {
            size_t lane = round * SHAPES + l;
            if (f->out[k * SHAPES + l] == f->usual[k])
                continue;
            f->is_rare[(k * LANES + lane) / 8] |= (uint8_t)(1u << lane % 8);
            f->n_rare[k]++;
        }
}

static bool flat_run(const struct rare *r, const char *kernel, struct flat_run *f, struct err *err)
{
    struct ptx_module *m;
    size_t n = f->flat.n_results;
    bool ok = ptx_module_open(&m, "flat", f->flat.text, f->flat.len, err);

    if (!ok)
        return false;
    f->in = arena_array(r->arena, uint64_t, (1 + f->flat.n_inputs) * SHAPES);
    f->out = arena_array(r->arena, uint64_t, n * SHAPES);
    f->is_rare = arena_array(r->arena, uint8_t, n * LANES / 8);
    f->usual = arena_array(r->arena, uint64_t, n);
    f->lead = arena_array(r->arena, int64_t, n);
    f->n_rare = arena_array(r->arena, size_t, n);
    for (size_t round = 0; ok && round < ROUNDS; round++) {
        fill_inputs(r, f, kernel, round);
        ok = run_round(r, m, f, err);
        if (ok && round == 0)
            find_usual(f);
        if (ok)
            note_rare(f, round);
    }
    ptx_module_close(m);
    return ok;
}

/* ---- cases ---- */

static const int64_t *lane_dims(const struct rare *r, const struct flat_run *f, size_t lane)
{
    return r->shapes[f->shapes[lane % SHAPES % f->n_shapes]].dims;
}

static unsigned types_at(const struct rare *r, const struct kernel_value *v)
{
    unsigned mask = 0;
    int32_t buffer = 0;

    for (size_t i = 0; i < v->n_members; i++)
        mask |= types_at(r, &v->members[i].value);
    for (size_t i = 0; v->pointer && i < r->judge->task->n_args; i++) {
        const struct task_arg *arg = &r->judge->task->args[i];
        for (size_t k = 0; arg->role != ROLE_SCALAR && buffer == v->p.buffer && k < r->n_types; k++)
            mask |= r->types[k] == arg->type && may_hold(arg, 1) ? 1u << k : 0;
        buffer += arg->role != ROLE_SCALAR;
    }
    return mask;
}

/* By the first launch: a kernel's pointers are what they are. */
static void find_read_types(const struct rare *r, struct flat_run *f, const char *kernel)
{
    size_t n_args = 0;
    const struct kernel_value *args = launch_of(&r->shapes[f->shapes[0]], kernel, &n_args);

    f->types = arena_array(r->arena, unsigned, f->flat.n_results);
    for (size_t k = 0; k < f->flat.n_results; k++)
        for (size_t i = 0; i < MIN(n_args, (size_t)64); i++)
            f->types[k] |= f->flat.results[k].read >> i & 1 ? types_at(r, &args[i]) : 0;
}

/* Does the lane hold a value of a type that the result hangs on? */
static bool lane_counts(const struct rare *r, const struct flat_run *f, size_t result, size_t lane)
{
    return !f->flat.results[result].reads || !r->n_types || (f->types[result] >> lane % r->n_types & 1);
}

/* Of the lanes where a result is another one, the best: small, and with a number that is not small.
 * False: there is none. */
static bool best_lane(const struct rare *r, const struct flat_run *f, size_t result, size_t *best)
{
    double least = INFINITY;

    for (size_t lane = 0; lane < LANES; lane++) {
        if (!is_rare_at(f, result, lane) || !lane_counts(r, f, result, lane))
            continue;
        double cost = 2 * log2(1 + (double)task_case_elements(r->judge->task, lane_dims(r, f, lane)));
        if (f->flat.results[result].reads && r->n_types) {
            enum kernel_type type;
            double x = lane_value(r, lane, &type);
            x = log2(fmax(fabs(x), 0x1p-40));
            cost += x < 0 ? -4 * x : x;
        }
        if (cost < least) {
            least = cost;
            *best = lane;
        }
    }
    return isfinite(least);
}

/* x: the value of all that is read and of this type; NULL: as the task says. */
static bool run_case(struct rare *r, const int64_t *dims, const double *x, enum kernel_type type,
                     struct err *err)
{
    const struct task *t = r->judge->task;
    struct task_values *values = arena_array(r->arena, struct task_values, t->n_args);
    struct extra e = {.dims = dims,
                      .values = x ? values : NULL,
                      .coarse = x, /* numbers that are all the same round to the same side */
                      .seed = rng_hash(r->judge->options.seed, 0x72617265 + r->cases)};
    struct arena *scratch;
    bool ok;

    r->elements += task_case_elements(t, dims);
    if (r->elements > SUM_ELEMENTS || r->cases == MOST_CASES)
        return true;
    r->cases++;
    for (size_t i = 0; x && i < t->n_args; i++) {
        values[i] = t->args[i].values;
        if (t->args[i].type != type || !may_hold(&t->args[i], *x))
            continue;
        values[i].special = x;
        values[i].n_special = 1;
        values[i].special_share = 2;
    }
    scratch = arena_open();
    ok = extra_verify(&e, r->version, scratch, r->fate, err);
    if (!fate_open(r->fate))
        r->fate->words = x ? arena_printf(r->version->arena, "%s, where what is read is %g", r->fate->words, *x)
                           : arena_strdup(r->version->arena, r->fate->words);
    arena_close(scratch);
    return ok;
}

/* Each case may be that of several results. */
static bool run_cases(struct rare *r, const struct flat_run *f, struct err *err)
{
    size_t lanes[MOST_CASES], n = 0, lane = 0;
    bool ok = true;

    for (size_t k = 0; ok && k < f->flat.n_results && n < MOST_CASES && fate_open(r->fate); k++) {
        bool met = f->n_rare[k] == 0 || f->n_rare[k] > LANES / RARE;
        for (size_t i = 0; i < n && !met; i++)
            met = is_rare_at(f, k, lanes[i]);
        if (met || !best_lane(r, f, k, &lane))
            continue;
        lanes[n++] = lane;
        enum kernel_type type;
        double x = r->n_types ? lane_value(r, lane, &type) : 0;
        bool reads = f->flat.results[k].reads && r->n_types;
        ok = run_case(r, lane_dims(r, f, lane), reads ? &x : NULL, reads ? type : KT_VOID, err);
    }
    return ok;
}

/* ---- the launcher's ---- */

static struct met *met_at(struct rare *r, uint64_t mark)
{
    for (size_t i = 0; i < r->met.n; i++)
        if (r->met.v[i].mark == mark)
            return &r->met.v[i];
    vec_push(&r->met, ((struct met){.mark = mark}));
    return &vec_last(&r->met);
}

static void meet(struct rare *r, const struct plan *plan, const int64_t *dims)
{
    const struct task *t = r->judge->task;

    for (size_t k = 0; k < plan->n_results; k++) {
        struct met *m = met_at(r, plan->results[k]);
        m->n++;
        if (!m->least || task_case_elements(t, dims) < task_case_elements(t, m->least))
            m->least = dims;
    }
}

static void meet_suite(struct rare *r)
{
    const struct judge *j = r->judge;

    for (size_t i = 0; i < j->n_cases; i++) {
        struct plan plan = {0};
        struct fate fate = {0};
        version_plan_only(r->version, r->arena, j->cases[i].dims, &plan, &fate);
        for (size_t k = 0; fate_open(&fate) && k < plan.n_results; k++)
            met_at(r, plan.results[k])->in_suite = true;
        arena_reset(r->arena);
    }
}

/* Operators of the launcher whose result is zero, or is not, on few shapes and in no case of the suite. */
static bool launcher_verify(struct rare *r, struct err *err)
{
    bool ok = true;

    meet_suite(r);
    for (size_t i = 0; ok && i < r->met.n && fate_open(r->fate); i++) {
        const struct met *m = &r->met.v[i];
        if (!m->in_suite && m->n > 0 && m->n <= r->n_shapes / RARE)
            ok = run_case(r, m->least, NULL, KT_VOID, err);
    }
    return ok;
}

static bool kernel_verify(struct rare *r, const char *kernel, struct err *err)
{
    const struct image_kernel *k = version_kernel(r->version, kernel);
    const char *ptx = r->version->compiled.image.ptx;
    uint32_t *shapes = arena_array(r->arena, uint32_t, r->n_shapes);
    struct flat_run f = {.shapes = shapes};
    struct err why = {0};

    if (!k || !ptx || !ptx_flat(ptx, k->mangled, SHAPES, r->arena, &f.flat) ||
        f.flat.instructions * (LANES / 32) > MOST_INSNS)
        return true;
    for (size_t i = 0; i < r->n_shapes; i++)
        if (launch_of(&r->shapes[i], kernel, &(size_t){0}))
            shapes[f.n_shapes++] = (uint32_t)i;
    if (!f.n_shapes)
        return true;
    find_read_types(r, &f, kernel);
    return !flat_run(r, kernel, &f, &why) || run_cases(r, &f, err);
}

/* ---- shapes ---- */

static const char *own_word(const struct version *v, const char *kernel)
{
    for (size_t i = 0; i < v->kernels.n; i++)
        if (!strcmp(v->kernels.v[i], kernel))
            return v->kernels.v[i];
    return NULL;
}

static struct kernel_value *kept_values(struct arena *a, const struct kernel_value *v, size_t n)
{
    struct kernel_value *to = arena_copy(a, v, n * sizeof(*v));

    for (size_t i = 0; i < n; i++) {
        struct kernel_member *members = arena_copy(a, v[i].members, v[i].n_members * sizeof(*members));
        for (size_t k = 0; k < v[i].n_members; k++)
            members[k].value = *kept_values(a, &v[i].members[k].value, 1);
        to[i].members = members;
    }
    return to;
}

/* A plan has all that its interpreter made on the way: of thousands only this can be kept. */
static void keep(struct rare *r, struct arena *a, const struct plan *plan, const int64_t *dims)
{
    struct planned *p = &r->shapes[r->n_shapes++];
    const char **kernels = arena_array(a, const char *, plan->n_steps);
    const struct kernel_value **args = arena_array(a, const struct kernel_value *, plan->n_steps);
    size_t *n_args = arena_array(a, size_t, plan->n_steps);

    *p = (struct planned){.dims = dims, .kernels = kernels, .args = args, .n_args = n_args};
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *s = &plan->steps[i];
        const char *kernel = s->kind == PLAN_LAUNCH ? own_word(r->version, s->kernel) : NULL;
        if (!kernel || launch_of(p, kernel, &(size_t){0}))
            continue;
        kernels[p->n_launches] = kernel;
        args[p->n_launches] = kept_values(a, s->args, s->n_args);
        n_args[p->n_launches++] = s->n_args;
    }
}

static void plan_shapes(struct rare *r, struct arena *a)
{
    const struct task *t = r->judge->task;
    const int64_t **drawn = arena_array(a, const int64_t *, SHAPES);
    size_t n = task_drawn(t, a, r->judge->options.seed, CASE_ELEMENTS, SHAPES, drawn);
    uint64_t steps = 0;

    r->shapes = arena_array(a, struct planned, SHAPES);
    for (size_t i = 0; i < n && steps < STEPS; i++) {
        struct fate fate = {0};
        struct plan plan = {0};
        version_plan_only(r->version, r->arena, drawn[i], &plan, &fate);
        if (fate_open(&fate)) {
            steps += plan.interpreted;
            meet(r, &plan, drawn[i]);
            keep(r, a, &plan, drawn[i]);
        }
        arena_reset(r->arena);
    }
}

bool rare_verify(struct version *v, size_t *sought, struct fate *fate, struct err *err)
{
    struct arena *a = arena_open(), *scratch = arena_open();
    struct rare r = {.version = v, .judge = v->judge, .arena = scratch, .fate = fate};
    bool ok;

    find_types(&r);
    plan_shapes(&r, a);
    ok = launcher_verify(&r, err);
    arena_reset(scratch);
    for (size_t i = 0; ok && i < MIN(v->kernels.n, (size_t)MOST_KERNELS) && fate_open(fate); i++) {
        ok = kernel_verify(&r, v->kernels.v[i], err);
        arena_reset(scratch);
    }
    *sought += r.cases;
    vec_free(&r.met);
    arena_close(scratch);
    arena_close(a);
    return ok;
}
