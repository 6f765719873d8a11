/* What the library looks up, prepared from a result and kept launches. A kept launch is understood when the
 * original's launcher, for some dims of the task, plans exactly it: one launch of that symbol with its grid,
 * block, shared memory and values. Then the launch and that plan are one computation, whatever dims the program
 * had in mind, and the result's plan for these dims does the same. Alignments are those of the kept pointers;
 * the library asks for no less. */
#include "capture/internal.h"
#include "gpu/gpu.h"
#include "inject/replace.h"

enum { MAX_ARGS = 64, MOST_DIMS = 8, MOST_NUMBERS = 48, MOST_TRIES = 3000 };

struct side { /* the original, or the best */
    struct kernel *kernel;
    struct kernel_limits limits;
    const char *names[64]; /* of kernels to compile */
    size_t n_names;
    struct compile_result compiled;
};

struct kept { /* a launch that was kept, and what it is in the task */
    const json_t *o;
    const char *symbol;
    const json_t *params;
    int64_t dims[MOST_DIMS];
    const char *why;          /* the last thing that was in the way */
    uint64_t align[MAX_ARGS]; /* of the buffers; 0: the kernel does not get it */
};

struct preparer {
    struct arena *a;
    const struct report_bundle *bundle;
    const struct task *task;
    struct nvrtc *nvrtc;
    struct side original, best;
    VEC(struct replace_launch) launches;
    VEC(struct replace_buffer) buffers;
    VEC(struct replace_param) params;
    VEC(struct replace_step) steps;
    VEC(char) data;
    json_t *skipped;
};

/* ---- versions ---- */

static const struct image_kernel *kernel_of(const struct side *s, const char *name)
{
    for (size_t i = 0; i < s->compiled.image.n_kernels; i++)
        if (str_eq(s->compiled.image.kernels[i].expression, name))
            return &s->compiled.image.kernels[i];
    return NULL;
}

static int occupancy(void *context, const char *kernel, int block_threads, int64_t shared_bytes)
{
    const struct side *s = context;
    const struct image_kernel *k = kernel_of(s, kernel);
    int threads = MAX(block_threads, 1), registers = k ? k->resources.registers : 32;
    int64_t shared = shared_bytes + (k ? k->resources.shared_bytes : 0);
    int blocks = MIN(s->limits.max_threads_per_sm / threads, s->limits.max_blocks_per_sm);

    blocks = (int)MIN((int64_t)blocks, s->limits.registers_per_sm / ((int64_t)MAX(registers, 1) * threads));
    return shared > 0 ? (int)MIN((int64_t)blocks, s->limits.shared_per_sm / shared) : blocks;
}

/* What the device answers a launcher: the model that the result names. */
static bool limits_of(const struct report_bundle *b, struct kernel_limits *l, struct err *err)
{
    const char *model = json_text(b->device, "model", "");
    const struct ptx_device *d = ptx_device_find(model);
    int capability = (int)json_int(b->device, "compute_capability", 0);

    if (!d || !capability)
        return err_input(err, "%s: the device '%s' is not known here", b->folder, model);
    *l = (struct kernel_limits){
        .device_name = d->full_name,
        .sm_count = d->sm_count,
        .cc_major = capability / 10,
        .cc_minor = capability % 10,
        .max_threads_per_block = d->max_threads_per_block,
        .max_threads_per_sm = d->max_threads_per_sm,
        .max_blocks_per_sm = d->max_blocks_per_sm,
        .warp_size = 32,
        .shared_per_block = d->shared_per_block,
        .shared_per_block_optin = d->shared_per_block_optin,
        .shared_per_sm = d->shared_per_sm,
        .l2_bytes = (int64_t)d->l2_bytes,
        .registers_per_sm = d->registers_per_sm,
        .sm_clock_khz = (int)(d->sm_clock_mhz * 1000),
    };
    return true;
}

static bool side_open(struct preparer *p, struct side *s, const char *path, const char *text,
                      const struct kernel_limits *limits, struct err *err)
{
    s->limits = *limits;
    s->limits.occupancy = occupancy;
    s->limits.context = s;
    return task_kernel_open(&s->kernel, p->a, p->task, path, text, err) && task_match(p->task, s->kernel, err);
}

static bool plan_of(struct preparer *p, struct side *s, const int64_t *dims, const uint64_t *addresses,
                    struct plan *plan, struct err *err)
{
    struct kernel_value values[MAX_ARGS];

    task_launch_values(p->task, dims, values);
    return kernel_plan(plan, p->a, s->kernel, values, addresses, &s->limits, err);
}

