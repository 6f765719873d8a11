/* Traffic of a version that changes nothing, as JSON and in words. */
#include "verdict.h"

#define WASTE(member) MEMBER(struct trial_waste, member)

static const struct member waste_members[] = {
    WASTE(line),         WASTE(after),        MEMBER_AS(struct trial_waste, text, MEMBER_TEXT),
    WASTE(stored_bytes), WASTE(again_bytes),  WASTE(equal_bytes),
    WASTE(staged_bytes), WASTE(unread_bytes), {0}};

json_t *trial_waste_to_json(const struct trial *t)
{
    json_t *lines = json_array();

    for (size_t i = 0; i < t->n_waste; i++)
        json_array_append_new(lines, json_of_members(waste_members, &t->waste[i]));
    return lines;
}

void trial_waste_from_json(const json_t *lines, struct arena *a, struct trial *t)
{
    size_t n = json_array_size(lines);
    struct trial_waste *waste = arena_array(a, struct trial_waste, n + 1);

    for (size_t i = 0; i < n; i++)
        json_get_members(json_array_get(lines, i), waste_members, a, &waste[i]);
    t->waste = waste;
    t->n_waste = n;
}

char *trial_waste_words(struct arena *a, const struct trial *t, bool with_staged)
{
    enum { MOST = 3 };
    struct str s = {0};
    size_t n = 0;

    for (size_t i = 0; i < t->n_waste; i++) {
        const struct trial_waste *w = &t->waste[i];
        bool again = w->again_bytes >= 0.01 * w->stored_bytes && w->again_bytes > 0,
             unread = with_staged && w->unread_bytes >= 0.01 * w->staged_bytes && w->unread_bytes > 0;
        if ((!again && !unread) || n++ >= MOST)
            continue;
        str_addf(&s, "%sline %d", n > 1 ? "; " : "", w->line);
        if (w->text && *w->text)
            str_addf(&s, ", `%s`,", w->text);
        if (again) {
            str_addf(&s, " stores %.0f %% of its bytes again", fmax(1, 100 * w->again_bytes / w->stored_bytes));
            if (w->after && w->after != w->line)
                str_addf(&s, " after line %d", w->after);
            if (w->equal_bytes > 0)
                str_add(&s, ", in a race that leaves the same values");
        }
        if (unread)
            str_addf(&s, "%s stages %.0f %% of its bytes in shared memory for nobody to read",
                     again ? " and" : "", fmax(1, 100 * w->unread_bytes / w->staged_bytes));
    }
    if (n > MOST)
        str_addf(&s, "; and %zu more lines", n - MOST);
    if (!n)
        return NULL;
    return str_take(&s, a);
}
