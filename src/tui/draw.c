/* State and size in, cells out. From top to bottom: what and where, how far and what it costs, what each role
 * does, the best on each workload, the candidates, what was learnt last, the keys. What does not fit gives way
 * in that order of importance; below MIN_SPLIT rows one pane at a time is shown, and Tab changes it. */
#include "tui/internal.h"

enum { MIN_AGENTS = 18, MIN_SPLIT = 16, MIN_AIR = 28, MIN_LEARNT = 14, MIN_BESIDE = 140, MIN_GAIN = 70 };

/* ---- pieces ---- */

static void add_time(struct str *to, double s)
{
    long t = (long)fmin(fmax(s, 0), 1e9);

    if (t >= 3600)
        str_addf(to, "%ld:%02ld:%02ld", t / 3600, t / 60 % 60, t % 60);
    else
        str_addf(to, "%ld:%02ld", t / 60, t % 60);
}

static void add_count(struct str *to, int64_t n)
{
    if (n < 10000)
        str_addf(to, "%lld", (long long)n);
    else if (n < 1000000)
        str_addf(to, n % 1000 ? "%.1fk" : "%.0fk", (double)n / 1e3);
    else
        str_addf(to, n % 1000000 ? "%.2fM" : "%.0fM", (double)n / 1e6);
}

static void add_ratio(struct str *to, double x)
{
    if (isfinite(x))
        str_addf(to, "%.2fx", x);
    else
        str_add(to, "-");
}

/* On the right, if there is room beside what stands on the left up to col. */
static void put_right(struct frame *f, int row, int col, enum style style, const char *text)
{
    int from = f->cols - 1 - text_columns(text);

    if (from >= col + 2)
        frame_put(f, row, from, f->cols, style, text);
}

/* A rule with a title, and what part of the pane is seen. */
static void put_title(struct frame *f, int row, int col, int end, const struct view *v, enum pane p,
                      const char *title)
{
    const struct scroll *s = &v->scroll[p];
    char seen[48] = "";
    int at;

    if (s->all > s->page)
        snprintf(seen, sizeof(seen), " %d-%d of %d ", s->top + 1, MIN(s->top + s->page, s->all), s->all);
    frame_fill(f, row, col, end, STYLE_DIM, f->ascii ? '-' : 0x2500);
    at = frame_putf(f, row, col + 1, end - 1, v->focus == p ? STYLE_BOLD : STYLE_PLAIN, " %s ", title);
    if (end - 2 - text_columns(seen) > at)
        frame_put(f, row, end - 1 - text_columns(seen), end, STYLE_DIM, seen);
}

static enum style style_of(const char *verdict)
{
    if (str_eq(verdict, "passed"))
        return STYLE_GOOD;
    return str_eq(verdict, "slower") ? STYLE_DIM : STYLE_BAD;
}

/* ---- the head ---- */

static void put_what(const struct ui_state *m, const struct view *v, struct frame *f)
{
    struct str left = {0}, right = {0};
    const char *dot = f->ascii ? "-" : "\xc2\xb7";
    int col;

    add_time(&right, m->spent_s + v->now_s);
    if (isfinite(m->max_s)) {
        str_add(&right, " of ");
        add_time(&right, m->max_s);
    }
    col = frame_put(f, 0, 1, f->cols - text_columns(str_text(&right)) - 2, STYLE_BOLD,
                    *m->task ? m->task : "astra");
    str_addf(&left, " %s %s %s %s %s agents %s", dot, m->basis, str_eq(m->basis, "measured") ? "on" : "for",
             m->device, dot, m->agents);
    col = frame_put(f, 0, col, f->cols - text_columns(str_text(&right)) - 3, STYLE_PLAIN,
                    *m->task ? str_text(&left) : " starts");
    put_right(f, 0, col, STYLE_PLAIN, str_text(&right));
    str_free(&left);
    str_free(&right);
}

/* In full, or as much of it as there is room for: 0 all, 1 without calls, 2 money alone. */
static void add_spent(const struct ui_state *m, int shorter, struct str *to)
{
    bool money = isfinite(m->max_usd) || (isfinite(m->usd) && m->usd > 0);

    if (m->calls == 0 && m->max_tokens <= 0 && !isfinite(m->max_usd))
        return;
    if (shorter == 0)
        str_addf(to, "%lld call%s, ", (long long)m->calls, m->calls == 1 ? "" : "s");
    if (shorter < 2 || !money) {
        add_count(to, m->tokens);
        if (m->max_tokens > 0 && shorter == 0) {
            str_add(to, " of ");
            add_count(to, m->max_tokens);
        }
        str_addf(to, " tokens%s", money ? ", " : "");
    }
    if (money && isfinite(m->usd))
        str_addf(to, "$%.*f", m->usd < 0.1 ? 4 : 2, m->usd);
    else if (money)
        str_add(to, "$?");
    if (isfinite(m->max_usd))
        str_addf(to, " of %g", m->max_usd);
}

