/* tui: a run shown while it runs, from the events of the trace alone (docs/result.md): one screen on a
 * terminal, else lines with the time of day. docs/report.md shows both. Nothing that a model, a compiler or a
 * file name says can reach the terminal as a command: control characters are left out of everything. */
#ifndef TUI_TUI_H
#define TUI_TUI_H

#include "base/base.h"

/* Colours on a terminal unless NO_COLOR is set; or whatever the terminal and NO_COLOR say. */
enum tui_colours { TUI_COLOURS_AUTO, TUI_COLOURS_ALWAYS, TUI_COLOURS_NEVER };
void tui_set_colours(enum tui_colours colours);
bool tui_coloured(bool terminal); /* what is written to a terminal, or to something else */

struct tui_options {
    bool quiet;         /* no face at all */
    bool screen;        /* where the terminal can; else lines */
    void (*stop)(void); /* asks the run to stop: q, confirmed; in a thread of the screen's; or nobody reads the
                         * lines any more. NULL: it cannot be stopped, and the process ends */
};

/* The lines went to what stdout is, too: what they told need not be told again. */
bool tui_told_stdout(void);
/* Listens to the trace from here on. One at a time. */
void tui_open(const struct tui_options *o);
/* The terminal is as it was; what was written to stderr meanwhile stands there. Does nothing when none is open.
 */
void tui_close(void);
/* The same without waiting for anybody, in a signal handler on the way out. */
void tui_abandon(void);
/* The run was asked to stop: the screen, where there is one, says so. Safe in a signal handler. */
bool tui_stopping(void);

/* text without what a terminal would obey: control characters but newline and tab, and what reorders text;
 * bytes that are no UTF-8 become U+FFFD. */
void tui_clean(struct str *to, const char *text);

#endif
