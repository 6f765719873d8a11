/* The screen that lives: a thread that draws when something changed, at most ten times a second, and reads
 * keys. It is told through a pipe, and blocks the signals that others handle, so that a Ctrl-C still ends the
 * main thread's waits. */
#include "tui/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* A terminal that can shows what is between them at once. */
#define BEGIN_UPDATE "\033[?2026h"
#define END_UPDATE   "\033[?2026l"

#define FRAME_S 0.1 /* between two drawings */
#define TICK_S  1.0 /* the clock */

static struct {
    int wake[2]; /* to the thread: 'e' an event, 'w' a size, 'z' pause, 'c' go on, 's' stopping, 'x' the end */
    pthread_t thread;
    bool colours, ascii;
    void (*stop)(void);

    pthread_mutex_t lock; /* of what follows; the rest is the thread's own */
    struct several runs;
    bool changed;
    bool another; /* run is shown: a campaign's next */

    struct view view;
    struct frame shown, next;
    bool paused; /* by Ctrl-Z */
    bool anew;   /* what the terminal shows is not known */
} screen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void wake_up(char why)
{
    int before = errno;

    if (write(screen.wake[1], &why, 1) < 0)
        errno = before; /* the pipe is full: it will wake */
    errno = before;
}

static void on_signal(int number)
{
    if (number == SIGTSTP)
        wake_up('z');
    else
        wake_up(number == SIGCONT ? 'c' : 'w');
}

void screen_stopping(void)
{
    wake_up('s');
}

/* ---- the thread ---- */

static void size_up(void)
{
    int rows, cols;

    terminal_size(&rows, &cols);
    if (rows == screen.shown.rows && cols == screen.shown.cols)
        return;
    frame_close(&screen.shown);
    frame_close(&screen.next);
    frame_open(&screen.shown, rows, cols, screen.ascii);
    frame_open(&screen.next, rows, cols, screen.ascii);
    screen.anew = true;
}

static void show(void)
{
    struct str bytes = {0};
    struct ui_state *m;
    struct frame drawn;
    size_t head;

    pthread_mutex_lock(&screen.lock);
    screen.changed = false;
    if (screen.another) /* what was chosen is of an earlier run */
        screen.view = (struct view){0};
    screen.another = false;
    m = several_front(&screen.runs);
    screen.view.now_s = m->ended ? m->t_s : several_now_s(&screen.runs);
    screen.view.others = screen.runs.runs.n - 1;
    draw(m, &screen.view, &screen.next);
    pthread_mutex_unlock(&screen.lock);
    str_add(&bytes, BEGIN_UPDATE);
    head = bytes.len;
    frame_update(screen.anew ? NULL : &screen.shown, &screen.next, screen.colours, &bytes);
    if (bytes.len > head) {
        str_add(&bytes, END_UPDATE);
        terminal_write(bytes.s, bytes.len);
        screen.anew = false;
    }
    str_free(&bytes);
    drawn = screen.next;
    screen.next = screen.shown;
    screen.shown = drawn;
}

static void take_terminal(void)
{
    terminal_enter();
    screen.anew = true;
}

/* Ctrl-Z: the terminal is given back. It is taken again after SIGCONT, and not before: this thread may run on
 * for a moment. */
static void pause_here(void)
{
    terminal_leave();
    screen.paused = true;
    kill(getpid(), SIGSTOP);
}

static void say_stopping(void)
{
    pthread_mutex_lock(&screen.lock);
    for (size_t i = 0; i < screen.runs.runs.n; i++)
        several_at(&screen.runs, i)->stopping = true;
    pthread_mutex_unlock(&screen.lock);
}

static void show_next(void)
{
    screen.view.next = false;
    pthread_mutex_lock(&screen.lock);
    screen.another = several_next(&screen.runs) || screen.another;
    pthread_mutex_unlock(&screen.lock);
}

