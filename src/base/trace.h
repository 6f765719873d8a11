/* trace: what the program is doing, as events: one JSON object a line, each with `event` and `t_s`, the seconds
 * since the first. docs/result.md is the contract. Faces, the trace file and tests read it; nothing else
 * depends on it, and while nobody listens an event costs nothing. Thread-safe. */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include <stdbool.h>

#include "err.h"
#include "json.h"

/* Called with each event, in the thread that traced it, one at a time; must not trace. */
typedef void trace_listener(void *context, const char *event, const json_t *fields);

bool trace_open(const char *path, struct err *err); /* appends */
void trace_close(void);
void trace_listen(trace_listener *listener, void *context); /* beside those that listen already */
void trace_unlisten(trace_listener *listener, void *context);
bool trace_heard(void); /* does anybody listen? For what is costly to say */
/* fields is stolen and may be NULL; `event` and `t_s` are put in front. */
void trace_event(const char *event, json_t *fields);
void trace_text(const char *event, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The event `doing`: what a role does from now on. */
void trace_doing(const char *role, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The event `mutants`: how many of those that are judged are done. */
void trace_mutants(void *context, size_t done, size_t all);
/* An event as it stands in a line: compact, ASCII; free() it. */
char *trace_line(const json_t *fields);

#endif
