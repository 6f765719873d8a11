/* Charts with a row for each thing and two series in it: speed-ups, shares of the copy's speed, errors. */
#include "report/chart.h"
#include "report/svg.h"

#define LABELS 132.0 /* at most, of the names on the left */
#define VALUES 56.0  /* of the numbers on the right */
#define LINE   14.0  /* of one series */
#define GAP    8.0
#define TOP    40.0 /* series' names and the axis' numbers */

struct rows {
    const char *kind, *title, *none;
    const char *series[2];
    const char *reference_name; /* of the line at `reference` */
    double reference;           /* NAN: no line */
    bool ratio;                 /* marks grow from the reference on a log scale; else from 0 */
    const struct chart_row *list;
    size_t n;
    struct svg_axis axis;
    struct svg_number (*number)(double);
};

static struct svg_number times(double v)
{
    struct svg_number n = svg_number(v);

    if (isfinite(v))
        strcat(n.text, "\xc3\x97");
    return n;
}

static struct svg_number percent(double v)
{
    struct svg_number n;
    double p = 100 * v;
    int digits = p >= 0.995 ? 1 : 2;

    if (!isfinite(v))
        return svg_number(v);
    if (p > 0 && p < 0.01)
        strcpy(n.text, "<0.01 %");
    else if (p >= 1e5)
        snprintf(n.text, sizeof(n.text), "%.1e %%", p);
    else
        snprintf(n.text, sizeof(n.text), "%.*f %%", p == 0 || p >= 9.95 ? 0 : digits, p);
    return n;
}

static const struct chart_value *value_of(const struct chart_row *r, int series)
{
    return series ? &r->second : &r->first;
}

static bool shown(const struct rows *c, int series)
{
    for (size_t i = 0; i < c->n; i++)
        if (isfinite(value_of(&c->list[i], series)->value))
            return true;
    return false;
}

static struct svg_axis axis_of(const struct rows *c, double from)
{
    struct svg_range r = {NAN, NAN};
    bool log;

    svg_see(&r, c->reference);
    for (size_t i = 0; i < c->n; i++)
        for (int s = 0; s < 2; s++) {
            const struct chart_value *v = value_of(&c->list[i], s);
            svg_see(&r, v->value);
            svg_see(&r, v->low);
            svg_see(&r, v->high);
        }
    if (c->ratio && r.high / r.low < 1.1) { /* what differs by nothing shall look so */
        svg_see(&r, 0.95);
        svg_see(&r, 1.05);
    }
    log = c->ratio && r.high / r.low > 4;
    if (c->ratio && !log) /* the line at 1 stands a little inside */
        r.low -= (r.high - r.low) / 20;
    return svg_axis(c->ratio ? r.low : 0, r.high, from, SVG_WIDTH - VALUES, log);
}

/* What the chart shows in one sentence for a series: how many rows, the lowest and the highest. */
static void describe(const struct rows *c, int series, struct str *out)
{
    const struct chart_row *low = NULL, *high = NULL;
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++) {
        double v = value_of(&c->list[i], series)->value;
        if (!isfinite(v))
            continue;
        n++;
        if (!low || v < value_of(low, series)->value)
            low = &c->list[i];
        if (!high || v > value_of(high, series)->value)
            high = &c->list[i];
    }
    if (n == 0)
        return;
    str_addf(out, "%s%s: %zu of %zu rows known, from %s (%s)", out->len ? " " : "", c->series[series], n, c->n,
             c->number(value_of(low, series)->value).text, low->label);
    str_addf(out, " to %s (%s).", c->number(value_of(high, series)->value).text, high->label);
}

/* The tick's number, without trailing zeros: 2, not 2.00. Of shares the last alone has the unit behind it. */
static struct svg_number tick_text(const struct rows *c, double v)
{
    struct svg_number n;

    snprintf(n.text, sizeof(n.text), c->ratio ? "%g\xc3\x97" : "%g", c->ratio ? v : 100 * v);
    return n;
}

