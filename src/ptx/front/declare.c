/* Directives, variables, functions: PTX text to a module. Anything that is not PTX is an error with line and
 * column. */
#include "parse.h"

/* ---- directives ---- */

static void skip_statement(struct parser *p)
{
    while (p->t != T_END && p->punct != ';')
        token_next(p);
    token_next(p);
}

static void directive_loc(struct parser *p)
{
    token_next(p);
    struct loc l = {0};
    l.file = (uint32_t)token_size(p, UINT32_MAX, "a file number");
    l.line = (uint32_t)token_size(p, INT32_MAX, "a line");
    l.col = (uint32_t)token_size(p, INT32_MAX, "a column");
    while (token_accept(p, ',')) {
        if (ptx_token_is(p, "inlined_at")) {
            token_next(p);
            uint32_t file = (uint32_t)token_int(p), line = (uint32_t)token_int(p), col = (uint32_t)token_int(p);
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
        } else if (ptx_token_is(p, "function_name")) {
            token_next(p);
            token_next(p);
            if (token_accept(p, '+'))
                token_int(p);
        } else {
            ptx_parse_fail(p, "function_name or inlined_at expected");
        }
    }
    vec_push(&p->out->locs, l);
    p->loc = (uint32_t)p->out->locs.n - 1;
}

static void directive_file(struct parser *p)
{
    token_next(p);
    uint32_t n = (uint32_t)token_size(p, 65535, "a file number");
    if (p->t != T_STRING)
        ptx_parse_fail(p, "a file's name expected");
    while (p->out->files.n <= n)
        vec_push(&p->out->files, NULL);
    p->out->files.v[n] = arena_strndup(p->a, p->ts + 1, p->tn - 2);
    token_next(p);
    while (token_accept(p, ','))
        token_int(p);
}

static void skip_block(struct parser *p)
{
    int depth = 0;
    do {
        if (p->t == T_END)
            ptx_parse_fail(p, "a block without its end");
        depth += (p->punct == '{') - (p->punct == '}');
        token_next(p);
    } while (depth > 0);
}

/* .section .debug_x { ... } */
static void directive_section(struct parser *p)
{
    token_next(p);
    while (p->t != T_END && p->punct != '{')
        token_next(p);
    skip_block(p);
}

static void directive_reg(struct parser *p)
{
    token_next(p);
    if (ptx_token_is(p, ".align")) {
        token_next(p);
        token_int(p);
    }
    unsigned lanes = 1;
    if (ptx_token_is(p, ".v2") || ptx_token_is(p, ".v4")) {
        lanes = p->ts[2] - '0';
        token_next(p);
    }
    enum type t = p->t == T_DOT ? (enum type)type_find(p->ts + 1, p->tn - 1) : TYPE_NONE;
    if (!t || lanes > 1)
        ptx_parse_fail(p, lanes > 1 ? "vector registers are not supported" : "a type expected");
    uint8_t bytes = t == TYPE_PRED ? 0 : (uint8_t)MAX(type_bytes[t], 2);
    token_next(p);
    do {
        if (p->t != T_IDENT)
            ptx_parse_fail(p, "the name of a register expected");
        const char *s = p->ts;
        uint32_t n = p->tn;
        token_next(p);
        if (token_accept(p, '<')) {
            uint32_t count = (uint32_t)token_size(p, UINT32_MAX, "a register count");
            token_expect(p, '>');
            struct sym *y = sym_add(p, s, n, scope_now(p), SYM_RANGE);
            y->count = count;
            y->bytes = bytes;
        } else {
            uint32_t v = vreg_new(p, bytes);
            struct sym *y = sym_add(p, s, n, scope_now(p), SYM_REG);
            y->n = v;
            y->bytes = bytes;
        }
    } while (token_accept(p, ','));
    token_expect(p, ';');
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
        if (ptx_token_is(p, ".align")) {
            token_next(p);
            d->align = (uint32_t)token_size(p, 1 << 20, "an alignment");
            if (d->align & (d->align - 1))
                ptx_parse_fail(p, "an alignment must be a power of two");
        } else if (ptx_token_is(p, ".v2") || ptx_token_is(p, ".v4")) {
            d->lanes = (unsigned)(p->ts[2] - '0');
            token_next(p);
        } else if (ptx_token_is(p, ".attribute")) {
            token_next(p);
            token_expect(p, '(');
            while (p->t != T_END && p->punct != ')')
                token_next(p);
            token_expect(p, ')');
        } else {
            enum type t = (enum type)type_find(p->ts + 1, p->tn - 1);
            if (t)
                d->type = t;
            else if (!ptx_token_is(p, ".ptr") && !ptx_token_is(p, ".global") && !ptx_token_is(p, ".shared") &&
                     !ptx_token_is(p, ".const") && !ptx_token_is(p, ".local") && !ptx_token_is(p, ".texref") &&
                     !ptx_token_is(p, ".param"))
                ptx_parse_fail(p, "%.*s cannot stand in a declaration", (int)MIN(p->tn, 40u), p->ts);
            if (ptx_token_is(p, ".texref"))
                d->type = TYPE_B64;
            token_next(p);
        }
    }
    if (!d->type)
        ptx_parse_fail(p, "a type expected");
    if (p->t != T_IDENT)
        ptx_parse_fail(p, "a name expected");
    d->name = p->ts;
    d->len = p->tn;
    token_next(p);
    while (token_accept(p, '[')) {
        d->is_array = true;
        uint64_t n = 0;
        if (p->punct != ']')
            n = token_size(p, 1ull << 32, "an array");
        token_expect(p, ']');
        if (n && d->count > (1ull << 32) / n)
            ptx_parse_fail(p, "an array of more than 4 GiB");
        d->count *= n;
    }
    uint32_t size = type_bytes[d->type] * d->lanes;
    if (!size)
        ptx_parse_fail(p, "a variable cannot have this type");
    if (!d->align)
        d->align = size;
}

