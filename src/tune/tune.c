/* Random search, variable neighbourhood descent (Mladenovic and Hansen 1997) and successive halving (Jamieson
 * and Talwalkar 2016) over one bookkeeping of what was priced. Points are priced in batches, so that workers
 * are busy side by side; a batch's size is fixed, since what is proposed must not follow from how many workers
 * there are. */
#include "tune/tune.h"

enum {
    BATCH = 24,
    RESTART = 8 /* random points, to go on from the best of them */,
    MAX_DRAWS = 64,
    KEEP = 3 /* one of so many goes to the next rung */
};
#define BETTER 1e-6 /* relative: less is no gain */

struct search {
    const struct tune_space *space;
    const struct tune_oracle *oracle;
    struct arena *arena;
    struct rng rng;
    struct tune_result *out;
    struct map priced; /* "rung point" to its place in out, from 1 */
    double spent, budget;
    bool ended; /* the budget is spent, or the oracle has had enough */
};

const char *tune_strategy_name(enum tune_strategy s)
{
    static const char *const names[] = {"random", "local", "halving"};

    return names[s];
}

double tune_points(const struct tune_space *s)
{
    double n = 1;

    for (size_t i = 0; i < s->n; i++)
        n *= (double)s->parameters[i].n;
    return n;
}

size_t tune_cheapest(const struct tune_result *result, size_t rung, size_t *places, size_t n)
{
    size_t n_found = 0, best;

    for (; n_found < n; places[n_found++] = best) {
        best = SIZE_MAX;
        for (size_t i = 0; i < result->list.n; i++) {
            const struct tune_priced *x = &result->list.v[i];
            bool taken = x->rung != rung || !isfinite(x->cost);
            for (size_t k = 0; k < n_found && !taken; k++)
                taken = places[k] == i;
            if (!taken && (best == SIZE_MAX || x->cost < result->list.v[best].cost))
                best = i;
        }
        if (best == SIZE_MAX)
            break;
    }
    return n_found;
}

static const char *key_of(const struct search *s, size_t rung, const int *point)
{
    struct str key = {.arena = s->arena};

    str_addf(&key, "%zu", rung);
    for (size_t i = 0; i < s->space->n; i++)
        str_addf(&key, " %d", point[i]);
    return str_take(&key, s->arena);
}

static size_t last_rung(const struct search *s)
{
    return s->oracle->n_rungs - 1;
}

/* ---- a batch of points ---- */

struct batch {
    int *points;
    size_t n, most, rung; /* points that there are, for which there is room and budget; where they are priced */
};

static struct batch batch_open(const struct search *s, size_t most, size_t rung)
{
    double left = MAX((s->budget - s->spent) / s->oracle->shares[rung] + 1e-9, 0);

    most = (size_t)MIN((double)most, left);
    return (struct batch){arena_array(s->arena, int, most * s->space->n + 1), 0, most, rung};
}

/* Adds a point that is legal and new on this rung, and lets the oracle begin with it. */
static bool batch_add(const struct search *s, struct batch *b, const int *point)
{
    size_t n = s->space->n;

    if (b->n == b->most)
        return false;
    for (size_t i = 0; i < b->n; i++)
        if (memcmp(b->points + i * n, point, n * sizeof(*point)) == 0)
            return false;
    if (map_get(&s->priced, key_of(s, b->rung, point)) || !s->oracle->legal(s->oracle->context, point, n))
        return false;
    memcpy(b->points + b->n++ * n, point, n * sizeof(*point));
    if (s->oracle->begin)
        s->oracle->begin(s->oracle->context, b->rung, point);
    return true;
}

