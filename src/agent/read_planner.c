/* The planner's reply: distinct strategies, or an empty list: there is nothing more to try. One that cannot be
 * used is dropped as long as another is left; when none is, the complaint says why the first one is not. */
#include "internal.h"

#include <ctype.h>

/* Which transforms apply, for complaints. */
static const char *transforms_text(const struct agent_version *v, struct arena *a)
{
    struct agent_brief b = {.version = v};

    return part_transforms(&b, a, false);
}

static bool one_step(const struct agent_version *v, char *word, struct arena *a, struct agent_step *step,
                     struct err *complaint)
{
    char *name = word + strspn(word, " \t`'\""), *rest;
    const struct transform_site *first;
    const struct transform *ops;
    const int *settings;
    size_t n, len = 0;

    while (isalnum((unsigned char)name[len]) || name[len] == '-' || name[len] == '_')
        len++;
    rest = name + len;
    name = arena_strndup(a, name, len);
    for (size_t i = 0; i < len; i++)
        name[i] = name[i] == '_' ? '-' : (char)tolower((unsigned char)name[i]);
    ops = transform_find(name);
    if (!ops)
        return err_input(complaint, "\"%s\" is no built-in transform. Those that apply: %s",
                         text_line(a, word, 60), transforms_text(v, a));
    n = transform_settings(v, ops, a, &settings, &first);
    if (!n)
        return err_input(complaint, "%s does not apply to this file. Those that apply: %s", ops->name,
                         transforms_text(v, a));
    rest += strspn(rest, " ");
    for (size_t i = 0; i < n && ops->setting_words; i++) { /* as people are told it */
        const char *words = ops->setting_words(a, settings[i]);
        if (words && str_starts(rest, words) && !isdigit((unsigned char)rest[strlen(words)])) {
            *step = (struct agent_step){ops->name, settings[i]};
            return true;
        }
    }
    while (*rest && !isdigit((unsigned char)*rest))
        rest++;
    *step = (struct agent_step){ops->name, *rest ? (int)strtol(rest, NULL, 10) : settings[0]};
    for (size_t i = 0; i < n; i++)
        if (settings[i] == step->setting)
            return true;
    return err_input(complaint, "%s has no setting %d here. Those that apply: %s", ops->name, step->setting,
                     transforms_text(v, a));
}

bool steps_of_text(const struct agent_version *v, const char *text, struct arena *a,
                   const struct agent_step **steps, size_t *n, struct err *complaint)
{
    enum { MAX_STEPS = 8 };
    struct agent_step *list = arena_array(a, struct agent_step, MAX_STEPS);
    char *copy = arena_strdup(a, text), *save = NULL;

    *n = 0;
    for (char *word = strtok_r(copy, "+,;", &save); word; word = strtok_r(NULL, "+,;", &save)) {
        if (*n == MAX_STEPS)
            return err_input(complaint, "more than %d transforms in one strategy", MAX_STEPS);
        /* A transform that an earlier one makes possible is found when it is carried out. */
        if (!one_step(v, word, a, &list[*n], *n ? NULL : complaint)) {
            if (*n == 0)
                return false;
            continue;
        }
        (*n)++;
    }
    *steps = list;
    return *n > 0 || err_input(complaint, "no transform is named");
}

/* Letters and digits only: "Warp-shuffle reduction" is "warp shuffle reduction". */
static const char *bare(struct arena *a, const char *name)
{
    char *s = arena_strdup(a, name);
    size_t n = 0;

    for (size_t i = 0; s[i]; i++)
        if (isalnum((unsigned char)s[i]) || (s[i] & 0x80))
            s[n++] = (char)tolower((unsigned char)s[i]);
    s[n] = 0;
    return s;
}

static bool same_steps(const struct agent_strategy *x, const struct agent_strategy *y)
{
    if (x->n_steps == 0 || x->n_steps != y->n_steps)
        return false;
    for (size_t i = 0; i < x->n_steps; i++)
        if (strcmp(x->steps[i].transform, y->steps[i].transform) != 0 ||
            x->steps[i].setting != y->steps[i].setting)
            return false;
    return true;
}

/* What was tried without a gain is not tried again under the same name. */
static bool tried(const struct agent_brief *b, struct arena *a, const struct agent_strategy *s)
{
    const char *steps = s->n_steps ? bare(a, agent_steps_text(a, s->steps, s->n_steps)) : "",
               *name = bare(a, s->name);

    for (size_t i = 0; i < b->n_lessons; i++) {
        const char *old = b->lessons[i].name ? bare(a, b->lessons[i].name) : "";
        if (!(b->lessons[i].gain > 1.005) && *old && (!strcmp(old, name) || !strcmp(old, steps)))
            return true;
    }
    return false;
}

static bool read_share(const json_t *v, double *out)
{
    static const struct {
        const char *word;
        double share;
    } words[] = {{"high", 0.8}, {"medium", 0.5}, {"moderate", 0.5}, {"low", 0.3}};

    if (reply_number(v, out)) {
        if (*out > 1 && *out <= 100)
            *out /= 100;
        return *out >= 0 && *out <= 1;
    }
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (json_is_string(v) && strcasestr(json_string_value(v), words[i].word)) {
            *out = words[i].share;
            return true;
        }
    return false;
}

