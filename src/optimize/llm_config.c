/* Which backend, which model. The members of a configuration stand in one list, which the flags, astra.yaml and
 * the stored options read. */
#include "llm_config.h"

#include <limits.h>

static const char *const role_names[] = {
    [FOR_TESTER] = "tester", [FOR_PROFILER] = "profiler", [FOR_PLANNER] = "planner",
    [FOR_CODER] = "coder",   [FOR_SINGLE] = "single",     [N_MODEL_ROLES] = NULL};

#define CONFIG(member)             MEMBER(struct llm_config, member)
#define CONFIG_NAMED(name, member) MEMBER_NAMED(name, struct llm_config, member, MEMBER_TEXT_OR_NULL)
#define RUN(member)                MEMBER(struct models, member)

static const struct member config_members[] = {CONFIG(provider),
                                               CONFIG(model),
                                               CONFIG(base_url),
                                               CONFIG(key_env),
                                               CONFIG(key_file),
                                               CONFIG(command),
                                               CONFIG(effort),
                                               CONFIG(max_output_tokens),
                                               CONFIG(temperature),
                                               CONFIG(connect_s),
                                               CONFIG(first_byte_s),
                                               CONFIG(silence_s),
                                               CONFIG(max_attempts),
                                               CONFIG(retry_s),
                                               CONFIG(ca_file),
                                               CONFIG(proxy),
                                               CONFIG_NAMED("record", record_dir),
                                               CONFIG_NAMED("replay", replay_dir),
                                               CONFIG(allow_drift),
                                               {0}};

/* Beside these, for the run as a whole. */
static const struct member run_members[] = {RUN(prices), RUN(budget_usd), RUN(budget_tokens),
                                            RUN(width),  RUN(strategies), {0}};

const char *models_role_name(enum models_role role)
{
    return role_names[role];
}

bool models_is_path(const char *key)
{
    static const char *const paths[] = {"key_file", "ca_file", "record", "replay", "prices"};

    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if (str_eq(paths[i], key))
            return true;
    return false;
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

static bool backend_of_role(const char *word, size_t len, struct models *m, struct err *err)
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
    if (role == FOR_PROFILER)
        m->no_profiler = len == 4 && !strncmp(equals, "none", 4);
    if (!m->asked[role] && !(role == FOR_PROFILER && m->no_profiler) &&
        (len != 5 || strncmp(equals, "rules", 5) != 0))
        return err_input(err, "--agents: a %s's backend is rules%s, not '%.*s'", role_names[role],
                         role == FOR_PROFILER ? ", llm or none" : " or llm", (int)len, equals);
    return true;
}

