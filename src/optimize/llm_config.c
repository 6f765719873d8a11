/* Which backend, which model. The fields of a configuration stand in one table, which the flags, astra.yaml and
 * the stored options read. */
#include "llm_config.h"

#include <limits.h>

static const char *const role_names[] = {
    [FOR_TESTER] = "tester", [FOR_PROFILER] = "profiler", [FOR_PLANNER] = "planner",
    [FOR_CODER] = "coder",   [FOR_SINGLE] = "single",     [N_MODEL_ROLES] = NULL};

enum kind { TEXT, PATH, COUNT, NUMBER, NUMBER0, FLAG };

static const struct field {
    const char *name;
    size_t at;
    enum kind kind;
} fields[] = {
#define FIELD(name, member, kind)                       \
    {                                                   \
        name, offsetof(struct llm_config, member), kind \
    }
    FIELD("provider", provider, TEXT),
    FIELD("model", model, TEXT),
    FIELD("base_url", base_url, TEXT),
    FIELD("key_env", key_env, TEXT),
    FIELD("key_file", key_file, PATH),
    FIELD("command", command, TEXT),
    FIELD("effort", effort, TEXT),
    FIELD("max_output_tokens", max_output_tokens, COUNT),
    FIELD("temperature", temperature, NUMBER0),
    FIELD("connect_s", connect_s, NUMBER),
    FIELD("first_byte_s", first_byte_s, NUMBER),
    FIELD("silence_s", silence_s, NUMBER),
    FIELD("max_attempts", max_attempts, COUNT),
    FIELD("retry_s", retry_s, NUMBER),
    FIELD("ca_file", ca_file, PATH),
    FIELD("proxy", proxy, TEXT),
    FIELD("record", record_dir, PATH),
    FIELD("replay", replay_dir, PATH),
    FIELD("allow_drift", allow_drift, FLAG),
#undef FIELD
};

/* Beside these, for the run as a whole. */
static const char *const run_keys[] = {"prices", "budget_usd", "budget_tokens", "width", "strategies", NULL};

const char *models_role_name(enum models_role role)
{
    return role_names[role];
}

bool models_is_path(const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (str_eq(fields[i].name, key))
            return fields[i].kind == PATH;
    return str_eq(key, "prices");
}

struct models models_default(void)
{
    struct models m = {.width = 1};

    for (int i = 0; i < N_MODEL_ROLES; i++)
        m.config[i].temperature = NAN;
    return m;
}

bool models_any(const struct models *m)
{
    for (int i = 0; i < N_MODEL_ROLES; i++)
        if (m->asked[i])
            return true;
    return false;
}

static int index_of(const char *word, size_t len, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (strlen(names[i]) == len && !strncmp(names[i], word, len))
            return i;
    return -1;
}

static bool mind_of_role(const char *word, size_t len, struct models *m, struct err *err)
{
    const char *equals = memchr(word, '=', len);
    int role;

    if (!equals)
        return err_input(err, "--agents: '%.*s' is neither rules, llm, single nor ROLE=BACKEND", (int)len,
                         word);
    role = index_of(word, (size_t)(equals - word), role_names);
    if (role < 0 || role == FOR_SINGLE)
        return err_input(err,
                         "--agents: there is no role '%.*s'; there are tester, profiler, planner and coder",
                         (int)(equals - word), word);
    equals++;
    len -= (size_t)(equals - word);
    m->asked[role] = len == 3 && !strncmp(equals, "llm", 3);
    if (!m->asked[role] && (len != 5 || strncmp(equals, "rules", 5) != 0))
        return err_input(err, "--agents: a %s's backend is rules or llm, not '%.*s'", role_names[role],
                         (int)len, equals);
    return true;
}

