/* One kernel's name as two compilers write it. What only its file sees has in its name a hash that each makes
 * in its own way; and a 64-bit integer of <cstdint> is `long long` to NVRTC, `long` to nvcc's host compiler. */
#include "internal.h"

#include <ctype.h>

const char *mangled_marker(const char *name)
{
    static const char *const markers[] = {
        "_GLOBAL__N_", /* a namespace without a name */
        "_INTERNAL_",  /* what is static stands in one of these */
    };

    for (size_t i = 0; i < ARRAY_LEN(markers); i++)
        if (str_starts(name, markers[i]))
            return markers[i];
    return NULL;
}

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

    const char *marker = mangled_marker(name);

    len = MIN(len, left);
    if (marker)
        str_addf(s, "%zu%s1", strlen(marker) + 1, marker);
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
