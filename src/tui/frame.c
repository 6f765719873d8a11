/* A screen's cells, and the fewest bytes that turn what a terminal shows into another screen. */
#include "tui/internal.h"

void frame_open(struct frame *f, int rows, int cols, bool ascii)
{
    *f = (struct frame){.rows = rows, .cols = cols, .ascii = ascii};
    f->cells = mem_alloc((size_t)rows * (size_t)cols * sizeof(*f->cells));
    frame_clear(f);
}

void frame_close(struct frame *f)
{
    free(f->cells);
    *f = (struct frame){0};
}

void frame_clear(struct frame *f)
{
    for (int row = 0; row < f->rows; row++)
        frame_fill(f, row, 0, f->cols, STYLE_PLAIN, ' ');
}

int text_columns(const char *text)
{
    int n = 0;

    while (*text) {
        int w = glyph_width(glyph_next(&text));
        n += MAX(w, 0);
    }
    return n;
}

static struct cell *cell_at(const struct frame *f, int row, int col)
{
    return &f->cells[(size_t)row * (size_t)f->cols + (size_t)col];
}

void frame_fill(struct frame *f, int row, int col, int end, enum style style, uint32_t c)
{
    if (row < 0 || row >= f->rows)
        return;
    for (; col < MIN(end, f->cols); col++)
        *cell_at(f, row, col) = (struct cell){c, style};
}

int frame_put(struct frame *f, int row, int col, int end, enum style style, const char *text)
{
    bool cut;

    end = MIN(end, f->cols);
    if (row < 0 || row >= f->rows || col >= end)
        return col;
    cut = text_columns(text) > end - col;
    while (*text) {
        uint32_t c = glyph_next(&text);
        int w = c == '\n' || c == '\t' ? 1 : glyph_width(c);
        if (w <= 0)
            continue;
        if (col + w > end - cut)
            break;
        if (c == '\n' || c == '\t')
            c = ' ';
        if (f->ascii && c > 0x7e) {
            frame_fill(f, row, col, col + w, style, '?');
        } else {
            *cell_at(f, row, col) = (struct cell){c, style};
            if (w == 2)
                *cell_at(f, row, col + 1) = (struct cell){0, style};
        }
        col += w;
    }
    if (cut && col < end)
        *cell_at(f, row, col++) = (struct cell){f->ascii ? '~' : 0x2026, style};
    return col;
}

int frame_putf(struct frame *f, int row, int col, int end, enum style style, const char *fmt, ...)
{
    struct str text = {0};
    va_list ap;

    va_start(ap, fmt);
    str_vaddf(&text, fmt, ap);
    va_end(ap);
    col = frame_put(f, row, col, end, style, str_text(&text));
    str_free(&text);
    return col;
}

void frame_text(const struct frame *f, struct str *to)
{
    for (int row = 0; row < f->rows; row++) {
        int last = f->cols;
        while (last > 0 && cell_at(f, row, last - 1)->c == ' ')
            last--;
        for (int col = 0; col < last; col++)
            if (cell_at(f, row, col)->c)
                utf8_add(to, cell_at(f, row, col)->c);
        str_addc(to, '\n');
    }
}

/* Not one of these styles needs a colour to be understood: words say the same. */
static const char *sgr(uint32_t style, bool colours)
{
    static const char *const in_colour[N_STYLES] = {"0", "0;1", "0;2", "0;32", "0;31", "0;36", "0;7"},
                             *const plain[N_STYLES] = {"0", "0;1", "0;2", "0;1", "0", "0", "0;7"};

    return colours ? in_colour[style] : plain[style];
}

void frame_update(const struct frame *before, const struct frame *f, bool colours, struct str *to)
{
    uint32_t style = N_STYLES;

    if (!before)
        str_add(to, "\033[0m\033[2J");
    for (int row = 0; row < f->rows; row++) {
        int at = -1; /* the column where the cursor stands; -1: not known */
        for (int col = 0; col < f->cols; col++) {
            const struct cell *c = cell_at(f, row, col), *old = before ? cell_at(before, row, col) : NULL;
            if (c->c == 0 ||
                (old ? old->c == c->c && old->style == c->style : c->c == ' ' && c->style == STYLE_PLAIN))
                continue;
            if (at != col)
                str_addf(to, "\033[%d;%dH", row + 1, col + 1);
            if (style != c->style)
                str_addf(to, "\033[%sm", sgr(c->style, colours));
            style = c->style;
            utf8_add(to, c->c);
            /* Terminals do not agree on the width of everything: after what is not plain, say where. */
            at = c->c < 0x80 || (c->c >= 0x2500 && c->c < 0x25a0) ? col + 1 : -1;
        }
    }
    if (style != N_STYLES && style != STYLE_PLAIN)
        str_add(to, "\033[0m");
}
