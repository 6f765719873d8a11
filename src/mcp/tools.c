/* The tools: one table, from which tools/list, the check of arguments, the command lines and docs/models.md are
 * made. */
#include "internal.h"

#include <regex.h>

#define ARG(...)    \
    {               \
        __VA_ARGS__ \
    }
#define TASK \
    ARG("task", ARG_TASK, true, 0, 0, NULL, "the task's folder, which holds task.yaml and the kernel file")
#define VERSION                                                                      \
    ARG("file", ARG_FILE, false, 0, 0, NULL, "a version of the task's kernel file"), \
        ARG("text", ARG_TEXT, false, 0, 0, NULL,                                     \
            "that version as text, instead of `file`: nothing need be written")
#define SEED \
    ARG("seed", ARG_WHOLE, false, 0, 1LL << 31, "--seed", "of the cases (1); the same seed, the same cases")
#define DEVICE                                         \
    ARG("device", ARG_DEVICE, false, 0, 0, "--device", \
        "auto (a GPU when there is one), sim, sim:NAME, cuda, cuda:N")
#define EXACT \
    ARG("exact", ARG_FLAG, false, 0, 0, "--exact", "every output must be the original's, byte for byte")
#define RUN ARG("run", ARG_RUN, true, 0, 0, NULL, "the id that optimize_start gave")

const struct tool tools[] = {
    {.name = "check",
     .title = "Is the task sound?",
     .about =
         "Judges the original of a task: does it parse, launch, and answer right on every case? With `mutants` also: "
         "would the tests notice a wrong kernel? Do this first.",
     .verb = "check",
     .fixed = "--mutants=0",
     .args =
         {TASK,
          {"mutants", ARG_WHOLE, false, 0, 1000, "--mutants",
           "faults put into the original, to see which the tests notice; 0 (the default): none; 20 take some seconds"},
          SEED},
     .answer = answer_check},
    {.name = "bench",
     .title = "Judge one version",
     .about =
         "Verifies a version of the kernel file against the original on every case, then times it on the workloads. "
         "Gives the verdict with its line and reason, and the speed-up. Without `file` and `text`: the original.",
     .verb = "bench",
     .args =
         {TASK,
          VERSION,
          DEVICE,
          SEED,
          EXACT,
          {"confirm", ARG_FLAG, false, 0, 0, "--confirm",
           "as at the end of a run: also hidden cases, and the file as nvcc compiles it; for a version that you would ship"}},
     .answer = answer_bench},
    {.name = "profile",
     .title = "Where the time goes",
     .about =
         "Times a version by workload and source line: what bounds it, its share of a plain copy's speed, the hot lines "
         "with sectors and conflicts a request. Without `file` and `text`: the original.",
     .verb = "profile",
     .args = {TASK, VERSION, DEVICE, SEED},
     .answer = answer_profile},
    {.name = "sanitize",
     .title = "Races, bounds, undefined values",
     .about =
         "Runs every case on the simulator and lists all that is unsafe, with line, kernel and reason. For a version "
         "whose verdict is unsafe or nondeterministic, or that crashes.",
     .verb = "sanitize",
     .args = {TASK, VERSION, SEED},
     .answer = answer_sanitize},
    {.name = "optimize_start",
     .title = "Begin a run",
     .about =
         "Begins a run of Astra's built-in transforms on a task, offline and free, and gives its id at once; or goes on "
         "with one that was stopped (`resume`). Then call optimize_wait until it has ended.",
     .changes = true,
     .args = {{"task", ARG_TASK, false, 0, 0, NULL, "the task's folder; or say `resume`"},
              {"resume", ARG_RUN, false, 0, 0, NULL, "the id of a run that was stopped"},
              {"rounds", ARG_WHOLE, false, 1, 100, "--rounds", "at most so many (5)"},
              {"candidates", ARG_WHOLE, false, 1, 64, "--candidates",
               "at most so many new versions a round (12)"},
              {"seconds", ARG_WHOLE, false, 1, 86400, "--budget-time",
               "end after so long with the best so far"},
              {"also", ARG_FILES, false, 0, 8, NULL, "versions of yours that compete, judged like all others"},
              DEVICE,
              SEED,
              EXACT},
     .begin = mcp_run_begin},
    {.name = "optimize_wait",
     .title = "Wait for a run",
     .about = "Waits until a run has ended, or for some seconds, and gives its state.",
     .args = {RUN, {"seconds", ARG_WHOLE, false, 0, MAX_WAIT_S, NULL, "at most so long (30)"}},
     .begin = mcp_run_wait},
    {.name = "optimize_status",
     .title = "How a run stands",
     .about = "Gives a run's state at once.",
     .args = {RUN},
     .begin = mcp_run_status},
    {.name = "optimize_cancel",
     .title = "Stop a run",
     .about = "Stops a run; what it judged stays, and optimize_start with `resume` goes on with it.",
     .changes = true,
     .args = {RUN},
     .begin = mcp_run_cancel},
    {.name = "optimize_result",
     .title = "What a run found",
     .about =
         "Gives the verdict of a run that has ended: speed-up by workload, how it was verified, the best version's text "
         "and the patch.",
     .args = {RUN},
     .begin = mcp_run_result},
    {.name = "explain",
     .title = "What a verdict means",
     .about = "Says what a verdict means and what to do about it; without one, of all.",
     .args = {{"verdict", ARG_VERDICT, false, 0, 0, NULL, "the word that bench gave"}},
     .begin = explain_begin},
};
const size_t n_tools = ARRAY_LEN(tools);