static double tick_width(const struct rows *c, double v)
{
    return svg_width(tick_text(c, v).text, SVG_SMALL);
}

static bool apart(const struct rows *c, double a, double b)
{
    return fabs(svg_at(&c->axis, a) - svg_at(&c->axis, b)) > (tick_width(c, a) + tick_width(c, b)) / 2 + 3;
}

/* On a log axis the reference, powers of ten, then those there is room for. */
static void name_log(const struct rows *c, const double *ticks, bool *named, size_t n)
{
    for (int rank = 0; rank < 3; rank++)
        for (size_t i = 0; i < n; i++) {
            bool ten = fabs(log10(ticks[i]) - round(log10(ticks[i]))) < 1e-9, free = !named[i];
            if (!(rank == 2 || ticks[i] == c->reference || (rank == 1 && ten)))
                continue;
            for (size_t k = 0; k < n && free; k++)
                free = !named[k] || apart(c, ticks[i], ticks[k]);
            named[i] |= free;
        }
}

/* On a linear one every k-th, the reference among them; k: as small as there is room for. */
static void name_linear(const struct rows *c, const double *ticks, bool *named, size_t n)
{
    size_t from = 0;
    bool fits = false;

    for (size_t i = 0; i < n; i++)
        if (isfinite(c->reference) && fabs(ticks[i] - c->reference) < 1e-9)
            from = i;
    for (size_t k = 1; !fits && k <= n; k++) {
        fits = true;
        for (size_t i = 0; i < n; i++)
            named[i] = i % k == from % k;
        for (size_t i = k; i < n; i++)
            fits &= !named[i] || apart(c, ticks[i], ticks[i - k]);
    }
}

static void draw_axis(const struct rows *c, struct str *out, double top, double bottom)
{
    double ticks[SVG_TICKS], last = NAN;
    bool named[SVG_TICKS] = {false};
    size_t n = svg_ticks(&c->axis, ticks);

    for (size_t i = 0; i < n; i++)
        html_addf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", svg_at(&c->axis, ticks[i]), top,
                  bottom);
    (c->axis.log ? name_log : name_linear)(c, ticks, named, n);
    for (size_t i = 0; i < n; i++)
        if (named[i])
            svg_text(out, svg_at(&c->axis, last = ticks[i]), top - 4, "middle", "small muted",
                     tick_text(c, ticks[i]).text);
    if (!c->ratio)
        svg_text(out, svg_at(&c->axis, last) + tick_width(c, last) / 2 + 3, top - 4, "start", "small muted",
                 "%");
    if (isfinite(c->reference)) {
        double x = svg_at(&c->axis, c->reference);
        html_addf(out, "<path class=\"reference\" d=\"M%.1f %.1fV%.1f\"><title>%s</title></path>\n", x, top,
                  bottom, c->reference_name);
    }
}

/* The first series' marks are discs, the second's diamonds. */
static void draw_mark(struct str *out, int series, double x, double y)
{
    svg_shape(out, series ? SVG_DIAMOND : SVG_DISC, series ? "mark fill-second" : "mark fill-first", x, y, 4);
}

static void draw_series(const struct rows *c, const struct chart_row *row, int series, struct str *out,
                        double y)
{
    const struct chart_value *v = value_of(row, series);
    const char *name = series ? "second" : "first";
    bool interval = isfinite(v->low) && isfinite(v->high);

    html_addf(out, "<g class=\"row\"><title>%s, %s: %s", row->label, c->series[series],
              isfinite(v->value) ? c->number(v->value).text : "not known");
    if (interval)
        html_addf(out, " (%s to %s)", c->number(v->low).text, c->number(v->high).text);
    str_add(out, "</title>");
    if (isfinite(v->value)) {
        double x = svg_at(&c->axis, v->value), zero = svg_at(&c->axis, c->ratio ? c->reference : 0);
        html_addf(out, "<path class=\"bar stroke-%s\" d=\"M%.1f %.1fH%.1f\"/>", name, zero, y, x);
        draw_mark(out, series, x, y);
        if (interval) {
            double low = svg_at(&c->axis, v->low), high = svg_at(&c->axis, v->high);
            html_addf(out, "<path class=\"whisker\" d=\"M%.1f %.1fH%.1fM%.1f %.1fv6M%.1f %.1fv6\"/>", low, y,
                      high, low, y - 3, high, y - 3);
        }
    }
    svg_text(out, SVG_WIDTH - 2, y + 4, "end", isfinite(v->value) ? "number" : "number muted",
             c->number(v->value).text);
    str_add(out, "</g>\n");
}

