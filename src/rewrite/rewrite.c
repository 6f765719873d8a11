#include "rewrite/rewrite.h"

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
