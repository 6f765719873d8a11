#include "base/base.h"

struct entry {
    const char *name, *value;
    bool is_section;
    struct fill *rows, *last;
    size_t n_rows;
    struct entry *next;
};

struct fill {
    struct arena *arena;
    const struct fill *outer;
    struct fill *next; /* row */
    struct entry *entries;
};

struct fill *fill_open(struct arena *a)
{
    struct fill *f = arena_new(a, struct fill);

    f->arena = a;
    return f;
}

struct arena *fill_arena(const struct fill *f)
{
    return f->arena;
}

static struct entry *entry_add(struct fill *f, const char *name)
{
    struct entry *e = arena_new(f->arena, struct entry);

    *e = (struct entry){.name = name, .next = f->entries};
    f->entries = e;
    return e;
}

void fill_put(struct fill *f, const char *name, const char *value)
{
    entry_add(f, name)->value = value ? value : "";
}

void fill_putf(struct fill *f, const char *name, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fill_put(f, name, arena_vprintf(f->arena, fmt, ap));
    va_end(ap);
}

static struct entry *find(const struct fill *f, const char *name, size_t len)
{
    for (struct entry *e = f->entries; e; e = e->next)
        if (strlen(e->name) == len && memcmp(e->name, name, len) == 0)
            return e;
    return NULL;
}

static struct entry *section(struct fill *f, const char *name)
{
    struct entry *e = find(f, name, strlen(name));

    if (!e)
        e = entry_add(f, name);
    e->is_section = true;
    return e;
}

void fill_section(struct fill *f, const char *name)
{
    section(f, name);
}

struct fill *fill_row(struct fill *f, const char *name)
{
    struct entry *e = section(f, name);
    struct fill *row = fill_open(f->arena);

    row->outer = f;
    *(e->last ? &e->last->next : &e->rows) = row;
    e->last = row;
    fill_put(row, "comma", e->n_rows ? ", " : "");
    fill_putf(row, "i", "%zu", e->n_rows++);
    return row;
}

void fill_if(struct fill *f, const char *name, bool holds)
{
    fill_section(f, name);
    if (holds)
        fill_row(f, name);
}

/* What is being filled. */
struct text {
    const char *where, *start;
    struct str out;
};

struct tag {
    const char *open, *name, *end;
    size_t len;
    char kind; /* '#', '^', '/', or 0: a slot */
};

static bool next_tag(const char *text, struct tag *t)
{
    const char *open = strstr(text, "{{"), *close;

    if (!open)
        return false;
    while (open[2] == '{')
        open++;
    close = strstr(open, "}}");
    BUG_IF(!close);
    *t = (struct tag){.open = open, .name = open + 2, .end = close + 2};
    if (*t->name == '#' || *t->name == '^' || *t->name == '/')
        t->kind = *t->name++;
    t->len = (size_t)(close - t->name);
    return true;
}

static const struct entry *lookup(const struct text *x, const struct fill *f, const struct tag *t)
{
    for (; f; f = f->outer) {
        const struct entry *e = find(f, t->name, t->len);
        if (e)
            return e;
    }
    BUG("%s: no value for {{%.*s}}", x->where, (int)t->len, t->name);
}

/* Behind the tag of a section, and behind the line that it has for itself. */
static const char *behind(const struct text *x, const struct tag *t)
{
    return t->end + ((t->open == x->start || t->open[-1] == '\n') && *t->end == '\n');
}

/* To the end of the section that the text is in, or of all; gives back what follows. `shown`: else skipped. */
static const char *add_filled(struct text *x, const char *text, const struct fill *f, bool shown)
{
    struct tag t;

    while (next_tag(text, &t)) {
        if (shown)
            str_addn(&x->out, text, (size_t)(t.open - text));
        if (t.kind == '/')
            return behind(x, &t);
        text = t.kind ? behind(x, &t) : t.end;
        if (!shown && !t.kind)
            continue;
        const struct entry *e = shown ? lookup(x, f, &t) : NULL;
        BUG_IF(e && e->is_section != (t.kind != 0));
        if (!t.kind) {
            str_add(&x->out, e->value);
            if (!*e->value && (x->out.len == 0 || x->out.s[x->out.len - 1] == '\n') && *text == '\n')
                text++;
        } else if (!e || t.kind == '^' || !e->rows) {
            text = add_filled(x, text, f, e && t.kind == '^' && !e->rows);
        } else {
            const char *body = text;
            for (const struct fill *row = e->rows; row; row = row->next)
                text = add_filled(x, body, row, true);
        }
    }
    if (shown)
        str_add(&x->out, text);
    return text + strlen(text);
}

static char *filled(const struct fill *f, const char *where, const char *text)
{
    struct text x = {.where = where, .start = text};

    add_filled(&x, text, f, true);
    while (x.out.len && x.out.s[x.out.len - 1] == '\n')
        x.out.s[--x.out.len] = 0;
    return str_take(&x.out, f->arena);
}

char *fill_file(const struct fill *f, const char *file)
{
    return filled(f, file, share_text(file));
}

char *fill_text(struct arena *a, const char *where, const char *text, const struct fill_slot *slots, size_t n)
{
    struct fill *f = fill_open(a);

    for (size_t i = 0; i < n; i++)
        fill_put(f, slots[i].name, slots[i].value);
    return filled(f, where, text);
}

char *fill_share(struct arena *a, const char *file, const struct fill_slot *slots, size_t n)
{
    return fill_text(a, file, share_text(file), slots, n);
}