/* True when there is a kernel that is not compiled yet. */
static bool add_names(struct side *s, const struct plan *plan)
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

static bool side_compile(struct preparer *p, struct side *s, struct err *err)
{
    const struct task *t = p->task;
    const struct kernel *k = s->kernel;
    struct gpu_header *headers = arena_array(p->a, struct gpu_header, k->n_headers + t->n_headers + 1);
    const struct compile_request q = {
        .path = fs_basename(k->path),
        .text = k->device_text,
        .arch = arena_printf(p->a, "sm_%d%d", s->limits.cc_major, s->limits.cc_minor),
        .flags = t->flags,
        .n_flags = t->n_flags,
        .headers = headers,
        .n_headers = k->n_headers,
        .kernels = s->names,
        .n_kernels = s->n_names,
    };

    for (size_t i = 0; i < k->n_headers; i++)
        headers[i] = (struct gpu_header){k->device_headers[i].name, k->device_headers[i].text};
    if (!gpu_compile(p->nvrtc, p->a, &q, &s->compiled, err))
        return false;
    if (s->compiled.end != COMPILE_DONE)
        return err_input(err, "%s does not compile here: %s", k->path, s->compiled.words);
    return true;
}

/* ---- a kept launch beside a plan ---- */

static bool value_bytes(const struct kernel_value *v, unsigned char to[8], size_t *n)
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

static char plain_letter(char c)
{
    if (c == 'x')
        return 'l';
    return c == 'y' ? 'm' : c;
}

/* A 64-bit integer of <cstdint> is `long long` to NVRTC, `long` to nvcc's host compiler; all else must be the
 * same, identifiers letter by letter. */
static bool same_symbol(const char *ours, const char *theirs)
{
    size_t exact = 0; /* so many characters are an identifier, or a number in front of an E */

    for (; *ours && *theirs; ours++, theirs++) {
        bool same = *ours == *theirs;
        if (!same && (exact || plain_letter(*ours) != plain_letter(*theirs)))
            return false;
        if (exact)
            exact--;
        else if (*ours == 'L' && strcspn(ours, "E") < 24 && (ours[2] == 'n' || str_hex_digit(ours[2]) >= 0))
            exact = strcspn(ours, "E");
        else if (*ours >= '1' && *ours <= '9') {
            char *end;
            exact = strtoul(ours, &end, 10) + (size_t)(end - ours) - 1;
        }
    }
    return *ours == *theirs;
}

static bool is_buffer(const struct kernel_value *v)
{
    return !v->struct_bytes && v->pointer && v->p.buffer >= 0 && v->p.buffer < MAX_ARGS;
}

static bool same_dims(const json_t *o, const char *key, const uint32_t d[3])
{
    const json_t *list = json_object_get(o, key);

    for (size_t i = 0; i < 3; i++)
        if (json_integer_value(json_array_get(list, i)) != d[i])
            return false;
    return true;
}

