/* What the verbs say: on stdout the result, on stderr what went wrong, with the line of the file that it is
 * about. */
#include "cmd/cmd.h"
#include "tui/tui.h"

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MIN_WIDTH = 40, HELP_WIDTH = 100, QUOTED = 160 /* bytes of a source line that are shown */ };

#define RED    "31"
#define GREEN  "32"
#define CYAN   "36"
#define BOLD   "1"
#define NORMAL "\033[0m"

static enum tui_colours colours = TUI_COLOURS_AUTO;

bool cmd_set_colours(const char *word, struct err *err)
{
    static const char *const words[] = {"auto", "always", "never"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq(words[i], word)) {
            colours = (enum tui_colours)i;
            tui_set_colours(colours);
            return true;
        }
    return err_input(err, "--color takes auto, always or never, not '%s'", word);
}

static bool coloured(int fd)
{
    return tui_coloured(isatty(fd));
}

static void add_coloured(struct str *out, bool on, const char *code, const char *text, size_t len)
{
    if (on)
        str_addf(out, "\033[%sm%.*s" NORMAL, code, (int)len, text);
    else
        str_addn(out, text, len);
}

/* ---- stdout ---- */

/* Nobody reads any more: ended as other tools are. */
static void die_of_pipe(void)
{
    trace_close();
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

/* Columns of the terminal that is stdout; 0: there is none. */
static int stdout_columns(void)
{
    struct winsize size;

    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}

/* Where a line goes on that is too long: below its last column of a table, or its own beginning. */
static size_t hanging(const char *line, size_t len, size_t width)
{
    size_t indent = strspn(line, " ");

    for (size_t i = indent; i + 2 < len && i < width / 2; i++)
        if (line[i] == ' ' && line[i + 1] == ' ' && line[i + 2] != ' ')
            indent = i + 2;
    return indent < width / 2 ? indent : 0;
}

static void wrap_line(struct str *out, const char *line, size_t len, size_t width)
{
    size_t indent = hanging(line, len, width), room = width;

    while (len > room) {
        size_t cut = room;
        while (cut > 0 && line[cut] != ' ')
            cut--;
        while (cut > 0 && line[cut - 1] == ' ')
            cut--;
        size_t blank = strspn(line, " ");
        if (blank > 0 && blank >= cut) { /* headings over columns that are further right */
            line += blank;
            len -= blank;
            continue;
        }
        if (cut == 0)
            break; /* one long word */
        str_addf(out, "%.*s\n%*s", (int)cut, line, (int)indent, "");
        cut += strspn(line + cut, " ");
        line += cut;
        len -= cut;
        room = width - indent;
    }
    str_addn(out, line, len);
}

void cmd_wrap(struct str *out, const char *text, int width)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        wrap_line(out, text, len, (size_t)MAX(width, MIN_WIDTH));
        text += len;
        if (*text)
            str_addc(out, *text++);
    }
}

static void paint_patch(struct str *out, const char *text)
{
    static const struct {
        const char *before, *code;
    } kinds[] = {{"+++", BOLD}, {"---", BOLD}, {"@@", CYAN}, {"+", GREEN}, {"-", RED}};

    while (*text) {
        size_t len = strcspn(text, "\n");
        const char *code = NULL;
        for (size_t i = 0; i < ARRAY_LEN(kinds) && !code; i++)
            code = str_starts(text, kinds[i].before) ? kinds[i].code : NULL;
        add_coloured(out, code != NULL, code, text, len);
        text += len;
        if (*text)
            str_addc(out, *text++);
    }
}

static bool put(const char *text, struct err *err)
{
    if (fputs(text, stdout) != EOF && fflush(stdout) == 0)
        return true;
    if (errno == EPIPE)
        die_of_pipe();
    return err_world(err, "cannot write to standard output: %s", strerror(errno));
}

