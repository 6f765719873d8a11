/* Keys: from bytes, and what they do to a view. */
#include "tui/internal.h"

/* In the list of candidates keys move what is chosen; the list follows when it is drawn. False: k is none. */
static bool move_choice(struct view *v, enum key k)
{
    int page = MAX(1, v->scroll[PANE_CANDIDATES].page - 1);

    switch (k) {
    case KEY_UP:
        v->move--;
        break;
    case KEY_DOWN:
        v->move++;
        break;
    case KEY_PAGE_UP:
        v->move -= page;
        break;
    case KEY_PAGE_DOWN:
        v->move += page;
        break;
    case KEY_HOME:
        v->move = -v->scroll[PANE_CANDIDATES].all;
        break;
    case KEY_ENTER:
        v->open = true;
        v->inside.top = 0;
        break;
    default:
        return false;
    }
    return true;
}

bool view_key(struct view *v, enum key k)
{
    struct scroll *s = v->open ? &v->inside : &v->scroll[v->focus];
    int top = s->top;

    if (v->asking) {
        v->asking = k != KEY_YES && k != KEY_NO && k != KEY_QUIT;
        return k == KEY_YES;
    }
    if (v->help) {
        v->help = false;
        return false;
    }
    if (v->open && (k == KEY_NO || k == KEY_QUIT || k == KEY_ENTER)) {
        v->open = false;
        return false;
    }
    if (!v->open && v->focus == PANE_CANDIDATES && move_choice(v, k))
        return false;
    switch (k) {
    case KEY_UP:
        s->top--;
        break;
    case KEY_DOWN:
        s->top++;
        break;
    case KEY_PAGE_UP:
        s->top -= MAX(1, s->page - 1);
        break;
    case KEY_PAGE_DOWN:
        s->top += MAX(1, s->page - 1);
        break;
    case KEY_HOME:
        s->top = 0;
        break;
    case KEY_END:
        s->top = s->all;
        if (s == &v->scroll[PANE_CANDIDATES]) { /* nothing is chosen: it follows */
            v->chosen = NULL;
            v->move = 0;
        }
        break;
    case KEY_TAB:
        if (v->open)
            break;
        v->focus = (v->focus + 1) % N_PANES;
        break;
    case KEY_QUIT:
        v->asking = true;
        break;
    case KEY_HELP:
        v->help = true;
        break;
    case KEY_NEXT:
        v->next = true;
        break;
    default:
        break;
    }
    s->top = MIN(MAX(s->top, 0), MAX(0, s->all - s->page));
    s->held = s->held || s->top != top;
    return false;
}

enum key key_read(const char *bytes, size_t n, size_t *used)
{
    static const struct {
        const char *bytes;
        enum key key;
    } keys[] = {
        {"\033[A", KEY_UP},       {"\033OA", KEY_UP},   {"k", KEY_UP},
        {"\033[B", KEY_DOWN},     {"\033OB", KEY_DOWN}, {"j", KEY_DOWN},
        {"\033[5~", KEY_PAGE_UP}, {"b", KEY_PAGE_UP},   {"\033[6~", KEY_PAGE_DOWN},
        {" ", KEY_PAGE_DOWN},     {"\033[H", KEY_HOME}, {"\033OH", KEY_HOME},
        {"\033[1~", KEY_HOME},    {"g", KEY_HOME},      {"\033[F", KEY_END},
        {"\033OF", KEY_END},      {"\033[4~", KEY_END}, {"G", KEY_END},
        {"\t", KEY_TAB},          {"\r", KEY_ENTER},    {"\n", KEY_ENTER},
        {"q", KEY_QUIT},          {"Q", KEY_QUIT},      {"y", KEY_YES},
        {"Y", KEY_YES},           {"n", KEY_NO},        {"N", KEY_NO},
        {"?", KEY_HELP},          {"h", KEY_HELP},      {"\014", KEY_REDRAW},
        {">", KEY_NEXT},
    };
    size_t at = 1;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        *used = strlen(keys[i].bytes);
        if (*used <= n && memcmp(bytes, keys[i].bytes, *used) == 0)
            return keys[i].key;
    }
    *used = 1;
    if (bytes[0] != '\033')
        return KEY_NONE;
    if (n == 1)
        return KEY_NO; /* Esc alone */
    /* A sequence that is none of ours, whole. */
    if (bytes[1] == '[')
        for (at = 2; at < n && !(bytes[at] >= 0x40 && bytes[at] <= 0x7e); at++)
            ;
    *used = MIN(at + 1, n);
    return KEY_NONE;
}
