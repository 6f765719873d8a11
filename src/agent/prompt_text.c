/* Text on its way into a prompt. What others wrote (compilers, judges, comments in kernels, earlier models) is
 * data: it must neither end the block it stands in nor look like a turn of the conversation. */
#include <ctype.h>

#include "internal.h"

size_t text_char(const char *at, size_t left, int32_t *out)
{
    uint32_t c;
    size_t n = utf8_read(at, left, &c);

    *out = n ? (int32_t)c : -1;
    return MAX(n, (size_t)1);
}

char *text_head(struct arena *a, const char *s, size_t max)
{
    return arena_strndup(a, s, utf8_cut(s, strnlen(s, max)));
}

/* Where these begin in data, a blank behind the first character takes their meaning. */
static const char *const markers[] = {
    "<|", "|>", "</s>", "[INST]", "[/INST]", "<start_of_turn>", "<end_of_turn>", "<<SYS>>", "<</SYS>>"};

/* Valid UTF-8 of what can be seen, lines ended by \n. */
static void visible(struct str *out, const char *s, size_t len)
{
    for (size_t i = 0, n; i < len; i += n) {
        int32_t c;
        n = text_char(s + i, len - i, &c);
        if (c < 0)
            str_addc(out, '?');
        else if (c == '\r')
            str_add(out, i + 1 < len && s[i + 1] == '\n' ? "" : "\n");
        else if (c == '\n' || c == '\t' || !utf8_hidden((uint32_t)c))
            str_addn(out, s + i, n);
    }
}

void text_neutral(struct str *out, const char *s, size_t len)
{
    struct str b = {0};

    visible(&b, s, len); /* first: what is invisible could stand within a marker */
    for (size_t i = 0; i < b.len; i++) {
        const char *p = b.s + i;
        size_t run = 1;
        while ((*p == '`' || *p == '~') && p[run] == *p)
            run++;
        if (run >= 3) {
            str_add(out, "'''");
            i += run - 1;
            continue;
        }
        str_addc(out, *p);
        for (size_t m = 0; m < ARRAY_LEN(markers); m++)
            if (str_starts(p, markers[m])) {
                str_addc(out, ' ');
                break;
            }
    }
    str_free(&b);
}

char *text_line(struct arena *a, const char *s, size_t max)
{
    struct str b = {.arena = a};
    char *line;
    size_t n = 0;

    text_neutral(&b, s ? s : "", s ? strlen(s) : 0);
    for (size_t i = 0; i < b.len; i++) { /* runs of white space become one blank */
        bool space = b.s[i] == ' ' || b.s[i] == '\n' || b.s[i] == '\t';
        if (!space)
            b.s[n++] = b.s[i];
        else if (n && b.s[n - 1] != ' ')
            b.s[n++] = ' ';
    }
    while (n && b.s[n - 1] == ' ')
        n--;
    line = arena_strndup(a, n ? b.s : "", n);
    if (n > max)
        line = arena_printf(a, "%s...", text_head(a, line, max > 3 ? max - 3 : 0));
    return line;
}

/* In a compiler's output the errors matter: what is only a warning goes when there are any. */
static bool starts_warning(const char *line, size_t len)
{
    return memmem(line, len, "warning", 7) && !memmem(line, len, "error", 5);
}

char *text_quote(struct arena *a, const char *what, const char *s, size_t max_lines)
{
    enum { MAX_LINE = 240 };
    struct str b = {.arena = a}, out = {.arena = a};
    VEC(const char *) lines = {0};
    bool errors = strstr(s, "error") != NULL, skip = false;
    char *text;

    text_neutral(&b, s, strlen(s));
    for (char *p = b.len ? b.s : NULL, *end; p; p = end) {
        end = strchr(p, '\n');
        if (end)
            *end++ = 0;
        skip = errors && (starts_warning(p, strlen(p)) || (skip && !strstr(p, "error")));
        if (!skip && *p)
            vec_push(&lines, p);
    }
    str_addf(&out, "[data: %s]\n", what);
    for (size_t i = 0; i < lines.n; i++) {
        size_t head = max_lines - max_lines / 4;
        if (lines.n > max_lines && i == head) {
            str_addf(&out, "| (%zu lines left out)\n", lines.n - max_lines);
            i = lines.n - max_lines / 4;
            if (i == lines.n)
                break;
        }
        str_addf(&out, "| %s\n", text_line(a, lines.v[i], MAX_LINE));
    }
    str_add(&out, "[end of data]\n");
    text = str_take(&out, a);
    vec_free(&lines);
    return text;
}

char *text_code(struct arena *a, const char *s, bool numbered)
{
    struct str b = {.arena = a}, out = {.arena = a};
    int line = 1;

    text_neutral(&b, s, strlen(s));
    str_add(&out, "```cuda\n");
    for (const char *p = str_text(&b), *end; *p; p = end, line++) {
        end = strchrnul(p, '\n');
        end += *end == '\n';
        if (numbered)
            str_addf(&out, "%d ", line);
        str_addn(&out, p, (size_t)(end - p));
    }
    if (out.s[out.len - 1] != '\n')
        str_addc(&out, '\n');
    str_add(&out, "```\n");
    return str_take(&out, a);
}

char *text_around(struct arena *a, const char *file, int line)
{
    struct str out = {.arena = a};
    const char *p = file, *end;

    for (int i = 1; *p && i <= line + 2; i++, p = end + (*end == '\n')) {
        end = strchrnul(p, '\n');
        if (line > 0 && i >= line - 2)
            str_addf(&out, "%s%d %.*s\n", i == line ? "> " : "", i, (int)(end - p), p);
        else if (line > 0 && !*end)
            break;
    }
    return str_take(&out, a);
}

/* Behind the parenthesis that closes the one at p; strings and comments' ends are stepped over. */
static const char *behind_parenthesis(const char *p)
{
    int depth = 0;

    for (; *p; p++) {
        if (*p == '"')
            for (p++; *p && *p != '"'; p++)
                p += *p == '\\' && p[1];
        depth += (*p == '(') - (*p == ')');
        if (!*p || depth == 0)
            break;
    }
    return p;
}

const char *text_asm_of(struct arena *a, const char *file, int line)
{
    const char *counted = file;
    int at = 1;

    for (const char *p = file; (p = strstr(p, "asm")) != NULL; p += 3) {
        const char *open = p + 3 + strspn(p + 3, "_volatile \t\n"), *end, *text;
        if ((p > file && (isalpha((unsigned char)p[-1]) || (p[-1] == '_' && !str_starts(p, "asm__")))) ||
            *open != '(')
            continue;
        for (; counted < p; counted++)
            at += *counted == '\n';
        if (at >= line)
            return NULL;
        end = behind_parenthesis(open);
        for (; counted < end; counted++)
            at += *counted == '\n';
        text = strchr(open, '"');
        if (at < line || !text || text > end)
            continue;
        text += 1 + strspn(text + 1, "{ \t");
        return text_line(a, arena_strndup(a, text, strcspn(text, ";\"\\\n")), 60);
    }
    return NULL;
}

const char *text_verdict(struct arena *a, const char *verdict)
{
    const char *all = share_text("prompts/verdicts.md"), *p, *end;

    p = strstr(all, arena_printf(a, "\n# %s\n", verdict));
    if (!p)
        return "";
    p = strchr(p + 1, '\n') + 1;
    end = strstr(p, "\n#");
    return text_line(a, arena_strndup(a, p, end ? (size_t)(end - p) : strlen(p)), 1000);
}
