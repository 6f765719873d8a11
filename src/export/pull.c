/* The text beside a patch of a framework: what its reviewers ask for. */
#include "internal.h"

#include "report/report.h"

static const char *fact_of(const struct facts *f, const char *name)
{
    for (size_t i = 0; i < f->list.n; i++)
        if (str_eq(f->list.v[i].name, name))
            return f->list.v[i].text;
    return "";
}

static void add_sentence(struct str *out, const char *text)
{
    str_add(out, "- ");
    markdown_text(out, text);
    str_add(out, "\n");
}

static void add_part(struct str *out, const struct facts *f, const char *title, const char *names)
{
    bool within = false;

    str_addf(out, "\n## %s\n\n", title);
    for (size_t i = 0; i < f->list.n; i++) {
        if (*f->list.v[i].name)
            within = str_in(f->list.v[i].name, names);
        if (within)
            add_sentence(out, f->list.v[i].text);
    }
}

char *pull_text(const struct export_run *r, struct arena *a, const char *kernel, const char *const *words,
                size_t n_words)
{
    const json_t *result = r->bundle.result;
    int64_t calls = json_int(json_object_get(result, "cost"), "calls", 0);
    struct str out = {.arena = a};
    struct facts f;

    facts_read(&f, r, a);
    str_add(&out, "# ");
    markdown_text(&out, arena_printf(a, "%s: %s", kernel, fact_of(&f, "speed-up")));
    str_add(&out, "\n");
    add_part(&out, &f, "Before and after", "speed-up|basis|times");
    add_part(&out, &f, "Shapes and arguments", "domain|arguments");
    add_sentence(
        &out, "Judged for these types and alignments only; other instances of the same template, and tensors "
              "that begin elsewhere, were not.");
    add_part(&out, &f, "Numerics", "accuracy|verified|suite|unchecked|uncovered|limit");
    str_add(&out, "\n## Sanitizer\n\n");
    add_sentence(&out,
                 "Every case ran in a simulator that looks at each access: no access out of bounds, no read of "
                 "what nobody wrote, no race, no barrier that some threads miss.");
    if (n_words)
        str_add(&out, "\n## What this patch does not do by itself\n\n");
    for (size_t i = 0; i < n_words; i++)
        add_sentence(&out, words[i]);
    str_add(&out, "\n## How to repeat it\n\n```sh\nastra verify ");
    str_add_shell(&out, fs_basename(fs_absolute(a, r->bundle.folder)));
    str_add(&out, "\n```\n\n");
    add_sentence(&out, arena_printf(a, "compiler %s; seeds %s", fact_of(&f, "compiler"), fact_of(&f, "seeds")));
    str_add(&out, "\n## Was a model used?\n\n");
    add_sentence(&out, calls ? arena_printf(a,
                                            "Yes: %lld calls of a language model proposed versions; a judge "
                                            "that does not ask it accepted this one.",
                                            (long long)calls)
                             : "No. Rules changed the source; no language model was asked.");
    return str_take(&out, a);
}
