/* One kernel's name as two compilers write it. What only its file sees has in its name a hash that each makes
 * in its own way; and a 64-bit integer of <cstdint> is `long long` to NVRTC, `long` to nvcc's host compiler. */
#include "internal.h"

#include <ctype.h>

#define HIDDEN   "_GLOBAL__N_" /* a namespace without a name */
#define INTERNAL "_INTERNAL_"  /* a static function that is a template argument stands in one of these */

/* Copies what begins with `from` up to the first of `until`, which is copied too. */
static const char *copy_until(const char *from, char until, struct str *s)
{
    do
        str_addc(s, *from);
    while (*from && *from++ != until);
    return from;
}

/* A length and so many characters. */
static const char *copy_identifier(const char *at, struct str *s)
{
    char *name;
    size_t len = strtoul(at, &name, 10), left = strlen(name);

    len = MIN(len, left);
    if (str_starts(name, HIDDEN))
        str_addf(s, "12" HIDDEN "1");
    else if (str_starts(name, INTERNAL))
        str_addf(s, "11" INTERNAL "1");
    else
        str_addf(s, "%zu%.*s", len, (int)len, name);
    return name + len;
}

static char plain_letter(char c)
{
    if (c == 'x')
        return 'l';
    if (c == 'y')
        return 'm';
    return c;
}

static const char *plain(struct arena *a, const char *name)
{
    struct str s = {0};
    const char *p = name;

    if (!str_starts(p, "_Z"))
        return name;
    str_add(&s, "_Z");
    p += str_starts(p, "_ZL") ? 3 : 2;
    while (*p) {
        if (isdigit((unsigned char)*p))
            p = copy_identifier(p, &s);
        else if ((*p == 'S' || *p == 'T') &&
                 (p[1] == '_' || isdigit((unsigned char)p[1]) || isupper((unsigned char)p[1])))
            p = copy_until(p, '_', &s);
        else if (*p == 'A' && isdigit((unsigned char)p[1]))
            p = copy_until(p, '_', &s);
        else if (*p == 'L' && strchr("bcahstijlmxyn", p[1]) && (isdigit((unsigned char)p[2]) || p[2] == 'n')) {
            str_addc(&s, 'L');
            str_addc(&s, plain_letter(p[1]));
            p = copy_until(p + 2, 'E', &s);
        } else {
            str_addc(&s, plain_letter(*p++));
        }
    }
    return str_take(&s, a);
}

bool judge_same_kernel(struct arena *a, const char *x, const char *y)
{
    return str_eq(x, y) || str_eq(plain(a, x), plain(a, y));
}

const char *mangled_find(struct arena *a, const struct ptx_module *m, const char *mangled)
{
    const struct ptx_kernel_info *list;
    size_t n = ptx_module_kernels(m, &list);
    const char *wanted = plain(a, mangled), *found = NULL;

    if (ptx_module_kernel(m, mangled))
        return mangled;
    for (size_t i = 0; i < n; i++) {
        if (!str_eq(plain(a, list[i].name), wanted))
            continue;
        if (found)
            return NULL;
        found = list[i].name;
    }
    return found;
}