static struct param *param_new(struct parser *p, const struct decl *d)
{
    uint64_t bytes = d->count * type_bytes[d->type] * d->lanes;
    if (bytes > 65536)
        ptx_parse_fail(p, "a parameter of more than 64 KiB");
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
        ptx_parse_fail(p, "parameters of more than %d bytes", MAX_PARAM_BYTES);
}

static void init_put(struct parser *p, uint8_t *to, enum type t, bool minus)
{
    uint64_t bits = (uint64_t)token_bits(p, t, minus);
    memcpy(to, &bits, MIN(type_bytes[t], 8));
}

/* = value, or {v, v, ...} nested; elements may be symbol, symbol+n, generic(symbol). */
static void initialiser(struct parser *p, struct var *v, uint8_t *bytes, uint64_t size, uint64_t *at, int depth)
{
    if (depth > 16)
        ptx_parse_fail(p, "initialisers nested too deep");
    if (token_accept(p, '{')) {
        while (p->punct != '}') {
            initialiser(p, v, bytes, size, at, depth + 1);
            if (!token_accept(p, ','))
                break;
        }
        token_expect(p, '}');
        return;
    }
    uint32_t step = type_bytes[v->type];
    if (*at + step > size)
        ptx_parse_fail(p, "more initial values than the variable holds");
    bool minus = token_accept(p, '-');
    if (p->t == T_INT || p->t == T_F32 || p->t == T_F64) {
        init_put(p, bytes + *at, (enum type)v->type, minus);
        token_next(p);
    } else if (p->t == T_IDENT) {
        struct var_ref r = {.at = (uint32_t)*at};
        r.generic = ptx_token_is(p, "generic");
        if (r.generic) {
            token_next(p);
            token_expect(p, '(');
        }
        struct sym *y = p->t == T_IDENT ? sym_find(p, p->ts, p->tn) : NULL;
        if (!y || (y->kind != SYM_VAR && y->kind != SYM_FUNC) || step != 8)
            ptx_parse_fail(p, "an initial value must be a number or an address in 64 bits");
        token_next(p);
        if (r.generic)
            token_expect(p, ')');
        if (y->kind == SYM_FUNC)
            r.add = (int64_t)(FUNC_BASE + 16 * (uint64_t)y->n);
        else
            r.var = y->p;
        if (p->punct == '+' || p->punct == '-') {
            bool sub = p->punct == '-';
            token_next(p);
            uint64_t n = token_int(p);
            r.add += (int64_t)(sub ? -n : n);
        }
        if (!(v->n_refs & (v->n_refs - 1))) { /* full at each power of two */
            struct var_ref *refs = arena_array(p->a, struct var_ref, MAX(2 * v->n_refs, 1));
            if (v->n_refs)
                memcpy(refs, v->refs, v->n_refs * sizeof(*refs));
            v->refs = refs;
        }
        v->refs[v->n_refs++] = r;
    } else {
        ptx_parse_fail(p, "an initial value expected");
    }
    *at += step;
}

