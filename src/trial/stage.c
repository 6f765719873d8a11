/* One set of buffers in a simulated device's memory, and a launch plan run on it. */
#include "internal.h"

static void fill(void *context, uint64_t offset, void *to, size_t size)
{
    const struct stage_fill *f = context;
    size_t element = kernel_type_size(f->arg->type);

    if (f->bytes)
        memcpy(to, f->bytes + offset, size);
    else if (f->values)
        task_fill(f->arg, f->values, f->dims, f->seed, (int64_t)(offset / element), (int64_t)(size / element),
                  to);
    else
        memset(to, f->poison, size);
}

bool stage_open(struct stage *s, const struct task *t, const int64_t *dims, const struct stage_data *d,
                struct err *err)
{
    *s = (struct stage){.task = t, .mem = ptx_mem_open(d->place)};
    memcpy(s->dims, dims, t->n_dims * sizeof(*dims));
    for (size_t i = 0; i < t->n_args; i++) {
        const struct task_arg *arg = &t->args[i];
        int64_t elements;
        if (arg->role == ROLE_SCALAR)
            continue;
        bool input = arg->role == ROLE_IN || arg->role == ROLE_INOUT;
        struct stage_fill *f = &s->fill[s->n_buffers];
        if (!task_shape(t, arg, dims, &elements, err)) {
            stage_close(s);
            return false;
        }
        *f = (struct stage_fill){.arg = arg, .dims = s->dims, .seed = d->seed, .poison = d->poison};
        if (input)
            f->values = &d->values[i];
        if (input && d->inputs)
            f->bytes = d->inputs[i];
        const struct ptx_buffer b = {.name = arg->name,
                                     .size_bytes = (uint64_t)elements * kernel_type_size(arg->type),
                                     .align_bytes = (uint32_t)arg->align_bytes,
                                     .initialised = input || d->trusted,
                                     .read_only = arg->role == ROLE_IN,
                                     .fill = fill,
                                     .context = f};
        s->bytes[s->n_buffers] = (int64_t)b.size_bytes;
        s->addr[s->n_buffers] = ptx_mem_alloc(s->mem, &b, err);
        if (!s->addr[s->n_buffers++]) {
            stage_close(s);
            return false;
        }
    }
    return true;
}

void stage_close(struct stage *s)
{
    ptx_mem_close(s->mem);
    s->mem = NULL;
}

uint64_t stage_arg(const struct stage *s, size_t arg, int64_t *bytes)
{
    size_t buffer = 0;

    for (size_t i = 0; i < arg; i++)
        buffer += s->task->args[i].role != ROLE_SCALAR;
    *bytes = s->bytes[buffer];
    return s->addr[buffer];
}

struct runner {
    struct stage *stage;
    struct version *version;
    const uint64_t *workspaces;
    size_t n_workspaces;
    struct arena *arena;
    struct fate *fate;
};

static uint64_t address(const struct runner *r, const struct kernel_value *v)
{
    uint64_t base = 0;

    if (v->p.buffer >= 0 && (size_t)v->p.buffer < r->stage->n_buffers)
        base = r->stage->addr[v->p.buffer];
    else if (v->p.buffer <= -2 && (size_t)(-2 - v->p.buffer) < r->n_workspaces)
        base = r->workspaces[-2 - v->p.buffer];
    return base + (uint64_t)v->p.offset_bytes;
}

static bool put_argument(const struct runner *r, const struct kernel_value *v, uint32_t size, unsigned char *to)
{
    if (v->pointer) {
        uint64_t addr = address(r, v);
        memcpy(to, &addr, sizeof(addr));
        return size == sizeof(addr);
    }
    if (kernel_type_size(v->type) != size)
        return false;
    if (type_is_floating(v->type))
        task_from_double(v->type, v->f, to);
    else
        memcpy(to, &v->i, size); /* little-endian: the low bytes */
    return true;
}

static bool run_launch(const struct runner *r, const struct plan_step *step,
                       const struct stage_visitor *visitor, struct err *err)
{
    const struct image_kernel *k = version_kernel(r->version, step->kernel);
    const struct ptx_kernel_info *info = k ? ptx_module_kernel(r->version->module, k->mangled) : NULL;
    unsigned char values[MAX_ARGS][8];
    const void *args[MAX_ARGS];
    struct ptx_launch l;

    if (!info)
        return fate_is(r->fate, VERDICT_UNSUPPORTED, step->line,
                       arena_printf(r->arena, "kernel %s is not in the compiled module", step->kernel));
    if (step->cluster[0] || step->cluster[1] || step->cluster[2])
        return fate_is(r->fate, VERDICT_UNSUPPORTED, step->line, "thread block clusters");
    if (step->n_args != info->n_params || step->n_args > MAX_ARGS)
        return fate_is(r->fate, VERDICT_NOT_UNDERSTOOD, step->line,
                       arena_printf(r->arena, "%s takes %zu arguments, the launch gives %zu", step->kernel,
                                    info->n_params, step->n_args));
    if (step->shared_bytes < 0 || step->shared_bytes > UINT32_MAX)
        return fate_is(r->fate, VERDICT_LAUNCH_FAILED, step->line, "an impossible amount of shared memory");
    for (size_t i = 0; i < step->n_args; i++) {
        if (info->param_bytes[i] > 8 || !put_argument(r, &step->args[i], info->param_bytes[i], values[i]))
            return fate_is(
                r->fate, VERDICT_UNSUPPORTED, step->line,
                arena_printf(r->arena,
                             "argument %zu of %s: parameters are integers, floating numbers or pointers", i + 1,
                             step->kernel));
        args[i] = values[i];
    }
    l = (struct ptx_launch){.kernel = k->mangled,
                            .shared_bytes = (uint32_t)step->shared_bytes,
                            .args = args,
                            .n_args = step->n_args,
                            .cooperative = step->cooperative};
    memcpy(l.grid, step->grid, sizeof(l.grid));
    memcpy(l.block, step->block, sizeof(l.block));
    return visitor->launch(visitor->context, step, &l, k, r->fate, err);
}

