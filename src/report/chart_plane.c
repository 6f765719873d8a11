/* Charts with two axes: the roofline, and the lineage of the best. */
#include "report/chart.h"
#include "report/svg.h"

#define LEFT  50.0
#define RIGHT (SVG_WIDTH - 10)

enum { MAX_PATHS = 3 };

/* ---- names beside points, where there is room ---- */

struct box {
    double x, y, width, height;
};

struct plane {
    struct svg_axis x, y;
    double bottom; /* where the x axis stands */
    VEC(struct box) taken;
};

static bool overlap(const struct box *a, const struct box *b)
{
    return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
           b->y < a->y + a->height;
}

static bool is_free(const struct plane *p, const struct box *b)
{
    if (b->x < p->x.from || b->x + b->width > p->x.to || b->y < p->y.to || b->y + b->height > p->y.from)
        return false;
    for (size_t i = 0; i < p->taken.n; i++)
        if (overlap(b, &p->taken.v[i]))
            return false;
    return true;
}

/* A line, as boxes along it. */
static void take_line(struct plane *p, double x0, double y0, double x1, double y1)
{
    double length = hypot(x1 - x0, y1 - y0);

    for (double along = 0; along < length; along += 4)
        vec_push(&p->taken, ((struct box){x0 + (x1 - x0) * along / length - 1,
                                          y0 + (y1 - y0) * along / length - 1, 2, 2}));
}

/* Right of the point, left of it, above, below, at its corners, each again further away with a line to the
 * point; nowhere when none is free. */
static void name_point(struct plane *p, struct str *out, double x, double y, const char *text)
{
    static const struct {
        double across, down;
    } ways_out[] = {{1, 0}, {-1, 0}, {0, -1}, {0, 1}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}};
    double w = svg_width(text, SVG_SMALL) + 2, h = SVG_SMALL + 1;

    for (double away = 7; away < 50; away += 13)
        for (size_t i = 0; i < ARRAY_LEN(ways_out); i++) {
            double dx = ways_out[i].across, dy = ways_out[i].down, slant = dx != 0 && dy != 0 ? 0.8 : 1,
                   middle_x = x + dx * (slant * away + w / 2), middle_y = y + dy * (slant * away + h / 2);
            const struct box b = {middle_x - w / 2, middle_y - h / 2, w, h};
            if (!is_free(p, &b))
                continue;
            vec_push(&p->taken, b);
            if (away > 7)
                html_addf(out, "<path class=\"leader\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x + dx * 5, y + dy * 5,
                          middle_x - dx * w / 2, middle_y - dy * h / 2);
            svg_text(out, b.x + 1, b.y + h - 2, "start", "small", text);
            return;
        }
}

/* Lines and numbers of both axes; the number's text by `text_x` and `text_y`. */
static void draw_axes(struct plane *p, struct str *out, struct svg_number (*text_x)(double),
                      struct svg_number (*text_y)(double))
{
    double ticks[SVG_TICKS], right = -INFINITY;
    size_t n = svg_ticks(&p->x, ticks);

    for (size_t i = 0; i < n; i++) {
        double x = svg_at(&p->x, ticks[i]);
        struct svg_number text = text_x(ticks[i]);
        double half = svg_width(text.text, SVG_SMALL) / 2;
        html_addf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x, p->y.to, p->bottom);
        if (x - half < right + 5)
            continue;
        right = x + half;
        svg_text(out, x, p->bottom + 14, "middle", "small muted", text.text);
    }
    n = svg_ticks(&p->y, ticks);
    for (size_t i = 0; i < n; i++) {
        double y = svg_at(&p->y, ticks[i]);
        html_addf(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", p->x.from, y, p->x.to);
        svg_text(out, p->x.from - 5, y + 3.5, "end", "small muted", text_y(ticks[i]).text);
    }
}

static struct svg_number plain(double v)
{
    struct svg_number n;

    snprintf(n.text, sizeof(n.text), "%g", v);
    return n;
}

/* ---- the roofline ---- */

static struct svg_number operations(double v)
{
    return svg_si(v, "");
}

static bool known(const struct chart_point *x)
{
    return isfinite(x->intensity) && isfinite(x->per_s) && x->intensity > 0 && x->per_s > 0;
}

