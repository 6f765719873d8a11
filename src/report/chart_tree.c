/* The tree of candidates: rounds from top to bottom; where a round's candidates stand on each other, or are too
 * many for one line, it has several lines. */
#include "report/chart.h"
#include "report/svg.h"

#define CELL    42.0
#define LINE    54.0 /* of nodes and the words below them */
#define HEADING 18.0 /* above a round */
#define RADIUS  13.0

enum { A_LINE = 8, MAX_WORDS = 400 };

struct place {
    double x, y;
    int level; /* candidates of the same round above it */
};

struct look {
    const char *verdict, *class;
    enum svg_shape shape;
    const char *below; /* what stands there without a speed-up */
};

/* Shapes: what is correct is round or square, what ran and is not has corners, what never ran has six. */
static const struct look looks[] = {
    {"passed", "good", SVG_DISC, "passed"},
    {"slower", "fair", SVG_SQUARE, "slower"},
    {"wrong", "bad", SVG_DIAMOND, "wrong"},
    {"unsafe", "bad", SVG_DIAMOND, "unsafe"},
    {"crashed", "bad", SVG_DIAMOND, "crashed"},
    {"hung", "bad", SVG_DIAMOND, "hung"},
    {"cheat", "bad", SVG_DIAMOND, "cheat"},
    {"nondeterministic", "bad", SVG_DIAMOND, "nondet."},
    {"compile-failed", "none", SVG_HEXAGON, "build"},
    {"launch-failed", "none", SVG_HEXAGON, "launch"},
    {"too-slow-to-judge", "none", SVG_HEXAGON, "slow"},
    {"unsupported", "none", SVG_HEXAGON, "unsupp."},
    {"not-understood", "none", SVG_HEXAGON, "unread"},
};

static const struct look *look_of(const char *verdict)
{
    for (size_t i = 0; i < ARRAY_LEN(looks); i++)
        if (str_eq(verdict, looks[i].verdict))
            return &looks[i];
    return &looks[ARRAY_LEN(looks) - 1];
}

/* Text of others, which may be long, cut between two characters. */
static void add_cut(struct str *out, const char *text)
{
    char piece[MAX_WORDS + 1];
    size_t len = strlen(text);

    if (len > MAX_WORDS)
        len = utf8_cut(text, MAX_WORDS);
    memcpy(piece, text, len);
    piece[len] = 0;
    html_addf(out, "%s%s", piece, text[len] ? "\xe2\x80\xa6" : "");
}

static void add_paragraph(struct str *out, const char *text)
{
    if (!text || !text[0])
        return;
    str_add(out, "\n");
    add_cut(out, text);
}

static void add_words(struct str *out, const struct chart_node *x, int number)
{
    if (number == 0)
        html_addf(out, "the original");
    else
        html_addf(out, "candidate %d: ", number);
    add_cut(out, number && x->name ? x->name : "");
    if (number == 0)
        return;
    html_addf(out, "\n%s", x->verdict);
    if (isfinite(x->score))
        html_addf(out, ", %s\xc3\x97 the original's speed", svg_number(x->score).text);
    if (isfinite(x->gain) && x->parent > 0)
        html_addf(out, ", %+.0f %% over candidate %d", 100 * (x->gain - 1), x->parent);
    add_paragraph(out, x->words);
    add_paragraph(out, x->reason);
    add_paragraph(out, x->plan);
}

static void draw_node(struct str *out, const char *id, const struct chart_node *x, int number, bool best,
                      const char *row, const struct place *at)
{
    const struct look *l = look_of(number ? x->verdict : "passed");
    struct svg_number score = svg_number(x->score);
    struct str text = {0};
    bool correct = str_eq(x->verdict, "passed") || str_eq(x->verdict, "slower");

    html_addf(out, "<a id=\"%s-%d\" class=\"node %s%s%s\"", id, number, l->class,
              x->in_lineage ? " lineage" : "", best ? " best" : "");
    if (row[0])
        html_addf(out, " href=\"#%s-%d\"", row, number);
    else
        str_add(out, " tabindex=\"0\"");
    str_add(out, "><title>");
    add_words(out, x, number);
    str_add(out, "</title>");
    if (best)
        svg_shape(out, l->shape, "ring", at->x, at->y, RADIUS + 3.5);
    svg_shape(out, l->shape, "shape", at->x, at->y, RADIUS);
    str_addf(&text, "%d", number);
    svg_text(out, at->x, at->y + 4, "middle", "small strong", str_text(&text));
    if (number && correct && isfinite(x->score))
        strcat(score.text, "\xc3\x97");
    const char *below = correct && isfinite(x->score) ? score.text : l->below;
    svg_text(out, at->x, at->y + RADIUS + 13, "middle", x->in_lineage ? "small below strong" : "small below",
             number == 0 ? "original" : below);
    str_add(out, "</a>\n");
    str_free(&text);
}

static void draw_edges(struct str *out, const struct chart_node *nodes, size_t n, const struct place *at,
                       bool lineage)
{
    for (size_t i = 1; i < n; i++) {
        int p = nodes[i].parent;
        double from, to;
        if (p < 0 || (size_t)p >= i || (nodes[i].in_lineage && nodes[p].in_lineage) != lineage)
            continue;
        from = at[p].y + RADIUS;
        to = at[i].y - RADIUS;
        html_addf(out, "<path class=\"edge%s%s\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"/>\n",
                  lineage ? " lineage" : "", nodes[i].round > nodes[p].round + 1 ? " far" : "", at[p].x, from,
                  at[p].x, (from + to) / 2, at[i].x, (from + to) / 2, at[i].x, to);
    }
}

