/* Calls. Every function has one place for its registers, parameters and local frame in each warp; lanes are
 * columns of it, so lanes that are in the function for different callers do not meet. A function that may call
 * itself saves the caller's columns before and brings them back after; its local frame moves by the size of all
 * frames at each level. */
#include "machine.h"

struct save_stack { /* one lane's saved columns */
    uint8_t *v;
    size_t n, cap;
};

static uint8_t *save_space(struct save_stack *s, size_t bytes)
{
    if (s->n + bytes > s->cap) {
        s->cap = MAX(2 * s->cap, s->n + bytes + 256);
        s->v = mem_realloc(s->v, s->cap);
    }
    s->n += bytes;
    return s->v + s->n - bytes;
}

/* Copy lane's column of f's registers and parameters to or from p. */
static void column_copy(struct warp *w, const struct func *f, unsigned lane, uint8_t *p, bool save)
{
    for (uint32_t k = 0; k < f->n_places; k++) {
        const struct place *o = &f->places[k];
        if (!o->bytes) {
            uint32_t *word = REG(uint32_t, w, o->off);
            if (save)
                *p = *word >> lane & 1;
            else
                *word = (*word & ~(1u << lane)) | (uint32_t)*p << lane;
            p++;
            continue;
        }
        unsigned planes = o->bytes == 16 ? 2 : 1, bytes = o->bytes / planes;
        for (unsigned plane = 0; plane < planes; plane++, p += bytes) {
            uint8_t *r = w->regs + o->off + plane * 256 + lane * bytes;
            memcpy(save ? p : r, save ? r : p, bytes);
        }
    }
    uint8_t *params = w->regs + f->params_at + lane * f->param_stride;
    memcpy(save ? p : params, save ? params : p, f->param_stride);
}

static size_t column_bytes(const struct func *f)
{
    size_t bytes = f->param_stride;
    for (uint32_t k = 0; k < f->n_places; k++)
        bytes += MAX(f->places[k].bytes, 1);
    return bytes;
}

/* Addresses of f's local variables, for lanes of m, move by so many bytes. */
static void frame_move(struct warp *w, const struct func *f, uint32_t m, int64_t by)
{
    const struct ptx_module *mod = w->launch->module;
    for (size_t k = 0; k < mod->n_consts; k++) {
        const struct const_reg *c = &mod->consts[k];
        if (c->kind != CONST_VAR || c->var->space != SPACE_LOCAL || &mod->funcs[c->var->func] != f)
            continue;
        for (unsigned lane = 0; lane < 32; lane++)
            if (m >> lane & 1) {
                if (c->bytes == 8)
                    REG(uint64_t, w, c->off)[lane] += (uint64_t)by;
                else
                    REG(uint32_t, w, c->off)[lane] += (uint32_t)by;
            }
    }
}

void calls_reset(struct warp *w)
{
    const struct ptx_module *mod = w->launch->module;
    for (unsigned lane = 0; w->saved && lane < 32; lane++)
        w->saved[lane].n = 0;
    for (size_t k = 0; k < mod->n_consts; k++) {
        const struct const_reg *c = &mod->consts[k];
        for (unsigned lane = 0;
             c->kind == CONST_VAR && c->var->space == SPACE_LOCAL && c->bytes == 8 && lane < 32; lane++)
            REG(uint64_t, w, c->off)[lane] = c->var->addr + c->value;
    }
}

void calls_free(struct warp *w)
{
    for (unsigned lane = 0; w->saved && lane < 32; lane++)
        free(w->saved[lane].v);
    free(w->saved);
}

/* Bytes of parameters of lanes of m between the places of two functions. */
static void param_copy(struct warp *w, uint32_t to, uint32_t to_stride, uint32_t from, uint32_t from_stride,
                       uint32_t bytes, uint32_t m)
{
    for (; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        memmove(w->regs + to + lane * to_stride, w->regs + from + lane * from_stride, bytes);
        OBSERVE(w->launch, moved, w->launch, w->regs + to + lane * to_stride,
                w->regs + from + lane * from_stride, bytes);
    }
}

/* The function that lanes of *m call, the lanes that agree; NULL after a fault. */
static const struct func *callee(struct warp *w, const struct insn *i, uint32_t *m)
{
    const struct ptx_module *mod = w->launch->module;
    if (i->opnds[1].kind != OPND_REG)
        return &mod->funcs[i->opnds[1].imm];
    const uint64_t *p = REG(uint64_t, w, i->opnds[1].off);
    uint32_t lane = (uint32_t)__builtin_ctz(*m), same = 0;
    for (uint32_t l = 0; l < 32; l++)
        same |= (*m >> l & 1) && p[l] == p[lane] ? 1u << l : 0;
    uint64_t target = (p[lane] - FUNC_BASE) / 16;
    if (p[lane] < FUNC_BASE || target >= mod->n_funcs || p[lane] % 16) {
        fault(w, i, (int)lane, PTX_OUT_OF_BOUNDS, p[lane],
              "a call through a pointer that is no function: 0x%llx", (unsigned long long)p[lane]);
        return NULL;
    }
    if (same != *m) {
        warp_split(w, *m & ~same, i->self);
        *m = same;
    }
    return &mod->funcs[target];
}

