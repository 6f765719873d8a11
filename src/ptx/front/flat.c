/* What of a kernel's arithmetic follows from its parameters and from what it reads alone, as a kernel of its
 * own without branches. It goes by the text as compilers write it: a statement a line, or a few in braces,
 * registers that are defined once. What it does not know, and all that hangs on it, is left out, so that the
 * worst that any text does is to give a flat kernel of nothing. */
#include <ctype.h>

#include "parse.h"

enum {
    MOST_OPERANDS = 10,
    MOST_DESTS = 8,
    MOST_INPUTS = 64,
    FROM_PARAM = 1, /* a value hangs on a parameter, */
    FROM_READ = 2,  /* on what was read */
};

struct piece {
    const char *s;
    size_t len;
};

struct statement {
    struct piece op;
    struct piece operands[MOST_OPERANDS];
    size_t n_operands;
    const char *dests[MOST_DESTS]; /* registers, as keys */
    size_t n_dests;
    bool guarded;
    unsigned from;
    uint64_t read; /* parameters that lead to what it was read from */
    enum { LEFT_OUT, PARAM, READ, COPIED, PURE } how;
    size_t slot; /* of a parameter */
    bool needed, result;
};

struct flat {
    struct arena *arena;
    struct piece kernel;
    struct ptx_flat *to;
    VEC(struct piece) registers; /* lines that declare them */
    VEC(struct statement) list;
    VEC(struct ptx_flat_input) inputs;
    struct map defs, made; /* of a register: how often it is defined; who makes it, */
    struct map led;        /* and which parameters lead to it: a mask */
    size_t lanes;
};

static struct piece trimmed(const char *s, const char *end)
{
    while (s < end && isspace((unsigned char)*s))
        s++;
    while (s < end && isspace((unsigned char)end[-1]))
        end--;
    return (struct piece){s, (size_t)(end - s)};
}

static const char *key_of(const struct flat *f, struct piece p)
{
    return arena_printf(f->arena, "%.*s", (int)p.len, p.s);
}

/* "add.s32" is add, and has s32. */
static bool opcode_is(struct piece op, const char *word)
{
    size_t n = strlen(word);

    return op.len >= n && !memcmp(op.s, word, n) && (op.len == n || op.s[n] == '.');
}

static bool opcode_has(struct piece op, const char *part)
{
    size_t n = strlen(part);

    for (size_t i = 0; i + n < op.len; i++)
        if (op.s[i] == '.' && !memcmp(op.s + i + 1, part, n) && (i + 1 + n == op.len || op.s[i + 1 + n] == '.'))
            return true;
    return false;
}

static bool opcode_among(struct piece op, const char *const *list)
{
    for (; *list; list++)
        if (opcode_is(op, *list))
            return true;
    return false;
}

/* ---- statements ---- */

/* The next register in a piece: letters behind a per cent sign, then digits. False: there is none. */
static bool next_register(struct piece *rest, struct piece *is)
{
    const char *p = rest->s, *end = p + rest->len;

    for (; p < end; p++) {
        const char *q = p + 1;
        if (*p != '%')
            continue;
        while (q < end && (isalpha((unsigned char)*q) || *q == '_'))
            q++;
        if (q == end || !isdigit((unsigned char)*q))
            continue;
        while (q < end && isdigit((unsigned char)*q))
            q++;
        *is = (struct piece){p, (size_t)(q - p)};
        *rest = (struct piece){q, (size_t)(end - q)};
        return true;
    }
    return false;
}

static bool writes_nothing(struct piece op)
{
    static const char *const none[] = {"st",       "red",       "bra",     "ret",      "bar",      "barrier",
                                       "exit",     "membar",    "fence",   "call",     "trap",     "cp",
                                       "prefetch", "prefetchu", "discard", "mbarrier", "stmatrix", NULL};

    return opcode_among(op, none) && !opcode_has(op, "red");
}

