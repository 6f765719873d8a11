/* JSON as models write it. What can be meant in one way only is taken that way: comments, trailing or missing
 * commas, single or typographic quotes, keys without quotes, Python's words, raw line ends and unescaped quotes
 * in texts, prose and fences around it, an end that never came. */
#include "internal.h"

#include <ctype.h>

enum { MAX_DEPTH = 24 };

struct reader {
    struct arena *arena;
    const char *p, *end;
    int depth;
    bool forgive_end,
        cut; /* take what was read when the text ends in the middle; a container was cut off there */
};

static json_t *read_value(struct reader *r);

static void skip(struct reader *r)
{
    for (;;) {
        if (r->p < r->end && isspace((unsigned char)*r->p)) {
            r->p++;
        } else if (r->end - r->p >= 2 && r->p[0] == '/' && r->p[1] == '*') {
            const char *close = memmem(r->p + 2, (size_t)(r->end - r->p) - 2, "*/", 2);
            r->p = close ? close + 2 : r->end;
        } else if (r->p < r->end &&
                   (*r->p == '#' || (r->end - r->p >= 2 && r->p[0] == '/' && r->p[1] == '/'))) {
            const char *line = memchr(r->p, '\n', (size_t)(r->end - r->p));
            r->p = line ? line : r->end;
        } else if (r->end - r->p >= 2 && !memcmp(r->p, "\xc2\xa0", 2)) {
            r->p += 2;
        } else {
            return;
        }
    }
}

/* Bytes of the quote at p; 0: none. Typographic ones are three bytes. */
static size_t quote_at(const char *p, const char *end)
{
    if (p < end && (*p == '"' || *p == '\''))
        return 1;
    return end - p >= 3 && (!memcmp(p, "\xe2\x80\x9c", 3) || !memcmp(p, "\xe2\x80\x9d", 3)) ? 3 : 0;
}

/* Does a text end at this quote? One that is followed by more prose was meant as a character. */
static bool quote_closes(const struct reader *r, const char *after)
{
    struct reader look = *r;

    look.p = after;
    while (look.p < look.end && isspace((unsigned char)*look.p))
        look.p++;
    if (look.p == look.end || strchr(",}]:", *look.p))
        return true;
    if (memchr(after, '\n', (size_t)(look.p - after)) && quote_at(look.p, look.end))
        return true; /* a comma forgotten at the line's end */
    return look.end - look.p >= 2 && look.p[0] == '/' && (look.p[1] == '/' || look.p[1] == '*');
}

static int32_t hex4(const char *p, const char *end)
{
    return end - p < 4 ? -1 : str_hex4(p);
}

/* The escape behind a backslash. */
static void read_escape(struct reader *r, struct str *s)
{
    static const char from[] = "ntrbf", to[] = "\n\t\r\b\f";
    const char *at;
    int32_t c, low;

    if (r->p == r->end)
        return;
    if (*r->p == 'u' && (c = hex4(r->p + 1, r->end)) >= 0) {
        r->p += 5;
        if (c >= 0xd800 && c < 0xdc00 && r->end - r->p >= 6 && r->p[0] == '\\' && r->p[1] == 'u' &&
            (low = hex4(r->p + 2, r->end)) >= 0xdc00 && low < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            r->p += 6;
        }
        utf8_add(s, c == 0 || (c >= 0xd800 && c < 0xe000) ? '?' : (uint32_t)c);
        return;
    }
    if ((at = strchr(from, *r->p)))
        str_addc(s, to[at - from]);
    else if (strchr("\"'\\/\n", *r->p))
        str_addc(s, *r->p);
    else
        str_addf(s, "\\%c", *r->p);
    r->p++;
}

static json_t *text_of(struct str *s)
{
    json_t *o = json_string(str_text(s));

    str_free(s);
    return o;
}

