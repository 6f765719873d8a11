#include "tui/internal.h"

#include <time.h>

static bool listening;

static void stamp(char buf[16])
{
    time_t t = time(NULL);
    struct tm tm;

    localtime_r(&t, &tm);
    strftime(buf, 16, "%H:%M:%S", &tm);
}

/* One write a line, so that lines of two processes do not mix. */
static void on_event(void *context, const char *event, const json_t *fields)
{
    struct str text = {0}, line = {0};
    char time_of_day[16];

    (void)context;
    lines_add(&text, event, fields);
    stamp(time_of_day);
    for (const char *at = str_text(&text); *at;) {
        size_t len = strcspn(at, "\n");
        str_clear(&line);
        str_addf(&line, "%s  %.*s\n", time_of_day, (int)len, at);
        fputs(str_text(&line), stderr);
        at += len + (at[len] == '\n');
    }
    str_free(&line);
    str_free(&text);
}

void tui_open(const struct tui_options *o)
{
    if (o->quiet || listening)
        return;
    listening = true;
    trace_listen(on_event, NULL);
}

void tui_close(void)
{
    if (listening)
        trace_unlisten(on_event, NULL);
    listening = false;
}

void tui_abandon(void)
{
}

bool tui_on_screen(void)
{
    return false;
}
