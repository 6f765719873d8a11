/* The expression of an #if, as nvcc for a GPU would have it. What asks for the architecture, which is known
 * only when the device's code is compiled, has no value: such conditions are kept in the text. */
#include "init/internal.h"

struct asked {
    struct init_source *s;
    const struct token *t, *end;
    size_t at;
    int depth;
};

struct answer {
    int64_t v;
    bool unknown;
};

static struct answer any(struct asked *q, int level);

/* A sign, or the word that stands for it. */
static bool take(struct asked *q, const char *sign)
{
    static const char *const words[][2] = {{"&&", "and"}, {"||", "or"}, {"!", "not"}};
    bool is;

    if (q->t == q->end)
        return false;
    is = token_is(q->t, sign);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        is |= strcmp(sign, words[i][0]) == 0 && token_is(q->t, words[i][1]);
    if (!is)
        return false;
    q->t++;
    return true;
}

/* __CUDA_ARCH__, __CUDA_ARCH_FEAT_SM90_ALL, ... */
static bool of_device(const struct token *t)
{
    return t->len >= 12 && memcmp(t->s, "__CUDA_ARCH_", 12) == 0;
}

/* BUILD_CUDA_MODULE, HAVE_LIB_CUDAPART: on, by CUDA, and not a version or what is left out. */
static bool is_cuda_switch(const char *word)
{
    static const char *const on[] = {"BUILD_", "WITH_", "USE_", "USING_", "ENABLE_", "HAVE_"};
    const char *cuda = strstr(word, "CUDA");
    bool says = false;

    for (size_t i = 0; i < ARRAY_LEN(on); i++) {
        const char *at = strstr(word, on[i]);
        says = says || (at && at < cuda && (at == word || at[-1] == '_'));
    }
    return cuda && says && *word != '_' && !strstr(word, "VERSION") && !strstr(word, "NO_") &&
           !strstr(word, "HIP") && !strstr(word, "ROCM");
}

/* Is it defined? So is the switch of a build that says it is one for CUDA, where nobody says otherwise. */
static bool is_defined(const struct init_source *s, const struct token *name)
{
    static const char *const switches[] = {"WITH_CUDA", "USE_CUDA", "ENABLE_CUDA", "HAVE_CUDA", "GOOGLE_CUDA",
                                           "WITH_GPU",  "USE_GPU",  "ENABLE_GPU",  "HAVE_GPU",  "USING_GPU"};
    const char *word = token_text(s->arena, name);

    if (map_has(&s->expander.macros, word))
        return map_get(&s->expander.macros, word) != NULL;
    if (str_in(word, "__host__|__device__|__global__|__shared__|__constant__|__forceinline__|__launch_bounds__|"
                     "__managed__|__align__|__noinline__")) /* the toolkit's are macros */
        return true;
    for (size_t i = 0; i < ARRAY_LEN(switches); i++) {
        if (str_ends(word, switches[i]))
            return true;
    }
    return is_cuda_switch(word);
}

static struct answer defined(struct asked *q)
{
    bool bracket = take(q, "(");
    struct answer a = {0};

    if (bracket && q->t < q->end && q->t->kind != TOK_WORD && q->t->macro) {
        while (q->t < q->end && !token_is(q->t, ")")) /* within a macro: what it asks for became its value */
            q->t++;
        a.v = take(q, ")");
        return a;
    }
    if (q->t == q->end || q->t->kind != TOK_WORD)
        init_fail(q->s, q->at, "`defined` without a name");
    if (of_device(q->t))
        a.unknown = true;
    else
        a.v = is_defined(q->s, q->t);
    q->t++;
    if (bracket && !take(q, ")"))
        init_fail(q->s, q->at, "`defined` without its `)`");
    return a;
}

/* __has_include(<x>): the toolkit's and the standard headers are there. */
static struct answer has_include(struct asked *q)
{
    struct answer a = {0};
    const struct token *open = q->t;
    int depth = 0;

    do {
        depth += token_is(q->t, "(");
        depth -= token_is(q->t, ")");
        q->t++;
    } while (q->t < q->end && depth > 0);
    if (open + 2 < q->t && token_is(open + 1, "<")) {
        const char *name = open[1].s + 1;

        a.v = system_header(name, (size_t)(q->t[-1].s - name) - (token_is(q->t - 2, ">") ? 1 : 0));
    }
    return a;
}

static struct answer operand(struct asked *q)
{
    struct answer a = {0};
    struct value v;

    if (++q->depth > MAX_PARSE_DEPTH || q->t == q->end)
        init_fail(q->s, q->at, "the condition of this directive is not understood");
    if (take(q, "!")) {
        a = operand(q);
        a.v = !a.v;
    } else if (take(q, "-")) {
        a = operand(q);
        a.v = (int64_t)(0 - (uint64_t)a.v);
    } else if (take(q, "+")) {
        a = operand(q);
    } else if (take(q, "~")) {
        a = operand(q);
        a.v = ~a.v;
    } else if (take(q, "(")) {
        a = any(q, 0);
        if (!take(q, ")"))
            init_fail(q->s, q->at, "the condition lacks a `)`");
    } else if (take(q, "defined")) {
        a = defined(q);
    } else if (q->t->kind == TOK_WORD) {
        const struct token *name = q->t++;

        a.unknown = of_device(name);
        a.v = token_is(name, "true") || is_defined(q->s, name);
        if (q->t < q->end && token_is(q->t, "("))
            a = has_include(q);
    } else if (q->t->kind == TOK_NUMBER && number_parse(q->t->s, q->t->len, &v) && type_is_integer(v.type)) {
        a.v = v.i;
        q->t++;
    } else if (q->t->kind == TOK_CHAR && char_parse(q->t->s, q->t->len, &a.v)) {
        q->t++;
    } else {
        init_fail(q->s, q->at, "the condition of this directive is not understood");
    }
    q->depth--;
    return a;
}