static bool run_move(const struct runner *r, const struct plan_step *step)
{
    struct ptx_mem *mem = r->stage->mem;
    uint64_t to = address(r, &step->to), from = address(r, &step->from);
    size_t size = (size_t)step->size_bytes;
    enum { PIECE = 1 << 20 };

    if (step->size_bytes < 0)
        return false;
    if (step->kind == PLAN_MEMSET)
        return size == 0 || ptx_mem_set(mem, to, step->byte, size, true);
    char *piece = arena_alloc(r->arena, MIN(size, (size_t)PIECE));
    for (size_t done = 0; done < size; done += PIECE) {
        size_t n = MIN(size - done, (size_t)PIECE);
        /* Bytes that nothing wrote stay so on the other side. */
        if (!ptx_mem_read(mem, from + done, piece, n) ||
            !ptx_mem_write(mem, to + done, piece, n, ptx_mem_first_uninitialised(mem, from + done, n) < 0))
            return false;
    }
    return true;
}

bool stage_run(struct stage *s, struct version *v, const struct plan *plan, const struct stage_visitor *visitor,
               struct arena *a, struct fate *fate, struct err *err)
{
    uint64_t *workspaces = arena_array(a, uint64_t, plan->n_workspaces + 1);
    struct runner r = {s, v, workspaces, plan->n_workspaces, a, fate};
    bool ok = true;

    for (size_t i = 0; i < plan->n_workspaces; i++) {
        const struct ptx_buffer b = {.name = arena_printf(a, "workspace %zu", i + 1),
                                     .size_bytes = (uint64_t)plan->workspace_bytes[i]};
        if (plan->workspace_bytes[i] <= 0 || plan->workspace_bytes[i] > (int64_t)v->judge->device->dram_bytes)
            return fate_is(fate, VERDICT_LAUNCH_FAILED, 0,
                           arena_printf(a, "a workspace of %lld bytes", (long long)plan->workspace_bytes[i]));
        if (!(workspaces[i] = ptx_mem_alloc(s->mem, &b, err)))
            return false;
    }
    for (size_t i = 0; ok && i < plan->n_steps && fate_open(fate); i++) {
        const struct plan_step *step = &plan->steps[i];
        if (step->kind == PLAN_LAUNCH) {
            ok = run_launch(&r, step, visitor, err);
        } else if (!run_move(&r, step)) {
            fate_is(fate, VERDICT_UNSAFE, step->line,
                    arena_printf(a, "%s of %lld bytes goes beyond its buffer",
                                 step->kind == PLAN_MEMSET ? "cudaMemsetAsync" : "cudaMemcpyAsync",
                                 (long long)step->size_bytes));
        } else if (visitor->move) {
            visitor->move(visitor->context, step, (double)step->size_bytes * (step->kind == PLAN_COPY ? 2 : 1));
        }
    }
    for (size_t i = 0; i < plan->n_workspaces; i++)
        ptx_mem_free(s->mem, workspaces[i]);
    return ok;
}

void fate_of_report(struct arena *a, const struct version *v, const struct ptx_report *r, const char *where,
                    struct fate *fate)
{
    static const enum verdict verdicts[] = {
        [PTX_DONE] = VERDICT_PASSED,
        [PTX_UNSUPPORTED] = VERDICT_UNSUPPORTED,
        [PTX_BAD_LAUNCH] = VERDICT_LAUNCH_FAILED,
        [PTX_UNSAFE] = VERDICT_UNSAFE,
        [PTX_CRASHED] = VERDICT_CRASHED,
        [PTX_HUNG] = VERDICT_HUNG,
    };
    const struct ptx_finding *f = r->n_findings ? &r->findings[0] : NULL;
    bool own = f && !strcmp(fs_basename(f->file), fs_basename(v->kernel->path));

    if (r->end == PTX_DONE)
        return;
    fate_is(fate, verdicts[r->end], own ? f->line : 0,
            arena_printf(a, "%s (%s)", f ? f->words : ptx_end_name(r->end), where));
}
