/* A module: opened from its text, asked for its kernels. */
#include "lower.h"

static void find_infos(struct ptx_module *m)
{
    struct ptx_kernel_info *list = arena_array(m->arena, struct ptx_kernel_info, m->n_funcs + 1);
    for (size_t k = 0; k < m->n_funcs; k++) {
        struct func *f = &m->funcs[k];
        if (!f->is_entry || !f->has_body)
            continue;
        uint32_t *bytes = arena_array(m->arena, uint32_t, f->n_params + 1);
        for (size_t q = 0; q < f->n_params; q++)
            bytes[q] = f->params[q]->bytes;
        f->info.name = f->name;
        f->info.n_params = f->n_params;
        f->info.param_bytes = bytes;
        f->info.shared_bytes = f->shared_bytes;
        f->info.local_bytes = f->local_bytes;
        list[m->n_infos++] = f->info;
    }
    m->infos = list;
}

static void module_select(struct ptx_module *m); /* handlers for this processor */

bool ptx_module_open(struct ptx_module **out, const char *name, const char *text, size_t len, struct err *err)
{
    static uint64_t serials;
    struct arena *a = arena_open();
    struct ptx_module *m = arena_new(a, struct ptx_module);
    m->arena = a;
    m->name = arena_strdup(a, name ? name : "ptx");
    m->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
    struct parsed p = {.module = m};
    bool ok = module_parse(&p, text, len, err) && module_lower(&p, err);
    if (ok) {
        m->code = arena_copy(a, p.code.v, (p.code.n + 1) * sizeof(*p.code.v) - sizeof(*p.code.v));
        m->n_code = p.code.n;
        m->funcs = arena_copy(a, p.funcs.v, p.funcs.n * sizeof(*p.funcs.v));
        m->n_funcs = p.funcs.n;
        m->vars = arena_copy(a, p.vars.v, p.vars.n * sizeof(*p.vars.v));
        m->n_vars = p.vars.n;
        m->locs = arena_copy(a, p.locs.v, p.locs.n * sizeof(*p.locs.v));
        m->n_locs = p.locs.n;
        m->files = arena_copy(a, p.files.v, p.files.n * sizeof(*p.files.v));
        m->n_files = p.files.n;
        find_infos(m);
        module_select(m);
        *out = m;
    }
    vec_free(&p.code);
    vec_free(&p.funcs);
    vec_free(&p.vars);
    vec_free(&p.locs);
    vec_free(&p.files);
    vec_free(&p.vregs);
    if (!ok)
        arena_close(a);
    return ok;
}

void ptx_module_close(struct ptx_module *m)
{
    if (m)
        arena_close(m->arena);
}

size_t ptx_module_kernels(const struct ptx_module *m, const struct ptx_kernel_info **list)
{
    *list = m->infos;
    return m->n_infos;
}

const struct ptx_kernel_info *ptx_module_kernel(const struct ptx_module *m, const char *name)
{
    for (size_t k = 0; k < m->n_infos; k++)
        if (!strcmp(m->infos[k].name, name))
            return &m->infos[k];
    return NULL;
}

uint64_t ptx_module_hash(const struct ptx_module *m)
{
    return m->hash;
}

/* ---- handlers for this processor ---- */

/* Handlers of functions called through isa.h, of each instruction set that was compiled in. */
#define ISA_TABLE(isa)                            \
    extern exec_fn *select_##isa(struct insn *i); \
    extern loop_fn warp_loop_##isa;
ISA_TABLE(base)
#ifdef PTX_ISA_v3
ISA_TABLE(v3)
#endif
#ifdef PTX_ISA_v4
ISA_TABLE(v4)
#endif

static const struct {
    const char *name;
    enum isa isa;
    exec_fn *(*select)(struct insn *i);
    loop_fn *loop;
} isas[] = {
#ifdef PTX_ISA_v4
    {"v4", ISA_V4, select_v4, warp_loop_v4},
#endif
#ifdef PTX_ISA_v3
    {"v3", ISA_V3, select_v3, warp_loop_v3},
#endif
    {"base", ISA_BASE, select_base, warp_loop_base},
};

static bool isa_usable(const char *name)
{
    const char *forced = getenv("ASTRA_SIM_ISA"); /* for comparing them: base, v3, v4 */
    if (forced && *forced && strcmp(forced, name) && strcmp(name, "base"))
        return false;
#ifdef __x86_64__
    __builtin_cpu_init();
    if (!strcmp(name, "v4"))
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx2") &&
               __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    if (!strcmp(name, "v3"))
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi2");
#endif
    return true;
}

void insn_unsupported(struct warp *w, const struct insn *i, uint32_t m)
{
    (void)m;
    fault_unsupported(w, i, NULL);
}

static void module_select(struct ptx_module *m)
{
    size_t isa = 0;
    while (isa + 1 < ARRAY_LEN(isas) && !isa_usable(isas[isa].name))
        isa++;
    m->loop = isas[isa].loop;
    m->isa = isas[isa].isa;
    for (size_t k = 0; k < m->n_code; k++) {
        struct insn *i = &m->code[k];
        i->fn = isas[isa].select(i);
        if (!i->fn)
            i->fn = insn_unsupported;
    }
}