static void put_how_far(const struct ui_state *m, struct frame *f)
{
    struct str left = {0}, right = {0};
    int col;

    if (m->ended)
        str_add(&left, "done");
    else if (m->round > 0 && m->round <= m->max_rounds)
        str_addf(&left, "round %lld of %lld", (long long)m->round, (long long)m->max_rounds);
    else if (m->round > 0)
        str_addf(&left, "round %lld", (long long)m->round);
    else
        str_add(&left, "before the first round");
    col = frame_put(f, 1, 1, f->cols, STYLE_PLAIN, str_text(&left));
    if (isfinite(m->best_score)) {
        str_clear(&left);
        str_add(&left, "best ");
        add_ratio(&left, m->best_score);
        col = frame_put(f, 1, col, f->cols, STYLE_PLAIN, ", ");
        col = frame_put(f, 1, col, f->cols, m->best ? STYLE_GOOD : STYLE_PLAIN, str_text(&left));
    }
    for (int shorter = 0; shorter < 3; shorter++) {
        str_clear(&right);
        add_spent(m, shorter, &right);
        if (text_columns(str_text(&right)) <= f->cols - col - 3)
            break;
    }
    put_right(f, 1, col, STYLE_PLAIN, str_text(&right));
    str_free(&left);
    str_free(&right);
}

/* ---- the roles ---- */

static bool agent_busy(const struct ui_state *m, enum role r)
{
    const struct agent_state *a = &m->agents_now[r];

    return a->busy || a->calls > 0 || (r == ROLE_JUDGE && ui_state_count(m, ROW_RUNNING) > 0);
}

static void add_judging(const struct ui_state *m, struct str *to)
{
    size_t running = ui_state_count(m, ROW_RUNNING), waiting = ui_state_count(m, ROW_WAITING), shown = 0;

    str_addf(to, "judges %zu", running);
    if (waiting)
        str_addf(to, ", %zu wait", waiting);
    for (size_t i = 0; i < m->rows.n; i++)
        if (m->rows.v[i].state == ROW_RUNNING)
            str_addf(to, "%s%s", shown++ ? "; " : ": ", m->rows.v[i].name);
}

/* When what it is busy with began; the judge's oldest candidate. */
static double busy_since(const struct ui_state *m, enum role r)
{
    const struct agent_state *a = &m->agents_now[r];
    double since_s = INFINITY;

    for (size_t i = 0; r == ROLE_JUDGE && i < m->rows.n; i++)
        if (m->rows.v[i].state == ROW_RUNNING)
            since_s = fmin(since_s, m->rows.v[i].since_s);
    return isfinite(since_s) ? since_s : a->since_s;
}

static void put_agent(const struct ui_state *m, enum role r, struct frame *f, int row, double now_s)
{
    const struct agent_state *a = &m->agents_now[r];
    bool busy = agent_busy(m, r);
    struct str text = {0};
    char since[32] = "";
    int col, end;

    if (r == ROLE_JUDGE && ui_state_count(m, ROW_RUNNING) > 0)
        add_judging(m, &text);
    else if (a->calls > 1)
        str_addf(&text, "%d calls under way; %s", a->calls, str_text(&a->call));
    else
        str_add(&text, str_text(a->calls ? &a->call : &a->text));
    if (busy)
        snprintf(since, sizeof(since), "%.0f s", floor(fmax(0, now_s - busy_since(m, r))));
    end = f->cols - 1 - (busy ? text_columns(since) + 2 : 0);
    const char *dot = f->ascii ? "*" : "\xe2\x97\x8f";
    frame_put(f, row, 1, f->cols, STYLE_BUSY, busy ? dot : " ");
    col = frame_putf(f, row, 3, f->cols, busy ? STYLE_BOLD : STYLE_PLAIN, "%-9s ", role_name(r));
    frame_put(f, row, col, end, busy || m->ended ? STYLE_PLAIN : STYLE_DIM, str_text(&text));
    put_right(f, row, 0, STYLE_DIM, since);
    str_free(&text);
}

/* Where there is room for one: who is at work, the last of them in the order of a round. */
static enum role busiest(const struct ui_state *m)
{
    for (int i = N_ROLES; i-- > 0;)
        if (agent_busy(m, (enum role)i))
            return (enum role)i;
    return ROLE_JUDGE;
}

