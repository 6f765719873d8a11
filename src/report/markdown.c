/* A run for a pull request: GitHub's Markdown. */
#include "report/markdown.h"

#include "report/report.h"
#include "report/words.h"

void markdown_text(struct str *out, const char *text)
{
    for (const char *p = text; *p; p++)
        if (*p == '\n' || *p == '\r')
            str_addc(out, ' ');
        else if (*p == '<')
            str_add(out, "&lt;");
        else if (*p == '>')
            str_add(out, "&gt;");
        else if (*p == '&')
            str_add(out, "&amp;");
        else if (*p == '@')
            str_add(out, "&#64;");
        else {
            if (strchr("\\`*_[]|#~!", *p))
                str_addc(out, '\\');
            str_addc(out, *p);
        }
}

/* A fence longer than any within. */
static void add_fence(struct str *out, const char *language, const char *text)
{
    size_t longest = 2, n = 0;
    char fence[64] = {0};

    for (const char *p = text; *p; p++) {
        n = *p == '`' ? n + 1 : 0;
        longest = MAX(longest, n);
    }
    memset(fence, '`', MIN(longest + 1, sizeof(fence) - 1));
    str_addf(out, "%s%s\n%s%s%s\n", fence, language, text, str_ends(text, "\n") ? "" : "\n", fence);
}

static void add_verified(struct str *out, const struct view *v, struct arena *a)
{
    long long killed = json_int(v->mutation, "killed", 0), survived = json_int(v->mutation, "survived", 0);
    const json_t *o = json_object_get(v->result, "verification");
    size_t n;
    const char *const *limits = words_limits(v, a, &n);

    str_add(out, "\n### How it was verified\n\n");
    str_addf(out, "- %lld cases of the suite", json_count(o, "cases"));
    if (v->hidden)
        str_addf(out, " and %lld hidden ones (seed %s) in a fresh process", json_count(o, "hidden"),
                 v->hidden_seed ? v->hidden_seed : "unknown");
    str_add(out, "\n");
    str_addf(out, "- %s\n", report_exactness(a, o));
    if (isfinite(json_num(o, "max_error")))
        str_addf(out, "- the exact answer is %s\n", words_exact(v, a));
    if (v->mutation)
        str_addf(out, "- of %lld faults put into the original the suite noticed %lld\n", killed + survived,
                 killed);
    for (size_t i = 0; i < n; i++) {
        str_add(out, "- ");
        markdown_text(out, limits[i]);
        str_add(out, "\n");
    }
}

static void add_repeat(struct str *out, const struct view *v, struct arena *a)
{
    const json_t *p = json_object_get(v->result, "provenance");
    const char *but = words_unrepeatable(v), *source = json_text(p, "source", "");

    str_add(out, "\n### How to repeat it\n\n");
    add_fence(out, "sh",
              v->result ? arena_printf(a, "%s\n%s\n", words_verify(v, a), words_repeat(v, a))
                        : words_repeat(v, a));
    str_add(out, "\n");
    if (but)
        str_addf(out, "%s ", but);
    str_addf(out, "Astra %s", v->run.astra);
    if (v->device && v->device->nvrtc)
        str_addf(out, ", NVRTC %s", v->device->nvrtc);
    if (v->device && v->device->driver)
        str_addf(out, ", driver %s", v->device->driver);
    if (json_object_get(p, "files"))
        str_addf(out, "; SHA-256 of the original %.12s, of what was judged %.12s",
                 json_text(json_object_get(p, "files"), source, "?"), json_text(p, "best", "?"));
    str_add(out, ".\n");
}

static void add_patch(struct str *out, const struct view *v, struct arena *a)
{
    if (v->best->row.id == 0)
        return;
    str_add(out, "\n<details>\n<summary>The patch</summary>\n\n");
    add_fence(out, "diff",
              diff_unified(a, "original.cu", v->candidates[0].row.text, "best.cu",
                           arena_printf(a, "%s%s", report_header(a, v->result), v->best->row.text)));
    str_add(out, "\n</details>\n");
}

void report_markdown(const struct view *v, struct arena *a, struct str *out)
{
    size_t n;
    const char *const *caveats = words_caveats(v, a, &n), *basis = v->measured ? " (measured)" : " (modelled)";

    str_add(out, "## ");
    markdown_text(out, v->run.task_name);
    str_addf(out, ": %s%s\n\n", words_headline(v, a), v->result ? basis : "");
    markdown_text(out, words_verdict(v, a));
    str_add(out, "\n");
    for (size_t i = 0; i < n; i++) {
        str_add(out, "\n> ");
        markdown_text(out, caveats[i]);
        str_add(out, "\n");
    }
    if (v->result) {
        str_add(out, "\n");
        str_addf(out, "%s:\n\n", words_capital(a, regime_name(v->regime)));
        table_as_markdown(report_workload_table(a, v->result, v->regime), out);
        for (enum regime regime = 0; regime < N_REGIMES; regime++)
            if (regime != v->regime && view_has(v, regime)) {
                str_addf(out, "\n<details>\n<summary>%s</summary>\n\n", words_capital(a, regime_name(regime)));
                table_as_markdown(report_workload_table(a, v->result, regime), out);
                str_add(out, "\n</details>\n");
            }
        struct table *beside = report_beside_table(a, v->result);
        if (beside) {
            str_add(out, "\nBeside a library:\n\n");
            table_as_markdown(beside, out);
        }
        str_add(out, "\n<details>\n<summary>Resources</summary>\n\n");
        table_as_markdown(report_resource_table(v, a), out);
        str_add(out, "\n</details>\n");
        add_verified(out, v, a);
    }
    add_repeat(out, v, a);
    if (v->result)
        add_patch(out, v, a);
}
