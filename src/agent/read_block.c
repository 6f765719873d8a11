/* Where in a reply the file is. Models fence it, fence it twice, forget the closing fence, put prose before and
 * behind, send it as JSON or HTML, or split it over several blocks. What is found is only a guess: the reader
 * takes the first that opens as a kernel file. */
#include "internal.h"

#include <ctype.h>

enum { MAX_BLOCKS = 32, MAX_NESTED = 3 };

struct blocks {
    struct arena *arena;
    const char *v[MAX_BLOCKS];
    size_t n;
};

static void replace_all(struct str *s, const char *from, const char *to)
{
    size_t n = strlen(from), m = strlen(to), at = 0, left = 0;

    while (at < s->len)
        if (!strncmp(s->s + at, from, n)) {
            memmove(s->s + left, to, m); /* never longer than what it stands for */
            left += m;
            at += n;
        } else {
            s->s[left++] = s->s[at++];
        }
    s->len = left;
    if (s->s)
        s->s[left] = 0;
}

/* What pages and word processors make of code: <<< as &lt;&lt;&lt;, typographic quotes, blanks that do not
 * break. */
static const char *unescape(struct arena *a, const char *text)
{
    static const char *const pairs[][2] = {{"&lt;", "<"},          {"&gt;", ">"},     {"&quot;", "\""},
                                           {"&#39;", "'"},         {"&amp;", "&"},    {"\xe2\x80\x9c", "\""},
                                           {"\xe2\x80\x9d", "\""}, {"\xc2\xa0", " "}, {"\xe2\x80\x8b", ""}};
    bool page = strstr(text, "&lt;") && !strstr(text, "<<<");
    struct str s = {.arena = a};

    str_add(&s, text);
    for (size_t i = page ? 0 : 5; i < ARRAY_LEN(pairs); i++)
        replace_all(&s, pairs[i][0], pairs[i][1]);
    return str_take(&s, a);
}

/* A file with its line numbers, as it is shown to some roles: without them. */
static const char *unnumbered(struct arena *a, const char *text)
{
    struct str s = {.arena = a};
    long line = 1;

    for (const char *p = text, *end; *p; p = end, line++) {
        const char *start = p + strspn(p, " ");
        char *after;
        end = strchrnul(p, '\n');
        end += *end == '\n';
        if (!isdigit((unsigned char)*start) || strtol(start, &after, 10) != line || !strchr(" |:\n", *after))
            return text;
        if (*after != '\n')
            after += strspn(after, "|:") + (after[strspn(after, "|:")] == ' ');
        str_addn(&s, after, after < end ? (size_t)(end - after) : 0);
    }
    return line > 3 ? str_take(&s, a) : text;
}

/* The marks of a fence at p: how many. */
static size_t marks(const char *p, const char *end)
{
    size_t n = 0;

    while (p + n < end && p[n] == *p && (*p == '`' || *p == '~'))
        n++;
    return n >= 3 ? n : 0;
}

/* The fence that a line ends with or is: its place, with nothing but a language's name behind it. NULL: none.
 */
static const char *opening(const char *line, const char *end)
{
    for (const char *p = line; p < end; p++) {
        size_t n = marks(p, end);
        const char *q = p + n;
        if (!n)
            continue;
        while (q < end && (isalnum((unsigned char)*q) || strchr("+-_.{}=: \t/", *q)))
            q++;
        /* a name of a file may follow the language, code may not */
        return q == end ? p : NULL;
    }
    return NULL;
}

static const char *closing(const char *line, const char *end, char mark, size_t n)
{
    while (end > line && isspace((unsigned char)end[-1]))
        end--;
    for (size_t k = 0; k < n; k++)
        if (end - line < (ptrdiff_t)(k + 1) || end[-1 - (ptrdiff_t)k] != mark)
            return NULL;
    while (end > line && end[-1] == mark)
        end--;
    return end;
}

static void collect(struct blocks *b, const char *text, int nested)
{
    for (const char *p = text, *next; *p && b->n < MAX_BLOCKS; p = next) {
        const char *end = strchrnul(p, '\n'), *fence = opening(p, end), *q, *stop = NULL, *start;
        char *content;
        next = *end ? end + 1 : end;
        if (!fence)
            continue;
        start = next;
        for (q = next; *q && !stop; q = *end ? end + 1 : end) {
            end = strchrnul(q, '\n');
            stop = closing(q, end, *fence, marks(fence, fence + strlen(fence)));
        }
        if (start == q && !stop)
            return; /* a fence on the last line opens nothing */
        content = arena_strndup(b->arena, start, (size_t)((stop ? stop : q) - start));
        b->v[b->n++] = unnumbered(b->arena, content);
        if (nested < MAX_NESTED)
            collect(b, content, nested + 1);
        next = q;
    }
}

