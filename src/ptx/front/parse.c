/* Instructions of PTX text. Registers are numbered per function here; lower.c gives them places. An opcode or
 * suffix that nobody knows becomes an instruction that fails when executed. */
#include "parse.h"

/* ---- operands ---- */

int type_find(const char *s, size_t n)
{
    for (int k = 1; k < N_TYPES; k++)
        if (strlen(type_names[k]) == n && !memcmp(type_names[k], s, n))
            return k;
    return TYPE_NONE;
}

static int special_find(const char *s, size_t n)
{
    static const char *const names[] = {
#define SPECIAL(id, text, bytes, when) text,
#include "ptx/special.def"
#undef SPECIAL
    };
    for (int k = 0; k < N_SPECIALS; k++)
        if (strlen(names[k]) == n && !memcmp(names[k], s, n))
            return k;
    return -1;
}

static uint8_t special_bytes(int k)
{
    static const uint8_t bytes[] = {
#define SPECIAL(id, text, b, when) b,
#include "ptx/special.def"
#undef SPECIAL
    };
    return bytes[k];
}

/* A register by name; "%r12" of a range ".reg .b32 %r<20>" is made on first use. */
static struct sym *reg_find(struct parser *p, const char *s, uint32_t n)
{
    struct sym *y = sym_find(p, s, n);
    if (y)
        return y;
    uint32_t k = n;
    uint64_t number = 0, scale = 1;
    while (k > 0 && isdigit((unsigned char)s[k - 1]) && n - k < 10) {
        number += (uint64_t)(s[k - 1] - '0') * scale;
        scale *= 10;
        k--;
        struct sym *range = k < n ? sym_find(p, s, k) : NULL;
        if (range && range->kind == SYM_RANGE && number < range->count) {
            uint8_t bytes = range->bytes;
            uint32_t scope = range->scope, v = vreg_new(p, bytes);
            y = sym_add(p, s, n, scope, SYM_REG);
            y->n = v;
            y->bytes = bytes;
            return y;
        }
    }
    return NULL;
}

/* A name behind %, which a text declares as one or two letters and a number, and PTX as a word. */
static bool is_word(const char *s, uint32_t n)
{
    uint32_t letters = 0;

    while (1 + letters < n && (isalpha((unsigned char)s[1 + letters]) || s[1 + letters] == '_'))
        letters++;
    return letters > 2;
}

/* A name where a value may stand. */
static void parse_name(struct parser *p, struct opnd *o)
{
    const char *s = p->ts;
    uint32_t n = p->tn;
    if (n == 1 && *s == '_') {
        o->kind = OPND_SINK;
        token_next(p);
        return;
    }
    struct sym *y = reg_find(p, s, n);
    if (!y && n == 7 && memcmp(s, "WARP_SZ", 7) == 0) {
        *o = (struct opnd){.kind = OPND_REG, .is_imm = true, .bytes = 4, .imm = 32};
        token_next(p);
        return;
    }
    if (!y && *s == '%') {
        const char *f = p->s + (p->s < p->end && *p->s == '.');
        while (f > p->s && f < p->end && char_is_word(*f))
            f++;
        int k = special_find(s, (size_t)(f - s));
        bool dotted = k >= 0 || is_word(s, n);
        if (k < 0)
            k = special_find(s, n);
        if (k < 0 && !is_word(s, n))
            ptx_parse_fail(p, "unknown register %.*s", (int)MIN(n, 80u), s);
        if (dotted)
            p->s = f;
        p->lacks |= k < 0;
        *o = (struct opnd){.kind = OPND_REG, .is_imm = true};
        if (k >= 0) {
            o->bytes = special_bytes(k);
            o->ref_kind = REF_SPECIAL;
            o->imm = k;
        }
        token_next(p);
        return;
    }
    if (!y)
        ptx_parse_fail(p, "unknown name %.*s", (int)MIN(n, 80u), s);
    token_next(p);
    switch (y->kind) {
    case SYM_REG:
        o->kind = OPND_REG;
        o->bytes = y->bytes;
        o->off = y->n;
        return;
    case SYM_VAR:
        *o = (struct opnd){.kind = OPND_REG, .is_imm = true, .bytes = 8, .ref_kind = REF_VAR, .ref = y->p};
        return;
    case SYM_PARAM:
        *o = (struct opnd){.kind = OPND_REG, .is_imm = true, .bytes = 8, .ref_kind = y->ref, .ref = y->p};
        return;
    case SYM_FUNC:
        *o = (struct opnd){.kind = OPND_REG, .is_imm = true, .bytes = 8, .ref_kind = REF_FUNC, .imm = y->n};
        return;
    default:
        ptx_parse_fail(p, "%.*s cannot stand here", (int)MIN(n, 80u), s);
    }
}