/* Of the paths, in their order. */
static const enum svg_shape shapes[] = {SVG_DISC, SVG_DIAMOND, SVG_SQUARE};
static const char *const fills[] = {"mark fill-first", "mark fill-second", "mark fill-third"},
                         *const hollows[] = {"hollow stroke-first", "hollow stroke-second",
                                             "hollow stroke-third"},
                         *const lineages[] = {"lineage stroke-first", "lineage stroke-second",
                                              "lineage stroke-third"};

/* The name stands along the line at its low end: the first below it, the others above. */
static void draw_slope(struct plane *p, struct str *out, const char *name, double per_s, double ceiling,
                       bool first)
{
    double low = fmax(p->x.low, p->y.low / per_s),
           high = fmin(p->x.high, fmin(ceiling, p->y.high) / per_s), /* fmin: the ceiling may be NAN */
        x0, y0, dx, dy, angle;

    if (low >= high)
        return;
    x0 = svg_at(&p->x, low);
    y0 = svg_at(&p->y, low * per_s);
    dx = svg_at(&p->x, high) - x0;
    dy = svg_at(&p->y, high * per_s) - y0;
    angle = atan2(dy, dx);
    take_line(p, x0, y0, x0 + dx, y0 + dy);
    html_addf(out, "<path class=\"roof%s\" d=\"M%.1f %.1fl%.1f %.1f\"><title>%s</title></path>\n",
              first ? "" : " thin", x0, y0, dx, dy, name);
    html_addf(out,
              "<text class=\"small roof-name\" transform=\"translate(%.1f %.1f) rotate(%.1f)\" x=\"4\" "
              "y=\"%d\">%s</text>\n",
              x0, y0, angle * 180 / M_PI, first ? 13 : -5, name);
    for (double along = 4; along < svg_width(name, SVG_SMALL); along += 6)
        vec_push(&p->taken, ((struct box){x0 + along * cos(angle) - 5,
                                          y0 + along * sin(angle) + (first ? 2 : -14), 12, 12}));
}

/* From where the steepest slope meets it; slopes pass above the lower ceilings, so their names stand below. */
static void draw_ceiling(struct plane *p, struct str *out, const char *name, double per_s, double bytes_per_s,
                         bool lower)
{
    double y = svg_at(&p->y, per_s), from = isfinite(bytes_per_s) ? per_s / bytes_per_s : p->x.low,
           end = p->x.to - 4, width = svg_width(name, SVG_SMALL),
           base = lower && y + 14 < p->y.from ? y + 12 : y - 4;

    html_addf(out, "<path class=\"roof\" d=\"M%.1f %.1fH%.1f\"><title>%s</title></path>\n", svg_at(&p->x, from),
              y, p->x.to, name);
    take_line(p, svg_at(&p->x, from), y, p->x.to, y);
    svg_text(out, end, base, "end", "small roof-name", name);
    vec_push(&p->taken, ((struct box){end - width, base - 10, width, 12}));
}

static void draw_roofs(struct plane *p, struct str *out, const struct chart_roof *roofs, size_t n)
{
    double bytes = NAN, ceiling = NAN;
    struct str name = {0};
    bool first = true;

    for (size_t i = 0; i < n; i++)
        if (roofs[i].bytes)
            bytes = fmax(bytes, roofs[i].per_s);
        else
            ceiling = fmax(ceiling, roofs[i].per_s);
    for (size_t i = 0; i < n; i++) {
        const struct chart_roof *r = &roofs[i];
        if (!isfinite(r->per_s) || r->per_s <= 0)
            continue;
        str_clear(&name);
        str_addf(&name, "%s %s", r->name, svg_si(r->per_s, r->bytes ? "B/s" : "op/s").text);
        if (!r->bytes) {
            draw_ceiling(p, out, str_text(&name), r->per_s, bytes, r->per_s < ceiling);
            continue;
        }
        draw_slope(p, out, str_text(&name), r->per_s, ceiling, first);
        first = false;
    }
    str_free(&name);
}

