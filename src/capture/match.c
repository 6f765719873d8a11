/* Kept launches understood: which dims of a task make its launcher launch exactly what was kept. Then the
 * launch and the launcher's plan are one computation, whatever dims the program had in mind. */
#include "capture/internal.h"

enum { MOST_NUMBERS = 48, MOST_TRIES = 3000 };

struct capture_matcher capture_matcher_of(struct arena *a, const struct task *t, const json_t *kept)
{
    struct task *own = arena_copy(a, t, sizeof(*t));
    struct task_arg *args = arena_copy(a, t->args, t->n_args * sizeof(*t->args));

    own->args = args;
    return (struct capture_matcher){.a = a, .task = own, .kept = kept, .args = args};
}

/* ---- versions ---- */

const struct image_kernel *capture_kernel_of(const struct capture_side *s, const char *name)
{
    for (size_t i = 0; i < s->compiled.image.n_kernels; i++)
        if (str_eq(s->compiled.image.kernels[i].expression, name))
            return &s->compiled.image.kernels[i];
    return NULL;
}

static int occupancy(void *context, const char *kernel, int block_threads, int64_t shared_bytes)
{
    const struct capture_side *s = context;
    const struct image_kernel *k = capture_kernel_of(s, kernel);
    int threads = MAX(block_threads, 1), registers = k ? k->resources.registers : 32;
    int64_t shared = shared_bytes + (k ? k->resources.shared_bytes : 0);
    int blocks = MIN(s->limits.max_threads_per_sm / threads, s->limits.max_blocks_per_sm);

    blocks = (int)MIN((int64_t)blocks, s->limits.registers_per_sm / ((int64_t)MAX(registers, 1) * threads));
    return shared > 0 ? (int)MIN((int64_t)blocks, s->limits.shared_per_sm / shared) : blocks;
}

bool capture_side_open(struct capture_matcher *m, struct capture_side *s, const char *path, const char *text,
                       const struct kernel_limits *limits, struct err *err)
{
    s->limits = *limits;
    s->limits.occupancy = occupancy;
    s->limits.context = s;
    return task_kernel_open(&s->kernel, m->a, m->task, path, text, err) && task_match(m->task, s->kernel, err);
}

bool capture_plan_of(struct capture_matcher *m, struct capture_side *s, const int64_t *dims,
                     const uint64_t *addresses, struct plan *plan, struct err *err)
{
    struct kernel_value values[CAPTURE_ARGS];

    task_launch_values(m->task, dims, values);
    return kernel_plan(plan, m->a, s->kernel, values, addresses, &s->limits, err);
}

bool capture_add_names(struct capture_side *s, const struct plan *plan)
{
    bool added = false;

    for (size_t i = 0; i < plan->n_kernels; i++) {
        size_t k = 0;
        while (k < s->n_names && !str_eq(s->names[k], plan->kernels[i]))
            k++;
        if (k == s->n_names && k < ARRAY_LEN(s->names)) {
            s->names[s->n_names++] = plan->kernels[i];
            added = true;
        }
    }
    return added;
}

bool capture_side_compile(struct capture_matcher *m, struct capture_side *s, struct err *err)
{
    const struct task *t = m->task;
    const struct kernel *k = s->kernel;
    struct gpu_header *headers = arena_array(m->a, struct gpu_header, k->n_headers + t->n_headers + 1);
    const struct compile_request q = {
        .path = fs_basename(k->path),
        .text = k->device_text,
        .arch = arena_printf(m->a, "sm_%d%d", s->limits.cc_major, s->limits.cc_minor),
        .flags = t->flags,
        .n_flags = t->n_flags,
        .headers = headers,
        .n_headers = k->n_headers,
        .kernels = s->names,
        .n_kernels = s->n_names,
    };

    for (size_t i = 0; i < k->n_headers; i++)
        headers[i] = (struct gpu_header){k->device_headers[i].name, k->device_headers[i].text};
    if (!gpu_compile(m->nvrtc, m->a, &q, &s->compiled, err))
        return false;
    if (s->compiled.end != COMPILE_DONE)
        return err_input(err, "%s does not compile here: %s", k->path, s->compiled.words);
    return true;
}