bool models_minds(const char *agents, struct models *m, struct err *err)
{
    static const char *const presets[] = {"rules", "llm", "single", NULL};
    size_t n = 0;

    memset(m->asked, 0, sizeof(m->asked));
    m->rules_first = false;
    for (const char *at = agents;; at++) {
        size_t len = strcspn(at, ",");
        switch (n++ == 0 ? index_of(at, len, presets) : -1) {
        case 0:
            break;
        case 1: /* the profiler's rules read counters as well as anybody; a round costs two calls */
            m->asked[FOR_TESTER] = m->asked[FOR_PLANNER] = m->asked[FOR_CODER] = m->rules_first = true;
            break;
        case 2:
            m->asked[FOR_SINGLE] = true;
            break;
        default:
            if (!mind_of_role(at, len, m, err))
                return false;
        }
        at += len;
        if (!*at)
            break;
    }
    if (m->asked[FOR_SINGLE] && n > 1)
        return err_input(err, "--agents single is one agent for everything: no roles beside it");
    return true;
}

static bool set_number(const char *key, const char *value, enum kind kind, double *v, struct err *err)
{
    char *end;

    *v = strtod(value, &end);
    if (end == value || *end || !isfinite(*v) || *v < 0 || (*v == 0 && kind != NUMBER0))
        return err_input(err, "%s: a number %s 0 is wanted, not '%s'", key, kind == NUMBER0 ? "from" : "above",
                         value);
    if (kind == COUNT && (*v != floor(*v) || *v > INT_MAX))
        return err_input(err, "%s: a whole number from 1 up is wanted, not '%s'", key, value);
    return true;
}

static bool set_field(struct llm_config *c, const struct field *f, const char *value, struct err *err)
{
    void *to = (char *)c + f->at;
    double v;

    switch (f->kind) {
    case TEXT:
    case PATH:
        if (!*value)
            return err_input(err, "%s: is empty", f->name);
        *(const char **)to = value;
        return true;
    case FLAG:
        if (!str_eq(value, "true") && !str_eq(value, "false"))
            return err_input(err, "%s: true or false is wanted, not '%s'", f->name, value);
        *(bool *)to = str_eq(value, "true");
        return true;
    case COUNT:
        if (!set_number(f->name, value, f->kind, &v, err))
            return false;
        *(int *)to = (int)v;
        return true;
    case NUMBER:
    case NUMBER0:
        if (!set_number(f->name, value, f->kind, &v, err))
            return false;
        *(double *)to = v > 0 ? v : -1; /* 0 would be the provider's default */
        return true;
    }
    BUG("field kind %d", f->kind);
}

static bool set_for_run(struct models *m, int key, const char *value, struct err *err)
{
    double v = 0;

    if (key == 0) {
        m->prices = value;
        return true;
    }
    if (!set_number(run_keys[key], value, key == 1 ? NUMBER : COUNT, &v, err))
        return false;
    if (key == 1)
        m->budget_usd = v;
    else if (key == 2)
        m->budget_tokens = (int64_t)v;
    else
        *(key == 3 ? &m->width : &m->strategies) = (int)v;
    return true;
}

bool models_set(struct models *m, enum models_role role, const char *key, const char *value, struct err *err)
{
    const char *names[ARRAY_LEN(fields) + ARRAY_LEN(run_keys)];
    struct str known = {0};
    const char *near;
    size_t n = 0;
    int at = index_of(key, strlen(key), run_keys);

    if (at >= 0 && role == N_MODEL_ROLES)
        return set_for_run(m, at, value, err);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (!str_eq(fields[i].name, key)) {
            names[n++] = fields[i].name;
            str_addf(&known, "%s%s", i ? ", " : "", fields[i].name);
            continue;
        }
        str_free(&known);
        for (int r = 0; r < N_MODEL_ROLES; r++)
            if ((role == N_MODEL_ROLES || role == (enum models_role)r) &&
                !set_field(&m->config[r], &fields[i], value, err))
                return false;
        return true;
    }
    for (size_t i = 0; role == N_MODEL_ROLES && run_keys[i]; i++) {
        names[n++] = run_keys[i];
        str_addf(&known, ", %s", run_keys[i]);
    }
    names[n] = NULL;
    near = str_nearest(key, names);
    if (str_eq(key, "key") || str_eq(key, "api_key"))
        err_input(err, "a key is never written here: key_env names the variable that holds it, key_file a file "
                       "that nobody else can read");
    else if (near)
        err_input(err, "unknown key %s: did you mean %s? (known: %s)", key, near, str_text(&known));
    else
        err_input(err, "unknown key %s (known: %s)", key, str_text(&known));
    str_free(&known);
    return false;
}