static void draw_path(struct plane *p, struct str *out, const struct chart_path *path, size_t k)
{
    const struct chart_point *before = NULL;
    bool open = false;

    for (size_t i = 0; i < path->n; i++) {
        if (!known(&path->points[i]))
            continue;
        if (!open)
            html_addf(out, "<path class=\"%s\" d=\"", lineages[k]);
        html_addf(out, "%c%.1f %.1f", open ? 'L' : 'M', svg_at(&p->x, path->points[i].intensity),
                  svg_at(&p->y, path->points[i].per_s));
        open = true;
    }
    if (open)
        str_add(out, "\"/>\n");
    for (size_t i = 0; i < path->n; i++) {
        const struct chart_point *v = &path->points[i];
        bool original = v->candidate == 0, best = i + 1 == path->n;
        double x, y;
        if (!known(v))
            continue;
        x = svg_at(&p->x, v->intensity);
        y = svg_at(&p->y, v->per_s);
        if (before)
            take_line(p, svg_at(&p->x, before->intensity), svg_at(&p->y, before->per_s), x, y);
        before = v;
        vec_push(&p->taken, ((struct box){x - 5, y - 5, 10, 10}));
        html_addf(out, "<g class=\"point\"><title>%s, ", path->label);
        if (original)
            str_add(out, "the original");
        else
            html_addf(out, "candidate %d%s", v->candidate, best ? ", the best" : "");
        html_addf(out, ": %s operations a byte, %s</title>", svg_number(v->intensity).text,
                  svg_si(v->per_s, "op/s").text);
        svg_shape(out, shapes[k], original ? hollows[k] : fills[k], x, y, original || best ? 5 : 3.2);
        str_add(out, "</g>\n");
    }
}

static void name_points(struct plane *p, struct str *out, const struct chart_path *path, bool ends)
{
    for (size_t i = 0; i < path->n; i++) {
        const struct chart_point *v = &path->points[i];
        bool best = i + 1 == path->n;
        struct svg_number number = plain(v->candidate);
        const char *name = best ? "best" : number.text;
        if (known(v) && ends == (v->candidate == 0 || best))
            name_point(p, out, svg_at(&p->x, v->intensity), svg_at(&p->y, v->per_s),
                       v->candidate == 0 ? "original" : name);
    }
}

static void describe_path(struct str *out, const struct chart_path *path)
{
    const struct chart_point *first = NULL, *last = NULL;

    for (size_t i = 0; i < path->n; i++)
        if (known(&path->points[i])) {
            first = first ? first : &path->points[i];
            last = &path->points[i];
        }
    if (first)
        str_addf(out, " %s: %s at %s operations a byte", path->label, svg_si(first->per_s, "op/s").text,
                 svg_number(first->intensity).text);
    if (first && last != first)
        str_addf(out, ", then %s at %s", svg_si(last->per_s, "op/s").text, svg_number(last->intensity).text);
    if (first)
        str_add(out, ".");
}

void chart_roofline(struct str *out, const char *id, const struct chart_roof *roofs, size_t n_roofs,
                    const struct chart_path *paths, size_t n_paths)
{
    struct svg_range x = {NAN, NAN}, y = {NAN, NAN};
    const double top = 30, bottom = 300;
    double bytes = NAN;
    struct plane p = {.bottom = bottom};
    struct str words = {0};

    n_paths = MIN(n_paths, (size_t)MAX_PATHS);
    for (size_t k = 0; k < n_paths; k++) {
        for (size_t i = 0; i < paths[k].n; i++)
            if (known(&paths[k].points[i])) {
                svg_see(&x, paths[k].points[i].intensity / 20); /* room for the slopes' names */
                svg_see(&x, paths[k].points[i].intensity * 2);
                svg_see(&y, paths[k].points[i].per_s / 2);
                svg_see(&y, paths[k].points[i].per_s);
            }
        describe_path(&words, &paths[k]);
    }
    if (!isfinite(x.low)) {
        svg_none(out, id, "No roofline: no version's floating-point operations are known, or it makes none.");
        return;
    }
    for (size_t i = 0; i < n_roofs; i++)
        if (roofs[i].bytes)
            bytes = fmin(bytes, roofs[i].per_s);
    for (size_t i = 0; i < n_roofs; i++)
        if (!roofs[i].bytes) {
            svg_see(&y, roofs[i].per_s * 1.5);
            svg_see(&x, 10 * roofs[i].per_s / bytes); /* for the name */
        }
    p.x = svg_axis(x.low, x.high, LEFT, RIGHT, true);
    p.y = svg_axis(y.low, y.high, bottom, top, true);
    svg_open(out, id, "roofline", "img", bottom + 38 + 16 * (double)n_paths, "Roofline", str_text(&words) + 1);
    svg_text(out, 0, 14, "start", "small muted", "floating-point operations a second");
    svg_text(out, RIGHT, bottom + 28, "end", "small muted", "operations a byte of DRAM traffic");
    draw_axes(&p, out, plain, operations);
    draw_roofs(&p, out, roofs, n_roofs);
    for (size_t k = 0; k < n_paths; k++)
        draw_path(&p, out, &paths[k], k);
    for (int steps = 0; steps < 2; steps++) /* a step's number may be left out, the ends not lightly */
        for (size_t k = 0; k < n_paths; k++)
            name_points(&p, out, &paths[k], !steps);
    for (size_t k = 0; k < n_paths; k++) {
        svg_shape(out, shapes[k], fills[k], 8, bottom + 42 + 16 * (double)k, 5);
        svg_wrap(out, 20, bottom + 46 + 16 * (double)k, SVG_WIDTH - 24, 1, "", paths[k].label);
    }
    svg_close(out);
    vec_free(&p.taken);
    str_free(&words);
}