static enum space space_of(const struct parser *p)
{
    static const char *const words[] = {[SPACE_GLOBAL] = ".global",
                                        [SPACE_SHARED] = ".shared",
                                        [SPACE_LOCAL] = ".local",
                                        [SPACE_CONST] = ".const",
                                        [SPACE_PARAM] = ".param"};
    for (size_t s = 0; s < ARRAY_LEN(words); s++)
        if (words[s] && ptx_token_is(p, words[s]))
            return (enum space)s;
    return SPACE_GENERIC;
}

/* The token is the space. */
static void directive_variable(struct parser *p, bool is_extern)
{
    enum space space = space_of(p);
    token_next(p);
    if (p->punct == '[') { /* .const[n] */
        token_next(p);
        token_int(p);
        token_expect(p, ']');
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
            ptx_parse_fail(p, "a variable of more than 2 GiB");
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
        if (token_accept(p, '=')) {
            if (!d.count && p->punct == '{')
                ptx_parse_fail(p, "an initialised array needs its size");
            if (space != SPACE_GLOBAL && space != SPACE_CONST)
                ptx_parse_fail(p, "only .global and .const variables have initial values");
            if (bytes > 256u << 20)
                ptx_parse_fail(p, "an initialised variable of more than 256 MiB");
            uint8_t *init = arena_zalloc(p->a, bytes);
            uint64_t at = 0;
            initialiser(p, v, init, bytes, &at, 0);
            v->init = init;
        }
        vec_push(&p->out->vars, v);
    } while (token_accept(p, ','));
    token_expect(p, ';');
}

/* ---- functions ---- */

enum { MAX_PARAMS = 4096 };

static void param_list(struct parser *p, struct param ***list, size_t *n, bool entry, uint32_t *block)
{
    size_t cap = 16;
    struct param **found = arena_array(p->a, struct param *, cap);
    token_expect(p, '(');
    while (p->punct != ')' && p->t != T_END) {
        if (ptx_token_is(p, ".reg"))
            ptx_parse_fail(p, "register parameters are not supported");
        if (!ptx_token_is(p, ".param"))
            ptx_parse_fail(p, ".param expected");
        token_next(p);
        struct decl d;
        declaration(p, &d);
        struct param *q = param_new(p, &d);
        if (entry) {
            *block = (*block + d.align - 1) & ~(d.align - 1);
            q->off = *block;
            *block += q->bytes;
            if (*block > 65536)
                ptx_parse_fail(p, "parameters of more than 64 KiB");
        } else {
            param_place(p, q);
        }
        struct sym *y = sym_add(p, d.name, d.len, scope_now(p), SYM_PARAM);
        y->ref = entry ? REF_ENTRY_PARAM : REF_FUNC_PARAM;
        y->p = q;
        if (*n == MAX_PARAMS)
            ptx_parse_fail(p, "more than %d parameters", MAX_PARAMS);
        if (*n == cap) {
            struct param **grown = arena_array(p->a, struct param *, 2 * cap);
            memcpy(grown, found, cap * sizeof(*grown));
            found = grown;
            cap *= 2;
        }
        found[(*n)++] = q;
        if (!token_accept(p, ','))
            break;
    }
    token_expect(p, ')');
    *list = found;
}

static void body(struct parser *p);

