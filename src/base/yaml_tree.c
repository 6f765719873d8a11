/* The one file of this folder that includes libyaml. */
#include "base.h"

#include <yaml.h>

struct reader {
    struct arena *arena;
    const char *path, *text;
    yaml_parser_t parser;
    struct err *err;
    int depth;
};

static bool fail_at(struct reader *r, const yaml_mark_t *m, const char *what)
{
    return err_at(r->err, r->path, (int)m->line + 1, (int)m->column + 1, "%s", what);
}

/* The column of a tab among what a line (counted from 0) is indented with; 0: there is none. */
static int tab_before(const char *text, size_t line)
{
    size_t indent;

    for (; line > 0 && text; line--)
        text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
    if (!text)
        return 0;
    indent = strspn(text, " ");
    return text[indent] == '\t' ? (int)indent + 1 : 0;
}

static bool next(struct reader *r, yaml_event_t *e)
{
    if (yaml_parser_parse(&r->parser, e))
        return true;
    const yaml_parser_t *p = &r->parser;
    yaml_mark_t mark = p->error == YAML_READER_ERROR ? p->mark : p->problem_mark;
    int tab = tab_before(r->text, mark.line);
    if (tab)
        return err_at(r->err, r->path, (int)mark.line + 1, tab,
                      "not valid YAML: a tab, where YAML takes spaces");
    return err_at(r->err, r->path, (int)mark.line + 1, (int)mark.column + 1, "not valid YAML: %s%s%s",
                  p->problem ? p->problem : "unreadable text", p->context ? " " : "",
                  p->context ? p->context : "");
}

static bool read_node(struct reader *r, yaml_event_t *e, const struct yaml_node **out);

static bool read_items(struct reader *r, struct yaml_node *node, yaml_event_type_t end)
{
    VEC(const char *) keys = {0};
    VEC(const struct yaml_node *) key_nodes = {0}, items = {0};
    bool ok = false;
    yaml_event_t e;

    for (;;) {
        const struct yaml_node *key = NULL, *item;
        if (!next(r, &e))
            goto out;
        if (e.type == end) {
            yaml_event_delete(&e);
            break;
        }
        if (node->kind == YAML_MAP) {
            yaml_mark_t mark = e.start_mark;
            if (!read_node(r, &e, &key))
                goto out;
            if (key->kind != YAML_TEXT) {
                fail_at(r, &mark, "a key must be a word");
                goto out;
            }
            for (size_t i = 0; i < keys.n; i++)
                if (!strcmp(keys.v[i], key->text)) {
                    err_at(r->err, r->path, key->line, key->col, "%s is said twice, first on line %d",
                           key->text, key_nodes.v[i]->line);
                    goto out;
                }
            if (!next(r, &e))
                goto out;
        }
        if (!read_node(r, &e, &item))
            goto out;
        if (key) {
            vec_push(&keys, key->text);
            vec_push(&key_nodes, key);
        }
        vec_push(&items, item);
    }
    node->n = items.n;
    node->items = arena_copy(r->arena, items.v, items.n * sizeof(*items.v));
    node->keys = arena_copy(r->arena, keys.v, keys.n * sizeof(*keys.v));
    node->key_nodes = arena_copy(r->arena, key_nodes.v, key_nodes.n * sizeof(*key_nodes.v));
    ok = true;
out:
    vec_free(&keys);
    vec_free(&key_nodes);
    vec_free(&items);
    return ok;
}

/* Takes the event. */
static bool read_node(struct reader *r, yaml_event_t *e, const struct yaml_node **out)
{
    struct yaml_node *node = arena_new(r->arena, struct yaml_node);
    yaml_mark_t mark = e->start_mark;
    const unsigned char *anchor = NULL, *tag = NULL;
    bool ok = true;

    node->line = (int)mark.line + 1;
    node->col = (int)mark.column + 1;
    *out = node;
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        node->kind = YAML_TEXT;
        node->quoted = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        node->text = arena_strndup(r->arena, (const char *)e->data.scalar.value, e->data.scalar.length);
        if (memchr(e->data.scalar.value, 0, e->data.scalar.length))
            ok = fail_at(r, &mark, "a text may not hold a zero byte");
        anchor = e->data.scalar.anchor;
        tag = e->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        node->kind = YAML_LIST;
        anchor = e->data.sequence_start.anchor;
        tag = e->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        node->kind = YAML_MAP;
        anchor = e->data.mapping_start.anchor;
        tag = e->data.mapping_start.tag;
        break;
    case YAML_ALIAS_EVENT:
        ok = fail_at(r, &mark, "aliases (*name) are not used in a task");
        break;
    default:
        ok = fail_at(r, &mark, "something is missing here");
        break;
    }
    if (ok && (anchor || tag))
        ok = fail_at(r, &mark, "anchors (&name) and tags (!name) are not used in a task");
    yaml_event_delete(e);
    if (!ok || node->kind == YAML_TEXT)
        return ok;
    if (++r->depth > 16)
        return fail_at(r, &mark, "nested too deeply");
    ok = read_items(r, node, node->kind == YAML_LIST ? YAML_SEQUENCE_END_EVENT : YAML_MAPPING_END_EVENT);
    r->depth--;
    return ok;
}

static bool read_document(struct reader *r, const struct yaml_node **root)
{
    yaml_event_t e;
    yaml_event_type_t type;

    do { /* stream start, document start */
        if (!next(r, &e))
            return false;
        type = e.type;
        if (type == YAML_STREAM_END_EVENT) {
            yaml_event_delete(&e);
            return err_at(r->err, r->path, 1, 1, "the file is empty");
        }
        if (type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_START_EVENT)
            yaml_event_delete(&e);
    } while (type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_START_EVENT);
    if (!read_node(r, &e, root))
        return false;
    do { /* document end, stream end */
        if (!next(r, &e))
            return false;
        type = e.type;
        yaml_mark_t mark = e.start_mark;
        yaml_event_delete(&e);
        if (type == YAML_DOCUMENT_START_EVENT)
            return fail_at(r, &mark, "a second document: a task is one");
    } while (type != YAML_STREAM_END_EVENT);
    return true;
}

bool yaml_parse(struct arena *a, const char *path, const char *text, size_t len, const struct yaml_node **root,
                struct err *err)
{
    struct reader r = {.arena = a, .path = path, .text = text, .err = err};
    bool ok;

    if (!yaml_parser_initialize(&r.parser))
        return err_world(err, "libyaml could not start");
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    ok = read_document(&r, root);
    yaml_parser_delete(&r.parser);
    return ok;
}

const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key)
{
    for (size_t i = 0; map->kind == YAML_MAP && i < map->n; i++)
        if (!strcmp(map->keys[i], key))
            return map->items[i];
    return NULL;
}