static void batch_price(struct search *s, const struct batch *b)
{
    double share = s->oracle->shares[b->rung], *costs = arena_array(s->arena, double, b->n + 1);

    if (b->n > 0 && !s->oracle->price(s->oracle->context, b->rung, b->points, b->n, costs)) {
        s->ended = true;
        return;
    }
    for (size_t i = 0; i < b->n; i++) {
        const int *point = b->points + i * s->space->n;
        s->spent += share;
        vec_add(s->arena, &s->out->list, ((struct tune_priced){point, b->rung, costs[i], s->spent}));
        map_put(&s->priced, key_of(s, b->rung, point), (void *)(uintptr_t)s->out->list.n);
    }
    s->ended = s->budget - s->spent < 1 - 1e-9;
}

/* The cheapest of the list from `first` on, on a rung; NULL: none is of any use. */
static const struct tune_priced *cheapest_from(const struct search *s, size_t first, size_t rung)
{
    const struct tune_priced *best = NULL;

    for (size_t i = first; i < s->out->list.n; i++) {
        const struct tune_priced *x = &s->out->list.v[i];
        if (x->rung == rung && isfinite(x->cost) && (!best || x->cost < best->cost))
            best = x;
    }
    return best;
}

static void shuffle(struct search *s, size_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t k = rng_below(&s->rng, i), x = order[i - 1];
        order[i - 1] = order[k];
        order[k] = x;
    }
}

/* ---- at random ---- */

/* A value for each parameter in turn, of those with which a legal point can go on. */
static bool draw(struct search *s, int *point, size_t i)
{
    size_t n, *order;

    if (i == s->space->n)
        return true;
    n = s->space->parameters[i].n;
    order = arena_array(s->arena, size_t, n);
    shuffle(s, order, n);
    for (size_t k = 0; k < n; k++) {
        point[i] = (int)order[k];
        if (s->oracle->legal(s->oracle->context, point, i + 1) && draw(s, point, i + 1))
            return true;
    }
    return false;
}

/* Fills the batch. */
static void add_random(struct search *s, struct batch *b)
{
    int *point = arena_array(s->arena, int, s->space->n + 1);

    for (size_t draws = 0; b->n < b->most && draws < MAX_DRAWS && draw(s, point, 0);)
        draws = batch_add(s, b, point) ? 0 : draws + 1;
}

static void search_random(struct search *s)
{
    while (!s->ended) {
        struct batch b = batch_open(s, BATCH, last_rung(s));
        add_random(s, &b);
        if (b.n == 0)
            return;
        batch_price(s, &b);
    }
}

/* ---- variable neighbourhood descent ---- */

enum neighbourhood {
    STEP,  /* one parameter, one value on */
    OTHER, /* one parameter, any value */
    PAIR,  /* two parameters, one value on each */
    N_NEIGHBOURHOODS
};

struct move {
    size_t parameter[2];
    int value[2];
};

typedef VEC(struct move) moves;

static void add_moves(const struct search *s, const int *at, enum neighbourhood which, size_t i, moves *list)
{
    int n = (int)s->space->parameters[i].n;

    for (int v = 0; v < n; v++) {
        bool near = abs(v - at[i]) == 1;
        if (v == at[i] || (which != OTHER && !near))
            continue;
        if (which != PAIR)
            vec_add(s->arena, list, ((struct move){{i, i}, {v, v}}));
        for (size_t k = i + 1; which == PAIR && k < s->space->n; k++)
            for (int w = MAX(at[k] - 1, 0); w <= at[k] + 1 && w < (int)s->space->parameters[k].n; w++)
                if (w != at[k])
                    vec_add(s->arena, list, ((struct move){{i, k}, {v, w}}));
    }
}

/* The moves from `at`, the nearer neighbourhoods first, each in an order drawn anew. */
static void all_moves(struct search *s, const int *at, moves *list)
{
    for (int which = STEP; which < N_NEIGHBOURHOODS; which++) {
        moves these = {0};
        for (size_t i = 0; i < s->space->n; i++)
            add_moves(s, at, (enum neighbourhood)which, i, &these);
        size_t *order = arena_array(s->arena, size_t, these.n + 1);
        shuffle(s, order, these.n);
        for (size_t i = 0; i < these.n; i++)
            vec_add(s->arena, list, these.v[order[i]]);
    }
}