bool cmd_print_as(enum cmd_form form, const char *text, struct err *err)
{
    struct str clean = {0}, shown = {0};
    int width = stdout_columns();
    bool ok;

    tui_close();
    if (isatty(STDOUT_FILENO))
        tui_clean(&clean, text);
    else
        str_add(&clean, text);
    if (form == CMD_HELP)
        cmd_wrap(&shown, str_text(&clean), width ? MIN(width, HELP_WIDTH) : HELP_WIDTH);
    else if (form == CMD_TEXT && width)
        cmd_wrap(&shown, str_text(&clean), width);
    else if (form == CMD_PATCH && coloured(STDOUT_FILENO))
        paint_patch(&shown, str_text(&clean));
    else
        str_add(&shown, str_text(&clean));
    ok = put(str_text(&shown), err);
    str_free(&clean);
    str_free(&shown);
    return ok;
}

bool cmd_print(const char *text, struct err *err)
{
    return cmd_print_as(CMD_TEXT, text, err);
}

bool cmd_print_result(const struct cmd_args *args, const char *text, struct err *err)
{
    return cmd_print_as(args->json || args->events ? CMD_EXACT : CMD_TEXT, text, err);
}

/* ---- stderr ---- */

void cmd_add_place(struct str *out, const char *file, int line, int col, bool in_colour)
{
    struct arena *a = arena_open();
    char *text;
    size_t len;

    if (line > 0 && fs_read(a, file, &text, NULL, NULL)) {
        struct line_origin from;

        if (origin_find(&from, a, text, line, fs_basename(file)))
            str_addf(out, "    from %s:%d\n", from.file, from.line);
        while (--line > 0 && *text)
            text += strcspn(text, "\n"), text += *text == '\n';
        len = MIN(strcspn(text, "\r\n"), (size_t)QUOTED);
        if (len) {
            str_add(out, "    ");
            tui_clean(out, arena_strndup(a, text, len));
            str_addc(out, '\n');
        }
        if (col > 0 && (size_t)col <= len + 1) {
            str_add(out, "    ");
            for (int i = 0; i + 1 < col; i++)
                if (text[i] == '\t')
                    str_addc(out, '\t');
                else if (((unsigned char)text[i] & 0xc0) != 0x80)
                    str_addc(out, ' ');
            add_coloured(out, in_colour, GREEN, "^", 1);
            str_addc(out, '\n');
        }
    }
    arena_close(a);
}

/* "FILE:LINE:COL: words", as further errors stand in an error's text. */
static bool further_place(struct arena *a, const char *text, char **file, int *line, int *col)
{
    size_t len = strcspn(text, "\n");

    for (const char *at = text; (at = memchr(at, ':', len - (size_t)(at - text))); at++) {
        int used = 0;
        if (sscanf(at, ":%d:%d: %n", line, col, &used) == 2 && used > 0) {
            *file = arena_strndup(a, text, (size_t)(at - text));
            return true;
        }
    }
    return false;
}

static void add_error(const struct err *err, bool in_colour, struct str *out)
{
    struct arena *a = arena_open();
    char buf[4096], *file = arena_strdup(a, err->file);
    struct str clean = {.arena = a};
    const char *text;
    int line = err->line, col = err->col;

    tui_clean(&clean, err_format(err, buf, sizeof(buf)));
    text = str_text(&clean);
    add_coloured(out, in_colour, BOLD, "astra: ", 7);
    for (bool placed = *file != 0; *text; placed = further_place(a, text, &file, &line, &col)) {
        size_t len = strcspn(text, "\n");
        str_addf(out, "%.*s\n", (int)len, text);
        text += len + (text[len] == '\n');
        if (placed)
            cmd_add_place(out, file, line, col, in_colour);
    }
    arena_close(a);
}

int cmd_fail(const struct err *err)
{
    struct str text = {0};

    tui_close();
    add_error(err, coloured(STDERR_FILENO), &text);
    fputs(str_text(&text), stderr);
    str_free(&text);
    switch (err->kind) {
    case ERR_INPUT:
        return EXIT_USAGE;
    case ERR_STOP:
        return EXIT_INTERRUPTED;
    default:
        return EXIT_WORLD;
    }
}
