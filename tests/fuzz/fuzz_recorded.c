/* Any bytes as what the compiled launcher printed: behind the plans that must stand there, each of them lines
 * and workspaces, an 0x1e between all parts. What the plans themselves print is the same; any other ends
 * somewhere. */
#include "judge/recorded.h"

enum { MOST = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *take(struct arena *a, const uint8_t **at, const uint8_t *end)
{
    const uint8_t *cut = memchr(*at, 0x1e, (size_t)(end - *at));
    char *s = arena_strndup(a, (const char *)*at, (size_t)((cut ? cut : end) - *at));

    *at = cut ? cut + 1 : end;
    return s;
}

static bool whole(const char *lines)
{
    for (const char *l = lines; *l; l = strchr(l, '\n') + 1)
        if (!strchr(l, '\n') || str_starts(l, "end ") || str_starts(l, "malloc "))
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_open();
    const uint8_t *at = data, *end = data + size;
    struct recorded_plan plans[MOST];
    struct recorded_line is, must;
    struct str out = {.arena = a};
    size_t n = size ? data[0] % MOST : 0;
    bool good = true;

    at += size > 0;
    for (size_t i = 0; i < n; i++) {
        plans[i] = (struct recorded_plan){take(a, &at, end), ""};
        good &= whole(plans[i].lines);
        str_addf(&out, "case %zu\n%send 0\n", i, plans[i].lines);
    }
    if (good)
        BUG_IF(recorded_same(str_text(&out), out.len, plans, n, &is, &must) != n);
    size_t same = recorded_same((const char *)at, (size_t)(end - at), plans, n, &is, &must);
    BUG_IF(same > n || (same < n && strlen(is.text) + strlen(must.text) > 2 * sizeof(is.text)));
    arena_close(a);
    return 0;
}
