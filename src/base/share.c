#include "base/base.h"

const struct share_file *share_find(const char *name)
{
    for (size_t i = 0; i < share_n_files; i++)
        if (strcmp(share_files[i].name, name) == 0)
            return &share_files[i];
    return NULL;
}

const char *share_text(const char *name)
{
    const struct share_file *f = share_find(name);

    if (!f)
        BUG("share/%s is not in share/meson.build", name);
    return f->text;
}
