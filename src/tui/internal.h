/* Between these files. Events make a model's state, a model and a view make a frame, two frames make the bytes
 * that turn one into the other; only screen.c knows the terminal. */
#ifndef TUI_INTERNAL_H
#define TUI_INTERNAL_H

#include "tui/tui.h"

/* ---- glyph.c ---- */

uint32_t glyph_next(const char **text); /* of a text that is not at its end; U+FFFD for a byte that is none */
int glyph_width(uint32_t c);            /* in columns: 0 combines with what is before it; -1: never shown */

/* ---- lines.c ---- */

/* What there is to say of an event, clean, in lines without a last newline; nothing for most. */
void lines_add(struct str *to, const char *event, const json_t *fields);

/* ---- waiting.c: beside the lines; `say` gets a clean line from a thread of its own ---- */

void waiting_open(void (*say)(const char *text));
void waiting_event(const char *event, const json_t *fields, bool said); /* said: it had a line */
void waiting_close(void);

/* ---- model.c: what is known of a run. Texts are as they came, unclean. ---- */

enum role { ROLE_TESTER, ROLE_PROFILER, ROLE_PLANNER, ROLE_CODER, ROLE_JUDGE, N_ROLES };

struct agent_state {
    struct str text; /* what it does, or did last */
    bool busy;       /* at `text` */
    int calls;       /* of models, under way */
    struct str call; /* what is known of the one heard of last */
    double since_s;  /* when it began with either */
};

enum row_state { ROW_WAITING, ROW_RUNNING, ROW_JUDGED, ROW_COUNTED };

struct row { /* a candidate, or a file that may become one */
    enum row_state state;
    const char *label, *name, *verdict, *words;
    const char *backend, *steps, *plan, *reason, *diff; /* of what is counted; "" where it is not known */
    int id, parent, round, worker;                      /* id 0: not counted yet */
    double score, gain, since_s;
};

struct times { /* of the best on one workload; NAN: unknown */
    const char *dims, *bound;
    double original_us, best_us, speedup, low, high, share;
};

struct ui_state {
    struct arena *arena;
    double t_s; /* of the last event */
    const char *task, *device, *basis, *agents, *out;
    int64_t max_rounds, max_tokens, calls, tokens;
    double max_s, max_usd, usd, spent_s; /* limits NAN: none; spent_s: by earlier parts of the run */
    int64_t round;
    bool resumed, stopping, begun, ended;
    struct agent_state agents_now[N_ROLES];
    VEC(struct row) rows;
    VEC(struct times) times;
    int best; /* 0: the original */
    const char *best_name;
    double best_score, best_low, best_high, best_share;
    struct str learnt, note; /* note: what stands in the footer: a budget, the GPU that is not free */
};

void ui_state_open(struct ui_state *m);
void ui_state_close(struct ui_state *m);
void ui_state_event(struct ui_state *m, const char *event, const json_t *fields);
size_t ui_state_count(const struct ui_state *m, enum row_state state);
size_t ui_state_passed(const struct ui_state *m);
const char *role_name(enum role r);

/* ---- several.c: the runs that events are of. One stands in front: it is shown. ---- */

struct run_seen;
struct several {
    VEC(struct run_seen *) runs; /* one at least */
    size_t front;
    double heard_s, heard_t_s; /* when the last event came, and the time that it said */
};

void several_open(struct several *s); /* with one that has not begun */
void several_close(struct several *s);
/* Takes an event of the kernel that it names, or of the one in front; true: another run stands in front now. */
bool several_event(struct several *s, const char *event, const json_t *fields);
bool several_next(struct several *s);          /* the next one comes to the front; false: there is no other */
double several_now_s(const struct several *s); /* on the clock of the events */
struct ui_state *several_front(const struct several *s);
struct ui_state *several_at(const struct several *s, size_t i);

