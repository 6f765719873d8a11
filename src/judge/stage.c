/* One set of buffers and a launch plan run on it, whatever the device: what differs is in stage_ops. */
#include "internal.h"

static bool is_constant(const struct task *t, const struct dim_expr *e)
{
    bool constant = true;

    for (size_t k = 0; e && k < t->n_dims; k++)
        constant &= !dim_uses(e, k);
    return constant;
}

/* Does nothing but its place decide an element? */
static bool is_of_place_alone(const struct task *t, const struct task_values *v)
{
    bool kind = v->kind == VALUE_INTEGERS || v->kind == VALUE_UNIFORM ||
                (v->kind == VALUE_INDEX && is_constant(t, v->low_expr) && is_constant(t, v->high_expr));

    return kind && !v->n_special && !v->stored && !v->patterned && !v->sprinkled && !v->tied && !v->faint &&
           !v->peaked;
}

bool stage_open(struct stage *s, struct judge *j, const struct stage_ops *ops, const struct task *t,
                const int64_t *dims, const struct stage_data *d, struct err *err)
{
    *s = (struct stage){.ops = ops, .judge = j, .task = t, .poison = d->poison, .dense = d->dense};
    memcpy(s->dims, dims, t->n_dims * sizeof(*dims));
    if (!ops->open(s, d, err))
        return false;
    for (size_t i = 0; i < t->n_args; i++)
        s->n_buffers += t->args[i].role != ROLE_SCALAR;
    /* In every other place they come in the other order: which one lies behind which says nothing. */
    const unsigned char *answer[MAX_ARGS] = {NULL};
    for (size_t o = 0; d->answers && o < j->n_outputs; o++)
        answer[j->outputs[o]] = d->answers[o];
    for (size_t k = 0, seen = 0; k < t->n_args; k++) {
        size_t i = d->place & 1 ? t->n_args - 1 - k : k;
        const struct task_arg *arg = &t->args[i];
        int64_t elements;
        if (arg->role == ROLE_SCALAR)
            continue;
        bool input = arg->role == ROLE_IN || arg->role == ROLE_INOUT;
        size_t at = d->place & 1 ? s->n_buffers - 1 - seen : seen;
        struct stage_fill *f = &s->fill[at];
        seen++;
        if (!task_shape(t, arg, dims, &elements, err)) {
            stage_close(s);
            return false;
        }
        *f = (struct stage_fill){.arg = arg,
                                 .own = d->own ? &d->own->args[i] : arg,
                                 .dims = s->dims,
                                 .seed = d->seed,
                                 .elements = elements,
                                 .tiles = d->tiles,
                                 .tile = i,
                                 .poison = d->poison,
                                 .answer = input ? NULL : answer[i]};
        if (input)
            f->values = d->values ? &d->values[i] : &f->own->values;
        if (input && d->hollows && d->hollows[i].n)
            f->hollow = &d->hollows[i];
        if (input && d->cheap && elements > TASK_PERIOD && is_of_place_alone(t, f->values)) {
            j->cheap.arena = j->arena;
            f->tiles = &j->cheap;
        }
        if (input && d->inputs)
            f->bytes = d->inputs[i];
        if (input && d->like)
            f->from = d->like->addr[at];
        s->bytes[at] = elements * (int64_t)kernel_type_size(arg->type);
        s->addr[at] = ops->alloc(s, arg->name, (uint64_t)s->bytes[at], f, input || d->trusted, err);
        if (!s->addr[at]) {
            stage_close(s);
            return false;
        }
    }
    return true;
}

struct stage_tiles *stage_tiles_of(struct judge *j, struct arena *a, const int64_t *dims, uint64_t seed)
{
    enum { KEPT_BYTES = 128 << 20 };
    const struct task *t = j->task;
    struct stage_tiles *made;
    size_t bytes = 0;

    for (size_t i = 0; i < j->tiles.n; i++)
        if (j->tiles.v[i]->seed == seed && !memcmp(j->tiles.v[i]->dims, dims, t->n_dims * sizeof(*dims)))
            return j->tiles.v[i];
    for (size_t i = 0; i < t->n_args; i++) {
        int64_t n;
        bool read = t->args[i].role == ROLE_IN || t->args[i].role == ROLE_INOUT;
        if (read && task_shape(t, &t->args[i], dims, &n, NULL))
            bytes += (size_t)MIN(n, (int64_t)TASK_PERIOD) * kernel_type_size(t->args[i].type);
    }
    bool kept = j->tiles_bytes + bytes <= KEPT_BYTES;
    if (kept) {
        a = j->arena;
        j->tiles_bytes += bytes;
    }
    made = arena_new(a, struct stage_tiles);
    *made =
        (struct stage_tiles){.arena = a, .seed = seed, .dims = arena_copy(a, dims, t->n_dims * sizeof(*dims))};
    if (kept)
        vec_add(a, &j->tiles, made);
    return made;
}