static void draw_names(const struct rows *c, const bool *there, struct str *out)
{
    double x = 8;

    for (int s = 0; s < 2; s++) {
        if (!there[s])
            continue;
        draw_mark(out, s, x, 8);
        svg_text(out, x + 10, 12, "start", "", c->series[s]);
        x += 28 + svg_width(c->series[s], SVG_TEXT);
    }
}

static void draw(struct rows *c, struct str *out, const char *id)
{
    bool there[2] = {shown(c, 0), shown(c, 1)};
    double labels = 40, height, y = TOP + GAP;
    int lines = there[0] + there[1];
    struct str words = {0};

    if (lines == 0) {
        svg_none(out, id, c->none);
        return;
    }
    for (size_t i = 0; i < c->n; i++)
        labels = fmax(labels, svg_width(c->list[i].label, SVG_TEXT));
    labels = fmin(labels, LABELS);
    c->axis = axis_of(c, labels + 14);
    height = fmax(lines * LINE, labels < LABELS ? LINE : 2 * LINE) + GAP;
    for (int s = 0; s < 2; s++)
        describe(c, s, &words);
    svg_open(out, id, c->kind, "img", y + height * (double)c->n, c->title, str_text(&words));
    str_free(&words);
    draw_names(c, there, out);
    draw_axis(c, out, TOP, y + height * (double)c->n - GAP / 2);
    for (size_t i = 0; i < c->n; i++) {
        double line = y + LINE / 2;
        svg_wrap(out, 0, lines > 1 && labels < LABELS ? y + LINE + 4 : y + LINE - 3, labels, 2, "",
                 c->list[i].label);
        for (int s = 0; s < 2; s++) {
            if (!there[s])
                continue;
            draw_series(c, &c->list[i], s, out, line);
            line += LINE;
        }
        y += height;
    }
    svg_close(out);
}

void chart_speedups(struct str *out, const char *id, const char *const names[2], const struct chart_row *rows,
                    size_t n)
{
    struct rows c = {.kind = "speedups",
                     .title = "Speed-up over the original by workload",
                     .none = "No workload was timed.",
                     .series = {names[0], names[1]},
                     .reference_name = "as fast as the original",
                     .reference = 1,
                     .ratio = true,
                     .list = rows,
                     .n = n,
                     .number = times};

    draw(&c, out, id);
}

void chart_shares(struct str *out, const char *id, const struct chart_row *rows, size_t n)
{
    struct rows c = {.kind = "shares",
                     .title = "Share of a plain copy's speed by workload",
                     .none = "No workload was timed.",
                     .series = {"original", "best"},
                     .reference_name = "as fast as a plain copy of the bytes that must move",
                     .reference = 1,
                     .list = rows,
                     .n = n,
                     .number = percent};

    draw(&c, out, id);
}

void chart_errors(struct str *out, const char *id, const struct chart_row *bins, size_t n)
{
    struct rows c = {.kind = "errors",
                     .title = "Errors of the answers in units in the last place",
                     .none = "No errors were counted.",
                     .series = {"original", "best"},
                     .reference = NAN,
                     .list = bins,
                     .n = n,
                     .number = percent};

    draw(&c, out, id);
}
