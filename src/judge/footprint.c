/* What a version touches of its arguments, whatever shapes the task gives them: the buffers are larger than
 * what any small shape needs, and an observer looks at every access. */
#include "internal.h"

enum { ROOM = 1 << 26, MOST_INSNS = 1 << 20, MOST_CASE_INSNS = 1 << 22, FILLED = 1 << 16, HASHED = 1 << 20 };

struct footprints {
    struct judge *judge;
    struct arena *arena;
    struct version version;
    struct sanitize_footprint seen; /* of the run at hand */
    uint8_t **drawn;                /* by argument: what fill_drawn gives it; NULL: nothing yet */
};

/* What a case says of a buffer, and zeros behind its shape's end. */
static void fill_of_case(void *context, uint64_t offset, void *to, size_t size)
{
    const struct stage_fill *f = context;
    const int64_t element = (int64_t)kernel_type_size(f->arg->type), first = (int64_t)offset / element;
    const int64_t n = MIN((int64_t)size / element, f->elements - first);

    memset(to, 0, size);
    if (n > 0)
        stage_values(f, first, n, to);
}

static uint64_t room_with(struct stage *s, const char *name, uint64_t bytes, const struct stage_fill *f,
                          void (*fill)(void *context, uint64_t offset, void *to, size_t size), struct err *err)
{
    const struct ptx_buffer b = {.name = name,
                                 .size_bytes = f ? ROOM : bytes,
                                 .initialised = true,
                                 .fill = f && f->values ? fill : NULL,
                                 .context = (void *)f};

    return ptx_mem_alloc(s->mem, &b, err);
}

static uint64_t room(struct stage *s, const char *name, uint64_t bytes, const struct stage_fill *f,
                     bool initialised, struct err *err)
{
    (void)initialised;
    return room_with(s, name, bytes, f, NULL, err);
}

static uint64_t room_filled(struct stage *s, const char *name, uint64_t bytes, const struct stage_fill *f,
                            bool initialised, struct err *err)
{
    (void)initialised;
    return room_with(s, name, bytes, f, fill_of_case, err);
}

struct taking {
    struct footprints *of;
    struct stage *stage;
    struct arena *arena;
    const struct footprint_run *run;
    struct footprint *out;
};

static uint64_t most_insns(const struct footprint_run *run)
{
    if (run->most_insns)
        return run->most_insns;
    return run->as ? MOST_CASE_INSNS : MOST_INSNS;
}

static bool launch(void *context, const struct plan_step *step, const struct ptx_launch *l,
                   const struct image_kernel *k, struct fate *fate, struct err *err)
{
    const uint64_t ends[] = {0, (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] - 1};
    struct taking *t = context;
    struct sanitizer sanitizer = {0};
    struct ptx_options o = {.device = t->of->judge->device,
                            .observers = {sanitize_footprint_on(&t->of->seen)},
                            .max_warp_insns = most_insns(t->run),
                            .blocks = t->run->one_block || t->run->ends ? ends : NULL,
                            .n_blocks = t->run->ends && ends[1] > 0 ? 2 : t->run->one_block || t->run->ends,
                            .seed = t->run->order,
                            .registers = k->resources.registers};
    struct ptx_report report = {0};

    (void)step;
    if (t->run->checked) /* it looks from the same place as what follows extents */
        o.observers[0] = sanitizer_on(&sanitizer, checks_of(t->of->judge));
    if (!ptx_run(t->of->version.module, t->stage->mem, l, &o, &report, err))
        return false;
    t->out->warp_insns += report.warp_insns;
    t->out->endless |= report.warp_insns >= most_insns(t->run);
    fate_of_report(t->arena, &t->of->version, &report, "in buffers of 64 MB", fate);
    ptx_report_clear(&report);
    return true;
}

/* What the plan sets or copies into counts as written. */
static void moved(struct taking *t, const struct plan *plan)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *step = &plan->steps[i];
        if (step->kind != PLAN_LAUNCH && step->to.p.buffer >= 0 && step->size_bytes > 0)
            sanitize_extent_set(&t->of->seen,
                                t->stage->addr[step->to.p.buffer] + (uint64_t)step->to.p.offset_bytes,
                                (uint64_t)step->size_bytes);
    }
}

