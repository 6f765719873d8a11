/* The simulator's speed: warp instructions a second on one core, without checks, with all of them, with a
 * shadow (and how many times the checked time that takes) and with the terms of sums in the shadow's place; and
 * what the instructions were. Kernels: all examples' originals, with --use_fast_math (fast) and without, and
 * their production forms (with it).
 *
 *     bench_sim [FILTER]        ASTRA_SIM_ISA=base|v3|v4 chooses the handlers */
#include <time.h>

#include "gpu/gpu.h"
#include "kernel/kernel.h"
#include "sanitize/sanitize.h"
#include "shadow/shadow.h"

/* bench_mix.c: count the instructions of a module's launches in between, then print the most frequent. */
void mix_begin(struct ptx_module *m);
void mix_end(struct ptx_module *m);

#define EX(file) "examples/" file
#define FAST     "--use_fast_math"

static const struct work {
    const char *name, *file, *entry;
    int64_t scalars[3];
    size_t n_scalars;
    double eps; /* NAN: none */
    const char *flag;
} works[] = {
    {"silu_and_mul", EX("silu_and_mul/kernel.cu"), "silu_and_mul", {64, 4096}, 2, NAN, NULL},
    {"silu_and_mul fast", EX("silu_and_mul/kernel.cu"), "silu_and_mul", {64, 4096}, 2, NAN, FAST},
    {"silu_and_mul production", EX("silu_and_mul/production.cu"), "silu_and_mul", {256, 4096}, 2, NAN, FAST},
    {"silu_and_mul_bf16", EX("silu_and_mul_bf16/kernel.cu"), "silu_and_mul", {64, 4096}, 2, NAN, NULL},
    {"silu_and_mul_bf16 fast", EX("silu_and_mul_bf16/kernel.cu"), "silu_and_mul", {64, 4096}, 2, NAN, FAST},
    {"silu_and_mul_bf16 production",
     EX("silu_and_mul_bf16/production.cu"),
     "silu_and_mul",
     {256, 4096},
     2,
     NAN,
     FAST},
    {"fused_add_rmsnorm", EX("fused_add_rmsnorm/kernel.cu"), "fused_add_rmsnorm", {64, 4096}, 2, 1e-5, NULL},
    {"fused_add_rmsnorm fast",
     EX("fused_add_rmsnorm/kernel.cu"),
     "fused_add_rmsnorm",
     {64, 4096},
     2,
     1e-5,
     FAST},
    {"fused_add_rmsnorm production",
     EX("fused_add_rmsnorm/production.cu"),
     "fused_add_rmsnorm",
     {1024, 4096},
     2,
     1e-5,
     FAST},
    {"fused_add_rmsnorm_bf16",
     EX("fused_add_rmsnorm_bf16/kernel.cu"),
     "fused_add_rmsnorm",
     {64, 4096},
     2,
     1e-5,
     NULL},
    {"fused_add_rmsnorm_bf16 fast",
     EX("fused_add_rmsnorm_bf16/kernel.cu"),
     "fused_add_rmsnorm",
     {64, 4096},
     2,
     1e-5,
     FAST},
    {"fused_add_rmsnorm_bf16 production",
     EX("fused_add_rmsnorm_bf16/production.cu"),
     "fused_add_rmsnorm",
     {1024, 4096},
     2,
     1e-5,
     FAST},
    {"merge_attn_states", EX("merge_attn_states/kernel.cu"), "merge_attn_states", {64, 32, 128}, 3, NAN, NULL},
    {"merge_attn_states fast",
     EX("merge_attn_states/kernel.cu"),
     "merge_attn_states",
     {64, 32, 128},
     3,
     NAN,
     FAST},
    {"merge_attn_states production",
     EX("merge_attn_states/production.cu"),
     "merge_attn_states",
     {256, 32, 128},
     3,
     NAN,
     FAST},
    {"softmax", EX("softmax/kernel.cu"), "softmax", {64, 4096}, 2, NAN, NULL},
    {"softmax fast", EX("softmax/kernel.cu"), "softmax", {64, 4096}, 2, NAN, FAST},
    {"layernorm", EX("layernorm/kernel.cu"), "layernorm", {64, 4096}, 2, 1e-5, NULL},
    {"layernorm fast", EX("layernorm/kernel.cu"), "layernorm", {64, 4096}, 2, 1e-5, FAST},
    {"rotary_embedding", EX("rotary_embedding/kernel.cu"), "rotary_embedding", {64, 32, 64}, 3, NAN, NULL},
    {"rotary_embedding fast", EX("rotary_embedding/kernel.cu"), "rotary_embedding", {64, 32, 64}, 3, NAN, FAST},
    {"transpose", EX("transpose/kernel.cu"), "transpose", {512, 1024}, 2, NAN, NULL},
    {"transpose fast", EX("transpose/kernel.cu"), "transpose", {512, 1024}, 2, NAN, FAST},
    {"histogram", EX("histogram/kernel.cu"), "histogram", {64, 4096}, 2, NAN, NULL},
    {"histogram fast", EX("histogram/kernel.cu"), "histogram", {64, 4096}, 2, NAN, FAST},
};