/* ---- frame.c: cells, and the bytes between two frames ---- */

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GOOD, STYLE_BAD, STYLE_BUSY, STYLE_BAR, N_STYLES };

struct cell {
    uint32_t c; /* 0: covered by the wide character on its left */
    uint32_t style;
};

struct frame {
    int rows, cols;
    bool ascii; /* the terminal knows no other characters */
    struct cell *cells;
};

void frame_open(struct frame *f, int rows, int cols, bool ascii); /* blank */
void frame_close(struct frame *f);
void frame_clear(struct frame *f);
/* Text from col on, cut with an ellipsis before end; gives the column after it. Only what is clean is put. */
int frame_put(struct frame *f, int row, int col, int end, enum style style, const char *text);
int frame_putf(struct frame *f, int row, int col, int end, enum style style, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
void frame_fill(struct frame *f, int row, int col, int end, enum style style, uint32_t c);
int text_columns(const char *text);
/* What makes a terminal that shows `before` (NULL: anything) show f; nothing when they are the same. */
void frame_update(const struct frame *before, const struct frame *f, bool colours, struct str *to);
void frame_text(const struct frame *f, struct str *to); /* its lines, without styles and spaces at their ends */

/* ---- draw.c ---- */

enum pane { PANE_CANDIDATES, PANE_WORKLOADS, N_PANES };
enum key {
    KEY_NONE,
    KEY_UP,
    KEY_DOWN,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
    KEY_TAB,
    KEY_ENTER,
    KEY_QUIT,
    KEY_YES,
    KEY_NO,
    KEY_HELP,
    KEY_NEXT,
    KEY_REDRAW
};

struct view {
    double now_s;    /* on the clock of the events */
    size_t others;   /* runs that are under way beside the one that is shown */
    enum pane focus; /* what the arrows move */
    struct scroll {
        int top, page, all; /* page, all: as drawn last */
        bool held;          /* it was scrolled: does not follow the newest */
    } scroll[N_PANES];
    const char *chosen; /* label of a candidate, the model's; NULL: none */
    int move;           /* of what is chosen, since it was drawn last */
    bool help, asking;
    bool next;            /* another run is to be shown */
    bool open;            /* the chosen candidate is shown; where none was chosen, the newest */
    struct scroll inside; /* of what is shown of it */
};

/* Keeps the view's scrolling within what there is. */
void draw(const struct ui_state *m, struct view *v, struct frame *f);

/* ---- candidate.c ---- */

const struct row *view_row(const struct ui_state *m, const struct view *v); /* what is chosen; NULL: nothing */
void draw_candidate(const struct ui_state *m, struct view *v, const struct row *r, struct frame *f);

/* ---- keys.c ---- */

bool view_key(struct view *v, enum key k); /* true: the run is to stop */
/* The first key in n bytes from a terminal; *used tells how many bytes it was. */
enum key key_read(const char *bytes, size_t n, size_t *used);

/* ---- terminal.c ---- */

/* Takes the terminal that is stderr; false: there is none that can. on_told hears of SIGTSTP, SIGCONT,
 * SIGWINCH. */
bool terminal_open(void (*on_told)(int number));
void terminal_close(void);   /* what was written to stderr meanwhile stands there */
bool terminal_leave(void);   /* given back for a while, in signal handlers too; false: it was not taken */
void terminal_enter(void);   /* taken again */
void terminal_abandon(void); /* left in a signal handler on the way out, with what stands in stderr */
void terminal_gone(void);    /* there is nothing to give back any more */
bool terminal_on(void);
bool terminal_foreground(void);
bool terminal_utf8(void);
int terminal_fd(void);
void terminal_size(int *rows, int *cols);
void terminal_write(const char *bytes, size_t n); /* while it is taken */

/* ---- screen.c ---- */

bool screen_open(void (*stop)(void)); /* false: no terminal that can */
void screen_event(void *context, const char *event, const json_t *fields);
void screen_close(void);
void screen_stopping(void);

#endif
