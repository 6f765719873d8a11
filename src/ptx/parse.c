/* PTX text to instructions. Registers are numbered per function here; lower.c gives them places. Anything that
 * is not PTX is an error with line and column; an opcode or suffix that nobody knows becomes an instruction
 * that fails when executed. */
#include "internal.h"

#include <ctype.h>
#include <setjmp.h>

enum token { T_END, T_IDENT, T_DOT /* .word */, T_INT, T_F32, T_F64, T_STRING, T_PUNCT };

enum sym_kind { SYM_REG, SYM_RANGE, SYM_VAR, SYM_PARAM, SYM_FUNC, SYM_LABEL, SYM_TARGETS };

struct sym {
    const char *name;
    uint32_t len, scope;
    uint32_t hash;
    enum sym_kind kind;
    uint32_t n;     /* register number, first of a range is made on use; label: pc */
    uint32_t count; /* range */
    uint8_t bytes;  /* register */
    uint8_t ref;    /* SYM_PARAM: REF_ENTRY_PARAM or REF_FUNC_PARAM */
    void *p;
};

struct label_use {
    const char *name;
    uint32_t len, scope;
    int line, col;
    uint32_t insn;
    struct opnd *opnd; /* element of a table, or NULL: the instruction's own operand 0 */
};

struct targets { /* .branchtargets */
    struct opnd *v;
    uint32_t n;
};

struct parser {
    struct parsed *out;
    struct ptx_module *m;
    struct arena *a;
    const char *s, *end, *line_start;
    int line;
    /* the current token */
    enum token t;
    const char *ts;
    uint32_t tn;
    int tline, tcol;
    uint64_t tv;
    char punct;
    struct err *err;
    jmp_buf fail;
    VEC(struct sym) syms;
    uint32_t *slots;
    size_t n_slots;
    uint32_t scopes[64], n_scopes, next_scope;
    uint32_t param_top[64]; /* where the next .param variable goes, by scope depth */
    uint32_t param_max;
    VEC(struct label_use) uses;
    struct func *func;
    uint32_t func_index;
    uint32_t loc;
};

