/* html: text into a page. All that comes from outside (names, a judge's or a model's words, code) goes through
 * here. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "base/base.h"

/* Safe as text and within a quoted attribute; what is no UTF-8, and control characters but tab and newline,
 * become U+FFFD. */
void html_text(struct str *out, const char *text);
void html_textn(struct str *out, const char *text, size_t len);
const char *html_escaped(struct arena *a, const char *text); /* the same alone, for a slot */
/* As str_addf, each %s so. Of the other conversions d, u, c, f, g and e, with l, ll or z. */
void html_addf(struct str *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