/* The first 64 KB of a buffer: elements of these bits, each more by `rise`. */
static void fill(struct stage *s, const struct task *t, size_t arg, uint64_t bits, uint64_t rise)
{
    uint8_t bytes[FILLED];
    size_t size = kernel_type_size(t->args[arg].type);
    int64_t have;

    const size_t each = rise ? sizeof(bytes) : size;
    for (size_t i = 0; i + size <= each; i += size, bits += rise)
        memcpy(bytes + i, &bits, size);
    for (size_t n = each; n < sizeof(bytes); n *= 2) /* elements have 1, 2, 4 or 8 bytes */
        memcpy(bytes + n, bytes, MIN(n, sizeof(bytes) - n));
    ptx_mem_write(s->mem, stage_arg(s, arg, &have), bytes, sizeof(bytes), true);
}

static void fill_ones(struct stage *s, const struct task *t)
{
    for (size_t i = 0; i < t->n_args; i++) {
        uint64_t one = 0;

        if (t->args[i].role == ROLE_SCALAR)
            continue;
        if (t->args[i].type == KT_F16)
            one = 0x3c00;
        else if (t->args[i].type == KT_BF16)
            one = 0x3f80;
        else if (t->args[i].type == KT_F32)
            one = bits_f32(1);
        else if (t->args[i].type == KT_F64)
            one = bits_f64(1);
        if (one)
            fill(s, t, i, one, 0);
    }
}

/* The same in every run. */
static void fill_drawn(struct footprints *fp, struct stage *s, const struct footprint_run *run)
{
    static const struct task_values normal = {.kind = VALUE_NORMAL};
    const struct task *t = fp->judge->task;

    if (!fp->drawn)
        fp->drawn = arena_array(fp->arena, uint8_t *, t->n_args + 1);

    for (size_t i = 0; i < t->n_args; i++) {
        const struct task_arg *arg = &t->args[i];
        const struct stage_fill f = {
            .arg = arg, .own = arg, .values = &normal, .dims = run->dims, .seed = rng_hash(1, i)};
        const size_t n = FILLED / kernel_type_size(arg->type);
        int64_t have;

        if (arg->role == ROLE_SCALAR || !type_is_floating(arg->type) || (run->rising && run->rising[i]))
            continue;
        if (!fp->drawn[i]) {
            fp->drawn[i] = arena_alloc(fp->arena, FILLED);
            stage_values(&f, 0, (int64_t)n, fp->drawn[i]);
        }
        ptx_mem_write(s->mem, stage_arg(s, i, &have), fp->drawn[i], FILLED, true);
    }
}

bool footprints_open(struct footprints **out, struct judge *j, const char *path, const char *text,
                     struct err *err)
{
    struct arena *a = arena_open();
    struct footprints *f = arena_new(a, struct footprints);
    struct fate fate = {0};
    bool ok;

    *f = (struct footprints){.judge = j, .arena = a};
    f->version = (struct version){.judge = j, .arena = a, .task = j->task};
    ok = version_open(&f->version, path, text, &fate, err);
    if (ok && !fate_open(&fate))
        ok = err_at(err, path, fate.line, fate.col, "%s: %s", verdict_name(fate.verdict), fate.words);
    if (!ok) {
        footprints_close(f);
        return false;
    }
    *out = f;
    return true;
}

void footprints_close(struct footprints *f)
{
    if (!f)
        return;
    version_close(&f->version);
    arena_close(f->arena);
}

static uint64_t hash_of(struct stage *s, const struct sanitize_extent *e)
{
    const size_t n = (size_t)MIN(e->end, (uint64_t)HASHED);
    char *bytes = mem_zalloc(n + 1);

    ptx_mem_read(s->mem, e->addr, bytes, n);
    const uint64_t hash = hash_bytes(bytes, n, 0);
    free(bytes);
    return hash;
}

