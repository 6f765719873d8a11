/* From parsed instructions to executable ones: immediates become registers, registers get places in a warp's
 * file. Registers whose lives do not overlap share a place (PTX names hundreds), so that a warp's file stays in
 * the first-level cache; lives are those of a single thread, which is enough because a handler never writes a
 * lane that does not execute. A destination shares no place with a source of the same instruction unless they
 * are the same register. */
#include "lower.h"

/* Letter of operand k in op.def's string, '?' skipped. */
static char operand_letter(const struct insn *i, unsigned k)
{
    for (const char *s = op_table[i->op].operands; *s; s++)
        if (*s != '?' && k-- == 0)
            return *s;
    return 0;
}

bool insn_writes(const struct insn *i, unsigned k)
{
    if (i->op == OP_bar || i->op == OP_barrier)
        return k == 0 && insn_has(i, MOD_red);
    if (i->op == OP_mbarrier) /* those that give a state, a predicate or a count */
        return k == 0 && i->opnds[0].kind != OPND_ADDR;
    char c = operand_letter(i, k);
    return c == 'd' || c == 'D' || c == 'v';
}

/* Bytes of a register that stands as operand k, or of what an immediate there becomes: op.def's column widths.
 */
static uint8_t operand_bytes(const struct insn *i, unsigned k)
{
    const char *widths = op_table[i->op].widths;
    uint8_t of_type = i->type ? MAX(type_bytes[i->type], 2) : 4;
    if (i->type == TYPE_PRED)
        of_type = 0;
    switch (k < strlen(widths) ? widths[k] : 0) {
    case 't':
    case 'T':
    case 'r':
        return of_type;
    case 'w':
        return insn_has(i, MOD_wide) ? of_type * 2 : of_type;
    case 'u':
        return MAX(type_bytes[i->types[0]], 2);
    case 'p':
    case 'P':
        return 0;
    case 'M':
        return insn_has(i, MOD_test_wait) || insn_has(i, MOD_try_wait) ? 0 : 8;
    case '8':
    case 'q':
    case 'E':
        return 8;
    default:
        return 4;
    }
}

/* ---- constants ---- */

static uint64_t const_hash(const struct const_reg *c)
{
    return rng_mix(c->value * 31 + c->bytes * 7 + c->kind + (uintptr_t)c->var * 131);
}

static uint32_t const_place(struct lower *lo, struct const_reg c)
{
    if ((lo->consts.n + 1) * 2 > lo->n_const_slots) {
        lo->n_const_slots = lo->n_const_slots ? 2 * lo->n_const_slots : 256;
        free(lo->const_slots);
        lo->const_slots = mem_zalloc(lo->n_const_slots * sizeof(*lo->const_slots));
        for (uint32_t k = 0; k < lo->consts.n; k++) {
            size_t s = const_hash(&lo->consts.v[k]) & (lo->n_const_slots - 1);
            while (lo->const_slots[s])
                s = (s + 1) & (lo->n_const_slots - 1);
            lo->const_slots[s] = k + 1;
        }
    }
    size_t s = const_hash(&c) & (lo->n_const_slots - 1);
    for (; lo->const_slots[s]; s = (s + 1) & (lo->n_const_slots - 1)) {
        const struct const_reg *o = &lo->consts.v[lo->const_slots[s] - 1];
        if (o->value == c.value && o->bytes == c.bytes && o->kind == c.kind && o->var == c.var)
            return lo->const_slots[s] - 1;
    }
    vec_push(&lo->consts, c);
    lo->const_slots[s] = (uint32_t)lo->consts.n;
    return (uint32_t)lo->consts.n - 1;
}

static const uint8_t special_when[] = {
#define SPECIAL(id, text, bytes, w) w,
#include "ptx/special.def"
#undef SPECIAL
};