/* ---- the lineage of the best ---- */

static struct svg_number times(double v)
{
    struct svg_number n = plain(v);

    strcat(n.text, "\xc3\x97");
    return n;
}

/* A disc passed, a square is correct and not faster, a cross failed. */
static void draw_dot(struct str *out, bool passed, bool timed, double x, double y)
{
    enum svg_shape shape = passed ? SVG_DISC : SVG_SQUARE;

    svg_shape(out, timed ? shape : SVG_CROSS, timed ? "dot" : "cross", x, y, 3.3);
}

static void draw_dot_names(struct str *out)
{
    static const char *const classes[] = {"good", "fair", "bad"}, *const names[] = {"passed", "not faster",
                                                                                    "failed"};
    double x = LEFT + 4;

    for (int k = 0; k < 3; k++) {
        html_addf(out, "<g class=\"node %s\">", classes[k]);
        draw_dot(out, k == 0, k < 2, x, 10);
        str_add(out, "</g>");
        svg_text(out, x + 8, 14, "start", "small", names[k]);
        x += 24 + svg_width(names[k], SVG_SMALL);
    }
    html_addf(out, "<path class=\"so-far\" d=\"M%.1f 10h12\"/>", x - 3);
    svg_text(out, x + 14, 14, "start", "small", "best so far");
}

void chart_progress(struct str *out, const char *id, const struct chart_node *nodes, size_t n)
{
    const double top = 34, bottom = 214, failed = 14; /* failed: the band of those without a speed-up */
    struct svg_range r = {NAN, NAN};
    struct plane p = {.bottom = bottom};
    struct str line = {0}, words = {0};
    double best = 1;
    size_t at = 0;

    if (n < 2) {
        svg_none(out, id, "No candidate was judged.");
        return;
    }
    svg_see(&r, 1);
    for (size_t i = 1; i < n; i++)
        svg_see(&r, nodes[i].score);
    if (r.high / r.low < 1.1) { /* what differs by nothing shall look so */
        svg_see(&r, 0.95);
        svg_see(&r, 1.05);
    }
    p.x = svg_axis(0, (double)(n - 1), LEFT, RIGHT, false);
    p.y = svg_axis(r.low, r.high, bottom - failed, top, r.high / r.low > 4);
    str_addf(&line, "M%.1f %.1f", svg_at(&p.x, 0), svg_at(&p.y, 1));
    for (size_t i = 1; i < n; i++)
        if (str_eq(nodes[i].verdict, "passed") && nodes[i].score > best) {
            best = nodes[i].score;
            at = i;
            str_addf(&line, "H%.1fV%.1f", svg_at(&p.x, (double)i), svg_at(&p.y, best));
        }
    str_addf(&line, "H%.1f", svg_at(&p.x, (double)(n - 1)));
    if (at)
        str_addf(&words, "The fastest of %zu candidates is number %zu at %s times the original's speed.", n - 1,
                 at, svg_number(best).text);
    else
        str_addf(&words, "None of %zu candidates passed.", n - 1);
    svg_open(out, id, "progress", "img", bottom + 34, "Speed-up by candidate, and the best so far",
             str_text(&words));
    draw_dot_names(out);
    draw_axes(&p, out, plain, times);
    svg_text(out, RIGHT, bottom + 28, "end", "small muted", "candidate");
    html_addf(out, "<path class=\"reference\" d=\"M%.1f %.1fH%.1f\"/>\n<path class=\"so-far\" d=\"%s\"/>\n",
              LEFT, svg_at(&p.y, 1), RIGHT, str_text(&line));
    for (size_t i = 1; i < n; i++) {
        double x = svg_at(&p.x, (double)i);
        bool passed = str_eq(nodes[i].verdict, "passed"), timed = isfinite(nodes[i].score);
        double y = timed ? svg_at(&p.y, nodes[i].score) : bottom - 4;
        const char *unless_passed = timed ? "fair" : "bad";
        html_addf(out, "<g class=\"point node %s\"><title>candidate %zu: %s", passed ? "good" : unless_passed,
                  i, nodes[i].verdict);
        if (timed)
            html_addf(out, ", %s\xc3\x97", svg_number(nodes[i].score).text);
        str_add(out, "</title>");
        draw_dot(out, passed, timed, x, y);
        str_add(out, "</g>\n");
    }
    svg_close(out);
    vec_free(&p.taken);
    str_free(&line);
    str_free(&words);
}