/* ---- a kept launch beside a plan ---- */

bool capture_value_bytes(const struct kernel_value *v, unsigned char to[8], size_t *n)
{
    if (v->struct_bytes || v->tensor_map)
        return false;
    *n = v->pointer ? 8 : kernel_type_size(v->type);
    memset(to, 0, 8);
    if (!v->pointer && type_is_floating(v->type))
        task_from_double(v->type, v->f, to);
    else if (!v->pointer)
        memcpy(to, &v->i, *n);
    else
        return v->p.buffer == -1 && v->p.offset_bytes == 0;
    return true;
}

bool capture_is_buffer(const struct kernel_value *v)
{
    return !v->struct_bytes && v->pointer && v->p.buffer >= 0 && v->p.buffer < CAPTURE_ARGS;
}

static bool same_dims(const json_t *o, const char *key, const uint32_t d[3])
{
    const json_t *list = json_object_get(o, key);

    for (size_t i = 0; i < 3; i++)
        if (json_integer_value(json_array_get(list, i)) != d[i])
            return false;
    return true;
}

static bool same_param(struct capture_kept *k, const json_t *o, const struct kernel_value *v)
{
    unsigned char bytes[8];
    char hex[17];
    size_t n;

    if (capture_is_buffer(v)) {
        uint64_t at = (uint64_t)json_int(o, "from_base", 0) - (uint64_t)v->p.offset_bytes;
        uint64_t align = (at | 256) & -(at | 256);
        if (!json_flag(o, "pointer", false) || (k->align[v->p.buffer] && k->align[v->p.buffer] != align))
            return false;
        k->align[v->p.buffer] = align;
        return true;
    }
    if (!capture_value_bytes(v, bytes, &n) || n != (size_t)json_int(o, "bytes", 0))
        return false;
    for (size_t i = 0; i < n; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
    return str_eq(json_text(o, "value", ""), hex);
}

/* Does the plan launch what was kept, but for the symbol? */
static bool same_launch(struct capture_kept *k, const struct plan *plan)
{
    const struct plan_step *s = plan->steps;

    memset(k->align, 0, sizeof(k->align));
    memset(k->param, 0, sizeof(k->param));
    if (plan->n_steps != 1 || s->kind != PLAN_LAUNCH || !same_dims(k->o, "grid", s->grid) ||
        !same_dims(k->o, "block", s->block) || json_int(k->o, "dynamic_shared_bytes", 0) != s->shared_bytes ||
        s->n_args != json_array_size(k->params))
        return false;
    for (size_t i = 0; i < s->n_args; i++)
        if (!same_param(k, json_array_get(k->params, i), &s->args[i]))
            return false;
        else if (capture_is_buffer(&s->args[i]) && !s->args[i].p.offset_bytes && !k->param[s->args[i].p.buffer])
            k->param[s->args[i].p.buffer] = (int)i + 1;
    return true;
}

void capture_addresses_of(const struct capture_kept *k, uint64_t addresses[CAPTURE_ARGS])
{
    for (size_t i = 0; i < CAPTURE_ARGS; i++) {
        addresses[i] = (uint64_t)(i + 1) << 40;
        if (k->align[i] && k->align[i] < 256)
            addresses[i] += k->align[i];
    }
}

/* Was another kernel kept whose name may be the same? Then the names do not say which is the task's. */
static bool is_ambiguous(struct capture_matcher *m, const char *symbol)
{
    const json_t *o;
    size_t i;

    json_array_foreach(m->kept, i, o)
    {
        const char *other = json_text(o, "kernel", "");
        if (!str_eq(other, symbol) && judge_same_kernel(m->a, other, symbol))
            return true;
    }
    return false;
}

/* The original's plan is the launch, for these dims and the alignments that the launch has. */
static bool is_launch(struct capture_matcher *m, struct capture_kept *k, const int64_t *dims)
{
    struct err why = {0};
    struct plan plan;
    uint64_t addresses[CAPTURE_ARGS];
    const struct image_kernel *kernel;

    if ((!m->written && !task_in_domain(m->task, dims)) ||
        !capture_plan_of(m, &m->original, dims, NULL, &plan, &why) || !same_launch(k, &plan))
        return false;
    capture_addresses_of(k, addresses);
    if (!capture_plan_of(m, &m->original, dims, addresses, &plan, &why) || !same_launch(k, &plan))
        return false;
    if (capture_add_names(&m->original, &plan) && !capture_side_compile(m, &m->original, &why)) {
        k->why = arena_strdup(m->a, why.text);
        return false;
    }
    kernel = capture_kernel_of(&m->original, plan.steps[0].kernel);
    memcpy(k->dims, dims, m->task->n_dims * sizeof(*dims));
    if (!kernel)
        return false;
    if (!judge_same_kernel(m->a, kernel->mangled, k->symbol))
        k->why =
            arena_printf(m->a, "the kernel of the task is %s, the program's %s", kernel->mangled, k->symbol);
    else if (is_ambiguous(m, k->symbol))
        k->why = "the program has several kernels of this name, each of its own file";
    else
        return true;
    return false;
}

/* ---- dims ---- */

struct numbers {
    int64_t v[MOST_NUMBERS];
    size_t n;
};

static void add_number(struct numbers *s, int64_t v)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i] == v)
            return;
    if (v > 0 && s->n < MOST_NUMBERS)
        s->v[s->n++] = v;
}