/* Until places are given, off of an immediate is its number among the constants. */
static void lower_immediate(struct lower *lo, struct insn *i, struct opnd *o, unsigned k)
{
    struct const_reg c = {.kind = CONST_VALUE, .value = (uint64_t)o->imm};
    if (o->kind == OPND_ADDR) {
        c.value = 0;
        c.bytes = 8;
        if (o->ref_kind == REF_VAR) {
            c.kind = CONST_VAR;
            c.var = o->ref;
        }
        o->bytes = 8;
    } else {
        c.bytes = operand_bytes(i, k);
        o->bytes = c.bytes;
        if (o->ref_kind == REF_VAR) {
            c.kind = CONST_VAR;
            c.var = o->ref;
        } else if (o->ref_kind == REF_SPECIAL) {
            if (special_when[o->imm] == 2) {
                if (i->op != OP_mov)
                    i->op = OP_unsupported;
                c.value = 0;
            } else {
                c.kind = CONST_SPECIAL;
            }
        } else if (o->ref_kind == REF_FUNC) {
            c.value = FUNC_BASE + 16 * (uint64_t)o->imm;
        } else if (o->ref_kind == REF_ENTRY_PARAM) {
            c.value = ((struct param *)o->ref)->off + (uint64_t)o->imm;
        } else if (o->ref_kind == REF_FUNC_PARAM) {
            i->op = OP_unsupported; /* the address of a function's parameter */
        }
        if (c.kind == CONST_VALUE && c.bytes < 8 && c.bytes)
            c.value &= (1ull << 8 * c.bytes) - 1;
        if (c.kind == CONST_VALUE && !c.bytes)
            c.value = c.value != 0;
    }
    o->off = const_place(lo, c);
}

/* ---- places in the file ---- */

struct finish {
    struct lower *lo;
    uint32_t pred_end; /* rest of the file begins here */
    uint32_t sinks[5];
};

static uint32_t final_offset(const struct finish *fi, uint8_t bytes, uint32_t off)
{
    return bytes ? fi->pred_end + off : off;
}

static void visit_finish(void *context, struct opnd *o, bool writes)
{
    struct finish *fi = context;
    (void)writes;
    if (o->kind == OPND_SINK) {
        o->off = final_offset(fi, o->bytes, fi->sinks[class_of(o->bytes)]);
    } else if (o->is_imm) {
        const struct const_reg *c = &fi->lo->consts.v[o->off];
        o->off = final_offset(fi, c->bytes, c->off);
    } else {
        const struct vreg *r = &fi->lo->p->vregs.v[o->off];
        o->off = final_offset(fi, r->bytes, r->off);
    }
    o->slot = o->off; /* made dense when the file's size is known */
}

static void visit_slot(void *context, struct opnd *o, bool writes)
{
    const struct finish *fi = context;
    (void)writes;
    bool pred = o->off < fi->pred_end;
    o->slot = pred ? fi->lo->m->file_bytes / 64 + o->off / 4 : o->off / 64;
}

static uint64_t hash_step(uint64_t h, uint64_t x)
{
    return rng_mix(h ^ x) + 0x9e3779b97f4a7c15ull * h;
}

static uint64_t hash_operand(uint64_t h, const struct opnd *o, const struct func *f)
{
    h = hash_step(h, o->kind | (uint64_t)o->bytes << 8 | (uint64_t)o->n << 16 | (uint64_t)o->negated << 24 |
                         (uint64_t)o->is_imm << 25 | (uint64_t)o->ref_kind << 32);
    if (o->kind == OPND_LABEL)
        return hash_step(h, (uint64_t)o->imm - f->first);
    h = hash_step(h, (uint64_t)o->imm);
    if (!o->is_imm && o->kind != OPND_FUNC)
        h = hash_step(h, o->off - f->first_vreg);
    if (o->ref_kind == REF_VAR) {
        const struct var *v = o->ref;
        h = hash_step(h, (uint64_t)v->space << 40 | v->bytes);
        if (v->init)
            h = hash_step(h, hash_bytes(v->init, v->bytes, 1));
    } else if (o->ref) {
        h = hash_step(h, ((const struct param *)o->ref)->off);
    }
    return h;
}

/* The same code gives the same number whatever its names, lines and comments are. */
static uint64_t hash_code(const struct parsed *p)
{
    uint64_t h = 1;
    for (size_t k = 0; k < p->code.n; k++) {
        const struct insn *i = &p->code.v[k];
        const struct func *f = &p->funcs.v[i->func];
        h = hash_step(h, i->op | (uint64_t)i->types[0] << 16 | (uint64_t)i->types[1] << 24 |
                             (uint64_t)i->types[2] << 32 | (uint64_t)i->types[3] << 40);
        h = hash_step(h, i->shape.m | (uint64_t)i->shape.n << 8 | (uint64_t)i->shape.k << 32);
        for (int m = 0; m < 3; m++)
            h = hash_step(h, i->mods[m]);
        h = hash_step(h, i->guard == ~0u ? 0 : i->guard - f->first_vreg + 1 + ((uint64_t)i->guard_not << 32));
        for (unsigned o = 0; o < i->n_opnds; o++) {
            h = hash_operand(h, &i->opnds[o], f);
            for (unsigned e = 0; i->opnds[o].vec && e < i->opnds[o].n; e++)
                h = hash_operand(h, &i->opnds[o].vec[e], f);
        }
        if (i->op == OP_unsupported)
            h = hash_step(h, hash_text(i->text));
    }
    for (size_t k = 0; k < p->funcs.n; k++)
        h = hash_step(h, p->funcs.v[k].param_bytes | (uint64_t)p->funcs.v[k].is_entry << 32);
    return h;
}