/* ---- the panes ---- */

/* Keeps top within the pane; where it was not scrolled, so that `news` is seen, the number of the last row that
 * is worth it. */
static void scroll_fit(struct scroll *s, int page, int all, int news)
{
    int last = MAX(0, all - page), follow = MIN(MAX(0, news + 1 - page), last);

    s->page = MAX(page, 0);
    s->all = all;
    if (!s->held)
        s->top = follow;
    s->top = MIN(MAX(s->top, 0), last);
    if (s->top == follow || s->top == last)
        s->held = false;
}

static void put_bar(struct frame *f, int row, int col, int width, double share)
{
    int full = isfinite(share) ? (int)lround(fmin(fmax(share, 0), 1) * width) : 0;

    frame_fill(f, row, col, col + width, STYLE_DIM, f->ascii ? '.' : 0x2591);
    frame_fill(f, row, col, col + full, STYLE_BUSY, f->ascii ? '#' : 0x2588);
}

static void put_us(struct frame *f, int row, int col, int end, double us)
{
    if (isfinite(us))
        frame_putf(f, row, col, end, STYLE_PLAIN, us >= 1e5 ? "%10.0f" : "%10.2f", us);
    else
        frame_putf(f, row, col, end, STYLE_DIM, "%10s", "-");
}

static int dims_columns(const struct ui_state *m)
{
    int width = 8;

    for (size_t i = 0; i < m->times.n; i++)
        width = MAX(width, text_columns(m->times.v[i].dims));
    return width;
}

/* Columns give way from the right: the bar, what bounds it, the original's time, the best's. */
static void put_times(const struct ui_state *m, struct view *v, struct frame *f, int row, int col, int end,
                      int rows)
{
    struct str title = {0};
    int width = dims_columns(m), room = end - col - 2 - width - 20, bar = 0;
    bool us = room >= 11, both = room >= 22, bound = room >= 33;
    int last_row = row + rows;

    if (room >= 46)
        bar = MIN(room - 35, 24);
    str_addf(&title, "best: %s", m->best ? m->best_name : "the original");
    if (m->best) {
        str_clear(&title);
        str_addf(&title, "best: candidate %d, ", m->best);
        add_ratio(&title, m->best_score);
        str_addf(&title, " %s", m->basis);
        if (isfinite(m->best_low) && isfinite(m->best_high))
            str_addf(&title, " (%.3f-%.3f)", m->best_low, m->best_high);
    }
    if (isfinite(m->best_share) && end - col >= 70)
        str_addf(&title, ", %.0f %% of the copy's speed", 100 * m->best_share);
    scroll_fit(&v->scroll[PANE_WORKLOADS], rows - 2, (int)m->times.n, 0);
    put_title(f, row++, col, end, v, PANE_WORKLOADS, str_text(&title));
    str_free(&title);
    frame_putf(f, row++, col, end, STYLE_DIM, " %-*s%s%s%10s%10s%s", width, "workload",
               both ? "   original" : "", us ? "    best us" : "", "speed-up", "of copy",
               bound ? "  bound by" : "");
    for (int i = v->scroll[PANE_WORKLOADS].top; row < last_row && i < (int)m->times.n; i++, row++) {
        const struct times *t = &m->times.v[i];
        int at = col + 1 + width;
        frame_put(f, row, col + 1, MIN(at, end), STYLE_PLAIN, t->dims);
        if (both) {
            put_us(f, row, at + 1, end, t->original_us);
            at += 11;
        }
        if (us) {
            put_us(f, row, at + 1, end, t->best_us);
            at += 11;
        }
        if (isfinite(t->speedup))
            frame_putf(f, row, at, end, t->speedup > 1.005 ? STYLE_GOOD : STYLE_PLAIN, "%9.2fx", t->speedup);
        else
            frame_putf(f, row, at, end, STYLE_DIM, "%10s", "-");
        at += 10;
        if (isfinite(t->share))
            frame_putf(f, row, at, end, STYLE_PLAIN, "%8.0f %%", 100 * t->share);
        else
            frame_putf(f, row, at, end, STYLE_DIM, "%10s", "-");
        at += 10;
        if (bound)
            frame_putf(f, row, at, end, STYLE_DIM, "  %-8s", t->bound ? t->bound : "-");
        if (bar)
            put_bar(f, row, at + 11, bar, t->share);
    }
}

