#include "case.h"

#include <errno.h>

/* ---- values ---- */

enum kind { KIND_UNSIGNED, KIND_SIGNED, KIND_FLOAT };

static const struct {
    const char *name;
    uint8_t size, kind, mantissa; /* stored bits of a floating type */
} types[] = {
    {"b8", 1, KIND_UNSIGNED, 0},  {"u8", 1, KIND_UNSIGNED, 0},  {"s8", 1, KIND_SIGNED, 0},
    {"b16", 2, KIND_UNSIGNED, 0}, {"u16", 2, KIND_UNSIGNED, 0}, {"s16", 2, KIND_SIGNED, 0},
    {"b32", 4, KIND_UNSIGNED, 0}, {"u32", 4, KIND_UNSIGNED, 0}, {"s32", 4, KIND_SIGNED, 0},
    {"b64", 8, KIND_UNSIGNED, 0}, {"u64", 8, KIND_UNSIGNED, 0}, {"s64", 8, KIND_SIGNED, 0},
    {"f16", 2, KIND_FLOAT, 10},   {"bf16", 2, KIND_FLOAT, 7},   {"f32", 4, KIND_FLOAT, 23},
    {"f64", 8, KIND_FLOAT, 52},
};

static int type_find(const char *name)
{
    for (size_t k = 0; k < ARRAY_LEN(types); k++)
        if (str_eq(types[k].name, name))
            return (int)k;
    return -1;
}

static uint64_t bits_at(const uint8_t *p, size_t size)
{
    uint64_t v = 0;
    memcpy(&v, p, size);
    return v;
}

static double value_of(int type, uint64_t bits)
{
    double d;
    if (types[type].mantissa == 10) {
        _Float16 h;
        memcpy(&h, &bits, 2);
        return (double)h;
    }
    if (types[type].mantissa == 7 || types[type].mantissa == 23) {
        uint32_t u = (uint32_t)(types[type].mantissa == 7 ? bits << 16 : bits);
        float f;
        memcpy(&f, &u, 4);
        return (double)f;
    }
    memcpy(&d, &bits, 8);
    return d;
}

static uint64_t bits_of(int type, double d) /* d is exact in the type, or the file is wrong */
{
    uint64_t bits = 0;
    float f = (float)d;
    _Float16 h = (_Float16)d;
    switch (types[type].mantissa) {
    case 10:
        memcpy(&bits, &h, 2);
        return bits;
    case 7:
        memcpy(&bits, &f, 4);
        return bits >> 16;
    case 23:
        memcpy(&bits, &f, 4);
        return bits;
    default:
        memcpy(&bits, &d, 8);
        return bits;
    }
}

static uint64_t quiet_nan(int type)
{
    switch (types[type].mantissa) {
    case 10:
        return 0x7e00;
    case 7:
        return 0x7fc0;
    case 23:
        return 0x7fc00000;
    default:
        return 0x7ff8000000000000;
    }
}

/* "12", "-1", "0xff" (bits), "1.5", "inf"; "nan", "*", "zero" and "~" only mean something in what must be left.
 */
static bool token_parse(int type, const char *s, uint8_t *to, enum token *kind)
{
    uint64_t bits;
    char *end = NULL;
    static const char *const words[] = {
        [TOKEN_ANY] = "*", [TOKEN_NAN] = "nan", [TOKEN_ZERO] = "zero", [TOKEN_NEAR] = "~"};
    errno = 0;
    for (*kind = TOKEN_NEAR; *kind != TOKEN_EXACT && !str_eq(s, words[*kind]);)
        --*kind;
    if (*kind != TOKEN_EXACT) {
        bits = *kind == TOKEN_NAN && types[type].kind == KIND_FLOAT ? quiet_nan(type) : 0;
        memcpy(to, &bits, types[type].size);
        return *kind != TOKEN_NAN || types[type].kind == KIND_FLOAT;
    }
    if (types[type].kind != KIND_FLOAT || (s[0] == '0' && s[1] == 'x' && !strchr(s, 'p'))) {
        bits = s[0] == '-' ? (uint64_t)strtoll(s, &end, 0) : strtoull(s, &end, 0);
        int64_t top = (int64_t)bits >> (types[type].size * 8 - 1);
        if (types[type].size < 8 && (top < -1 || top > 1))
            return false; /* does not fit */
    } else {
        double d = strtod(s, &end);
        bits = bits_of(type, d);
        if (value_of(type, bits) != d)
            return false;
    }
    memcpy(to, &bits, types[type].size);
    return end && end != s && !*end && errno != ERANGE;
}