static void statement(struct parser *p)
{
    if (p->punct == '{') {
        token_next(p);
        scope_open(p);
        body(p);
        scope_close(p);
    } else if (p->t == T_DOT) {
        if (ptx_token_is(p, ".reg"))
            directive_reg(p);
        else if (ptx_token_is(p, ".loc"))
            directive_loc(p);
        else if (ptx_token_is(p, ".file"))
            directive_file(p);
        else if (ptx_token_is(p, ".section"))
            directive_section(p);
        else if (space_of(p))
            directive_variable(p, false);
        else if (ptx_token_is(p, ".pragma") || ptx_token_is(p, ".branchtargets") ||
                 ptx_token_is(p, ".calltargets") || ptx_token_is(p, ".callprototype"))
            skip_statement(p);
        else
            ptx_parse_fail(p, "unknown directive %.*s", (int)MIN(p->tn, 40u), p->ts);
    } else if (p->t == T_IDENT) {
        const char *s = p->s; /* a label? */
        while (s < p->end && (*s == ' ' || *s == '\t'))
            s++;
        if (s < p->end && *s == ':' && !(s + 1 < p->end && s[1] == ':')) {
            const char *name = p->ts;
            uint32_t len = p->tn;
            if (sym_in(p, name, len, scope_now(p)))
                ptx_parse_fail(p, "%.*s is already there", (int)MIN(len, 80u), name);
            token_next(p);
            token_next(p);
            if (ptx_token_is(p, ".branchtargets")) {
                token_next(p);
                struct targets *t = arena_new(p->a, struct targets);
                size_t cap = 16;
                t->v = arena_array(p->a, struct opnd, cap);
                size_t first = p->uses.n;
                do {
                    if (t->n == cap) {
                        if (cap >= 65536)
                            ptx_parse_fail(p, "a table of more than 65536 labels");
                        struct opnd *grown = arena_array(p->a, struct opnd, cap * 2);
                        memcpy(grown, t->v, cap * sizeof(*grown));
                        for (size_t k = first; k < p->uses.n; k++)
                            p->uses.v[k].opnd = &grown[p->uses.v[k].opnd - t->v];
                        t->v = grown;
                        cap *= 2;
                    }
                    parse_label(p, &t->v[t->n++], 0, true);
                } while (token_accept(p, ','));
                token_expect(p, ';');
                struct sym *y = sym_add(p, name, len, scope_now(p), SYM_TARGETS);
                y->p = t;
            } else {
                struct sym *y = sym_add(p, name, len, scope_now(p), SYM_LABEL);
                y->n = (uint32_t)p->out->code.n;
            }
        } else {
            parse_instruction(p);
        }
    } else if (p->punct == '@' && p->s < p->end && *p->s == '@') { /* @@DWARF */
        while (p->s < p->end && *p->s != '\n')
            p->s++;
        token_next(p);
    } else {
        if (p->punct == ';') {
            token_next(p);
            return;
        }
        parse_instruction(p);
    }
}

static void body(struct parser *p)
{
    while (p->punct != '}') {
        if (p->t == T_END)
            ptx_parse_fail(p, "a function without its end");
        statement(p);
    }
    token_next(p);
}

static void entry_directive(struct parser *p, struct func *f)
{
    uint32_t v[3] = {0};
    int n = 0;
    const char *name = p->ts;
    uint32_t len = p->tn;
    token_next(p);
    if (p->t == T_STRING) {
        token_next(p);
        token_accept(p, ';');
        return;
    }
    while (p->t == T_INT && n < 3) {
        v[n++] = (uint32_t)token_size(p, UINT32_MAX, "a limit");
        if (!token_accept(p, ','))
            break;
    }
    const struct {
        const char *name;
        uint32_t *to, dims;
    } limits[] = {{".maxntid", f->info.max_threads, 3},
                  {".reqntid", f->info.req_threads, 3},
                  {".minnctapersm", &f->info.min_blocks, 1},
                  {".reqnctapercluster", f->info.req_cluster, 3},
                  {".maxclusterrank", &f->info.max_cluster, 1}};
    for (size_t l = 0; l < ARRAY_LEN(limits); l++)
        if (strlen(limits[l].name) == len && !memcmp(name, limits[l].name, len))
            for (int k = 0; k < (int)limits[l].dims; k++)
                limits[l].to[k] = n > k ? v[k] : 1;
    f->info.explicit_cluster |= len == 16 && !memcmp(name, ".explicitcluster", 16);
}