static void put_row(const struct ui_state *m, const struct row *r, struct frame *f, int row, int col, int end,
                    double now_s)
{
    static const char *const states[] = {"waits", "judging", "judged"};
    struct str text = {0};
    int at = col + 1;

    if (r->id)
        at = frame_putf(f, row, at, end, r->id == m->best ? STYLE_BOLD : STYLE_PLAIN, "%s%3d  ",
                        r->id == m->best ? "*" : " ", r->id);
    else
        at = frame_putf(f, row, at, end, STYLE_DIM, " %3.3s  ",
                        str_starts(r->label, "candidate-") ? r->label + 10 : "");
    if (*r->verdict)
        frame_put(f, row, at, MIN(end, at + 14), style_of(r->verdict), r->verdict);
    else
        frame_put(f, row, at, end, r->state == ROW_RUNNING ? STYLE_BUSY : STYLE_DIM, states[r->state]);
    at += MIN(15, MAX(9, (end - col) / 5));
    if (r->state == ROW_RUNNING)
        str_addf(&text, "%6.0f s", fmax(0, now_s - r->since_s));
    else if (*r->verdict)
        add_ratio(&text, r->score);
    frame_putf(f, row, at, end, r->state == ROW_RUNNING ? STYLE_DIM : STYLE_PLAIN, "%8s", str_text(&text));
    at += 9;
    if (end - col >= MIN_GAIN) {
        if (isfinite(r->gain))
            frame_putf(f, row, at, end, STYLE_DIM, "%+6.0f %%", 100 * (r->gain - 1));
        at += 9;
    }
    at++;
    if (*r->words) { /* half of the room for each, or more where the name is short */
        int half = at + MIN(text_columns(r->name), (end - at) / 2);
        at = frame_put(f, row, at, half, STYLE_PLAIN, r->name);
        frame_putf(f, row, at, end - 1, STYLE_DIM, ": %s", r->words);
    } else {
        frame_put(f, row, at, end - 1, r->state == ROW_WAITING ? STYLE_DIM : STYLE_PLAIN, r->name);
    }
    str_free(&text);
}

static int chosen_row(const struct ui_state *m, const struct view *v)
{
    const struct row *r = v->chosen ? view_row(m, v) : NULL;

    return r ? (int)(r - m->rows.v) : -1;
}

/* What is chosen moves as keys asked; the first time, into the list as it was drawn last. */
static void choose(const struct ui_state *m, struct view *v)
{
    const struct scroll *s = &v->scroll[PANE_CANDIDATES];
    int at = chosen_row(m, v), all = (int)m->rows.n;

    if (v->move && all) {
        if (at < 0)
            at = MIN(s->top + s->page, all) - (v->move > 0);
        v->chosen = m->rows.v[MIN(MAX(at + v->move, 0), all - 1)].label;
    }
    v->move = 0;
}

/* The chosen row stays in sight. */
static void scroll_to_chosen(const struct ui_state *m, const struct view *v, struct scroll *s)
{
    int at = chosen_row(m, v);

    if (at < 0 || s->page < 1)
        return;
    s->top = MAX(MIN(s->top, at), at - s->page + 1);
    s->held = true;
}

static void put_candidates(const struct ui_state *m, struct view *v, struct frame *f, int row, int col, int end,
                           int rows)
{
    struct scroll *s = &v->scroll[PANE_CANDIDATES];
    struct str title = {0};
    int news = 0; /* what waits is none, but for one of them */

    str_addf(&title, "candidates: %zu tried, %zu passed%s", ui_state_count(m, ROW_COUNTED), ui_state_passed(m),
             end - col >= MIN_GAIN ? "; % is over the parent" : "");
    for (size_t i = 0; i < m->rows.n; i++)
        news = m->rows.v[i].state == ROW_WAITING ? news : (int)i;
    scroll_fit(s, rows - 1, (int)m->rows.n, news + 1);
    scroll_to_chosen(m, v, s);
    put_title(f, row++, col, end, v, PANE_CANDIDATES, str_text(&title));
    str_free(&title);
    for (int i = 0; i < s->page && s->top + i < s->all; i++) {
        const struct row *r = &m->rows.v[s->top + i];
        put_row(m, r, f, row + i, col, end, v->now_s);
        if (r->label == v->chosen)
            frame_put(f, row + i, col, end, STYLE_BOLD, ">");
    }
}

/* ---- the foot ---- */

