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

json_t *trial_shipped_to_json(const struct trial_shipped *s)
{
    json_t *o, *plans;

    if (!s->asked)
        return json_null();
    o = json_object();
    plans = json_object();
    json_put_flag(o, "tokens", s->words);
    json_put_flag(o, "symbols", s->object);
    json_put_text(o, "device_code", s->device_code);
    json_put_int(plans, "shapes", s->shapes);
    json_put_int(plans, "compared", s->compared);
    json_put(o, "plans", plans);
    json_put_text(o, "not_run_because", s->not_run_because);
    char *words = shipped_text(s);
    json_put_text(o, "words", words);
    free(words);
    return o;
}

void trial_shipped_from_json(const json_t *o, struct arena *a, struct trial_shipped *s)
{
    const json_t *plans = json_object_get(o, "plans");

    if (!json_is_object(o))
        return;
    *s = (struct trial_shipped){.asked = true,
                                .words = json_flag(o, "tokens", false),
                                .object = json_flag(o, "symbols", false),
                                .device_code = arena_strdup(a, json_text(o, "device_code", NULL)),
                                .shapes = (unsigned)json_int(plans, "shapes", 0),
                                .compared = (unsigned)json_int(plans, "compared", 0),
                                .not_run_because = arena_strdup(a, json_text(o, "not_run_because", NULL))};
}