static json_t *read_quoted(struct reader *r)
{
    size_t n = quote_at(r->p, r->end), m;
    const char quote = *r->p;
    struct str s = {0};

    for (r->p += n; r->p < r->end;) {
        m = quote_at(r->p, r->end);
        if (*r->p == '\\') {
            r->p++;
            /* an escape's character may be several bytes: only its first is ever special */
            read_escape(r, &s);
        } else if (m == n && (n == 3 || *r->p == quote) && quote_closes(r, r->p + m)) {
            r->p += m;
            return text_of(&s);
        } else {
            str_addc(&s, *r->p++);
        }
    }
    str_free(&s); /* half a text says half of what was meant */
    return NULL;
}

/* A number, a word, or a text whose quotes were forgotten. */
static json_t *read_bare(struct reader *r)
{
    static const struct {
        const char *word;
        int value; /* false, true, null */
    } words[] = {{"true", 1}, {"True", 1}, {"false", 0},     {"False", 0},    {"null", 2},      {"None", 2},
                 {"NULL", 2}, {"NaN", 2},  {"undefined", 2}, {"Infinity", 2}, {"-Infinity", 2}, {"nil", 2}};
    const char *start = r->p, *stop;
    char *word, *after;
    double v;

    while (r->p < r->end && !strchr(",}]\n{[\"", *r->p))
        r->p++;
    stop = r->p;
    while (stop > start && isspace((unsigned char)stop[-1]))
        stop--;
    if (stop == start || stop - start > 400 || r->p == r->end)
        return NULL;
    word = arena_strndup(r->arena, start, (size_t)(stop - start));
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (!strcmp(word, words[i].word))
            return words[i].value == 2 ? json_null() : json_boolean(words[i].value);
    if (strspn(word, "+-0123456789") == strlen(word) && strlen(word) < 19) {
        long long i = strtoll(word, &after, 10);
        if (!*after)
            return json_integer(i);
    }
    v = strtod(word, &after);
    if (!*after && isfinite(v) && (isdigit((unsigned char)*word) || strchr("+-.", *word)))
        return json_real(v);
    return json_string(word);
}

static const char *read_key(struct reader *r)
{
    const char *start = r->p, *key = NULL;

    if (quote_at(r->p, r->end)) {
        json_t *o = read_quoted(r);
        key = o ? arena_strdup(r->arena, json_string_value(o)) : NULL;
        json_decref(o);
        return key;
    }
    while (r->p < r->end && (isalnum((unsigned char)*r->p) || *r->p == '_' || *r->p == '-'))
        r->p++;
    return r->p > start ? arena_strndup(r->arena, start, (size_t)(r->p - start)) : NULL;
}

static json_t *cut_off(struct reader *r, json_t *o)
{
    r->cut = true;
    return o;
}

/* A container; `close` is its bracket. */
static json_t *read_items(struct reader *r, char close)
{
    json_t *o = close == '}' ? json_object() : json_array(), *v;

    r->p++;
    for (;;) {
        const char *key = NULL;
        skip(r);
        while (r->p < r->end && *r->p == ',') {
            r->p++;
            skip(r);
        }
        if (r->p == r->end && r->forgive_end)
            return cut_off(r, o);
        if (r->p == r->end)
            break;
        if (*r->p == close) {
            r->p++;
            return o;
        }
        if (close == '}') {
            key = read_key(r);
            skip(r);
            if (!key || r->p == r->end || *r->p != ':') {
                if (r->p == r->end && r->forgive_end)
                    return cut_off(r, o);
                break;
            }
            r->p++;
        }
        v = read_value(r);
        if (!v) {
            if (r->p == r->end && r->forgive_end)
                return cut_off(r, o);
            break;
        }
        if (close == ']' && r->cut) {
            json_decref(v); /* cut off in the middle: what came before it is whole */
            continue;
        }
        if (close == '}' ? json_object_set_new(o, key, v) : json_array_append_new(o, v))
            break;
    }
    json_decref(o);
    return NULL;
}

static json_t *read_value(struct reader *r)
{
    json_t *o = NULL;

    skip(r);
    if (r->p == r->end || r->depth >= MAX_DEPTH)
        return NULL;
    r->depth++;
    if (*r->p == '{')
        o = read_items(r, '}');
    else if (*r->p == '[')
        o = read_items(r, ']');
    else if (quote_at(r->p, r->end))
        o = read_quoted(r);
    else
        o = read_bare(r);
    r->depth--;
    return o;
}