/* An undefined value that was stored to an argument; NULL: there is none. */
static const char *stored_undefined(struct stage *s, struct arena *a, const struct task *t)
{
    for (size_t i = 0; i < t->n_args; i++) {
        int64_t bytes;
        const uint64_t addr = t->args[i].role == ROLE_SCALAR ? 0 : stage_arg(s, i, &bytes);
        const int64_t at = addr ? ptx_mem_first_uninitialised(s->mem, addr, ROOM) : -1;
        struct ptx_finding who;
        if (at >= 0 && ptx_mem_explain(s->mem, addr + (uint64_t)at, &who))
            return arena_strdup(a, who.words);
    }
    return NULL;
}

bool footprint_take(struct footprint *out, struct arena *a, struct footprints *f,
                    const struct footprint_run *run, struct err *err)
{
    const struct task *task = f->judge->task;
    struct stage_ops ops = stage_sim;
    const struct stage_data data = {.values = run->as ? run->as->values : NULL,
                                    .seed = run->as ? run->as->seed : 0};
    struct stage stage;
    struct taking t = {f, &stage, a, run, out};
    const struct stage_visitor visitor = {.context = &t, .launch = launch};
    struct fate fate = {0};
    struct plan plan;
    bool ok;

    *out = (struct footprint){.args = arena_array(a, struct footprint_arg, task->n_args + 1)};
    ops.alloc = run->as ? room_filled : room;
    if (!stage_open(&stage, f->judge, &ops, task, run->dims, &data, err))
        return false;
    f->seen = (struct sanitize_footprint){.v = arena_array(a, struct sanitize_extent, stage.n_buffers + 1),
                                          .n = stage.n_buffers};
    for (size_t i = 0; i < stage.n_buffers; i++) {
        f->seen.v[i] = (struct sanitize_extent){.addr = stage.addr[i], .bytes = ROOM};
        stage.bytes[i] = ROOM;
    }
    for (size_t i = 0; i < task->n_args; i++) {
        const bool rises = run->rising && run->rising[i], filled = i == run->filled;
        const bool integers = task->args[i].role != ROLE_SCALAR && !type_is_floating(task->args[i].type);
        const bool always = integers && task->args[i].values.kind == VALUE_CONSTANT;
        const uint64_t one = always ? (uint64_t)(int64_t)task->args[i].values.constant : 1;
        if (rises)
            fill(&stage, task, i, 0, filled ? (uint64_t)run->with : 1);
        else if (filled || always || (integers && run->counted))
            fill(&stage, task, i, filled ? (uint64_t)run->with : one, 0);
    }
    if (run->ones)
        fill_ones(&stage, task);
    if (run->drawn)
        fill_drawn(f, &stage, run);
    if (run->as)
        f->version.task = task_of_case(a, task, run->as);
    ok = version_plan(&f->version, a, run->dims, stage.addr, &plan, &fate, err);
    if (ok && fate_open(&fate)) {
        moved(&t, &plan);
        ok = stage_run(&stage, &f->version, &plan, &visitor, a, &fate, err);
    }
    f->version.task = task;
    out->ran = ok && fate_open(&fate);
    out->refused = fate.verdict == VERDICT_LAUNCH_FAILED || fate.verdict == VERDICT_NOT_UNDERSTOOD;
    out->words = out->ran && run->checked ? stored_undefined(&stage, a, task) : fate.words;
    out->ran = out->ran && (!run->checked || !out->words);
    for (size_t i = 0, at = 0; i < task->n_args; i++) {
        if (task->args[i].role == ROLE_SCALAR)
            continue;
        const struct sanitize_extent *e = &f->seen.v[at++];
        out->args[i] = (struct footprint_arg){e->end, e->written, e->read, e->wrote, e->read_first, e->atomic};
        if (run->as && e->wrote)
            out->args[i].hash = hash_of(&stage, e);
    }
    sanitize_footprint_close(&f->seen);
    stage_close(&stage);
    return ok;
}