/* Places of one level of one round, in lines of the same length; gives the height used. */
static double place_level(const struct chart_node *nodes, size_t n, int round, int level, struct place *at,
                          double top)
{
    size_t count = 0, done = 0, lines, a_line;

    for (size_t i = 0; i < n; i++)
        count += nodes[i].round == round && at[i].level == level;
    lines = (count + A_LINE - 1) / A_LINE;
    a_line = lines ? (count + lines - 1) / lines : 1;
    for (size_t i = 0; i < n; i++) {
        size_t line = done / a_line, here = MIN(a_line, count - line * a_line);
        if (nodes[i].round != round || at[i].level != level)
            continue;
        at[i].x = SVG_WIDTH / 2 + ((double)(done % a_line) - (double)(here - 1) / 2) * CELL;
        at[i].y = top + (double)line * LINE + RADIUS + 5;
        done++;
    }
    return (double)lines * LINE;
}

/* Round after round; gives the height of all. Headings go to `out`. */
static double place_all(struct str *out, const struct chart_node *nodes, size_t n, struct place *at)
{
    int last = 0;
    double y = 40;

    for (size_t i = 0; i < n; i++) {
        int p = nodes[i].parent;
        at[i].level = p >= 0 && (size_t)p < i && nodes[p].round == nodes[i].round ? at[p].level + 1 : 0;
        last = MAX(last, nodes[i].round);
    }
    for (int round = 0; round <= last; round++) {
        double height = 0, top = y + (round ? HEADING : 0), more;
        for (int level = 0; (more = place_level(nodes, n, round, level, at, top + height)) > 0; level++)
            height += more;
        if (height <= 0)
            continue;
        if (round)
            html_addf(
                out,
                "<path class=\"grid\" d=\"M0 %.1fH%.1f\"/><text class=\"small muted\" x=\"0\" y=\"%.1f\">round "
                "%d</text>\n",
                y + 2, SVG_WIDTH, y + 14, round);
        y = top + height;
    }
    return y;
}

static void draw_names(struct str *out, const struct chart_node *nodes, size_t n)
{
    static const struct {
        enum svg_shape shape;
        const char *class, *name;
    } kinds[] = {{SVG_DISC, "good", "passed"},
                 {SVG_SQUARE, "fair", "not faster"},
                 {SVG_DIAMOND, "bad", "wrong, unsafe"},
                 {SVG_HEXAGON, "none", "never ran"}};
    double x = 8;

    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        bool there = false;
        for (size_t i = 1; i < n && !there; i++)
            there = look_of(nodes[i].verdict)->shape == kinds[k].shape;
        if (!there)
            continue;
        html_addf(out, "<g class=\"node %s\">", kinds[k].class);
        svg_shape(out, kinds[k].shape, "shape", x, 10, 6);
        str_add(out, "</g>");
        svg_text(out, x + 11, 14, "start", "small", kinds[k].name);
        x += 26 + svg_width(kinds[k].name, SVG_SMALL);
    }
}

static void describe(struct str *out, const struct chart_node *nodes, size_t n, int best)
{
    size_t correct = 0, passed = 0;

    for (size_t i = 1; i < n; i++) {
        passed += str_eq(nodes[i].verdict, "passed");
        correct += str_eq(nodes[i].verdict, "passed") || str_eq(nodes[i].verdict, "slower");
    }
    str_addf(out, "%zu candidate%s in %d round%s: %zu passed, %zu correct but not faster, %zu failed. ", n - 1,
             n == 2 ? "" : "s", nodes[n - 1].round, nodes[n - 1].round == 1 ? "" : "s", passed,
             correct - passed, n - 1 - correct);
    if (best == 0) {
        str_add(out, "The original stays.");
        return;
    }
    str_add(out, "The lineage of the best:");
    for (size_t i = 0; i < n; i++)
        if (nodes[i].in_lineage)
            str_addf(out, "%s %zu", i ? "," : "", i);
    str_add(out, ".");
}

void chart_tree(struct str *out, const char *id, const struct chart_node *nodes, size_t n, int best,
                const char *row)
{
    struct place *at;
    struct str rounds = {0}, words = {0};
    double height;

    if (n == 0) {
        svg_none(out, id, "No candidate was judged.");
        return;
    }
    at = mem_zalloc(n * sizeof(*at));
    height = place_all(&rounds, nodes, n, at);
    describe(&words, nodes, n, best);
    svg_open(out, id, "tree", "group", height, "The candidates and what each was made from", str_text(&words));
    draw_names(out, nodes, n);
    str_add(out, str_text(&rounds));
    draw_edges(out, nodes, n, at, false);
    draw_edges(out, nodes, n, at, true);
    for (size_t i = 0; i < n; i++)
        draw_node(out, id, &nodes[i], (int)i, (int)i == best, row, &at[i]);
    svg_close(out);
    free(at);
    str_free(&rounds);
    str_free(&words);
}
