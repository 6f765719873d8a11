/* The last word: the best judged once more, in a fresh process, on hidden cases. */
#include "internal.h"

#define TOO_GOOD 10.0 /* measured, to be believed at first sight */

/* Drawn when the first version is final, so that nothing before it can follow from it; kept, so that a resumed
 * run and a verification draw the same cases. */
static bool hidden_seed(struct run *r, uint64_t *seed, struct err *err)
{
    const char *noted;

    if (!store_get_note(r->store, r->arena, "hidden_seed", &noted, err))
        return false;
    if (noted) {
        *seed = strtoull(noted, NULL, 10);
        return true;
    }
    *seed = r->o->hidden_seed;
    if (!*seed && !rng_fresh_seed(seed, err))
        return false;
    return store_note(r->store, "hidden_seed", arena_printf(r->arena, "%llu", (unsigned long long)*seed), err);
}

uint64_t confirm_look_seed(uint64_t hidden, int look)
{
    return look ? rng_hash(hidden, (uint64_t)look) : hidden;
}

/* Who confirmed: a worker of --workers, or nobody but this machine. */
static bool note_who(struct run *r, const struct fleet_node *by, struct err *err)
{
    json_t *o;

    if (!by)
        return store_note(r->store, "confirmed_by", "", err);
    o = json_object();
    json_put_text(o, "worker", by->name);
    json_put_flag(o, "trusted", by->trusted);
    return store_note(r->store, "confirmed_by", json_take_line(r->arena, o), err);
}

static bool open_fresh(struct run *r, const struct trial_options *o, struct pool **fresh, struct err *err)
{
    return r->o->fleet ? pool_open_fleet(fresh, r->task, o, r->o->fleet, true, err)
                       : pool_open(fresh, r->task, o, 1, NULL, err);
}

bool confirm_original(struct run *r, struct err *err)
{
    const struct trial_options o = {.device = r->o->device,
                                    .seed = r->o->seed,
                                    .exact = r->o->exact,
                                    .confirm = true,
                                    .beside = r->o->beside};
    struct pool *fresh = NULL;
    struct trial t;

    if (!r->o->beside || r->search.best != 0)
        return true;
    trace_doing("judge", "times the original beside %s", r->o->beside);
    bool ok = open_fresh(r, &o, &fresh, err) && pool_original(fresh, r->arena, &t, err) &&
              store_note(r->store, "control", trial_to_text(r->arena, &t), err);
    pool_close(fresh);
    return ok;
}

/* One look at a candidate by a fresh process that has never seen another: hidden cases, other data, whole
 * workloads, both regimes, and as nvcc compiles it where there is one. *looked: false when it was interrupted.
 */
static bool confirm_once(struct run *r, const struct candidate *c, int look, struct trial *t, bool *looked,
                         struct err *err)
{
    struct trial_options o = {.device = r->o->device,
                              .cases = r->cases,
                              .n_cases = r->n_cases,
                              .exact = r->o->exact,
                              .beside = r->o->beside,
                              .hidden = true,
                              .with_nvcc = true,
                              .confirm = true};
    uint64_t seed;

    if (!hidden_seed(r, &seed, err))
        return false;
    o.seed = confirm_look_seed(seed, look);
    struct pool *fresh = NULL;
    struct trial control;
    int id = -1;
    bool ok = open_fresh(r, &o, &fresh, err) && pool_submit(fresh, c->id, r->task->source_path, c->text, err);

    while (ok && id < 0 && !run_interrupted())
        ok = pool_collect(fresh, 0.2, r->arena, &id, t, err);
    *looked = ok && id >= 0;
    ok = ok && (!*looked || note_who(r, pool_judged_by(fresh), err));
    if (*looked && pool_original(fresh, r->arena, &control, err)) {
        ok = store_note(r->store, "control", trial_to_text(r->arena, &control), err);
    }
    pool_close(fresh);
    return ok;
}

/* It could not be confirmed on this machine: the next best takes its place, and a resumed run, which finds its
 * trial as it was, tries again. */
static bool confirm_later(struct run *r, struct candidate *c, const struct trial *t, struct err *err)
{
    r->unjudged = true;
    c->trial.words = arena_printf(r->arena, "not confirmed: %s", t->words);
    search_tell(&r->search, c->id, true, false, c->trial.score);
    tell_best(r);
    return candidate_store(r, c, err);
}

/* The best confirmed. What is too good to be true is looked at twice. One that fails gets that verdict and the
 * next best takes its place, or, where refused is not NULL, the caller is told, who may try further; the
 * original needs no confirmation. */
bool confirm_best(struct run *r, bool *refused, struct err *err)
{
    if (refused)
        *refused = false;
    while (r->search.best != 0 && !run_interrupted()) {
        struct candidate *c = r->candidates.v[r->search.best];
        bool measured = trial_device_measures(pool_device(r->pool)), looked = true;
        int looks = measured && c->trial.score > TOO_GOOD ? RUN_MAX_LOOKS : 1;
        struct trial t = {0};
        trace_doing("judge", "confirms candidate %d on hidden cases, in a fresh process", c->id);
        for (int look = 0; look < looks && (look == 0 || t.verdict == VERDICT_PASSED); look++) {
            if (!confirm_once(r, c, look, &t, &looked, err))
                return false;
            if (!looked)
                return true;
        }
        if (!look_sanitizer(r, c->text, &t, err))
            return false;
        tell_confirm(c, &t);
        /* Who cannot be compiled may have it of the original: no other version can be given back then, either.
         */
        bool asked = r->nvcc_asked;
        r->nvcc_asked |= t.verdict == VERDICT_COMPILE_FAILED;
        if (!asked && r->nvcc_asked && !judge_nvcc_takes(r->task, &r->limits, err))
            return false;
        if (!verdict_stands(t.verdict)) {
            if (!confirm_later(r, c, &t, err))
                return false;
            continue;
        }
        if (t.verdict == VERDICT_PASSED) {
            c->trial.words = ""; /* an earlier confirmation may have left some */
            return candidate_store(r, c, err) &&
                   store_note(r->store, "looks", arena_printf(r->arena, "%d", looks), err) &&
                   store_note(r->store, "confirmation", trial_to_text(r->arena, &t), err);
        }
        t.words = arena_printf(r->arena, "hidden cases: %s", t.words);
        t.hidden = true;
        c->trial = t;
        for (size_t i = 0; i < r->lessons.n; i++)
            if (r->lessons.v[i].id == c->id) {
                r->lessons.v[i].verdict = verdict_name(t.verdict);
                r->lessons.v[i].words = confirm_words(&c->trial);
            }
        search_tell(&r->search, c->id, verdict_correct(t.verdict), false, t.score);
        tell_best(r);
        if (!candidate_store(r, c, err))
            return false;
        if (refused) {
            *refused = true;
            return true;
        }
    }
    return true;
}

const char *confirm_words(const struct trial *t)
{
    if (!t->hidden)
        return t->words ? t->words : "";
    if (verdict_correct(t->verdict))
        return "measured once more in a fresh process it was not faster for certain";
    return "it passed the suite and failed on hidden cases: sizes and values of the domain that were drawn after it "
           "was final; look for what holds only on particular sizes, alignments or values";
}
