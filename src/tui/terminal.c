/* The terminal taken and given back.
 *
 * While it is taken, stderr is a file in memory, so that nobody else can write between the lines; it is shown
 * when the terminal is given back. Giving it back may run in a signal handler: on a crash, on a second Ctrl-C.
 * After kill -9 nothing of ours runs; so a guard, a child that does nothing else, is told when the terminal is
 * taken and when it is back, and where it hears of our end in between it gives it back itself. */
#include "tui/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* The other screen, no cursor, no wrapping at the right edge; and back. */
#define ENTER "\033[?1049h\033[?25l\033[?7l\033[2J"
#define LEAVE "\033[0m\033[?7h\033[?25h\033[?1049l"

enum { MIN_ROWS = 6, MIN_COLS = 20 };

static struct {
    int tty, kept, real; /* kept: the file that is stderr meanwhile; real: stderr */
    int guard;           /* a pipe to it: 't' taken, 'b' back */
    pid_t guard_pid;
    struct termios before;
    atomic_bool on; /* it is ours */
} terminal;

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGHUP, SIGQUIT, SIGSYS};
static const int told[] = {SIGTSTP, SIGCONT, SIGWINCH};
static struct sigaction old_fatal[ARRAY_LEN(fatal)], old_told[ARRAY_LEN(told)];

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

static void give_back(void)
{
    write_all(terminal.tty, LEAVE, sizeof(LEAVE) - 1);
    tcsetattr(terminal.tty, TCSADRAIN, &terminal.before);
}

bool terminal_leave(void)
{
    if (!atomic_exchange(&terminal.on, false))
        return false;
    give_back();
    write_all(terminal.guard, "b", 1);
    return true;
}

void terminal_abandon(void)
{
    char bytes[512];
    ssize_t n;
    off_t at = 0;

    if (!terminal_leave())
        return;
    dup2(terminal.real, STDERR_FILENO);
    while ((n = pread(terminal.kept, bytes, sizeof(bytes), at)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            if ((bytes[i] < ' ' || bytes[i] > '~') && bytes[i] != '\n')
                bytes[i] = '?';
        write_all(terminal.real, bytes, (size_t)n);
        at += n;
    }
}

static void on_fatal(int number)
{
    terminal_abandon();
    signal(number, SIG_DFL);
    raise(number);
}

/* ---- the guard ---- */

static void watch(int from)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTOU};
    char word, last = 'b';

    for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
        signal(ignored[i], SIG_IGN);
    prctl(PR_SET_NAME, "astra-guard");
    for (;;) {
        ssize_t n = read(from, &word, 1);
        if (n == 0 || (n < 0 && errno != EINTR))
            break;
        if (n == 1)
            last = word;
    }
    if (last == 't')
        give_back();
}

static bool start_guard(void)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    terminal.guard_pid = fork();
    if (terminal.guard_pid == 0) {
        close(ends[1]);
        watch(ends[0]);
        _exit(0);
    }
    close(ends[0]);
    terminal.guard = ends[1];
    if (terminal.guard_pid < 0)
        close(ends[1]);
    return terminal.guard_pid > 0;
}

/* ---- taken ---- */

bool terminal_foreground(void)
{
    return tcgetpgrp(terminal.tty) == getpgrp();
}

bool terminal_on(void)
{
    return atomic_load(&terminal.on);
}

int terminal_fd(void)
{
    return terminal.tty;
}

void terminal_enter(void)
{
    struct termios raw = terminal.before;

    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    write_all(terminal.guard, "t", 1);
    tcsetattr(terminal.tty, TCSADRAIN, &raw);
    write_all(terminal.tty, ENTER, sizeof(ENTER) - 1);
    atomic_store(&terminal.on, true);
}

void terminal_gone(void)
{
    if (atomic_exchange(&terminal.on, false))
        write_all(terminal.guard, "b", 1);
}

void terminal_write(const char *bytes, size_t n)
{
    if (terminal_on())
        write_all(terminal.tty, bytes, n);
}

void terminal_size(int *rows, int *cols)
{
    struct winsize w = {0};

    if (ioctl(terminal.tty, TIOCGWINSZ, &w) != 0 || w.ws_row == 0 || w.ws_col == 0)
        w = (struct winsize){.ws_row = 24, .ws_col = 80};
    *rows = MAX(w.ws_row, MIN_ROWS);
    *cols = MAX(w.ws_col, MIN_COLS);
}

bool terminal_utf8(void)
{
    const char *names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

/* ---- opened and closed ---- */

static bool can(void)
{
    const char *term = getenv("TERM");
    char path[256];

    if (!term || !*term || str_eq(term, "dumb") || ttyname_r(STDERR_FILENO, path, sizeof(path)) != 0)
        return false;
    terminal.tty = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal.tty < 0)
        return false;
    if (terminal_foreground() && tcgetattr(terminal.tty, &terminal.before) == 0)
        return true;
    close(terminal.tty);
    return false;
}

static void close_files(void)
{
    close(terminal.tty);
    if (terminal.kept >= 0)
        close(terminal.kept);
    if (terminal.real >= 0)
        close(terminal.real);
}

bool terminal_open(void (*on_told)(int number))
{
    struct sigaction die = {.sa_handler = on_fatal}, tell = {.sa_handler = on_told, .sa_flags = SA_RESTART};

    if (!can())
        return false;
    terminal.kept = memfd_create("stderr", MFD_CLOEXEC);
    terminal.real = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (terminal.kept < 0 || terminal.real < 0 || !start_guard()) {
        close_files();
        return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(fatal); i++)
        sigaction(fatal[i], &die, &old_fatal[i]);
    for (size_t i = 0; i < ARRAY_LEN(told); i++)
        sigaction(told[i], &tell, &old_told[i]);
    dup2(terminal.kept, STDERR_FILENO);
    terminal_enter();
    return true;
}

void terminal_close(void)
{
    struct str kept = {0}, clean = {0};
    char bytes[4096];
    ssize_t n;
    off_t at = 0;

    terminal_leave();
    for (size_t i = 0; i < ARRAY_LEN(fatal); i++)
        sigaction(fatal[i], &old_fatal[i], NULL);
    for (size_t i = 0; i < ARRAY_LEN(told); i++)
        sigaction(told[i], &old_told[i], NULL);
    close(terminal.guard);
    while (waitpid(terminal.guard_pid, NULL, 0) < 0 && errno == EINTR)
        ;
    dup2(terminal.real, STDERR_FILENO);
    for (; (n = pread(terminal.kept, bytes, sizeof(bytes), at)) > 0; at += n)
        str_addn(&kept, bytes, (size_t)n);
    tui_clean(&clean, str_text(&kept));
    fputs(str_text(&clean), stderr);
    str_free(&kept);
    str_free(&clean);
    close_files();
}