/* Right of a curve's end, and of the names of those that end there, too. */
static void name_end(struct plane *p, struct str *out, double x, double y, const char *text)
{
    x += 5;
    for (size_t k = 0; k < p->taken.n; k++)
        if (fabs(p->taken.v[k].y - y) < SVG_SMALL && fabs(p->taken.v[k].x - x) < p->taken.v[k].width)
            x = p->taken.v[k].x + p->taken.v[k].width;
    vec_push(&p->taken, ((struct box){x, y, svg_width(text, SVG_TEXT) + 3, SVG_TEXT}));
    svg_text(out, x, y + 4, "start", "strong below", text);
}

void chart_curves(struct str *out, const char *id, const struct chart_curve *curves, size_t n)
{
    static const char *const colours[] = {"first", "second", "third"};
    const double top = 14, bottom = 214;
    struct svg_range r = {NAN, NAN};
    struct plane p = {.bottom = bottom};
    struct str words = {0};
    size_t longest = 0;

    svg_see(&r, 1);
    for (size_t i = 0; i < n; i++) {
        longest = MAX(longest, curves[i].n);
        if (curves[i].n) {
            svg_see(&r, curves[i].best[curves[i].n - 1]);
            str_addf(&words, "%s%s ends at %s times the original's speed after %zu candidates",
                     words.len ? "; " : "", curves[i].label, svg_number(curves[i].best[curves[i].n - 1]).text,
                     curves[i].n - 1);
        }
    }
    if (longest < 2) {
        svg_none(out, id, "No candidate was judged.");
        str_free(&words);
        return;
    }
    p.x = svg_axis(0, (double)(longest - 1), LEFT, RIGHT - 24, false);
    p.y = svg_axis(r.low, r.high, bottom, top, r.high / r.low > 4);
    svg_open(out, id, "curves", "img", bottom + 34, "The best so far by candidate, of each run",
             str_text(&words));
    draw_axes(&p, out, plain, times);
    svg_text(out, RIGHT, bottom + 28, "end", "small muted", "candidate");
    for (size_t i = 0; i < n; i++) {
        const struct chart_curve *c = &curves[i];
        if (c->n == 0)
            continue;
        /* The first is wide, so that it shows below another that goes the same way. */
        html_addf(out, "<path class=\"lineage stroke-%s%s%s\" d=\"M%.1f %.1f", colours[i % 3],
                  i == 0 ? " under" : "", i >= 3 ? " dashed" : "", svg_at(&p.x, 0), svg_at(&p.y, c->best[0]));
        for (size_t k = 1; k < c->n; k++)
            if (c->best[k] != c->best[k - 1])
                str_addf(out, "H%.1fV%.1f", svg_at(&p.x, (double)k), svg_at(&p.y, c->best[k]));
        str_addf(out, "H%.1f\"/>\n", svg_at(&p.x, (double)(c->n - 1)));
    }
    for (size_t i = 0; i < n; i++)
        if (curves[i].n)
            name_end(&p, out, svg_at(&p.x, (double)(curves[i].n - 1)),
                     svg_at(&p.y, curves[i].best[curves[i].n - 1]), curves[i].label);
    svg_close(out);
    vec_free(&p.taken);
    str_free(&words);
}
