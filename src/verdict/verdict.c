/* The names of verdicts, and what a trial is asked beside its fields. */
#include "verdict.h"

const double trial_ulp_edges[] = {0, 0.5, 1, 2, 4, 8, 16};

static const char *const verdict_names[] = {
    [VERDICT_PASSED] = "passed",
    [VERDICT_SLOWER] = "slower",
    [VERDICT_NOT_UNDERSTOOD] = "not-understood",
    [VERDICT_COMPILE_FAILED] = "compile-failed",
    [VERDICT_UNSUPPORTED] = "unsupported",
    [VERDICT_LAUNCH_FAILED] = "launch-failed",
    [VERDICT_CRASHED] = "crashed",
    [VERDICT_HUNG] = "hung",
    [VERDICT_TOO_SLOW] = "too-slow-to-judge",
    [VERDICT_UNSAFE] = "unsafe",
    [VERDICT_NONDETERMINISTIC] = "nondeterministic",
    [VERDICT_WRONG] = "wrong",
    [VERDICT_CHEAT] = "cheat",
};

const char *verdict_name(enum verdict v)
{
    return verdict_names[v];
}

bool verdict_parse(const char *name, enum verdict *v)
{
    for (size_t i = 0; i < ARRAY_LEN(verdict_names); i++)
        if (!strcmp(name, verdict_names[i])) {
            *v = (enum verdict)i;
            return true;
        }
    return false;
}

void trial_add_missing(struct arena *a, struct trial *t, const char *what)
{
    if (what)
        t->missing_checks = t->missing_checks ? arena_printf(a, "%s; %s", t->missing_checks, what) : what;
}

double trial_apart(const struct trial *t)
{
    double apart = 0;

    for (size_t i = 0; i < t->n_accuracy; i++)
        apart = fmax(apart, t->accuracy[i].apart);
    return apart;
}