/* ---- functions that approximations are compared with ---- */

static long double f_div(long double a, long double b)
{
    return a / b;
}
static long double f_rcp(long double a, long double b)
{
    (void)b;
    return 1 / a;
}
static long double f_sqrt(long double a, long double b)
{
    (void)b;
    return sqrtl(a);
}
static long double f_rsqrt(long double a, long double b)
{
    (void)b;
    return 1 / sqrtl(a);
}
static long double f_ex2(long double a, long double b)
{
    (void)b;
    return exp2l(a);
}
static long double f_lg2(long double a, long double b)
{
    (void)b;
    return log2l(a);
}
static long double f_sin(long double a, long double b)
{
    (void)b;
    return sinl(a);
}
static long double f_cos(long double a, long double b)
{
    (void)b;
    return cosl(a);
}
static long double f_tanh(long double a, long double b)
{
    (void)b;
    return tanhl(a);
}

static const struct {
    const char *name;
    int n_args;
    long double (*f)(long double, long double);
} functions[] = {
    {"div", 2, f_div}, {"rcp", 1, f_rcp}, {"sqrt", 1, f_sqrt}, {"rsqrt", 1, f_rsqrt}, {"ex2", 1, f_ex2},
    {"lg2", 1, f_lg2}, {"sin", 1, f_sin}, {"cos", 1, f_cos},   {"tanh", 1, f_tanh},
};

static long double reference(const struct ptx_case *c, const struct array *r, size_t element)
{
    long double x[2] = {0};
    for (int k = 0; k < r->n_args; k++) {
        const struct array *a = &c->arrays[r->args[k]];
        x[k] = value_of(type_find(a->type), bits_at(a->initial + element * a->size, a->size));
    }
    for (size_t k = 0; k < ARRAY_LEN(functions); k++)
        if (str_eq(functions[k].name, r->function))
            return functions[k].f(x[0], x[1]);
    BUG("no function %s", r->function);
}

/* One unit in the last place of the type at x. */
static long double ulp_at(int type, long double x)
{
    int e = 0, emin = types[type].mantissa == 52 ? -1022 : -126;
    if (types[type].mantissa == 10)
        emin = -14;
    frexpl(x, &e);
    e = x == 0 || e - 1 < emin ? emin : e - 1;
    return ldexpl(1.0L, e - types[type].mantissa);
}

/* ---- parsing ---- */

struct parser {
    const char *file;
    int line;
    struct arena *arena;
    struct err *err;
    struct ptx_case *now;
    struct array *array; /* the one whose values are being read, or NULL */
    bool wanted;         /* they are what must be left */
    VEC(uint8_t) bytes;
    VEC(uint8_t) kinds;
};

static bool wrong(struct parser *p, const char *what, const char *word)
{
    return err_at(p->err, p->file, p->line, 0, "%s%s%s", what, word ? ": " : "", word ? word : "");
}

static bool add_values(struct parser *p, char *text)
{
    int type = type_find(p->array->type);
    char *save = NULL;
    for (char *s = strtok_r(text, " ", &save); s; s = strtok_r(NULL, " ", &save)) {
        char *star = strchr(s + 1, '*'); /* value*times */
        size_t times = star ? strtoul(star + 1, NULL, 10) : 1;
        uint8_t bytes[8];
        enum token kind;
        if (star)
            *star = 0;
        if (!token_parse(type, s, bytes, &kind))
            return wrong(p, "not a value of the array's type", s);
        if (!p->wanted && kind != TOKEN_EXACT && kind != TOKEN_NAN)
            return wrong(p, "not an input value", s);
        for (size_t k = 0; k < times; k++) {
            for (size_t b = 0; b < p->array->size; b++)
                vec_push(&p->bytes, bytes[b]);
            vec_push(&p->kinds, (uint8_t)kind);
        }
    }
    return true;
}

static bool end_array(struct parser *p) /* its values are complete */
{
    struct array *r = p->array;
    size_t n = p->kinds.n;
    if (!r)
        return true;
    p->array = NULL;
    if (!p->wanted) {
        r->n = n;
        r->initial = arena_copy(p->arena, p->bytes.v, n * r->size);
        r->want = arena_copy(p->arena, p->bytes.v, n * r->size);
        r->want_kind = arena_zalloc(p->arena, n);
    } else {
        if (!n && r->n_args) /* every element is near the function's value */
            n = p->now->arrays[r->args[0]].n;
        if (r->initial && r->n != n)
            return wrong(p, "another number of values than before", r->name);
        r->n = n;
        r->want = arena_zalloc(p->arena, n * r->size);
        r->want_kind = arena_alloc(p->arena, n);
        memset(r->want_kind, TOKEN_NEAR, n);
        if (p->kinds.n) {
            memcpy(r->want, p->bytes.v, n * r->size);
            memcpy(r->want_kind, p->kinds.v, n);
        }
        r->has_want = true;
    }
    vec_clear(&p->bytes);
    vec_clear(&p->kinds);
    return n ? true : wrong(p, "no values", r->name);
}