static int64_t apply(const char *op, int64_t a, int64_t b)
{
    switch (op[0]) {
    case '|':
        return op[1] ? a || b : a | b;
    case '&':
        return op[1] ? a && b : a & b;
    case '^':
        return a ^ b;
    case '=':
        return a == b;
    case '!':
        return a != b;
    case '<':
        if (op[1] == '<')
            return (int64_t)((uint64_t)a << (b & 63));
        return op[1] ? a <= b : a < b;
    case '>':
        if (op[1] == '>')
            return a >> (b & 63);
        return op[1] ? a >= b : a > b;
    case '+':
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case '-':
        return (int64_t)((uint64_t)a - (uint64_t)b);
    case '*':
        return (int64_t)((uint64_t)a * (uint64_t)b);
    default:
        if (b == 0 || (a == INT64_MIN && b == -1))
            return 0; /* an operand that is not evaluated */
        return op[0] == '/' ? a / b : a % b;
    }
}

/* && with something false is false, and || with something true is true, whatever the other is. */
static struct answer combine(const char *op, struct answer a, struct answer b)
{
    bool false_wins = strcmp(op, "&&") == 0, true_wins = strcmp(op, "||") == 0;

    if ((a.unknown || b.unknown) && (false_wins || true_wins)) {
        bool decided = (!a.unknown && !!a.v == true_wins) || (!b.unknown && !!b.v == true_wins);

        return (struct answer){.v = true_wins, .unknown = !decided};
    }
    if (a.unknown || b.unknown)
        return (struct answer){.unknown = true};
    return (struct answer){.v = apply(op, a.v, b.v)};
}

static struct answer any(struct asked *q, int level)
{
    static const char *const levels[][5] = {
        {"||"},       {"&&"},     {"|"},           {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"},
        {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"},
    };
    struct answer a;

    if (level == (int)ARRAY_LEN(levels))
        return operand(q);
    if (++q->depth > 10 * MAX_PARSE_DEPTH)
        init_fail(q->s, q->at, "the condition nests too deeply");
    a = any(q, level + 1);
    for (int i = 0; i < 5 && levels[level][i]; i++) {
        if (!take(q, levels[level][i]))
            continue;
        a = combine(levels[level][i], a, any(q, level + 1));
        i = -1;
    }
    if (level == 0 && take(q, "?")) {
        struct answer yes = any(q, 0), no;

        if (!take(q, ":"))
            init_fail(q->s, q->at, "the condition lacks a `:`");
        no = any(q, 0);
        if (!a.unknown)
            a = a.v ? yes : no;
    }
    q->depth--;
    return a;
}

/* What a condition that is kept says: the architecture's own names stay, all others become their values. */
char *init_condition_text(struct init_source *s, const struct token *v, size_t n)
{
    struct str out = {.arena = s->arena};

    for (size_t i = 0; i < n; i++) {
        struct tokens one = {0};

        if (v[i].space_before && out.len)
            str_addc(&out, ' ');
        if (v[i].kind == TOK_WORD && !of_device(&v[i]) && !token_in(&v[i], "defined|and|or|not|true|false")) {
            struct token v1[1] = {v[i]};
            struct macro *m = map_get(&s->expander.macros, token_text(s->arena, &v[i]));

            if (m && !m->function)
                expand_list(&s->expander, v1, 1, &one, false);
            for (size_t k = 0; k < one.n; k++)
                str_addf(&out, "%s%.*s", k ? " " : "", (int)one.v[k].len, one.v[k].s);
            if (!one.n)
                str_addc(&out, '0');
        } else if (token_is(&v[i], "defined") && i + 1 < n) {
            const bool bracket = token_is(&v[i + 1], "(");
            const struct token *name = &v[MIN(i + 1 + bracket, n - 1)];

            if (of_device(name))
                str_addf(&out, "defined(%.*s)", (int)name->len, name->s);
            else
                str_addc(&out, is_defined(s, name) ? '1' : '0');
            i += bracket ? 3 : 1;
        } else {
            str_addn(&out, v[i].s, v[i].len);
        }
    }
    return arena_strdup(s->arena, str_text(&out));
}

int init_condition(struct init_source *s, const struct token *v, size_t n, size_t at)
{
    struct tokens asked = {0}, expanded = {0};
    struct trap trap = {.up = s->unit.trap};
    struct asked q = {.s = s, .at = at};
    struct answer a;

    /* what `defined` asks for is not expanded */
    for (size_t i = 0; i < n; i++) {
        vec_add(s->arena, &asked, v[i]);
        if (token_is(&v[i], "defined") && i + 1 < n) {
            i += token_is(&v[i + 1], "(") && i + 2 < n ? 2 : 1;
            if (token_is(&v[i - 1], "("))
                vec_add(s->arena, &asked, v[i - 1]);
            vec_add(s->arena, &asked, v[i]);
            vec_last(&asked).quiet = true;
        }
    }
    s->unit.trap = &trap;
    if (setjmp(trap.jump) == 0)
        expand_list(&s->expander, asked.v, asked.n, &expanded, false);
    else
        expanded = asked;
    s->unit.trap = trap.up;
    q.t = expanded.v;
    q.end = expanded.v + expanded.n;
    a = any(&q, 0);
    return a.unknown ? -1 : a.v != 0;
}