static void split_operands(struct statement *s, const char *p, const char *end)
{
    const char *from = p;
    int depth = 0;

    for (; p <= end; p++) {
        if (p < end && strchr("{[(", *p))
            depth++;
        if (p < end && strchr("}])", *p))
            depth--;
        if (p == end || (*p == ',' && depth == 0)) {
            struct piece x = trimmed(from, p);
            if (x.len && s->n_operands < MOST_OPERANDS)
                s->operands[s->n_operands++] = x;
            from = p + 1;
        }
    }
}

static void add_statement(struct flat *f, struct piece text)
{
    const char *p = text.s, *end = p + text.len;
    struct statement s = {.guarded = false};

    if (p < end && *p == '@') {
        s.guarded = true;
        while (p < end && !isspace((unsigned char)*p))
            p++;
        p = trimmed(p, end).s;
    }
    s.op.s = p;
    while (p < end && !isspace((unsigned char)*p))
        p++;
    s.op.len = (size_t)(p - s.op.s);
    split_operands(&s, p, end);
    struct piece rest = s.n_operands && !writes_nothing(s.op) ? s.operands[0] : (struct piece){"", 0}, is;
    while (s.n_dests < MOST_DESTS && next_register(&rest, &is)) {
        const char *key = key_of(f, is);
        s.dests[s.n_dests++] = key;
        map_put(&f->defs, key, (void *)((uintptr_t)map_get(&f->defs, key) + 1));
    }
    vec_push(&f->list, s);
}

static void add_line(struct flat *f, struct piece line)
{
    const char *p = line.s, *end = p + line.len, *comment = memmem(p, line.len, "//", 2);
    size_t depth = 0;

    if (comment)
        end = comment;
    line = trimmed(p, end);
    if (line.len > 4 && !memcmp(line.s, ".reg", 4) && memchr(line.s, '%', line.len)) {
        vec_push(&f->registers, line);
        return;
    }
    for (p = line.s, end = p + line.len; p < end && (*p == '{' || isspace((unsigned char)*p)); p++)
        ;
    for (const char *from = p; p < end; p++) {
        depth += *p == '{';
        if (*p == '}' && depth > 0)
            depth--;
        else if (*p == '}')
            break;
        if (*p != ';')
            continue;
        struct piece s = trimmed(from, p);
        if (s.len && *s.s != '.' && *s.s != '$')
            add_statement(f, s);
        from = p + 1;
    }
}

/* ---- what is known ---- */

static const struct statement *maker_of(const struct flat *f, struct piece reg)
{
    size_t at = (uintptr_t)map_get(&f->made, key_of(f, reg));

    return at ? &f->list.v[at - 1] : NULL;
}

/* All that it reads is made: registers, or numbers. What they hang on is what it hangs on. */
static bool sources_are_made(const struct flat *f, struct statement *s, size_t n_operands)
{
    for (size_t i = 1; i < n_operands; i++) {
        struct piece rest = s->operands[i], is;
        const char *p = rest.s + strspn(rest.s, "!-{ ");
        bool any = false;
        while (next_register(&rest, &is)) {
            const struct statement *maker = maker_of(f, is);
            if (!maker)
                return false;
            s->from |= maker->from;
            s->read |= maker->read;
            any = true;
        }
        if (!any && !isdigit((unsigned char)*p))
            return false; /* a name, or what only the device knows */
    }
    return n_operands > 1;
}

/* Which parameters a statement's sources come of, loops and all: what an address is made of. */
static uint64_t *led_to(const struct flat *f, const char *key)
{
    return map_get(&f->led, key);
}

static uint64_t lead(struct flat *f, const struct statement *s, uint64_t own)
{
    for (size_t i = 0; i < s->n_operands; i++) {
        struct piece rest = s->operands[i], is;
        while (next_register(&rest, &is)) {
            const uint64_t *mask = led_to(f, key_of(f, is));
            own |= mask ? *mask : 0;
        }
    }
    for (size_t i = 0; i < s->n_dests; i++) {
        uint64_t *mask = led_to(f, s->dests[i]);
        if (!mask)
            map_put(&f->led, s->dests[i], mask = arena_new(f->arena, uint64_t));
        *mask |= own;
    }
    return own;
}

