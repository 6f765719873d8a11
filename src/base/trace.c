#include "base/base.h"

#include <errno.h>
#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    FILE *file;
    double start_s;
    void (*listener)(void *context, const char *event, const json_t *fields);
    void *context;
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool trace_open(const char *path, struct err *err)
{
    trace_close();
    trace.file = fopen(path, "ae");
    if (!trace.file)
        return err_world(err, "cannot write the trace %s: %s", path, strerror(errno));
    trace.start_s = time_s();
    return true;
}

void trace_close(void)
{
    if (trace.file)
        fclose(trace.file);
    trace.file = NULL;
}

void trace_listen(void (*listener)(void *context, const char *event, const json_t *fields), void *context)
{
    trace.listener = listener;
    trace.context = context;
}

void trace_event(const char *event, json_t *fields)
{
    if (!trace.file && !trace.listener) {
        json_decref(fields);
        return;
    }
    if (!fields)
        fields = json_object();
    pthread_mutex_lock(&trace.lock);
    if (trace.listener)
        trace.listener(trace.context, event, fields);
    if (trace.file) {
        json_put_text(fields, "event", event);
        json_put_num(fields, "t_s", time_s() - trace.start_s);
        json_dumpf(fields, trace.file, JSON_COMPACT | JSON_REAL_PRECISION(9));
        fputc('\n', trace.file);
        fflush(trace.file);
    }
    pthread_mutex_unlock(&trace.lock);
    json_decref(fields);
}

void trace_text(const char *event, const char *fmt, ...)
{
    struct str b = {0};
    json_t *fields = json_object();
    va_list ap;

    va_start(ap, fmt);
    str_vaddf(&b, fmt, ap);
    va_end(ap);
    json_put_text(fields, "text", str_text(&b));
    str_free(&b);
    trace_event(event, fields);
}
