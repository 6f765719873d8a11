/* The attempts of a round, side by side, from a strategy to counted candidates. */
#include "round.h"

void attempt_give_up(struct attempt *x, enum attempt_end end, const char *words)
{
    x->state = ATTEMPT_ENDED;
    x->end = end;
    x->verdict = end == ATTEMPT_DUPLICATE ? "duplicate" : "dropped";
    x->words = words;
}

static int ticket_of(const struct round *t, const struct attempt *x)
{
    return (int)(x - t->attempts) * MAX_TRIES + (int)x->n_tries - 1;
}

/* As the call's that wrote it. */
static const char *try_label(const struct run *r, const struct attempt *x, size_t i)
{
    return i ? arena_printf(r->arena, "%s-repair-%zu", x->label, i) : x->label;
}

/* Did all that was asked take effect, and nothing else? */
static bool done_as_asked(const struct try *y)
{
    bool same = y->file.n_steps == y->strategy.n_steps;

    for (size_t i = 0; same && i < y->file.n_steps; i++)
        same = str_eq(y->file.steps[i].transform, y->strategy.steps[i].transform) &&
               y->file.steps[i].setting == y->strategy.steps[i].setting;
    return same;
}

/* After what was done. What was asked stands for that where it was done, and for a file that no transform
 * wrote. */
static const char *try_name(const struct run *r, const struct try *y)
{
    return y->file.n_steps == 0 || done_as_asked(y)
               ? y->strategy.name
               : agent_steps_text(r->arena, y->file.steps, y->file.n_steps);
}

static const struct try *in_trial(const struct round *t, const struct try *x)
{
    for (size_t i = 0; i < t->n_attempts; i++)
        for (size_t k = 0; k < t->attempts[i].n_tries; k++) {
            const struct try *y = &t->attempts[i].tries[k];
            if (y != x && !y->same && str_eq(y->hash, x->hash))
                return y;
        }
    return NULL;
}

/* To the pool, and said. */
static bool submit(struct round *t, struct attempt *x, const struct try *y, struct err *err)
{
    struct run *r = t->r;
    size_t ticket = (size_t)ticket_of(t, x);

    while (r->labels.n <= ticket)
        vec_push(&r->labels, NULL);
    r->labels.v[ticket] = try_label(r, x, x->n_tries - 1);
    tell_submitted(r->labels.v[ticket], try_name(r, y), t->number, x->parent->id);
    return pool_submit(r->pool, (int)ticket, r->task->source_path, y->file.text, err);
}

bool attempt_take(struct round *t, struct attempt *x, const struct agent_file *file, struct err *err)
{
    struct run *r = t->r;
    struct try *y = &x->tries[x->n_tries];
    struct candidate *known;
    const char *stored;
    int id;

    *y = (struct try){.file = *file, .strategy = x->strategy};
    candidate_hash(r, file->text, y->hash);
    known = map_get(&r->seen, y->hash);
    if (known && known->id < t->first_id) {
        x->known = known;
        attempt_give_up(x, ATTEMPT_DUPLICATE,
                        known->id ? arena_printf(r->arena, "the same code as candidate %d", known->id)
                                  : "the same code as the original");
        return true;
    }
    x->n_tries++;
    x->state = ATTEMPT_JUDGING;
    y->same = in_trial(t, y);
    if (y->same)
        return true;
    if (!store_find_trial(r->store, r->arena, y->hash, &id, &stored, err))
        return false;
    if (stored) {
        if (!trial_from_text(stored, r->arena, &y->trial, err))
            return false;
        y->judged = verdict_stands(y->trial.verdict);
    }
    if (y->judged)
        return true;
    return submit(t, x, y, err);
}

struct candidate *attempt_result(const struct attempt *x)
{
    if (x->known)
        return x->known;
    return x->n_tries ? x->tries[x->n_tries - 1].made : NULL;
}

static bool judged(struct round *t, struct attempt *x, struct err *err)
{
    const struct try *y = &x->tries[x->n_tries - 1];

    x->state = ATTEMPT_ENDED;
    x->end = ATTEMPT_JUDGED;
    x->verdict = verdict_name(y->trial.verdict);
    x->words = y->trial.words ? y->trial.words : "";
    if (verdict_correct(y->trial.verdict) || !verdict_stands(y->trial.verdict) || x->n_tries > t->max_repairs ||
        !x->coder->repair)
        return true;
    return x->coder->repair(t, x, err);
}

/* Goes on as far as it can; *moved when it did. */
static bool step(struct round *t, struct attempt *x, bool *moved, struct err *err)
{
    struct try *y = x->n_tries ? &x->tries[x->n_tries - 1] : NULL;

    if (x->state == ATTEMPT_ASKING)
        return x->coder->go_on(t, x, moved, err);
    if (x->state != ATTEMPT_JUDGING)
        return true;
    if (y->same && y->same->judged) {
        y->trial = y->same->trial;
        y->judged = true;
    }
    if (!y->judged)
        return true;
    *moved = true;
    return judged(t, x, err);
}

/* ---- counted, in the order of labels ---- */