/* Goes on from `at` until a point of a batch is cheaper, which `at` becomes; false when none is. A batch goes
 * on into the next neighbourhood where one ends. */
static bool descend(struct search *s, int *at, double *cost)
{
    size_t next = 0, size = s->space->n * sizeof(*at);
    moves list = {0};

    all_moves(s, at, &list);
    while (!s->ended && next < list.n) {
        struct batch b = batch_open(s, BATCH, last_rung(s));
        const struct tune_priced *best;
        size_t first = s->out->list.n;
        for (; next < list.n && b.n < b.most; next++) {
            const struct move *m = &list.v[next];
            int *point = arena_copy(s->arena, at, size);
            point[m->parameter[0]] = m->value[0];
            point[m->parameter[1]] = m->value[1];
            batch_add(s, &b, point);
        }
        batch_price(s, &b);
        best = cheapest_from(s, first, last_rung(s));
        if (best && best->cost < *cost * (1 - BETTER)) {
            memcpy(at, best->point, size);
            *cost = best->cost;
            return true;
        }
    }
    return false;
}

/* Down from a point of the last rung to where no neighbour is cheaper. */
static void descend_from(struct search *s, const struct tune_priced *x)
{
    int *at = arena_copy(s->arena, x->point, s->space->n * sizeof(*at));
    double cost = x->cost;

    while (!s->ended && descend(s, at, &cost))
        ;
}

/* From the cheapest point known, then from random ones. */
static void search_local(struct search *s)
{
    size_t first = 0;

    while (!s->ended) {
        const struct tune_priced *from = cheapest_from(s, first, last_rung(s));
        struct batch b;
        if (from)
            descend_from(s, from);
        b = batch_open(s, RESTART, last_rung(s));
        add_random(s, &b);
        if (b.n == 0)
            return;
        first = s->out->list.n;
        batch_price(s, &b);
    }
}

/* ---- successive halving ---- */

/* The cheapest of this rung, one of KEEP of them, on the next one. */
static void promote(struct search *s, size_t rung)
{
    size_t n = 0, keep, *places;
    struct batch b;

    for (size_t i = 0; i < s->out->list.n; i++)
        n += s->out->list.v[i].rung == rung;
    places = arena_array(s->arena, size_t, n + 1);
    keep = tune_cheapest(s->out, rung, places, (n + KEEP - 1) / KEEP);
    b = batch_open(s, keep, rung + 1);
    for (size_t k = 0; k < keep; k++)
        batch_add(s, &b, s->out->list.v[places[k]].point);
    batch_price(s, &b);
}

static void search_halving(struct search *s)
{
    double third = (s->budget - s->spent) / 3;
    struct batch b;
    size_t n;

    /* A third of the budget for all rungs: n points on the first, one of KEEP of them on the next. */
    double each = 0, part = 1;
    for (size_t r = 0; r < s->oracle->n_rungs; r++, part /= KEEP)
        each += part * s->oracle->shares[r];
    n = (size_t)MAX(third / each, 1);
    b = batch_open(s, n, 0);
    add_random(s, &b);
    batch_price(s, &b);
    for (size_t r = 0; r + 1 < s->oracle->n_rungs && !s->ended; r++)
        promote(s, r);
    search_local(s);
}

/* ---- */

void tune_search(const struct tune_space *space, const struct tune_oracle *o,
                 const struct tune_options *options, struct arena *a, struct tune_result *result)
{
    struct search s = {.space = space,
                       .oracle = o,
                       .arena = a,
                       .rng = {options->seed},
                       .out = result,
                       .budget = options->budget};

    *result = (struct tune_result){0};
    if (options->start) {
        struct batch b = batch_open(&s, 1, last_rung(&s));
        if (batch_add(&s, &b, options->start))
            batch_price(&s, &b);
    }
    if (options->strategy == TUNE_RANDOM)
        search_random(&s);
    else if (options->strategy == TUNE_LOCAL)
        search_local(&s);
    else
        search_halving(&s);
    map_free(&s.priced);
}
