/* page: the parts of the page, from top to bottom. Each appends one <section> with its heading; where a run has
 * nothing for it, it says so in a sentence. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "report/html.h"
#include "report/report.h"

void page_verdict(const struct view *v, struct arena *a, struct str *out);
void page_speed(const struct view *v, struct arena *a, struct str *out);
void page_roofline(const struct view *v, struct arena *a, struct str *out);
void page_search(const struct view *v, struct arena *a, struct str *out);
void page_code(const struct view *v, struct arena *a, struct str *out);
void page_verified(const struct view *v, struct arena *a, struct str *out);
void page_calls(const struct view *v, struct arena *a, struct str *out);
void page_repeat(const struct view *v, struct arena *a, struct str *out);

/* A section begins, with its heading; the caller ends it. */
void page_section(struct str *out, const char *id, const char *title);

/* A name and its value in a list of terms; nothing for a value that is NULL or "". */
void page_term(struct str *out, const char *name, const char *value);

/* share/report/page.html around these; the title is the page's heading, astra the version that speaks. */
void page_frame(const char *title, const char *astra, const char *body, struct arena *a, struct str *out);

#endif
