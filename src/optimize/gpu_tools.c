/* What a GPU's own tools say, where they are: counters of what a round starts from, the sanitizer on what is
 * given back. */
#include "internal.h"

bool look_counters(struct run *r, struct candidate *c, struct err *err)
{
    const struct trial_device *d = pool_device(r->pool);
    const char *why_not;

    if (!trial_device_measures(d) || c->trial.counters || r->no_counters || r->o->fleet)
        return true;
    const struct watched v = {r->task, trial_device_id(r->arena, d), r->task->source_path, c->text};
    if (!watch_counters(&v, true, r->arena, &c->trial, &why_not, err))
        return false;
    if (why_not) { /* nor for the next one */
        r->no_counters = true;
        trace_text("counters", "none of the GPU: %s", why_not);
        return true;
    }
    diagnose_trial(r->task, &c->trial, r->limits.device_name, false, r->arena, &c->diagnosis);
    return candidate_store(r, c, err);
}

bool look_sanitizer(struct run *r, const char *text, struct trial *t, struct err *err)
{
    const struct trial_device *d = pool_device(r->pool);
    struct watch_finding f;

    if (!trial_device_measures(d) || t->verdict != VERDICT_PASSED)
        return true;
    if (r->o->fleet) { /* the GPU is elsewhere */
        trial_add_missing(r->arena, t, "compute-sanitizer: it does not go to the workers of --workers");
        return true;
    }
    trace_text("sanitizer", "compute-sanitizer runs the suite on what would be given back");
    const struct watched v = {r->task, trial_device_id(r->arena, d), r->task->source_path, text};
    if (!watch_sanitizer(&v, r->arena, &f, err))
        return false;
    if (f.words) {
        t->verdict = VERDICT_UNSAFE;
        t->words = f.words;
        t->line = f.line;
        t->col = 0;
        return true;
    }
    if (f.why_not)
        trial_add_missing(r->arena, t, arena_printf(r->arena, "compute-sanitizer: %s", f.why_not));
    return store_note(r->store, "sanitizer",
                      f.why_not ? f.why_not : "memcheck, racecheck, initcheck, synccheck: nothing", err);
}
