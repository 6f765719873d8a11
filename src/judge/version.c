/* A kernel file on its way to something that runs: read, matched, planned, compiled, loaded. */
#include "internal.h"

bool fate_is(struct fate *f, enum verdict v, int line, const char *words)
{
    *f = (struct fate){.verdict = v, .words = words, .line = line};
    return true;
}

bool fate_isf(struct fate *f, struct arena *a, enum verdict v, int line, const char *fmt, ...)
{
    const char *words;
    va_list ap;

    va_start(ap, fmt);
    words = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return fate_is(f, v, line, words);
}

/* A place in a header stands in the words: a fate has only the file's own lines. */
static bool not_understood(const struct version *v, struct fate *f, const struct err *why, const char *words)
{
    bool elsewhere = v->kernel_path && *why->file && !str_eq(why->file, v->kernel_path);

    if (elsewhere)
        words = arena_printf(v->arena, "%s:%d:%d: %s", why->file, why->line, why->col, words);
    fate_is(f, VERDICT_NOT_UNDERSTOOD, elsewhere ? 0 : why->line, words);
    f->col = elsewhere ? 0 : why->col;
    return true;
}

/* Blocks of a kernel that fit one SM, as the launcher asks: with the kernel's own registers once it is
 * compiled. */
int version_occupancy(const struct version *v, const char *kernel, int block_threads, int64_t shared_bytes)
{
    const struct image_kernel *k = version_kernel(v, kernel);

    if (block_threads < 1 || block_threads > v->judge->device->max_threads_per_block || shared_bytes < 0)
        return 0;
    return ptx_occupancy(v->judge->device, k ? k->resources.registers : 32,
                         (uint32_t)MIN(shared_bytes + (k ? k->resources.shared_bytes : 0), (int64_t)UINT32_MAX),
                         (uint32_t)block_threads);
}

static int occupancy(void *context, const char *kernel, int block_threads, int64_t shared_bytes)
{
    return version_occupancy(context, kernel, block_threads, shared_bytes);
}

const struct image_kernel *version_kernel(const struct version *v, const char *expression)
{
    for (size_t i = 0; i < v->compiled.image.n_kernels; i++)
        if (!strcmp(v->compiled.image.kernels[i].expression, expression))
            return &v->compiled.image.kernels[i];
    return NULL;
}

bool kernel_names_add(kernel_names *names, struct arena *a, const struct plan *plan)
{
    bool added = false;

    for (size_t i = 0; i < plan->n_steps; i++) {
        const char *name = plan->steps[i].kernel;
        bool known = plan->steps[i].kind != PLAN_LAUNCH;
        for (size_t k = 0; !known && k < names->n; k++)
            known = !strcmp(names->v[k], name);
        if (!known) {
            vec_push(names, arena_strdup(a, name));
            added = true;
        }
    }
    return added;
}

bool version_add_kernels(struct version *v, const struct plan *plan)
{
    return kernel_names_add(&v->kernels, v->arena, plan);
}

static bool plan_for(struct version *v, struct arena *a, const int64_t *dims, const uint64_t *addr,
                     struct plan *plan, struct fate *fate)
{
    struct kernel_value values[MAX_ARGS];
    struct err why = {0};

    task_launch_values(v->task, dims, values);
    if (kernel_plan(plan, a, v->kernel, values, addr, &v->limits, &why)) {
        v->asks |= plan->asked;
        return true;
    }
    return not_understood(v, fate, &why,
                          arena_printf(a, "%s (for %s)", why.text, task_dims_text(a, v->task, dims)));
}

void version_plan_only(struct version *v, struct arena *a, const int64_t *dims, struct plan *plan,
                       struct fate *fate)
{
    plan_for(v, a, dims, NULL, plan, fate);
}

/* For the device part those without their host code. */
static const struct gpu_header *headers_of(const struct version *v, const char *text)
{
    const struct kernel *k = v->kernel;
    struct gpu_header *own = arena_array(v->arena, struct gpu_header, k->n_headers + 1);

    if (text != k->device_text)
        return v->judge->headers;
    for (size_t i = 0; i < k->n_headers; i++)
        own[i] = (struct gpu_header){k->device_headers[i].name, k->device_headers[i].text};
    return own;
}