/* From the first line that can only be code to the last closing brace. */
static const char *unfenced(struct arena *a, const char *text)
{
    static const char *const heads[] = {"#include", "#define",    "#pragma",      "__global__",
                                        "template", "constexpr",  "extern \"C\"", "namespace",
                                        "static ",  "__device__", "// astra:",    "using "};
    const char *start = NULL, *last = strrchr(text, '}');

    for (const char *p = text; *p && !start;) {
        const char *end = strchrnul(p, '\n');
        for (size_t i = 0; i < ARRAY_LEN(heads); i++)
            if (str_starts(p + strspn(p, " \t"), heads[i]))
                start = p;
        p = *end ? end + 1 : end;
    }
    return start && last && last > start ? arena_printf(a, "%.*s\n", (int)(last + 1 - start), start) : NULL;
}

static const char *in_json(struct arena *a, const char *text, const char *entry)
{
    static const char *const keys[] = {"code", "file", "source", "kernel", "content", "text", NULL};
    json_t *o = reply_json(a, text, keys, NULL), *v;
    const char *found = NULL, *key;

    json_object_foreach(o, key, v) if (!found && json_is_string(v) && strstr(json_string_value(v), entry))
        found = arena_strdup(a, json_string_value(v));
    json_decref(o);
    return found;
}

static bool only_transforms(const char *text)
{
    bool any = false;

    for (const char *p = text; *p;) {
        const char *end = strchrnul(p, '\n');
        p += strspn(p, " \t");
        if (transform_line(p))
            any = true;
        else if (p < end)
            return false;
        p = *end ? end + 1 : end;
    }
    return any;
}

const char *transform_line(const char *line)
{
    static const char *const heads[] = {"// astra: transform", "// astra: move"};

    for (size_t i = 0; i < ARRAY_LEN(heads); i++)
        if (str_starts(line, heads[i]))
            return line + strlen(heads[i]);
    return NULL;
}

static void add(char **to, size_t *n, size_t max, const char *text)
{
    for (size_t i = 0; i < *n; i++)
        if (!strcmp(to[i], text))
            return;
    if (*n < max)
        to[(*n)++] = (char *)text;
}

/* A patch without a fence. */
static const char *bare_patch(const char *text)
{
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n')
        if (str_starts(p, "@@") || str_starts(p, "<<<<<<<"))
            return p;
    return NULL;
}

size_t reply_blocks(struct arena *a, const char *reply, const char *entry, char **blocks, size_t max)
{
    const char *text = unescape(a, reply_spoken(a, reply)), *other;
    struct blocks b = {.arena = a};
    struct str all = {.arena = a}, patches = {.arena = a};
    size_t n = 0;

    collect(&b, text, 0);
    for (int pass = 0; pass < 2; pass++) /* a launcher's definition first, its name alone later */
        for (size_t i = b.n; i-- > 0;)
            if (!patch_is(b.v[i]) && strstr(b.v[i], entry) && (strstr(b.v[i], "extern") != NULL) == (pass == 0))
                add(blocks, &n, max, b.v[i]);
    for (size_t i = 0; i < b.n; i++)
        str_addf(patch_is(b.v[i]) ? &patches : &all, "%s\n", b.v[i]);
    if (patches.len)
        add(blocks, &n, max, str_take(&patches, a));
    if (all.len && (b.n > 1 || !n))
        add(blocks, &n, max, str_take(&all, a));
    for (size_t i = 0; i < b.n; i++)
        if (only_transforms(b.v[i]))
            add(blocks, &n, max, b.v[i]);
    if (!b.n && (other = bare_patch(text)))
        add(blocks, &n, max, other);
    if (!n && !b.n && strstr(text, entry) && (other = unfenced(a, text)))
        add(blocks, &n, max, other);
    if (!n && (other = in_json(a, text, entry)))
        add(blocks, &n, max, other);
    if (!n && only_transforms(text))
        add(blocks, &n, max, text);
    return n;
}