static bool same_param(struct kept *k, const json_t *o, const struct kernel_value *v)
{
    unsigned char bytes[8];
    char hex[17];
    size_t n;

    if (is_buffer(v)) {
        uint64_t at = (uint64_t)json_int(o, "from_base", 0) - (uint64_t)v->p.offset_bytes;
        uint64_t align = (at | 256) & -(at | 256);
        if (!json_flag(o, "pointer", false) || (k->align[v->p.buffer] && k->align[v->p.buffer] != align))
            return false;
        k->align[v->p.buffer] = align;
        return true;
    }
    if (!value_bytes(v, bytes, &n) || n != (size_t)json_int(o, "bytes", 0))
        return false;
    for (size_t i = 0; i < n; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
    return str_eq(json_text(o, "value", ""), hex);
}

/* Does the plan launch what was kept, but for the symbol? */
static bool same_launch(struct kept *k, const struct plan *plan)
{
    const struct plan_step *s = plan->steps;

    memset(k->align, 0, sizeof(k->align));
    if (plan->n_steps != 1 || s->kind != PLAN_LAUNCH || !same_dims(k->o, "grid", s->grid) ||
        !same_dims(k->o, "block", s->block) || json_int(k->o, "dynamic_shared_bytes", 0) != s->shared_bytes ||
        s->n_args != json_array_size(k->params))
        return false;
    for (size_t i = 0; i < s->n_args; i++)
        if (!same_param(k, json_array_get(k->params, i), &s->args[i]))
            return false;
    return true;
}

static void addresses_of(const struct kept *k, uint64_t addresses[MAX_ARGS])
{
    for (size_t i = 0; i < MAX_ARGS; i++) {
        addresses[i] = (uint64_t)(i + 1) << 40;
        if (k->align[i] && k->align[i] < 256)
            addresses[i] += k->align[i];
    }
}

/* The original's plan is the launch, for these dims and the alignments that the launch has. */
static bool is_launch(struct preparer *p, struct kept *k, const int64_t *dims)
{
    struct err why = {0};
    struct plan plan;
    uint64_t addresses[MAX_ARGS];
    const struct image_kernel *kernel;

    if (!task_in_domain(p->task, dims) || !plan_of(p, &p->original, dims, NULL, &plan, &why) ||
        !same_launch(k, &plan))
        return false;
    addresses_of(k, addresses);
    if (!plan_of(p, &p->original, dims, addresses, &plan, &why) || !same_launch(k, &plan))
        return false;
    if (add_names(&p->original, &plan) && !side_compile(p, &p->original, &why)) {
        k->why = arena_strdup(p->a, why.text);
        return false;
    }
    kernel = kernel_of(&p->original, plan.steps[0].kernel);
    memcpy(k->dims, dims, p->task->n_dims * sizeof(*dims));
    if (kernel && !same_symbol(kernel->mangled, k->symbol))
        k->why =
            arena_printf(p->a, "the kernel of the task is %s, the program's %s", kernel->mangled, k->symbol);
    return kernel && same_symbol(kernel->mangled, k->symbol);
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
static void numbers_of(const struct kept *k, struct numbers *s)
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

static bool find_dims(struct preparer *p, struct kept *k)
{
    const struct task *t = p->task;
    struct numbers s = {0};
    size_t at[MOST_DIMS] = {0}, d = 0;
    int64_t dims[MOST_DIMS];

    for (size_t i = 0; i < t->n_workloads; i++)
        if (is_launch(p, k, t->workloads + i * t->n_dims))
            return true;
    numbers_of(k, &s);
    for (int tries = 0; s.n && d < t->n_dims && tries < MOST_TRIES; tries++) {
        for (d = 0; d < t->n_dims; d++)
            dims[d] = s.v[at[d]];
        if (is_launch(p, k, dims))
            return true;
        for (d = 0; d < t->n_dims && ++at[d] == s.n; d++)
            at[d] = 0;
    }
    return false;
}

/* ---- the file ---- */

static uint32_t add_data(struct preparer *p, const void *bytes, size_t n)
{
    while (p->data.n % 8)
        vec_add(p->a, &p->data, 0);
    uint32_t at = (uint32_t)p->data.n;

    for (size_t i = 0; i < n; i++)
        vec_add(p->a, &p->data, ((const char *)bytes)[i]);
    return at;
}

static bool add_params(struct preparer *p, const struct plan_step *s, const json_t *kept,
                       struct replace_span *span)
{
    *span = (struct replace_span){(uint32_t)p->params.n, (uint32_t)s->n_args};
    for (size_t i = 0; i < s->n_args; i++) {
        const struct kernel_value *v = &s->args[i];
        struct replace_param r = {.buffer = -1, .bytes = 8};
        unsigned char bytes[8];
        size_t n = 0;

        r.offset = kept ? (uint32_t)json_int(json_array_get(kept, i), "offset", 0) : 0;
        if (is_buffer(v)) {
            r.buffer = v->p.buffer;
            r.add = v->p.offset_bytes;
        } else if (value_bytes(v, bytes, &n)) {
            r.bytes = (uint32_t)n;
            r.value = add_data(p, bytes, n);
        } else {
            return false;
        }
        vec_add(p->a, &p->params, r);
    }
    return s->n_args <= REPLACE_PARAMS;
}

/* Buffers are numbered as the launcher's pointers; the kernel must get every one that is used. */
static const char *add_buffers(struct preparer *p, const struct kept *k, struct replace_launch *l)
{
    const struct task *t = p->task;
    uint32_t n = 0;

    l->buffers.at = (uint32_t)p->buffers.n;
    for (size_t i = 0; i < t->n_args; i++) {
        struct err why = {0};
        int64_t elements = 0;
        if (t->args[i].role == ROLE_SCALAR)
            continue;
        if (!task_shape(t, &t->args[i], k->dims, &elements, &why) || n == REPLACE_BUFFERS)
            return "its buffers are not known";
        if (!k->align[n])
            return "the kernel does not get every buffer of the task";
        if ((int64_t)k->align[n] < t->args[i].align_bytes)
            return "buffers are less aligned than the task promises";
        struct replace_buffer b = {.bytes = (uint64_t)elements * kernel_type_size(t->args[i].type),
                                   .align = (uint32_t)k->align[n++],
                                   .written = t->args[i].role != ROLE_IN};
        vec_add(p->a, &p->buffers, b);
    }
    l->buffers.n = n;
    return NULL;
}

static const char *step_refused(const struct plan_step *s)
{
    if (s->kind != PLAN_LAUNCH)
        return "the result's launcher sets or copies memory";
    for (size_t i = 0; i < s->n_args; i++)
        if (s->args[i].struct_bytes || s->args[i].tensor_map ||
            (s->args[i].pointer && s->args[i].p.buffer < -1))
            return "the result's kernel takes a struct, a tensor map or scratch memory";
    return NULL;
}

static const char *add_steps(struct preparer *p, const struct plan *plan, struct replace_launch *l)
{
    if (plan->n_workspaces)
        return "the result's launcher needs scratch memory";
    l->steps = (struct replace_span){(uint32_t)p->steps.n, (uint32_t)plan->n_steps};
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *s = &plan->steps[i];
        const char *refused = step_refused(s);
        const struct image_kernel *k = refused ? NULL : kernel_of(&p->best, s->kernel);
        struct replace_step step = {.dynamic_bytes = (uint32_t)s->shared_bytes,
                                    .cooperative = s->cooperative,
                                    .programmatic = s->programmatic,
                                    .non_portable = s->non_portable_cluster};
        if (!k)
            return refused ? refused : "the result's kernel was not compiled";
        memcpy(step.grid, s->grid, sizeof(step.grid));
        memcpy(step.block, s->block, sizeof(step.block));
        for (int d = 0; d < 3; d++)
            step.cluster[d] = s->cluster[0] ? MAX(s->cluster[d], 1) : 0;
        step.function = add_data(p, k->mangled, strlen(k->mangled) + 1);
        if (!add_params(p, s, NULL, &step.params))
            return "the result's kernel has a parameter that cannot be carried over";
        vec_add(p->a, &p->steps, step);
    }
    return plan->n_steps ? NULL : "the result launches nothing";
}

/* NULL, or why there is nothing for this launch. */
static const char *add_launch(struct preparer *p, struct kept *k, struct err *err)
{
    struct replace_launch l = {.dynamic_bytes = (uint32_t)json_int(k->o, "dynamic_shared_bytes", 0)};
    uint64_t addresses[MAX_ARGS];
    struct plan original, plan;
    struct err why = {0};
    const char *words = NULL;

    addresses_of(k, addresses);
    if (!plan_of(p, &p->original, k->dims, addresses, &original, &why) ||
        !plan_of(p, &p->best, k->dims, addresses, &plan, &why))
        return arena_strdup(p->a, why.text);
    if (add_names(&p->best, &plan)) { /* what it asked of occupancy was without its registers */
        if (!side_compile(p, &p->best, err) || !plan_of(p, &p->best, k->dims, addresses, &plan, err))
            return err->text;
        if (add_names(&p->best, &plan) && !side_compile(p, &p->best, err))
            return err->text;
    }
    memcpy(l.grid, original.steps[0].grid, sizeof(l.grid));
    memcpy(l.block, original.steps[0].block, sizeof(l.block));
    l.symbol = add_data(p, k->symbol, strlen(k->symbol) + 1);
    if ((words = add_buffers(p, k, &l)) || (words = add_steps(p, &plan, &l)))
        return words;
    if (!add_params(p, &original.steps[0], k->params, &l.params))
        return "the kernel has a parameter that cannot be carried over";
    vec_add(p->a, &p->launches, l);
    return NULL;
}

static void put(struct str *out, struct replace_span *span, const void *data, size_t n, size_t each)
{
    while (out->len % 64)
        str_addn(out, "", 1);
    *span = (struct replace_span){(uint32_t)out->len, (uint32_t)n};
    str_addn(out, data, n * each);
}

static void write_file(struct preparer *p, struct str *out)
{
    struct replace_head h = {.version = REPLACE_VERSION, .bytes = sizeof(h)};
    const struct image *i = &p->best.compiled.image;

    memcpy(h.magic, REPLACE_MAGIC, sizeof(h.magic));
    str_addn(out, (const char *)&h, sizeof(h));
    put(out, &h.launches, p->launches.v, p->launches.n, sizeof(*p->launches.v));
    put(out, &h.buffers, p->buffers.v, p->buffers.n, sizeof(*p->buffers.v));
    put(out, &h.params, p->params.v, p->params.n, sizeof(*p->params.v));
    put(out, &h.steps, p->steps.v, p->steps.n, sizeof(*p->steps.v));
    put(out, &h.data, p->data.v, p->data.n, 1);
    put(out, &h.cubin, i->cubin ? i->cubin : "", i->cubin ? i->cubin_len : 0, 1);
    put(out, &h.ptx, i->ptx, i->ptx_len, 1);
    str_addn(out, "", 1);
    h.ptx.n++;
    memcpy(out->s, &h, sizeof(h));
}

/* ---- all ---- */

static void skip(struct preparer *p, const json_t *launch, const char *words)
{
    json_array_append_new(p->skipped,
                          json_pack("{s:o, s:o, s:s}", "grid", json_deep_copy(json_object_get(launch, "grid")),
                                    "block", json_deep_copy(json_object_get(launch, "block")), "why", words));
}

static bool take_launch(struct preparer *p, const json_t *o, struct err *err)
{
    struct kept k = {.o = o, .symbol = json_text(o, "kernel", ""), .params = json_object_get(o, "parameters")};
    const char *words;

    if (!find_dims(p, &k)) {
        skip(p, o, k.why ? k.why : "for no dims tried does the original's launcher make this launch");
        return true;
    }
    if ((words = add_launch(p, &k, err)))
        skip(p, o, words);
    return err->kind == ERR_NONE;
}

static bool prepare(struct preparer *p, const json_t *kept, struct err *err)
{
    const struct task *t = p->task;
    struct kernel_limits limits;
    const json_t *o;
    size_t i;

    if (t->n_args > MAX_ARGS || t->n_dims > MOST_DIMS)
        return err_input(err, "%s has too many arguments or dims", t->name);
    if (!limits_of(p->bundle, &limits, err) || !nvrtc_open(&p->nvrtc, err) ||
        !side_open(p, &p->original, t->source_path, p->bundle->original, &limits, err) ||
        !side_open(p, &p->best, t->source_path, p->bundle->judged, &limits, err))
        return false;
    json_array_foreach(kept, i, o) if (!take_launch(p, o, err)) return false;
    if (!p->launches.n)
        return err_input(err, "no kept launch can be replaced: of %zu, the first: %s", json_array_size(kept),
                         json_array_size(p->skipped)
                             ? json_text(json_array_get(p->skipped, 0), "why", "")
                             : "none was kept; capture with --keep and a part of the kernel's name");
    return true;
}

bool capture_plan(struct arena *a, const struct report_bundle *bundle, const json_t *kept,
                  struct capture_plan *plan, struct err *err)
{
    struct preparer p = {.a = a, .bundle = bundle, .task = bundle->task, .skipped = json_array()};
    struct str out = {.arena = a};
    bool ok = prepare(&p, kept, err);

    if (ok) {
        write_file(&p, &out);
        *plan = (struct capture_plan){
            .data = out.s, .len = out.len, .launches = p.launches.n, .skipped = p.skipped};
        ok = replace_file_is_whole(out.s, out.len) || err_world(err, "the plans make no sense to their reader");
    }
    if (!ok)
        json_decref(p.skipped);
    kernel_close(p.original.kernel);
    kernel_close(p.best.kernel);
    nvrtc_close(p.nvrtc);
    return ok;
}

bool capture_plan_write(struct arena *a, const char *folder, const struct capture_plan *plan, struct err *err)
{
    struct replace_counts counts = {0};

    memcpy(counts.magic, REPLACE_MAGIC, sizeof(counts.magic));
    return fs_write(fs_join(a, folder, REPLACE_PLANS), plan->data, plan->len, err) &&
           fs_write(fs_join(a, folder, REPLACE_COUNTS), &counts, sizeof(counts), err);
}

bool capture_plan_counts(struct arena *a, const char *folder, json_t **counts, struct err *err)
{
    const char *path = fs_join(a, folder, REPLACE_COUNTS);
    struct replace_counts c;
    char *text;
    size_t n;

    if (!fs_read(a, path, &text, &n, err))
        return false;
    if (n != sizeof(c))
        return err_world(err, "%s is cut short", path);
    memcpy(&c, text, sizeof(c));
    *counts = json_object();
    json_put_int(*counts, "processes", (int64_t)c.processes);
    for (size_t i = 0; i < N_REPLACE_OUTCOMES; i++)
        json_put_int(*counts, replace_words[i], (int64_t)c.n[i]);
    return true;
}
