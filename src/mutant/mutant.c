#include "internal.h"

size_t mutant_operators(const char *const **names)
{
    static const char *all[SOURCE_OPS + PTX_OPS];

    for (size_t i = 0; i < SOURCE_OPS; i++)
        all[i] = source_op_names[i];
    for (size_t i = 0; i < PTX_OPS; i++)
        all[SOURCE_OPS + i] = ptx_op_names[i];
    *names = all;
    return ARRAY_LEN(all);
}

/* One line of at most 40 bytes. */
static const char *shortened(struct arena *a, const char *s, size_t len)
{
    struct str out = {.arena = a};
    bool blank = false;

    for (size_t i = 0; i < len && out.len < 40; i++) {
        bool space = strchr(" \t\r\n", s[i]) != NULL;
        if (!space || !blank)
            str_addc(&out, space ? ' ' : s[i]);
        blank = space;
    }
    return arena_printf(a, "%s%s", str_text(&out), out.len == 40 ? "..." : "");
}

char *mutant_text(const struct mutant *m, struct arena *a, const char *text, size_t len)
{
    struct edits e = {.arena = a};

    edits_replace(&e, m->from, m->to, m->is);
    return edits_apply(&e, a, text, len);
}

void mutant_add(mutant_vec *list, struct arena *a, const char *text, struct mutant m)
{
    const char *was = shortened(a, text + m.from, m.to - m.from), *now = shortened(a, m.is, strlen(m.is));

    m.is = arena_strdup(a, m.is);
    m.what = !*now ? arena_printf(a, "`%s` is left out", was) : arena_printf(a, "`%s` becomes `%s`", was, now);
    /* By what is said and how often it was said before, not by the place: marks survive other edits of the
     * file. */
    size_t before = 0;
    for (size_t i = 0; i < list->n; i++)
        before += str_eq(list->v[i].op, m.op) && str_eq(list->v[i].what, m.what);
    m.id =
        arena_printf(a, "%s-%08llx", m.op,
                     (unsigned long long)(hash_text(arena_printf(a, "%s#%zu", m.what, before)) & 0xffffffffu));
    vec_push(list, m);
}

static size_t op_number(const char *op)
{
    const char *const *names;
    size_t n = mutant_operators(&names), i = 0;

    while (i < n && !str_eq(names[i], op))
        i++;
    return i;
}

void mutants_choose(const struct mutant *list, size_t n, size_t most, uint64_t seed, struct arena *a,
                    const struct mutant **chosen, size_t *n_chosen)
{
    bool *taken = arena_array(a, bool, n + 1);
    uint64_t *hash = arena_array(a, uint64_t, n + 1);
    size_t *number = arena_array(a, size_t, n + 1);
    struct mutant *out = arena_array(a, struct mutant, MIN(n, most) + 1);
    size_t left = MIN(n, most), k = 0;

    for (size_t i = 0; i < n; i++) {
        hash[i] = rng_hash(seed, hash_text(list[i].id));
        number[i] = op_number(list[i].op);
    }
    /* Round after round, one more of each operator: the one with the least hash. */
    while (left > 0)
        for (size_t op = 0; op < SOURCE_OPS + PTX_OPS && left > 0; op++) {
            size_t best = n;
            uint64_t least = UINT64_MAX;
            for (size_t i = 0; i < n; i++)
                if (!taken[i] && number[i] == op && hash[i] <= least) {
                    best = i;
                    least = hash[i];
                }
            if (best < n) {
                taken[best] = true;
                left--;
            }
        }
    for (size_t i = 0; i < n; i++)
        if (taken[i])
            out[k++] = list[i];
    *chosen = out;
    *n_chosen = k;
}
