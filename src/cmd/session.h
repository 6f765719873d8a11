/* session: a task opened, its original judged, and the versions that a verb was given, one after the other, by
 * one worker. Shared by check, bench and profile. */
#ifndef CMD_SESSION_H
#define CMD_SESSION_H

#include "agent/agent.h"
#include "cmd/cmd.h"
#include "report/report.h"
#include "worker/worker.h"

struct session_version {
    const char *file; /* NULL: the original itself */
    struct trial trial;
    int64_t dynamic_bytes; /* of shared memory, the most that a launch of a workload asks for; -1: not known */
};

struct session {
    struct arena *arena;
    struct task *task;
    struct pool *pool;
    const struct trial_device *device;
    struct session_version original, *versions; /* without files the original is the one version */
    size_t n_versions;
    uint64_t seed;  /* that the cases were drawn with */
    bool confirmed; /* hidden cases are among them */
};

/* The files after DIR are the versions. */
bool session_open(struct session *s, const struct cmd_args *args, bool confirm, struct err *err);
int session_close(struct session *s, const struct cmd_args *args, bool ok, struct str *text,
                  struct err *err); /* prints, and frees the text; gives the exit status */
/* Registers, spills, shared memory and occupancy of the original and the versions, a row each. */
void session_add_resources(const struct session *s, bool markdown, struct str *out);
/* Verdict, place, words and accuracy of a version. */
void session_add_verdict(const struct session *s, const struct session_version *v, struct str *out);

#endif
