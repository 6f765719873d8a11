#include "base/base.h"

json_t *json_parse(const char *text, size_t len, const char *name, struct err *err)
{
    json_error_t e;
    json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);

    if (!o)
        err_at(err, name, e.line, e.column, "%s", e.text);
    return o;
}

const char *json_text(const json_t *o, const char *key, const char *fallback)
{
    const json_t *v = json_object_get(o, key);

    return json_is_string(v) ? json_string_value(v) : fallback;
}

int64_t json_int(const json_t *o, const char *key, int64_t fallback)
{
    const json_t *v = json_object_get(o, key);

    return json_is_integer(v) ? json_integer_value(v) : fallback;
}

double json_num(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    return json_is_number(v) ? json_number_value(v) : NAN;
}

bool json_flag(const json_t *o, const char *key, bool fallback)
{
    const json_t *v = json_object_get(o, key);

    return json_is_boolean(v) ? json_is_true(v) : fallback;
}

void json_put(json_t *o, const char *key, json_t *value)
{
    if (json_object_set_new(o, key, value) != 0)
        BUG("json: cannot set %s", key);
}

/* Compiler output and file contents are bytes; jansson takes UTF-8 only. */
static json_t *json_from_bytes(const char *s)
{
    json_t *v = json_string(s);

    if (!v) {
        char *ascii = mem_strdup(s);
        for (char *p = ascii; *p; p++)
            if ((unsigned char)*p >= 0x80)
                *p = '?';
        v = json_string(ascii);
        free(ascii);
    }
    return v;
}

void json_put_text(json_t *o, const char *key, const char *s)
{
    json_put(o, key, s ? json_from_bytes(s) : json_null());
}

void json_put_int(json_t *o, const char *key, int64_t v)
{
    json_put(o, key, json_integer(v));
}

json_t *json_num_or_null(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

void json_put_num(json_t *o, const char *key, double v)
{
    json_put(o, key, json_num_or_null(v));
}

void json_put_flag(json_t *o, const char *key, bool v)
{
    json_put(o, key, json_boolean(v));
}

static char *dump(struct arena *a, const json_t *o, size_t flags)
{
    char *s = json_dumps(o, flags | JSON_REAL_PRECISION(9)), *r;

    BUG_IF(!s);
    r = arena_strdup(a, s);
    free(s);
    return r;
}

char *json_line(struct arena *a, const json_t *o)
{
    return dump(a, o, JSON_COMPACT | JSON_ENCODE_ANY);
}

char *json_pretty(struct arena *a, const json_t *o)
{
    return dump(a, o, JSON_INDENT(2) | JSON_ENCODE_ANY);
}

char *json_take_line(struct arena *a, json_t *o)
{
    char *line = json_line(a, o);

    json_decref(o);
    return line;
}

void json_print(struct str *out, json_t *o)
{
    struct arena *a = arena_open();

    str_addf(out, "%s\n", json_pretty(a, o));
    json_decref(o);
    arena_close(a);
}

json_t *json_texts(const char *const *list, size_t n)
{
    json_t *o = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(o, list[i] ? json_from_bytes(list[i]) : json_null());
    return o;
}