static void fill(void *context, uint64_t offset, void *to, size_t size)
{
    enum kernel_type type = *(enum kernel_type *)context;
    size_t element = kernel_type_size(type);
    for (size_t k = 0; k + element <= size; k += element) {
        float x = (float)(4 * rng_unit_of(rng_hash(7, (offset + k) / element)) - 2);
        uint32_t bits;
        memcpy(&bits, &x, 4);
        if (type == KT_F16)
            memcpy((char *)to + k, &(_Float16){(_Float16)x}, 2);
        else if (type == KT_BF16)
            memcpy((char *)to + k, &(uint16_t){(uint16_t)(bits >> 16)}, 2);
        else
            memcpy((char *)to + k, &bits, element);
    }
}

struct bench {
    const struct work *work;
    struct arena *arena;
    struct kernel *kernel;
    struct plan plan;
    struct kernel_value args[16];
    struct compile_result compiled;
    struct ptx_module *module;
};

/* Processor time, so that a busy machine gives the same figures. */
static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool prepare(struct bench *b, struct nvrtc *n, struct err *err)
{
    char *text;
    size_t len;
    if (!fs_read(b->arena, b->work->file, &text, &len, err) ||
        !kernel_open(&b->kernel, b->arena, b->work->file, text, len, b->work->entry, err))
        return false;
    const struct kernel *k = b->kernel;
    int buffer = 0;
    size_t scalar = 0;
    for (size_t p = 0; p < k->n_params && p < ARRAY_LEN(b->args); p++) {
        b->args[p] = (struct kernel_value){.type = k->params[p].type, .pointer = k->params[p].pointer};
        if (k->params[p].pointer)
            b->args[p].p.buffer = buffer++;
        else if (k->params[p].type == KT_F32)
            b->args[p].f = b->work->eps;
        else
            b->args[p].i = b->work->scalars[scalar++ % b->work->n_scalars];
    }
    const struct ptx_device *d = ptx_device_find("h200");
    struct kernel_limits limits = {.device_name = d->full_name,
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
                                   .registers_per_sm = d->registers_per_sm};
    if (!kernel_plan(&b->plan, b->arena, k, b->args, NULL, &limits, err))
        return false;
    struct compile_request q = {.path = k->path,
                                .text = k->device_text,
                                .arch = "sm_90",
                                .flags = &b->work->flag,
                                .n_flags = b->work->flag ? 1 : 0,
                                .kernels = b->plan.kernels,
                                .n_kernels = b->plan.n_kernels};
    if (!gpu_compile(n, b->arena, &q, &b->compiled, err))
        return false;
    if (!b->compiled.image.ptx)
        return err_world(err, "%s: %s", b->work->file, b->compiled.words);
    return ptx_module_open(&b->module, b->work->file, b->compiled.image.ptx, b->compiled.image.ptx_len, err);
}

enum { SHADOW = 1 << 16, TERMS = 1 << 17 }; /* beside enum sanitize_checks */

