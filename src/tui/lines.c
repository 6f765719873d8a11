/* Events as sober lines, for logs and dumb terminals. */
#include "tui/internal.h"

static void add_first_line(struct str *to, const char *before, const char *text)
{
    size_t len = strcspn(text, "\r\n");

    if (len)
        str_addf(to, "%s%.*s", before, (int)len, text);
}

static void add_candidate(struct str *to, const char *before, int64_t id)
{
    if (id > 0)
        str_addf(to, "%scandidate %lld", before, (long long)id);
    else
        str_addf(to, "%sthe original", before);
}

static void add_run(struct str *to, const json_t *f)
{
    long long rounds = json_int(json_object_get(f, "limits"), "rounds", 0);

    str_addf(to, "%s %s on %s, times %s, agents %s, at most %lld round%s; kept in %s",
             json_flag(f, "resumed", false) ? "going on with" : "optimising", json_text(f, "task", "?"),
             json_text(f, "device", "?"), json_text(f, "basis", "?"), json_text(f, "agents", "?"), rounds,
             rounds == 1 ? "" : "s", json_text(f, "out", "?"));
}

static void add_original(struct str *to, const json_t *f)
{
    double share = json_num(f, "share_of_copy");

    str_addf(to, "the original passes %lld cases", json_count(f, "cases"));
    if (isfinite(share))
        str_addf(to, "; %s, it reaches %.0f %% of the plain copy's speed",
                 json_text(json_object_get(f, "device"), "basis", "modelled"), 100 * share);
}

static void add_plan(struct str *to, const json_t *f)
{
    size_t n = json_array_size(json_object_get(f, "strategies"));

    add_first_line(to, "  ", json_text(f, "diagnosis", ""));
    str_addf(to, "%s  %zu strateg%s", to->len ? "\n" : "", n, n == 1 ? "y" : "ies");
}

static void add_trial(struct str *to, const json_t *f)
{
    double gain = json_num(f, "gain"), score = json_num(f, "score");
    const char *verdict = json_text(f, "verdict", "?");

    str_addf(to, "  %3lld %-14s", json_count(f, "id"), verdict);
    if (isfinite(score))
        str_addf(to, " %6.2fx", score);
    if (isfinite(score) && json_int(f, "parent", 0) > 0) {
        if (fabs(gain - 1) < .005)
            str_add(to, " (as fast as its parent)");
        else
            str_addf(to, " (%+.0f %% over its parent)", 100 * (gain - 1));
    }
    str_addf(to, "  %s", json_text(f, "name", ""));
    if (!str_eq(verdict, "passed"))
        add_first_line(to, ": ", json_text(f, "words", ""));
}

static void add_best(struct str *to, const json_t *f)
{
    double share = json_num(f, "share_of_copy");

    add_candidate(to, "best so far: ", json_int(f, "id", 0));
    if (isfinite(json_num(f, "score")))
        str_addf(to, ", %.2fx %s", json_num(f, "score"), json_text(f, "basis", "?"));
    if (isfinite(share))
        str_addf(to, ", %.0f %% of the plain copy's speed", 100 * share);
}

static void add_confirm(struct str *to, const json_t *f)
{
    str_addf(to, "candidate %lld on %lld cases of a hidden seed: %s", json_count(f, "id"),
             json_count(f, "cases"), json_text(f, "verdict", "?"));
    add_first_line(to, ": ", json_text(f, "words", ""));
}

static void add_budget(struct str *to, const json_t *f)
{
    const char *what = json_text(f, "what", "?");

    if (str_eq(what, "s"))
        str_addf(to, "the time is up: %.1f s", json_num(f, "limit"));
    else if (str_eq(what, "usd"))
        str_addf(to, "the budget is spent: %.4f of %.4f USD", json_num(f, "used"), json_num(f, "limit"));
    else
        str_addf(to, "the budget is spent: %.0f of %.0f tokens", json_num(f, "used"), json_num(f, "limit"));
}