static unsigned width_of(struct piece op)
{
    const char *dot = memrchr(op.s, '.', op.len);
    unsigned bits = dot && dot + 1 < op.s + op.len && strchr("bsuf", dot[1]) ? (unsigned)atoi(dot + 2) : 0;

    return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits / 8 : 0;
}

/* [KERNEL_param_3+4] */
static bool param_place(const struct flat *f, struct piece operand, struct ptx_flat_input *x)
{
    const char *p = operand.s + 1, *mark = "_param_";
    char *end;

    if (operand.len < f->kernel.len + 9 || *operand.s != '[' || memcmp(p, f->kernel.s, f->kernel.len) ||
        memcmp(p + f->kernel.len, mark, strlen(mark)))
        return false;
    x->param = strtoul(p + f->kernel.len + strlen(mark), &end, 10);
    x->offset = *end == '+' ? (uint32_t)strtoul(end + 1, &end, 10) : 0;
    return *end == ']';
}

static size_t input_slot(struct flat *f, const struct ptx_flat_input *x)
{
    for (size_t i = 0; i < f->inputs.n; i++)
        if (f->inputs.v[i].param == x->param && f->inputs.v[i].offset == x->offset)
            return i;
    vec_push(&f->inputs, *x);
    return f->inputs.n - 1;
}

static bool is_pure(struct piece op)
{
    static const char *const list[] = {
        "add",  "sub",   "mul", "mad",   "fma",   "div", "rem",  "abs",   "neg",      "min",  "max",  "and",
        "or",   "xor",   "not", "shl",   "shr",   "shf", "bfe",  "bfi",   "lop3",     "prmt", "popc", "clz",
        "brev", "cnot",  "sad", "mul24", "mad24", "cvt", "mov",  "setp",  "set",      "selp", "slct", "rcp",
        "sqrt", "rsqrt", "sin", "cos",   "lg2",   "ex2", "tanh", "bfind", "copysign", "dp4a", NULL};

    return opcode_among(op, list) && !opcode_has(op, "cc");
}

/* What lanes that all hold the same give each other. */
static bool is_exchange(struct piece op)
{
    return opcode_is(op, "shfl") ||
           (opcode_is(op, "redux") && !opcode_has(op, "add") && !opcode_has(op, "xor")) ||
           (opcode_is(op, "vote") && opcode_has(op, "pred"));
}

/* Its results may be the same nearly always: the upper bits, a mask, a comparison, a bound, a rounding. */
static bool may_be_rare(const struct statement *s)
{
    static const char *const list[] = {"shr",  "shf", "bfe", "and",  "min", "max",   "setp", "set",
                                       "selp", "div", "rem", "popc", "clz", "bfind", "lop3", NULL};
    static const char *const integral[] = {"rni", "rzi", "rmi", "rpi", "sat", "hi"};

    for (size_t i = 0; i < ARRAY_LEN(integral); i++)
        if (opcode_has(s->op, integral[i]))
            return true;
    return opcode_among(s->op, list);
}

static bool reads_memory(struct piece op)
{
    return opcode_is(op, "ld") && !opcode_has(op, "param") && !opcode_has(op, "const") &&
           !opcode_has(op, "local");
}

static void decide(struct flat *f, size_t at)
{
    struct statement *s = &f->list.v[at];
    bool param = opcode_is(s->op, "ld") && opcode_has(s->op, "param");
    struct ptx_flat_input x = {.param = 0};
    uint64_t led;

    param = param && s->n_operands == 2 && param_place(f, s->operands[1], &x);
    led = lead(f, s, param && x.param < 64 ? 1ull << x.param : 0);
    if (s->guarded || !s->n_dests || !s->n_operands)
        return;
    for (size_t i = 0; i < s->n_dests; i++)
        if ((uintptr_t)map_get(&f->defs, s->dests[i]) != 1)
            return;
    if (param && s->n_dests == 1 && width_of(s->op) && f->inputs.n < MOST_INPUTS) {
        s->how = PARAM;
        s->slot = input_slot(f, &x);
        s->from = FROM_PARAM;
    } else if (reads_memory(s->op) && width_of(s->op)) {
        s->how = READ;
        s->from = FROM_READ;
        s->read = led;
    } else if (is_exchange(s->op) && s->n_operands > 1 && sources_are_made(f, s, 2)) {
        s->how = COPIED;
        s->n_dests = 1;
    } else if (is_pure(s->op) && sources_are_made(f, s, s->n_operands)) {
        s->how = PURE;
    }
    for (size_t i = 0; s->how != LEFT_OUT && i < s->n_dests; i++)
        map_put(&f->made, s->dests[i], (void *)(uintptr_t)(at + 1));
}

