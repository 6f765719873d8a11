/* svg: what charts are drawn with. Lengths are units of the picture. */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include "report/html.h"

/* A picture with its name and what it shows in words. `role` "img", or "group" where parts can be focused. */
#define SVG_WIDTH 360.0 /* of every chart */
void svg_open(struct str *out, const char *id, const char *kind, const char *role, double height,
              const char *title, const char *description);
void svg_close(struct str *out);
/* In the place of a picture: why there is none. */
void svg_none(struct str *out, const char *id, const char *why);

/* ---- text: widths are by count of characters, a little on the safe side ---- */

#define SVG_TEXT  12.0
#define SVG_SMALL 11.0
double svg_width(const char *text, double size);
/* text-anchor: "start", "middle", "end"; class may be "". */
void svg_text(struct str *out, double x, double y, const char *anchor, const char *class, const char *text);
/* In at most `lines` lines of `width`, broken at spaces, the rest cut with "..."; gives the lines used. */
int svg_wrap(struct str *out, double x, double y, double width, int lines, const char *class, const char *text);

/* ---- marks ---- */

enum svg_shape { SVG_DISC, SVG_DIAMOND, SVG_SQUARE, SVG_HEXAGON, SVG_CROSS };
/* About x and y, about `r` to each side. */
void svg_shape(struct str *out, enum svg_shape shape, const char *class, double x, double y, double r);

/* ---- numbers ---- */

struct svg_number {
    char text[24];
};
struct svg_number svg_number(double v); /* three digits that matter: "27.5", "0.0312", "1.2e+09" */
struct svg_number svg_si(double v, const char *unit); /* "4.81 TB/s" */

/* ---- axes ---- */

enum { SVG_TICKS = 32 };

struct svg_axis {
    double low, high; /* in values */
    double from, to;  /* in units; from may be the larger one */
    bool log;
};

/* Widened to round numbers. Not finite or empty ranges, and log ones that reach 0, are mended. */
struct svg_axis svg_axis(double low, double high, double from, double to, bool log);
double svg_at(const struct svg_axis *a, double v); /* within the axis, whatever v */
size_t svg_ticks(const struct svg_axis *a, double ticks[SVG_TICKS]);

/* The lowest and highest finite value seen, above 0 only. */
struct svg_range {
    double low, high; /* NAN: none yet */
};
void svg_see(struct svg_range *r, double v);

#endif
