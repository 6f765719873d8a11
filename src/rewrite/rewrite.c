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

int transform_value(const struct transform_parameter *p, int setting)
{
    int value = setting / p->unit;

    return p->radix ? value % p->radix : value;
}

/* Adds the settings of all values of the parameters from the i-th on. */
static void add_settings(const struct site_list *found, size_t i, int setting, size_t n_own, void *to)
{
    VEC(int) *list = to;
    const struct transform_parameter *p = &found->transform->parameters[i];

    for (size_t k = 0; i < TRANSFORM_PARAMETERS && k < p->n_values; k++)
        add_settings(found, i + 1, setting + p->values[k] * p->unit, n_own, to);
    if (i < TRANSFORM_PARAMETERS && p->n_values > 0)
        return;
    for (size_t o = 0; o < n_own; o++)
        if (list->v[o] == setting)
            return;
    vec_add(found->arena, list, setting);
}

const int *settings_to_try(const struct function *f, const struct site_list *found, const int *own,
                           size_t n_own)
{
    VEC(int) list = {0};

    for (size_t i = 0; i < n_own; i++)
        vec_add(found->arena, &list, own[i]);
    if (f->in->all_settings && found->transform->parameters[0].n_values > 0)
        add_settings(found, 0, 0, n_own, &list);
    vec_add(found->arena, &list, NO_SETTING);
    return list.v;
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

bool transform_shared_fits(const struct transform_input *in, struct arena *a, struct err *why_not)
{
    size_t n;
    struct function **all = functions_open(in, a, &n);
    int64_t most =
        in->limits && in->limits->shared_per_block ? (int64_t)in->limits->shared_per_block : INT64_MAX;

    for (size_t i = 0; i < n; i++)
        if (all[i]->global && shared_bytes(all[i]) > most)
            return err_input(why_not, "%s declares %lld bytes of shared memory, a block has %lld", all[i]->name,
                             (long long)shared_bytes(all[i]), (long long)most);
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
