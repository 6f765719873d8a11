#include "internal.h"

#include <ctype.h>

/* The words of the schema, and what models say instead. */
static const char *bound_of(const char *word)
{
    static const struct {
        const char *part, *bound;
    } words[] = {{"dram", "dram"},      {"l2", "l2"},          {"issue", "issue"},       {"latency", "latency"},
                 {"launch", "launch"},  {"sync", "sync"},      {"hbm", "dram"},          {"memory", "dram"},
                 {"bandwidth", "dram"}, {"compute", "issue"},  {"instruction", "issue"}, {"barrier", "sync"},
                 {"atomic", "sync"},    {"overhead", "launch"}};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcasestr(word, words[i].part))
            return words[i].bound;
    return NULL;
}

static int lines_of(const char *text)
{
    int n = 1;

    for (; text && *text; text++)
        n += *text == '\n' && text[1];
    return n;
}

bool agent_read_profiler(const char *reply, const struct agent_brief *b, struct arena *a,
                         struct agent_diagnosis *d, struct err *complaint)
{
    static const char *const keys[] = {"diagnosis", "bound_by", NULL};
    json_t *o = reply_json(a, reply, keys, complaint);
    const char *word, *text, *bound;
    struct agent_diagnosis rules;
    struct str s = {.arena = a};
    int n_lines = lines_of(b->parent_text);

    if (!o)
        return false;
    word = reply_text(a, o, "bound_by", 60);
    text = reply_text(a, o, "diagnosis", 1500);
    bound = bound_of(word);
    if (!bound || strlen(text) < 10) {
        json_decref(o);
        return !bound ? err_input(complaint,
                                  "\"bound_by\" is \"%s\"; it must be dram, l2, issue, latency, launch or sync",
                                  word)
                      : err_input(complaint, "\"diagnosis\" must be a text of two to five sentences");
    }
    str_add(&s, text);
    for (size_t i = 0, shown = 0; i < json_array_size(json_object_get(o, "hot_lines")) && shown < 5; i++) {
        const json_t *x = json_array_get(json_object_get(o, "hot_lines"), i);
        const char *why = reply_text(a, x, "why", 200);
        double line;
        if (!reply_number(json_object_get(x, "line"), &line) || line < 1 || line > n_lines || !*why)
            continue; /* no such line */
        str_addf(&s, " Line %d: %s%s", (int)line, why, ispunct((unsigned char)why[strlen(why) - 1]) ? "" : ".");
        shown++;
    }
    json_decref(o);
    rules.share_of_copy = NAN;
    if (b->profile)
        agent_diagnose_rules(b->profile, a, &rules);
    *d = (struct agent_diagnosis){bound, str_take(&s, a), rules.share_of_copy};
    return true;
}