/* The bits of a number as a constant of a type. */
int64_t token_bits(struct parser *p, enum type type, bool minus)
{
    uint64_t v = p->tv;
    if (p->t == T_F64) {
        double x;
        memcpy(&x, &v, 8);
        x = minus ? -x : x;
        if (type == TYPE_F32 || type == TYPE_B32) {
            float f = (float)x;
            uint32_t b;
            memcpy(&b, &f, 4);
            return b;
        }
        memcpy(&v, &x, 8);
        return (int64_t)v;
    }
    if (p->t == T_F32) {
        float f;
        uint32_t b = (uint32_t)v ^ (minus ? 0x80000000u : 0);
        memcpy(&f, &b, 4);
        if (type == TYPE_F64) {
            double x = f;
            memcpy(&v, &x, 8);
            return (int64_t)v;
        }
        return b;
    }
    return (int64_t)(minus ? -v : v);
}

/* [base + imm], [symbol + imm], [imm]. */
static void operand_address(struct parser *p, const struct insn *i, struct opnd *o)
{
    o->kind = OPND_ADDR;
    o->bytes = 8;
    if (p->t == T_INT || p->punct == '-') {
        o->imm = (int64_t)token_int(p);
        o->is_imm = true;
    } else if (p->t == T_IDENT) {
        struct opnd base = {0};
        parse_name(p, &base);
        if (base.kind != OPND_REG || (base.bytes != 4 && base.bytes != 8))
            ptx_parse_fail(p, "an address needs a 32- or 64-bit register or a variable");
        o->bytes = base.bytes;
        o->off = base.off;
        o->is_imm = base.is_imm;
        o->ref_kind = base.ref_kind;
        o->ref = base.ref;
        if (base.ref_kind == REF_SPECIAL || base.ref_kind == REF_FUNC)
            ptx_parse_fail(p, "this cannot be an address");
    } else {
        ptx_parse_fail(p, "an address expected");
    }
    while (p->punct == '+' || p->punct == '-') {
        bool minus = p->punct == '-';
        token_next(p);
        uint64_t v = token_int(p);
        o->imm += (int64_t)(minus ? -v : v);
    }
    p->coordinates = (struct opnd){0};
    if (token_accept(p, ',')) { /* of a tensor copy: an operand of its own */
        struct opnd list;
        if (p->punct != '{')
            ptx_parse_fail(p, "the coordinates of a tensor copy expected, in braces");
        parse_operand(p, i, &list, TYPE_B32, 0);
        p->coordinates = list;
    }
    token_expect(p, ']');
}

void parse_operand(struct parser *p, const struct insn *i, struct opnd *o, enum type type, int depth)
{
    *o = (struct opnd){0};
    if (token_accept(p, '{')) {
        if (depth)
            ptx_parse_fail(p, "a vector inside a vector");
        struct opnd v[128];
        o->kind = OPND_VEC;
        do {
            if (o->n == ARRAY_LEN(v))
                ptx_parse_fail(p, "a vector of more than %zu elements", ARRAY_LEN(v));
            parse_operand(p, i, &v[o->n++], type, depth + 1);
        } while (token_accept(p, ','));
        token_expect(p, '}');
        o->vec = arena_copy(p->a, v, o->n * sizeof(*v));
        return;
    }
    if (token_accept(p, '[')) {
        if (depth)
            ptx_parse_fail(p, "an address inside a vector");
        operand_address(p, i, o);
        return;
    }
    if (token_accept(p, '!')) {
        parse_operand(p, i, o, type, 1);
        if (o->kind != OPND_REG || o->bytes || o->is_imm)
            ptx_parse_fail(p, "'!' needs a predicate");
        o->negated = !o->negated;
        return;
    }
    bool minus = token_accept(p, '-');
    if (p->t == T_INT || p->t == T_F32 || p->t == T_F64) {
        o->kind = OPND_REG;
        o->is_imm = true;
        o->imm = token_bits(p, type, minus);
        o->bytes = 0xff; /* the width follows from where it stands: lower.c */
        token_next(p);
        return;
    }
    if (minus)
        ptx_parse_fail(p, "a number expected after '-'");
    if (p->t != T_IDENT)
        ptx_parse_fail(p, "an operand expected before '%.*s'", (int)MIN(p->tn, 40u), p->ts);
    parse_name(p, o);
    if (o->ref_kind == REF_VAR || o->ref_kind == REF_ENTRY_PARAM || o->ref_kind == REF_FUNC_PARAM)
        while (p->punct == '+' || p->punct == '-') {
            bool sub = p->punct == '-';
            token_next(p);
            uint64_t v = token_int(p);
            o->imm += (int64_t)(sub ? -v : v);
        }
}