int64_t stage_period(const struct stage_fill *f)
{
    return task_value_ordered(f->values->kind) ? f->elements : MIN(f->elements, (int64_t)TASK_PERIOD);
}

static const unsigned char *tile_of(const struct stage_fill *f)
{
    unsigned char **tile = &f->tiles->of[f->tile];
    int64_t n = stage_period(f);

    if (!*tile) {
        *tile = arena_alloc(f->tiles->arena, (size_t)n * kernel_type_size(f->own->type) + 1);
        task_fill(f->own, f->values, f->dims, f->seed, 0, n, *tile);
    }
    return *tile;
}

void stage_values(const struct stage_fill *f, int64_t first, int64_t n, void *to)
{
    size_t size = kernel_type_size(f->arg->type), own_size = kernel_type_size(f->own->type);
    int64_t period = stage_period(f);
    const unsigned char *tile = f->tiles && !f->hollow && period <= TASK_PERIOD ? tile_of(f) : NULL;
    char *p = to;

    if (f->hollow) {
        hollow_values(f, first, n, to);
        return;
    }
    if (!tile && f->own->type == f->arg->type) {
        task_fill(f->own, f->values, f->dims, f->seed, first, n, to);
        return;
    }
    for (int64_t some; !tile && n > 0; first += some, n -= some) { /* as the task's own type rounds them */
        unsigned char own[512 * 8];
        some = MIN(n, (int64_t)512);
        task_fill(f->own, f->values, f->dims, f->seed, first, some, own);
        for (int64_t e = 0; e < some; e++, p += size)
            task_from_double(f->arg->type, task_to_double(f->own->type, own + (size_t)e * own_size), p);
    }
    for (int64_t some; n > 0; first += some, n -= some, p += (size_t)some * size) {
        const unsigned char *from = tile + (size_t)(first % period) * own_size;
        some = MIN(n, period - first % period);
        if (f->own->type == f->arg->type)
            memcpy(p, from, (size_t)some * size);
        else
            for (int64_t e = 0; e < some; e++)
                task_from_double(f->arg->type, task_to_double(f->own->type, from + (size_t)e * own_size),
                                 p + (size_t)e * size);
    }
}

void stage_close(struct stage *s)
{
    if (s->ops)
        s->ops->close(s);
    s->ops = NULL;
    stored_free(&s->ahead.written);
    stored_free(&s->ahead.writes);
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
    struct arena *arena;
    struct fate *fate;
};

static uint64_t address(const struct runner *r, const struct kernel_value *v)
{
    uint64_t base = 0;

    if (v->p.buffer >= 0 && (size_t)v->p.buffer < r->stage->n_buffers)
        base = r->stage->addr[v->p.buffer];
    else if (v->p.buffer <= -2 && (size_t)(-2 - v->p.buffer) < r->stage->n_workspaces)
        base = r->stage->workspaces[-2 - v->p.buffer].addr;
    return base + (uint64_t)v->p.offset_bytes;
}

/* What the plan sets and copies must lie in one buffer: a GPU would not say. */
static bool holds(const struct stage *s, uint64_t addr, uint64_t n)
{
    for (size_t i = 0; i < s->n_buffers; i++)
        if (addr >= s->addr[i] && n <= (uint64_t)s->bytes[i] && addr - s->addr[i] <= (uint64_t)s->bytes[i] - n)
            return true;
    for (size_t i = 0; i < s->n_workspaces; i++)
        if (addr >= s->workspaces[i].addr && n <= s->workspaces[i].bytes &&
            addr - s->workspaces[i].addr <= s->workspaces[i].bytes - n)
            return true;
    return n == 0;
}

enum { MAX_ARG_BYTES = 4096 };