const struct tool *tool_find(const char *name)
{
    for (size_t i = 0; i < n_tools; i++)
        if (str_eq(tools[i].name, name))
            return &tools[i];
    return NULL;
}

/* ---- schemas ---- */

#define DEVICE_PATTERN "^(auto|sim(:[a-z0-9-]{1,40})?|cuda(:[0-9]{1,3})?)$"
#define RUN_PATTERN    "^[A-Za-z0-9_-]{1,80}$"

static json_t *verdict_names(void)
{
    json_t *list = json_array();

    for (int v = 0; v <= VERDICT_CHEAT; v++)
        json_array_append_new(list, json_string(verdict_name((enum verdict)v)));
    return list;
}

static json_t *path_schema(void)
{
    return json_pack("{s:s, s:i, s:i}", "type", "string", "minLength", 1, "maxLength", 4096);
}

static json_t *arg_schema(const struct tool_arg *a)
{
    json_t *o = NULL;

    switch (a->kind) {
    case ARG_TASK:
    case ARG_FILE:
        o = path_schema();
        break;
    case ARG_FILES:
        o = json_pack("{s:s, s:o, s:i}", "type", "array", "items", path_schema(), "maxItems", (int)a->high);
        break;
    case ARG_TEXT:
        o = json_pack("{s:s, s:i, s:i}", "type", "string", "minLength", 1, "maxLength", MAX_TEXT);
        break;
    case ARG_WHOLE:
        o = json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum", (json_int_t)a->low, "maximum",
                      (json_int_t)a->high);
        break;
    case ARG_FLAG:
        o = json_pack("{s:s}", "type", "boolean");
        break;
    case ARG_DEVICE:
    case ARG_RUN:
        o = json_pack("{s:s, s:s}", "type", "string", "pattern",
                      a->kind == ARG_RUN ? RUN_PATTERN : DEVICE_PATTERN);
        break;
    case ARG_VERDICT:
        o = json_pack("{s:s, s:o}", "type", "string", "enum", verdict_names());
        break;
    }
    json_put_text(o, "description", a->help);
    return o;
}

static json_t *input_schema(const struct tool *t)
{
    json_t *properties = json_object(), *required = json_array(), *o = json_object();

    for (const struct tool_arg *a = t->args; a->name; a++) {
        json_put(properties, a->name, arg_schema(a));
        if (a->required)
            json_array_append_new(required, json_string(a->name));
    }
    json_put_text(o, "type", "object");
    json_put(o, "properties", properties);
    json_put(o, "required", required);
    json_put_flag(o, "additionalProperties", false);
    return o;
}

json_t *tool_list(void)
{
    const struct share_file *file = share_find("mcp/output.json");
    struct err err;
    json_t *outputs = json_parse(file->text, file->len, file->name, &err), *list = json_array();

    BUG_IF(!outputs);
    for (size_t i = 0; i < n_tools; i++) {
        const struct tool *t = &tools[i];
        json_t *o = json_object(), *hints = json_object();
        json_put_text(o, "name", t->name);
        json_put_text(o, "title", t->title);
        json_put_text(o, "description", t->about);
        json_put(o, "inputSchema", input_schema(t));
        json_put(o, "outputSchema", json_incref(json_object_get(outputs, t->name)));
        json_put_text(hints, "title", t->title);
        json_put_flag(hints, "readOnlyHint", !t->changes);
        json_put_flag(hints, "destructiveHint", false);
        json_put_flag(hints, "idempotentHint", !t->changes);
        json_put_flag(hints, "openWorldHint", false);
        json_put(o, "annotations", hints);
        json_array_append_new(list, o);
    }
    json_decref(outputs);
    return list;
}