struct compile_request version_request(const struct version *v, const char *text)
{
    const struct gpu_header *headers = headers_of(v, text);

    if (v->shadow)
        text = exact_text(v->arena, text);
    return (struct compile_request){
        .path = fs_basename(v->kernel->path),
        .text = text,
        .arch = v->judge->arch,
        .flags = v->task->flags,
        .n_flags = v->task->n_flags,
        .headers = headers,
        .n_headers = v->task->n_headers,
        .kernels = v->kernels.v,
        .n_kernels = v->kernels.n,
        .shadow = v->shadow,
        .ptx_alone = v->judge->options.compiles != NULL,
    };
}

/* The task's own files may pin lines in the L2, and so may the original with a fault in it: they win nothing.
 */
static bool may_pin(const struct version *v)
{
    const struct judge *j = v->judge;

    return v == &j->baseline || v == &j->exact || j->mutant || v->shadow ||
           (j->baseline.kernel && !strcmp(j->baseline.kernel->text, v->kernel->text));
}

static void refuse_pins(const struct version *v, const struct ptx_module *m, struct fate *fate)
{
    char words[400];
    int line;

    if (!may_pin(v) && ptx_module_pins(m, words, &line))
        fate_is(fate, VERDICT_CHEAT, line, arena_strdup(v->arena, words));
}

static bool compile(struct version *v, struct fate *fate, struct err *err)
{
    const struct judge *j = v->judge;
    const struct compile_request q = version_request(v, v->kernel->device_text);
    double start_s = time_s();
    struct compile_result *r = &v->compiled;
    struct err why = {0};
    struct ptx_module *before = v->module;

    cuda_module_close(v->loaded);
    v->loaded = NULL;
    v->module = NULL;
    judge_doing(j, JUDGE_COMPILING);
    if (!compiles_take(j->options.compiles, j->nvrtc, v->arena, &q, r, err)) {
        ptx_module_close(before);
        return false;
    }
    v->compile_s += time_s() - start_s;
    if (r->end != COMPILE_DONE) {
        fate_is(fate, r->end == COMPILE_CHEAT ? VERDICT_CHEAT : VERDICT_COMPILE_FAILED, r->line, r->words);
    } else if (!ptx_module_open(&v->module, q.path, r->image.ptx, r->image.ptx_len, &why)) {
        fate_isf(fate, v->arena, VERDICT_UNSUPPORTED, 0, "the simulator: %s", why.text);
    } else {
        version_ran_open(v, before);
        refuse_pins(v, v->module, fate);
    }
    ptx_module_close(before);
    return true;
}

bool version_load(struct version *v, struct fate *fate, struct err *err)
{
    const struct image *i = &v->compiled.image;
    struct cuda *gpu = v->judge->gpu;
    bool ptx = v->judge->target.ptx || !i->cubin;
    struct err why = {0};

    if (v->loaded || cuda_module_open(&v->loaded, gpu, ptx ? (const void *)i->ptx : i->cubin,
                                      ptx ? i->ptx_len : i->cubin_len, &why))
        return true;
    if (cuda_spoilt(gpu)) {
        *err = why;
        return false;
    }
    return fate_isf(fate, v->arena, VERDICT_LAUNCH_FAILED, 0, "the driver refuses it: %s", why.text);
}

bool version_use_fault(struct version *v, size_t i, struct fate *fate)
{
    struct image *image = &v->compiled.image;
    const struct mutant *faults;
    struct ptx_module *module;
    struct err why = {0};
    size_t n;

    mutants_of_ptx(image->ptx, image->ptx_len, v->arena, &faults, &n);
    BUG_IF(i >= n);
    char *text = mutant_text(&faults[i], v->arena, image->ptx, image->ptx_len);
    if (!ptx_module_open(&module, v->kernel->path, text, strlen(text), &why))
        return fate_is(fate, VERDICT_COMPILE_FAILED, 0, arena_strdup(v->arena, why.text));
    ptx_module_close(v->module);
    v->module = module;
    v->ran = NULL;
    image->ptx = text;
    image->ptx_len = strlen(text);
    return true;
}

