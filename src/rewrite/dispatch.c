/* dispatch: no transform of its own but what ends a quarrel between two versions: one file in which the
 * launcher takes the original where a condition over its parameters says so, and the new version elsewhere.
 * What both share is written once; what of the original was changed stands beside it under a name with
 * _original. */
#include "rewrite/analysis.h"

#include <ctype.h>

struct item { /* at the top of the file */
    struct node node;
    char *name; /* NULL: it has none (includes, comments) */
    char *text;
    bool copied;
};

struct items {
    struct arena *a;
    VEC(struct item) list;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static struct node first_of(struct arena *a, struct node n, enum node_kind kind)
{
    size_t count;
    struct node *all = node_find_all(a, n, kind, &count);

    return count ? all[0] : (struct node){0};
}

static char *name_of(struct arena *a, const struct source *s, struct node n)
{
    struct node id = {0};

    if (node_is(n, NODE_TEMPLATE_DECLARATION) || node_is(n, NODE_LINKAGE_SPECIFICATION)) {
        for (uint32_t i = node_count(n); i-- > 0;)
            if (!node_is(node_child(n, i), NODE_COMMENT))
                return name_of(a, s, node_child(n, i));
        return NULL;
    }
    if (node_is(n, NODE_FUNCTION_DEFINITION)) {
        id = node_field(first_of(a, n, NODE_FUNCTION_DECLARATOR), FIELD_DECLARATOR);
    } else if (node_is(n, NODE_DECLARATION)) {
        id = node_field(n, FIELD_DECLARATOR);
        while (node_ok(id) && node_ok(node_field(id, FIELD_DECLARATOR)))
            id = node_field(id, FIELD_DECLARATOR);
    } else {
        id = node_field(n, FIELD_NAME);
    }
    return node_ok(id) ? node_text(a, s, id) : NULL;
}

static void read_items(struct items *items, const struct kernel *k)
{
    struct node root = source_root(k->source);

    for (uint32_t i = 0; i < node_count(root); i++) {
        struct node n = node_child(root, i);
        if (node_is(n, NODE_COMMENT))
            continue;
        struct item item = {
            .node = n, .name = name_of(items->a, k->source, n), .text = node_text(items->a, k->source, n)};
        vec_add(items->a, &items->list, item);
    }
}

static const struct item *find_item(const struct items *items, const char *name)
{
    for (size_t i = 0; i < items->list.n; i++)
        if (str_eq(items->list.v[i].name, name))
            return &items->list.v[i];
    return NULL;
}

/* Which of the original's items must be copied: the ones that the version lacks or has otherwise, and those
 * that name one of them. */
static void mark_copies(struct items *original, const struct items *version)
{
    struct arena *a = original->a;
    bool more = true;

    for (size_t i = 0; i < original->list.n; i++) {
        struct item *o = &original->list.v[i];
        const struct item *v = o->name ? find_item(version, o->name) : NULL;
        o->copied = o->name && (!v || strcmp(text_compact(a, o->text), text_compact(a, v->text)) != 0);
    }
    while (more) {
        more = false;
        for (size_t i = 0; i < original->list.n; i++)
            for (size_t k = 0; k < original->list.n && !original->list.v[i].copied; k++)
                if (original->list.v[i].name && original->list.v[k].copied &&
                    str_has_word(original->list.v[i].text, original->list.v[k].name))
                    original->list.v[i].copied = more = true;
    }
}

/* The text with the copied items' names renamed, outside of comments and strings. */
static char *renamed(const struct items *items, const char *text)
{
    struct str out = {0};
    char *result;

    for (const char *p = text; *p;) {
        const char *end = p + 1;
        if (p[0] == '/' && p[1] == '/') {
            end = p + strcspn(p, "\n");
        } else if (*p == '"') {
            while (*end && *end != '"')
                end += *end == '\\' && end[1] ? 2 : 1;
            end += *end == '"';
        } else if (is_word(*p)) {
            while (is_word(*end))
                end++;
            str_addn(&out, p, (size_t)(end - p));
            for (size_t i = 0; i < items->list.n && !isdigit((unsigned char)*p); i++) {
                const struct item *it = &items->list.v[i];
                if (it->copied && strlen(it->name) == (size_t)(end - p) &&
                    memcmp(it->name, p, (size_t)(end - p)) == 0) {
                    str_add(&out, "_original");
                    break;
                }
            }
            p = end;
            continue;
        }
        str_addn(&out, p, (size_t)(end - p));
        p = end;
    }
    result = str_take(&out, items->a);
    return result;
}

static struct node top_of(struct node n)
{
    while (node_ok(node_parent(n)) && !node_is(node_parent(n), NODE_TRANSLATION_UNIT))
        n = node_parent(n);
    return n;
}

static bool parameter_names(struct arena *a, const struct kernel *k, struct str *names)
{
    struct node list = node_field(first_of(a, k->launcher, NODE_FUNCTION_DECLARATOR), FIELD_PARAMETERS);

    for (uint32_t i = 0; i < node_count(list); i++) {
        struct node p = node_child(list, i), id = node_field(p, FIELD_DECLARATOR);
        if (!node_is(p, NODE_PARAMETER_DECLARATION))
            continue;
        while (node_ok(id) && !node_is(id, NODE_IDENTIFIER))
            id = node_ok(node_field(id, FIELD_DECLARATOR)) ? node_field(id, FIELD_DECLARATOR)
                                                           : node_child(id, node_count(id) - 1);
        if (!node_ok(id))
            return false;
        str_addf(names, "%s%s", names->len ? ", " : "", node_text(a, k->source, id));
    }
    return names->len > 0;
}

bool transform_dispatch(struct arena *a, const struct kernel *original, const struct kernel *version,
                        const char *condition, const char *comment, char **text, struct err *why_not)
{
    struct items ours = {.a = a}, theirs = {.a = a};
    struct str copies = {0}, names = {0};
    struct node body = node_field(version->launcher, FIELD_BODY);
    size_t open, top;
    bool ok = true;

    if (strstr(version->text, "_original("))
        return err_input(why_not, "the version has an original beside it already");
    if (!node_text_is(original->source, node_field(original->launcher, FIELD_TYPE), "void"))
        return err_input(why_not, "the launcher does not return void");
    if (!node_ok(body) || !parameter_names(a, version, &names))
        return err_input(why_not, "the launcher's parameters are not all named");
    read_items(&ours, original);
    read_items(&theirs, version);
    mark_copies(&ours, &theirs);
    for (size_t i = 0; ok && i < ours.list.n; i++) {
        const struct item *it = &ours.list.v[i];
        if (!it->copied || str_eq(it->name, original->entry))
            continue;
        if (node_is(it->node, NODE_PREPROC_IF) || node_is(it->node, NODE_PREPROC_IFDEF) ||
            node_is(it->node, NODE_NAMESPACE_DEFINITION))
            ok = err_input(why_not, "%s differs in the two versions and cannot be renamed", it->name);
        char *copy = renamed(&ours, it->text);
        bool closed = str_ends(copy, "}") && (node_is(it->node, NODE_FUNCTION_DEFINITION) ||
                                              node_is(it->node, NODE_TEMPLATE_DECLARATION));
        str_addf(&copies, "%s%s%s\n", copy, closed || str_ends(copy, ";") || str_starts(copy, "#") ? "" : ";",
                 str_starts(copy, "#") || !closed ? "" : "\n");
    }
    if (ok) {
        struct edits edits = {.arena = a};
        for (size_t i = 0; i < ours.list.n; i++)
            ours.list.v[i].copied = ours.list.v[i].copied || str_eq(ours.list.v[i].name, original->entry);
        top = node_start(top_of(version->launcher));
        open = node_start(body) + 1;
        edits_insert(&edits, top,
                     arena_printf(a, "// As it was before.\n%sstatic %s\n\n", str_text(&copies),
                                  renamed(&ours, node_text(a, original->source, original->launcher))));
        edits_insert(
            &edits, open,
            arena_printf(a, "\n    // %s\n    if (%s) {\n        %s_original(%s);\n        return;\n    }",
                         comment, condition, original->entry, str_text(&names)));
        *text = edits_apply(&edits, a, version->text, version->len);
    }
    str_free(&copies);
    str_free(&names);
    return ok;
}
