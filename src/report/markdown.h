/* markdown: text into GitHub's Markdown. */
#ifndef REPORT_MARKDOWN_H
#define REPORT_MARKDOWN_H

#include "base/base.h"

/* Text from outside: no markup, no mention of anybody, one line. */
void markdown_text(struct str *out, const char *text);

#endif
