/* Which face a run has: the screen, lines, or none. */
#include "tui/internal.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static enum { NO_FACE, LINES, SCREEN } face;

static void stamp(char buf[16])
{
    time_t t = time(NULL);
    struct tm tm;

    localtime_r(&t, &tm);
    strftime(buf, 16, "%H:%M:%S", &tm);
}

/* One write a line, so that lines of two processes do not mix. */
static void lines_event(void *context, const char *event, const json_t *fields)
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

/* A pager or another screen may be at the other end of a pipe. */
static bool shared_terminal(void)
{
    struct stat s;

    return fstat(STDOUT_FILENO, &s) == 0 && S_ISFIFO(s.st_mode);
}

void tui_open(const struct tui_options *o)
{
    if (o->quiet || face != NO_FACE)
        return;
    face = o->screen && !shared_terminal() && screen_open(o->stop) ? SCREEN : LINES;
    trace_listen(face == SCREEN ? screen_event : lines_event, NULL);
}

void tui_close(void)
{
    if (face == NO_FACE)
        return;
    trace_unlisten(face == SCREEN ? screen_event : lines_event, NULL);
    if (face == SCREEN)
        screen_close();
    face = NO_FACE;
}

void tui_abandon(void)
{
    if (face == SCREEN)
        terminal_abandon();
}

bool tui_stopping(void)
{
    if (face == SCREEN)
        screen_stopping();
    return face == SCREEN;
}