static void lower_immediates(struct lower *lo)
{
    for (size_t n = 0; n < lo->p->code.n; n++) {
        struct insn *i = &lo->p->code.v[n];
        if (i->op == OP_call) {
            struct opnd *t = &i->opnds[1];
            if (t->kind == OPND_REG && t->is_imm)
                lower_immediate(lo, i, t, 1);
            continue;
        }
        for (unsigned k = 0; k < i->n_opnds; k++) {
            struct opnd *o = &i->opnds[k];
            for (unsigned e = 0; o->kind == OPND_VEC && e < o->n; e++) {
                if (o->vec[e].kind == OPND_REG && o->vec[e].is_imm) {
                    struct insn narrow = *i;
                    if (i->op == OP_mov) { /* mov.b32 r, {1, 2}: elements are a share of the type */
                        unsigned share = type_bytes[i->type] / o->n;
                        narrow.type = share >= 8 ? TYPE_B64 : TYPE_B32;
                        if (share < 4)
                            narrow.type = TYPE_B16;
                    }
                    lower_immediate(lo, &narrow, &o->vec[e], k);
                    i->op = narrow.op;
                    if (insn_writes(i, k))
                        i->op = OP_unsupported;
                } else if (o->vec[e].kind == OPND_SINK) {
                    o->vec[e].bytes =
                        i->op == OP_mov ? MAX(type_bytes[i->type] / MAX(o->n, 1), 2) : operand_bytes(i, k);
                }
            }
            if ((o->kind == OPND_REG || o->kind == OPND_ADDR) && o->is_imm) {
                if (insn_writes(i, k) && o->kind == OPND_REG)
                    i->op = OP_unsupported; /* an immediate as destination */
                lower_immediate(lo, i, o, k);
            } else if (o->kind == OPND_SINK) {
                o->bytes = operand_bytes(i, k);
            }
        }
        if (i->pair && i->pair->kind == OPND_SINK)
            i->pair->bytes = 0;
        else if (i->pair && i->pair->is_imm)
            i->op = OP_unsupported;
    }
}

/* Can a call in function `from` lead to function `to`? */
static bool leads_to(const struct parsed *p, uint32_t from, uint32_t to, uint8_t *seen, uint32_t *stack)
{
    uint32_t n = 0;
    memset(seen, 0, p->funcs.n);
    stack[n++] = from;
    while (n) {
        const struct func *f = &p->funcs.v[stack[--n]];
        for (uint32_t pc = f->first; f->calls && pc < f->end; pc++) {
            const struct insn *i = &p->code.v[pc];
            if (i->op != OP_call || i->opnds[1].kind != OPND_FUNC)
                continue;
            uint32_t callee = (uint32_t)i->opnds[1].imm;
            if (callee == to)
                return true;
            if (!seen[callee]) {
                seen[callee] = 1;
                stack[n++] = callee;
            }
        }
    }
    return false;
}

static enum native native_of(const char *name)
{
    if (str_eq(name, "vprintf"))
        return NATIVE_VPRINTF;
    return str_eq(name, "__assertfail") ? NATIVE_ASSERTFAIL : NATIVE_UNKNOWN;
}

/* Which functions may call themselves, and for which external ones a function of ours stands in. */
static void lower_calls(struct lower *lo)
{
    struct parsed *p = lo->p;
    struct arena *a = arena_open();
    uint8_t *seen = arena_alloc(a, p->funcs.n + 1);
    uint32_t *stack = arena_array(a, uint32_t, p->funcs.n + 1);
    /* Then, and with calls through pointers, any function that calls is taken for recursive. */
    bool many = p->funcs.n > 2000;
    for (size_t k = 0; k < p->code.n; k++)
        many |= p->code.v[k].op == OP_call && p->code.v[k].opnds[1].kind != OPND_FUNC;
    for (uint32_t k = 0; k < p->funcs.n; k++) {
        struct func *f = &p->funcs.v[k];
        if (!f->has_body)
            f->native = native_of(f->name);
        else if (!f->is_entry && f->calls)
            f->is_recursive = many || leads_to(p, k, k, seen, stack);
        lo->m->recurses |= f->is_recursive;
    }
    arena_close(a);
}

