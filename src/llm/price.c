/* Prices of models: share/prices.yaml or the user's own file in the same form. */
#include "llm/internal.h"

#include <ctype.h>

struct entry {
    char *model;
    struct llm_price price;
};

static struct {
    VEC(struct entry) entries;
    struct arena *arena;
} table;

static void table_free(void)
{
    vec_free(&table.entries);
    arena_close(table.arena);
    table.arena = NULL;
}

static bool number(const struct yaml_node *n, double *v)
{
    char *end = NULL;

    *v = n->kind == YAML_TEXT && !n->quoted ? strtod(n->text, &end) : NAN;
    return end && end > n->text && !*end && *v >= 0 && *v < 1e6;
}

static bool fail(const char *name, const struct yaml_node *at, struct err *err, const char *what)
{
    return err_at(err, name, at->line, at->col, "%s", what);
}

#define PRICE(member) MEMBER(struct llm_price, member)

static const struct member price_members[] = {
    PRICE(input), PRICE(cached), PRICE(cache_written), PRICE(output), {0}};

static bool model_read(const char *model, const struct yaml_node *at, const struct yaml_node *v,
                       const char *name, const char *date, struct err *err)
{
    struct entry e = {.price = {NAN, NAN, NAN, date, NAN}};

    e.model = arena_strdup(table.arena, model);
    if (v->kind != YAML_MAP)
        return fail(name, v, err,
                    "a model is NAME: {input: USD, cached: USD, output: USD} for a million tokens");
    for (size_t i = 0; i < v->n; i++) {
        const char *what = v->keys[i];
        const struct member *m = member_find(price_members, what);
        if (str_eq(what, "date") && v->items[i]->kind == YAML_TEXT)
            e.price.date = v->items[i]->text;
        else if (!m)
            return fail(name, v->key_nodes[i], err,
                        "a price is one of input, cached, cache_written, output, and may have a date");
        else if (!number(v->items[i], (double *)((char *)&e.price + m->at)))
            return fail(name, v->items[i], err, "a price is a number of USD for a million tokens");
    }
    if (isnan(e.price.input) || isnan(e.price.output))
        return fail(name, at, err, "a model needs the prices of its input and its output");
    if (isnan(e.price.cached))
        e.price.cached = e.price.input;
    if (isnan(e.price.cache_written))
        e.price.cache_written = e.price.input;
    vec_push(&table.entries, e);
    return true;
}

static bool table_read(const char *text, size_t n, const char *name, struct err *err)
{
    const struct yaml_node *root, *models, *date;

    if (!yaml_parse(table.arena, name, text, n, &root, err))
        return false;
    models = root && root->kind == YAML_MAP ? yaml_get(root, "models") : NULL;
    date = models ? yaml_get(root, "date") : NULL;
    if (!date || date->kind != YAML_TEXT || models->kind != YAML_MAP || root->n != 2)
        return err_at(err, name, 1, 1, "prices are {date: ..., models: {NAME: {...}, ...}}");
    for (size_t i = 0; i < models->n; i++)
        if (!model_read(models->keys[i], models->key_nodes[i], models->items[i], name, date->text, err))
            return false;
    return true;
}

bool llm_prices_load(const char *path, struct err *err)
{
    static bool registered;
    const struct share_file *own = share_find("prices.yaml");
    char *text;
    size_t n;
    bool ok;

    BUG_IF(!own);
    if (!registered)
        atexit(table_free);
    registered = true;
    table_free();
    table.arena = arena_open();
    /* The user's come first, and so are found first. */
    ok = !path || (fs_read(table.arena, path, &text, &n, err) && table_read(text, n, path, err));
    ok = ok && table_read(own->text, own->len, "prices.yaml", err);
    if (!ok)
        table_free();
    return ok;
}

/* What follows a model's name when it is the same model: "-2024-08-06", "-20250929", "-latest", "@...". */
static bool is_same_model(const char *rest)
{
    size_t digits = 0;

    if (!*rest || str_eq(rest, "-latest") || *rest == '@')
        return true;
    if (*rest++ != '-')
        return false;
    for (; *rest; rest++) {
        if (!isdigit((unsigned char)*rest) && *rest != '-')
            return false;
        digits += *rest != '-';
    }
    return digits == 8;
}

static const struct entry *find(const char *model)
{
    for (size_t i = 0; i < table.entries.n; i++)
        if (str_starts(model, table.entries.v[i].model) &&
            is_same_model(model + strlen(table.entries.v[i].model)))
            return &table.entries.v[i];
    return NULL;
}

bool llm_price_find(const char *model, struct llm_price *p)
{
    const struct entry *e;
    const char *slash;
    struct err err;

    if (!table.arena && !llm_prices_load(NULL, &err))
        BUG("the built-in prices: %s", err.text);
    e = find(model);
    slash = e ? NULL : strrchr(model, '/'); /* gateways put a provider before the name */
    if (slash)
        e = find(slash + 1);
    if (e)
        *p = e->price;
    return e;
}

double price_of(const char *model, const struct llm_usage *u)
{
    struct llm_price p;
    int64_t cached = MAX(u->cached, 0), written = MAX(u->cache_written, 0);

    if (u->input < 0 || u->output < 0 || !llm_price_find(model, &p))
        return NAN;
    return ((double)MAX(u->input - cached - written, 0) * p.input + (double)cached * p.cached +
            (double)written * p.cache_written + (double)u->output * p.output) *
           1e-6;
}
