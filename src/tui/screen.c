/* The terminal: its modes, its size, its keys, and a thread that draws when something changed, at most ten
 * times a second.
 *
 * While the screen is on, stderr is a file in memory, so that nobody else can write between the lines; it is
 * shown when the screen is left. Leaving is one function that may run in a signal handler, whatever happens:
 * at the end, on a crash, on a second Ctrl-C. The thread is signalled through a pipe and blocks the signals
 * that others handle, so that a Ctrl-C still ends the main thread's waits. */
#include "tui/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

/* The other screen, no cursor, no wrapping at the right edge; and back. */
#define ENTER "\033[?1049h\033[?25l\033[?7l\033[2J"
#define LEAVE "\033[0m\033[?7h\033[?25h\033[?1049l"
/* A terminal that can shows what is between them at once. */
#define BEGIN_UPDATE "\033[?2026h"
#define END_UPDATE   "\033[?2026l"

enum { MIN_ROWS = 6, MIN_COLS = 20 };
#define FRAME_S 0.1 /* between two drawings */
#define TICK_S  1.0 /* the clock */

static struct screen {
    int tty, kept, real; /* kept: the file that is stderr meanwhile; real: stderr */
    struct termios before;
    atomic_bool on; /* the terminal is ours */
    int wake[2];    /* to the thread: a byte each, see wake_up */
    pthread_t thread;
    bool colours, ascii;
    void (*stop)(void);

    pthread_mutex_t lock; /* of what follows; the rest of the thread's is its own */
    struct model model;
    bool changed;
    double heard_s; /* when the last event came */

    struct view view;
    struct frame shown, next;
    bool paused; /* by Ctrl-Z */
    bool anew;   /* what the terminal shows is not known */
} screen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGHUP, SIGQUIT, SIGSYS};
static struct sigaction old_fatal[ARRAY_LEN(fatal)], old_stop, old_cont, old_size;

/* ---- in signal handlers too ---- */

static void write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno != EINTR && errno != EAGAIN)
            return;
        if (done > 0) {
            bytes += done;
            n -= (size_t)done;
        }
    }
}

static bool leave(void)
{
    if (!atomic_exchange(&screen.on, false))
        return false;
    write_all(screen.tty, LEAVE, sizeof(LEAVE) - 1);
    tcsetattr(screen.tty, TCSADRAIN, &screen.before);
    return true;
}