static void function(struct parser *p, bool entry)
{
    struct func f = {.is_entry = entry};
    if (p->out->funcs.n >= 65000)
        ptx_parse_fail(p, "more than 65,000 functions");
    token_next(p);
    uint32_t scope_vregs = (uint32_t)p->out->vregs.n;
    p->func_index = (uint32_t)p->out->funcs.n;
    p->param_max = 0;
    scope_open(p);
    p->param_top[p->n_scopes - 1] = 0;
    while (p->t == T_DOT && !entry) { /* .attribute(...) */
        token_next(p);
        if (p->punct == '(')
            while (p->t != T_END && !token_accept(p, ')'))
                token_next(p);
    }
    if (!entry && p->punct == '(')
        param_list(p, &f.rets, &f.n_rets, false, NULL);
    if (p->t != T_IDENT)
        ptx_parse_fail(p, "the name of a function expected");
    const char *name = p->ts;
    uint32_t len = p->tn;
    f.name = arena_strndup(p->a, name, len);
    token_next(p);
    if (p->punct == '(')
        param_list(p, &f.params, &f.n_params, entry, &f.param_bytes);
    while (p->t == T_DOT)
        entry_directive(p, &f);
    f.first = (uint32_t)p->out->code.n;
    struct sym *old = sym_in(p, name, len, p->scopes[0]);
    if (old && old->kind != SYM_FUNC)
        ptx_parse_fail(p, "%s is already something else", f.name);
    if (old && p->punct != '{') { /* declared again */
        token_accept(p, ';');
        scope_close(p);
        return;
    }
    uint32_t index = p->func_index;
    if (old) {
        index = p->func_index = old->n;
        if (p->out->funcs.v[index].has_body)
            ptx_parse_fail(p, "%s is defined twice", f.name);
    } else {
        vec_push(&p->out->funcs, f);
        struct sym *y = sym_add(p, name, len, p->scopes[0], SYM_FUNC);
        y->n = index;
    }
    if (token_accept(p, '{')) {
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
        token_accept(p, ';');
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
    while (ptx_token_is(p, ".visible") || ptx_token_is(p, ".extern") || ptx_token_is(p, ".weak") ||
           ptx_token_is(p, ".common")) {
        is_extern |= ptx_token_is(p, ".extern");
        token_next(p);
    }
    if (ptx_token_is(p, ".version")) {
        token_next(p);
        if (p->t != T_F64 && p->t != T_INT)
            ptx_parse_fail(p, "a version expected");
        token_next(p);
    } else if (ptx_token_is(p, ".target")) {
        do {
            token_next(p);
            if (p->t == T_IDENT && p->tn > 3 && !memcmp(p->ts, "sm_", 3))
                p->m->target = atoi(arena_strndup(p->a, p->ts + 3, p->tn - 3));
            token_next(p);
        } while (p->punct == ',');
    } else if (ptx_token_is(p, ".address_size")) {
        token_next(p);
        if (token_int(p) != 64)
            ptx_parse_fail(p, "only 64-bit addresses are supported");
    } else if (ptx_token_is(p, ".entry") || ptx_token_is(p, ".func")) {
        function(p, ptx_token_is(p, ".entry"));
    } else if (ptx_token_is(p, ".file")) {
        directive_file(p);
    } else if (ptx_token_is(p, ".section")) {
        directive_section(p);
    } else if (ptx_token_is(p, ".loc")) {
        directive_loc(p);
    } else if (space_of(p) && !ptx_token_is(p, ".param")) {
        directive_variable(p, is_extern);
    } else if (ptx_token_is(p, ".pragma") || ptx_token_is(p, ".alias")) {
        skip_statement(p);
    } else if (p->punct == ';') {
        token_next(p);
    } else if (p->punct == '@' && p->s < p->end && *p->s == '@') {
        while (p->s < p->end && *p->s != '\n')
            p->s++;
        token_next(p);
    } else {
        ptx_parse_fail(p, "a directive expected before '%.*s'", (int)MIN(p->tn, 40u), p->ts);
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
        token_next(&p);
        if (!ptx_token_is(&p, ".version"))
            ptx_parse_fail(&p, "PTX begins with .version");
        while (p.t != T_END)
            toplevel(&p);
        ok = true;
    }
    vec_free(&p.syms);
    vec_free(&p.uses);
    free(p.slots);
    return ok;
}