bool models_backends(const char *agents, struct models *m, struct err *err)
{
    static const char *const presets[] = {"rules", "llm", "single", NULL};
    size_t n = 0;

    memset(m->asked, 0, sizeof(m->asked));
    m->rules_first = m->no_profiler = false;
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
            if (!backend_of_role(at, len, m, err))
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

static bool set_number(const struct member *m, const char *value, double *v, struct err *err)
{
    char *end;
    bool from_0 = str_eq(m->name, "temperature");

    *v = strtod(value, &end);
    if (end == value || *end || !isfinite(*v) || *v < 0 || (*v == 0 && !from_0))
        return err_input(err, "%s: a number %s 0 is wanted, not '%s'", m->name, from_0 ? "from" : "above",
                         value);
    if (m->kind != MEMBER_NUMBER && (*v != floor(*v) || *v > INT_MAX))
        return err_input(err, "%s: a whole number from 1 up is wanted, not '%s'", m->name, value);
    return true;
}

static bool set_member(const struct member *m, void *to, const char *value, struct err *err)
{
    void *p = (char *)to + m->at;
    double v;

    switch (m->kind) {
    case MEMBER_TEXT_OR_NULL:
        *(const char **)p = value;
        return *value || err_input(err, "%s: is empty", m->name);
    case MEMBER_FLAG:
        *(bool *)p = str_eq(value, "true");
        return *(bool *)p || str_eq(value, "false") ||
               err_input(err, "%s: true or false is wanted, not '%s'", m->name, value);
    case MEMBER_NUMBER:
        if (!set_number(m, value, &v, err))
            return false;
        *(double *)p = v > 0 ? v : -1; /* 0 would be the provider's default */
        return true;
    default:
        if (!set_number(m, value, &v, err))
            return false;
        member_set_whole(m, to, (int64_t)v);
        return true;
    }
}

static bool unknown_key(const char *key, bool of_run, struct err *err)
{
    const struct member *lists[] = {config_members, run_members};
    const char *names[ARRAY_LEN(config_members) + ARRAY_LEN(run_members)], *near;
    struct str known = {0};
    size_t n = 0;

    for (size_t k = 0; k < (of_run ? 2 : 1); k++)
        for (const struct member *m = lists[k]; m->name; m++) {
            str_addf(&known, "%s%s", n ? ", " : "", m->name);
            names[n++] = m->name;
        }
    names[n] = NULL;
    near = str_nearest(key, names);
    if (str_eq(key, "key") || str_eq(key, "api_key"))
        err_input(err, "a key is never written here: key_env names the variable that holds it, key_file a file "
                       "that nobody else can read");
    else
        err_input(err, "unknown key %s%s%s%s (known: %s)", key, near ? ": did you mean " : "", near ? near : "",
                  near ? "?" : "", known.s);
    str_free(&known);
    return false;
}

static bool is_key(const char *key, enum models_role role)
{
    return member_find(config_members, key) || (role == N_MODEL_ROLES && member_find(run_members, key));
}

bool models_set(struct models *m, enum models_role role, const char *key, const char *value, struct err *err)
{
    const struct member *of_config = member_find(config_members, key);

    if (!is_key(key, role))
        return unknown_key(key, role == N_MODEL_ROLES, err);
    if (!of_config)
        return set_member(member_find(run_members, key), m, value, err);
    for (int r = 0; r < N_MODEL_ROLES; r++)
        if ((role == N_MODEL_ROLES || role == (enum models_role)r) &&
            !set_member(of_config, &m->config[r], value, err))
            return false;
    return true;
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
        if (!is_key(map->keys[i], role))
            return models_set(m, role, map->keys[i], "", &e) ||
                   err_at(err, path, at->line, at->col, "%s", e.text);
        if (item->kind != YAML_TEXT)
            return err_at(err, path, item->line, item->col, "%s: one value is wanted", map->keys[i]);
        if (!models_set(m, role, map->keys[i], value, &e))
            return err_at(err, path, item->line, item->col, "%s", e.text);
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
    return members_equal(config_members, a, b);
}

json_t *models_to_json(const struct models *m)
{
    json_t *o = json_of_members(run_members, m), *roles = json_object();

    for (int r = 0; r < N_MODEL_ROLES; r++)
        if (m->asked[r])
            json_put(roles, role_names[r], json_of_members(config_members, &m->config[r]));
    json_put(o, "roles", roles);
    json_put_flag(o, "rules_first", m->rules_first);
    if (m->no_profiler)
        json_put_flag(o, "no_profiler", true);
    return o;
}

bool models_from_json(const json_t *o, struct arena *a, struct models *m, struct err *err)
{
    const json_t *roles = json_object_get(o, "roles");

    *m = models_default();
    m->rules_first = json_flag(o, "rules_first", false);
    m->no_profiler = json_flag(o, "no_profiler", false);
    m->strategies = 1;
    json_get_members(o, run_members, a, m);
    for (int r = 0; r < N_MODEL_ROLES; r++) {
        const json_t *c = json_object_get(roles, role_names[r]);
        m->asked[r] = c != NULL;
        if (c)
            json_get_members(c, config_members, a, &m->config[r]);
    }
    return m->width > 0 ||
           err_world(err, "the run's options are not readable; it was written by another version");
}