static bool read_transforms(const json_t *v, const struct agent_brief *b, struct arena *a,
                            struct agent_strategy *s, struct err *complaint)
{
    struct str all = {.arena = a};
    const char *text;
    bool ok;

    if (json_is_string(v))
        str_add(&all, json_string_value(v));
    for (size_t i = 0; i < json_array_size(v); i++)
        if (json_is_string(json_array_get(v, i)))
            str_addf(&all, "%s%s", i ? " + " : "", json_string_value(json_array_get(v, i)));
    text = text_line(a, str_text(&all), 300);
    if (!*text || !strcasecmp(text, "null") || !strcasecmp(text, "none") || !strcasecmp(text, "no") ||
        !strcasecmp(text, "n/a") || !strcmp(text, "-"))
        return true;
    if (!b->version)
        return err_input(complaint, "built-in transforms are not available here");
    ok = steps_of_text(b->version, text, a, &s->steps, &s->n_steps, complaint);
    return ok;
}

static bool read_strategy(const json_t *o, const struct agent_brief *b, struct arena *a,
                          struct agent_strategy *s, struct err *complaint)
{
    const json_t *v;

    *s = (struct agent_strategy){.expected_gain = 1.1, .confidence = 0.5};
    if (!json_is_object(o))
        return err_input(complaint, "each of \"strategies\" must be an object");
    s->name = reply_text(a, o, "name", 80);
    s->reason = reply_text(a, o, "reason", 600);
    s->plan = reply_text(a, o, "plan", 2000);
    v = json_object_get(o, "transform");
    if (!read_transforms(v ? v : json_object_get(o, "move"), b, a, s,
                         complaint)) /* "move": earlier versions' */
        return err_context(complaint, "strategy \"%s\"", s->name);
    if (!*s->plan && s->n_steps)
        s->plan = agent_steps_text(a, s->steps, s->n_steps);
    if (!*s->name && s->n_steps)
        s->name = agent_steps_text(a, s->steps, s->n_steps);
    if (!*s->name || strlen(s->plan) < 8)
        return err_input(complaint, "a strategy needs a \"name\" and a \"plan\" that says what to change");
    if ((v = json_object_get(o, "expected_gain")) && !json_is_null(v) &&
        (!reply_number(v, &s->expected_gain) || s->expected_gain < 0.1 || s->expected_gain > 1000))
        return err_input(
            complaint, "strategy \"%s\": \"expected_gain\" must be a number such as 1.2, time now / time then",
            s->name);
    if ((v = json_object_get(o, "confidence")) && !json_is_null(v) && !read_share(v, &s->confidence))
        return err_input(complaint, "strategy \"%s\": \"confidence\" must be a number from 0 to 1", s->name);
    return true;
}

/* The list, also where it is a single strategy without one. A new reference. */
static json_t *read_list(struct arena *a, const char *reply, struct err *complaint)
{
    static const char *const keys[] = {"strategies", NULL}, *const one[] = {"plan", NULL};
    json_t *o = reply_json(a, reply, keys, complaint), *list;

    if (!o) {
        o = reply_json(a, reply, one, NULL);
        return o ? json_pack("[o]", o) : NULL;
    }
    list = json_object_get(o, "strategies");
    if (json_is_object(list))
        list = json_pack("[O]", list);
    else
        list = json_is_array(list) ? json_incref(list) : NULL;
    json_decref(o);
    if (!list)
        err_input(complaint, "\"strategies\" must be a list of strategies; an empty one says that there is "
                             "nothing more to try");
    return list;
}

/* An empty list as it was written, not one that lost what it held. */
static bool says_enough(const char *reply)
{
    const char *p = NULL;

    for (const char *q = reply; (q = strstr(q, "strategies")); q++)
        p = q + strlen("strategies");
    if (!p)
        return false;
    p += strspn(p, "\"' \t\n:");
    return *p == '[' && p[1 + strspn(p + 1, " \t\n")] == ']';
}

bool agent_read_planner(const char *reply, const struct agent_brief *b, struct arena *a,
                        const struct agent_strategy **strategies, size_t *n, struct err *complaint)
{
    struct agent_strategy *list = arena_array(a, struct agent_strategy, b->max_strategies + 1), s;
    struct err first = {0}, why = {0};
    json_t *items = read_list(a, reply, complaint);
    bool enough;

    *strategies = list;
    *n = 0;
    if (!items)
        return false;
    for (size_t i = 0; i < json_array_size(items) && *n < b->max_strategies; i++) {
        bool ok = read_strategy(json_array_get(items, i), b, a, &s, &why);
        for (size_t k = 0; ok && k < *n; k++)
            if (!strcmp(bare(a, list[k].name), bare(a, s.name)) || same_steps(&list[k], &s))
                ok = err_input(&why, "strategy \"%s\" is there twice", s.name);
        if (ok && tried(b, a, &s))
            ok = err_input(&why, "\"%s\" was tried and gained nothing: propose something else", s.name);
        if (ok)
            list[(*n)++] = s;
        else if (first.kind == ERR_NONE)
            first = why;
    }
    enough = json_array_size(items) == 0 && says_enough(reply);
    json_decref(items);
    if (*n > 0 || enough)
        return true;
    if (first.kind == ERR_NONE)
        return err_input(complaint, "\"strategies\" must be a list of strategies, each in full");
    *complaint = first;
    return false;
}