/* "ulp 2 ex2(a)" */
static bool parse_rule(struct parser *p, const struct ptx_case *c, struct array *r, const char *text)
{
    char args[64] = "", *save = NULL;
    if (sscanf(text, " %7s %lg %11[a-z0-9](%63[^)])", r->rule, &r->room, r->function, args) != 4)
        return wrong(p, "want RULE NUMBER FUNCTION(ARRAYS)", text);
    if (!str_eq(r->rule, "ulp") && !str_eq(r->rule, "rel") && !str_eq(r->rule, "abs"))
        return wrong(p, "not a rule (ulp, rel, abs)", r->rule);
    for (char *s = strtok_r(args, ", ", &save); s && r->n_args < 2; s = strtok_r(NULL, ", ", &save)) {
        size_t k = 0;
        while (k < c->n_arrays && !str_eq(c->arrays[k].name, s))
            k++;
        if (k == c->n_arrays || &c->arrays[k] == r)
            return wrong(p, "no such input", s);
        r->args[r->n_args++] = (int)k;
    }
    for (size_t k = 0; k < ARRAY_LEN(functions); k++)
        if (str_eq(functions[k].name, r->function) && functions[k].n_args == r->n_args)
            return true;
    return wrong(p, "no such function", r->function);
}

/* "in NAME TYPE: values", "inout NAME TYPE: values", "out NAME TYPE [rule]: values" */
static bool begin_array(struct parser *p, struct ptx_case *c, const char *word, char *rest)
{
    char *colon = strchr(rest, ':'), name[16], type[8];
    int used = 0;
    if (!colon)
        return wrong(p, "no colon behind the array's type", NULL);
    *colon = 0;
    if (sscanf(rest, " %15s %7s%n", name, type, &used) != 2 || type_find(type) < 0)
        return wrong(p, "want NAME TYPE", rest);
    struct array *r = NULL;
    for (size_t k = 0; k < c->n_arrays; k++)
        r = str_eq(c->arrays[k].name, name) ? &c->arrays[k] : r;
    if (r && (r->has_want || !str_eq(word, "out")))
        return wrong(p, "a second array of this name", name);
    if (!r) {
        if (c->n_arrays == CASE_ARRAYS)
            return wrong(p, "too many arrays", NULL);
        r = &c->arrays[c->n_arrays++];
        snprintf(r->name, sizeof(r->name), "%s", name);
    }
    snprintf(r->type, sizeof(r->type), "%s", type);
    r->size = types[type_find(type)].size;
    p->now = c;
    p->array = r;
    p->wanted = str_eq(word, "out");
    if (p->wanted && rest[used] && !parse_rule(p, c, r, rest + used))
        return false;
    return add_values(p, colon + 1);
}

static bool begin_case(struct parser *p, struct ptx_case *c, const char *rest)
{
    c->line = p->line;
    c->grid = 1;
    c->block = 32;
    return sscanf(rest, " %63s", c->entry) == 1 ? true : wrong(p, "a case without a name", NULL);
}

/* "grid 1 block 64 shared 256 cluster 2", any of them */
static bool parse_launch(struct parser *p, struct ptx_case *c, const char *rest)
{
    char word[16];
    unsigned value;
    int used;
    while (sscanf(rest, " %15s %u%n", word, &value, &used) == 2) {
        if (str_eq(word, "grid"))
            c->grid = value;
        else if (str_eq(word, "block"))
            c->block = value;
        else if (str_eq(word, "shared"))
            c->shared_bytes = value;
        else if (str_eq(word, "cluster"))
            c->cluster = value;
        else
            return wrong(p, "want grid, block, shared or cluster", word);
        rest += used;
    }
    return true;
}

