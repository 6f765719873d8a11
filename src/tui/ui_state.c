/* Events in, state out. Unknown events and fields are passed over: other versions may have more. */
#include "tui/internal.h"

const char *role_name(enum role r)
{
    static const char *const names[] = {"tester", "profiler", "planner", "coder", "judge"};

    return names[r];
}

static struct agent_state *agent_of(struct ui_state *m, const json_t *f)
{
    const char *name = json_text(f, "role", "");

    for (int i = 0; i < N_ROLES; i++)
        if (str_eq(name, role_name((enum role)i)))
            return &m->agents_now[i];
    return str_eq(name, "single") ? &m->agents_now[ROLE_CODER] : NULL;
}

static void say(struct str *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct str *to, const char *fmt, ...)
{
    va_list ap;

    str_clear(to);
    va_start(ap, fmt);
    str_vaddf(to, fmt, ap);
    va_end(ap);
}

/* The run is one thread: who begins something is the only one at work, but for models and workers. */
static void all_idle(struct ui_state *m)
{
    for (int i = 0; i < N_ROLES; i++)
        m->agents_now[i].busy = false;
}

static void at_work(struct ui_state *m, struct agent_state *a)
{
    bool was_busy = a->busy;

    all_idle(m);
    a->busy = true;
    if (!was_busy)
        a->since_s = m->t_s;
}

void ui_state_open(struct ui_state *m)
{
    *m = (struct ui_state){.arena = arena_open(),
                           .task = "",
                           .device = "",
                           .basis = "?",
                           .agents = "",
                           .out = "",
                           .best_name = "",
                           .max_s = NAN,
                           .max_usd = NAN,
                           .usd = NAN};
    m->best_score = m->best_low = m->best_high = m->best_share = NAN;
}

void ui_state_close(struct ui_state *m)
{
    for (int i = 0; i < N_ROLES; i++) {
        str_free(&m->agents_now[i].text);
        str_free(&m->agents_now[i].call);
    }
    vec_free(&m->rows);
    vec_free(&m->times);
    str_free(&m->learnt);
    str_free(&m->note);
    arena_close(m->arena);
}

size_t ui_state_count(const struct ui_state *m, enum row_state state)
{
    size_t n = 0;

    for (size_t i = 0; i < m->rows.n; i++)
        n += m->rows.v[i].state == state;
    return n;
}

size_t ui_state_passed(const struct ui_state *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->rows.n; i++)
        n += m->rows.v[i].state == ROW_COUNTED && str_eq(m->rows.v[i].verdict, "passed");
    return n;
}

static const char *keep(struct ui_state *m, const char *text)
{
    return arena_strdup(m->arena, text);
}

#define RUN(member)         MEMBER_AS(struct ui_state, member, MEMBER_TEXT)
#define BEST(name, member)  MEMBER_NAMED(name, struct ui_state, member, MEMBER_NUMBER)
#define TIMES(name, member) MEMBER_NAMED(name, struct times, member, MEMBER_NUMBER)
#define ROW(member)         MEMBER(struct row, member)
#define ROW_TEXT(member)    MEMBER_AS(struct row, member, MEMBER_TEXT)

static const struct member run_members[] = {
    RUN(task), RUN(device), RUN(basis), RUN(agents), RUN(out), MEMBER(struct ui_state, resumed), {0}};

static const struct member best_members[] = {BEST("score", best_score),
                                             BEST("low", best_low),
                                             BEST("high", best_high),
                                             BEST("share_of_copy", best_share),
                                             {0}};

static const struct member times_members[] = {
    MEMBER_NAMED("bound_by", struct times, bound, MEMBER_TEXT_OR_NULL),
    TIMES("baseline_us", original_us),
    TIMES("best_us", best_us),
    TIMES("speedup", speedup),
    TIMES("low", low),
    TIMES("high", high),
    TIMES("share_of_copy", share),
    {0}};

static const struct member row_members[] = {ROW_TEXT(label),
                                            ROW_TEXT(name),
                                            ROW_TEXT(verdict),
                                            ROW_TEXT(words),
                                            MEMBER_NAMED("mind", struct row, backend, MEMBER_TEXT),
                                            ROW_TEXT(steps),
                                            ROW_TEXT(plan),
                                            ROW_TEXT(reason),
                                            ROW_TEXT(diff),
                                            ROW(id),
                                            ROW(parent),
                                            ROW(round),
                                            ROW(score),
                                            ROW(gain),
                                            {0}};

static void take_spent(struct ui_state *m, const json_t *spent)
{
    m->calls = json_int(spent, "calls", m->calls);
    m->tokens = json_int(spent, "tokens", m->tokens);
    m->usd = json_num(spent, "usd");
}

