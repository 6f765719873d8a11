/* What each role's model is told: the system prompt is the same for all calls of a role in a run, so that a
 * provider can keep it; what changes is in the user's message. */
#include "internal.h"

enum {
    MAX_LESSONS = 14,
    MAX_LESSONS_CODER = 4,
    MAX_WORDS_LINES = 24,
    MAX_SINGLE_BYTES = 6 << 10,
    MAX_LAST_BYTES = 24 << 10,
    MAX_SAID_BYTES = 16 << 10
};

static struct agent_prompt *prompt_of(struct agent_prompt *p, struct arena *a, const char *role,
                                      const char *system, const char *ask)
{
    struct llm_message *m = arena_new(a, struct llm_message);

    m->text = ask;
    *p = (struct agent_prompt){role, system, m, 1};
    return p;
}

void agent_prompt_tester(const struct agent_brief *b, struct arena *a, struct agent_prompt *p)
{
    const struct task *t = b->task;
    struct str special = {.arena = a}, dims = {.arena = a};

    for (size_t i = 0; i < t->n_args; i++)
        if (t->args[i].values.n_special && t->args[i].role != ROLE_SCALAR)
            str_addf(&special, "%s%s", special.len ? ", " : "", t->args[i].name);
    for (size_t i = 0; i < t->n_dims; i++)
        str_addf(&dims, "%s%s", i ? ", " : "", t->dims[i]);
    struct fill_slot system[] = {
        {"task", part_task(b, a)},
        {"data", share_text("prompts/data.md")},
        {"n_dims", arena_printf(a, "%zu", t->n_dims)},
        {"dims", str_take(&dims, a)},
        {"special", special.len ? str_take(&special, a) : "none here"},
        {"max_elements", arena_printf(a, "%d", MAX_CASE_ELEMENTS)},
        {"max_cases", arena_printf(a, "%d", MAX_TESTER_CASES)},
        {"reach", part_reach(b, a)},
    };
    struct fill_slot ask[] = {
        {"file", text_code(a, b->parent_text, false)},
        {"suite", text_quote(a, "the suite", part_suite(b, a), 24)},
    };
    prompt_of(p, a, "tester", fill_share(a, "prompts/tester.md", system, ARRAY_LEN(system)),
              fill_share(a, "prompts/tester-ask.md", ask, ARRAY_LEN(ask)));
}

void agent_prompt_profiler(const struct agent_brief *b, struct arena *a, struct agent_prompt *p)
{
    struct fill_slot system[] = {{"task", part_task(b, a)}, {"data", share_text("prompts/data.md")}};
    struct fill_slot ask[] = {
        {"score", part_score(b, a)},         {"file", text_code(a, b->parent_text, true)},
        {"times", part_times(b, a, true)},   {"lines", part_lines(b, a, true)},
        {"resources", part_resources(b, a)},
    };

    prompt_of(p, a, "profiler", fill_share(a, "prompts/profiler.md", system, ARRAY_LEN(system)),
              fill_share(a, "prompts/profiler-ask.md", ask, ARRAY_LEN(ask)));
}

static const char *diagnosis_of(const struct agent_brief *b, struct arena *a)
{
    return b->diagnosis ? text_line(a, b->diagnosis->text, 1500) : "none";
}

void agent_prompt_planner(const struct agent_brief *b, struct arena *a, struct agent_prompt *p)
{
    struct fill_slot system[] = {
        {"task", part_task(b, a)}, {"contract", part_contract(b, a)}, {"data", share_text("prompts/data.md")}};
    struct fill_slot ask[] = {
        {"score", part_score(b, a)},
        {"file", text_code(a, b->parent_text, true)},
        {"diagnosis", diagnosis_of(b, a)},
        {"times", part_times(b, a, false)},
        {"lines", part_lines(b, a, false)},
        {"resources", part_resources(b, a)},
        {"transforms", part_transforms(b, a, true)},
        {"lessons", part_lessons(b, a, MAX_LESSONS)},
        {"n", b->max_strategies == 1 ? "one strategy, the most promising"
                                     : arena_printf(a, "up to %zu strategies", b->max_strategies)},
    };

    prompt_of(p, a, "planner", fill_share(a, "prompts/planner.md", system, ARRAY_LEN(system)),
              fill_share(a, "prompts/planner-ask.md", ask, ARRAY_LEN(ask)));
}

void agent_prompt_coder(const struct agent_brief *b, const struct agent_strategy *s, struct arena *a,
                        struct agent_prompt *p)
{
    struct fill_slot system[] = {
        {"task", part_task(b, a)}, {"contract", part_contract(b, a)}, {"data", share_text("prompts/data.md")}};
    struct fill_slot ask[] = {
        {"score", part_score(b, a)},
        {"file", text_code(a, b->parent_text, true)},
        {"diagnosis", diagnosis_of(b, a)},
        {"lines", part_lines(b, a, false)},
        {"transforms", part_transforms(b, a, false)},
        {"lessons", part_lessons(b, a, MAX_LESSONS_CODER)},
        {"name", text_line(a, s->name, 100)},
        {"reason", text_line(a, s->reason, 800)},
        {"plan", text_line(a, s->plan, 2000)},
    };

    prompt_of(p, a, "coder", fill_share(a, "prompts/coder.md", system, ARRAY_LEN(system)),
              fill_share(a, "prompts/coder-ask.md", ask, ARRAY_LEN(ask)));
}

/* Of the last file of the one conversation; NULL: there is none. */
static const struct agent_lesson *last_lesson(const struct agent_brief *b)
{
    for (size_t i = 0; i < b->n_lessons && b->attempt; i++)
        if (b->lessons[i].id == b->attempt)
            return &b->lessons[i];
    return NULL;
}

