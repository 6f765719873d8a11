/* `// astra: tune 64 128 256` behind a `constexpr int NAME = value;` or a `#define NAME value`. */
#include "kernel/internal.h"

#include <ctype.h>

/* The last token on the comment's line before it, and the first of the line; false when there is none. */
static bool line_before(const struct unit *u, size_t at, size_t *first, size_t *last)
{
    int line, col, other;
    size_t i = 0;

    unit_place(u, at, &line, &col);
    while (i + 1 < u->raw.n && u->raw.v[i + 1].at < at)
        i++;
    if (u->raw.v[i].at >= at || u->raw.v[i].kind == TOK_END)
        return false;
    *last = i;
    unit_place(u, u->raw.v[i].at, &other, &col);
    if (other != line)
        return false;
    while (i > 0 && !u->raw.v[i].line_start)
        i--;
    *first = i;
    return true;
}

static bool is_value(const struct token *t)
{
    struct value v;

    return t->kind == TOK_NUMBER ? number_parse(t->s, t->len, &v) : token_is(t, "true") || token_is(t, "false");
}

static void declared(struct unit *u, struct kernel_tunable *t, size_t first, size_t last,
                     const struct token *at)
{
    const struct token *v = u->raw.v;
    size_t name, value;
    bool is_constant = false;

    if (token_is(&v[first], "#") && token_is(&v[first + 1], "define")) {
        name = first + 2;
        value = first + 3;
        if (last != value)
            fail(u, at, "`astra: tune` after a #define whose value is not one number");
    } else {
        for (size_t i = first; i < last; i++)
            is_constant |= token_is(&v[i], "constexpr") || token_is(&v[i], "const");
        if (!is_constant || last < first + 4 || !token_is(&v[last], ";") || !token_is(&v[last - 2], "="))
            fail(
                u, at,
                "`astra: tune` stands behind `constexpr int NAME = number;` or `#define NAME number` on its line");
        name = last - 3;
        value = last - 1;
    }
    if (v[name].kind != TOK_WORD || !is_value(&v[value]))
        fail(u, at, "`astra: tune` needs a plain number as the present value");
    t->name = token_text(u->arena, &v[name]);
    t->value = token_text(u->arena, &v[value]);
    t->value_start = v[value].at;
    t->value_end = v[value].at + v[value].len;
}

void tunables_read(struct unit *u, const struct kernel_tunable **out, size_t *n)
{
    VEC(struct kernel_tunable) list = {0};

    for (size_t i = 0; i < u->comments.n; i++) {
        struct comment c = u->comments.v[i];
        char *text = arena_strndup(u->arena, u->text + c.start + 2, c.end - c.start - 2);
        struct token at = {.at = c.start, .s = "", .kind = TOK_PUNCT};
        struct kernel_tunable t = {0};
        VEC(const char *) values = {0};
        size_t first, last, present = 0;
        char *save, *word;
        int col;

        if (u->text[c.start + 1] == '*' && c.end - c.start >= 4)
            text[strlen(text) - 2] = 0;
        while (isspace((unsigned char)*text))
            text++;
        if (strncmp(text, "astra:", 6) != 0)
            continue;
        word = strtok_r(text + 6, " \t\r\n,", &save);
        if (!word || strcmp(word, "tune") != 0)
            fail(u, &at, "`astra:` is followed by `tune` and values");
        if (!line_before(u, c.start, &first, &last))
            fail(
                u, &at,
                "`astra: tune` stands behind `constexpr int NAME = number;` or `#define NAME number` on its line");
        declared(u, &t, first, last, &at);
        while ((word = strtok_r(NULL, " \t\r\n,", &save))) {
            struct token value = {.s = word,
                                  .len = (uint32_t)strlen(word),
                                  .at = c.start,
                                  .kind = isdigit((unsigned char)*word) ? TOK_NUMBER : TOK_WORD};

            if (!is_value(&value))
                fail(u, &at, "`astra: tune` has the value %.60s; values are numbers", word);
            for (size_t k = 0; k < values.n; k++) {
                if (strcmp(values.v[k], word) == 0)
                    fail(u, &at, "`astra: tune` has the value %.60s twice", word);
            }
            present += strcmp(word, t.value) == 0;
            vec_add(u->arena, &values, word);
            if (values.n > 64)
                fail(u, &at, "`astra: tune` has more than 64 values");
        }
        if (values.n == 0)
            fail(u, &at, "`astra: tune` has no values");
        if (!present)
            vec_add(u->arena, &values, t.value);
        for (size_t k = 0; k < list.n; k++) {
            if (strcmp(list.v[k].name, t.name) == 0)
                fail(u, &at, "%s is declared tunable twice", t.name);
        }
        t.values = values.v;
        t.n_values = values.n;
        unit_place(u, t.value_start, &t.line, &col);
        if (list.n >= 64)
            fail(u, &at, "the file has more than 64 tunables");
        vec_add(u->arena, &list, t);
    }
    *out = list.v;
    *n = list.n;
}
