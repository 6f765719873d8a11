#include "report/svg.h"

/* Of the mean character of a text in the fonts that systems have for pages. */
#define CHARACTER 0.6

void svg_open(struct str *out, const char *id, const char *kind, const char *role, double height,
              const char *title, const char *description)
{
    html_addf(out,
              "<svg class=\"chart chart-%s\" id=\"%s\" viewBox=\"0 0 %.0f %.0f\" role=\"%s\" "
              "aria-labelledby=\"%s-title %s-desc\">\n<title id=\"%s-title\">%s</title>"
              "<desc id=\"%s-desc\">%s</desc>\n",
              kind, id, SVG_WIDTH, height, role, id, id, id, title, id, description);
}

void svg_close(struct str *out)
{
    str_add(out, "</svg>\n");
}

void svg_none(struct str *out, const char *id, const char *why)
{
    html_addf(out, "<p class=\"chart-none\" id=\"%s\">%s</p>\n", id, why);
}

static size_t characters(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

double svg_width(const char *text, double size)
{
    return (double)characters(text, strlen(text)) * size * CHARACTER;
}

void svg_text(struct str *out, double x, double y, const char *anchor, const char *class, const char *text)
{
    html_addf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">%s</text>\n", x, y, anchor,
              class, text);
}

/* Bytes of the longest beginning of text that fits; it ends at a space where there is one. */
static size_t fitting(const char *text, size_t room)
{
    size_t len = 0, n = 0, space = 0;

    while (text[len] && n < room) {
        if (text[len] == ' ')
            space = len;
        len++;
        while (((unsigned char)text[len] & 0xc0) == 0x80)
            len++;
        n++;
    }
    return text[len] && text[len] != ' ' && space ? space : len;
}

int svg_wrap(struct str *out, double x, double y, double width, int lines, const char *class, const char *text)
{
    size_t room = (size_t)fmax(width / (SVG_TEXT * CHARACTER) + 1e-6, 4);
    struct str line = {0};
    int used = 0;

    while (*text && used < lines) {
        size_t len = fitting(text, room);
        bool last = used + 1 == lines && strlen(text) > len;
        if (last)
            len = fitting(text, room - 1);
        str_clear(&line);
        str_addn(&line, text, len);
        if (last)
            str_add(&line, "\xe2\x80\xa6");
        svg_text(out, x, y + used * (SVG_TEXT + 1), "start", class, str_text(&line));
        text += len;
        text += strspn(text, " ");
        used++;
    }
    str_free(&line);
    return used;
}

void svg_shape(struct str *out, enum svg_shape shape, const char *class, double x, double y, double r)
{
    switch (shape) {
    case SVG_DISC:
        html_addf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>", class, x, y, r);
        return;
    case SVG_SQUARE:
        html_addf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%.1f\"/>",
                  class, x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r, r / 4);
        return;
    case SVG_DIAMOND:
        html_addf(out, "<path class=\"%s\" d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz\"/>", class,
                  x - 1.2 * r, y, 1.2 * r, -1.2 * r, 1.2 * r, 1.2 * r, -1.2 * r, 1.2 * r);
        return;
    case SVG_HEXAGON:
        html_addf(out, "<path class=\"%s\" d=\"M%.1f %.1fl%.1f %.1fh%.1fl%.1f %.1fl%.1f %.1fh%.1fz\"/>", class,
                  x - 1.1 * r, y, 0.5 * r, -r, 1.2 * r, 0.5 * r, r, -0.5 * r, r, -1.2 * r);
        return;
    case SVG_CROSS:
        html_addf(out, "<path class=\"%s\" d=\"M%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f\"/>", class, x - r, y - r,
                  2 * r, 2 * r, -2 * r, -2 * r, 2 * r);
        return;
    }
}

static int digits_of(double size)
{
    if (size >= 99.95 || size == 0)
        return 0;
    if (size >= 9.995)
        return 1;
    return size >= 0.0995 ? 2 : 4;
}

struct svg_number svg_number(double v)
{
    struct svg_number n;
    double size = fabs(v);

    if (!isfinite(v))
        snprintf(n.text, sizeof(n.text), "\xe2\x80\x93");
    else if (size >= 1e5 || (size > 0 && size < 1e-3))
        snprintf(n.text, sizeof(n.text), "%.1e", v);
    else
        snprintf(n.text, sizeof(n.text), "%.*f", digits_of(size), v);
    return n;
}

struct svg_number svg_si(double v, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    struct svg_number n;
    size_t k = 0;

    while (isfinite(v) && v >= 999.5 && k + 1 < ARRAY_LEN(prefixes)) {
        v /= 1000;
        k++;
    }
    snprintf(n.text, sizeof(n.text), "%.3g %s%s", v, prefixes[k], unit);
    return n;
}

void svg_see(struct svg_range *r, double v)
{
    if (!isfinite(v) || v <= 0)
        return;
    r->low = fmin(r->low, v);
    r->high = fmax(r->high, v);
}

/* The next of 1, 2, 5 times a power of ten, not below v. */
static double round_up(double v)
{
    static const int leading[] = {1, 2, 5};
    double ten = pow(10, floor(log10(v)));

    for (size_t i = 0; i < ARRAY_LEN(leading); i++)
        if (v <= ten * (leading[i] + 0.0001))
            return leading[i] * ten;
    return 10 * ten;
}

static double step_of(const struct svg_axis *a)
{
    return round_up((a->high - a->low) / 5);
}

struct svg_axis svg_axis(double low, double high, double from, double to, bool log)
{
    struct svg_axis a = {low, high, from, to, log};

    if (!isfinite(low) || !isfinite(high) || high < low)
        a.low = a.high = 1;
    a.low = fmax(a.low, log ? 1e-12 : -1e12);
    a.high = fmin(fmax(a.high, a.low), 1e15);
    if (log) {
        a.low = 1 / round_up(1 / a.low);
        a.high = round_up(a.high);
        if (a.high <= a.low)
            a.high = a.low * 2;
        return a;
    }
    if (a.high <= a.low)
        a.high = a.low + fmax(fabs(a.low), 1) / 2;
    double step = step_of(&a);
    a.low = floor(a.low / step + 1e-9) * step;
    a.high = ceil(a.high / step - 1e-9) * step;
    return a;
}

double svg_at(const struct svg_axis *a, double v)
{
    double share;

    if (isnan(v))
        v = a->low;
    v = fmin(fmax(v, a->low), a->high);
    share = a->log ? log(v / a->low) / log(a->high / a->low) : (v - a->low) / (a->high - a->low);
    return a->from + share * (a->to - a->from);
}

size_t svg_ticks(const struct svg_axis *a, double ticks[SVG_TICKS])
{
    size_t n = 0;

    if (!a->log) {
        double step = step_of(a), first = round(a->low / step);
        for (; n < SVG_TICKS && (first + (double)n) * step <= a->high + step / 1000; n++)
            ticks[n] = (first + (double)n) * step;
        return n;
    }
    double decades = log10(a->high / a->low), first = floor(log10(a->low) + 1e-9);
    int each = (int)ceil(decades / 10);
    for (double e = first; n + 3 <= SVG_TICKS && e <= log10(a->high) + 1e-9; e += each)
        for (double m = 1; m <= 5; m += m < 2 ? 1 : 3) {
            double v = m * pow(10, e);
            if (v >= a->low * 0.999 && v <= a->high * 1.001 && (m < 2 || decades <= 2.5))
                ticks[n++] = v;
        }
    return n;
}
