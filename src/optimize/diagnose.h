/* diagnose: a trial's counters as the profiler wants them, between trial/ and agent/, which do not know each
 * other. */
#ifndef OPTIMIZE_DIAGNOSE_H
#define OPTIMIZE_DIAGNOSE_H

#include "agent/agent.h"
#include "verdict/verdict.h"

/* The counters of a trial that was timed, in the task's scoring regime; text, which may be NULL, is its file.
 */
void diagnose_profile(const struct task *t, const struct trial *trial, const char *text, const char *device,
                      struct arena *a, struct agent_profile *p);
/* The diagnosis of a trial that was timed, in the task's scoring regime. in_full: with what is staged for
 * nobody, which on the suite's small cases is no advice. */
void diagnose_trial(const struct task *t, const struct trial *trial, const char *device, bool in_full,
                    struct arena *a, struct agent_diagnosis *d);

/* Line n of a text, without its indentation; NULL when there is none. */
const char *diagnose_line(struct arena *a, const char *text, int n);

#endif
