/* --workers FILE, read strictly: a key that is silently ignored is a worker that silently is something else. */
#include "worker.h"

enum { MOST = 4096, MOST_ARCHIVE = 512 << 20 };

struct reader {
    struct arena *arena;
    const char *path;
    struct err *err;
    const struct fleet_archive *send; /* for those that name none of their own */
    VEC(struct fleet_node) nodes;
};

static bool fail(const struct reader *r, const struct yaml_node *at, const char *words, const char *what)
{
    return err_at(r->err, r->path, at->line, at->col, "%s%s", words, what);
}

static bool known_keys(const struct reader *r, const struct yaml_node *map, const char *const *keys)
{
    for (size_t i = 0; i < map->n; i++) {
        size_t k = 0;
        while (keys[k] && !str_eq(keys[k], map->keys[i]))
            k++;
        const char *near = keys[k] ? NULL : str_nearest(map->keys[i], keys);
        if (!keys[k])
            return err_at(r->err, r->path, map->key_nodes[i]->line, map->key_nodes[i]->col,
                          "unknown key %s%s%s; docs/campaign.md has them all", map->keys[i],
                          near ? ": did you mean " : "", near ? near : "");
    }
    return true;
}

static bool read_number(const struct reader *r, const struct yaml_node *at, double least, double most,
                        double *to)
{
    char *end;
    double v = at->kind == YAML_TEXT ? strtod(at->text, &end) : NAN;

    if (!(v >= least && v <= most) || *end || end == at->text)
        return err_at(r->err, r->path, at->line, at->col, "a number from %g to %g is wanted here", least, most);
    *to = v;
    return true;
}

static bool read_flag(const struct reader *r, const struct yaml_node *at, bool *to)
{
    if (at->kind != YAML_TEXT || (!str_eq(at->text, "true") && !str_eq(at->text, "false")))
        return fail(r, at, "true or false is wanted here", "");
    *to = str_eq(at->text, "true");
    return true;
}

static bool read_command(const struct reader *r, const struct yaml_node *at, struct fleet_node *node)
{
    const char **argv = arena_array(r->arena, const char *, at->n + 1);

    if (at->kind != YAML_LIST || at->n == 0)
        return fail(r, at, "command: a list of words is wanted, run as they are without a shell, ",
                    "such as [ssh, gpu1, /opt/astra/bin/astra, node]");
    for (size_t i = 0; i < at->n; i++) {
        if (at->items[i]->kind != YAML_TEXT || (i == 0 && !*at->items[i]->text))
            return fail(r, at->items[i], "command: each of its items is a word", "");
        argv[i] = at->items[i]->text;
    }
    node->argv = argv;
    return true;
}

static bool read_roles(const struct reader *r, const struct yaml_node *at, struct fleet_node *node)
{
    if (at->kind != YAML_LIST || at->n == 0)
        return fail(r, at, "roles: a list of simulate and measure is wanted", "");
    for (size_t i = 0; i < at->n; i++) {
        bool text = at->items[i]->kind == YAML_TEXT;
        if (text && str_eq(at->items[i]->text, "measure"))
            node->measures = true;
        else if (!text || !str_eq(at->items[i]->text, "simulate"))
            return fail(r, at->items[i], "roles: there are simulate (any core) and measure (a GPU)", "");
    }
    return true;
}

static bool read_device(const struct reader *r, const struct yaml_node *at, struct fleet_node *node)
{
    const char *number = at->kind == YAML_TEXT && str_starts(at->text, "cuda:") ? at->text + 5 : "";

    if (!*number || strspn(number, "0123456789") != strlen(number) || strlen(number) > 3)
        return fail(r, at, "device: one GPU is wanted, as the worker's machine numbers them: cuda:0", "");
    node->device = at->text;
    return true;
}

