/* How the compiled file was compared, as JSON, both ways. */
#include "verdict.h"

static const char *device_words(const char *device_code)
{
    if (!device_code)
        return "was not compared";
    return str_eq(device_code, "same") ? "is the judged one" : "is another one and passed the same cases";
}

/* What is said of it, in one sentence. */
static char *shipped_text(const struct trial_shipped *s)
{
    struct str out = {0};

    if (!s->words && !s->object && s->not_run_because) {
        str_addf(&out, "not compared with the judged one: %s", s->not_run_because);
        return out.s;
    }
    str_addf(&out, "as nvcc compiles it, its words%s, its symbols%s, its device code %s, ",
             s->words ? " are the judged ones" : " were not compared",
             s->object ? " are those of a launcher" : " were not looked at", device_words(s->device_code));
    if (s->not_run_because)
        str_addf(&out, "and its launcher was not run: %s", s->not_run_because);
    else
        str_addf(&out, "and its launcher, run, gave the judged plans for %u of %u shapes", s->compared,
                 s->shapes);
    return out.s;
}

#define SHIPPED(member) MEMBER(struct trial_shipped, member)

static const struct member shipped_members[] = {
    MEMBER_NAMED("tokens", struct trial_shipped, words, MEMBER_FLAG),
    MEMBER_NAMED("symbols", struct trial_shipped, object, MEMBER_FLAG),
    SHIPPED(device_code),
    {0}};
static const struct member plan_members[] = {SHIPPED(shapes), SHIPPED(compared), {0}};

json_t *trial_shipped_to_json(const struct trial_shipped *s)
{
    json_t *o;

    if (!s->asked)
        return json_null();
    o = json_of_members(shipped_members, s);
    json_put(o, "plans", json_of_members(plan_members, s));
    json_put_text(o, "not_run_because", s->not_run_because);
    char *words = shipped_text(s);
    json_put_text(o, "words", words);
    free(words);
    return o;
}

void trial_shipped_from_json(const json_t *o, struct arena *a, struct trial_shipped *s)
{
    if (!json_is_object(o))
        return;
    *s = (struct trial_shipped){.asked = true};
    json_get_members(o, shipped_members, a, s);
    json_get_members(json_object_get(o, "plans"), plan_members, a, s);
    s->not_run_because = arena_strdup(a, json_text(o, "not_run_because", NULL));
}