void version_use_nvcc(struct version *v, const struct image *nvcc, struct fate *fate)
{
    struct image *image = &v->compiled.image;
    struct image_kernel *kernels = arena_array(v->arena, struct image_kernel, image->n_kernels + 1);
    struct ptx_module *module, *before = v->module;
    struct err why = {0};

    if (!ptx_module_open(&module, fs_basename(v->kernel->path), nvcc->ptx, nvcc->ptx_len, &why)) {
        fate_isf(fate, v->arena, VERDICT_UNSUPPORTED, 0, "the simulator, of nvcc's PTX: %s", why.text);
        return;
    }
    refuse_pins(v, module, fate);
    for (size_t i = 0; i < image->n_kernels; i++) {
        kernels[i] = image->kernels[i];
        kernels[i].mangled = arena_strdup(v->arena, mangled_find(v->arena, module, kernels[i].mangled));
        if (!kernels[i].mangled)
            fate_is(fate, VERDICT_NOT_UNDERSTOOD, 0, NO_SUCH_KERNEL);
    }
    image->kernels = kernels;
    image->ptx = nvcc->ptx;
    image->ptx_len = nvcc->ptx_len;
    image->cubin = NULL;
    v->module = module;
    version_ran_open(v, v->nvcc ? before : NULL);
    v->nvcc = nvcc;
    ptx_module_close(before);
    cuda_module_close(v->loaded);
    v->loaded = NULL;
}

bool version_plan(struct version *v, struct arena *a, const int64_t *dims, const uint64_t *addr,
                  struct plan *plan, struct fate *fate, struct err *err)
{
    if (!plan_for(v, a, dims, addr, plan, fate) || !fate_open(fate))
        return true;
    if (!version_add_kernels(v, plan))
        return true;
    if (!compile(v, fate, err))
        return false;
    if (v->nvcc && fate_open(fate))
        version_use_nvcc(v, v->nvcc, fate);
    return true;
}

/* Every shape that will be run, before the compiler is: so that one compile has all instantiations. Occupancy
 * is not known yet; version_plan plans again when it runs. */
static bool plan_all(struct version *v, struct fate *fate)
{
    struct arena *scratch = arena_open();
    const struct judge *j = v->judge;
    size_t n = j->n_cases + j->task->n_workloads;

    for (size_t i = 0; i < n && fate_open(fate); i++) {
        const int64_t *dims =
            i < j->n_cases ? j->cases[i].dims : j->task->workloads + (i - j->n_cases) * j->task->n_dims;
        struct plan plan;
        plan_for(v, scratch, dims, NULL, &plan, fate);
        if (fate_open(fate))
            version_add_kernels(v, &plan);
        else
            fate->words = arena_strdup(v->arena, fate->words);
        arena_reset(scratch);
    }
    arena_close(scratch);
    return true;
}

bool version_open(struct version *v, const char *path, const char *text, struct fate *fate, struct err *err)
{
    struct judge *j = v->judge;
    struct arena *a = v->arena;
    const struct task *t = v->task;
    struct err why = {0};

    *v = (struct version){
        .judge = j, .arena = a, .task = t, .limits = j->limits, .shadow = v->shadow, .kernel_path = path};
    v->limits.occupancy = occupancy;
    v->limits.context = v;
    if (kernel_tests_compiler(path, text, strlen(text), &why))
        return fate_is(fate, VERDICT_CHEAT, why.line, arena_strdup(a, why.text));
    if (!task_kernel_open(&v->kernel, a, t, path, text, &why) || !task_match(t, v->kernel, &why))
        return not_understood(v, fate, &why, arena_strdup(a, why.text));
    plan_all(v, fate);
    if (fate_open(fate) && j->baseline.module && !v->shadow && t == j->task && !j->mutant)
        branches_find(v, fate);
    if (!fate_open(fate))
        return true;
    return compile(v, fate, err);
}

void version_close(struct version *v)
{
    cuda_module_close(v->loaded);
    ptx_module_close(v->module);
    kernel_close(v->kernel);
    shipped_close(v);
    vec_free(&v->kernels);
    vec_free(&v->waits);
    v->loaded = NULL;
    v->module = NULL;
    v->kernel = NULL;
}
