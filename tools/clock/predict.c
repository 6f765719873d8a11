/* predict [--device NAME] TASK_DIR [FILE.cu ...]: the clock's modelled times of a task's source, or of the
 * files, over all its workloads, cold and hot, as CSV on stdout. fit.py compares them with measured points. */
#include <time.h>

#include "base/base.h"
#include "gpu/gpu.h"
#include "kernel/kernel.h"
#include "task/task.h"

struct program {
    struct arena *a;
    const struct task *task;
    struct kernel *kernel;
    struct nvrtc *nvrtc;
    const struct ptx_device *device;
    struct compile_result compiled;
    struct ptx_module *module;
    double cpu_s;
};

struct fill {
    const struct task *task;
    const struct task_arg *arg;
    const int64_t *dims;
};

static double cpu_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fill_page(void *context, uint64_t offset, void *to, size_t bytes)
{
    const struct fill *f = context;
    size_t each = kernel_type_size(f->arg->type);
    int64_t first = (int64_t)(offset / each), n = (int64_t)(bytes / each), period = TASK_PERIOD, some;
    char *p = to;

    if (task_value_ordered(f->arg->values.kind)) /* else a GPU's inputs repeat, as it is timed */
        period = first + n;
    for (; n > 0; first += some, n -= some, p += (size_t)some * each) {
        some = MIN(n, period - first % period);
        task_fill(f->arg, &f->arg->values, f->dims, 1, first % period, some, p);
    }
}

static int occupancy(void *context, const char *kernel, int threads, int64_t shared)
{
    const struct program *p = context;
    uint32_t registers = 0;
    for (size_t k = 0; k < p->compiled.image.n_kernels; k++)
        if (str_eq(p->compiled.image.kernels[k].expression, kernel))
            registers = p->compiled.image.kernels[k].resources.registers;
    return ptx_occupancy(p->device, registers, (uint32_t)shared, (uint32_t)threads);
}

static struct kernel_limits limits_of(struct program *p)
{
    const struct ptx_device *d = p->device;
    return (struct kernel_limits){.device_name = d->full_name,
                                  .sm_count = d->sm_count,
                                  .cc_major = d->cc_major,
                                  .cc_minor = d->cc_minor,
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
                                  .occupancy = occupancy,
                                  .context = p};
}

static const struct image_kernel *image_kernel(const struct program *p, const char *expression)
{
    for (size_t k = 0; k < p->compiled.image.n_kernels; k++)
        if (str_eq(p->compiled.image.kernels[k].expression, expression))
            return &p->compiled.image.kernels[k];
    return NULL;
}

static bool compile(struct program *p, const struct plan *plan, struct err *err)
{
    char arch[16];
    snprintf(arch, sizeof(arch), "sm_%d%d", p->device->cc_major, p->device->cc_minor);
    struct compile_request q = {.path = p->kernel->path,
                                .text = p->kernel->device_text,
                                .arch = arch,
                                .flags = p->task->flags,
                                .n_flags = p->task->n_flags,
                                .kernels = plan->kernels,
                                .n_kernels = plan->n_kernels};
    if (!gpu_compile(p->nvrtc, p->a, &q, &p->compiled, err))
        return false;
    if (p->compiled.end != COMPILE_DONE)
        return err_input(err, "%s", p->compiled.words);
    ptx_module_close(p->module);
    p->module = NULL;
    return ptx_module_open(&p->module, p->kernel->path, p->compiled.image.ptx, p->compiled.image.ptx_len, err);
}

static uint64_t address(const struct kernel_value *v, const uint64_t *buffers, const uint64_t *workspaces)
{
    if (v->p.buffer == -1)
        return 0;
    return (v->p.buffer >= 0 ? buffers[v->p.buffer] : workspaces[-2 - v->p.buffer]) +
           (uint64_t)v->p.offset_bytes;
}

struct memory {
    struct ptx_mem *mem;
    struct ptx_cache *cache;
    uint64_t buffers[64], workspaces[64];
};

static void put_value(const struct kernel_value *v, const struct memory *m, unsigned char *to)
{
    uint64_t bits = (uint64_t)v->i;
    if (v->pointer)
        bits = address(v, m->buffers, m->workspaces);
    else if (v->type >= KT_F16)
        task_from_double(v->type, v->f, &bits);
    memcpy(to, &bits, v->pointer ? sizeof(bits) : kernel_type_size(v->type));
}