static void on_run(struct ui_state *m, const json_t *f)
{
    const json_t *limits = json_object_get(f, "limits"), *list = json_object_get(f, "workloads"), *dims;
    double begun_s = m->begun || json_text(f, "kernel", NULL) ? m->t_s : 0; /* a campaign has one clock */
    size_t i;

    if (m->begun) { /* a campaign's next kernel */
        ui_state_close(m);
        ui_state_open(m);
        m->t_s = begun_s;
    }
    m->begun = true;
    json_get_members(f, run_members, m->arena, m);
    m->max_rounds = json_int(limits, "rounds", 0);
    m->max_tokens = json_int(limits, "tokens", 0);
    m->max_s = json_num(limits, "s");
    m->max_usd = json_num(limits, "usd");
    m->spent_s = fmax(0, json_num(f, "spent_s")) - begun_s;
    take_spent(m, json_object_get(f, "spent"));
    vec_clear(&m->times);
    json_array_foreach(list, i, dims)
    {
        const char *text = json_is_string(dims) ? json_string_value(dims) : "?";
        struct times t = {.dims = keep(m, text)};
        json_get_members(NULL, times_members, NULL, &t); /* none is known */
        vec_push(&m->times, t);
    }
}

static const char *dims_text(struct ui_state *m, const json_t *dims)
{
    struct str s = {.arena = m->arena};
    const char *key;
    json_t *v;

    json_object_foreach((json_t *)(uintptr_t)dims, key, v)
        str_addf(&s, "%s%s=%lld", s.len ? " " : "", key, (long long)json_integer_value(v));
    return str_take(&s, m->arena);
}

static void take_best(struct ui_state *m, const json_t *f)
{
    const json_t *list = json_object_get(f, "workloads"), *w;
    size_t i;

    m->best = (int)json_int(f, "id", 0);
    m->best_name = keep(m, json_text(f, "name", "the original"));
    json_get_members(f, best_members, NULL, m);
    vec_clear(&m->times);
    json_array_foreach(list, i, w)
    {
        struct times t = {.dims = dims_text(m, json_object_get(w, "dims"))};
        json_get_members(w, times_members, m->arena, &t);
        vec_push(&m->times, t);
    }
}

static void say_diagnosis(struct ui_state *m, int64_t id, const json_t *f)
{
    struct str *text = &m->agents_now[ROLE_PROFILER].text;
    double share = json_num(f, "share_of_copy");

    say(text, "the original");
    if (id > 0)
        say(text, "candidate %lld", (long long)id);
    str_addf(text, " is bound by %s", json_text(f, "bound_by", "what is not known"));
    if (isfinite(share))
        str_addf(text, ", at %.0f %% of the copy's speed", 100 * share);
    str_addf(text, ". %s", json_text(f, "diagnosis", ""));
}

static void on_original(struct ui_state *m, const json_t *f)
{
    const json_t *device = json_object_get(f, "device");
    struct agent_state *judge = &m->agents_now[ROLE_JUDGE];

    m->device = keep(m, json_text(device, "name", m->device));
    m->basis = keep(m, json_text(device, "basis", m->basis));
    take_best(m, f);
    str_clear(&m->note);
    all_idle(m);
    say_diagnosis(m, 0, f);
    say(&judge->text, "the original passes %lld cases", json_count(f, "cases"));
}

static void on_suite(struct ui_state *m, const json_t *f)
{
    const char *text = json_text(f, "text", "");

    say(&m->agents_now[ROLE_TESTER].text, "%.*s", (int)strcspn(text, "("), text);
}

static void on_mutants(struct ui_state *m, const json_t *f)
{
    struct agent_state *tester = &m->agents_now[ROLE_TESTER];

    at_work(m, tester);
    say(&tester->text, "puts faults into the original: %lld of %lld judged", json_count(f, "done"),
        json_count(f, "all"));
}

static void on_mutation(struct ui_state *m, const json_t *f)
{
    long long killed = json_count(f, "killed"), survived = json_count(f, "survived");

    all_idle(m);
    say(&m->agents_now[ROLE_TESTER].text, "its suite notices %lld of %lld faults put into the original", killed,
        killed + survived);
}

/* What waited when the last round ended was left behind, or was another's text. */
static void on_round(struct ui_state *m, const json_t *f)
{
    size_t n = 0;

    m->round = json_int(f, "round", 0);
    m->max_rounds = json_int(f, "of", m->max_rounds);
    for (size_t i = 0; i < m->rows.n; i++)
        if (m->rows.v[i].state == ROW_COUNTED)
            m->rows.v[n++] = m->rows.v[i];
    m->rows.n = n;
    all_idle(m);
}