static void shape_memory(struct insn *i)
{
    static const struct {
        enum mod mod;
        enum space space;
    } spaces[] = {
        {MOD_global, SPACE_GLOBAL},         {MOD_shared, SPACE_SHARED},     {MOD_shared_cta, SPACE_SHARED},
        {MOD_shared_cluster, SPACE_SHARED}, {MOD_local, SPACE_LOCAL},       {MOD_const, SPACE_CONST},
        {MOD_param, SPACE_PARAM},           {MOD_param_entry, SPACE_PARAM}, {MOD_param_func, SPACE_PARAM}};
    static const enum mod wide[] = {MOD_v8, MOD_v4, MOD_v2};
    for (size_t k = 0; k < ARRAY_LEN(spaces); k++)
        if (insn_has(i, spaces[k].mod)) {
            i->space = (uint8_t)spaces[k].space;
            break;
        }
    i->bytes = type_bytes[i->type];
    i->vec = 1;
    for (size_t k = 0; k < ARRAY_LEN(wide); k++)
        if (insn_has(i, wide[k]))
            i->vec = (uint8_t)(8 >> k);
}

/* Operand forms that would mislead a handler: too few operands, a predicate or width that does not fit. */
static bool well_formed(const struct insn *i)
{
    unsigned need = 0, most = 0;
    bool optional = false;
    const char *s = op_table[i->op].operands;
    if (!*s || i->op == OP_call)
        return true;
    if ((i->op == OP_cp && (insn_has(i, MOD_bulk) || insn_has(i, MOD_mbarrier))) ||
        insn_has(i, MOD_complete_tx_bytes)) /* bulk_select looks at them */
        return true;
    for (; *s; s++) {
        if (*s == '?') {
            optional = true;
            continue;
        }
        most++;
        need += !optional;
    }
    if (i->n_opnds < need || i->n_opnds > most)
        return false;
    for (unsigned k = 0; k < i->n_opnds; k++) {
        char c = operand_letter(i, k);
        const struct opnd *o = &i->opnds[k];
        if (i->op == OP_cp && i->n_opnds == 1)
            continue; /* cp.async.wait_group N */
        if (i->op == OP_createpolicy && k == 1 && insn_has(i, MOD_range) && o->kind == OPND_ADDR)
            continue;
        if ((c == 'a') != (o->kind == OPND_ADDR) || (c == 'l') != (o->kind == OPND_LABEL))
            return false;
        if (o->kind == OPND_VEC && c != 'v' && c != 'V')
            return false;
        if (o->kind == OPND_FUNC || o->kind == OPND_NONE)
            return false;
    }
    return true;
}

/* Are registers as wide as op.def says? A call's operands are looked at when it is executed. */
static bool widths_fit(const struct insn *i)
{
    const char *widths = op_table[i->op].widths;
    for (unsigned k = 0; k < i->n_opnds && i->op != OP_call; k++) {
        const struct opnd *o = &i->opnds[k];
        if (o->kind != OPND_REG && o->kind != OPND_SINK)
            continue;
        char width = k < strlen(widths) ? widths[k] : 0;
        if (!width || width == '.')
            return false;
        if (width == 'r' || width == 'q') {
            if (!o->bytes)
                return false;
        } else if (!(width >= 'A' && width <= 'Z') && o->bytes != operand_bytes(i, k)) {
            return false;
        }
    }
    return true;
}

static void finish_insn(struct finish *fi, struct insn *i, uint32_t self)
{
    struct lower *lo = fi->lo;
    i->self = self;
    visit_registers(i, visit_finish, fi);
    visit_registers(i, visit_slot, fi);
    i->guard = i->guard == ~0u ? 0 : lo->p->vregs.v[i->guard].off;
    uint32_t *offs[4] = {&i->d, &i->a, &i->b, &i->c};
    const struct func *f = &lo->p->funcs.v[i->func];
    for (unsigned k = 0; k < i->n_opnds; k++) {
        struct opnd *o = &i->opnds[k];
        if (i->op == OP_call) {
            for (unsigned e = 0; o->kind == OPND_VEC && e < o->n; e++)
                if (o->vec[e].ref_kind == REF_FUNC_PARAM)
                    o->vec[e].off = f->params_at + ((struct param *)o->vec[e].ref)->off;
            continue;
        }
        if (k < 4)
            *offs[k] = o->off;
        if (o->kind == OPND_ADDR && (k == 0 || i->opnds[0].kind != OPND_ADDR)) {
            i->imm = o->imm;
            if (o->ref_kind == REF_ENTRY_PARAM) {
                i->imm += ((struct param *)o->ref)->off;
            } else if (o->ref_kind == REF_FUNC_PARAM) {
                i->imm += f->params_at + ((struct param *)o->ref)->off;
                i->extra = (uint16_t)f->param_stride;
            }
        }
        if (o->kind == OPND_LABEL && i->op == OP_bra)
            i->imm = o->imm;
    }
}