static bool time_step(struct program *p, const struct memory *m, const struct plan_step *s, struct ptx_time *t,
                      struct err *err)
{
    const struct image_kernel *k = image_kernel(p, s->kernel);
    const void **args = arena_array(p->a, const void *, s->n_args + 1);
    struct ptx_report report = {0};
    if (!k)
        return err_input(err, "%s was not compiled", s->kernel);
    for (size_t i = 0; i < s->n_args; i++) {
        const struct kernel_value *v = &s->args[i];
        unsigned char *bytes = arena_zalloc(p->a, MAX(v->struct_bytes, (uint32_t)sizeof(uint64_t)));
        if (!v->struct_bytes)
            put_value(v, m, bytes);
        for (size_t q = 0; q < v->n_members; q++)
            put_value(&v->members[q].value, m, bytes + v->members[q].offset);
        args[i] = bytes;
    }
    struct ptx_launch l = {.kernel = k->mangled,
                           .shared_bytes = (uint32_t)s->shared_bytes,
                           .args = args,
                           .n_args = s->n_args,
                           .cooperative = s->cooperative};
    memcpy(l.grid, s->grid, sizeof(l.grid));
    memcpy(l.block, s->block, sizeof(l.block));
    memcpy(l.cluster, s->cluster, sizeof(l.cluster));
    struct ptx_options o = {.device = p->device, .registers = k->resources.registers};
    double start = cpu_time();
    const struct ptx_timed on = {p->module, m->mem, &o, &k->resources, m->cache, p->a};
    bool ok = ptx_time_launch(&on, &l, t, &report, err);
    p->cpu_s += cpu_time() - start;
    if (ok && report.end != PTX_DONE)
        ok = err_input(err, "%s: %s", ptx_end_name(report.end),
                       report.n_findings ? report.findings[0].words : "no finding");
    ptx_report_clear(&report);
    return ok;
}

static bool time_plan(struct program *p, const struct memory *m, const struct plan *plan, double *us,
                      struct ptx_time *x, struct err *err)
{
    *us = 0;
    *x = (struct ptx_time){0};
    p->cpu_s = 0;
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *step = &plan->steps[i];
        if (step->kind == PLAN_LAUNCH) {
            if (!time_step(p, m, step, x, err))
                return false;
            *us += x->us;
            continue;
        }
        *us += ptx_copy_us(p->device, (double)step->size_bytes, false);
        if (step->kind == PLAN_MEMSET)
            ptx_mem_set(m->mem, address(&step->to, m->buffers, m->workspaces), step->byte,
                        (size_t)step->size_bytes, true);
    }
    return true;
}