static int64_t hex_number(const char *hex)
{
    uint64_t v = 0;
    size_t n = strlen(hex);

    for (size_t i = 0; i + 1 < n && i < 16; i += 2) {
        unsigned byte = 0;
        if (sscanf(hex + i, "%2x", &byte) != 1)
            return 0;
        v |= (uint64_t)byte << (4 * i);
    }
    return n <= 16 ? (int64_t)v : 0;
}

/* Numbers that dims may be: the values, the grid, their quotients. */
static void numbers_of(const struct capture_kept *k, struct numbers *s)
{
    const json_t *o;
    size_t i, given;

    json_array_foreach(k->params, i, o) if (!json_flag(o, "pointer", false))
        add_number(s, hex_number(json_text(o, "value", "")));
    json_array_foreach(json_object_get(k->o, "grid"), i, o) add_number(s, json_integer_value(o));
    given = s->n;
    for (i = 0; i < given; i++)
        for (size_t j = 0; j < given; j++)
            if (s->v[j] > 1 && s->v[i] % s->v[j] == 0)
                add_number(s, s->v[i] / s->v[j]);
}

/* ---- which parameter is a dim, or a floating scalar ---- */

static const struct plan_step *only_step(struct capture_matcher *m, const int64_t *dims, struct plan *plan)
{
    struct err why = {0};
    bool ok = capture_plan_of(m, &m->original, dims, NULL, plan, &why);

    return ok && plan->n_steps == 1 && plan->steps->kind == PLAN_LAUNCH ? plan->steps : NULL;
}

static bool is_integer(const struct kernel_value *v, int64_t value)
{
    return !v->pointer && !v->struct_bytes && !v->tensor_map && !type_is_floating(v->type) && v->i == value;
}

static void learn_dim(struct capture_matcher *m, const struct plan_step *base, size_t dim)
{
    int64_t dims[CAPTURE_DIMS];
    struct plan plan;
    const struct plan_step *other;

    memcpy(dims, m->task->workloads, m->task->n_dims * sizeof(*dims));
    dims[dim] *= 2; /* what it is a multiple of, it stays */
    if (!(other = only_step(m, dims, &plan)))
        return;
    for (size_t i = 0; i < base->n_args && i < other->n_args && !m->dim_param[dim]; i++)
        if (is_integer(&base->args[i], dims[dim] / 2) && is_integer(&other->args[i], dims[dim]))
            m->dim_param[dim] = (int)i + 1;
}