static void layout_vars(struct lower *lo)
{
    struct parsed *p = lo->p;
    uint64_t image = 0;
    uint32_t shared_module = 0;
    for (size_t k = 0; k < p->vars.n; k++) {
        struct var *v = p->vars.v[k];
        uint32_t align = MAX(v->align, 1);
        if (v->space == SPACE_GLOBAL || v->space == SPACE_CONST) {
            image = (image + align - 1) & ~(uint64_t)(align - 1);
            v->addr = image;
            image += v->bytes + 128; /* a gap, so that bounds are exact */
        } else if (v->space == SPACE_SHARED && !v->is_extern && v->func < 0) {
            shared_module = (shared_module + align - 1) & ~(align - 1);
            v->addr = shared_module;
            shared_module += v->bytes;
        }
    }
    /* Shared variables of device functions are in every kernel's share; those of a kernel only in its own. */
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < p->vars.n; k++) {
            struct var *v = p->vars.v[k];
            if (v->func < 0 || v->is_extern)
                continue;
            struct func *f = &p->funcs.v[v->func];
            if (f->is_entry != (pass == 1))
                continue;
            uint32_t align = MAX(v->align, 1);
            if (v->space == SPACE_SHARED) {
                uint32_t *top = pass == 0 ? &shared_module : &f->shared_bytes;
                if (pass == 1)
                    *top = MAX(*top, shared_module);
                *top = (*top + align - 1) & ~(align - 1);
                v->addr = *top;
                *top += v->bytes;
            } else if (v->space == SPACE_LOCAL) {
                f->local_bytes = (f->local_bytes + align - 1) & ~(align - 1);
                v->addr = f->local_bytes;
                f->local_bytes += v->bytes;
            }
        }
    /* Frames: those of functions one after the other, then the kernel's own (kernels share the place). */
    uint32_t frames = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t n = 0; n < p->funcs.n; n++) {
            struct func *f = &p->funcs.v[n];
            if (f->is_entry != (pass == 1))
                continue;
            uint32_t base = (frames + 15) & ~15u;
            for (size_t k = 0; f->local_bytes && k < p->vars.n; k++)
                if (p->vars.v[k]->func == (int)n && p->vars.v[k]->space == SPACE_LOCAL)
                    p->vars.v[k]->addr += base;
            f->local_bytes += base;
            if (pass == 0)
                frames = f->local_bytes;
            else
                f->shared_bytes = MAX(f->shared_bytes, shared_module);
        }
    lo->m->frame_bytes = (frames + 15) & ~15u;
    lo->m->image_bytes = image;
}

/* What no handler may see becomes OP_unsupported: too few operands, a modifier that is none of the
 * instruction's. */
static void check_forms(struct parsed *p)
{
    for (size_t k = 0; k < p->code.n; k++) {
        struct insn *i = &p->code.v[k];
        bool branch = i->op == OP_bra && i->n_opnds == 1 && i->opnds[0].kind == OPND_LABEL;
        shape_memory(i);
        if (!branch && (!well_formed(i) || insn_has(i, MOD_unsupported)))
            i->op = OP_unsupported;
    }
}

static void check_widths(struct parsed *p)
{
    for (size_t k = 0; k < p->code.n; k++)
        if (!widths_fit(&p->code.v[k]))
            p->code.v[k].op = OP_unsupported;
}

/* The next place of a register of this class. */
static uint32_t take_place(struct lower *lo, int class)
{
    uint32_t *top = class ? &lo->top : &lo->pred_bytes, at = *top;
    *top += class_size(class);
    return at;
}

/* The file begins with predicates (the constant true first), then come constants and sinks. */
static void place_constants(struct finish *fi)
{
    struct lower *lo = fi->lo;
    lo->pred_bytes = 4;
    for (size_t k = 0; k < lo->consts.n; k++)
        lo->consts.v[k].off = take_place(lo, class_of(lo->consts.v[k].bytes));
    for (int c = 0; c < 5; c++)
        fi->sinks[c] = take_place(lo, c);
}