static void on_plan(struct ui_state *m, const json_t *f)
{
    const json_t *list = json_object_get(f, "strategies"), *s;
    struct str *text = &m->agents_now[ROLE_PLANNER].text;
    size_t n = json_array_size(list), i;

    say_diagnosis(m, json_int(f, "parent", 0), f);
    say(text, "%zu strateg%s", n, n == 1 ? "y" : "ies");
    json_array_foreach(list, i, s) str_addf(text, "%s%s", i ? "; " : ": ", json_text(s, "name", "?"));
}

static struct row *row_of(struct ui_state *m, const char *label)
{
    for (size_t i = m->rows.n; i-- > 0;)
        if (m->rows.v[i].state != ROW_COUNTED && str_eq(m->rows.v[i].label, label))
            return &m->rows.v[i];
    return NULL;
}

static struct row *row_add(struct ui_state *m, const json_t *f)
{
    struct row r = {0};

    json_get_members(f, row_members, m->arena, &r);
    vec_push(&m->rows, r);
    return &vec_last(&m->rows);
}

static void on_submitted(struct ui_state *m, const json_t *f)
{
    struct row *r = row_add(m, f);

    say(&m->agents_now[ROLE_CODER].text, "wrote %s: %s", r->label, r->name);
}

static void on_started(struct ui_state *m, const json_t *f)
{
    struct row *r = row_of(m, json_text(f, "label", ""));
    int worker = (int)json_int(f, "worker", 0);

    for (size_t i = 0; i < m->rows.n; i++) /* it is done with the one before, of which we hear next */
        if (m->rows.v[i].state == ROW_RUNNING && m->rows.v[i].worker == worker)
            m->rows.v[i].state = ROW_JUDGED;
    if (r) {
        r->state = ROW_RUNNING;
        r->worker = worker;
        r->since_s = m->t_s;
    }
}

static void on_judged(struct ui_state *m, const json_t *f)
{
    struct row *r = row_of(m, json_text(f, "label", ""));

    if (r) {
        r->verdict = keep(m, json_text(f, "verdict", "?"));
        r->words = keep(m, json_text(f, "words", ""));
        r->score = json_num(f, "score");
        r->state = ROW_JUDGED;
    }
}

/* Counted rows stand before the others, in the order in which they were counted. */
static void on_trial(struct ui_state *m, const json_t *f)
{
    struct row *found = row_of(m, json_text(f, "label", "")), r;
    const char *label;
    size_t at, to = 0;

    if (json_int(f, "id", 0) == 0)
        return; /* the original */
    r = found ? *found : *row_add(m, f);
    at = found ? (size_t)(found - m->rows.v) : m->rows.n - 1;
    str_clear(&m->note);
    label = r.label; /* what is chosen on the screen is known by it */
    json_get_members(f, row_members, m->arena, &r);
    r.label = label;
    r.state = ROW_COUNTED;
    while (m->rows.v[to].state == ROW_COUNTED && m->rows.v[to].id < r.id)
        to++;
    memmove(&m->rows.v[to + 1], &m->rows.v[to], (at - to) * sizeof(r));
    m->rows.v[to] = r;
    say(&m->agents_now[ROLE_JUDGE].text, "candidate %d: %s", r.id, r.verdict);
    if (isfinite(r.score))
        str_addf(&m->agents_now[ROLE_JUDGE].text, ", %.2fx", r.score);
}

static void on_doing(struct ui_state *m, const json_t *f)
{
    struct agent_state *a = agent_of(m, f);

    if (!a)
        return;
    say(&a->text, "%s", json_text(f, "text", ""));
    at_work(m, a);
}

static void on_call(struct ui_state *m, const json_t *f)
{
    struct agent_state *a = agent_of(m, f);

    if (!a)
        return;
    a->calls++;
    a->since_s = m->t_s;
    say(&a->call, "asks %s for %s: %lld tokens", json_text(f, "model", "its model"), json_text(f, "label", "?"),
        json_count(f, "tokens_in"));
}

static void on_waiting(struct ui_state *m, const json_t *f)
{
    struct agent_state *a = agent_of(m, f);
    long long tokens = json_count(f, "tokens_out");

    if (!a)
        return;
    a->since_s = m->t_s - fmax(0, json_num(f, "wall_s"));
    say(&a->call, "waits for %s", json_text(f, "label", "?"));
    if (tokens > 0)
        str_addf(&a->call, ", %lld tokens so far", tokens);
}

static void on_reply(struct ui_state *m, const json_t *f)
{
    struct agent_state *a = agent_of(m, f);

    take_spent(m, json_object_get(f, "spent"));
    if (!a)
        return;
    if (!json_flag(f, "stored", false))
        a->calls = MAX(0, a->calls - 1);
    say(&a->text, "%s: %s, %lld tokens%s", json_text(f, "label", "?"), json_text(f, "end", "?"),
        json_count(f, "tokens_out"), json_flag(f, "stored", false) ? " (stored already)" : "");
}