static const char *outcome_of(const struct agent_brief *b, struct arena *a)
{
    const struct agent_lesson *l = last_lesson(b);

    if (!l)
        return arena_printf(a, "The file to make faster, %s:", part_score(b, a));
    bool behind = str_eq(l->verdict, "passed") && l->score < b->parent_score;
    return arena_printf(
        a, "Your last file: %s%s. %s\n%s%s\nThe best so far, %s, from which to go on:", l->verdict,
        isfinite(l->score) ? arena_printf(a, ", %.2f times as fast as the original", l->score) : "",
        behind ? "It is correct, and slower than the best so far." : text_verdict(a, l->verdict),
        l->words && *l->words ? text_quote(a, "the judge's words", l->words, MAX_WORDS_LINES) : "",
        b->last_lines ? text_quote(a, "the place in your last file", b->last_lines, 5) : "", part_score(b, a));
}

/* An earlier turn without its file: what was said about it stays. */
static const char *without_file(struct arena *a, const char *text)
{
    const char *open = strstr(text, "```"), *close = open ? strstr(open + 3, "\n```") : NULL;

    if (!open)
        return text;
    close = close ? close + 4 : text + strlen(text);
    return arena_printf(a, "%.*s(file left out)%s", (int)(open - text), text, close);
}

/* Is the last file one that the question does not show? It is, where it did not become the best. */
static bool last_is_elsewhere(const struct agent_brief *b)
{
    const struct agent_lesson *l = last_lesson(b);

    return l && !(str_eq(l->verdict, "passed") && l->score >= b->parent_score);
}

/* The latest turns that fit, without their files: each question holds the file that is to be improved. A last
 * file that is another one stays, for the judge's words name its lines. */
void agent_prompt_single(const struct agent_brief *b, const struct llm_message *before, size_t n_before,
                         struct arena *a, struct agent_prompt *p)
{
    struct fill_slot system[] = {
        {"task", part_task(b, a)}, {"contract", part_contract(b, a)}, {"data", share_text("prompts/data.md")}};
    struct fill_slot ask[] = {
        {"outcome", outcome_of(b, a)},       {"file", text_code(a, b->parent_text, true)},
        {"times", part_times(b, a, false)},  {"lines", part_lines(b, a, false)},
        {"resources", part_resources(b, a)}, {"transforms", part_transforms(b, a, false)},
    };
    struct llm_message *m = arena_array(a, struct llm_message, n_before + 1);
    size_t from = n_before, bytes = 0, stripped = n_before - (n_before && last_is_elsewhere(b));

    for (size_t i = 0; i < n_before; i++)
        m[i] = (struct llm_message){before[i].assistant,
                                    i < stripped ? without_file(a, before[i].text) : before[i].text};
    while (from >= 2 && m[from - 1].assistant && !m[from - 2].assistant) {
        bytes += strlen(m[from - 1].text) + strlen(m[from - 2].text);
        if (bytes > (from == n_before ? MAX_LAST_BYTES : MAX_SINGLE_BYTES))
            break;
        from -= 2;
    }
    m[n_before].text = fill_share(a, "prompts/single-ask.md", ask, ARRAY_LEN(ask));
    *p = (struct agent_prompt){"single", fill_share(a, "prompts/single.md", system, ARRAY_LEN(system)),
                               m + from, n_before - from + 1};
}

static const char REFUSED[] = "Your file was refused. Verdict: ", UNUSABLE[] = "Your reply could not be used:";

/* "compile-failed. What it means ... | the judge's words" to one line without the meaning. */
static const char *earlier_refusal(struct arena *a, const char *refused)
{
    const char *words = strstr(refused, "\n| ");

    return arena_printf(a, "An earlier file of yours was refused too, as %.*s: %s\n",
                        (int)strcspn(refused, "."), refused,
                        words ? text_line(a, arena_strndup(a, words + 3, strcspn(words + 3, "\n")), 200) : "");
}

/* Only the question and the last reply stay: of an earlier refusal the verdict is enough, of earlier turns
 * nothing.
 */
void agent_prompt_again(const struct agent_prompt *before, const char *reply, const char *verdict,
                        const char *words, struct arena *a, struct agent_prompt *p)
{
    size_t ask = before->n_messages - 1;
    const char *last = before->messages[ask].text, *earlier = "", *said = reply_spoken(a, reply), *at;
    struct llm_message *m = arena_array(a, struct llm_message, 3);

    if (ask >= 2 && (strstr(last, REFUSED) || str_starts(last, UNUSABLE)))
        ask -= 2;
    if (verdict && (at = strstr(last, REFUSED)))
        earlier = earlier_refusal(a, at + strlen(REFUSED));
    if (strlen(said) > MAX_SAID_BYTES)
        said = arena_printf(a, "%s\n(cut here: it was too long)", text_head(a, said, MAX_SAID_BYTES));
    m[0] = before->messages[ask];
    m[1] = (struct llm_message){true, said[strspn(said, " \n\t")] ? said : "(nothing)"};
    if (verdict) {
        struct fill_slot slots[] = {
            {"earlier", earlier},
            {"refused", REFUSED},
            {"verdict", verdict},
            {"meaning", text_verdict(a, verdict)},
            {"words", text_quote(a, "the judge's words", words ? words : "", MAX_WORDS_LINES)}};
        m[2].text = fill_share(a, "prompts/again-verdict.md", slots, ARRAY_LEN(slots));
    } else {
        struct fill_slot slots[] = {
            {"unusable", UNUSABLE},
            {"words", text_quote(a, "the complaint", words ? words : "", MAX_WORDS_LINES)}};
        m[2].text = fill_share(a, "prompts/again-reply.md", slots, ARRAY_LEN(slots));
    }
    *p = (struct agent_prompt){before->role, before->system, m, 3};
}
