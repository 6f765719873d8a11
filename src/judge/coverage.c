/* What of a version's code the cases ran. The simulator notes it in every run that is checked: suite, hidden
 * cases, extreme shapes and workloads, as they come. */
#include "internal.h"

enum { MOST_GAPS = 400, MOST_TEXT = 80 };

void version_ran_open(struct version *v, struct ptx_module *before)
{
    uint8_t *ran = arena_alloc(v->arena, ptx_coverage_bytes(v->module));

    memset(ran, 0, ptx_coverage_bytes(v->module));
    if (before && v->ran)
        ptx_coverage_carry(before, v->ran, v->module, ran);
    v->ran = ran;
    v->waste = arena_alloc(v->arena, sanitize_waste_bytes(v->module));
    memset(v->waste, 0, sanitize_waste_bytes(v->module));
}

uint8_t *ran_aside(const struct version *v, struct arena *a)
{
    if (!v->ran)
        return NULL;
    uint8_t *ran = arena_alloc(a, ptx_coverage_bytes(v->module));
    memset(ran, 0, ptx_coverage_bytes(v->module));
    return ran;
}

void ran_join(struct version *v, const uint8_t *ran)
{
    for (size_t i = 0; ran && i < ptx_coverage_bytes(v->module); i++)
        v->ran[i] |= ran[i];
}

/* The line without what surrounds it. */
static const char *line_of(struct arena *a, const char *text, int line)
{
    const char *from = text;

    for (int k = 1; k < line && from; k++)
        from = (from = strchr(from, '\n')) ? from + 1 : NULL;
    if (!from || line < 1)
        return "";
    from += strspn(from, " \t");
    size_t n = strcspn(from, "\n");
    while (n > 0 && strchr(" \t\r{\\", from[n - 1]))
        n--;
    return n <= MOST_TEXT ? arena_strndup(a, from, n)
                          : arena_printf(a, "%.*s...", (int)utf8_cut(from, MOST_TEXT), from);
}

static bool original_has(const struct trial_coverage *original, const struct trial_gap *g)
{
    for (size_t i = 0; i < original->n_gaps; i++)
        if (*g->text && str_eq(original->gaps[i].text, g->text))
            return true;
    return false;
}

static int by_line(const void *a, const void *b)
{
    const struct trial_gap *x = a, *y = b;

    return (x->line > y->line) - (x->line < y->line);
}

struct trial_coverage version_coverage(const struct version *v, struct arena *a)
{
    const struct trial_coverage *original = &v->judge->original.coverage;
    struct trial_coverage out = {0};

    if (!v->module || !v->ran)
        return out;
    struct ptx_coverage c = ptx_coverage_of(v->module, v->ran, a);
    struct trial_gap *gaps = arena_array(a, struct trial_gap, c.n_gaps + 1);
    for (size_t i = 0; i < c.n_gaps; i++) {
        const struct ptx_gap *from = &c.gaps[i];
        bool own = from->file && str_eq(fs_basename(from->file), fs_basename(v->kernel->path));
        const char *text = "";
        if (own)
            text = line_of(a, v->kernel->text, from->line);
        else if (from->file)
            text = arena_printf(a, "%s:%d", fs_basename(from->file), from->line);
        gaps[i] = (struct trial_gap){.line = own ? from->line : 0,
                                     .text = text,
                                     .instructions = from->instructions,
                                     .directions = from->directions,
                                     .whole = from->whole,
                                     .idle = from->idle};
        gaps[i].original = original_has(original, &gaps[i]);
    }
    qsort(gaps, c.n_gaps, sizeof(*gaps), by_line);
    return (struct trial_coverage){.instructions = c.instructions,
                                   .executed = c.executed,
                                   .branches = c.branches,
                                   .directions = c.directions,
                                   .gaps = gaps,
                                   .n_gaps = MIN(c.n_gaps, (size_t)MOST_GAPS)};
}

/* ---- traffic that changes nothing ---- */

static int by_waste(const void *a, const void *b)
{
    const struct trial_waste *x = a, *y = b;
    double p = x->again_bytes + x->unread_bytes, q = y->again_bytes + y->unread_bytes;

    return (p < q) - (p > q);
}

size_t version_waste(const struct version *v, struct arena *a, const struct trial_waste **waste)
{
    enum { MOST_WASTE = 12 };
    const struct sanitize_line *lines;
    size_t n = 0;

    if (!v->module || !v->waste)
        return 0;
    size_t n_lines = sanitize_waste_lines(v->module, v->waste, a, &lines);
    struct trial_waste *out = arena_array(a, struct trial_waste, n_lines + 1);
    for (size_t i = 0; i < n_lines; i++) {
        const struct sanitize_waste *w = &lines[i].waste;
        if (lines[i].line && (w->again || w->unread) &&
            str_eq(fs_basename(lines[i].file), fs_basename(v->kernel->path)))
            out[n++] = (struct trial_waste){.line = lines[i].line,
                                            .after = lines[i].after,
                                            .text = line_of(a, v->kernel->text, lines[i].line),
                                            .stored_bytes = (double)w->stored,
                                            .again_bytes = (double)w->again,
                                            .equal_bytes = (double)w->equal,
                                            .staged_bytes = (double)w->staged,
                                            .unread_bytes = (double)w->unread};
    }
    qsort(out, n, sizeof(*out), by_waste);
    *waste = out;
    return MIN(n, (size_t)MOST_WASTE);
}