/* A function that nobody defines may be one that an observer stands in for. */
static bool called_by_observer(struct warp *w, const struct insn *i, const struct func *f, uint32_t m)
{
    const struct ptx_observer *o = w->launch->observer[PTX_VALUES];
    return o && o->calls->call && o->calls->call(w, i, f, m);
}

void warp_call(struct warp *w, const struct insn *i, uint32_t m)
{
    const struct func *f = callee(w, i, &m), *caller = &w->launch->module->funcs[i->func];
    const struct opnd *rets = &i->opnds[0], *args = &i->opnds[2];
    if (!f)
        return;
    for (unsigned k = 0; k < args->n; k++)
        if (args->vec[k].ref_kind != REF_FUNC_PARAM) {
            fault_unsupported(w, i, "an argument that is no .param variable");
            return;
        }
    if (f->native == NATIVE_UNKNOWN && called_by_observer(w, i, f, m))
        return;
    if (f->native != NATIVE_NONE) {
        native_call(w, i, f, m);
        return;
    }
    if (args->n != f->n_params || rets->n != f->n_rets || f->is_entry) {
        fault_unsupported(w, i, "a call whose arguments do not fit the function");
        return;
    }
    if (w->mask & ~m)
        warp_split(w, w->mask & ~m, w->pc);
    bool again = caller->is_recursive && f->is_recursive;
    if (again && !w->saved)
        w->saved = mem_zalloc(32 * sizeof(*w->saved));
    for (uint32_t l = 0; l < 32; l++) {
        if (!(m >> l & 1))
            continue;
        if (w->call_depth[l] == MAX_CALL_DEPTH) {
            fault(w, i, (int)l, PTX_OUT_OF_BOUNDS, 0, "calls nested more than %d deep: the stack overflows",
                  MAX_CALL_DEPTH);
            return;
        }
        w->call_pc[w->call_depth[l]++ * 32 + l] = i->self;
        if (again)
            column_copy(w, caller, l, save_space(&w->saved[l], column_bytes(caller)), true);
    }
    for (unsigned k = 0; k < args->n; k++) {
        const struct param *from = args->vec[k].ref;
        param_copy(w, f->params[k]->off, f->param_stride, args->vec[k].off, caller->param_stride,
                   MIN(from->bytes, f->params[k]->bytes), m);
    }
    if (again)
        frame_move(w, f, m, w->launch->module->frame_bytes);
    w->pc = f->first;
    if (w->n_groups)
        w->merge_pc = 0;
}

void warp_return(struct warp *w, const struct insn *i, uint32_t m)
{
    const struct ptx_module *mod = w->launch->module;
    uint32_t lane = (uint32_t)__builtin_ctz(m);
    if (!w->call_depth[lane]) { /* a group's lanes are at one depth */
        warp_exit(w, m);
        return;
    }
    uint32_t from = w->call_pc[(w->call_depth[lane] - 1u) * 32 + lane], same = 0;
    for (uint32_t l = 0; l < 32; l++)
        same |= (m >> l & 1) && w->call_pc[(w->call_depth[l] - 1u) * 32 + l] == from ? 1u << l : 0;
    if (same != m)
        warp_split(w, m & ~same, i->self);
    if (w->mask & ~same) /* lanes that the guard kept here */
        warp_split(w, w->mask & ~same, w->pc);
    const struct insn *call = &mod->code[from];
    const struct func *f = &mod->funcs[i->func], *caller = &mod->funcs[call->func];
    const struct opnd *rets = &call->opnds[0];
    bool again = caller->is_recursive && f->is_recursive;
    for (uint32_t left = same; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        uint8_t result[MAX_PARAM_BYTES];
        w->call_depth[l]--;
        if (f->n_rets) /* results lie one after the other from the first on */
            memcpy(result, w->regs + f->params_at + l * f->param_stride, f->param_stride);
        if (again) {
            struct save_stack *s = &w->saved[l];
            s->n -= column_bytes(caller);
            column_copy(w, caller, l, s->v + s->n, false);
            OBSERVE(w->launch, restored, w, caller, l);
        }
        for (unsigned k = 0; k < rets->n && k < f->n_rets; k++)
            if (rets->vec[k].ref_kind == REF_FUNC_PARAM) {
                const struct param *to = rets->vec[k].ref;
                uint8_t *host = w->regs + rets->vec[k].off + l * caller->param_stride;
                uint32_t bytes = MIN(to->bytes, f->rets[k]->bytes);
                memcpy(host, result + (f->rets[k]->off - f->params_at), bytes);
                if (again)
                    OBSERVE(w->launch, changed, w->launch, host, bytes);
                else
                    OBSERVE(w->launch, moved, w->launch, host, w->regs + f->rets[k]->off + l * f->param_stride,
                            bytes);
            }
    }
    if (again)
        frame_move(w, f, same, -(int64_t)mod->frame_bytes);
    w->pc = from + 1;
    if (w->n_groups)
        w->merge_pc = 0;
}