/* Behind them functions, one after the other, then kernels, which share one place. False when there are too
 * many registers. */
static bool place_functions(struct finish *fi)
{
    struct lower *lo = fi->lo;
    struct parsed *p = lo->p;
    uint32_t pred_most = lo->pred_bytes, top_most = lo->top;
    for (int entries = 0; entries < 2; entries++) {
        const uint32_t pred_base = pred_most, top_base = top_most;
        for (size_t k = 0; k < p->funcs.n; k++) {
            struct func *f = &p->funcs.v[k];
            if (f->is_entry != entries)
                continue;
            if (entries) {
                lo->pred_bytes = pred_base;
                lo->top = top_base;
            }
            f->regs_first = f->params_at = lo->top;
            lo->top +=
                32 *
                f->param_stride; /* its .param variables: whole cache lines, as strides are multiples of 16 */
            place_registers(lo, f);
            f->regs_end = lo->top;
            if (lo->top > 1u << 28)
                return false;
            pred_most = MAX(pred_most, lo->pred_bytes);
            top_most = MAX(top_most, lo->top);
        }
    }
    fi->pred_end = (pred_most + 63) / 64 * 64;
    lo->m->file_bytes = fi->pred_end + top_most;
    return true;
}

/* Slots number the file's places densely: whole cache lines, then predicates. */
static void number_slots(struct ptx_module *m, uint32_t pred_end)
{
    const uint32_t lines = m->file_bytes / 64;
    m->n_slots = lines + pred_end / 4;
    m->slot_off = arena_array(m->arena, uint32_t, m->n_slots);
    for (uint32_t k = 0; k < m->n_slots; k++)
        m->slot_off[k] = k < lines ? k * 64 : (k - lines) * 4;
}

/* Offsets within the two parts become offsets in the file. */
static void finish_offsets(struct finish *fi)
{
    struct lower *lo = fi->lo;
    struct parsed *p = lo->p;
    for (size_t k = 0; k < p->funcs.n; k++) {
        struct func *f = &p->funcs.v[k];
        f->params_at += fi->pred_end;
        for (uint32_t q = 0; q < f->n_places; q++)
            f->places[q].off = final_offset(fi, f->places[q].bytes, f->places[q].off);
    }
    for (size_t k = 0; k < p->code.n; k++)
        finish_insn(fi, &p->code.v[k], (uint32_t)k);
    for (size_t k = 0; k < p->funcs.n; k++) {
        struct func *f = &p->funcs.v[k];
        for (size_t q = 0; !f->is_entry && q < f->n_params; q++)
            f->params[q]->off += f->params_at;
        for (size_t q = 0; !f->is_entry && q < f->n_rets; q++)
            f->rets[q]->off += f->params_at;
    }
    for (size_t k = 0; k < lo->consts.n; k++)
        lo->consts.v[k].off = final_offset(fi, lo->consts.v[k].bytes, lo->consts.v[k].off);
}

/* The constants for the module, those first that each block has of its own. */
static void keep_constants(struct lower *lo)
{
    struct ptx_module *m = lo->m;
    for (size_t k = 0; k < lo->consts.n; k++) {
        struct const_reg c = lo->consts.v[k];
        if (c.kind != CONST_SPECIAL || special_when[c.value] != 1)
            continue;
        lo->consts.v[k] = lo->consts.v[m->n_block_consts];
        lo->consts.v[m->n_block_consts++] = c;
    }
    m->consts = arena_copy(m->arena, lo->consts.v, lo->consts.n * sizeof(*lo->consts.v));
    m->n_consts = lo->consts.n;
}

bool module_lower(struct parsed *p, struct err *err)
{
    struct ptx_module *m = p->module;
    struct lower lo = {.p = p, .m = m};
    struct finish fi = {.lo = &lo};

    check_forms(p);
    contract(p);
    m->hash = hash_code(p);
    hints_look(p, m);
    lower_calls(&lo);
    lower_immediates(&lo);
    check_widths(p);
    layout_vars(&lo);
    place_constants(&fi);
    bool placed = place_functions(&fi) || err_input(err, "%s: too many registers", m->name);
    if (placed) {
        number_slots(m, fi.pred_end);
        finish_offsets(&fi);
        keep_constants(&lo);
    }
    free(lo.const_slots);
    vec_free(&lo.consts);
    return placed;
}