static void put_foot(const struct ui_state *m, const struct view *v, struct frame *f)
{
    int row = f->rows - 1;
    bool wide = f->cols >= 70;

    if (v->asking)
        frame_put(f, row, 0, f->cols, STYLE_BAR,
                  wide ? " Stop this run? What is stored stays, astra resume goes on.  y / n "
                       : " Stop it, resumably?  y / n ");
    else if (m->stopping)
        frame_put(f, row, 0, f->cols, STYLE_BAR,
                  wide ? " Stopping; astra resume will go on. Ctrl-C leaves at once. "
                       : " Stopping. Ctrl-C: at once. ");
    else if (m->note.len)
        frame_putf(f, row, 0, f->cols, STYLE_BUSY, " %s", str_text(&m->note));
    else if (v->others)
        frame_putf(f, row, 0, f->cols, STYLE_DIM, " > %zu more under way%s", v->others,
                   f->cols < 60 ? "" : ": show the next  enter open  q stop  ? help");
    else
        frame_putf(f, row, 0, f->cols, STYLE_DIM, " %s scroll  %stab %slist  q stop  ? help",
                   f->ascii ? "j k" : "\xe2\x86\x91\xe2\x86\x93", f->cols < 60 ? "" : "enter open  ",
                   f->cols < 45 ? "" : "other ");
}

static void put_help(struct frame *f)
{
    static const char *const lines[] = {
        "up down  j k       choose a candidate, scroll by a line",
        "enter              the candidate: verdict, plan, what it changed; Esc: back",
        "PgUp PgDn  space   scroll by a page",
        "Home End  g G      to the first, to the last; there the list follows what is new",
        "tab                the other list: candidates, workloads",
        ">                  the next kernel, where several are under way",
        "q                  stop the run, after a question; astra resume goes on with it",
        "Ctrl-C             stop without a question; once more: leave at once",
        "Ctrl-Z             pause; fg goes on",
        "Ctrl-L             draw anew",
        "",
        "*                  the best so far; x is over the original, % over the parent",
        "of copy            share of the speed of a plain copy of the bytes that must move:",
        "                   a yardstick and not a bound",
        "modelled           by the simulator: a reason to measure, not a measurement",
    };

    frame_put(f, 0, 1, f->cols, STYLE_BOLD, "Keys and words");
    for (int i = 0; i < (int)ARRAY_LEN(lines) && i + 2 < f->rows - 1; i++)
        frame_put(f, i + 2, 1, f->cols - 1, STYLE_PLAIN, lines[i]);
    frame_put(f, f->rows - 1, 0, f->cols, STYLE_DIM, " any key: back");
}

/* ---- all of it ---- */

static void draw_panes(const struct ui_state *m, struct view *v, struct frame *f, int row, int rows)
{
    int all = (int)m->times.n + 2, best;

    if (f->rows < MIN_SPLIT) {
        if (v->focus == PANE_WORKLOADS)
            put_times(m, v, f, row, 0, f->cols, rows);
        else
            put_candidates(m, v, f, row, 0, f->cols, rows);
    } else if (f->cols >= MIN_BESIDE) {
        int left = MIN(dims_columns(m) + 68, f->cols / 2); /* with all columns and a bar */
        put_times(m, v, f, row, 0, left, rows);
        put_candidates(m, v, f, row, left + 1, f->cols, rows);
    } else {
        bool air = f->rows >= MIN_AIR;
        best = MIN(all, rows / 2);
        put_times(m, v, f, row, 0, f->cols, best);
        put_candidates(m, v, f, row + best + air, 0, f->cols, rows - best - air);
    }
}

void draw(const struct ui_state *m, struct view *v, struct frame *f)
{
    bool air = f->rows >= MIN_AIR;
    int row = 2, foot = f->rows - 1;

    frame_clear(f);
    if (v->help) {
        put_help(f);
        return;
    }
    choose(m, v);
    if (v->open && view_row(m, v)) {
        draw_candidate(m, v, view_row(m, v), f);
        return;
    }
    v->open = false;
    put_what(m, v, f);
    put_how_far(m, f);
    row += f->rows >= 22;
    if (f->rows >= MIN_AGENTS) {
        for (int i = 0; i < N_ROLES; i++)
            put_agent(m, (enum role)i, f, row++, v->now_s);
        row += air;
    } else {
        put_agent(m, busiest(m), f, row++, v->now_s);
    }
    if (f->rows >= MIN_LEARNT) {
        int col = frame_put(f, --foot, 1, f->cols, STYLE_DIM, "learnt last: ");
        frame_put(f, foot, col, f->cols - 1, STYLE_PLAIN, m->learnt.len ? str_text(&m->learnt) : "-");
    }
    draw_panes(m, v, f, row, foot - row - air);
    put_foot(m, v, f);
}
