/* What no case ran of a version, as JSON and in words. */
#include "verdict.h"

#define COVERAGE(member) MEMBER(struct trial_coverage, member)
#define GAP(member)      MEMBER(struct trial_gap, member)

static const struct member coverage_members[] = {COVERAGE(instructions), COVERAGE(executed), COVERAGE(branches),
                                                 COVERAGE(directions),   COVERAGE(sought),   {0}};
static const struct member gap_members[] = {
    GAP(line),         MEMBER_NAMED("what", struct trial_gap, text, MEMBER_TEXT),
    GAP(instructions), GAP(directions),
    GAP(whole),        GAP(idle),
    GAP(original),     {0}};

json_t *trial_coverage_to_json(const struct trial_coverage *c)
{
    json_t *o, *lines;

    if (!c->instructions)
        return json_null();
    o = json_of_members(coverage_members, c);
    json_put(o, "lines", lines = json_array());
    for (size_t i = 0; i < c->n_gaps; i++)
        json_array_append_new(lines, json_of_members(gap_members, &c->gaps[i]));
    return o;
}

void trial_coverage_from_json(const json_t *o, struct arena *a, struct trial_coverage *c)
{
    const json_t *lines = json_object_get(o, "lines");
    size_t n = json_array_size(lines);
    struct trial_gap *gaps = arena_array(a, struct trial_gap, n + 1);

    *c = (struct trial_coverage){.gaps = gaps, .n_gaps = n};
    json_get_members(o, coverage_members, a, c);
    for (size_t i = 0; i < n; i++)
        json_get_members(json_array_get(lines, i), gap_members, a, &gaps[i]);
}

/* The places, each line once. Where nothing of a kernel ran its first line stands for all. */
static size_t add_places(const struct trial_coverage *c, bool instructions, struct str *out)
{
    enum { MOST = 3 };
    size_t n = 0;

    for (size_t i = 0; i < c->n_gaps; i++) {
        const struct trial_gap *g = &c->gaps[i];
        bool before = i && g[-1].line == g->line, inside = i && g->whole && g[-1].whole;
        if ((instructions ? g->instructions : g->directions) == 0 || before || inside || n++ >= MOST)
            continue;
        str_add(out, n > 1 ? "; " : "");
        if (g->line)
            str_addf(out, "line %d", g->line);
        if (g->text && *g->text)
            str_addf(out, "%s`%s`", g->line ? ", " : "", g->text);
        else if (!g->line)
            str_add(out, "at no line that the compiler names");
        if (g->whole)
            str_add(out, " and the rest of its kernel");
        if (g->original)
            str_add(out, " (as in the original)");
    }
    if (n > MOST)
        str_addf(out, "; and %zu more lines", n - MOST);
    return n;
}

char *trial_coverage_words(struct arena *a, const struct trial_coverage *c, const char *whose)
{
    size_t idle = c->instructions - c->executed, one_way = 0;
    struct str s = {0};

    for (size_t i = 0; i < c->n_gaps; i++)
        one_way += c->gaps[i].directions;
    if (idle) {
        str_addf(&s, "%zu of %zu instructions of %s were run by no case: ", idle, c->instructions, whose);
        add_places(c, true, &s);
    } else if (one_way) {
        str_addf(&s, "%zu of %zu branches of %s went one way only in all cases: ", one_way, c->branches, whose);
        add_places(c, false, &s);
    } else {
        return NULL;
    }
    return str_take(&s, a);
}

static size_t gap_in(const struct trial_coverage *c, const struct trial_gap *g, bool instructions)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_gaps; i++)
        if (c->gaps[i].line == g->line && str_eq(c->gaps[i].text, g->text))
            n += instructions ? c->gaps[i].instructions : c->gaps[i].directions;
    return n;
}

struct trial_coverage trial_coverage_both(struct arena *a, const struct trial_coverage *x,
                                          const struct trial_coverage *y)
{
    struct trial_gap *gaps = arena_array(a, struct trial_gap, x->n_gaps + 1);
    struct trial_coverage both = *x;

    if (!x->instructions || x->instructions != y->instructions)
        return x->instructions ? *x : *y;
    both.gaps = gaps;
    both.n_gaps = 0;
    both.executed = MIN(both.executed, both.instructions);
    both.sought += y->sought;
    for (size_t i = 0; i < x->n_gaps; i++) {
        struct trial_gap g = x->gaps[i];
        g.instructions = MIN(g.instructions, gap_in(y, &g, true));
        g.directions = MIN(g.directions, gap_in(y, &g, false) + gap_in(y, &g, true));
        both.executed += x->gaps[i].instructions - g.instructions;
        both.directions += x->gaps[i].directions - g.directions;
        if (g.instructions || g.directions)
            gaps[both.n_gaps++] = g;
    }
    return both;
}