bool case_parse(struct ptx_case **cases, size_t *n, const char *file, const char *text, struct arena *a,
                struct err *err)
{
    struct parser p = {.file = file, .arena = a, .err = err};
    VEC(struct ptx_case) list = {0};
    bool ok = true;
    for (char *s = arena_strdup(a, text), *next; ok && s; s = next) {
        next = strchr(s, '\n');
        if (next)
            *next++ = 0;
        p.line++;
        char word[16] = "";
        int used = 0;
        if (strncmp(s, "//:", 3) == 0 && p.array) {
            ok = add_values(&p, s + 3);
            continue;
        }
        ok = end_array(&p);
        if (!ok || strncmp(s, "// ", 3) != 0 || sscanf(s + 3, "%15[a-z]%n", word, &used) != 1)
            continue;
        char *rest = s + 3 + used;
        bool is_case = str_eq(word, "case") && *rest == ':', is_launch = str_eq(word, "launch") && *rest == ':';
        if (is_case) {
            vec_push(&list, (struct ptx_case){0});
            ok = begin_case(&p, &vec_last(&list), rest + 1);
        } else if (list.n && is_launch) {
            ok = parse_launch(&p, &vec_last(&list), rest + 1);
        } else if (list.n && *rest == ' ' &&
                   (str_eq(word, "in") || str_eq(word, "inout") || str_eq(word, "out"))) {
            ok = begin_array(&p, &vec_last(&list), word, rest);
        }
    }
    ok = ok && end_array(&p);
    *n = list.n;
    *cases = arena_copy(a, list.v, list.n * sizeof(*list.v));
    vec_free(&list);
    vec_free(&p.bytes);
    vec_free(&p.kinds);
    return ok;
}

/* ---- comparison ---- */

static bool is_near(const struct ptx_case *c, const struct array *r, size_t k, double got, char *wanted,
                    size_t size)
{
    long double want = reference(c, r, k), room = r->room;
    if (str_eq(r->rule, "ulp"))
        room *= ulp_at(type_find(r->type), want);
    else if (str_eq(r->rule, "rel"))
        room *= fabsl(want);
    snprintf(wanted, size, "%.9Lg within %.3Lg", want, room);
    return fabsl((long double)got - want) <= room; /* false for NaN */
}

bool case_element(const struct ptx_case *c, size_t array, size_t element, const void *got, char *words,
                  size_t words_size)
{
    const struct array *r = &c->arrays[array];
    int type = type_find(r->type);
    uint64_t bits = bits_at((const uint8_t *)got + element * r->size, r->size),
             want = bits_at(r->want + element * r->size, r->size);
    bool is_float = types[type].kind == KIND_FLOAT, right = true;
    double value = is_float ? value_of(type, bits) : (double)bits;
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "0x%0*llx", (int)r->size * 2, (unsigned long long)want);
    switch (r->want_kind[element]) {
    case TOKEN_EXACT:
        right = bits == want;
        break;
    case TOKEN_ANY:
        break;
    case TOKEN_NAN:
        right = value != value;
        snprintf(wanted, sizeof(wanted), "a NaN");
        break;
    case TOKEN_ZERO:
        right = is_float ? value == 0 : bits == 0;
        snprintf(wanted, sizeof(wanted), "0 of either sign");
        break;
    case TOKEN_NEAR:
        right = is_near(c, r, element, value, wanted, sizeof(wanted));
        break;
    }
    if (!right)
        snprintf(words, words_size, "%s[%zu]: got 0x%0*llx (%.9g), want %s", r->name, element, (int)r->size * 2,
                 (unsigned long long)bits, value, wanted);
    return right;
}

size_t case_compare(const struct ptx_case *c, size_t array, const void *got, char *words, size_t words_size)
{
    size_t n_wrong = 0;
    char unused[256];
    for (size_t k = 0; k < c->arrays[array].n; k++)
        if (n_wrong)
            n_wrong += !case_element(c, array, k, got, unused, sizeof(unused));
        else
            n_wrong += !case_element(c, array, k, got, words, words_size);
    return n_wrong;
}

void case_print_open(FILE *to, const struct ptx_case *c, uint8_t *const *got)
{
    for (size_t k = 0; k < c->n_arrays; k++) {
        const struct array *r = &c->arrays[k];
        bool begun = false;
        for (size_t e = 0; e < r->n; e++) {
            if (r->want_kind[e] == TOKEN_EXACT)
                continue;
            if (!begun)
                fprintf(to, "%s %s:", c->entry, r->name);
            begun = true;
            fprintf(to, " %zu=0x%0*llx", e, (int)r->size * 2,
                    (unsigned long long)bits_at(got[k] + e * r->size, r->size));
        }
        if (begun)
            fputc('\n', to);
    }
}