static _Noreturn void fail(struct parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static _Noreturn void fail(struct parser *p, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    err_at(p->err, p->m->name, p->tline, p->tcol, "%s", text);
    longjmp(p->fail, 1);
}

/* ---- tokens ---- */

static bool is_word(int c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static void skip_space(struct parser *p)
{
    while (p->s < p->end) {
        char c = *p->s;
        if (c == '\n') {
            p->line++;
            p->line_start = ++p->s;
        } else if (isspace((unsigned char)c)) {
            p->s++;
        } else if (c == '/' && p->s + 1 < p->end && p->s[1] == '/') {
            while (p->s < p->end && *p->s != '\n')
                p->s++;
        } else if (c == '/' && p->s + 1 < p->end && p->s[1] == '*') {
            p->s += 2;
            while (p->s + 1 < p->end && !(p->s[0] == '*' && p->s[1] == '/')) {
                if (*p->s == '\n') {
                    p->line++;
                    p->line_start = p->s + 1;
                }
                p->s++;
            }
            p->s = p->s + 2 <= p->end ? p->s + 2 : p->end;
        } else {
            break;
        }
    }
}

static int hex_digit(int c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static void lex_number(struct parser *p)
{
    const char *s = p->s;
    uint64_t v = 0;
    p->t = T_INT;
    if (s[0] == '0' && s + 1 < p->end && (s[1] == 'f' || s[1] == 'F' || s[1] == 'd' || s[1] == 'D')) {
        int want = s[1] == 'f' || s[1] == 'F' ? 8 : 16, n = 0;
        p->t = want == 8 ? T_F32 : T_F64;
        for (s += 2; s < p->end && hex_digit(*s) >= 0 && n < want; s++, n++)
            v = v << 4 | (unsigned)hex_digit(*s);
        if (n != want)
            fail(p, "a hexadecimal float needs %d digits", want);
    } else if (s[0] == '0' && s + 1 < p->end && (s[1] == 'x' || s[1] == 'X')) {
        for (s += 2; s < p->end && hex_digit(*s) >= 0; s++)
            v = v << 4 | (unsigned)hex_digit(*s);
    } else if (s[0] == '0' && s + 1 < p->end && (s[1] == 'b' || s[1] == 'B')) {
        for (s += 2; s < p->end && (*s == '0' || *s == '1'); s++)
            v = v << 1 | (unsigned)(*s - '0');
    } else {
        const char *e = s;
        while (e < p->end && isdigit((unsigned char)*e))
            e++;
        if (e < p->end && (*e == '.' || *e == 'e' || *e == 'E') && e + 1 < p->end &&
            (isdigit((unsigned char)e[1]) || *e != '.')) {
            char buf[64];
            size_t n = MIN((size_t)(p->end - s), sizeof(buf) - 1);
            memcpy(buf, s, n);
            buf[n] = 0;
            char *stop;
            double x = strtod(buf, &stop);
            memcpy(&v, &x, 8);
            s += stop - buf;
            p->t = T_F64;
        } else {
            unsigned base = s[0] == '0' ? 8 : 10;
            for (; s < e; s++)
                v = v * base + (unsigned)(*s - '0');
        }
    }
    if (s < p->end && *s == 'U' && p->t == T_INT)
        s++;
    p->tv = v;
    p->s = s;
}

static void next(struct parser *p)
{
    skip_space(p);
    p->tline = p->line;
    p->tcol = (int)(p->s - p->line_start) + 1;
    p->ts = p->s;
    p->punct = 0;
    if (p->s >= p->end) {
        p->t = T_END;
    } else if (isdigit((unsigned char)*p->s)) {
        lex_number(p);
    } else if (is_word(*p->s)) {
        p->t = T_IDENT;
        while (p->s < p->end && is_word(*p->s))
            p->s++;
    } else if (*p->s == '.' && p->s + 1 < p->end && is_word(p->s[1])) {
        p->t = T_DOT;
        p->s++;
        while (p->s < p->end && is_word(*p->s))
            p->s++;
    } else if (*p->s == '"') {
        p->t = T_STRING;
        for (p->s++; p->s < p->end && *p->s != '"' && *p->s != '\n'; p->s++)
            ;
        if (p->s >= p->end || *p->s != '"')
            fail(p, "a string without its end");
        p->s++;
    } else {
        p->t = T_PUNCT;
        p->punct = *p->s++;
    }
    p->tn = (uint32_t)(p->s - p->ts);
}

static bool is_text(const struct parser *p, const char *s)
{
    return (p->t == T_IDENT || p->t == T_DOT) && strlen(s) == p->tn && !memcmp(p->ts, s, p->tn);
}

static bool accept(struct parser *p, char c)
{
    if (p->punct != c)
        return false;
    next(p);
    return true;
}

static void expect(struct parser *p, char c)
{
    if (p->punct != c) {
        if (p->t == T_END)
            fail(p, "the text ends where '%c' should stand", c);
        fail(p, "'%c' expected before '%.*s'", c, (int)MIN(p->tn, 40u), p->ts);
    }
    next(p);
}

static uint64_t expect_int(struct parser *p)
{
    bool minus = accept(p, '-');
    if (p->t != T_INT)
        fail(p, "a whole number expected");
    uint64_t v = minus ? -p->tv : p->tv;
    next(p);
    return v;
}

static uint64_t expect_size(struct parser *p, uint64_t max, const char *what)
{
    uint64_t v = expect_int(p);
    if (v > max)
        fail(p, "%s is larger than %llu", what, (unsigned long long)max);
    return v;
}

/* ---- names ---- */

static uint32_t name_hash(const char *s, uint32_t n, uint32_t scope)
{
    uint32_t h = scope * 0x9e3779b9u ^ 2166136261u;
    for (uint32_t k = 0; k < n; k++)
        h = (h ^ (unsigned char)s[k]) * 16777619u;
    return h ^ h >> 15;
}

static struct sym *sym_in(struct parser *p, const char *s, uint32_t n, uint32_t scope)
{
    if (!p->n_slots)
        return NULL;
    uint32_t h = name_hash(s, n, scope);
    for (size_t k = h & (p->n_slots - 1); p->slots[k]; k = (k + 1) & (p->n_slots - 1)) {
        struct sym *y = &p->syms.v[p->slots[k] - 1];
        if (y->hash == h && y->scope == scope && y->len == n && !memcmp(y->name, s, n))
            return y;
    }
    return NULL;
}

static struct sym *sym_find(struct parser *p, const char *s, uint32_t n)
{
    for (uint32_t k = p->n_scopes; k-- > 0;) {
        struct sym *y = sym_in(p, s, n, p->scopes[k]);
        if (y)
            return y;
    }
    return NULL;
}

static void sym_slot(struct parser *p, uint32_t index)
{
    size_t k = p->syms.v[index].hash & (p->n_slots - 1);
    while (p->slots[k])
        k = (k + 1) & (p->n_slots - 1);
    p->slots[k] = index + 1;
}

static struct sym *sym_add(struct parser *p, const char *s, uint32_t n, uint32_t scope, enum sym_kind kind)
{
    if (p->syms.n * 2 + 2 > p->n_slots) {
        p->n_slots = p->n_slots ? p->n_slots * 2 : 1024;
        free(p->slots);
        p->slots = mem_zalloc(p->n_slots * sizeof(*p->slots));
        for (uint32_t k = 0; k < p->syms.n; k++)
            sym_slot(p, k);
    }
    struct sym y = {.name = s, .len = n, .scope = scope, .hash = name_hash(s, n, scope), .kind = kind};
    vec_push(&p->syms, y);
    sym_slot(p, (uint32_t)p->syms.n - 1);
    return &vec_last(&p->syms);
}

static uint32_t scope_now(const struct parser *p)
{
    return p->scopes[p->n_scopes - 1];
}

static void scope_open(struct parser *p)
{
    if (p->n_scopes == ARRAY_LEN(p->scopes))
        fail(p, "blocks nested more than %zu deep", ARRAY_LEN(p->scopes));
    p->param_top[p->n_scopes] = p->n_scopes > 1 ? p->param_top[p->n_scopes - 1] : 0;
    p->scopes[p->n_scopes++] = ++p->next_scope;
}

/* Uses of labels that this scope does not define are left to the scope around it. */
static void scope_close(struct parser *p)
{
    uint32_t scope = p->scopes[--p->n_scopes];
    bool outermost = p->n_scopes == 1;
    size_t keep = 0;
    for (size_t k = 0; k < p->uses.n; k++) {
        struct label_use u = p->uses.v[k];
        struct sym *y = u.scope == scope ? sym_in(p, u.name, u.len, scope) : NULL;
        if (y && y->kind == SYM_LABEL) {
            struct insn *i = &p->out->code.v[u.insn];
            struct opnd *o = u.opnd ? u.opnd : &i->opnds[i->n_opnds - 1];
            o->imm = y->n;
        } else if (y && y->kind == SYM_TARGETS && !u.opnd) {
            struct insn *i = &p->out->code.v[u.insn];
            struct targets *t = y->p;
            struct opnd *o = &i->opnds[i->n_opnds - 1];
            o->vec = t->v;
            o->n = (uint8_t)MIN(t->n, 255u);
            o->imm = t->n;
        } else if (outermost || y) {
            p->tline = u.line;
            p->tcol = u.col;
            fail(p, "no label %.*s in this function", (int)MIN(u.len, 80u), u.name);
        } else {
            if (u.scope == scope)
                u.scope = scope_now(p);
            p->uses.v[keep++] = u;
        }
    }
    p->uses.n = keep;
}

static uint32_t vreg_new(struct parser *p, uint8_t bytes)
{
    if (p->out->vregs.n > 4000000)
        fail(p, "more than 4,000,000 registers");
    struct vreg v = {.bytes = bytes};
    vec_push(&p->out->vregs, v);
    return (uint32_t)p->out->vregs.n - 1;
}

/* ---- operands ---- */

static int type_find(const char *s, size_t n)
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
#include "special.def"
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
#include "special.def"
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

/* A name where a value may stand. */
static void operand_name(struct parser *p, struct opnd *o)
{
    const char *s = p->ts;
    uint32_t n = p->tn;
    if (n == 1 && *s == '_') {
        o->kind = OPND_SINK;
        next(p);
        return;
    }
    struct sym *y = reg_find(p, s, n);
    if (!y && n == 7 && memcmp(s, "WARP_SZ", 7) == 0) {
        *o = (struct opnd){.kind = OPND_REG, .is_imm = true, .bytes = 4, .imm = 32};
        next(p);
        return;
    }
    if (!y && *s == '%') {
        const char *e = p->s;
        if (e < p->end && *e == '.') {
            const char *f = e + 1;
            while (f < p->end && is_word(*f))
                f++;
            if (special_find(s, (size_t)(f - s)) >= 0) {
                n = (uint32_t)(f - s);
                p->s = f;
            }
        }
        int k = special_find(s, n);
        if (k < 0)
            fail(p, "unknown register %.*s", (int)MIN(n, 80u), s);
        *o = (struct opnd){
            .kind = OPND_REG, .is_imm = true, .bytes = special_bytes(k), .ref_kind = REF_SPECIAL, .imm = k};
        next(p);
        return;
    }
    if (!y)
        fail(p, "unknown name %.*s", (int)MIN(n, 80u), s);
    next(p);
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
        fail(p, "%.*s cannot stand here", (int)MIN(n, 80u), s);
    }
}

/* The bits of a number as a constant of a type. */
static int64_t number_bits(struct parser *p, enum type type, bool minus)
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

static void operand(struct parser *p, const struct insn *i, struct opnd *o, enum type type, int depth);

/* [base + imm], [symbol + imm], [imm]. */
static void operand_address(struct parser *p, const struct insn *i, struct opnd *o)
{
    o->kind = OPND_ADDR;
    o->bytes = 8;
    if (p->t == T_INT || p->punct == '-') {
        o->imm = (int64_t)expect_int(p);
        o->is_imm = true;
    } else if (p->t == T_IDENT) {
        struct opnd base = {0};
        operand_name(p, &base);
        if (base.kind != OPND_REG || (base.bytes != 4 && base.bytes != 8))
            fail(p, "an address needs a 32- or 64-bit register or a variable");
        o->bytes = base.bytes;
        o->off = base.off;
        o->is_imm = base.is_imm;
        o->ref_kind = base.ref_kind;
        o->ref = base.ref;
        if (base.ref_kind == REF_SPECIAL || base.ref_kind == REF_FUNC)
            fail(p, "this cannot be an address");
    } else {
        fail(p, "an address expected");
    }
    while (p->punct == '+' || p->punct == '-') {
        bool minus = p->punct == '-';
        next(p);
        uint64_t v = expect_int(p);
        o->imm += (int64_t)(minus ? -v : v);
    }
    if (p->punct == ',') { /* bulk tensor coordinates: kept out, the instruction is not executed */
        int depth = 1;
        while (p->t != T_END && depth > 0) {
            if (p->punct == '[')
                depth++;
            if (p->punct == ']' && --depth == 0)
                break;
            next(p);
        }
    }
    (void)i;
    expect(p, ']');
}

static void operand(struct parser *p, const struct insn *i, struct opnd *o, enum type type, int depth)
{
    *o = (struct opnd){0};
    if (accept(p, '{')) {
        if (depth)
            fail(p, "a vector inside a vector");
        struct opnd v[32];
        o->kind = OPND_VEC;
        do {
            if (o->n == ARRAY_LEN(v))
                fail(p, "a vector of more than %zu elements", ARRAY_LEN(v));
            operand(p, i, &v[o->n++], type, depth + 1);
        } while (accept(p, ','));
        expect(p, '}');
        o->vec = arena_copy(p->a, v, o->n * sizeof(*v));
        return;
    }
    if (accept(p, '[')) {
        if (depth)
            fail(p, "an address inside a vector");
        operand_address(p, i, o);
        return;
    }
    if (accept(p, '!')) {
        operand(p, i, o, type, 1);
        if (o->kind != OPND_REG || o->bytes || o->is_imm)
            fail(p, "'!' needs a predicate");
        o->negated = !o->negated;
        return;
    }
    bool minus = accept(p, '-');
    if (p->t == T_INT || p->t == T_F32 || p->t == T_F64) {
        o->kind = OPND_REG;
        o->is_imm = true;
        o->imm = number_bits(p, type, minus);
        o->bytes = 0xff; /* the width follows from where it stands: lower.c */
        next(p);
        return;
    }
    if (minus)
        fail(p, "a number expected after '-'");
    if (p->t != T_IDENT)
        fail(p, "an operand expected before '%.*s'", (int)MIN(p->tn, 40u), p->ts);
    operand_name(p, o);
    if (o->ref_kind == REF_VAR || o->ref_kind == REF_ENTRY_PARAM || o->ref_kind == REF_FUNC_PARAM)
        while (p->punct == '+' || p->punct == '-') {
            bool sub = p->punct == '-';
            next(p);
            uint64_t v = expect_int(p);
            o->imm += (int64_t)(sub ? -v : v);
        }
}

static void label_operand(struct parser *p, struct opnd *o, uint32_t insn, bool element)
{
    if (p->t != T_IDENT)
        fail(p, "a label expected");
    *o = (struct opnd){.kind = OPND_LABEL};
    struct label_use u = {
        .name = p->ts, .len = p->tn, .scope = scope_now(p), .line = p->tline, .col = p->tcol, .insn = insn};
    u.opnd = element ? o : NULL;
    vec_push(&p->uses, u);
    next(p);
}

/* ---- instructions ---- */

static int op_find(const char *s, size_t n)
{
    for (int k = 1; k < N_OPS; k++) {
        const char *t = op_table[k].text;
        if (t[0] == s[0] && !strncmp(t, s, n) && !t[n])
            return k;
    }
    return OP_unsupported;
}

static const char *const mod_names[N_MODS] = {
#define MOD(id, text) text,
#include "mod.def"
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
    i->op = (uint32_t)op_find(p->ts, p->tn);
    const char *s = p->s;
    while (s < p->end && *s == '.') {
        const char *w = ++s;
        while (s < p->end && (is_word(*s) || (s[0] == ':' && s + 1 < p->end && s[1] == ':')))
            s += *s == ':' ? 2 : 1;
        size_t n = (size_t)(s - w);
        int type = n ? type_find(w, n) : TYPE_NONE;
        if (type && i->n_types < ARRAY_LEN(i->types)) {
            i->types[i->n_types++] = (uint8_t)type;
        } else if (n) {
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
    next(p);
}

/* call (ret), f, (args), prototype; */
static void call_operands(struct parser *p, struct insn *i)
{
    struct opnd rets = {.kind = OPND_VEC}, target = {0}, args = {.kind = OPND_VEC};
    struct opnd *lists[2] = {&rets, &args};
    for (int k = 0; k < 2; k++) {
        if (p->punct == '(') {
            struct opnd v[64];
            next(p);
            while (p->punct != ')') {
                if (lists[k]->n == ARRAY_LEN(v))
                    fail(p, "a call with more than %zu parameters", ARRAY_LEN(v));
                operand(p, i, &v[lists[k]->n++], TYPE_NONE, 1);
                if (!accept(p, ','))
                    break;
            }
            expect(p, ')');
            lists[k]->vec = arena_copy(p->a, v, lists[k]->n * sizeof(*v));
            if (k == 1)
                break;
            expect(p, ',');
        }
        if (k == 0) {
            if (p->t != T_IDENT)
                fail(p, "the name of a function expected");
            struct sym *y = sym_find(p, p->ts, p->tn);
            if (y && y->kind == SYM_FUNC) {
                target = (struct opnd){.kind = OPND_FUNC, .imm = y->n};
                next(p);
            } else {
                operand_name(p, &target);
                if (target.kind != OPND_REG || target.bytes != 8)
                    fail(p, "this is no function");
            }
            if (!accept(p, ','))
                break;
        }
    }
    if (p->t == T_IDENT) /* the prototype of an indirect call, or its targets */
        next(p);
    else if (accept(p, ',') && p->t == T_IDENT)
        next(p);
    i->opnds = arena_array(p->a, struct opnd, 3);
    i->opnds[0] = rets;
    i->opnds[1] = target;
    i->opnds[2] = args;
    i->n_opnds = 3;
    p->func->calls = true;
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
            fail(p, "more than %d operands", MAX_OPNDS);
        if ((i->op == OP_bra && n == 0) || (i->op == OP_brx && n == 1))
            label_operand(p, &v[n], index, false);
        else
            operand(p, i, &v[n], (enum type)i->type, 0);
        if (n == 0 && accept(p, '|')) {
            i->pair = arena_new(p->a, struct opnd);
            operand(p, i, i->pair, TYPE_PRED, 1);
        }
        n++;
        if (!accept(p, ','))
            break;
    }
    i->opnds = arena_copy(p->a, v, n * sizeof(*v));
    i->n_opnds = (uint8_t)n;
}

static void instruction(struct parser *p)
{
    struct insn i = {
        .loc = p->loc, .ptx_line = (uint32_t)p->tline, .func = (uint16_t)p->func_index, .guard = ~0u};
    uint32_t index = (uint32_t)p->out->code.n;
    if (accept(p, '@')) {
        bool not = accept(p, '!');
        struct opnd o = {0};
        if (p->t != T_IDENT)
            fail(p, "a predicate expected");
        operand_name(p, &o);
        if (o.kind != OPND_REG || o.bytes || o.is_imm)
            fail(p, "a predicate expected");
        i.guard = o.off;
        i.guard_not = not ? ~0u : 0;
    }
    if (p->t != T_IDENT)
        fail(p, "an instruction expected before '%.*s'", (int)MIN(p->tn, 40u), p->ts);
    if (index > 8000000)
        fail(p, "more than 8,000,000 instructions");
    opcode(p, &i);
    if (!p->func->main_file && p->loc && p->out->locs.v[p->loc].inlined_at == 0)
        p->func->main_file = p->out->locs.v[p->loc].file;
    if (i.op == OP_unsupported) { /* its operands may have any form */
        while (p->punct != ';' && p->t != T_END)
            next(p);
        i.opnds = arena_array(p->a, struct opnd, 1);
    } else {
        operands(p, &i, index);
    }
    expect(p, ';');
    vec_push(&p->out->code, i);
}

/* ---- directives ---- */

static void skip_statement(struct parser *p)
{
    while (p->t != T_END && p->punct != ';')
        next(p);
    next(p);
}

static void directive_loc(struct parser *p)
{
    next(p);
    struct loc l = {0};
    l.file = (uint32_t)expect_size(p, UINT32_MAX, "a file number");
    l.line = (uint32_t)expect_size(p, INT32_MAX, "a line");
    l.col = (uint32_t)expect_size(p, INT32_MAX, "a column");
    while (accept(p, ',')) {
        if (is_text(p, "inlined_at")) {
            next(p);
            uint32_t file = (uint32_t)expect_int(p), line = (uint32_t)expect_int(p),
                     col = (uint32_t)expect_int(p);
            for (size_t k = p->out->locs.n; k-- > 1 && p->out->locs.n - k < 64;) {
                const struct loc *o = &p->out->locs.v[k];
                if (o->file == file && o->line == line && o->col == col) {
                    l.inlined_at = (uint32_t)k;
                    break;
                }
            }
            if (!l.inlined_at) {
                struct loc at = {.file = file, .line = line, .col = col};
                vec_push(&p->out->locs, at);
                l.inlined_at = (uint32_t)p->out->locs.n - 1;
            }
        } else if (is_text(p, "function_name")) {
            next(p);
            next(p);
            if (accept(p, '+'))
                expect_int(p);
        } else {
            fail(p, "function_name or inlined_at expected");
        }
    }
    vec_push(&p->out->locs, l);
    p->loc = (uint32_t)p->out->locs.n - 1;
}

static void directive_file(struct parser *p)
{
    next(p);
    uint32_t n = (uint32_t)expect_size(p, 65535, "a file number");
    if (p->t != T_STRING)
        fail(p, "a file's name expected");
    while (p->out->files.n <= n)
        vec_push(&p->out->files, NULL);
    p->out->files.v[n] = arena_strndup(p->a, p->ts + 1, p->tn - 2);
    next(p);
    while (accept(p, ','))
        expect_int(p);
}

static void skip_block(struct parser *p)
{
    int depth = 0;
    do {
        if (p->t == T_END)
            fail(p, "a block without its end");
        depth += p->punct == '{' ? 1 : p->punct == '}' ? -1 : 0;
        next(p);
    } while (depth > 0);
}

/* .section .debug_x { ... } */
static void directive_section(struct parser *p)
{
    next(p);
    while (p->t != T_END && p->punct != '{')
        next(p);
    skip_block(p);
}

static void directive_reg(struct parser *p)
{
    next(p);
    if (is_text(p, ".align")) {
        next(p);
        expect_int(p);
    }
    unsigned lanes = 1;
    if (is_text(p, ".v2") || is_text(p, ".v4")) {
        lanes = p->ts[2] - '0';
        next(p);
    }
    enum type t = p->t == T_DOT ? (enum type)type_find(p->ts + 1, p->tn - 1) : TYPE_NONE;
    if (!t || lanes > 1)
        fail(p, lanes > 1 ? "vector registers are not supported" : "a type expected");
    uint8_t bytes = t == TYPE_PRED ? 0 : (uint8_t)MAX(type_bytes[t], 2);
    next(p);
    do {
        if (p->t != T_IDENT)
            fail(p, "the name of a register expected");
        const char *s = p->ts;
        uint32_t n = p->tn;
        next(p);
        if (accept(p, '<')) {
            uint32_t count = (uint32_t)expect_size(p, UINT32_MAX, "a register count");
            expect(p, '>');
            struct sym *y = sym_add(p, s, n, scope_now(p), SYM_RANGE);
            y->count = count;
            y->bytes = bytes;
        } else {
            uint32_t v = vreg_new(p, bytes);
            struct sym *y = sym_add(p, s, n, scope_now(p), SYM_REG);
            y->n = v;
            y->bytes = bytes;
        }
    } while (accept(p, ','));
    expect(p, ';');
}

struct decl { /* [.align n] [.ptr ...] .type name[dims] */
    const char *name;
    uint32_t len;
    uint32_t align;
    enum type type;
    uint64_t count; /* elements; 0: [] */
    unsigned lanes;
    bool is_array;
};

static void declaration(struct parser *p, struct decl *d)
{
    *d = (struct decl){.count = 1, .lanes = 1};
    while (p->t == T_DOT) {
        if (is_text(p, ".align")) {
            next(p);
            d->align = (uint32_t)expect_size(p, 1 << 20, "an alignment");
            if (d->align & (d->align - 1))
                fail(p, "an alignment must be a power of two");
        } else if (is_text(p, ".v2") || is_text(p, ".v4")) {
            d->lanes = (unsigned)(p->ts[2] - '0');
            next(p);
        } else if (is_text(p, ".attribute")) {
            next(p);
            expect(p, '(');
            while (p->t != T_END && p->punct != ')')
                next(p);
            expect(p, ')');
        } else {
            enum type t = (enum type)type_find(p->ts + 1, p->tn - 1);
            if (t)
                d->type = t;
            else if (!is_text(p, ".ptr") && !is_text(p, ".global") && !is_text(p, ".shared") &&
                     !is_text(p, ".const") && !is_text(p, ".local") && !is_text(p, ".texref") &&
                     !is_text(p, ".param"))
                fail(p, "%.*s cannot stand in a declaration", (int)MIN(p->tn, 40u), p->ts);
            if (is_text(p, ".texref"))
                d->type = TYPE_B64;
            next(p);
        }
    }
    if (!d->type)
        fail(p, "a type expected");
    if (p->t != T_IDENT)
        fail(p, "a name expected");
    d->name = p->ts;
    d->len = p->tn;
    next(p);
    while (accept(p, '[')) {
        d->is_array = true;
        uint64_t n = 0;
        if (p->punct != ']')
            n = expect_size(p, 1ull << 32, "an array");
        expect(p, ']');
        if (n && d->count > (1ull << 32) / n)
            fail(p, "an array of more than 4 GiB");
        d->count *= n;
    }
    uint32_t size = type_bytes[d->type] * d->lanes;
    if (!size)
        fail(p, "a variable cannot have this type");
    if (!d->align)
        d->align = size;
}

static struct param *param_new(struct parser *p, const struct decl *d)
{
    uint64_t bytes = d->count * type_bytes[d->type] * d->lanes;
    if (bytes > 65536)
        fail(p, "a parameter of more than 64 KiB");
    struct param *q = arena_new(p->a, struct param);
    *q = (struct param){
        .name = arena_strndup(p->a, d->name, d->len), .bytes = (uint32_t)bytes, .align = d->align};
    return q;
}

/* A function's .param variable, in its lanes' blocks of parameters. */
static void param_place(struct parser *p, struct param *q)
{
    uint32_t *top = &p->param_top[p->n_scopes - 1];
    q->off = *top;
    *top += (q->bytes + 15) / 16 * 16;
    p->param_max = MAX(p->param_max, *top);
    if (p->param_max > MAX_PARAM_BYTES)
        fail(p, "parameters of more than %d bytes", MAX_PARAM_BYTES);
}

static void init_put(struct parser *p, uint8_t *to, enum type t, bool minus)
{
    uint64_t bits = (uint64_t)number_bits(p, t, minus);
    memcpy(to, &bits, MIN(type_bytes[t], 8));
}

/* = value, or {v, v, ...} nested; elements may be symbol, symbol+n, generic(symbol). */
static void initialiser(struct parser *p, struct var *v, uint8_t *bytes, uint64_t size, uint64_t *at, int depth)
{
    if (depth > 16)
        fail(p, "initialisers nested too deep");
    if (accept(p, '{')) {
        while (p->punct != '}') {
            initialiser(p, v, bytes, size, at, depth + 1);
            if (!accept(p, ','))
                break;
        }
        expect(p, '}');
        return;
    }
    uint32_t step = type_bytes[v->type];
    if (*at + step > size)
        fail(p, "more initial values than the variable holds");
    bool minus = accept(p, '-');
    if (p->t == T_INT || p->t == T_F32 || p->t == T_F64) {
        init_put(p, bytes + *at, (enum type)v->type, minus);
        next(p);
    } else if (p->t == T_IDENT) {
        struct var_ref r = {.at = (uint32_t)*at};
        r.generic = is_text(p, "generic");
        if (r.generic) {
            next(p);
            expect(p, '(');
        }
        struct sym *y = p->t == T_IDENT ? sym_find(p, p->ts, p->tn) : NULL;
        if (!y || y->kind != SYM_VAR || step != 8)
            fail(p, "an initial value must be a number or the address of a variable in 64 bits");
        next(p);
        if (r.generic)
            expect(p, ')');
        r.var = y->p;
        if (p->punct == '+' || p->punct == '-') {
            bool sub = p->punct == '-';
            next(p);
            uint64_t n = expect_int(p);
            r.add = (int64_t)(sub ? -n : n);
        }
        struct var_ref *refs = arena_array(p->a, struct var_ref, v->n_refs + 1);
        if (v->n_refs)
            memcpy(refs, v->refs, v->n_refs * sizeof(*refs));
        refs[v->n_refs++] = r;
        v->refs = refs;
    } else {
        fail(p, "an initial value expected");
    }
    *at += step;
}

static enum space space_of(const struct parser *p)
{
    return is_text(p, ".global")   ? SPACE_GLOBAL
           : is_text(p, ".shared") ? SPACE_SHARED
           : is_text(p, ".local")  ? SPACE_LOCAL
           : is_text(p, ".const")  ? SPACE_CONST
           : is_text(p, ".param")  ? SPACE_PARAM
                                   : SPACE_GENERIC;
}

/* The token is the space. */
static void directive_variable(struct parser *p, bool is_extern)
{
    enum space space = space_of(p);
    next(p);
    if (p->punct == '[') { /* .const[n] */
        next(p);
        expect_int(p);
        expect(p, ']');
    }
    do {
        struct decl d;
        declaration(p, &d);
        if (space == SPACE_PARAM) {
            struct param *q = param_new(p, &d);
            param_place(p, q);
            struct sym *y = sym_add(p, d.name, d.len, scope_now(p), SYM_PARAM);
            y->ref = REF_FUNC_PARAM;
            y->p = q;
            continue;
        }
        uint64_t bytes = d.count * type_bytes[d.type] * d.lanes;
        if (bytes > 1ull << 31)
            fail(p, "a variable of more than 2 GiB");
        struct var *v = arena_new(p->a, struct var);
        *v = (struct var){.name = arena_strndup(p->a, d.name, d.len),
                          .space = space,
                          .align = d.align,
                          .bytes = (uint32_t)bytes,
                          .type = (uint8_t)d.type,
                          .is_extern = is_extern,
                          .func = p->func ? (int)p->func_index : -1};
        struct sym *y = sym_add(p, d.name, d.len, scope_now(p), SYM_VAR);
        y->p = v;
        if (accept(p, '=')) {
            if (!d.count && p->punct == '{')
                fail(p, "an initialised array needs its size");
            if (space != SPACE_GLOBAL && space != SPACE_CONST)
                fail(p, "only .global and .const variables have initial values");
            if (bytes > 256u << 20)
                fail(p, "an initialised variable of more than 256 MiB");
            uint8_t *init = arena_zalloc(p->a, bytes);
            uint64_t at = 0;
            initialiser(p, v, init, bytes, &at, 0);
            v->init = init;
        }
        vec_push(&p->out->vars, v);
    } while (accept(p, ','));
    expect(p, ';');
}

/* ---- functions ---- */

static void param_list(struct parser *p, struct param **list, size_t *n, bool entry, uint32_t *block)
{
    VEC(struct param *) found = {0};
    expect(p, '(');
    while (p->punct != ')' && p->t != T_END) {
        struct param *q = NULL;
        if (is_text(p, ".reg"))
            fail(p, "register parameters are not supported");
        if (!is_text(p, ".param"))
            fail(p, ".param expected");
        next(p);
        struct decl d;
        declaration(p, &d);
        q = param_new(p, &d);
        if (entry) {
            *block = (*block + d.align - 1) & ~(d.align - 1);
            q->off = *block;
            *block += q->bytes;
            if (*block > 65536)
                fail(p, "parameters of more than 64 KiB");
        } else {
            param_place(p, q);
        }
        struct sym *y = sym_add(p, d.name, d.len, scope_now(p), SYM_PARAM);
        y->ref = entry ? REF_ENTRY_PARAM : REF_FUNC_PARAM;
        y->p = q;
        if (found.n >= 4096)
            fail(p, "more than 4096 parameters");
        struct param **grown = arena_array(p->a, struct param *, found.n + 1);
        if (found.n)
            memcpy(grown, found.v, found.n * sizeof(*grown));
        grown[found.n] = q;
        found.v = grown;
        found.n++;
        if (!accept(p, ','))
            break;
    }
    expect(p, ')');
    *n = found.n;
    *list = arena_array(p->a, struct param, found.n + 1);
    for (size_t k = 0; k < found.n; k++) {
        (*list)[k] = *found.v[k];
        for (size_t s = 0; s < p->syms.n; s++) /* names refer to the list's entry */
            if (p->syms.v[p->syms.n - 1 - s].p == found.v[k]) {
                p->syms.v[p->syms.n - 1 - s].p = &(*list)[k];
                break;
            }
    }
}

static void body(struct parser *p);

static void statement(struct parser *p)
{
    if (p->punct == '{') {
        next(p);
        scope_open(p);
        body(p);
        scope_close(p);
    } else if (p->t == T_DOT) {
        if (is_text(p, ".reg"))
            directive_reg(p);
        else if (is_text(p, ".loc"))
            directive_loc(p);
        else if (is_text(p, ".file"))
            directive_file(p);
        else if (is_text(p, ".section"))
            directive_section(p);
        else if (space_of(p))
            directive_variable(p, false);
        else if (is_text(p, ".pragma") || is_text(p, ".branchtargets") || is_text(p, ".calltargets") ||
                 is_text(p, ".callprototype"))
            skip_statement(p);
        else
            fail(p, "unknown directive %.*s", (int)MIN(p->tn, 40u), p->ts);
    } else if (p->t == T_IDENT) {
        const char *s = p->s; /* a label? */
        while (s < p->end && (*s == ' ' || *s == '\t'))
            s++;
        if (s < p->end && *s == ':' && !(s + 1 < p->end && s[1] == ':')) {
            const char *name = p->ts;
            uint32_t len = p->tn;
            if (sym_in(p, name, len, scope_now(p)))
                fail(p, "%.*s is already there", (int)MIN(len, 80u), name);
            next(p);
            next(p);
            if (is_text(p, ".branchtargets")) {
                next(p);
                struct targets *t = arena_new(p->a, struct targets);
                size_t cap = 16;
                t->v = arena_array(p->a, struct opnd, cap);
                size_t first = p->uses.n;
                do {
                    if (t->n == cap) {
                        if (cap >= 65536)
                            fail(p, "a table of more than 65536 labels");
                        struct opnd *grown = arena_array(p->a, struct opnd, cap * 2);
                        memcpy(grown, t->v, cap * sizeof(*grown));
                        for (size_t k = first; k < p->uses.n; k++)
                            p->uses.v[k].opnd = &grown[p->uses.v[k].opnd - t->v];
                        t->v = grown;
                        cap *= 2;
                    }
                    label_operand(p, &t->v[t->n++], 0, true);
                } while (accept(p, ','));
                expect(p, ';');
                struct sym *y = sym_add(p, name, len, scope_now(p), SYM_TARGETS);
                y->p = t;
            } else {
                struct sym *y = sym_add(p, name, len, scope_now(p), SYM_LABEL);
                y->n = (uint32_t)p->out->code.n;
            }
        } else {
            instruction(p);
        }
    } else if (p->punct == '@' && p->s < p->end && *p->s == '@') { /* @@DWARF */
        while (p->s < p->end && *p->s != '\n')
            p->s++;
        next(p);
    } else {
        if (p->punct == ';') {
            next(p);
            return;
        }
        instruction(p);
    }
}

static void body(struct parser *p)
{
    while (p->punct != '}') {
        if (p->t == T_END)
            fail(p, "a function without its end");
        statement(p);
    }
    next(p);
}

static void entry_directive(struct parser *p, struct func *f)
{
    uint32_t v[3] = {0};
    int n = 0;
    const char *name = p->ts;
    uint32_t len = p->tn;
    next(p);
    if (p->t == T_STRING) {
        next(p);
        accept(p, ';');
        return;
    }
    while (p->t == T_INT && n < 3) {
        v[n++] = (uint32_t)expect_size(p, UINT32_MAX, "a limit");
        if (!accept(p, ','))
            break;
    }
    uint32_t *to = len == 8 && !memcmp(name, ".maxntid", 8)          ? f->info.max_threads
                   : len == 8 && !memcmp(name, ".reqntid", 8)        ? f->info.req_threads
                   : len == 13 && !memcmp(name, ".minnctapersm", 13) ? &f->info.min_blocks
                                                                     : NULL;
    if (to == &f->info.min_blocks)
        *to = v[0];
    else if (to)
        for (int k = 0; k < 3; k++)
            to[k] = n > k ? v[k] : 1;
}

static void function(struct parser *p, bool entry)
{
    struct func f = {.is_entry = entry};
    if (p->out->funcs.n >= 65000)
        fail(p, "more than 65,000 functions");
    next(p);
    uint32_t scope_vregs = (uint32_t)p->out->vregs.n;
    p->func_index = (uint32_t)p->out->funcs.n;
    p->param_max = 0;
    scope_open(p);
    p->param_top[p->n_scopes - 1] = 0;
    while (p->t == T_DOT && !entry) { /* .attribute(...) */
        next(p);
        if (p->punct == '(')
            while (p->t != T_END && !accept(p, ')'))
                next(p);
    }
    if (!entry && p->punct == '(')
        param_list(p, &f.rets, &f.n_rets, false, NULL);
    if (p->t != T_IDENT)
        fail(p, "the name of a function expected");
    const char *name = p->ts;
    uint32_t len = p->tn;
    f.name = arena_strndup(p->a, name, len);
    next(p);
    if (p->punct == '(')
        param_list(p, &f.params, &f.n_params, entry, &f.param_bytes);
    while (p->t == T_DOT)
        entry_directive(p, &f);
    f.first = (uint32_t)p->out->code.n;
    struct sym *old = sym_in(p, name, len, p->scopes[0]);
    if (old && old->kind != SYM_FUNC)
        fail(p, "%s is already something else", f.name);
    if (old && p->punct != '{') { /* declared again */
        accept(p, ';');
        scope_close(p);
        return;
    }
    uint32_t index = p->func_index;
    if (old) {
        index = p->func_index = old->n;
        if (p->out->funcs.v[index].has_body)
            fail(p, "%s is defined twice", f.name);
    } else {
        vec_push(&p->out->funcs, f);
        struct sym *y = sym_add(p, name, len, p->scopes[0], SYM_FUNC);
        y->n = index;
    }
    if (accept(p, '{')) {
        f.has_body = true;
        p->func = &f;
        p->loc = 0;
        body(p);
        struct insn end = {.op = OP_bound_end,
                           .loc = p->loc,
                           .ptx_line = (uint32_t)p->tline,
                           .func = (uint16_t)index,
                           .guard = ~0u,
                           .text = entry ? "exit" : "ret"};
        vec_push(&p->out->code, end);
        f.end = (uint32_t)p->out->code.n;
        p->func = NULL;
    } else {
        accept(p, ';');
    }
    scope_close(p);
    f.param_stride = p->param_max;
    f.first_vreg = scope_vregs;
    f.end_vreg = (uint32_t)p->out->vregs.n;
    p->out->funcs.v[index] = f;
}

static void toplevel(struct parser *p)
{
    bool is_extern = false;
    while (is_text(p, ".visible") || is_text(p, ".extern") || is_text(p, ".weak") || is_text(p, ".common")) {
        is_extern |= is_text(p, ".extern");
        next(p);
    }
    if (is_text(p, ".version")) {
        next(p);
        if (p->t != T_F64 && p->t != T_INT)
            fail(p, "a version expected");
        next(p);
    } else if (is_text(p, ".target")) {
        do {
            next(p);
            if (p->t == T_IDENT && p->tn > 3 && !memcmp(p->ts, "sm_", 3))
                p->m->target = atoi(arena_strndup(p->a, p->ts + 3, p->tn - 3));
            next(p);
        } while (p->punct == ',');
    } else if (is_text(p, ".address_size")) {
        next(p);
        if (expect_int(p) != 64)
            fail(p, "only 64-bit addresses are supported");
    } else if (is_text(p, ".entry") || is_text(p, ".func")) {
        function(p, is_text(p, ".entry"));
    } else if (is_text(p, ".file")) {
        directive_file(p);
    } else if (is_text(p, ".section")) {
        directive_section(p);
    } else if (is_text(p, ".loc")) {
        directive_loc(p);
    } else if (space_of(p) && !is_text(p, ".param")) {
        directive_variable(p, is_extern);
    } else if (is_text(p, ".pragma") || is_text(p, ".alias")) {
        skip_statement(p);
    } else if (p->punct == ';') {
        next(p);
    } else if (p->punct == '@' && p->s < p->end && *p->s == '@') {
        while (p->s < p->end && *p->s != '\n')
            p->s++;
        next(p);
    } else {
        fail(p, "a directive expected before '%.*s'", (int)MIN(p->tn, 40u), p->ts);
    }
}

bool module_parse(struct parsed *out, const char *text, size_t len, struct err *err)
{
    struct parser p = {.out = out, .m = out->module, .a = out->module->arena, .err = err};
    const char *nul = memchr(text, 0, len); /* compilers hand over the terminating NUL */
    p.s = p.line_start = text;
    p.end = nul ? nul : text + len;
    p.line = 1;
    p.scopes[p.n_scopes++] = 0;
    struct loc none = {0};
    vec_push(&out->locs, none);
    volatile bool ok = false;
    if (!setjmp(p.fail)) {
        next(&p);
        if (!is_text(&p, ".version"))
            fail(&p, "PTX begins with .version");
        while (p.t != T_END)
            toplevel(&p);
        ok = true;
    }
    vec_free(&p.syms);
    vec_free(&p.uses);
    free(p.slots);
    return ok;
}
