/* Words of PTX, and the names that it declares. */
#include "parse.h"

void ptx_parse_fail(struct parser *p, const char *fmt, ...)
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

bool char_is_word(int c)
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

static void lex_number(struct parser *p)
{
    const char *s = p->s;
    uint64_t v = 0;
    p->t = T_INT;
    if (s[0] == '0' && s + 1 < p->end && (s[1] == 'f' || s[1] == 'F' || s[1] == 'd' || s[1] == 'D')) {
        int want = s[1] == 'f' || s[1] == 'F' ? 8 : 16, n = 0;
        p->t = want == 8 ? T_F32 : T_F64;
        for (s += 2; s < p->end && str_hex_digit(*s) >= 0 && n < want; s++, n++)
            v = v << 4 | (unsigned)str_hex_digit(*s);
        if (n != want)
            ptx_parse_fail(p, "a hexadecimal float needs %d digits", want);
    } else if (s[0] == '0' && s + 1 < p->end && (s[1] == 'x' || s[1] == 'X')) {
        for (s += 2; s < p->end && str_hex_digit(*s) >= 0; s++)
            v = v << 4 | (unsigned)str_hex_digit(*s);
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

void token_next(struct parser *p)
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
    } else if (char_is_word(*p->s)) {
        p->t = T_IDENT;
        while (p->s < p->end && char_is_word(*p->s))
            p->s++;
    } else if (*p->s == '.' && p->s + 1 < p->end && char_is_word(p->s[1])) {
        p->t = T_DOT;
        p->s++;
        while (p->s < p->end && char_is_word(*p->s))
            p->s++;
    } else if (*p->s == '"') {
        p->t = T_STRING;
        for (p->s++; p->s < p->end && *p->s != '"' && *p->s != '\n'; p->s++)
            ;
        if (p->s >= p->end || *p->s != '"')
            ptx_parse_fail(p, "a string without its end");
        p->s++;
    } else {
        p->t = T_PUNCT;
        p->punct = *p->s++;
    }
    p->tn = (uint32_t)(p->s - p->ts);
}

bool ptx_token_is(const struct parser *p, const char *s)
{
    return (p->t == T_IDENT || p->t == T_DOT) && strlen(s) == p->tn && !memcmp(p->ts, s, p->tn);
}

bool token_accept(struct parser *p, char c)
{
    if (p->punct != c)
        return false;
    token_next(p);
    return true;
}

void token_expect(struct parser *p, char c)
{
    if (p->punct != c) {
        if (p->t == T_END)
            ptx_parse_fail(p, "the text ends where '%c' should stand", c);
        ptx_parse_fail(p, "'%c' expected before '%.*s'", c, (int)MIN(p->tn, 40u), p->ts);
    }
    token_next(p);
}

uint64_t token_int(struct parser *p)
{
    bool minus = token_accept(p, '-');
    if (p->t != T_INT)
        ptx_parse_fail(p, "a whole number expected");
    uint64_t v = minus ? -p->tv : p->tv;
    token_next(p);
    return v;
}

uint64_t token_size(struct parser *p, uint64_t max, const char *what)
{
    uint64_t v = token_int(p);
    if (v > max)
        ptx_parse_fail(p, "%s is larger than %llu", what, (unsigned long long)max);
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

struct sym *sym_in(struct parser *p, const char *s, uint32_t n, uint32_t scope)
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

struct sym *sym_find(struct parser *p, const char *s, uint32_t n)
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

struct sym *sym_add(struct parser *p, const char *s, uint32_t n, uint32_t scope, enum sym_kind kind)
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

uint32_t scope_now(const struct parser *p)
{
    return p->scopes[p->n_scopes - 1];
}

void scope_open(struct parser *p)
{
    if (p->n_scopes == ARRAY_LEN(p->scopes))
        ptx_parse_fail(p, "blocks nested more than %zu deep", ARRAY_LEN(p->scopes));
    p->param_top[p->n_scopes] = p->n_scopes > 1 ? p->param_top[p->n_scopes - 1] : 0;
    p->scopes[p->n_scopes++] = ++p->next_scope;
}

/* Uses of labels that this scope does not define are left to the scope around it. */
void scope_close(struct parser *p)
{
    uint32_t scope = p->scopes[--p->n_scopes];
    bool outermost = p->n_scopes == 1;
    size_t keep = 0;
    for (size_t k = 0; k < p->uses.n; k++) {
        struct label_use u = p->uses.v[k];
        struct sym *y = u.scope == scope ? sym_in(p, u.name, u.len, scope) : NULL;
        bool list = !u.opnd && p->out->code.v[u.insn].op == OP_brx; /* it wants a list of labels */
        if (y && y->kind == SYM_LABEL && !list) {
            struct insn *i = &p->out->code.v[u.insn];
            struct opnd *o = u.opnd ? u.opnd : &i->opnds[i->n_opnds - 1];
            o->imm = y->n;
        } else if (y && y->kind == SYM_TARGETS && list) {
            struct insn *i = &p->out->code.v[u.insn];
            struct targets *t = y->p;
            struct opnd *o = &i->opnds[i->n_opnds - 1];
            o->vec = t->v;
            o->n = (uint8_t)MIN(t->n, 255u);
            o->imm = t->n;
        } else if (outermost || y) {
            p->tline = u.line;
            p->tcol = u.col;
            ptx_parse_fail(p, "no label %.*s in this function", (int)MIN(u.len, 80u), u.name);
        } else {
            if (u.scope == scope)
                u.scope = scope_now(p);
            p->uses.v[keep++] = u;
        }
    }
    p->uses.n = keep;
}

uint32_t vreg_new(struct parser *p, uint8_t bytes)
{
    if (p->out->vregs.n > 4000000)
        ptx_parse_fail(p, "more than 4,000,000 registers");
    struct vreg v = {.bytes = bytes};
    vec_push(&p->out->vregs, v);
    return (uint32_t)p->out->vregs.n - 1;
}