static bool read_map(struct models *m, struct arena *a, const char *path, const struct yaml_node *map,
                     enum models_role role, struct err *err)
{
    char *dir = fs_dirname(a, fs_absolute(a, path));

    for (size_t i = 0; i < map->n; i++) {
        const struct yaml_node *at = map->key_nodes[i], *item = map->items[i];
        const char *value = item->text;
        struct err e = {0};
        if (role == N_MODEL_ROLES && str_eq(map->keys[i], "roles"))
            continue;
        if (item->kind == YAML_TEXT && models_is_path(map->keys[i]))
            value = fs_join(a, dir, item->text);
        if (!models_set(m, role, map->keys[i], item->kind == YAML_TEXT ? value : "", &e)) {
            if (item->kind != YAML_TEXT && !str_starts(e.text, "unknown key"))
                return err_at(err, path, item->line, item->col, "%s: one value is wanted", map->keys[i]);
            return str_starts(e.text, "unknown key") ? err_at(err, path, at->line, at->col, "%s", e.text)
                                                     : err_at(err, path, item->line, item->col, "%s", e.text);
        }
    }
    return true;
}

bool models_read(struct models *m, struct arena *a, const char *path, struct err *err)
{
    const struct yaml_node *root, *roles;
    char *text;
    size_t len;

    if (!fs_read(a, path, &text, &len, err) || !yaml_parse(a, path, text, len, &root, err))
        return false;
    if (root->kind != YAML_MAP)
        return err_at(err, path, root->line, root->col, "a mapping is wanted: key: value");
    if (!read_map(m, a, path, root, N_MODEL_ROLES, err))
        return false;
    roles = yaml_get(root, "roles");
    if (!roles)
        return true;
    if (roles->kind != YAML_MAP)
        return err_at(err, path, roles->line, roles->col, "roles: a mapping is wanted: ROLE: {key: value}");
    for (size_t i = 0; i < roles->n; i++) {
        int role = index_of(roles->keys[i], strlen(roles->keys[i]), role_names);
        if (role < 0)
            return err_at(err, path, roles->key_nodes[i]->line, roles->key_nodes[i]->col,
                          "unknown role %s (known: tester, profiler, planner, coder, single)", roles->keys[i]);
        if (roles->items[i]->kind != YAML_MAP)
            return err_at(err, path, roles->items[i]->line, roles->items[i]->col,
                          "roles: %s: a mapping is wanted: {key: value}", roles->keys[i]);
        if (!read_map(m, a, path, roles->items[i], (enum models_role)role, err))
            return false;
    }
    return true;
}

bool models_check(const struct models *m, struct err *err)
{
    if (!llm_prices_load(m->prices, err))
        return false;
    for (int i = 0; i < N_MODEL_ROLES; i++) {
        const struct llm_config *c = &m->config[i];
        struct llm_price price;
        struct str known = {0};
        size_t n;
        if (!m->asked[i])
            continue;
        if (!c->provider) {
            const char *const *names = llm_providers(&n);
            for (size_t k = 0; k < n; k++)
                str_addf(&known, "%s%s", k ? ", " : "", names[k]);
            err_input(err,
                      "the %s needs a model: say --provider NAME (%s) and --model NAME, or write them in "
                      "astra.yaml; docs/models.md has examples",
                      role_names[i], str_text(&known));
            str_free(&known);
            return false;
        }
        if (c->proxy && strchr(c->proxy, '@'))
            return err_input(err,
                             "the %s's proxy: a password does not belong here, since a run keeps its options; "
                             "https_proxy in the environment may hold one",
                             role_names[i]);
        if (!llm_config_check(c, err))
            return err_context(err, "the %s's model", role_names[i]);
        if (m->budget_usd > 0 && !str_eq(c->provider, "replay") &&
            (!c->model || !llm_price_find(c->model, &price)))
            return err_input(err,
                             "--budget-usd cannot be kept: no price is known for the %s's model %s; give its "
                             "price with --prices FILE, or use --budget-tokens",
                             role_names[i], c->model ? c->model : "(none named)");
    }
    return true;
}

