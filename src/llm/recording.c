/* Recordings: one JSON file a call, to be read and written by people too (docs/models.md). Texts stand as
 * arrays of lines. Neither keys nor addresses get here. */
#include "llm/internal.h"

#include <ctype.h>

enum { RECORDING_VERSION = 1 };

char *record_path(struct arena *a, const char *dir, const struct llm_request *q)
{
    struct str name = {.arena = a};
    size_t role_len = strlen(q->role);

    if (strncmp(q->label, q->role, role_len) != 0)
        str_addf(&name, "%s-", q->role);
    str_add(&name, q->label);
    for (size_t i = 0; i < name.len; i++)
        if (!isalnum((unsigned char)name.s[i]) && !strchr("-_.", name.s[i]))
            name.s[i] = '_';
    if (name.s[0] == '.')
        name.s[0] = '_';
    str_add(&name, ".json");
    return fs_join(a, dir, name.s);
}

/* A text by its lines, so that a recording reads like one; joined by newlines it is the text again. */
static json_t *lines_to_json(const char *s)
{
    json_t *list = json_array();

    for (;;) {
        size_t n = strcspn(s, "\n");
        json_t *line = json_stringn(s, n);
        if (!line) { /* a prompt that is not UTF-8: as it would go over the wire */
            struct str clean = {0};
            text_add_utf8(&clean, s, n);
            line = json_string(str_text(&clean));
            str_free(&clean);
        }
        json_array_append_new(list, line);
        if (!s[n])
            return list;
        s += n + 1;
    }
}

/* A string, or an array of lines. NULL when it is neither. */
static char *lines_from_json(const json_t *v, struct arena *a)
{
    struct str s = {.arena = a};
    const json_t *line;
    size_t i;

    if (json_is_string(v))
        return arena_strdup(a, json_string_value(v));
    if (!json_is_array(v))
        return NULL;
    json_array_foreach(v, i, line)
    {
        if (!json_is_string(line)) {
            return NULL;
        }
        if (i)
            str_addc(&s, '\n');
        str_add(&s, json_string_value(line));
    }
    return str_take(&s, a);
}

bool record_write(const struct llm_config *c, const struct llm_request *q, const struct llm_reply *r,
                  const char *note, struct err *err)
{
    struct arena *a = arena_open();
    json_t *o = json_object(), *messages = json_array(), *reply = llm_reply_to_json(r);
    bool ok;

    json_put_int(o, "recording", RECORDING_VERSION);
    if (note)
        json_put_text(o, "note", note);
    json_put_text(o, "role", q->role);
    json_put_text(o, "label", q->label);
    json_put_text(o, "provider", c->provider);
    json_put(o, "system", lines_to_json(q->system));
    for (size_t i = 0; i < q->n_messages; i++) {
        json_t *m = json_object();
        json_put_text(m, "from", q->messages[i].assistant ? "assistant" : "user");
        json_put(m, "text", lines_to_json(q->messages[i].text));
        json_array_append_new(messages, m);
    }
    json_put(o, "messages", messages);
    json_put(reply, "text", lines_to_json(r->text));
    json_put(o, "reply", reply);
    ok = fs_mkdirs(c->record_dir, err) &&
         fs_write_text(record_path(a, c->record_dir, q), arena_printf(a, "%s\n", json_pretty(a, o)), err);
    json_decref(o);
    arena_close(a);
    return ok || err_context(err, "cannot record %s", q->label);
}

static bool bad(const char *name, struct err *err, const char *what)
{
    return err_at(err, name, 0, 0, "%s", what);
}

static bool messages_parse(const json_t *list, const char *name, struct arena *a, struct recording *r,
                           struct err *err)
{
    const json_t *m;
    size_t i;

    if (!json_is_array(list))
        return bad(name, err, "messages is an array of {from, text}");
    r->has_messages = true;
    r->messages = arena_array(a, struct llm_message, json_array_size(list) + 1);
    json_array_foreach(list, i, m)
    {
        const char *from = json_text(m, "from", ""), *text = lines_from_json(json_object_get(m, "text"), a);
        if (!text || (!str_eq(from, "user") && !str_eq(from, "assistant")))
            return bad(name, err,
                       "a message is {from: \"user\" or \"assistant\", text: a string or an array of lines}");
        r->messages[r->n_messages++] = (struct llm_message){str_eq(from, "assistant"), text};
    }
    return true;
}

/* A key nobody knows is a slip of the hand that would otherwise pass unseen. */
static bool keys_known(const json_t *o, const char *const *known, const char *what, const char *name,
                       struct err *err)
{
    const char *key;
    json_t *v;

    json_object_foreach((json_t *)(uintptr_t)o, key, v)
    {
        const char *const *k = known;
        while (*k && strcmp(*k, key) != 0)
            k++;
        if (!*k)
            return err_at(err, name, 0, 0, "%s has no '%s'", what, key);
    }
    return true;
}

bool record_parse(const char *text, size_t n, const char *name, struct arena *a, struct recording *r,
                  struct err *err)
{
    static const char *const keys[] = {"recording", "note",     "role",  "label", "provider",
                                       "system",    "messages", "reply", NULL};
    static const char *const reply_keys[] = {"end",          "text",   "words",    "model", "usage", "usd",
                                             "first_byte_s", "wall_s", "attempts", "fatal", NULL};
    json_t *o = json_parse(text, n, name, err), *reply = json_object_get(o, "reply"), *copy;
    const json_t *system = json_object_get(o, "system"), *messages = json_object_get(o, "messages");
    const char *body;
    bool ok;

    *r = (struct recording){0};
    if (!o)
        return false;
    if (!json_is_object(o) || json_int(o, "recording", 0) != RECORDING_VERSION || !json_is_object(reply)) {
        json_decref(o);
        return bad(name, err,
                   "a recording is {\"recording\": 1, \"role\": ..., \"label\": ..., \"reply\": {...}}");
    }
    r->role = arena_strdup(a, json_text(o, "role", NULL));
    r->label = arena_strdup(a, json_text(o, "label", NULL));
    r->note = arena_strdup(a, json_text(o, "note", NULL));
    r->system = system ? lines_from_json(system, a) : NULL;
    body = lines_from_json(json_object_get(reply, "text"), a);
    copy = json_copy(reply);
    json_put_text(copy, "text", body);
    ok = keys_known(o, keys, "a recording", name, err) && keys_known(reply, reply_keys, "a reply", name, err);
    if (ok && (!r->role || !r->label))
        ok = bad(name, err, "a recording needs its role and its label");
    if (ok && system && !r->system)
        ok = bad(name, err, "system is a string or an array of lines");
    if (ok && messages)
        ok = messages_parse(messages, name, a, r, err);
    if (ok) {
        struct err why;
        ok = llm_reply_from_json(copy, a, &r->reply, &why) || bad(name, err, why.text);
        if (ok && isnan(r->reply.wall_s))
            r->reply.wall_s = 0; /* written by hand: nobody waited */
    }
    json_decref(copy);
    json_decref(o);
    return ok;
}
