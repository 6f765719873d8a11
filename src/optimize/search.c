#include "search.h"

/* A detour over a candidate that may not be the result must promise more than noise. */
#define CLEARLY 1.02

void search_open(struct search *s, double min_gain)
{
    *s = (struct search){.min_gain = min_gain};
    vec_push(&s->nodes,
             ((struct search_node){.id = 0, .parent = -1, .correct = true, .passed = true, .score = 1}));
}

void search_close(struct search *s)
{
    vec_free(&s->nodes);
}

int search_add(struct search *s, int parent, int round)
{
    int id = (int)s->nodes.n;

    BUG_IF(parent < 0 || parent >= id);
    vec_push(&s->nodes, ((struct search_node){.id = id, .parent = parent, .round = round, .score = NAN}));
    return id;
}

static int best_passed(const struct search *s)
{
    int best = 0;

    for (size_t i = 1; i < s->nodes.n; i++)
        if (s->nodes.v[i].passed && s->nodes.v[i].score > s->nodes.v[best].score)
            best = (int)i;
    return best;
}

void search_tell(struct search *s, int id, bool correct, bool passed, double score)
{
    struct search_node *n = &s->nodes.v[id], *best = &s->nodes.v[s->best];

    n->correct = correct;
    n->passed = passed;
    n->score = score;
    if (passed && (score > best->score || (score == best->score && id < s->best)))
        s->best = id;
    else if (!passed && id == s->best)
        s->best = best_passed(s);
}

int search_ask(struct search *s)
{
    int parent = s->best;

    for (size_t i = 0; i < s->nodes.n; i++) {
        const struct search_node *n = &s->nodes.v[i];
        if (n->correct && !n->passed && !n->was_parent && n->score > CLEARLY * s->nodes.v[s->best].score &&
            (parent == s->best || n->score > s->nodes.v[parent].score))
            parent = (int)i;
    }
    s->nodes.v[parent].was_parent = true;
    return parent;
}

static double best_through(const struct search *s, int round)
{
    double best = 1;

    for (size_t i = 0; i < s->nodes.n; i++)
        if (s->nodes.v[i].passed && s->nodes.v[i].round <= round)
            best = MAX(best, s->nodes.v[i].score);
    return best;
}

int search_stale_rounds(const struct search *s, int round)
{
    int stale = 0;

    for (int r = round; r > 0 && best_through(s, round) < s->min_gain * best_through(s, r - 1); r--)
        stale++;
    return stale;
}

size_t search_lineage(const struct search *s, int id, int *ids, size_t max)
{
    size_t n = 0;

    for (int i = id; i > 0; i = s->nodes.v[i].parent)
        n++;
    for (size_t at = n; id > 0; id = s->nodes.v[id].parent)
        if (--at < max)
            ids[at] = id;
    return MIN(n, max);
}
