/* dispatch: no transform of its own but what ends a quarrel between two versions: one file in which the
 * launcher takes the other one (often the original) where a condition over its parameters says so, and the
 * version itself elsewhere. What both share is written once; what the other has otherwise stands beside it
 * under names with a suffix. */
#include "rewrite/analysis.h"

#include <ctype.h>

struct item { /* at the top of the file, or in a namespace without a name or a block of extern "C" there */
    struct node node;
    char *name; /* the first word of it; NULL: it has none (includes, conditions of the preprocessor) */
    char *text;
    bool copied;
    bool member; /* a struct that is copied has members of that name: they are renamed with it */
};

struct items {
    struct arena *a;
    VEC(struct item) list;
};

static struct node first_of(struct arena *a, struct node n, enum node_kind kind)
{
    size_t count;
    struct node *all = node_find_all(a, n, kind, &count);

    return count ? all[0] : (struct node){0};
}

/* Of "Vec<half>" or "Vec::load" the word that stands for all of it: Vec. */
static char *first_word(char *name)
{
    size_t n = str_word(name);

    name[n] = 0;
    return n ? name : NULL;
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
    } else if (node_is(n, NODE_DECLARATION) || node_is(n, NODE_TYPE_DEFINITION)) {
        id = node_field(n, FIELD_DECLARATOR);
        while (node_ok(id) && node_ok(node_field(id, FIELD_DECLARATOR)))
            id = node_field(id, FIELD_DECLARATOR);
    } else {
        id = node_field(n, FIELD_NAME);
    }
    return node_ok(id) ? first_word(node_text(a, s, id)) : NULL;
}

/* What a namespace without a name, or `extern "C" { }`, has within; else no node. */
static struct node inner_of(struct node n)
{
    struct node body = node_field(n, FIELD_BODY);
    bool opens = (node_is(n, NODE_NAMESPACE_DEFINITION) && !node_ok(node_field(n, FIELD_NAME))) ||
                 (node_is(n, NODE_LINKAGE_SPECIFICATION) && node_is(body, NODE_DECLARATION_LIST));

    return opens ? body : (struct node){0};
}

static void read_items(struct items *items, const struct kernel *k, struct node of)
{
    for (uint32_t i = 0; i < node_count(of); i++) {
        struct node n = node_child(of, i), inner = inner_of(n);
        if (node_ok(inner))
            read_items(items, k, inner);
        if (node_ok(inner) || node_is(n, NODE_COMMENT))
            continue;
        struct item item = {
            .node = n, .name = name_of(items->a, k->source, n), .text = node_text(items->a, k->source, n)};
        vec_add(items->a, &items->list, item);
    }
}

static bool has_item(const struct items *items, const struct item *x)
{
    const char *text = text_compact(items->a, x->text);

    for (size_t i = 0; i < items->list.n; i++)
        if (strcmp(text_compact(items->a, items->list.v[i].text), text) == 0)
            return true;
    return false;
}

/* Which of the other's items must be copied: the ones that the version lacks or has otherwise, and those that
 * name one of them. */
static void mark_copies(struct items *other, const struct items *version)
{
    bool more = true;

    for (size_t i = 0; i < other->list.n; i++)
        other->list.v[i].copied = !has_item(version, &other->list.v[i]);
    while (more) {
        more = false;
        for (size_t i = 0; i < other->list.n; i++)
            for (size_t k = 0; k < other->list.n && !other->list.v[i].copied; k++)
                if (other->list.v[i].name && other->list.v[k].copied && other->list.v[k].name &&
                    str_has_word(other->list.v[i].text, other->list.v[k].name))
                    other->list.v[i].copied = more = true;
    }
}

/* `extern __shared__ T name[]` in functions, as the version does not have it: all functions of a file share the
 * name, of one type. */
static void add_shared_names(struct items *items, const struct source *s, struct node n, const char *version)
{
    for (struct node *d = node_find_all(items->a, n, NODE_DECLARATION, NULL); node_ok(*d); d++) {
        struct item x = {.node = *d, .text = node_text(items->a, s, *d), .copied = true};
        if (!str_has_word(x.text, "extern") || !str_has_word(x.text, "__shared__") || strstr(version, x.text))
            continue;
        x.name = name_of(items->a, s, *d);
        if (x.name)
            vec_add(items->a, &items->list, x);
    }
}

static void mark_members(struct items *items, const struct source *s)
{
    struct str members = {.arena = items->a};

    for (size_t i = 0; i < items->list.n; i++) {
        for (struct node *n = node_find_all(items->a, items->list.v[i].node, NODE_FIELD_DECLARATION, NULL);
             items->list.v[i].copied && node_ok(*n); n++)
            str_addf(&members, "%s ", node_text(items->a, s, *n));
    }
    for (size_t i = 0; i < items->list.n; i++)
        items->list.v[i].member =
            items->list.v[i].name && str_has_word(str_text(&members), items->list.v[i].name);
}

static bool is_renamed(const struct items *items, const char *word, size_t len, bool member)
{
    for (const struct item *it = items->list.v; it < items->list.v + items->list.n; it++)
        if (it->copied && it->name && (it->member || !member) && strlen(it->name) == len &&
            memcmp(it->name, word, len) == 0)
            return true;
    return false;
}