static bool workload(struct program *p, const char *version, const int64_t *dims, bool details, struct err *err)
{
    const struct task *t = p->task;
    struct kernel_value *values = arena_array(p->a, struct kernel_value, t->n_args);
    struct kernel_limits limits = limits_of(p);
    struct plan plan;
    task_launch_values(t, dims, values);
    if (!kernel_plan(&plan, p->a, p->kernel, values, NULL, &limits, err) || !compile(p, &plan, err))
        return false;
    struct memory m = {.mem = ptx_mem_open(1), .cache = ptx_cache_open(p->device)};
    size_t n = 0;
    uint64_t bytes = 1;
    int64_t traffic;
    bool ok = true, in_place = false;
    for (size_t i = 0; ok && i < t->n_args; i++) {
        int64_t elements;
        if (t->args[i].role == ROLE_SCALAR)
            continue;
        ok = task_shape(t, &t->args[i], dims, &elements, err);
        struct fill *f = arena_new(p->a, struct fill);
        *f = (struct fill){t, &t->args[i], dims};
        struct ptx_buffer b = {.name = t->args[i].name,
                               .size_bytes = (uint64_t)elements * kernel_type_size(t->args[i].type),
                               .initialised = true,
                               .fill = fill_page,
                               .context = f};
        bytes += b.size_bytes;
        in_place |= t->args[i].role == ROLE_INOUT;
        ok = ok && (m.buffers[n++] = ptx_mem_alloc(m.mem, &b, err)) != 0;
    }
    for (size_t i = 0; ok && i < plan.n_workspaces; i++) {
        struct ptx_buffer b = {
            .name = "workspace", .size_bytes = (uint64_t)plan.workspace_bytes[i], .initialised = true};
        ok = (m.workspaces[i] = ptx_mem_alloc(m.mem, &b, err)) != 0;
    }
    char *text = arena_printf(p->a, "%lld", (long long)dims[0]);
    for (size_t i = 1; i < t->n_dims; i++)
        text = arena_printf(p->a, "%sx%lld", text, (long long)dims[i]);
    for (int hot = 0; ok && hot < 2; hot++) {
        double us;
        struct ptx_time x;
        ok = time_plan(p, &m, &plan, &us, &x, err);
        double first_us = us;
        size_t sets = lap_sets(p->device->l2_bytes, bytes), rounds = 1;
        if (ok && !hot && !in_place && task_traffic(t, dims, &traffic, err))
            rounds = lap_rounds(sets, ptx_copy_us(p->device, (double)traffic, false), us);
        if (rounds > 1 && ptx_cache_round(m.cache, sets)) {
            ok = time_plan(p, &m, &plan, &us, &x, err);
            us += (first_us - us) / (double)rounds;
        }
        if (ok)
            printf("%s,%s,%s,%s,%.3f,%s,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.2f,%.2f,%llu,%llu,%.1f\n", t->name,
                   version, text, hot ? "hot" : "cold", us, ptx_bound_name(x.bound), x.dram_us, x.l2_us,
                   x.issue_us, x.latency_us, x.sync_us, x.dram_bytes * 1e-6, x.occupancy, x.waves,
                   (unsigned long long)x.sampled_blocks, (unsigned long long)x.blocks, p->cpu_s * 1e3);
        for (size_t i = 0; ok && details && i < x.n_lines; i++)
            printf(
                "# line %d: %.0f%% of the stalls, %.0f instructions, %.1f lanes, %.0f requests, %.0f sectors (%.0f), "
                "conflicts %.0f\n",
                x.lines[i].line, 100 * x.lines[i].stall_share, x.lines[i].warp_insns, x.lines[i].lanes_active,
                x.lines[i].global_requests, x.lines[i].global_sectors, x.lines[i].ideal_sectors,
                x.lines[i].bank_conflicts);
    }
    ptx_cache_close(m.cache);
    ptx_mem_close(m.mem);
    return ok;
}

static bool version(struct program *p, const char *path, bool details, struct err *err)
{
    char *text;
    size_t len;
    if (!fs_read(p->a, path, &text, &len, err) ||
        !kernel_open(&p->kernel, p->a, path, text, len, p->task->entry, err))
        return false;
    char *name = arena_strndup(p->a, fs_basename(path), strcspn(fs_basename(path), "."));
    bool ok = true;
    for (size_t i = 0; ok && i < p->task->n_workloads; i++)
        ok = workload(p, name, p->task->workloads + i * p->task->n_dims, details, err);
    kernel_close(p->kernel);
    return ok;
}

int main(int argc, char **argv)
{
    struct program p = {.a = arena_open(), .device = ptx_device_find("h200")};
    struct task *task;
    struct err err = {0};
    char text[2600];
    bool details = false;
    int at = 1;
    for (; at < argc && str_starts(argv[at], "--"); at++) {
        if (str_eq(argv[at], "--lines"))
            details = true;
        else if (str_eq(argv[at], "--device") && at + 1 < argc)
            p.device = ptx_device_find(argv[++at]);
    }
    if (at >= argc || !p.device) {
        fprintf(stderr, "usage: predict [--device NAME] [--lines] TASK_DIR [FILE.cu ...]\n");
        return 2;
    }
    bool ok = task_open(&task, p.a, argv[at], &err) && nvrtc_open(&p.nvrtc, &err);
    p.task = ok ? task : NULL;
    if (ok && at + 1 >= argc)
        ok = version(&p, task->source_path, details, &err);
    for (int i = at + 1; ok && i < argc; i++) {
        if (!version(&p, argv[i], details, &err)) {
            fprintf(stderr, "predict: %s: %s\n", argv[i], err_format(&err, text, sizeof(text)));
            err = (struct err){0};
        }
    }
    if (!ok)
        fprintf(stderr, "predict: %s\n", err_format(&err, text, sizeof(text)));
    ptx_module_close(p.module);
    nvrtc_close(p.nvrtc);
    arena_close(p.a);
    return ok ? 0 : 1;
}
