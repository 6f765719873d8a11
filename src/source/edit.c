#include "source/source.h"

/* Kept sorted by start; insertions at one place keep the order they came in and stand before a replacement that
 * starts there. */
bool edits_try(struct edits *e, size_t start, size_t end, const char *text)
{
    struct edit edit = {start, end, arena_strdup(e->arena, text)};
    size_t at = e->list.n;

    BUG_IF(start > end);
    while (at > 0 && (e->list.v[at - 1].start > start ||
                      (e->list.v[at - 1].start == start && e->list.v[at - 1].end > start && start == end)))
        at--;
    if ((at > 0 && e->list.v[at - 1].end > start) || (at < e->list.n && e->list.v[at].start < end)) {
        e->clash = true;
        return false;
    }
    if (e->list.n == e->list.cap) {
        size_t cap = MAX(2 * e->list.cap, 8);
        struct edit *grown = arena_array(e->arena, struct edit, cap);

        if (e->list.n)
            memcpy(grown, e->list.v, e->list.n * sizeof(*grown));
        e->list.v = grown;
        e->list.cap = cap;
    }
    memmove(e->list.v + at + 1, e->list.v + at, (e->list.n - at) * sizeof(edit));
    e->list.v[at] = edit;
    e->list.n++;
    return true;
}

void edits_replace(struct edits *e, size_t start, size_t end, const char *text)
{
    if (!edits_try(e, start, end, text))
        BUG("edits overlap at byte %zu", start);
}

void edits_insert(struct edits *e, size_t at, const char *text)
{
    edits_replace(e, at, at, text);
}

char *edits_apply(const struct edits *e, struct arena *a, const char *text, size_t len)
{
    struct str out = {0};
    size_t at = 0;
    char *copy;

    for (const struct edit *edit = e->list.v; edit < e->list.v + e->list.n; edit++) {
        BUG_IF(edit->end > len);
        str_addn(&out, text + at, edit->start - at);
        str_add(&out, edit->text);
        at = edit->end;
    }
    str_addn(&out, text + at, len - at);
    copy = arena_strndup(a, str_text(&out), out.len);
    str_free(&out);
    return copy;
}
