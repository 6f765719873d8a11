/* Is the suite good enough? The cases of a tester that is a model join it, and are judged themselves by the
 * faults in the original that they notice; a run on a suite that notices too few does not begin. */
#include "mutation.h"
#include "internal.h"

enum {
    WEIGHED = 40, /* faults, to tell what a tester's cases add */
    FEW = 10,     /* to refuse a suite that sees nothing */
};

static bool stop(const void *context)
{
    return run_stopping(context);
}

static struct mutation_score_options faults_for(const struct run *r, const struct trial_options *with,
                                                size_t n_cases)
{
    return (struct mutation_score_options){.device = pool_device(r->pool)->model,
                                           .seed = r->o->seed,
                                           .most = WEIGHED,
                                           .cases = with->cases,
                                           .n_cases = n_cases,
                                           .progress = trace_mutants};
}

static bool noticed(struct run *r, struct pool *p, const struct trial_options *with, size_t n_cases,
                    const struct mutation_score *fewer, struct mutation_score *a, struct err *err)
{
    struct mutation_score_options o = faults_for(r, with, n_cases);

    o.fewer = fewer;
    o.stop = stop;
    o.context = r;
    return mutation_score_measure(r->task, &o, p, r->arena, a, err);
}

/* How many faults the rules' cases notice, and how many they do with the tester's; each in its pool. */
static bool weigh(struct run *r, struct pool *alone, const struct trial_options *o, struct err *err)
{
    struct mutation_score rules, both;
    struct err why = {0};
    json_t *j;

    if (!noticed(r, alone, o, 0, NULL, &rules, &why) ||
        !noticed(r, r->pool, o, o->n_cases, &rules, &both, &why)) {
        if (why.kind != ERR_STOP && err)
            *err = why;
        return why.kind == ERR_STOP;
    }
    r->suite_text = arena_printf(
        r->arena, "%s; of %zu faults put into the original the rules' cases notice %zu, with the tester's %zu",
        r->suite_text, both.killed + both.survived, rules.killed, both.killed);
    trace_text("tester", "of %zu faults put into the original the rules' cases notice %zu, with these %zu",
               both.killed + both.survived, rules.killed, both.killed);
    j = json_object();
    json_put_int(j, "cases", (int64_t)o->n_cases);
    json_put_int(j, "faults", (int64_t)(both.killed + both.survived));
    json_put_int(j, "noticed_by_rules", (int64_t)rules.killed);
    json_put_int(j, "noticed", (int64_t)both.killed);
    return store_note(r->store, "tester", json_take_line(r->arena, j), err);
}

/* The tester's model adds cases to the suite, and the original must pass these too. Where it does not, its
 * author said too much: the rules' suite stands alone, and the run says so. */
bool suite_extend(struct run *r, struct trial_options *o, struct candidate *original, struct err *err)
{
    struct pool *alone = r->pool, *extended = NULL;
    struct agent_suite more;
    struct trial again;
    struct err why = {0};
    bool ok;

    if (!llm_suite(r, &more, err))
        return false;
    if (more.n_cases == 0 || run_stopping(r))
        return true;
    o->cases = more.cases;
    o->n_cases = more.n_cases;
    if (!run_pool(r, &extended, o, &why) || !pool_original(extended, r->arena, &again, &why)) {
        pool_close(extended);
        o->n_cases = 0;
        if (why.kind != ERR_INPUT) {
            if (err)
                *err = why;
            return false;
        }
        trace_text("stands_in",
                   "the original itself does not pass the tester's cases, the rules' suite stands alone: %s",
                   why.text);
        return true;
    }
    r->pool = extended;
    original->trial.cases = again.cases; /* its times stay those that models were told */
    r->suite_text = arena_printf(r->arena, "%s; %s", r->suite_text, more.text);
    ok = weigh(r, alone, o, err);
    pool_close(alone);
    r->limits = pool_device(r->pool)->limits; /* the old pool's texts are gone */
    return ok;
}

/* A suite that would not notice faults in the original proves nothing of a candidate. A few mutants tell: the
 * same few whatever else was put in before, for a seed stands for one result. */
bool suite_adequate(struct run *r, const struct trial_options *suite, struct err *err)
{
    struct mutation_score_options o = faults_for(r, suite, suite->n_cases);
    struct mutation_score m;
    json_t *j;
    bool ok;

    if (r->o->min_mutation == 0)
        return true;
    o.most = FEW;
    if (!mutation_score_measure(r->task, &o, r->pool, r->arena, &m, err))
        return false;
    j = mutation_score_to_json(&m, false);
    ok = store_note(r->store, "mutation", json_line(r->arena, j), err);
    trace_event("mutation", j);
    if (ok && 100 * m.score < r->o->min_mutation)
        return err_input(
            err,
            "the suite notices only %zu of %zu faults put into the original: a wrong candidate could pass. "
            "`astra check %s` lists what it misses; --min-mutation 0 goes on all the same",
            m.killed, m.killed + m.survived, r->o->task_dir);
    return ok;
}