void parse_label(struct parser *p, struct opnd *o, uint32_t insn, bool element)
{
    if (p->t != T_IDENT)
        ptx_parse_fail(p, "a label expected");
    *o = (struct opnd){.kind = OPND_LABEL};
    struct label_use u = {
        .name = p->ts, .len = p->tn, .scope = scope_now(p), .line = p->tline, .col = p->tcol, .insn = insn};
    u.opnd = element ? o : NULL;
    vec_push(&p->uses, u);
    token_next(p);
}

/* ---- instructions ---- */

/* The opcode whose name, of one word of n bytes or of two ("wmma.load"), stands at s. */
static int op_find(const char *s, size_t n, const char *end)
{
    for (int k = 1; k < N_OPS; k++) {
        const char *t = op_table[k].text;
        if (t[0] != s[0] || strncmp(t, s, n))
            continue;
        size_t len = strlen(t);
        if (len == n || (t[n] == '.' && len < (size_t)(end - s) && !memcmp(t, s, len) && !char_is_word(s[len])))
            return k;
    }
    return OP_unsupported;
}

/* "m16n8k16"; false: it is no shape. */
static bool shape_find(const char *s, size_t n, struct mma_shape *to)
{
    static const char letters[] = "mnk";
    unsigned size[3] = {0};
    const char *end = s + n;
    for (int k = 0; k < 3; k++) {
        if (s == end || *s++ != letters[k])
            return false;
        const char *digits = s;
        while (s < end && s - digits < 3 && isdigit((unsigned char)*s))
            size[k] = size[k] * 10 + (unsigned)(*s++ - '0');
        if (s == digits || size[k] > (k < 1 ? UINT8_MAX : UINT16_MAX))
            return false;
    }
    if (s != end)
        return false;
    *to = (struct mma_shape){(uint8_t)size[0], (uint16_t)size[1], (uint16_t)size[2]};
    return true;
}

static const char *const mod_names[N_MODS] = {
#define MOD(id, text) text,
#include "ptx/mod.def"
#undef MOD
};

static int mod_find(const char *s, size_t n)
{
    for (int k = 0; k < N_MODS; k++)
        if (mod_names[k][0] == s[0] && strlen(mod_names[k]) == n && !memcmp(mod_names[k], s, n))
            return k;
    return MOD_unsupported;
}

static void mod_set(struct insn *i, enum mod m)
{
    i->mods[m >> 6] |= 1ull << (m & 63);
}

/* "add.rn.f32": the current token is the first word; the suffixes follow without blanks. */
static void opcode(struct parser *p, struct insn *i)
{
    const char *start = p->ts;
    i->op = (uint32_t)op_find(p->ts, p->tn, p->end);
    const char *s = p->s + (i->op == OP_unsupported ? 0 : strlen(op_table[i->op].text) - p->tn);
    while (s < p->end && *s == '.') {
        const char *w = ++s;
        while (s < p->end && (char_is_word(*s) || (s[0] == ':' && s + 1 < p->end && s[1] == ':')))
            s += *s == ':' ? 2 : 1;
        size_t n = (size_t)(s - w);
        int type = n ? type_find(w, n) : TYPE_NONE;
        if (type && i->n_types < ARRAY_LEN(i->types)) {
            i->types[i->n_types++] = (uint8_t)type;
        } else if (n && !shape_find(w, n, &i->shape)) {
            int mod = mod_find(w, n);
            mod_set(i, (enum mod)mod);
        }
    }
    if (i->n_types) {
        i->type = i->types[i->n_types - 1];
        i->type2 = i->types[i->n_types > 1 ? i->n_types - 2 : 0];
    }
    i->text = arena_strndup(p->a, start, (size_t)(s - start));
    p->s = s;
    token_next(p);
}