static void add_mutants(struct str *to, const json_t *f)
{
    enum { EVERY = 20 };
    int64_t done = json_int(f, "done", 0), all = json_int(f, "all", 0);

    if (done % EVERY == 0 || done == all)
        str_addf(to, "%lld of %lld mutants judged", (long long)done, (long long)all);
}

static void add_call(struct str *to, const json_t *f)
{
    const char *model = json_text(f, "model", NULL);

    str_addf(to, "  asking %s%s%s: about %lld tokens", json_text(f, "label", "?"), model ? " of " : "",
             model ? model : "", json_count(f, "tokens_in"));
}

static void add_waiting(struct str *to, const json_t *f)
{
    str_addf(to, "  %s: waiting for %.0f s", json_text(f, "label", "?"), json_num(f, "wall_s"));
    if (json_int(f, "tokens_out", 0) > 0)
        str_addf(to, ", %lld tokens so far", json_count(f, "tokens_out"));
}

static void add_reply(struct str *to, const json_t *f)
{
    str_addf(to, "  %s: %s%s, %lld tokens in, %lld out, %.1f s", json_text(f, "label", "?"),
             json_text(f, "end", "?"), json_flag(f, "stored", false) ? " (stored already)" : "",
             json_count(f, "tokens_in"), json_count(f, "tokens_out"), json_num(f, "wall_s"));
    if (isfinite(json_num(f, "usd")))
        str_addf(to, ", %.4f USD", json_num(f, "usd"));
}

static void add_round(struct str *to, const json_t *f)
{
    str_addf(to, "round %lld", json_count(f, "round"));
    if (json_int(f, "of", 0))
        str_addf(to, " of %lld", json_count(f, "of"));
    add_candidate(to, " from ", json_int(f, "parent", 0));
    str_addf(to, " (%.2fx)", json_num(f, "parent_score"));
}

static void add_mutation(struct str *to, const json_t *f)
{
    long long killed = json_count(f, "killed"), survived = json_count(f, "survived");

    str_addf(to, "the suite notices %lld of %lld faults put into the original", killed, killed + survived);
}

static void add_doing(struct str *to, const json_t *f)
{
    if (json_text(f, "text", NULL))
        str_addf(to, "%s: %s", json_text(f, "role", "?"), json_text(f, "text", ""));
}

static void add_stopping(struct str *to, const json_t *f)
{
    (void)f;
    str_add(to, "stopping; what is stored stays");
}

/* Events whose line is their text. */
static const struct {
    const char *event, *before;
} texts[] = {{"suite", "suite: "},
             {"tester", "tester: "},
             {"stands_in", ""},
             {"unusable", "  not usable: "},
             {"repair", "  goes back: "},
             {"dropped", "  dropped: "},
             {"gpu_busy", ""},
             {"worker_died", ""},
             {"worker_lost", ""},
             {"left_out", ""},
             {"counters", "counters: "},
             {"memory", "memory: "},
             {"sanitizer", ""},
             {"pruned", "as good with fewer changes: "},
             {"tuned", "tuned: "}};

static const struct {
    const char *event;
    void (*add)(struct str *to, const json_t *f);
} others[] = {{"run", add_run},           {"original", add_original}, {"mutants", add_mutants},
              {"mutation", add_mutation}, {"round", add_round},       {"plan", add_plan},
              {"trial", add_trial},       {"best", add_best},         {"call", add_call},
              {"waiting", add_waiting},   {"reply", add_reply},       {"confirm", add_confirm},
              {"budget", add_budget},     {"doing", add_doing},       {"stopping", add_stopping}};

void lines_add(struct str *to, const char *event, const json_t *f)
{
    struct str raw = {0};

    if (str_eq(event, "trial") && json_int(f, "id", 0) == 0)
        return; /* the event `original` has more to say */
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (str_eq(texts[i].event, event))
            str_addf(&raw, "%s%s", texts[i].before, json_text(f, "text", ""));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (str_eq(others[i].event, event))
            others[i].add(&raw, f);
    tui_clean(to, str_text(&raw));
    str_free(&raw);
}