/* The whole plan once on fresh memory; the time is of the launches alone. */
static bool run(struct bench *b, unsigned checks, double *seconds, uint64_t *insns, double *lanes,
                struct err *err)
{
    struct ptx_mem *mem = ptx_mem_open(1);
    uint64_t addr[16], spaces[4];
    enum kernel_type types[16];
    bool ok = true;
    uint64_t all = 1;
    for (size_t s = 0; s < b->work->n_scalars; s++)
        all *= (uint64_t)b->work->scalars[s];
    for (size_t p = 0; ok && p < b->kernel->n_params; p++) {
        if (!b->args[p].pointer)
            continue;
        int k = b->args[p].p.buffer;
        types[k] = b->args[p].type;
        struct ptx_buffer buffer = {.name = b->kernel->params[p].name,
                                    .size_bytes = 2 * all * kernel_type_size(types[k]),
                                    .initialised = true,
                                    .fill = fill,
                                    .context = &types[k]};
        addr[k] = ptx_mem_alloc(mem, &buffer, err);
        ok = addr[k] != 0;
        for (uint64_t at = 0; ok && at < buffer.size_bytes; at += 4096) { /* pages made beforehand */
            char byte;
            ptx_mem_read(mem, addr[k] + at, &byte, 1);
        }
    }
    for (size_t k = 0; ok && k < MIN(b->plan.n_workspaces, ARRAY_LEN(spaces)); k++) {
        struct ptx_buffer buffer = {.name = "workspace", .size_bytes = (uint64_t)b->plan.workspace_bytes[k]};
        ok = (spaces[k] = ptx_mem_alloc(mem, &buffer, err)) != 0;
    }
    *seconds = 0;
    *insns = 0;
    uint64_t lane_insns = 0;
    for (size_t s = 0; ok && s < b->plan.n_steps; s++) {
        const struct plan_step *step = &b->plan.steps[s];
        if (step->kind != PLAN_LAUNCH)
            continue;
        const char *mangled = NULL;
        for (size_t k = 0; k < b->compiled.image.n_kernels; k++)
            if (!strcmp(b->compiled.image.kernels[k].expression, step->kernel))
                mangled = b->compiled.image.kernels[k].mangled;
        uint64_t values[16];
        const void *args[16];
        for (size_t k = 0; k < step->n_args && k < ARRAY_LEN(args); k++) {
            const struct kernel_value *v = &step->args[k];
            float f = (float)v->f;
            values[k] = (uint64_t)v->i;
            if (v->pointer)
                values[k] = (v->p.buffer < 0 ? spaces[-2 - v->p.buffer] : addr[v->p.buffer]) +
                            (uint64_t)v->p.offset_bytes;
            if (!v->pointer && v->type == KT_F32)
                memcpy(&values[k], &f, 4);
            args[k] = &values[k];
        }
        struct ptx_launch l = {.kernel = mangled,
                               .shared_bytes = (uint32_t)step->shared_bytes,
                               .args = args,
                               .n_args = step->n_args};
        memcpy(l.grid, step->grid, sizeof(l.grid));
        memcpy(l.block, step->block, sizeof(l.block));
        struct ptx_shadow *shadow = checks & SHADOW ? ptx_shadow_open() : NULL;
        if (checks & TERMS)
            shadow = ptx_shadow_open_terms(0, false);
        struct sanitizer sanitizer;
        struct ptx_options o = {
            .device = ptx_device_find("h200"),
            .observers = {sanitizer_on(&sanitizer, checks & SANITIZE_ALL), ptx_shadow_observer(shadow)}};
        struct ptx_report r = {0};
        double start = cpu_s();
        ok = ptx_run(b->module, mem, &l, &o, &r, err);
        *seconds += cpu_s() - start;
        *insns += r.warp_insns;
        lane_insns += r.lane_insns;
        if (ok && r.end != PTX_DONE)
            ok = err_world(err, "%s: %s: %s", b->work->name, ptx_end_name(r.end),
                           r.n_findings ? r.findings[0].words : "");
        ptx_report_clear(&r);
        ptx_shadow_close(shadow);
    }
    *lanes = (double)lane_insns / (double)*insns;
    ptx_mem_close(mem);
    return ok;
}

static bool best(struct bench *b, unsigned checks, double *rate, uint64_t *insns, double *lanes,
                 struct err *err)
{
    *rate = 0;
    for (int k = 0; k < 5; k++) {
        double s;
        if (!run(b, checks, &s, insns, lanes, err))
            return false;
        *rate = MAX(*rate, (double)*insns / s * 1e-6);
    }
    return true;
}

static bool print_mix(struct bench *b, struct err *err)
{
    double seconds, lanes;
    uint64_t insns;
    mix_begin(b->module);
    bool ok = run(b, 0, &seconds, &insns, &lanes, err);
    mix_end(b->module);
    return ok;
}

int main(int argc, char **argv)
{
    struct nvrtc *n = NULL;
    struct err err = {0};
    char line[4096];
    bool ok = nvrtc_open(&n, &err);
    printf(
        "million warp instructions a second, one core         unchecked   checked    shadow  factor     terms   "
        "lanes\n");
    for (size_t k = 0; ok && k < ARRAY_LEN(works); k++) {
        if (argc > 1 && !strstr(works[k].name, argv[1]))
            continue;
        struct bench b = {.work = &works[k], .arena = arena_open()};
        double plain, checked, shadow, terms, lanes;
        uint64_t insns;
        ok = prepare(&b, n, &err) && best(&b, 0, &plain, &insns, &lanes, &err) &&
             best(&b, SANITIZE_ALL, &checked, &insns, &lanes, &err) &&
             best(&b, SHADOW, &shadow, &insns, &lanes, &err) && best(&b, TERMS, &terms, &insns, &lanes, &err);
        if (ok) {
            printf("%-52s %9.1f %9.1f %9.1f %7.2f %9.1f %7.1f\n", works[k].name, plain, checked, shadow,
                   checked / shadow, terms, lanes);
            ok = print_mix(&b, &err);
        }
        fflush(stdout);
        ptx_module_close(b.module);
        if (b.kernel)
            kernel_close(b.kernel);
        arena_close(b.arena);
    }
    nvrtc_close(n);
    if (!ok)
        fprintf(stderr, "bench_sim: %s\n", err_format(&err, line, sizeof(line)));
    return !ok;
}