/* Is what stands at p a member of something, or a name of somebody's namespace? */
static bool is_member(const char *text, const char *p)
{
    size_t before = (size_t)(p - text);

    return (before >= 1 && p[-1] == '.') || (before >= 2 && p[-2] == '-' && p[-1] == '>') ||
           (before >= 3 && p[-2] == ':' && p[-1] == ':' && str_in_word(p[-3]));
}

/* The text with the copied items' names renamed, outside of comments, strings and what belongs to others. */
static char *renamed(const struct items *items, const char *text, const char *suffix)
{
    struct str out = {0};

    for (const char *p = text; *p;) {
        size_t len = str_word(p);
        const char *end = len ? p + len : text_behind_literal(text, p);
        bool is_name = len && !isdigit((unsigned char)*p) && is_renamed(items, p, len, is_member(text, p));
        end += end == p;
        str_addn(&out, p, (size_t)(end - p));
        if (is_name)
            str_add(&out, suffix);
        p = end;
    }
    return str_take(&out, items->a);
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

/* One that no name of either file ends with. */
static const char *free_suffix(struct arena *a, const struct kernel *other, const struct kernel *version,
                               const char *suffix)
{
    const char *free = suffix;

    for (int i = 2; strstr(version->text, free) || strstr(other->text, free); i++)
        free = arena_printf(a, "%s%d", suffix, i);
    return free;
}

/* Its text for the joined file; false with the reason where it cannot stand beside what the version has. */
static bool add_copy(const struct items *items, const struct kernel *other, const struct item *it,
                     const char *suffix, struct str *to, struct err *why_not)
{
    static const enum node_kind unnamed[] = {NODE_PREPROC_INCLUDE, NODE_PREPROC_CALL,
                                             NODE_STATIC_ASSERT_DECLARATION, NODE_USING_DECLARATION};
    bool takes = it->name && strcmp(it->name, "operator") != 0 && !node_is(it->node, NODE_PREPROC_IF) &&
                 !node_is(it->node, NODE_PREPROC_IFDEF) && !node_is(it->node, NODE_NAMESPACE_DEFINITION);

    for (size_t i = 0; i < ARRAY_LEN(unnamed); i++)
        takes = takes || node_is(it->node, unnamed[i]);
    if (!takes)
        return err_input(why_not, "line %d of the other version differs and cannot be renamed: %.60s",
                         node_line(other->source, it->node), text_compact(items->a, it->text));
    char *copy = renamed(items, it->text, suffix);
    bool line = str_starts(copy, "#"), closed = node_is(it->node, NODE_FUNCTION_DEFINITION) ||
                                                node_ok(node_child_of(it->node, NODE_FUNCTION_DEFINITION));
    str_addf(to, "%s%s%s", copy, closed || line || str_ends(copy, ";") ? "" : ";", closed ? "\n" : "");
    str_add(to, str_ends(copy, "\n") ? "" : "\n");
    return true;
}

bool transform_dispatch(struct arena *a, const struct kernel *other, const struct kernel *version,
                        const struct transform_choice *choice, char **text, struct err *why_not)
{
    struct items theirs = {.a = a}, ours = {.a = a};
    struct str copies = {0}, names = {0};
    struct node body = node_field(version->launcher, FIELD_BODY),
                type = node_field(version->launcher, FIELD_TYPE);
    const char *suffix = choice->original ? "_original" : free_suffix(a, other, version, "_other");
    bool ok = true, returns = !node_text_is(version->source, type, "void");
    size_t n;

    if (choice->original && strstr(version->text, "_original("))
        return err_input(why_not, "the version has an original beside it already");
    if (!str_eq(node_text(a, other->source, node_field(other->launcher, FIELD_TYPE)),
                node_text(a, version->source, type)))
        return err_input(why_not, "the two launchers do not return the same");
    if (!node_ok(body) || !parameter_names(a, version, &names))
        return err_input(why_not, "the launcher's parameters are not all named");
    read_items(&theirs, other, source_root(other->source));
    read_items(&ours, version, source_root(version->source));
    mark_copies(&theirs, &ours);
    n = theirs.list.n;
    for (size_t i = 0; i < n; i++) {
        struct item *it = &theirs.list.v[i];
        if (str_eq(it->name, other->entry))
            it->copied =
                true; /* also where the launchers are alike: it stands below, as the choice's function */
        else if (it->copied && it->name)
            add_shared_names(&theirs, other->source, it->node, version->text);
    }
    mark_members(&theirs, other->source);
    for (size_t i = 0; ok && i < n; i++) {
        const struct item it = theirs.list.v[i];
        if (it.copied && !str_eq(it.name, other->entry))
            ok = add_copy(&theirs, other, &it, suffix, &copies, why_not);
    }
    if (ok) {
        struct edits edits = {.arena = a};
        edits_insert(&edits, node_start(top_of(version->launcher)),
                     arena_printf(a, "// %s\n%sstatic %s\n\n",
                                  choice->original ? "As it was before." : "Another version, for some sizes.",
                                  str_text(&copies),
                                  renamed(&theirs, node_text(a, other->source, other->launcher), suffix)));
        edits_insert(&edits, node_start(body) + 1,
                     arena_printf(a, "\n    // %s\n    if (%s) {\n        %s%s%s(%s);\n%s    }",
                                  choice->comment, choice->condition, returns ? "return " : "", other->entry,
                                  suffix, str_text(&names), returns ? "" : "        return;\n"));
        *text = edits_apply(&edits, a, version->text, version->len);
    }
    str_free(&copies);
    str_free(&names);
    return ok;
}
