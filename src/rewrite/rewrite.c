#include "rewrite/rewrite.h"

extern const struct rewrite_ops rewrite_vectorise;

const struct rewrite_ops *const rewrite_all[] = {
    &rewrite_vectorise,
    NULL,
};

const struct rewrite_ops *rewrite_find(const char *name)
{
    for (size_t i = 0; rewrite_all[i]; i++)
        if (str_eq(rewrite_all[i]->name, name))
            return rewrite_all[i];
    return NULL;
}