/* What became of a reply or a strategy. It begins with the call's label, which begins with the role; what
 * begins with another name is the coder's. */
static void on_outcome(struct ui_state *m, const json_t *f)
{
    const char *text = json_text(f, "text", "");
    enum role whose = ROLE_CODER;

    for (int i = 0; i < N_ROLES; i++)
        if (str_starts(text, role_name((enum role)i)))
            whose = (enum role)i;
    say(&m->agents_now[whose].text, "%s", text);
}

static void on_pruned(struct ui_state *m, const json_t *f)
{
    all_idle(m);
    say(&m->agents_now[ROLE_PLANNER].text, "as good with fewer changes: %s", json_text(f, "text", ""));
}

static void on_tune_point(struct ui_state *m, const json_t *f)
{
    struct agent_state *planner = &m->agents_now[ROLE_PLANNER];

    at_work(m, planner);
    say(&planner->text, "tunes the numbers of the best's steps: %lld of at most %lld settings timed",
        json_count(f, "done"), json_count(f, "all"));
}

static void on_tuned(struct ui_state *m, const json_t *f)
{
    all_idle(m);
    say(&m->agents_now[ROLE_PLANNER].text, "tuned: %s", json_text(f, "text", ""));
}

static void on_confirm(struct ui_state *m, const json_t *f)
{
    all_idle(m);
    say(&m->agents_now[ROLE_JUDGE].text, "candidate %lld on %lld cases of a hidden seed: %s",
        json_count(f, "id"), json_count(f, "cases"), json_text(f, "verdict", "?"));
}

static void on_sanitizer(struct ui_state *m, const json_t *f)
{
    at_work(m, &m->agents_now[ROLE_JUDGE]);
    say(&m->agents_now[ROLE_JUDGE].text, "%s", json_text(f, "text", ""));
}

static void on_budget(struct ui_state *m, const json_t *f)
{
    const char *what = json_text(f, "what", "?");

    if (str_eq(what, "s"))
        say(&m->note, "the time is up");
    else
        say(&m->note, "the %s is spent", str_eq(what, "usd") ? "money" : "budget of tokens");
}

static void on_stopping(struct ui_state *m, const json_t *f)
{
    (void)f;
    m->stopping = true;
}

static void on_end(struct ui_state *m, const json_t *f)
{
    (void)f;
    all_idle(m);
    m->ended = true;
}

/* Events whose text is all they say, and where it is shown. */
static const struct {
    const char *event;
    size_t at;
} texts[] = {{"tester", offsetof(struct ui_state, agents_now[ROLE_TESTER].text)},
             {"learnt", offsetof(struct ui_state, learnt)},
             {"gpu_busy", offsetof(struct ui_state, note)},
             {"worker_died", offsetof(struct ui_state, note)},
             {"worker_lost", offsetof(struct ui_state, note)},
             {"left_out", offsetof(struct ui_state, note)},
             {"memory", offsetof(struct ui_state, note)},
             {"stands_in", offsetof(struct ui_state, note)}};

static const struct {
    const char *event;
    void (*take)(struct ui_state *m, const json_t *f);
} events[] = {{"run", on_run},
              {"suite", on_suite},
              {"doing", on_doing},
              {"mutants", on_mutants},
              {"mutation", on_mutation},
              {"original", on_original},
              {"round", on_round},
              {"plan", on_plan},
              {"submitted", on_submitted},
              {"started", on_started},
              {"judged", on_judged},
              {"trial", on_trial},
              {"best", take_best},
              {"call", on_call},
              {"waiting", on_waiting},
              {"reply", on_reply},
              {"repair", on_outcome},
              {"unusable", on_outcome},
              {"dropped", on_outcome},
              {"not_coded", on_outcome},
              {"duplicate", on_outcome},
              {"pruned", on_pruned},
              {"confirm", on_confirm},
              {"sanitizer", on_sanitizer},
              {"budget", on_budget},
              {"stopping", on_stopping},
              {"end", on_end},
              {"tuned", on_tuned},
              {"tune_point", on_tune_point}};

void ui_state_event(struct ui_state *m, const char *event, const json_t *f)
{
    double t_s = json_num(f, "t_s");

    m->t_s = isfinite(t_s) ? t_s : m->t_s;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (str_eq(texts[i].event, event))
            say((struct str *)((char *)m + texts[i].at), "%s", json_text(f, "text", ""));
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        if (str_eq(events[i].event, event))
            events[i].take(m, f);
}