static bool count_try(struct round *t, struct attempt *x, struct try *y, struct err *err)
{
    struct run *r = t->r;
    const struct try *before = y > x->tries ? y - 1 : NULL;

    y->made = map_get(&r->seen, y->hash);
    if (y->made)
        return true;
    y->made = candidate_add(r, x->parent->id, t->number, y->file.text);
    y->made->backend = round_asks(t) ? "llm" : "rules";
    if (x->given)
        y->made->backend = "also";
    y->made->label = try_label(r, x, (size_t)(y - x->tries));
    y->made->name = try_name(r, y);
    y->made->strategy = y->strategy;
    y->made->steps = y->file.steps;
    y->made->n_steps = y->file.n_steps;
    y->made->pruned = x->pruned;
    y->made->repairs = before && before->made ? before->made->id : -1;
    y->made->trial = y->trial;
    candidate_tell(r, y->made);
    return candidate_store(r, y->made, err);
}

/* What became of a strategy that LLMs have a part in, as a lesson and in the store. */
static bool keep_outcome(struct round *t, struct attempt *x, struct err *err)
{
    struct run *r = t->r;

    lessons_catch_up(r);
    x->row.candidate = x->n_tries ? x->tries[x->n_tries - 1].made->id : -1;
    x->row.outcome = *x->words ? arena_printf(r->arena, "%s: %s", x->verdict, x->words) : x->verdict;
    if (x->row.candidate < 0) {
        vec_push(&r->lessons, ((struct agent_lesson){.id = -1,
                                                     .name = x->row.name,
                                                     .what = x->row.plan,
                                                     .verdict = x->verdict,
                                                     .words = x->words,
                                                     .gain = NAN,
                                                     .score = NAN}));
        tell_learnt(-1, x->row.name, x->verdict, x->words, NAN, x->parent->id);
    }
    return store_put_strategy(r->store, &x->row, err);
}

static bool count(struct round *t, struct attempt *x, struct err *err)
{
    static const char *const events[] = {[ATTEMPT_DUPLICATE] = "duplicate", [ATTEMPT_DROPPED] = "not_coded"};

    for (size_t i = 0; i < x->n_tries; i++)
        if (!count_try(t, x, &x->tries[i], err))
            return false;
    x->state = ATTEMPT_COUNTED;
    if (x->end != ATTEMPT_JUDGED && x->row.id)
        trace_text("dropped", "%s: %s", x->label, x->words);
    else if (x->end != ATTEMPT_JUDGED)
        trace_text(events[x->end], "%s: %s", x->strategy.name, x->words);
    return !x->row.id || keep_outcome(t, x, err);
}

/* Attempts that have ended, in their order; `all`: also those behind one that has not. */
static bool count_ended(struct round *t, bool all, struct err *err)
{
    for (size_t i = t->n_counted; i < t->n_attempts; i++) {
        if (t->attempts[i].state == ATTEMPT_ENDED && !count(t, &t->attempts[i], err))
            return false;
        if (t->attempts[i].state != ATTEMPT_COUNTED && !all)
            break;
        t->n_counted += i == t->n_counted && t->attempts[i].state == ATTEMPT_COUNTED;
    }
    return true;
}

static bool take_trials(struct round *t, double wait_s, struct err *err)
{
    struct run *r = t->r;

    for (;; wait_s = 0) {
        struct trial trial;
        struct try *y;
        int id;
        if (!pool_collect(r->pool, wait_s, r->arena, &id, &trial, err))
            return false;
        if (id < 0)
            return true;
        y = &t->attempts[id / MAX_TRIES].tries[id % MAX_TRIES];
        y->trial = trial;
        y->judged = true;
        tell_judged(r, id, &trial);
        if (verdict_stands(trial.verdict) &&
            !store_put_trial(r->store, y->hash, trial_to_text(r->arena, &trial), err))
            return false;
    }
}

static bool start(struct round *t, struct attempt *x, struct err *err)
{
    x->coder = t->coder;
    return (!x->row.id || store_put_strategy(t->r->store, &x->row, err)) && t->coder->code(t, x, err);
}

bool attempts_run(struct round *t, struct err *err)
{
    struct run *r = t->r;

    for (size_t i = 0; i < t->n_attempts; i++) {
        if (run_interrupted())
            return true;
        /* Meanwhile a worker that is done has its next one. */
        if (!start(t, &t->attempts[i], err) || (pool_busy(r->pool) > 0 && !take_trials(t, 0, err)))
            return false;
    }
    while (t->n_counted < t->n_attempts) {
        bool moved = false;
        for (size_t i = 0; i < t->n_attempts; i++)
            if (!step(t, &t->attempts[i], &moved, err))
                return false;
        if (!count_ended(t, false, err))
            return false;
        if (run_stopping(r)) /* what the rules have is theirs; a conversation goes on where it was */
            return round_asks(t) || count_ended(t, true, err);
        if (moved || t->n_counted == t->n_attempts)
            continue;
        if (pool_busy(r->pool) > 0 && !take_trials(t, calls_under_way(r) ? 0 : 0.2, err))
            return false;
        if (calls_under_way(r) && !calls_turn(r, pool_busy(r->pool) ? 0.05 : 0.25, err))
            return false;
    }
    return true;
}

bool attempts_of_steps(struct run *r, int round, const char *what, struct attempt *list, size_t n,
                       struct err *err)
{
    struct round t = {.r = r,
                      .planner = &backend_rules,
                      .coder = &backend_rules,
                      .number = round,
                      .first_id = (int)r->candidates.n,
                      .attempts = list,
                      .n_attempts = n};

    for (size_t i = 0; i < n; i++)
        list[i].label = arena_printf(r->arena, "%s-%d", what, ++r->n_derived);
    return attempts_run(&t, err);
}