void screen_abandon(void)
{
    char bytes[512];
    ssize_t n;
    off_t at = 0;

    if (!leave())
        return;
    dup2(screen.real, STDERR_FILENO);
    while ((n = pread(screen.kept, bytes, sizeof(bytes), at)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            if ((bytes[i] < ' ' || bytes[i] > '~') && bytes[i] != '\n')
                bytes[i] = '?';
        write_all(screen.real, bytes, (size_t)n);
        at += n;
    }
}

static void on_fatal(int number)
{
    screen_abandon();
    signal(number, SIG_DFL);
    raise(number);
}

static void wake_up(char why)
{
    int before = errno;

    if (write(screen.wake[1], &why, 1) < 0)
        errno = before; /* the pipe is full: it will wake */
    errno = before;
}

static void on_signal(int number)
{
    wake_up(number == SIGTSTP ? 'z' : number == SIGCONT ? 'c' : 'w');
}

void screen_stopping(void)
{
    wake_up('s');
}

/* ---- the thread ---- */

static bool in_foreground(void)
{
    return tcgetpgrp(screen.tty) == getpgrp();
}

static void enter(void)
{
    struct termios raw = screen.before;

    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(screen.tty, TCSADRAIN, &raw);
    write_all(screen.tty, ENTER, sizeof(ENTER) - 1);
    screen.anew = true;
    atomic_store(&screen.on, true);
}

static void size_up(void)
{
    struct winsize w = {0};
    int rows, cols;

    if (ioctl(screen.tty, TIOCGWINSZ, &w) != 0 || w.ws_row == 0 || w.ws_col == 0)
        w = (struct winsize){.ws_row = 24, .ws_col = 80};
    rows = MAX(w.ws_row, MIN_ROWS);
    cols = MAX(w.ws_col, MIN_COLS);
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
    struct frame drawn;
    size_t head;

    pthread_mutex_lock(&screen.lock);
    screen.changed = false;
    screen.view.now_s = screen.model.t_s + (screen.model.ended ? 0 : time_s() - screen.heard_s);
    draw(&screen.model, &screen.view, &screen.next);
    pthread_mutex_unlock(&screen.lock);
    str_add(&bytes, BEGIN_UPDATE);
    head = bytes.len;
    frame_update(screen.anew ? NULL : &screen.shown, &screen.next, screen.colours, &bytes);
    if (bytes.len > head && atomic_load(&screen.on)) {
        str_add(&bytes, END_UPDATE);
        write_all(screen.tty, bytes.s, bytes.len);
        screen.anew = false;
    }
    str_free(&bytes);
    drawn = screen.next;
    screen.next = screen.shown;
    screen.shown = drawn;
}

/* Ctrl-Z: the terminal is given back. It is taken again after SIGCONT, and not before: this thread may run on
 * for a moment. */
static void pause_here(void)
{
    leave();
    screen.paused = true;
    kill(getpid(), SIGSTOP);
}

static void say_stopping(void)
{
    pthread_mutex_lock(&screen.lock);
    screen.model.stopping = true;
    pthread_mutex_unlock(&screen.lock);
}

static void take_keys(void)
{
    char bytes[256];
    ssize_t n = read(screen.tty, bytes, sizeof(bytes));

    for (size_t at = 0, used; n > 0 && at < (size_t)n; at += used) {
        enum key k = key_read(bytes + at, (size_t)n - at, &used);
        if (k == KEY_REDRAW)
            screen.anew = true;
        else if (view_key(&screen.view, k)) {
            screen.stop();
            say_stopping();
        }
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
        bool on = atomic_load(&screen.on);
        double now_s = time_s(), wait_s = MAX(0, (wanted ? next_s : tick_s) - now_s);
        struct pollfd fds[] = {{screen.wake[0], POLLIN, 0}, {on ? screen.tty : -1, POLLIN, 0}};
        poll(fds, 2, (int)ceil(1e3 * wait_s));
        if (fds[0].revents && !take_bytes(&wanted))
            return context;
        if (fds[1].revents & (POLLHUP | POLLERR | POLLNVAL))
            atomic_store(&screen.on, false); /* the terminal is gone */
        else if (fds[1].revents) {
            take_keys();
            wanted = true;
        }
        if (!atomic_load(&screen.on) && !screen.paused && isatty(screen.tty) && in_foreground())
            enter(); /* brought back by fg */
        pthread_mutex_lock(&screen.lock);
        wanted = wanted || screen.changed;
        pthread_mutex_unlock(&screen.lock);
        now_s = time_s();
        if (!atomic_load(&screen.on)) {
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
    model_event(&screen.model, event, fields);
    screen.heard_s = time_s();
    first = !screen.changed;
    screen.changed = true;
    pthread_mutex_unlock(&screen.lock);
    if (first)
        wake_up('e');
}

static bool speaks_utf8(void)
{
    const char *names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

static bool can(void)
{
    const char *term = getenv("TERM");
    char path[256];

    if (!term || !*term || str_eq(term, "dumb") || ttyname_r(STDERR_FILENO, path, sizeof(path)) != 0)
        return false;
    screen.tty = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (screen.tty < 0)
        return false;
    if (in_foreground() && tcgetattr(screen.tty, &screen.before) == 0)
        return true;
    close(screen.tty);
    return false;
}

static void catch_signals(void)
{
    struct sigaction die = {.sa_handler = on_fatal}, tell = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    for (size_t i = 0; i < ARRAY_LEN(fatal); i++)
        sigaction(fatal[i], &die, &old_fatal[i]);
    sigaction(SIGTSTP, &tell, &old_stop);
    sigaction(SIGCONT, &tell, &old_cont);
    sigaction(SIGWINCH, &tell, &old_size);
}

static void release_signals(void)
{
    for (size_t i = 0; i < ARRAY_LEN(fatal); i++)
        sigaction(fatal[i], &old_fatal[i], NULL);
    sigaction(SIGTSTP, &old_stop, NULL);
    sigaction(SIGCONT, &old_cont, NULL);
    sigaction(SIGWINCH, &old_size, NULL);
}

static void close_files(void)
{
    close(screen.tty);
    close(screen.kept);
    close(screen.real);
    close(screen.wake[0]);
    close(screen.wake[1]);
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

bool screen_open(void (*stop)(void))
{
    const char *no_color = getenv("NO_COLOR");

    if (!can())
        return false;
    screen.kept = memfd_create("stderr", MFD_CLOEXEC);
    screen.real = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (screen.kept < 0 || screen.real < 0 || pipe2(screen.wake, O_CLOEXEC | O_NONBLOCK) != 0) {
        close(screen.tty);
        return false;
    }
    screen.stop = stop;
    screen.colours = !no_color || !*no_color;
    screen.ascii = !speaks_utf8();
    screen.view = (struct view){0};
    screen.changed = true;
    screen.heard_s = time_s();
    model_open(&screen.model);
    size_up();
    catch_signals();
    dup2(screen.kept, STDERR_FILENO);
    enter();
    if (start_thread())
        return true;
    screen_abandon();
    release_signals();
    model_close(&screen.model);
    close_files();
    return false;
}

void screen_close(void)
{
    struct str kept = {0}, clean = {0};
    char bytes[4096];
    ssize_t n;
    off_t at = 0;

    wake_up('x');
    pthread_join(screen.thread, NULL);
    leave();
    release_signals();
    dup2(screen.real, STDERR_FILENO);
    for (; (n = pread(screen.kept, bytes, sizeof(bytes), at)) > 0; at += n)
        str_addn(&kept, bytes, (size_t)n);
    tui_clean(&clean, str_text(&kept));
    fputs(str_text(&clean), stderr);
    str_free(&kept);
    str_free(&clean);
    frame_close(&screen.shown);
    frame_close(&screen.next);
    model_close(&screen.model);
    close_files();
}