/* call (ret), f, (args), prototype; */
static void call_operands(struct parser *p, struct insn *i)
{
    struct opnd rets = {.kind = OPND_VEC}, target = {0}, args = {.kind = OPND_VEC};
    struct opnd *lists[2] = {&rets, &args};
    for (int k = 0; k < 2; k++) {
        if (p->punct == '(') {
            struct opnd v[64];
            token_next(p);
            while (p->punct != ')') {
                if (lists[k]->n == ARRAY_LEN(v))
                    ptx_parse_fail(p, "a call with more than %zu parameters", ARRAY_LEN(v));
                parse_operand(p, i, &v[lists[k]->n++], TYPE_NONE, 1);
                if (!token_accept(p, ','))
                    break;
            }
            token_expect(p, ')');
            lists[k]->vec = arena_copy(p->a, v, lists[k]->n * sizeof(*v));
            if (k == 1)
                break;
            token_expect(p, ',');
        }
        if (k == 0) {
            if (p->t != T_IDENT)
                ptx_parse_fail(p, "the name of a function expected");
            struct sym *y = sym_find(p, p->ts, p->tn);
            if (y && y->kind == SYM_FUNC) {
                target = (struct opnd){.kind = OPND_FUNC, .imm = y->n};
                token_next(p);
            } else {
                parse_name(p, &target);
                if (target.kind != OPND_REG || target.bytes != 8)
                    ptx_parse_fail(p, "this is no function");
            }
            if (!token_accept(p, ','))
                break;
        }
    }
    if (p->t == T_IDENT) /* the prototype of an indirect call, or its targets */
        token_next(p);
    else if (token_accept(p, ',') && p->t == T_IDENT)
        token_next(p);
    i->opnds = arena_array(p->a, struct opnd, 3);
    i->opnds[0] = rets;
    i->opnds[1] = target;
    i->opnds[2] = args;
    i->n_opnds = 3;
    p->func->calls = true;
}

/* The accumulators of wgmma.mma_async are read as well as written: they stand a second time, as C of mma does.
 */
static unsigned repeat_accumulators(struct parser *p, struct opnd *v, unsigned n)
{
    enum { C = 3 };
    if (n <= C || n == MAX_OPNDS || v[0].kind != OPND_VEC)
        return n;
    memmove(v + C + 1, v + C, (n - C) * sizeof(*v));
    v[C] = v[0];
    v[C].vec = arena_copy(p->a, v[0].vec, v[0].n * sizeof(*v));
    return n + 1;
}

static void operands(struct parser *p, struct insn *i, uint32_t index)
{
    if (i->op == OP_call) {
        call_operands(p, i);
        return;
    }
    struct opnd v[MAX_OPNDS];
    unsigned n = 0;
    while (p->punct != ';' && p->t != T_END) {
        if (n == MAX_OPNDS)
            ptx_parse_fail(p, "more than %d operands", MAX_OPNDS);
        if ((i->op == OP_bra && n == 0) || (i->op == OP_brx && n == 1))
            parse_label(p, &v[n], index, false);
        else
            parse_operand(p, i, &v[n], (enum type)i->type, 0);
        if (n == 0 && token_accept(p, '|')) {
            i->pair = arena_new(p->a, struct opnd);
            parse_operand(p, i, i->pair, TYPE_PRED, 1);
        }
        n++;
        if (v[n - 1].kind == OPND_ADDR && p->coordinates.kind && n < MAX_OPNDS)
            v[n++] = p->coordinates;
        if (!token_accept(p, ','))
            break;
    }
    if (i->op == OP_wgmma_mma)
        n = repeat_accumulators(p, v, n);
    i->opnds = arena_copy(p->a, v, n * sizeof(*v));
    i->n_opnds = (uint8_t)n;
}

void parse_instruction(struct parser *p)
{
    struct insn i = {
        .loc = p->loc, .ptx_line = (uint32_t)p->tline, .func = (uint16_t)p->func_index, .guard = ~0u};
    uint32_t index = (uint32_t)p->out->code.n;
    if (token_accept(p, '@')) {
        bool not = token_accept(p, '!');
        struct opnd o = {0};
        if (p->t != T_IDENT)
            ptx_parse_fail(p, "a predicate expected");
        parse_name(p, &o);
        if (o.kind != OPND_REG || o.bytes || o.is_imm)
            ptx_parse_fail(p, "a predicate expected");
        i.guard = o.off;
        i.guard_not = not ? ~0u : 0;
    }
    if (p->t != T_IDENT)
        ptx_parse_fail(p, "an instruction expected before '%.*s'", (int)MIN(p->tn, 40u), p->ts);
    if (index > 8000000)
        ptx_parse_fail(p, "more than 8,000,000 instructions");
    opcode(p, &i);
    p->lacks = false;
    if (!p->func->main_file && p->loc && p->out->locs.v[p->loc].inlined_at == 0)
        p->func->main_file = p->out->locs.v[p->loc].file;
    if (i.op == OP_unsupported) { /* its operands may have any form */
        while (p->punct != ';' && p->t != T_END)
            token_next(p);
        i.opnds = arena_array(p->a, struct opnd, 1);
    } else {
        operands(p, &i, index);
    }
    if (p->lacks) { /* a special register: nobody knows what it holds */
        i.op = OP_unsupported;
        i.opnds = arena_array(p->a, struct opnd, 1);
        i.n_opnds = 0;
        i.pair = NULL;
    }
    token_expect(p, ';');
    vec_push(&p->out->code, i);
}
