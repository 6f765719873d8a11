/* Which face a run has: the screen, lines, or none. */
#include "tui/internal.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static enum { NO_FACE, LINES, SCREEN } face;
static enum tui_colours colours;
static void (*stop_run)(void);
static bool told;   /* candidates were, in lines */
static bool silent; /* nobody reads lines any more */

void tui_set_colours(enum tui_colours which)
{
    colours = which;
}

bool tui_coloured(bool terminal)
{
    const char *no_color = getenv("NO_COLOR");

    if (colours == TUI_COLOURS_AUTO)
        return terminal && (!no_color || !*no_color);
    return colours == TUI_COLOURS_ALWAYS;
}

static void stamp(char buf[16])
{
    time_t t = time(NULL);
    struct tm tm;

    localtime_r(&t, &tm);
    strftime(buf, 16, "%H:%M:%S", &tm);
}

/* Nobody reads the lines any more, as when `head` has seen enough: the run is stopped, or what cannot be
 * stopped ends as other tools do. */
static void unread(void)
{
    silent = true;
    if (stop_run) {
        stop_run();
        return;
    }
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

/* One write a line, so that lines of two processes do not mix. */
static void say_line(const char *text)
{
    struct str line = {0};
    char time_of_day[16];

    if (silent)
        return;
    stamp(time_of_day);
    str_addf(&line, "%s  %s\n", time_of_day, text);
    if (fputs(str_text(&line), stderr) == EOF && errno == EPIPE)
        unread();
    str_free(&line);
}

static void lines_event(void *context, const char *event, const json_t *fields)
{
    struct str text = {0}, line = {0};
    const char *kernel = json_text(fields, "kernel", NULL);

    (void)context;
    lines_add(&text, event, fields);
    for (const char *at = str_text(&text); *at;) {
        size_t len = strcspn(at, "\n");
        str_clear(&line);
        if (kernel) { /* of a campaign, whose runs may be told in turn */
            tui_clean(&line, kernel);
            str_add(&line, ": ");
        }
        str_addn(&line, at, len);
        say_line(str_text(&line));
        at += len + (at[len] == '\n');
    }
    told = told || str_eq(event, "trial");
    waiting_event(event, fields, text.len > 0);
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
    stop_run = o->stop;
    silent = told = false;
    face = o->screen && !shared_terminal() && screen_open(o->stop) ? SCREEN : LINES;
    if (face == LINES)
        waiting_open(say_line);
    trace_listen(face == SCREEN ? screen_event : lines_event, NULL);
}

void tui_close(void)
{
    if (face == NO_FACE)
        return;
    trace_unlisten(face == SCREEN ? screen_event : lines_event, NULL);
    if (face == SCREEN)
        screen_close();
    else
        waiting_close();
    face = NO_FACE;
}

bool tui_told_stdout(void)
{
    struct stat out, err;

    return told && fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
           out.st_dev == err.st_dev && out.st_ino == err.st_ino;
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