bool models_same(const struct llm_config *a, const struct llm_config *b)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const void *x = (const char *)a + fields[i].at, *y = (const char *)b + fields[i].at;
        double u, v;
        switch (fields[i].kind) {
        case TEXT:
        case PATH:
            if (!str_eq(*(const char *const *)x, *(const char *const *)y))
                return false;
            break;
        case FLAG:
            if (*(const bool *)x != *(const bool *)y)
                return false;
            break;
        case COUNT:
            if (*(const int *)x != *(const int *)y)
                return false;
            break;
        case NUMBER:
        case NUMBER0:
            u = *(const double *)x;
            v = *(const double *)y;
            if (u != v && !(isnan(u) && isnan(v)))
                return false;
            break;
        }
    }
    return true;
}

json_t *models_to_json(const struct models *m)
{
    json_t *o = json_object(), *roles = json_object();

    for (int r = 0; r < N_MODEL_ROLES; r++) {
        json_t *c;
        if (!m->asked[r])
            continue;
        c = json_object();
        for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
            const void *from = (const char *)&m->config[r] + fields[i].at;
            switch (fields[i].kind) {
            case TEXT:
            case PATH:
                if (*(const char *const *)from)
                    json_put_text(c, fields[i].name, *(const char *const *)from);
                break;
            case FLAG:
                json_put_flag(c, fields[i].name, *(const bool *)from);
                break;
            case COUNT:
                json_put_int(c, fields[i].name, *(const int *)from);
                break;
            case NUMBER:
            case NUMBER0:
                json_put_num(c, fields[i].name, *(const double *)from);
                break;
            }
        }
        json_put(roles, role_names[r], c);
    }
    json_put(o, "roles", roles);
    json_put_flag(o, "rules_first", m->rules_first);
    json_put_text(o, "prices", m->prices);
    json_put_num(o, "budget_usd", m->budget_usd);
    json_put_int(o, "budget_tokens", m->budget_tokens);
    json_put_int(o, "width", m->width);
    json_put_int(o, "strategies", m->strategies);
    return o;
}

bool models_from_json(const json_t *o, struct arena *a, struct models *m, struct err *err)
{
    const json_t *roles = json_object_get(o, "roles");

    *m = (struct models){.rules_first = json_flag(o, "rules_first", false),
                         .prices = arena_strdup(a, json_text(o, "prices", NULL)),
                         .budget_usd = json_num(o, "budget_usd"),
                         .budget_tokens = json_int(o, "budget_tokens", 0),
                         .width = (int)json_int(o, "width", 1),
                         .strategies = (int)json_int(o, "strategies", 1)};
    for (int r = 0; r < N_MODEL_ROLES; r++) {
        const json_t *c = json_object_get(roles, role_names[r]);
        m->config[r].temperature = NAN;
        m->asked[r] = c != NULL;
        for (size_t i = 0; c && i < ARRAY_LEN(fields); i++) {
            void *to = (char *)&m->config[r] + fields[i].at;
            switch (fields[i].kind) {
            case TEXT:
            case PATH:
                *(const char **)to = arena_strdup(a, json_text(c, fields[i].name, NULL));
                break;
            case FLAG:
                *(bool *)to = json_flag(c, fields[i].name, false);
                break;
            case COUNT:
                *(int *)to = (int)json_int(c, fields[i].name, 0);
                break;
            case NUMBER:
            case NUMBER0:
                *(double *)to = json_num(c, fields[i].name);
                break;
            }
        }
    }
    return m->width > 0 ||
           err_world(err, "the run's options are not readable; it was written by another version");
}
