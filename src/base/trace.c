#include "base/base.h"

#include <errno.h>
#include <pthread.h>

struct ear {
    trace_listener *listener;
    void *context;
};

static struct {
    pthread_mutex_t lock;
    FILE *file;
    double start_s; /* 0: nothing was traced yet */
    struct ear ears[4];
    size_t n_ears;
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool trace_open(const char *path, struct err *err)
{
    trace_close();
    trace.file = fopen(path, "ae");
    return trace.file || err_world(err, "cannot write the trace %s: %s", path, strerror(errno));
}

void trace_close(void)
{
    if (trace.file)
        fclose(trace.file);
    trace.file = NULL;
}

void trace_listen(trace_listener *listener, void *context)
{
    pthread_mutex_lock(&trace.lock);
    BUG_IF(trace.n_ears == ARRAY_LEN(trace.ears));
    trace.ears[trace.n_ears++] = (struct ear){listener, context};
    pthread_mutex_unlock(&trace.lock);
}

void trace_unlisten(trace_listener *listener, void *context)
{
    pthread_mutex_lock(&trace.lock);
    for (size_t i = 0; i < trace.n_ears; i++)
        if (trace.ears[i].listener == listener && trace.ears[i].context == context)
            trace.ears[i--] = trace.ears[--trace.n_ears];
    pthread_mutex_unlock(&trace.lock);
}

bool trace_heard(void)
{
    return trace.file || trace.n_ears > 0;
}

char *trace_line(const json_t *fields)
{
    return json_dumps(fields, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
}

static void write_line(const json_t *fields)
{
    char *line = trace_line(fields);

    fprintf(trace.file, "%s\n", line ? line : "");
    fflush(trace.file);
    free(line);
}

void trace_event(const char *event, json_t *fields)
{
    json_t *whole;

    if (!trace_heard()) {
        json_decref(fields);
        return;
    }
    pthread_mutex_lock(&trace.lock);
    if (trace.start_s <= 0)
        trace.start_s = time_s();
    whole = json_object();
    json_put_text(whole, "event", event);
    json_put_num(whole, "t_s", time_s() - trace.start_s);
    json_object_update(whole, fields);
    for (size_t i = 0; i < trace.n_ears; i++)
        trace.ears[i].listener(trace.ears[i].context, event, whole);
    if (trace.file)
        write_line(whole);
    pthread_mutex_unlock(&trace.lock);
    json_decref(whole);
    json_decref(fields);
}

static void trace_vtext(const char *event, const char *role, const char *fmt, va_list ap)
{
    struct str text = {0};
    json_t *fields;

    if (!trace_heard())
        return;
    fields = json_object();
    str_vaddf(&text, fmt, ap);
    if (role)
        json_put_text(fields, "role", role);
    json_put_text(fields, "text", str_text(&text));
    str_free(&text);
    trace_event(event, fields);
}

void trace_text(const char *event, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    trace_vtext(event, NULL, fmt, ap);
    va_end(ap);
}

void trace_doing(const char *role, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    trace_vtext("doing", role, fmt, ap);
    va_end(ap);
}

void trace_mutants(void *context, size_t done, size_t all)
{
    json_t *fields = json_object();

    (void)context;
    json_put_int(fields, "done", (int64_t)done);
    json_put_int(fields, "all", (int64_t)all);
    trace_event("mutants", fields);
}