/* An archive of `make dist`, looked for beside the file of workers. */
static bool read_send(const struct reader *r, const struct yaml_node *at, const struct fleet_archive **to)
{
    struct fleet_archive *p = arena_new(r->arena, struct fleet_archive);
    char *bytes;

    if (at->kind != YAML_TEXT || !*at->text)
        return fail(r, at, "send: the archive that `make dist` makes is wanted here", "");
    if (!fs_read(r->arena, fs_join(r->arena, fs_dirname(r->arena, fs_absolute(r->arena, r->path)), at->text),
                 &bytes, &p->len, NULL))
        return fail(r, at, "send: there is no file to read at ", at->text);
    if (p->len < 20 || p->len > MOST_ARCHIVE || memcmp(bytes, "\x1f\x8b", 2) != 0)
        return fail(r, at, at->text, ": a .tar.gz of at most 512 MB is wanted, as `make dist` makes it");
    p->bytes = bytes;
    hash_sha256_hex(bytes, p->len, p->hash);
    *to = p;
    return true;
}

static bool read_node(struct reader *r, const struct yaml_node *map)
{
    static const char *const keys[] = {"name", "command", "count", "roles", "device", "trusted", "send", NULL};
    struct fleet_node node = {.device = "cuda:0", .send = r->send};
    const struct yaml_node *at;
    double count = 1;

    if (map->kind != YAML_MAP)
        return fail(r, map, "a worker is a mapping with a command", "");
    if (!known_keys(r, map, keys))
        return false;
    if (!(at = yaml_get(map, "command")))
        return fail(r, map, "command: is missing", "");
    if (!read_command(r, at, &node))
        return false;
    at = yaml_get(map, "name");
    if (at && (at->kind != YAML_TEXT || !*at->text))
        return fail(r, at, "name: a word is wanted", "");
    node.name = at ? at->text : arena_printf(r->arena, "worker %zu", r->nodes.n + 1);
    if (((at = yaml_get(map, "count")) && !read_number(r, at, 1, MOST, &count)) ||
        ((at = yaml_get(map, "roles")) && !read_roles(r, at, &node)) ||
        ((at = yaml_get(map, "device")) && !read_device(r, at, &node)) ||
        ((at = yaml_get(map, "trusted")) && !read_flag(r, at, &node.trusted)) ||
        ((at = yaml_get(map, "send")) && !read_send(r, at, &node.send)))
        return false;
    if (yaml_get(map, "device") && !node.measures)
        return fail(r, yaml_get(map, "device"), "device: is of a worker with the role measure", "");
    if ((double)r->nodes.n + count > MOST)
        return fail(r, map, "more than 4096 workers", "");
    const char *name = node.name;
    for (int i = 1; i <= (int)count; i++) {
        if (count > 1)
            node.name = arena_printf(r->arena, "%s/%d", name, i);
        vec_add(r->arena, &r->nodes, node);
    }
    return true;
}

bool fleet_read(struct fleet **out, struct arena *a, const char *path, struct err *err)
{
    static const char *const keys[] = {"workers", "start_s", "silence_s", "send", NULL};
    struct reader r = {.arena = a, .path = path, .err = err};
    struct fleet *f = arena_new(a, struct fleet);
    const struct yaml_node *root, *list, *at;
    char *text;
    size_t len;

    *f = (struct fleet){.path = path, .start_s = 60, .silence_s = 60};
    if (!fs_read(a, path, &text, &len, err)) {
        if (err)
            err->kind = ERR_INPUT;
        return err_context(err, "--workers");
    }
    if (!yaml_parse(a, path, text, len, &root, err))
        return false;
    if (root->kind != YAML_MAP || !(list = yaml_get(root, "workers")) || list->kind != YAML_LIST ||
        list->n == 0)
        return fail(&r, root,
                    "a list `workers:` is wanted, each with a command; docs/campaign.md has an example", "");
    if (!known_keys(&r, root, keys) ||
        ((at = yaml_get(root, "start_s")) && !read_number(&r, at, 1, 1e6, &f->start_s)) ||
        ((at = yaml_get(root, "send")) && !read_send(&r, at, &r.send)) ||
        ((at = yaml_get(root, "silence_s")) && !read_number(&r, at, 3, 1e6, &f->silence_s)))
        return false;
    for (size_t i = 0; i < list->n; i++)
        if (!read_node(&r, list->items[i]))
            return false;
    f->nodes = r.nodes.v;
    f->n = r.nodes.n;
    *out = f;
    return true;
}

bool fleet_measures(const struct fleet *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->nodes[i].measures)
            return true;
    return false;
}