static bool has_key(const json_t *o, const char *const *keys)
{
    for (; *keys; keys++)
        if (json_object_get(o, *keys))
            return true;
    return false;
}

/* The object itself, or one a level below it: some models wrap what they were asked for. Steals o. */
static json_t *unwrap(json_t *o, const char *const *keys)
{
    json_t *found = has_key(o, keys) ? json_incref(o) : NULL, *v;
    const char *key;

    if (!found)
        json_object_foreach(o, key, v) if (!found && has_key(v, keys)) found = json_incref(v);
    json_decref(o);
    return found;
}

/* Every place where an object or list could begin is tried; the work is bounded for texts full of brackets. */
static json_t *search(struct arena *a, const char *text, size_t len, const char *const *keys, char open,
                      bool forgive_end)
{
    const char *end = text + len, *p = text;
    size_t work = 4 * len + 65536;
    json_t *found = NULL;

    while ((p = memchr(p, open, (size_t)(end - p)))) {
        struct reader r = {.arena = a, .p = p, .end = end, .forgive_end = forgive_end};
        json_t *o = read_value(&r);
        size_t used = (size_t)(r.p - p) + 1;
        const char *next = o ? r.p : p + 1;
        if (o && open == '[') {
            json_t *list = json_is_object(json_array_get(o, 0)) ? json_object() : NULL;
            if (list)
                json_object_set(list, keys[0], o);
            json_decref(o);
            o = list;
        } else if (o) {
            o = unwrap(o, keys);
        }
        if (o) {
            json_decref(found);
            found = o;
        }
        if (used >= work)
            break;
        work -= used;
        p = next;
    }
    return found;
}

char *reply_spoken(struct arena *a, const char *reply)
{
    static const char thought[] = "</think>";
    size_t len = strnlen(reply, MAX_REPLY_BYTES);
    const char *p = reply, *q;
    struct str s = {.arena = a};

    while ((q = memmem(p, len - (size_t)(p - reply), thought, strlen(thought))))
        p = q + strlen(thought);
    if (p[strspn(p, " \n\r\t")] == 0)
        p = reply; /* it only thought aloud: the answer may be in there */
    for (size_t i = (size_t)(p - reply), n; i < len; i += n) {
        int32_t c;
        n = text_char(reply + i, len - i, &c);
        if (c < 0)
            str_addc(&s, '?');
        else if (c == '\r') {
            if (i + 1 >= len || reply[i + 1] != '\n')
                str_addc(&s, '\n');
        } else if (c != 0xfeff)
            str_addn(&s, reply + i, n);
    }
    return str_take(&s, a);
}

json_t *reply_json(struct arena *a, const char *reply, const char *const *keys, struct err *complaint)
{
    const char *text = reply_spoken(a, reply);
    size_t len = strlen(text);
    json_t *o = search(a, text, len, keys, '{', false);

    o = o ? o : search(a, text, len, keys, '{', true);
    o = o ? o : search(a, text, len, keys, '[', false);
    if (!o)
        err_input(
            complaint,
            "there is no JSON object with \"%s\" in it. Answer with the one JSON object that was asked for and nothing else.",
            keys[0]);
    return o;
}

const char *reply_text(struct arena *a, const json_t *o, const char *key, size_t max)
{
    const json_t *v = json_object_get(o, key);

    return json_is_string(v) ? text_line(a, json_string_value(v), max) : "";
}

bool reply_number(const json_t *v, double *out)
{
    const char *s = json_string_value(v);
    char *after;

    if (json_is_number(v)) {
        *out = json_number_value(v);
        return isfinite(*out);
    }
    if (!s)
        return false;
    *out = strtod(s, &after);
    if (after == s || !isfinite(*out))
        return false;
    while (isspace((unsigned char)*after))
        after++;
    if (*after == '%') {
        *out /= 100;
        after++;
    } else if (*after == 'x' || *after == 'X') {
        after++;
    } else if (str_starts(after, "\xc3\x97")) { /* the multiplication sign */
        after += 2;
    }
    return !*after;
}