/* ---- arguments ---- */

static bool is_like(const char *s, const char *pattern)
{
    regex_t compiled;
    bool yes;

    BUG_IF(regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0);
    yes = s && regexec(&compiled, s, 0, NULL, 0) == 0;
    regfree(&compiled);
    return yes;
}

static bool check_whole(const struct tool_arg *a, const json_t *v, struct err *err)
{
    double x = json_is_number(v) ? json_number_value(v) : NAN;

    return (x == floor(x) && x >= (double)a->low && x <= (double)a->high) ||
           err_input(err, "%s must be a whole number from %lld to %lld", a->name, (long long)a->low,
                     (long long)a->high);
}

static bool check_path(const char *name, const json_t *v, struct err *err)
{
    size_t n = json_string_length(v);

    return (n > 0 && n <= 4096) || err_input(err, "%s must be the path of a file or folder", name);
}

static bool check_arg(const struct tool_arg *a, const json_t *v, struct err *err)
{
    const char *s = json_string_value(v);
    enum verdict verdict;

    switch (a->kind) {
    case ARG_TASK:
    case ARG_FILE:
        return check_path(a->name, v, err);
    case ARG_FILES:
        if (!json_is_array(v) || json_array_size(v) > (size_t)a->high)
            return err_input(err, "%s must be a list of at most %lld paths", a->name, (long long)a->high);
        for (size_t i = 0; i < json_array_size(v); i++)
            if (!check_path(a->name, json_array_get(v, i), err))
                return false;
        return true;
    case ARG_TEXT:
        return (s && *s && json_string_length(v) <= MAX_TEXT) ||
               err_input(err, "%s must be the text of a file, of at most %d bytes", a->name, MAX_TEXT);
    case ARG_WHOLE:
        return check_whole(a, v, err);
    case ARG_FLAG:
        return json_is_boolean(v) || err_input(err, "%s must be true or false", a->name);
    case ARG_DEVICE:
        return is_like(s, DEVICE_PATTERN) || err_input(err, "%s must be %s", a->name, a->help);
    case ARG_RUN:
        return is_like(s, RUN_PATTERN) ||
               err_input(err, "%s must be the id of a run, as optimize_start gave it", a->name);
    case ARG_VERDICT:
        return (s && verdict_parse(s, &verdict)) ||
               err_input(err, "%s is no verdict; explain without one lists them", a->name);
    }
    BUG("argument kind %d", a->kind);
}

static const struct tool_arg *find_arg(const struct tool *t, const char *name)
{
    for (const struct tool_arg *a = t->args; a->name; a++)
        if (str_eq(a->name, name))
            return a;
    return NULL;
}

bool tool_check(const struct tool *t, const json_t *arguments, struct err *err)
{
    const char *name;
    json_t *v;

    json_object_foreach((json_t *)(uintptr_t)arguments, name, v)
    {
        const struct tool_arg *a = find_arg(t, name);
        if (!a)
            return err_input(err, "%s takes no argument of this name: %.60s", t->name, name);
        if (!check_arg(a, v, err))
            return false;
    }
    for (const struct tool_arg *a = t->args; a->name; a++)
        if (a->required && !json_object_get(arguments, a->name))
            return err_input(err, "%s needs %s: %s", t->name, a->name, a->help);
    if (json_object_get(arguments, "file") && json_object_get(arguments, "text"))
        return err_input(err, "give the version as `file` or as `text`, not as both");
    return true;
}

void tool_words(const struct call *c, const char *verb, word_list *argv)
{
    const char *const always[] = {"astra", verb, "--json", "--quiet", "--color=never", "--trace=/dev/stderr"};
    struct arena *a = c->arena;

    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        vec_add(a, argv, always[i]);
    if (c->tool->fixed)
        vec_add(a, argv, c->tool->fixed);
    for (const struct tool_arg *x = c->tool->args; x->name; x++) {
        const json_t *v = json_object_get(c->arguments, x->name);
        if (!v || !x->option || json_is_false(v))
            continue;
        vec_add(a, argv, x->option);
        if (json_is_string(v))
            vec_add(a, argv, json_string_value(v));
        else if (json_is_number(v))
            vec_add(a, argv, arena_printf(a, "%.0f", json_number_value(v)));
    }
}
