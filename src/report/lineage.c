#include "report/lineage.h"

#include "report/words.h"

/* ---- what made a candidate, from the original on ---- */

struct recipe {
    const struct view_step **steps; /* a model's file is one of its own: NULL stands for it */
    size_t n;
    bool known; /* transforms only */
};

static struct recipe recipe_of(const struct view *v, struct arena *a, int id)
{
    struct recipe r = {.known = true};
    const struct view_candidate *c;
    size_t n = 0;

    for (int k = id; k > 0; k = v->candidates[k].row.parent) {
        n += v->candidates[k].n_steps;
        r.known = r.known && v->candidates[k].n_steps > 0;
    }
    r.steps = arena_array(a, const struct view_step *, n + 1);
    r.n = n;
    for (int k = id; k > 0; k = c->row.parent) {
        c = &v->candidates[k];
        for (size_t i = c->n_steps; i-- > 0;)
            r.steps[--n] = &c->steps[i];
    }
    return r;
}

static bool same_step(const struct view_step *x, const struct view_step *y)
{
    return str_eq(x->transform, y->transform) && x->setting == y->setting;
}

/* Is `with` the recipe `without` and this step more? */
static bool differs_by(const struct recipe *with, const struct recipe *without, const struct view_step *step)
{
    size_t i = 0;

    if (!with->known || !without->known || with->n != without->n + 1)
        return false;
    while (i < without->n && same_step(with->steps[i], without->steps[i]))
        i++;
    if (!same_step(with->steps[i], step))
        return false;
    for (; i < without->n; i++)
        if (!same_step(with->steps[i + 1], without->steps[i]))
            return false;
    return true;
}

static bool is_correct(const struct view_candidate *c)
{
    return isfinite(c->row.score) && (str_eq(c->row.verdict, "passed") || str_eq(c->row.verdict, "slower"));
}

/* Two candidates that differ by nothing but the step; of several pairs the fastest. */
static void find_gain(const struct view *v, const struct recipe *recipes, const struct view_step *step,
                      struct lineage_step *to)
{
    double fastest = 0;

    for (size_t w = 1; w < v->n_candidates; w++)
        for (size_t o = 0; o < v->n_candidates; o++) {
            const struct view_candidate *with = &v->candidates[w], *without = &v->candidates[o];
            if (!is_correct(with) || !is_correct(without) || with->row.score <= fastest ||
                !differs_by(&recipes[w], &recipes[o], step))
                continue;
            fastest = with->row.score;
            to->gain = with->row.score / without->row.score;
            to->with = (int)w;
            to->without = (int)o;
        }
}

static bool is_kept(const struct view_candidate *c)
{
    for (size_t i = 0; i < c->n_steps; i++)
        if (!c->steps[i].text)
            return false;
    return c->n_steps > 0 && str_eq(c->steps[c->n_steps - 1].text, c->row.text);
}

static const char *name_of(struct arena *a, const struct view_candidate *c)
{
    if (c->n_steps)
        return words_steps(a, c);
    if (c->strategy)
        return c->strategy->name;
    return c->row.name[0] ? c->row.name : arena_printf(a, "candidate %d", c->row.id);
}

static struct lineage_step whole_candidate(struct arena *a, const struct view_candidate *c)
{
    return (struct lineage_step){.candidate = c->row.id,
                                 .name = name_of(a, c),
                                 .why = c->row.reason,
                                 .text = c->row.text,
                                 .gain = c->row.gain,
                                 .with = c->row.id,
                                 .without = c->row.parent};
}

size_t lineage_steps(const struct view *v, struct arena *a, const struct lineage_step **steps)
{
    struct recipe *recipes = arena_array(a, struct recipe, v->n_candidates + 1);
    struct lineage_step *list;
    size_t n = 0;

    for (size_t i = 0; i < v->n_candidates; i++) {
        recipes[i] = recipe_of(v, a, (int)i);
        n += MAX(v->candidates[i].n_steps, (size_t)1);
    }
    *steps = list = arena_array(a, struct lineage_step, n + 1);
    n = 0;
    for (size_t i = 1; i < v->n_candidates; i++) {
        const struct view_candidate *c = &v->candidates[i];
        if (!c->in_lineage)
            continue;
        if (!is_kept(c) || c->n_steps == 1) {
            list[n++] = whole_candidate(a, c);
            continue;
        }
        for (size_t k = 0; k < c->n_steps; k++) {
            struct view_candidate one = *c;
            one.steps = &c->steps[k];
            one.n_steps = 1;
            list[n] = (struct lineage_step){.candidate = c->row.id,
                                            .name = words_steps(a, &one),
                                            .why = c->steps[k].why ? c->steps[k].why : c->row.reason,
                                            .text = c->steps[k].text,
                                            .gain = NAN,
                                            .with = -1,
                                            .without = -1};
            find_gain(v, recipes, &c->steps[k], &list[n++]);
        }
    }
    return n;
}
