/* What was tried: every candidate in its round, with plan, reason and verdict. */
#include "report/page.h"

#include "report/chart.h"
#include "report/words.h"

/* A strategy of all moves at once has a long name; the steps that took effect are shorter and truer. */
static const char *name_of(const struct view_candidate *c, struct arena *a)
{
    const char *steps = words_steps(a, c);

    if (c->row.id == 0)
        return "the original";
    return c->n_steps > 1 && strlen(steps) < strlen(c->row.name) ? steps : report_one_line(a, c->row.name, 160);
}

static void add_candidate(const struct view *v, const struct view_candidate *c, struct arena *a,
                          struct str *out)
{
    const struct store_candidate *r = &c->row;

    html_addf(out,
              "<details class=\"candidate\" id=\"candidate-%d\">\n<summary><span class=\"id\">%d</span> "
              "<span class=\"verdict v-%s\">%s</span> ",
              r->id, r->id, r->verdict, r->id ? r->verdict : "");
    if (isfinite(r->score))
        html_addf(out, "<span class=\"score\">%.2f×</span> ", r->score);
    else
        str_add(out, "<span class=\"score\"></span> ");
    html_addf(out, "<span class=\"name\">%s</span>", name_of(c, a));
    str_addf(out, "%s</summary>\n<dl>\n", c == v->best ? " <strong class=\"best\">best</strong>" : "");
    page_term(out, "Strategy", r->name);
    if (r->parent >= 0)
        page_term(out, "Made from", words_parent(a, r->parent));
    if (r->repairs > 0)
        page_term(out, "Repairs", words_parent(a, r->repairs));
    if (r->id > 0)
        page_term(out, "By", words_author(r->backend));
    page_term(out, "Reason", r->reason);
    page_term(out, "Plan", r->plan);
    page_term(out, "Took effect", words_steps(a, c));
    if (r->line)
        page_term(out, "Verdict", arena_printf(a, "%s, line %d: %s", r->verdict, r->line, r->words));
    else
        page_term(out, "Verdict", *r->words ? arena_printf(a, "%s: %s", r->verdict, r->words) : r->verdict);
    if (isfinite(r->score))
        page_term(out, "Speed",
                  isfinite(r->gain) && r->parent > 0
                      ? arena_printf(a, "%.3f times the original's, %.3f times its parent's", r->score, r->gain)
                      : arena_printf(a, "%.3f times the original's", r->score));
    page_term(out, "Diagnosis", r->diagnosis);
    str_add(out, "</dl>\n</details>\n");
}

/* The candidates from `first` to before `end`; told: by candidate, whose diagnosis the page has said. */
static void add_round(const struct view *v, size_t first, size_t end, bool *told, struct arena *a,
                      struct str *out)
{
    const struct view_candidate *parent = &v->candidates[MAX(v->candidates[first].row.parent, 0)];
    double most = NAN;

    for (size_t i = first; i < end; i++)
        most = fmax(most, v->candidates[i].row.score);
    html_addf(
        out,
        "<details class=\"round\">\n<summary><h3>Round %d, from %s</h3> <span class=\"note\">%zu candidate%s",
        v->candidates[first].row.round, words_parent(a, parent->row.id), end - first,
        end - first == 1 ? "" : "s");
    if (isfinite(most))
        html_addf(out, ", up to %.2f×", most);
    str_add(out, "</span></summary>\n");
    if (parent->row.diagnosis && !told[parent->row.id])
        html_addf(out, "<p>%s</p>\n", parent->row.diagnosis);
    told[parent->row.id] = true;
    for (size_t i = first; i < end; i++)
        add_candidate(v, &v->candidates[i], a, out);
    str_add(out, "</details>\n");
}

static void add_rounds(const struct view *v, struct arena *a, struct str *out)
{
    bool *told = arena_array(a, bool, v->n_candidates);
    size_t end;

    for (size_t i = 1; i < v->n_candidates; i = end) {
        for (end = i + 1; end < v->n_candidates && v->candidates[end].row.round == v->candidates[i].row.round;)
            end++;
        add_round(v, i, end, told, a, out);
    }
}

static void add_charts(const struct view *v, struct arena *a, struct str *out)
{
    struct chart_node *nodes = arena_array(a, struct chart_node, v->n_candidates);

    for (size_t i = 0; i < v->n_candidates; i++) {
        const struct view_candidate *c = &v->candidates[i];
        nodes[i] = (struct chart_node){.parent = c->row.parent,
                                       .round = c->row.round,
                                       .name = name_of(c, a),
                                       .verdict = c->row.verdict,
                                       .reason = c->row.reason,
                                       .plan = c->row.plan,
                                       .words = c->row.words,
                                       .score = c->row.score,
                                       .gain = c->row.gain,
                                       .in_lineage = c->in_lineage};
    }
    str_add(out, "<div class=\"figures\">\n<figure>\n");
    chart_tree(out, "tree", nodes, v->n_candidates, v->best->row.id, "candidate");
    str_add(
        out,
        "<figcaption>The candidates by round, each under the one it was made from; the lineage of the best is marked. "
        "Point at one, or focus it, for its plan and reason.</figcaption>\n</figure>\n<figure>\n");
    chart_progress(out, "progress", nodes, v->n_candidates);
    str_add(
        out,
        "<figcaption>The candidates in their order, and the best so far.</figcaption>\n</figure>\n</div>\n");
}

void page_search(const struct view *v, struct arena *a, struct str *out)
{
    const json_t *by = json_object_get(json_object_get(v->result, "candidates"), "by_verdict");
    const char *verdict;
    json_t *count;
    bool first = true;

    page_section(out, "search", "What was tried");
    if (v->n_candidates < 2) {
        str_add(out, "<p>No candidate was judged.</p>\n</section>\n");
        return;
    }
    html_addf(out, "<p>%zu candidates:", v->n_candidates - 1);
    json_object_foreach((json_t *)by, verdict, count)
    {
        html_addf(out, "%s %lld %s", first ? "" : ",", (long long)json_integer_value(count), verdict);
        first = false;
    }
    str_add(out, ".</p>\n");
    add_charts(v, a, out);
    add_candidate(v, &v->candidates[0], a, out);
    add_rounds(v, a, out);
    if (v->tuning) {
        html_addf(out, "<details class=\"round\">\n<summary><h3>Numbers</h3></summary>\n<p>%s.</p>\n",
                  report_tuning_words(a, v->tuning));
        table_as_html(report_tuning_table(a, v->tuning), out);
        str_add(out, "</details>\n");
    }
    str_add(out, "</section>\n");
}
