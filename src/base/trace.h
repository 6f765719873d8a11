/* trace: what the program is doing, as one JSON object a line, with time. Off until opened. The live display,
 * the log file and tests read it; nothing else depends on it. Thread-safe. */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include <stdbool.h>

#include "err.h"
#include "json.h"

bool trace_open(const char *path, struct err *err); /* appends */
void trace_close(void);
/* Called with each event too, in the thread that traced it (may be NULL). */
void trace_listen(void (*listener)(void *context, const char *event, const json_t *fields), void *context);
/* fields is stolen and may be NULL; "event" and "t_s" are added. */
void trace_event(const char *event, json_t *fields);
void trace_text(const char *event, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