static bool put_argument(const struct runner *r, const struct kernel_value *v, uint32_t size, unsigned char *to)
{
    if (v->struct_bytes) {
        memset(to, 0, size);
        for (size_t i = 0; i < v->n_members; i++) {
            const struct kernel_value *m = &v->members[i].value;
            uint32_t bytes = m->pointer ? 8 : (uint32_t)kernel_type_size(m->type), at = v->members[i].offset;

            if (bytes > size || at > size - bytes || !put_argument(r, m, bytes, to + at))
                return false;
        }
        return size == v->struct_bytes;
    }
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

/* Without PTX that the simulator reads, a GPU takes each argument as wide as the launcher has it. */
static uint32_t argument_size(const struct ptx_kernel_info *info, const struct plan_step *step, size_t i)
{
    if (info)
        return info->param_bytes[i];
    if (step->args[i].struct_bytes)
        return step->args[i].struct_bytes;
    return step->args[i].pointer ? 8 : (uint32_t)kernel_type_size(step->args[i].type);
}

static bool run_launch(const struct runner *r, const struct plan_step *step,
                       const struct stage_visitor *visitor, struct err *err)
{
    const struct ptx_module *module = r->version->module;
    const struct image_kernel *k = version_kernel(r->version, step->kernel);
    const struct ptx_kernel_info *info = k && module ? ptx_module_kernel(module, k->mangled) : NULL;
    const void *args[MAX_ARGS];
    struct ptx_launch l;

    if (!k || (module && !info))
        return fate_isf(r->fate, r->arena, VERDICT_UNSUPPORTED, step->line,
                        "kernel %s is not in the compiled module", step->kernel);
    if ((info && step->n_args != info->n_params) || step->n_args > MAX_ARGS)
        return fate_isf(r->fate, r->arena, VERDICT_NOT_UNDERSTOOD, step->line,
                        "%s takes %zu arguments, the launch gives %zu", step->kernel,
                        info ? info->n_params : MAX_ARGS, step->n_args);
    if (step->shared_bytes < 0 || step->shared_bytes > UINT32_MAX)
        return fate_is(r->fate, VERDICT_LAUNCH_FAILED, step->line, "an impossible amount of shared memory");
    for (size_t i = 0; i < step->n_args; i++) {
        uint32_t size = argument_size(info, step, i);
        unsigned char *value = size <= MAX_ARG_BYTES ? arena_alloc(r->arena, MAX(size, 8u)) : NULL;
        if (!value || !put_argument(r, &step->args[i], size, value))
            return fate_isf(r->fate, r->arena, VERDICT_UNSUPPORTED, step->line,
                            "argument %zu of %s: parameters are integers, floating numbers, pointers or "
                            "plain structs of these",
                            i + 1, step->kernel);
        if (step->args[i].tensor_map && r->stage->ops->tensor_map &&
            !r->stage->ops->tensor_map(r->stage, value, err))
            return false;
        args[i] = value;
    }
    l = (struct ptx_launch){.kernel = k->mangled,
                            .shared_bytes = (uint32_t)step->shared_bytes,
                            .args = args,
                            .n_args = step->n_args,
                            .cooperative = step->cooperative,
                            .programmatic = step->programmatic,
                            .non_portable_cluster = step->non_portable_cluster};
    memcpy(l.cluster, step->cluster, sizeof(l.cluster));
    memcpy(l.grid, step->grid, sizeof(l.grid));
    memcpy(l.block, step->block, sizeof(l.block));
    return visitor->launch(visitor->context, step, &l, k, r->fate, err);
}

static bool run_move(const struct runner *r, const struct plan_step *step, struct err *err)
{
    struct stage *s = r->stage;
    bool set = step->kind == PLAN_MEMSET;
    uint64_t to = address(r, &step->to), from = set ? 0 : address(r, &step->from);
    size_t size = (size_t)step->size_bytes;

    if (step->size_bytes < 0 || !holds(s, to, size) || (!set && !holds(s, from, size)))
        return fate_isf(r->fate, r->arena, VERDICT_UNSAFE, step->line,
                        "%s of %lld bytes goes beyond its buffer", set ? "cudaMemsetAsync" : "cudaMemcpyAsync",
                        (long long)step->size_bytes);
    if (size == 0)
        return true;
    if (s->graph)
        return set ? cuda_graph_set(s->graph, to, step->byte, size, err)
                   : cuda_graph_copy(s->graph, to, from, size, err);
    return set ? s->ops->set(s, to, step->byte, size, err) : s->ops->copy(s, to, from, size, err);
}

/* What nobody reads the compiler has dropped. */
static bool run_constant(const struct runner *r, const struct plan_step *step, struct err *err)
{
    const struct ptx_module *module = r->version->module;
    uint32_t size = (uint32_t)step->size_bytes;
    unsigned char *value = arena_alloc(r->arena, MAX(size, 8u));
    const char *name = NULL;
    uint64_t room = 0;
    size_t n = module ? ptx_module_constant(module, step->kernel, &name, &room) : 2;

    if (n > 1 || !put_argument(r, &step->from, size, value))
        return fate_isf(r->fate, r->arena, VERDICT_UNSUPPORTED, step->line,
                        "which variable %s is, or what it gets, is not sure", step->kernel);
    if (n == 0)
        return true;
    if ((uint64_t)step->to.p.offset_bytes + size > room)
        return fate_isf(r->fate, r->arena, VERDICT_UNSAFE, step->line,
                        "a copy of %u bytes goes beyond the %llu of %s", size, (unsigned long long)room,
                        step->kernel);
    return r->stage->ops->constant(
        r->stage, r->version, &(struct stage_constant){name, (uint64_t)step->to.p.offset_bytes, value, size},
        err);
}

/* A plan that runs again on the same stage finds its workspaces as it left them, as on a GPU whose pool gives
 * the same memory back. */
static bool make_workspaces(struct stage *s, const struct plan *plan, struct arena *a, struct fate *fate,
                            struct err *err)
{
    if (s->planned == plan)
        return true;
    s->workspaces = arena_array(a, struct stage_range, plan->n_workspaces + 1);
    s->n_workspaces = 0;
    s->planned = plan;
    for (size_t i = 0; i < plan->n_workspaces; i++) {
        int64_t bytes = plan->workspace_bytes[i];
        if (bytes <= 0 || bytes > (int64_t)s->judge->device->dram_bytes)
            return fate_isf(fate, a, VERDICT_LAUNCH_FAILED, 0, "a workspace of %lld bytes", (long long)bytes);
        uint64_t addr =
            s->ops->alloc(s, arena_printf(a, "workspace %zu", i + 1), (uint64_t)bytes, NULL, false, err);
        if (!addr)
            return false;
        s->workspaces[s->n_workspaces++] = (struct stage_range){addr, (uint64_t)bytes};
    }
    return true;
}

/* ---- launches that may begin before the one ahead has ended ----
 * The plan's first comes behind a kernel that nobody knows. A step that may not begin early finds all ahead of
 * it ended; one that may has waited for it when it ends, but may have let the next begin before. */

static void plan_begins(struct stage_ahead *a, const struct plan *plan)
{
    stored_clear(&a->written);
    stored_clear(&a->writes);
    a->followed = false;
    a->unknown = true;
    for (size_t i = 0; i < plan->n_steps; i++)
        a->followed |= plan->steps[i].programmatic;
}

static void step_begins(struct stage_ahead *a, const struct plan_step *step)
{
    if (!a->followed || step->programmatic)
        return;
    stored_clear(&a->written);
    a->unknown = false;
}

static void step_ends(struct stage_ahead *a)
{
    stored_join(&a->written, &a->writes);
    stored_clear(&a->writes);
}

static bool still_written(void *context, uint64_t addr, uint64_t bytes)
{
    return stored_bytes(context, addr, bytes) > 0;
}

struct sanitize_ahead stage_ahead(struct stage *s)
{
    return (struct sanitize_ahead){s->ahead.unknown, &s->ahead.written, still_written};
}

bool stage_run(struct stage *s, struct version *v, const struct plan *plan, const struct stage_visitor *visitor,
               struct arena *a, struct fate *fate, struct err *err)
{
    struct runner r = {s, v, a, fate};
    bool ok = make_workspaces(s, plan, a, fate, err);

    plan_begins(&s->ahead, plan);
    for (size_t i = 0; ok && i < plan->n_steps && fate_open(fate); i++) {
        const struct plan_step *step = &plan->steps[i];
        step_begins(&s->ahead, step);
        if (step->kind == PLAN_LAUNCH) {
            ok = run_launch(&r, step, visitor, err);
            step_ends(&s->ahead);
            continue;
        }
        ok = step->kind == PLAN_CONSTANT ? run_constant(&r, step, err) : run_move(&r, step, err);
        if (ok && fate_open(fate) && visitor->move)
            visitor->move(visitor->context, step, (double)step->size_bytes * (step->kind == PLAN_COPY ? 2 : 1));
    }
    return ok;
}

bool stage_moves_much(const struct stage *s, const struct plan *plan)
{
    enum { MUCH = 1 << 24 };

    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *step = &plan->steps[i];
        int32_t from = step->from.p.buffer;
        if (step->kind == PLAN_COPY && step->size_bytes > MUCH &&
            (from < 0 || (size_t)from >= s->n_buffers || s->fill[from].arg->role != ROLE_IN))
            return true;
    }
    return false;
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
    fate_isf(fate, a, verdicts[r->end], own ? f->line : 0, "%s (%s)", f ? f->words : ptx_end_name(r->end),
             where);
}