static void take_keys(void)
{
    char bytes[256];
    ssize_t n = read(terminal_fd(), bytes, sizeof(bytes));

    for (size_t at = 0, used; n > 0 && at < (size_t)n; at += used) {
        enum key k = key_read(bytes + at, (size_t)n - at, &used);
        if (k == KEY_REDRAW) {
            screen.anew = true;
        } else if (view_key(&screen.view, k)) {
            screen.stop();
            say_stopping();
        }
        if (screen.view.next)
            show_next();
    }
}

/* False: the screen is to end. */
static bool take_bytes(bool *drawing)
{
    char bytes[64];
    ssize_t n = read(screen.wake[0], bytes, sizeof(bytes));

    for (ssize_t i = 0; i < n; i++) {
        if (bytes[i] == 'x')
            return false;
        if (bytes[i] == 'z')
            pause_here();
        if (bytes[i] == 'c')
            screen.paused = false;
        if (bytes[i] == 's')
            say_stopping();
        *drawing = *drawing || bytes[i] != 'e';
    }
    return true;
}

static void *live(void *context)
{
    double next_s = 0, tick_s = 0; /* when to draw at the earliest, and at the latest */
    bool wanted = true;

    for (;;) {
        bool on = terminal_on();
        double now_s = time_s(), wait_s = MAX(0, (wanted ? next_s : tick_s) - now_s);
        struct pollfd fds[] = {{screen.wake[0], POLLIN, 0}, {on ? terminal_fd() : -1, POLLIN, 0}};
        poll(fds, 2, (int)ceil(1e3 * wait_s));
        if (fds[0].revents && !take_bytes(&wanted))
            return context;
        if (fds[1].revents & (POLLHUP | POLLERR | POLLNVAL)) {
            terminal_gone();
        } else if (fds[1].revents) {
            take_keys();
            wanted = true;
        }
        if (!terminal_on() && !screen.paused && isatty(terminal_fd()) && terminal_foreground())
            take_terminal(); /* brought back by fg */
        pthread_mutex_lock(&screen.lock);
        wanted = wanted || screen.changed;
        pthread_mutex_unlock(&screen.lock);
        now_s = time_s();
        if (!terminal_on()) {
            wanted = false;
            tick_s = now_s + TICK_S;
        } else if (now_s >= (wanted ? next_s : tick_s)) {
            size_up();
            show();
            wanted = false;
            next_s = now_s + FRAME_S;
            tick_s = now_s + TICK_S;
        }
    }
}

/* ---- opened, told, closed ---- */

void screen_event(void *context, const char *event, const json_t *fields)
{
    bool first;

    (void)context;
    pthread_mutex_lock(&screen.lock);
    screen.another = several_event(&screen.runs, event, fields) || screen.another;
    first = !screen.changed;
    screen.changed = true;
    pthread_mutex_unlock(&screen.lock);
    if (first)
        wake_up('e');
}

/* The thread takes none of the signals that end the main thread's waits. */
static bool start_thread(void)
{
    static const int others[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH, SIGCHLD};
    sigset_t blocked, before;
    bool ok;

    sigemptyset(&blocked);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        sigaddset(&blocked, others[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    ok = pthread_create(&screen.thread, NULL, live, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

static void release(void)
{
    frame_close(&screen.shown);
    frame_close(&screen.next);
    several_close(&screen.runs);
}

static void close_wake(void)
{
    close(screen.wake[0]);
    close(screen.wake[1]);
}

bool screen_open(void (*stop)(void))
{
    if (pipe2(screen.wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    if (terminal_open(on_signal)) {
        screen.stop = stop;
        screen.colours = tui_coloured(true);
        screen.ascii = !terminal_utf8();
        screen.view = (struct view){0};
        screen.changed = true;
        several_open(&screen.runs);
        size_up();
        if (start_thread())
            return true;
        terminal_close();
        release();
    }
    close_wake();
    return false;
}

void screen_close(void)
{
    wake_up('x');
    pthread_join(screen.thread, NULL);
    terminal_close();
    release();
    close_wake();
}