static void learn_scalar(struct capture_matcher *m, size_t arg)
{
    static const double odd = 0.8125; /* exact in every type */
    const double was = m->args[arg].value;
    struct plan plan;
    const struct plan_step *s;

    m->args[arg].value = odd;
    s = only_step(m, m->task->workloads, &plan);
    for (size_t i = 0; s && i < s->n_args && !m->scalar_param[arg]; i++) {
        const struct kernel_value *v = &s->args[i];
        if (!v->pointer && !v->struct_bytes && type_is_floating(v->type) && v->f == odd)
            m->scalar_param[arg] = (int)i + 1;
    }
    m->args[arg].value = was;
}

static void learn(struct capture_matcher *m)
{
    const struct task *t = m->task;
    struct plan plan;
    const struct plan_step *base = t->n_workloads && !m->learned ? only_step(m, t->workloads, &plan) : NULL;

    m->learned = true;
    for (size_t d = 0; base && d < t->n_dims; d++)
        learn_dim(m, base, d);
    for (size_t i = 0; base && i < t->n_args; i++)
        if (t->args[i].role == ROLE_SCALAR && type_is_floating(t->args[i].type))
            learn_scalar(m, i);
}

static bool is_allowed(const struct task_arg *arg, double value)
{
    for (size_t i = 0; i < arg->n_choices; i++)
        if (arg->choices[i] == value)
            return true;
    return false;
}

/* Floating scalars take the launch's numbers, where they may. */
static void adopt(struct capture_matcher *m, const struct capture_kept *k)
{
    for (size_t i = 0; i < m->task->n_args; i++) {
        const json_t *o = json_array_get(k->params, (size_t)MAX(m->scalar_param[i], 1) - 1);
        int64_t bits = hex_number(json_text(o, "value", ""));
        bool wide = json_count(o, "bytes") == 8;
        double value = NAN;
        if (m->scalar_param[i] && (wide || json_count(o, "bytes") == 4))
            value = task_to_double(wide ? KT_F64 : KT_F32, &bits);
        for (size_t c = 0; c < m->args[i].n_choices; c++) /* as the type holds it */
            if (!wide && (float)m->args[i].choices[c] == (float)value)
                value = m->args[i].choices[c];
        if (isfinite(value) && (m->written || is_allowed(&m->args[i], value)))
            m->args[i].value = value;
    }
}

/* Every combination of numbers, the dims whose parameter is known from there. */
static bool search(struct capture_matcher *m, struct capture_kept *k, const struct numbers *s, bool known)
{
    const struct task *t = m->task;
    size_t at[CAPTURE_DIMS] = {0}, d = 0;
    int64_t dims[CAPTURE_DIMS];

    for (int tries = 0; s->n && d < t->n_dims && tries < MOST_TRIES; tries++) {
        for (d = 0; d < t->n_dims; d++) {
            const int param = known ? m->dim_param[d] : 0;
            const json_t *o = json_array_get(k->params, (size_t)MAX(param, 1) - 1);
            dims[d] = param ? hex_number(json_text(o, "value", "")) : s->v[at[d]];
        }
        if (is_launch(m, k, dims))
            return true;
        for (d = 0; d < t->n_dims && ((known && m->dim_param[d]) || ++at[d] == s->n); d++)
            at[d] = 0;
    }
    return false;
}

bool capture_find_dims(struct capture_matcher *m, struct capture_kept *k)
{
    const struct task *t = m->task;
    struct numbers s = {0};

    learn(m);
    adopt(m, k);
    for (size_t i = 0; i < t->n_workloads; i++)
        if (is_launch(m, k, t->workloads + i * t->n_dims))
            return true;
    numbers_of(k, &s);
    return search(m, k, &s, true) || search(m, k, &s, false);
}
