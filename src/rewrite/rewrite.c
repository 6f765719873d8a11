#include "rewrite/analysis.h"

#define TRANSFORM(name) extern const struct transform transform_##name;
#include "rewrite/transform.def"
#undef TRANSFORM

const struct transform *const transform_all[] = {
#define TRANSFORM(name) &transform_##name,
#include "rewrite/transform.def"
#undef TRANSFORM
    NULL,
};

const struct transform *transform_find(const char *name)
{
    for (size_t i = 0; transform_all[i]; i++)
        if (str_eq(transform_all[i]->name, name) || str_eq(transform_all[i]->alias, name))
            return transform_all[i];
    return NULL;
}

size_t transform_sites(const struct transform *t, const struct transform_input *in, struct arena *a,
                       const struct transform_site **sites)
{
    struct site_list found = {.transform = t, .arena = a};

    if (t->find_in_file)
        t->find_in_file(in, &found);
    for (size_t i = 0; t->find && i < in->kernel->n_functions; i++) {
        struct function *f = function_open_kernel(in, a, i);
        if (f)
            t->find(f, &found);
    }
    *sites = found.list.v;
    return found.list.n;
}

struct transform_site *site_add(struct site_list *found, const struct function *f, struct node at, int setting,
                                const char *why, const char *where, ...)
{
    struct arena *a = found->arena;
    struct transform_site site = {.transform = found->transform->name,
                                  .function = f,
                                  .line = node_line(f->s, at),
                                  .setting = setting,
                                  .why = why};
    va_list ap;

    va_start(ap, where);
    site.where = arena_printf(a, "%s, line %d: %s", f->name, site.line, arena_vprintf(a, where, ap));
    va_end(ap);
    vec_add(a, &found->list, site);
    return &vec_last(&found->list);
}

bool transform_apply(const struct transform *t, const struct transform_input *in,
                     const struct transform_site *site, struct arena *a, char **text, struct err *why_not)
{
    struct edits edits = {.arena = a};

    if (!t->apply(site->function, site, &edits, why_not))
        return false;
    if (edits.clash) /* odd code can bring this about */
        return err_input(why_not, "the changes to %s meet", site->function ? site->function->name : "the file");
    *text = edits_apply(&edits, a, in->kernel->text, in->kernel->len);
    return true;
}

const char *transform_words(struct arena *a, const char *transform, int setting)
{
    const struct transform *t = transform_find(transform);
    const char *words = NULL;

    if (setting == 0 || setting == TRANSFORM_OWN_CHOICE)
        return transform;
    if (t && t->setting_words)
        words = t->setting_words(a, setting);
    return words ? arena_printf(a, "%s %s", transform, words) : arena_printf(a, "%s %d", transform, setting);
}

const char *transform_old_name(const char *name)
{
    const struct transform *t = transform_find(name);

    return t && t->alias ? t->alias : name;
}