/* The last ones first: what they read is needed, too. */
static void mark_needed(struct flat *f)
{
    size_t n = 0;

    for (size_t at = 0; at < f->list.n && n < PTX_FLAT_RESULTS; at++) {
        struct statement *s = &f->list.v[at];
        s->result = s->how == PURE && s->n_dests == 1 && s->from && may_be_rare(s);
        s->needed = s->result;
        n += s->result;
    }
    for (size_t at = f->list.n; at-- > 0;) {
        const struct statement *s = &f->list.v[at];
        for (size_t i = 1; s->needed && (s->how == PURE || s->how == COPIED) && i < s->n_operands; i++) {
            struct piece rest = s->operands[i], is;
            while (next_register(&rest, &is)) {
                const struct statement *maker = maker_of(f, is);
                if (maker && maker < s)
                    f->list.v[maker - f->list.v].needed = true;
            }
        }
    }
}

/* ---- the flat kernel ---- */

static bool declared_as(const struct flat *f, const char *reg, const char *type)
{
    size_t letters = strcspn(reg, "0123456789");

    for (size_t i = 0; i < f->registers.n; i++) {
        struct piece line = f->registers.v[i];
        const char *name = memchr(line.s, '%', line.len);
        if (!strncmp(name, reg, letters) && name[letters] == '<' &&
            memmem(line.s, line.len, type, strlen(type)))
            return true;
    }
    return false;
}

/* Of a register that is no predicate. */
static int declared_bits(const struct flat *f, const char *reg)
{
    if (declared_as(f, reg, "16"))
        return 16;
    return declared_as(f, reg, "64") ? 64 : 32;
}

static void write_result(const struct flat *f, struct str *out, const char *reg, size_t slot)
{
    size_t offset = slot * f->lanes * 8;

    if (declared_as(f, reg, ".pred"))
        str_addf(out, "selp.b32 %%flatr3, 1, 0, %s;\nst.global.b32 [%%flatd1+%zu], %%flatr3;\n", reg, offset);
    else
        str_addf(out, "st.global.b%d [%%flatd1+%zu], %s;\n", declared_bits(f, reg), offset, reg);
}

static void write_statement(const struct flat *f, struct str *out, const struct statement *s, size_t *result)
{
    const char *type = memrchr(s->op.s, '.', s->op.len);

    if (s->how == PARAM || s->how == READ)
        for (size_t i = 0; i < s->n_dests; i++)
            str_addf(out, "ld.global%.*s %s, [%%flatd0+%zu];\n", (int)(s->op.s + s->op.len - type), type,
                     s->dests[i], (s->how == READ ? 0 : 1 + s->slot) * f->lanes * 8);
    else if (s->how == COPIED) {
        bool negated = *s->operands[1].s == '!';
        const char *op = negated ? "not.pred" : "mov.pred";
        str_addf(out, "%s %s, %.*s;\n", declared_as(f, s->dests[0], ".pred") ? op : "mov.b32", s->dests[0],
                 (int)s->operands[1].len - negated, s->operands[1].s + negated);
    } else {
        str_addf(out, "%.*s ", (int)s->op.len, s->op.s);
        for (size_t i = 0; i < s->n_operands; i++)
            str_addf(out, "%s%.*s", i ? ", " : "", (int)s->operands[i].len, s->operands[i].s);
        str_add(out, ";\n");
    }
    if (s->result)
        write_result(f, out, s->dests[0], (*result)++);
}

static void write_header(struct str *out, const char *text)
{
    for (const char *line = text; line && strncmp(line, ".visible", 8);
         line = strchr(line, '\n'), line += line != NULL)
        if (!strncmp(line, ".version", 8) || !strncmp(line, ".target", 7) ||
            !strncmp(line, ".address_size", 13))
            str_addf(out, "%.*s\n", (int)strcspn(line, "\n,"), line);
}

static void write_all(struct flat *f, const char *text)
{
    struct str out = {0};
    VEC(struct ptx_flat_result) results = {0};
    size_t result = 0;

    write_header(&out, text);
    str_add(&out, ".visible .entry flat(.param .u64 flat_in, .param .u64 flat_out)\n{\n");
    for (size_t i = 0; i < f->registers.n; i++)
        str_addf(&out, "%.*s\n", (int)f->registers.v[i].len, f->registers.v[i].s);
    str_add(&out, ".reg .b32 %flatr<4>;\n.reg .b64 %flatd<3>;\n"
                  "ld.param.u64 %flatd0, [flat_in];\nld.param.u64 %flatd1, [flat_out];\n"
                  "mov.u32 %flatr0, %ctaid.x;\nmov.u32 %flatr1, %ntid.x;\nmov.u32 %flatr2, %tid.x;\n"
                  "mad.lo.u32 %flatr0, %flatr0, %flatr1, %flatr2;\nmul.wide.u32 %flatd2, %flatr0, 8;\n"
                  "add.s64 %flatd0, %flatd0, %flatd2;\nadd.s64 %flatd1, %flatd1, %flatd2;\n");
    for (size_t at = 0; at < f->list.n; at++) {
        const struct statement *s = &f->list.v[at];
        if (!s->needed)
            continue;
        write_statement(f, &out, s, &result);
        f->to->instructions++;
        if (s->result)
            vec_push(&results,
                     ((struct ptx_flat_result){
                         .params = s->from & FROM_PARAM, .reads = s->from & FROM_READ, .read = s->read}));
    }
    str_add(&out, "ret;\n}\n");
    f->to->len = out.len;
    f->to->text = arena_strdup(f->arena, out.s);
    f->to->inputs = arena_copy(f->arena, f->inputs.v, f->inputs.n * sizeof(*f->inputs.v));
    f->to->n_inputs = f->inputs.n;
    f->to->results = arena_copy(f->arena, results.v, results.n * sizeof(*results.v));
    f->to->n_results = results.n;
    vec_free(&results);
    str_free(&out);
}

/* The body of an entry of this name: behind its first brace, to the one that closes it at a line's beginning.
 */
static bool find_body(const char *text, const char *kernel, struct piece *body)
{
    size_t n = strlen(kernel);

    for (const char *p = text; (p = strstr(p, ".entry")); p++) {
        const char *name = p + 6 + strspn(p + 6, " \t");
        if (strncmp(name, kernel, n) || name[n] != '(')
            continue;
        const char *open = strstr(name, "\n{"), *close = open ? strstr(open, "\n}") : NULL;
        if (!close)
            return false;
        *body = (struct piece){open + 2, (size_t)(close - open - 2)};
        return true;
    }
    return false;
}

bool ptx_flat(const char *text, const char *kernel, size_t lanes, struct arena *a, struct ptx_flat *to)
{
    struct flat f = {.arena = a, .kernel = {kernel, strlen(kernel)}, .to = to, .lanes = lanes};
    struct piece body;

    *to = (struct ptx_flat){0};
    if (!find_body(text, kernel, &body))
        return false;
    for (const char *p = body.s, *end = p + body.len; p < end;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        add_line(&f, trimmed(p, stop ? stop : end));
        p = stop ? stop + 1 : end;
    }
    for (size_t at = 0; at < f.list.n; at++)
        decide(&f, at);
    mark_needed(&f);
    write_all(&f, text);
    map_free(&f.defs);
    map_free(&f.made);
    map_free(&f.led);
    vec_free(&f.inputs);
    vec_free(&f.list);
    vec_free(&f.registers);
    return to->n_results > 0;
}
